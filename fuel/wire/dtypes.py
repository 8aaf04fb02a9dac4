"""Dtypes as plain data, and raw bytes as arrays."""
from __future__ import annotations

import functools
import math
from typing import Any

import numpy

from fuel._types import JSON, AnyArray
from fuel.exceptions import DataLayoutError

__all__ = ['array_of', 'buffer_of', 'descr_of', 'dtype_of', 'is_text']

Buffer = Any  # what has the buffer protocol, in one piece


def is_text(dtype: numpy.dtype[Any]) -> bool:
    """Tell whether a dtype is that of strings of any length, ``numpy.dtypes.StringDType``."""
    return isinstance(dtype, numpy.dtypes.StringDType)


@functools.lru_cache(maxsize=256)
def _described(dtype: numpy.dtype[Any]) -> JSON:
    plain = numpy.lib.format.drop_metadata(dtype)
    try:
        return numpy.lib.format.dtype_to_descr(plain)
    except ValueError:  # fields that overlap, or that are not in the order of their places
        fields: Any = plain.fields or {}
        names = plain.names or ()
        return {'names': list(names), 'formats': [_described(fields[name][0]) for name in names],
                'offsets': [fields[name][1] for name in names], 'itemsize': plain.itemsize}


def descr_of(dtype: numpy.dtype[Any]) -> JSON:
    """Return a dtype as plain data, in the form of the ``.npy`` format where that has one.

    Parameters
    ----------
    dtype : numpy.dtype
        Without Python objects in it.

    Returns
    -------
    str, list or dict

    Raises
    ------
    TypeError
        Its items cannot be told by their bytes.
    """
    if dtype.hasobject:
        raise TypeError(f'the dtype {dtype} holds Python objects')
    # Types that other packages bring have a class of their own, and no form as plain data.
    if type(dtype).__module__.partition('.')[0] != 'numpy' or dtype.num >= 256:
        raise TypeError(f'the dtype {dtype} is not one of numpy')
    return _described(dtype)


def dtype_of(descr: JSON) -> numpy.dtype[Any]:
    """Return the dtype that plain data stand for.

    Parameters
    ----------
    descr : str, list or dict
        What `descr_of` returned, perhaps by way of JSON.

    Raises
    ------
    DataLayoutError
        They stand for none, or for one with Python objects in it.
    """
    try:
        if isinstance(descr, str):
            dtype = _named(descr)
        elif isinstance(descr, dict):
            dtype = numpy.dtype({'names': descr['names'], 'offsets': descr['offsets'],
                                 'formats': [dtype_of(entry) for entry in descr['formats']],
                                 'itemsize': descr['itemsize']})
        else:
            dtype = numpy.lib.format.descr_to_dtype(_with_tuples(descr))
    except (TypeError, ValueError, KeyError, IndexError, SyntaxError) as error:
        raise DataLayoutError(f'expected the description of a dtype; got {descr!r}') from error
    if dtype.hasobject:
        raise DataLayoutError(f'expected a dtype without Python objects; got {descr!r}')
    return dtype


@functools.lru_cache(maxsize=256)
def _named(descr: str) -> numpy.dtype[Any]:
    return numpy.dtype(descr)


def _with_tuples(descr: Any) -> Any:
    """Return a description with the tuples that JSON has made lists of."""
    if not isinstance(descr, (list, tuple)):
        return descr
    # A dtype with a shape is a pair; fields come as a list of lists.
    if len(descr) == 2 and isinstance(descr[1], (list, tuple)) and all(
            isinstance(extent, int) for extent in descr[1]):
        return _with_tuples(descr[0]), tuple(descr[1])
    fields = []
    for name, kind, *shape in descr:
        fields.append((tuple(name) if isinstance(name, list) else name, _with_tuples(kind),
                       *(tuple(extents) for extents in shape)))
    return fields


def buffer_of(array: AnyArray) -> Buffer:
    """Return the bytes of an array in C order, as one flat array that shares its memory.

    Parameters
    ----------
    array : ndarray
        In one piece, without objects.
    """
    if not array.nbytes:
        return b''
    return array.reshape(-1).view(numpy.uint8)


def array_of(descr: JSON, shape: Any, fortran_order: bool, buffer: Buffer) -> AnyArray:
    """Return an array over bytes.

    Parameters
    ----------
    descr : object
        The dtype, as `descr_of` tells it.
    shape : sequence of int
        The shape.
    fortran_order : bool
        Whether the bytes are in Fortran order.
    buffer : buffer
        The bytes. The array shares their memory, if they can be written to and lie where the
        dtype wants them.

    Returns
    -------
    ndarray
        Can be written to.

    Raises
    ------
    DataLayoutError
        The three do not fit to each other.
    """
    dtype = dtype_of(descr)
    if not isinstance(shape, (list, tuple)) or not all(
            isinstance(extent, int) and extent >= 0 for extent in shape):
        raise DataLayoutError(f'expected the shape of an array; got {shape!r}')
    shape = tuple(shape)
    flat = numpy.frombuffer(buffer, numpy.uint8) if len(buffer) else numpy.empty(0, numpy.uint8)
    expected = math.prod(shape) * dtype.itemsize
    if flat.nbytes != expected:
        raise DataLayoutError(f'expected {expected} bytes for an array of shape {shape} and dtype '
                              f'{dtype}; got {flat.nbytes}')
    order = 'F' if fortran_order else 'C'
    if not expected:
        return numpy.empty(shape, dtype, order=order)  # type: ignore[call-overload,no-any-return]
    if not flat.flags.writeable or flat.__array_interface__['data'][0] % dtype.alignment:
        flat = flat.copy()
    array = flat.view(dtype)
    return array.reshape(shape[::-1]).T if fortran_order else array.reshape(shape)
