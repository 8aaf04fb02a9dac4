"""Examples of variable length, each copied into an array of its own, in numpy."""
from __future__ import annotations

import ctypes
from typing import Any

import numpy

from fuel._types import AnyArray

__all__ = ['ExampleError', 'block_arrays', 'check_ranges', 'range_arrays']

_MAX_AXES, _MAX_BYTES = 64, 2 ** 63 - 1


class ExampleError(ValueError):
    """An example cannot be made.

    Parameters
    ----------
    place : int
        Where in the request it stands.
    problem : str
        What is wrong, in words that follow 'example 5'.
    """

    def __init__(self, place: int, problem: str) -> None:
        super().__init__(place, problem)
        self.place = place
        self.problem = problem

    def __str__(self) -> str:
        return f'the example at place {self.place} {self.problem}'


def check_ranges(starts: AnyArray, stops: AnyArray, total: int, dtype: Any = numpy.uint8,
                 shapes: AnyArray | None = None) -> None:
    """Check that each range lies within an array, and is as long as its shape demands.

    Parameters
    ----------
    starts, stops : ndarray of int64, shape (m,)
        The first value of each range, and the one after its last.
    total : int
        How many values there are.
    dtype : dtype, optional
        That of the values.
    shapes : ndarray of int64, shape (m, axes), optional
        The shape of each example.

    Raises
    ------
    ExampleError
        One does not. The error has the place of the first that does not.
    """
    wrong = (starts < 0) | (stops < starts) | (stops > total)
    lengths = stops - starts
    if shapes is not None:
        with numpy.errstate(over='ignore'):
            wrong |= ((shapes < 0).any(axis=1) | (shapes.prod(axis=1, dtype=numpy.int64) != lengths)
                      | (shapes.prod(axis=1, dtype=numpy.float64) > 2.0 ** 62)
                      | (numpy.maximum(shapes, 1).prod(axis=1, dtype=numpy.float64) > 2.0 ** 50))
    for place in numpy.flatnonzero(wrong).tolist():
        start, stop = int(starts[place]), int(stops[place])
        if stop < start:
            raise ExampleError(place, f'begins at value {start} and ends before it, at {stop}')
        if start < 0 or stop > total:
            raise ExampleError(place, f'reaches from value {start} to {stop}, and there are '
                                      f'{total} values')
        if shapes is not None:
            _check_shape(place, shapes[place].tolist(), stop - start, numpy.dtype(dtype).itemsize)


def _check_shape(place: int, shape: list[int], count: int, itemsize: int) -> None:
    """Check that a number of values fills a shape."""
    size, spread = 1, itemsize
    for length in shape:
        size *= length
        spread *= max(length, 1)
    if min(shape, default=0) < 0 or size != count or spread > _MAX_BYTES:
        raise ExampleError(place, f'has {count} values, which do not fill the shape '
                                  f'{tuple(shape)} that is stored for it')


def range_arrays(values: AnyArray, starts: AnyArray, stops: AnyArray,
                 shapes: AnyArray | None = None, threads: int = 1) -> AnyArray:
    """Copy ranges of an array into arrays of their own.

    Parameters
    ----------
    values : ndarray, shape (n,)
        Any dtype.
    starts, stops : ndarray of int64, shape (m,)
        The first value of each range, and the one after its last.
    shapes : ndarray of int64, shape (m, axes), optional
        The shape of each example. By default they have one axis.
    threads : int, optional
        How many threads copy, at most. By default 1.

    Returns
    -------
    ndarray of object, shape (m,)
        A fresh array for each range.

    Raises
    ------
    ExampleError
        A range does not lie within the values, or does not fill its shape.
    TypeError
        An argument has another dtype or other axes.
    """
    if values.ndim != 1:
        raise TypeError(f'expected values with a single axis; got {values.ndim}')
    _check_vector('starts', starts, len(starts))
    _check_vector('stops', stops, len(starts))
    _check_shapes(shapes, len(starts))
    check_ranges(starts, stops, len(values), values.dtype, shapes)
    result = numpy.empty(len(starts), dtype=object)
    for place, (start, stop) in enumerate(zip(starts.tolist(), stops.tolist(), strict=True)):
        copy = values[start:stop].copy()
        result[place] = copy if shapes is None else copy.reshape(shapes[place])
    return result


def _check_vector(name: str, array: AnyArray, length: int) -> None:
    if array.ndim != 1 or array.dtype != numpy.int64 or len(array) != length:
        raise TypeError(f'expected {name} to be a vector of {length} int64; got {array.dtype} of '
                        f'shape {array.shape}')


def _check_shapes(shapes: AnyArray | None, count: int) -> None:
    if shapes is not None and (
            shapes.ndim != 2 or shapes.dtype != numpy.int64 or len(shapes) != count
            or shapes.shape[1] > _MAX_AXES):
        raise TypeError(f'expected shapes to be int64 of {count} rows and at most {_MAX_AXES} '
                        f'columns; got {shapes.dtype} of shape {shapes.shape}')


def block_arrays(addresses: AnyArray, values: int, total: int, starts: AnyArray, stops: AnyArray,
                 dtype: Any, shapes: AnyArray | None = None, used: AnyArray | None = None,
                 threads: int = 1) -> tuple[AnyArray, AnyArray | None]:
    """Copy ranges of values that lie in blocks of one length, into arrays of their own.

    Parameters
    ----------
    addresses : ndarray of int64, shape (blocks,)
        Where in memory each block begins; 0 for one that is missing. A block must stay where it
        is as long as this runs.
    values : int
        How many values a block holds.
    total : int
        How many values there are; the last block may have room for more.
    starts, stops : ndarray of int64, shape (m,)
        The first value of each range, and the one after its last.
    dtype : dtype
        That of the values.
    shapes : ndarray of int64, shape (m, axes), optional
        The shape of each example. By default they have one axis.
    used : ndarray of uint8, shape (blocks,), optional
        Set to 1 for blocks that were read.
    threads : int, optional
        How many threads copy, at most. By default 1.

    Returns
    -------
    arrays : ndarray of object, shape (m,)
        A fresh array for each range.
    missing : ndarray of int64 or None
        The places of ranges of which a block is missing. Their arrays hold anything.

    Raises
    ------
    ExampleError
        A range does not lie within the values, or does not fill its shape.
    TypeError
        An argument has another dtype or other axes.
    """
    dtype = numpy.dtype(dtype)
    _check_blocks(addresses, values, total, dtype, used)
    _check_vector('starts', starts, len(starts))
    _check_vector('stops', stops, len(starts))
    _check_shapes(shapes, len(starts))
    check_ranges(starts, stops, total, dtype, shapes)
    result = numpy.empty(len(starts), dtype=object)
    missing = []
    for place, (start, stop) in enumerate(zip(starts.tolist(), stops.tolist(), strict=True)):
        array = numpy.empty(stop - start, dtype=dtype)
        result[place] = array if shapes is None else array.reshape(shapes[place])
        for block in range(start // values, -(-stop // values) if stop > start else 0):
            address = int(addresses[block])
            if not address:
                missing.append(place)
                break
            if used is not None:
                used[block] = 1
            first, last = max(start, block * values), min(stop, (block + 1) * values)
            ctypes.memmove(array.ctypes.data + (first - start) * dtype.itemsize,
                           address + (first - block * values) * dtype.itemsize,
                           (last - first) * dtype.itemsize)
    return result, numpy.array(missing, dtype=numpy.int64) if missing else None


def _check_blocks(addresses: AnyArray, values: int, total: int, dtype: numpy.dtype[Any],
                  used: AnyArray | None) -> None:
    if (addresses.ndim != 1 or addresses.dtype != numpy.int64 or not addresses.flags.c_contiguous
            or values < 1 or len(addresses) != -(-total // values)):
        raise TypeError(f'expected the addresses of enough blocks of {values} values for {total} '
                        'values, as a vector of int64; got '
                        f'{addresses.dtype} of shape {addresses.shape}')
    if used is not None and (used.dtype != numpy.uint8 or used.shape != addresses.shape
                             or not used.flags.c_contiguous):
        raise TypeError(f'expected a flag of uint8 for each of {len(addresses)} blocks; got '
                        f'{used.dtype} of shape {used.shape}')
    if dtype.hasobject or not dtype.itemsize or dtype.subdtype is not None:
        raise TypeError(f'expected a dtype of plain values; got {dtype}')
