"""Sequences of unequal lengths made into one array, with a mask, in numpy."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from fuel._types import AnyArray

__all__ = ['fill_item', 'pad_rows']


def pad_rows(rows: Sequence[Any], fill: Any, mask_dtype: Any) -> tuple[AnyArray, AnyArray]:
    """Return sequences as one array, and a mask that tells where they end.

    Parameters
    ----------
    rows : sequence of array-like
        Each of shape (length, ...), with the same axes behind the first.
    fill : scalar or None
        What stands behind the end of a sequence; `None` for the zero of the dtype.
    mask_dtype : dtype
        That of the mask.

    Returns
    -------
    dense : ndarray, shape (len(rows), longest, ...)
        A new array. Its dtype holds the values of all sequences. Empty lists have no say in it.
    mask : ndarray, shape (len(rows), longest)
        1 where a sequence has an entry, and 0 behind its end.

    Raises
    ------
    ValueError
        An entry is no sequence, axes behind the first differ, or `fill` does not fit.
    """
    arrays = [row if isinstance(row, numpy.ndarray) else _array_of(row) for row in rows]
    for array in arrays:
        if array.ndim < 1:
            raise ValueError(f'expected sequences; got the single value {array.item()!r}')
    # An empty list says nothing about its dtype nor about the axes of its entries.
    telling = [array for array, row in zip(arrays, rows, strict=True)
               if len(array) or isinstance(row, numpy.ndarray)]
    tails = sorted({array.shape[1:] for array in telling})
    if len(tails) > 1:
        raise ValueError('expected sequences whose axes behind the first are of the same sizes; '
                         f'got the sizes {tails[0]} and {tails[1]}')
    tail = tails[0] if tails else ()
    dtypes = {array.dtype for array in telling}
    dtype = numpy.result_type(*dtypes) if dtypes else numpy.dtype(numpy.float64)
    width = max([len(array) for array in arrays], default=0)
    dense = numpy.zeros((len(rows), width, *tail), dtype)
    if fill is not None:
        dense[...] = fill_item(fill, dtype)
    mask = numpy.zeros((len(rows), width), mask_dtype)
    for place, array in enumerate(arrays):
        if len(array):
            dense[place, :len(array)] = array
            mask[place, :len(array)] = 1
    return dense, mask


def _array_of(row: Any) -> AnyArray:
    try:
        return numpy.asarray(row)
    except ValueError as error:
        raise ValueError('expected sequences whose entries are of the same form; in one of them '
                         f'they differ: {error}') from None


def fill_item(fill: Any, dtype: Any) -> Any:
    """Return a fill value in a dtype, after checking that it stays what it is."""
    try:
        with numpy.errstate(all='ignore'):
            item = numpy.asarray(fill).astype(dtype)
    except (TypeError, ValueError, OverflowError):
        item = None
    # nan is the one value that differs from itself.
    if item is None or item.ndim or not (item == fill or (item != item and fill != fill)):
        raise ValueError(f'expected a fill value that {numpy.dtype(dtype)} can hold; got {fill!r}')
    return item
