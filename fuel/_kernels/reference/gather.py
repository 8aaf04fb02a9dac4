"""Rows of an array, gathered with numpy."""
from __future__ import annotations

import numpy

from fuel._types import AnyArray

__all__ = ['first_outside_range', 'gather_rows']


def gather_rows(source: AnyArray, indices: AnyArray) -> AnyArray:
    """Return chosen rows of an array.

    Parameters
    ----------
    source : ndarray, shape (n, ...)
        Any dtype and memory layout.
    indices : ndarray of int32 or int64, shape (m,)
        Row numbers from 0 to n - 1, in any order, also repeated.

    Returns
    -------
    ndarray, shape (m, ...)
        A new array of the same dtype.

    Raises
    ------
    IndexError
        A row number is negative or past the end.
    TypeError
        The indices have another dtype or more than one axis.
    """
    if source.ndim < 1:
        raise TypeError('expected a source of at least one axis; got a scalar')
    if indices.ndim != 1 or indices.dtype not in (numpy.int32, numpy.int64):
        raise TypeError('expected a vector of int32 or int64 indices; got '
                        f'{indices.ndim} axes of {indices.dtype}')
    outside = indices[(indices < 0) | (indices >= len(source))]
    if len(outside):
        raise IndexError(f'row {outside[0]} is out of range for {len(source)} rows')
    return source[indices]


def first_outside_range(indices: AnyArray, rows: int) -> int:
    """Return where the first index out of range stands.

    Parameters
    ----------
    indices : ndarray of int32 or int64, shape (n,)
        Indices.
    rows : int
        How many rows there are; indices must not be negative, and less than that.

    Returns
    -------
    int
        A place in `indices`; -1 if there is none.
    """
    if indices.ndim != 1 or indices.dtype not in (numpy.int32, numpy.int64):
        raise TypeError('expected a vector of int32 or int64 indices; got '
                        f'{indices.ndim} axes of {indices.dtype}')
    if not indices.size or (indices.min() >= 0 and indices.max() < rows):
        return -1
    return int(numpy.flatnonzero((indices < 0) | (indices >= rows))[0])
