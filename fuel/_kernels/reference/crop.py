"""Windows of a batch of images, copied with numpy."""
from __future__ import annotations

from typing import Any

import numpy

from fuel._types import AnyArray

__all__ = ['checked_windows', 'window_batch_bchw']


def checked_windows(batch: Any, height_offsets: Any, width_offsets: Any,
                    out: Any) -> tuple[AnyArray, AnyArray]:
    """Return the offsets of windows as int64, after checking that each lies in its image.

    Parameters
    ----------
    batch, height_offsets, width_offsets, out
        As for `window_batch_bchw`.

    Returns
    -------
    tops, lefts : ndarray of int64, shape (batch,)
        Contiguous.

    Raises
    ------
    TypeError, ValueError
        As for `window_batch_bchw`.
    """
    for name, array in (('batch', batch), ('out', out)):
        if not isinstance(array, numpy.ndarray) or array.ndim != 4:
            raise TypeError(f'expected {name} to be an array of four axes (batch, channel, height, '
                            f'width); got {_described(array)}')
    if batch.dtype != out.dtype:
        raise TypeError(f'expected out to have the dtype {batch.dtype} of the batch; got '
                        f'{out.dtype}')
    if not out.flags.writeable:
        raise ValueError('expected an out that can be written into; got a read-only array')
    if batch.shape[:2] != out.shape[:2]:
        raise ValueError(f'expected out to hold {batch.shape[0]} images of {batch.shape[1]} '
                         f'channels, as the batch does; got the shape {out.shape}')
    tops, lefts = (
        _checked_offsets(name, offsets, len(batch), image, window)
        for name, offsets, image, window in (
            ('height', height_offsets, batch.shape[2], out.shape[2]),
            ('width', width_offsets, batch.shape[3], out.shape[3])))
    return tops, lefts


def _checked_offsets(axis: str, given: Any, count: int, image: int, window: int) -> AnyArray:
    if window > image:
        raise ValueError(f'a window of {axis} {window} does not fit into images of {axis} {image}')
    offsets: AnyArray = numpy.asarray(given)
    if offsets.shape != (count,) or (offsets.dtype.kind not in 'iu' and count):
        raise ValueError(f'expected {count} integers as {axis} offsets, one for each image; got '
                         f'{_described(offsets)}')
    offsets = numpy.ascontiguousarray(offsets, dtype=numpy.int64)
    if count and not 0 <= offsets.min() <= offsets.max() <= image - window:
        place = int(numpy.flatnonzero((offsets < 0) | (offsets > image - window))[0])
        raise ValueError(f'expected {axis} offsets from 0 to {image - window}, so that windows of '
                         f'{axis} {window} lie in images of {axis} {image}; got '
                         f'{offsets[place]} for image {place}')
    return offsets


def _described(value: Any) -> str:
    if isinstance(value, numpy.ndarray):
        return f'an array of shape {value.shape} and dtype {value.dtype}'
    return f'a {type(value).__name__}'


def window_batch_bchw(batch: AnyArray, height_offsets: AnyArray, width_offsets: AnyArray,
                      out: AnyArray) -> None:
    """Copy a window of each image of a batch.

    Parameters
    ----------
    batch : ndarray, shape (batch, channel, height, width)
        The images. Any dtype, byte order and memory layout; may be read-only.
    height_offsets, width_offsets : ndarray of int, shape (batch,)
        The row and the column of each image at which its window starts.
    out : ndarray, shape (batch, channel, window height, window width)
        Of the same dtype; is written into. Must not overlap with the batch.

    Raises
    ------
    TypeError
        `batch` or `out` is no array of four axes, or their dtypes differ.
    ValueError
        Shapes do not fit, a window would not lie in its image, or `out` is read-only.

    Examples
    --------
    >>> import numpy
    >>> batch = numpy.arange(18).reshape(2, 1, 3, 3)
    >>> out = numpy.empty((2, 1, 2, 2), batch.dtype)
    >>> window_batch_bchw(batch, numpy.array([0, 1]), numpy.array([1, 0]), out)
    >>> out[:, 0].tolist()
    [[[1, 2], [4, 5]], [[12, 13], [15, 16]]]
    """
    tops, lefts = checked_windows(batch, height_offsets, width_offsets, out)
    height, width = out.shape[2:]
    for target, image, top, left in zip(out, batch, tops.tolist(), lefts.tolist(), strict=True):
        target[...] = image[:, top:top + height, left:left + width]
