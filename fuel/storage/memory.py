"""Rows of arrays and of other things that can be indexed, copied out of them."""
from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any

import numpy

from fuel._kernels import gather_rows
from fuel._types import AnyArray
from fuel.utils.indices import Positions

__all__ = ['keep_freed_memory', 'own', 'own_objects', 'part_of', 'take', 'take_rows']


# What a list of these has in it need not be copied.
_UNCHANGING = frozenset({bool, bytes, complex, float, int, str, type(None)})


@functools.cache
def keep_freed_memory() -> None:
    """Have the C library keep the memory of freed arrays for the next ones.

    Batches of many arrays of middle size, such as encoded images, are made and freed all the time.
    The C library of GNU would give their memory back to the system whenever a batch is freed, and
    taking it again costs several times as much as filling it. It stops doing so, for up to 64 MiB,
    once it has seen a large array come and go; this one costs nothing, since nobody touches it.
    """
    numpy.empty(2 ** 25 - 4096, dtype=numpy.uint8)


def take_rows(rows: AnyArray, positions: Positions) -> Any:
    """Return rows of an array in memory; the result never shares memory with it.

    Parameters
    ----------
    rows : ndarray, shape (n, ...)
        An array of objects may hold arrays, which are copied, and values that cannot change.
    positions : int, slice or ndarray of int32 or int64
        Within the array. Places in an array of them may be out of range, which is an
        `IndexError`.
    """
    if rows.dtype.hasobject:
        if isinstance(positions, numpy.ndarray):
            _check_places(positions, len(rows))
        return own_objects(rows[positions])
    if isinstance(rows, numpy.memmap):
        rows = rows.view(numpy.ndarray)  # what is given out has nothing to do with a file
    if isinstance(positions, numpy.ndarray):
        # Other subclasses may hold more than their rows, such as a mask.
        if type(rows) is numpy.ndarray:
            return gather_rows(rows, positions)
        _check_places(positions, len(rows))
        return rows[positions]
    taken = rows[positions]
    # A scalar of several fields is a view too.
    return taken.copy() if isinstance(taken, (numpy.ndarray, numpy.void)) else taken


def own_objects(taken: Any) -> Any:
    """Copy the arrays inside an array of objects, or a single one."""
    if not isinstance(taken, numpy.ndarray):
        return taken
    taken = taken.copy()
    if taken.dtype == object:
        flat = taken.reshape(-1)
        for position, value in enumerate(flat):
            if isinstance(value, numpy.ndarray):
                flat[position] = value.copy()
    return taken


def _check_places(places: AnyArray, count: int) -> None:
    """Raise `IndexError` if a place is negative or past the end."""
    if places.size and (places.min() < 0 or places.max() >= count):
        raise IndexError(f'a place is out of range for {count} rows')


def own(data: Any) -> Any:
    """Return data that belong to the caller: arrays are copied, also those in lists and tuples."""
    if isinstance(data, (numpy.ndarray, numpy.void)):
        return own_objects(data) if data.dtype.hasobject else data.copy()
    if type(data) in (list, tuple):
        if _UNCHANGING.issuperset(map(type, data)):
            return data[:]  # much faster for long sentences
        # Most lists are of arrays.
        return type(data)([entry.copy() if type(entry) is numpy.ndarray and entry.dtype != object
                           else own(entry) for entry in data])
    return data


def take(entry: Any, request: Positions) -> Any:
    """Return chosen rows of something that can be indexed.

    Parameters
    ----------
    entry : indexable
        Of an array, and of an h5py data set, the result is an array; of anything else a list.
    request : int, slice or ndarray of int32 or int64
        As for `take_rows`.
    """
    if isinstance(entry, numpy.ndarray):
        return take_rows(entry, request)
    if isinstance(request, int):
        return own(entry[request])
    if isinstance(request, slice):
        if _is_h5py(entry) or type(entry) in (list, _Part):
            return own(entry[request])
        # What becomes of a slice is for its owner to say, and rarely a list.
        return _each(entry, range(request.start, request.stop, request.step or 1))
    # What lists and the like make of negative places is not what is meant here.
    _check_places(request, len(entry))
    if _is_h5py(entry):
        return _take_sorted(entry, request)
    return _each(entry, request.tolist())


def _each(entry: Any, places: Iterable[int]) -> list[Any]:
    try:
        return [own(entry[place]) for place in places]
    except StopIteration as error:
        # It would be taken for the end of the epoch.
        raise RuntimeError(f'{type(entry).__name__} raised StopIteration when it was indexed'
                           ) from error


def _is_h5py(entry: Any) -> bool:
    return isinstance(entry, _Part) or type(entry).__module__.partition('.')[0] == 'h5py'


def _take_sorted(entry: Any, request: AnyArray) -> AnyArray:
    """Take rows of an h5py data set, which wants them in increasing order and only once."""
    places, back = numpy.unique(request, return_inverse=True)
    rows: AnyArray = entry[places] if len(places) else entry[0:0]
    return rows[back]


def part_of(entry: Any, first: int, last: int) -> Any:
    """Return the rows from `first` up to `last`; those of a file stay there."""
    return _Part(entry, first, last) if _is_h5py(entry) else entry[first:last]


class _Part:
    """Some consecutive rows of an h5py data set, which are read when they are wanted."""

    def __init__(self, entry: Any, first: int, last: int) -> None:
        self._entry = entry
        self._first = first
        self._length = last - first

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, request: Any) -> Any:
        if isinstance(request, slice):
            start, stop, step = request.indices(self._length)
            return self._entry[self._first + start:self._first + stop:step]
        return self._entry[request + self._first]
