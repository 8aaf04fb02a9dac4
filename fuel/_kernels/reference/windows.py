"""Windows that slide along an array, copied out with numpy."""
from __future__ import annotations

import numpy

from fuel._types import AnyArray

__all__ = ['sliding_windows']


def sliding_windows(source: AnyArray, start: int, count: int, width: int) -> AnyArray:
    """Return windows into an array, each one row further on than the one before.

    Parameters
    ----------
    source : ndarray, shape (n, ...)
        Any dtype and memory layout.
    start : int
        The first row of the first window.
    count : int
        How many windows.
    width : int
        How many rows a window has.

    Returns
    -------
    ndarray, shape (count, width, ...)
        A new array of the same dtype.

    Raises
    ------
    IndexError
        A window goes past an end of the array, or a number is negative.
    TypeError
        The source has no axis.
    """
    check(source, start, count, width)
    if not count or not width:
        return numpy.empty((count, width, *source.shape[1:]), source.dtype)
    views = numpy.lib.stride_tricks.sliding_window_view(
        source[start:start + count + width - 1], width, axis=0)
    return numpy.moveaxis(views, -1, 1).copy()


def check(source: AnyArray, start: int, count: int, width: int) -> None:
    """Check what `sliding_windows` is given."""
    if source.ndim < 1:
        raise TypeError('expected a source of at least one axis; got a scalar')
    if min(start, count, width) < 0 or (count and start + count + width - 1 > len(source)):
        raise IndexError(f'{count} windows of {width} rows from row {start} on are out of range '
                         f'for {len(source)} rows')
