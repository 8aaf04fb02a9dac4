"""Rows of what is in memory, copied out of it."""
from __future__ import annotations

from typing import Any

import numpy

from fuel._kernels import gather_rows
from fuel._types import AnyArray
from fuel.utils.indices import Positions

__all__ = ['check_places', 'own_objects', 'take_rows']


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
            check_places(positions, len(rows))
        return own_objects(rows[positions])
    if isinstance(rows, numpy.memmap):
        rows = rows.view(numpy.ndarray)  # what is given out has nothing to do with a file
    if isinstance(positions, numpy.ndarray):
        # Other subclasses may hold more than their rows, such as a mask.
        if type(rows) is numpy.ndarray:
            return gather_rows(rows, positions)
        check_places(positions, len(rows))
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


def check_places(places: AnyArray, count: int) -> None:
    """Raise `IndexError` if a place is negative or past the end."""
    if places.size and (places.min() < 0 or places.max() >= count):
        raise IndexError(f'a place is out of range for {count} rows')
