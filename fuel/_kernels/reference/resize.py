"""A window of a decoded picture, resized with numpy."""
from __future__ import annotations

from typing import Any

import numpy

from fuel._types import AnyArray

__all__ = ['checked_resize', 'resize_window']


def checked_resize(image: Any, box: Any, out: Any) -> tuple[AnyArray, tuple[int, int, int, int]]:
    """Return the picture with rows in one piece each, and its box, after checking all arguments.

    Parameters
    ----------
    image, box, out
        As for `resize_window`.

    Raises
    ------
    TypeError, ValueError
        As for `resize_window`.
    """
    for name, array in (('image', image), ('out', out)):
        if not isinstance(array, numpy.ndarray) or array.ndim != 3 or array.dtype != numpy.uint8:
            given = (f'{array.ndim} axes of {array.dtype}' if isinstance(array, numpy.ndarray)
                     else f'a {type(array).__name__}')
            raise TypeError(f'expected {name} to be a uint8 array of three axes; got {given}')
    if not out.flags.c_contiguous or not out.flags.writeable:
        raise ValueError('expected an out in one piece that can be written into')
    top, left, height, width = map(int, box)
    if not (top >= 0 and left >= 0 and height > 0 and width > 0 and top + height <= image.shape[0]
            and left + width <= image.shape[1]):
        raise ValueError(f'the window of {height} x {width} pixels at row {top}, column {left} '
                         f'does not lie in the picture of {image.shape[0]} x {image.shape[1]}')
    if out.shape[0] != image.shape[2] or 0 in out.shape:
        raise ValueError(f'expected an out of {image.shape[2]} channels with pixels; got the shape '
                         f'{out.shape}')
    if image.strides[1:] != (image.shape[2], 1):
        image = numpy.ascontiguousarray(image)
    return image, (top, left, height, width)


def resize_window(image: AnyArray, box: tuple[int, int, int, int], out: AnyArray) -> None:
    """Resize a window of a picture, and put its channels first.

    Does what Pillow does to a cropped picture with the filter 'bilinear', within one grey level:
    Pillow rounds once more, between its two passes.

    Parameters
    ----------
    image : ndarray of uint8, shape (height, width, channel)
        As decoders give it. May be read-only.
    box : tuple of int
        Top, left, height and width of the window. Pixels outside of it have no part in the
        result.
    out : ndarray of uint8, shape (channel, wanted height, wanted width)
        In one piece; is written into.

    Raises
    ------
    TypeError
        `image` or `out` is no array of uint8 with three axes.
    ValueError
        The window does not lie in the picture, or `out` does not fit.

    Examples
    --------
    >>> import numpy
    >>> out = numpy.empty((1, 1, 2), 'uint8')
    >>> resize_window(numpy.array([[[0], [10], [20], [30]]], 'uint8'), (0, 0, 1, 4), out)
    >>> out[0].tolist()
    [[7, 23]]
    """
    image, (top, left, height, width) = checked_resize(image, box, out)
    window = image[top:top + height, left:left + width].transpose(2, 0, 1)
    window = numpy.ascontiguousarray(window, dtype=numpy.float32)
    rows, columns = _weights(height, out.shape[1]), _weights(width, out.shape[2])
    # Half a level, so that cutting off the fraction rounds.
    out[...] = rows @ window @ columns.T + numpy.float32(0.5)


def _weights(size: int, wanted: int) -> AnyArray:
    """Return how much of each pixel goes into each one of the result, shape (wanted, size)."""
    scale = size / wanted
    centres = (numpy.arange(wanted)[:, None] + 0.5) * scale
    distances = numpy.abs(numpy.arange(size) + 0.5 - centres) / max(scale, 1)
    weights = numpy.clip(1 - distances, 0, None)
    result: AnyArray = (weights / weights.sum(axis=1, keepdims=True)).astype(numpy.float32)
    return result
