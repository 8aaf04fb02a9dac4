"""Pillow's resampling for arrays: any dtype and number of channels, channels first.

Pillow knows images of bytes with one or three channels, and of 32-bit integers or floats with
one. What has more channels is taken channel by channel; and since 'nearest' only moves pixels,
which pixels it takes is read off an image of their numbers, so that it works for every dtype.
"""
from __future__ import annotations

from typing import Any

import numpy

from fuel._kernels import BACKEND, resize_window
from fuel._types import AnyArray

__all__ = ['RESAMPLES', 'ROTATION_RESAMPLES', 'checked_resample', 'resized', 'resized_by_pillow',
           'rotated']

RESAMPLES = ('nearest', 'box', 'bilinear', 'hamming', 'bicubic', 'lanczos')
ROTATION_RESAMPLES = ('nearest', 'bilinear', 'bicubic')


def checked_resample(owner: object, resample: Any, known: tuple[str, ...] = RESAMPLES) -> Any:
    """Return the name of a filter in lower case, after checking that there is one."""
    name = resample.lower() if isinstance(resample, str) else resample
    if name == 'antialias':  # as Pillow called it until version 10
        name = 'lanczos'
    if name not in known:
        raise ValueError(f'{type(owner).__name__}: expected resample to be one of '
                         f'{", ".join(map(repr, known))}; got {resample!r}')
    return name


def resized(image: AnyArray, shape: tuple[int, int], resample: str,
            box: tuple[int, int, int, int] | None = None, out: AnyArray | None = None) -> AnyArray:
    """Return a window of an image, resized.

    Parameters
    ----------
    image : ndarray, shape (..., height, width)
        Any dtype for 'nearest'; integers of up to 32 bits or floats for others.
    shape : tuple of int
        The wanted height and width.
    resample : str
        One of `RESAMPLES`. Where the result is smaller, all but 'nearest' take all pixels into
        account.
    box : tuple of int, optional
        Top, left, height and width of the window; the whole image by default.
    out : ndarray, shape (..., *shape), optional
        Contiguous and of the image's dtype; the result is written into it.

    Returns
    -------
    ndarray, shape (..., *shape)
        Of the dtype of the image. 'bilinear' on bytes differs from Pillow by one grey level at
        most.
    """
    top, left, height, width = (0, 0, *image.shape[-2:]) if box is None else box
    if 0 in (height, width):
        raise ValueError(f'an image of {height} x {width} pixels cannot be resized')
    if out is None:
        out = numpy.empty((*image.shape[:-2], *shape), dtype=image.dtype)
    # The twin of the kernel is slower than Pillow.
    if resample == 'bilinear' and image.dtype == numpy.uint8 and BACKEND == 'compiled':
        if image.ndim == 3 and image.strides[0] == 1:  # channels last, seen from the front
            resize_window(image.transpose(1, 2, 0), (top, left, height, width), out)
        else:
            planes = image.reshape((-1, *image.shape[-2:]))
            for plane, target in zip(planes, out.reshape((-1, 1, *shape)), strict=True):
                resize_window(plane[:, :, None], (top, left, height, width), target)
    else:
        window = image[..., top:top + height, left:left + width]
        out[...] = resized_by_pillow(window, shape, resample)
    return out


def resized_by_pillow(image: AnyArray, shape: tuple[int, int], resample: str) -> AnyArray:
    """Return a whole image, resized, with the very pixels that Pillow gives; see `resized`."""
    from PIL import Image
    height, width = image.shape[-2:]
    pillow = Image.Resampling[resample.upper()]
    if resample == 'nearest':
        rows, columns = (
            numpy.asarray(Image.fromarray(numpy.arange(size, dtype='int32')[None]).resize(
                (wanted, 1), pillow))[0]
            for size, wanted in ((height, shape[0]), (width, shape[1])))
        result: AnyArray = image[..., rows[:, None], columns]
        return result
    return _through_pillow(image, lambda picture: picture.resize(shape[::-1], pillow), resample)


def rotated(image: AnyArray, degrees: float, resample: str) -> AnyArray:
    """Return an image of the same shape, rotated counterclockwise around its centre.

    Parameters
    ----------
    image : ndarray, shape (..., height, width)
        As for `resized`.
    degrees : float
        The angle.
    resample : str
        One of `ROTATION_RESAMPLES`.

    Returns
    -------
    ndarray, shape (..., height, width)
        Of the dtype of the image; 0 where nothing of the image comes to lie.
    """
    from PIL import Image
    height, width = image.shape[-2:]
    pillow = Image.Resampling[resample.upper()]
    if resample == 'nearest':
        # Numbered from 1, since 0 is what comes in from outside.
        numbers = numpy.arange(1, height * width + 1, dtype='int32').reshape(height, width)
        taken = numpy.asarray(Image.fromarray(numbers).rotate(degrees, pillow)).reshape(-1)
        flat = image.reshape((*image.shape[:-2], -1))[..., taken - 1]
        flat[..., taken == 0] = 0
        return flat.reshape(image.shape)
    return _through_pillow(image, lambda picture: picture.rotate(degrees, pillow), resample)


def _through_pillow(image: AnyArray, change: Any, resample: str) -> AnyArray:
    """Let Pillow change an image, channel by channel where it must be."""
    from PIL import Image
    dtype = image.dtype
    if dtype == numpy.uint8:
        if image.ndim == 3 and len(image) == 3:
            pixels = numpy.ascontiguousarray(image.transpose(1, 2, 0))
            return numpy.array(change(Image.fromarray(pixels))).transpose(2, 0, 1)
        kind = dtype
    elif dtype.kind in 'iu' and numpy.can_cast(dtype, numpy.int32):
        kind = numpy.dtype(numpy.int32)
    elif dtype.kind == 'f' and dtype.itemsize <= 8:
        kind = numpy.dtype(numpy.float32)
    else:
        raise TypeError(f'pixels of dtype {dtype} cannot be resampled by {resample!r}: expected '
                        'integers of up to 32 bits or floats. Cast them, or use '
                        "resample='nearest', which works for every dtype.")
    planes = image.reshape((-1, *image.shape[-2:])).astype(kind)
    changed = numpy.stack([numpy.asarray(change(Image.fromarray(plane))) for plane in planes])
    if dtype.kind in 'iu' and kind != dtype:
        limits = numpy.iinfo(dtype)
        changed = numpy.clip(changed, limits.min, limits.max)  # sharp filters overshoot
    return changed.astype(dtype, copy=False).reshape((*image.shape[:-2], *changed.shape[-2:]))
