"""Pictures of a data set as arrays, with errors that say which picture is at fault."""
from __future__ import annotations

import functools
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from fuel.exceptions import ConversionError

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

__all__ = ['decoded']

#: Pieces of memory that Pillow keeps for its next pictures; each has 16 MB at most.
_KEPT_BLOCKS = 2


def decoded(content: bytes, where: str, mode: str = 'RGB') -> NDArray[numpy.uint8]:
    """Decode a picture.

    Pillow does it whether or not there is a faster decoder, so that the same file gives the same
    pixels. Pictures stay as they are stored: one that was taken sideways is not turned, whatever
    its EXIF data say.

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

    Returns
    -------
    ndarray, shape (channel, height, width), dtype uint8
        Contiguous, and the caller's.

    Raises
    ------
    ConversionError
        The content is no picture, cut off, damaged, or has more pixels than
        ``PIL.Image.MAX_IMAGE_PIXELS``, as files have that are made to exhaust the memory.
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
        with decoding_trouble():
            pixels = numpy.asarray(converted_image(image, mode, image.format))
    except BadImage as error:
        raise ConversionError(f'{where}: expected a picture; {error}. It has {len(content)} bytes '
                              f'and begins with {content[:16]!r}') from error
    channels_first = pixels[None] if pixels.ndim == 2 else pixels.transpose(2, 0, 1)
    return channels_first.astype(numpy.uint8, order='C')


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
