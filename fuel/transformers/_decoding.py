"""Encoded images to arrays: what Pillow reads, with simplejpeg for JPEG where it is installed."""
from __future__ import annotations

import contextlib
import functools
import importlib
import io
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy

from fuel._types import AnyArray
from fuel.transformers._jpeg import cut_off_below

__all__ = ['BadImage', 'converted_image', 'decoded', 'decoded_window', 'decoding_trouble',
           'fast_decoder', 'opened_image']

ORIENTATION = 0x0112  # the EXIF tag
_SIXTEEN_BITS = frozenset({'I;16', 'I;16B', 'I;16L', 'I;16N'})
_MANY_BITS = frozenset({*_SIXTEEN_BITS, 'I', 'F'})

Box = tuple[int, int, int, int]  # top, left, height, width


class BadImage(Exception):
    """Bytes cannot be made an image; the message says why."""


@functools.cache
def fast_decoder() -> Any:
    """Return the module simplejpeg, or `None` where it is not installed."""
    try:
        return importlib.import_module('simplejpeg')
    except ImportError:
        return None


def decoded(data: bytes, color_mode: str | None) -> AnyArray:
    """Return an encoded image as an array.

    Parameters
    ----------
    data : bytes
        Of an image file.
    color_mode : str or None
        A mode of Pillow to convert to, such as 'RGB'; `None` leaves the image as it is.

    Returns
    -------
    ndarray, shape (height, width) or (height, width, channel)
        Can be written into.

    Raises
    ------
    BadImage
        The bytes are no image, a broken one, or too large a one.
    """
    image = opened_image(data)
    kind = image.format
    if _is_plain_jpeg(image, color_mode) and _orientation(image) == 1:
        pixels = _fast(data, image.mode, color_mode)
        if pixels is not None:
            return pixels
    with decoding_trouble():
        return numpy.array(converted_image(_upright(image), color_mode, kind))


def decoded_window(data: bytes, color_mode: str, box_of: Callable[[int, int], Box],
                   shape: tuple[int, int], reducing_gap: float | None) -> tuple[AnyArray, Box]:
    """Decode as little of an image as a window of it needs.

    Parameters
    ----------
    data : bytes
        Of an image file.
    color_mode : str
        A mode of Pillow to convert to.
    box_of : callable
        Takes height and width of the image, returns the window.
    shape : tuple of int
        Height and width that the window will be resized to.
    reducing_gap : float or None
        JPEG images are decoded at a half, a quarter or an eighth of their size where the window
        then still is this many times as large as `shape`; `None`: at full size always.

    Returns
    -------
    pixels : ndarray, shape (height, width) or (height, width, channel)
        Holds the window.
    box : tuple of int
        Where in `pixels`.

    Raises
    ------
    BadImage
        The bytes are no image, a broken one, or too large a one.
    """
    image = opened_image(data)
    kind = image.format
    upright = _orientation(image) == 1
    with decoding_trouble():
        if not upright:
            image = _upright(image)
        width, height = image.size
        top, left, tall, wide = box_of(height, width)
        if upright and kind == 'JPEG':
            by = _reduction((height, width), (tall, wide), shape, reducing_gap)
            if by > 1:
                # The window starts and ends between pixels of the smaller image.
                top, left, tall, wide = top // by, left // by, tall // by, wide // by
                part, size = data, (-(-height // by), -(-width // by))
            else:
                part, size = cut_off_below(data, top + tall), (0, 0)
            if _is_plain_jpeg(image, color_mode):
                # What was cut off is an error otherwise; that the end is there was seen to.
                pixels = _fast(part, image.mode, color_mode, size, strict=part is data)
                if pixels is not None:
                    return pixels, (top, left, tall, wide)
            if part is not data:
                image = opened_image(part)
            if by > 1:
                image.draft(image.mode, (width // by, height // by))
        window = image.crop((left, top, left + wide, top + tall))
        return numpy.asarray(converted_image(window, color_mode, kind)), (0, 0, tall, wide)


def opened_image(data: bytes) -> Any:
    """Return a Pillow image of which only the header was read."""
    from PIL import Image, UnidentifiedImageError
    limit = Image.MAX_IMAGE_PIXELS
    setting = (f'the limit of {limit} pixels that PIL.Image.MAX_IMAGE_PIXELS sets against images '
               'made to exhaust the memory; set it higher if the data can be trusted')
    try:
        with warnings.catch_warnings():
            # Between one and two times the limit Pillow only warns; below is an error for that.
            warnings.simplefilter('ignore', Image.DecompressionBombWarning)
            image = Image.open(io.BytesIO(data))
    except Image.DecompressionBombError as error:
        raise BadImage(f'larger than {setting} ({error})') from error
    except UnidentifiedImageError as error:
        raise BadImage('not an image in a format that Pillow knows') from error
    except MemoryError:
        raise
    except Exception as error:
        raise BadImage(f'its header is broken ({type(error).__name__}: {error})') from error
    width, height = image.size
    if limit is not None and width * height > limit:
        raise BadImage(f'{width} x {height} pixels (width x height) are more than {setting}')
    return image


@contextlib.contextmanager
def decoding_trouble() -> Iterator[None]:
    """Turn whatever Pillow raises over broken data into one error."""
    try:
        yield
    except (BadImage, MemoryError):
        raise
    except Exception as error:
        raise BadImage(f'it cannot be decoded ({type(error).__name__}: {error})') from error


def _orientation(image: Any) -> int:
    """Return which way up the picture was taken, 1 for upright."""
    if image.format == 'JPEG' and not image.info.keys() & {'exif', 'xmp'}:
        return 1
    try:
        orientation = image.getexif().get(ORIENTATION, 1)
    except Exception:
        return 1  # the pixels may be all right where what is said about them is not
    return orientation if orientation in range(2, 9) else 1


def _upright(image: Any) -> Any:
    """Turn a picture as its EXIF data say."""
    from PIL import ImageOps
    # Some formats turn it themselves when they load it, and take out what says so.
    image.load()
    return image if _orientation(image) == 1 else ImageOps.exif_transpose(image)


def converted_image(image: Any, color_mode: str | None, kind: str | None) -> Any:
    """Convert a Pillow image of some format, keeping brightness that Pillow would cut off."""
    from PIL import Image
    if color_mode is None or color_mode == image.mode:
        return image
    if image.mode in _MANY_BITS and color_mode not in _MANY_BITS:
        values = numpy.asarray(image)
        # PNG has no 32-bit numbers: they come from older versions of Pillow.
        if image.mode in _SIXTEEN_BITS or (image.mode == 'I' and kind == 'PNG'):
            values = (values.astype('uint32') * 255 + 32767) // 65535
        elif values.size and not 0 <= values.min() <= values.max() <= 255:
            raise BadImage(
                f'its pixels, of mode {image.mode!r}, lie between {values.min()} and '
                f'{values.max()}, and only those from 0 to 255 can be converted to '
                f'{color_mode!r}; take color_mode=None and scale them')
        image = Image.fromarray(values.astype('uint8'))
    elif image.mode == 'P' and isinstance(image.info.get('transparency'), bytes):
        image = image.convert('RGBA')  # as Pillow asks for
    return image.convert(color_mode)


# JPEG, faster.


def _is_plain_jpeg(image: Any, color_mode: str | None) -> bool:
    """Tell whether simplejpeg gives the very pixels that Pillow does, and is there."""
    return (image.format == 'JPEG' and image.mode in ('RGB', 'L')
            and color_mode in (None, image.mode, 'RGB') and fast_decoder() is not None)


def _fast(data: bytes, mode: str, color_mode: str | None, size: tuple[int, int] = (0, 0),
          *, strict: bool = True) -> AnyArray | None:
    """Decode with simplejpeg; return `None` where it fails, and Pillow should say why."""
    grey = (color_mode or mode) == 'L'
    try:
        pixels: AnyArray = fast_decoder().decode_jpeg(
            data, colorspace='GRAY' if grey else 'RGB', fastdct=False, fastupsample=False,
            min_height=size[0], min_width=size[1], strict=strict)
    except ValueError:
        return None
    return pixels[:, :, 0] if grey else pixels


def _reduction(size: tuple[int, int], window: tuple[int, int], shape: tuple[int, int],
               reducing_gap: float | None) -> int:
    """Return by how much an image can be made smaller while it is decoded: 1, 2, 4 or 8."""
    if reducing_gap is not None:
        for by in (8, 4, 2):
            # The last condition makes Pillow choose the same.
            if all(have >= want * by * reducing_gap
                   for have, want in zip(window, shape, strict=True)) and min(size) >= by * by:
                return by
    return 1
