"""Pictures of a data set as arrays, with errors that say which picture is at fault."""
from __future__ import annotations

import functools
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from fuel.exceptions import ConversionError

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

__all__ = ['check_picture', 'decoded']

#: Pieces of memory that Pillow keeps for its next pictures; each has 16 MB at most.
_KEPT_BLOCKS = 2
#: How pictures become upright, by the EXIF tag 0x0112; the values are those of the EXIF standard.
_ORIENTATION = 0x0112
_TURNS = {2: 'FLIP_LEFT_RIGHT', 3: 'ROTATE_180', 4: 'FLIP_TOP_BOTTOM', 5: 'TRANSPOSE',
          6: 'ROTATE_270', 7: 'TRANSVERSE', 8: 'ROTATE_90'}


def decoded(content: bytes, where: str, mode: str = 'RGB', *, upright: bool = False,
            advice: str = '') -> NDArray[numpy.uint8]:
    """Decode a picture.

    Pillow does it whether or not there is a faster decoder, so that the same file gives the same
    pixels. Pictures stay as they are stored, unless `upright` is given: one that was taken
    sideways is not turned, whatever its EXIF data say. TIFF files are an exception, for Pillow
    itself turns them.

    Parameters
    ----------
    content : bytes
        Of an image file in any format that Pillow reads. Of several pictures in it the first
        counts.
    where : str
        Which picture it is; messages begin with it.
    mode : str, optional
        A mode of Pillow with bytes as pixels, to which every picture is converted: 'RGB', the
        default, 'L' for grey, and others. 16-bit grey is scaled.
    upright : bool, optional
        Whether to turn the picture as its EXIF data say, for cameras store what they saw as they
        were held. Broken EXIF data say nothing.
    advice : str, optional
        What else can be done about pixels that do not fit into bytes, for the message.

    Returns
    -------
    ndarray, shape (channel, height, width), dtype uint8
        Contiguous, and the caller's.

    Raises
    ------
    ConversionError
        The content is no picture, cut off, damaged, or has more pixels than
        ``PIL.Image.MAX_IMAGE_PIXELS``, as files have that are made to exhaust the memory. Or its
        pixels are numbers of 32 bits that are not all whole numbers from 0 to 255.
    """
    import numpy

    from fuel.transformers._decoding import (
        BadImage,
        converted_image,
        decoding_trouble,
        opened_image,
    )
    _keep_memory()
    try:
        image = opened_image(content)
        kind = image.format
        with decoding_trouble():
            image.load()
            if upright:
                image = _turned(image)
        _check_bytes(image, kind, where, advice)
        with decoding_trouble():
            pixels = numpy.asarray(converted_image(image, mode, kind))
    except BadImage as error:
        raise _no_picture(content, where, error) from error
    channels_first = pixels[None] if pixels.ndim == 2 else pixels.transpose(2, 0, 1)
    return channels_first.astype(numpy.uint8, order='C')


def check_picture(content: bytes, where: str) -> None:
    """Check that something is a picture which Pillow can decode, of whatever kind its pixels are.

    Parameters
    ----------
    content, where
        As for `decoded`.

    Raises
    ------
    ConversionError
        It is none, or has too many pixels, see `decoded`.
    """
    from fuel.transformers._decoding import BadImage, decoding_trouble, opened_image
    _keep_memory()
    try:
        image = opened_image(content)
        with decoding_trouble():
            image.load()
    except BadImage as error:
        raise _no_picture(content, where, error) from error


def _no_picture(content: bytes, where: str, error: Exception) -> ConversionError:
    return ConversionError(f'{where}: expected a picture; {error}. It has {len(content)} bytes and '
                           f'begins with {content[:16]!r}')


def _turned(image: Any) -> Any:
    """Turn a picture, which is loaded, as its EXIF data say.

    Some formats do so themselves when they are loaded, and take out what says so.
    """
    from PIL import Image
    orientation: Any = 1
    with suppress(Exception):
        orientation = image.getexif().get(_ORIENTATION, 1)
    # Broken data may have anything there, even a list.
    turn = _TURNS.get(orientation) if isinstance(orientation, int) else None
    return image if turn is None else image.transpose(Image.Transpose[turn])


def _check_bytes(image: Any, kind: str | None, where: str, advice: str) -> None:
    """Raise if pixels are numbers of 32 bits that bytes do not hold.

    PNG has no such numbers: those of its 16 bits come like that from older versions of Pillow.
    """
    import numpy
    if image.mode not in ('F', 'I') or kind == 'PNG':
        return
    values = numpy.asarray(image)
    if not (values.min() >= 0 and values.max() <= 255 and (values == values.astype('uint8')).all()):
        raise ConversionError(
            f'{where}: expected pixels that are whole numbers from 0 to 255; those of this picture '
            f'are {"floats" if image.mode == "F" else "integers"} from {values.min()} to '
            f'{values.max()}. Scale them, and save them as bytes{advice}')


@functools.cache
def _keep_memory() -> None:
    """Let Pillow use memory again, unless somebody has decided about it.

    To return it to the system after every picture, and to get it anew, takes as long as decoding.
    """
    from PIL import Image
    with suppress(AttributeError, KeyError):
        core: Any = vars(Image)['core']
        if not core.get_blocks_max():
            core.set_blocks_max(_KEPT_BLOCKS)
