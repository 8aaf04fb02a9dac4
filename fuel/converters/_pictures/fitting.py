"""Files of pictures as they are stored: their bytes, or pixels of their own or of one size."""
from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fuel.converters._division.own_files import content_of
from fuel.exceptions import ConversionError

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

__all__ = ['LARGEST', 'RESIZES', 'Encoded', 'Fitting', 'Problem', 'fitted']

#: What can be done to pictures that have other proportions.
RESIZES = ('stretch', 'crop', 'pad')
#: The most pixels of a picture that is brought to a size; it is in memory several times.
LARGEST = 1 << 26


@dataclass(frozen=True, slots=True)
class Encoded:
    """Takes files as they are, after having seen that they are pictures. For worker processes.

    They may be of any kind that Pillow can decode, whether or not it can be made bytes.
    """

    def __call__(self, path: str) -> NDArray[numpy.uint8]:
        """Return the bytes of a file.

        Raises
        ------
        ConversionError
            It is no picture, or cannot be read.
        """
        import numpy

        from fuel.converters._pictures.pixels import check_picture
        content = content_of(path)
        check_picture(content, path)
        return numpy.frombuffer(content, dtype=numpy.uint8)


@dataclass(frozen=True, slots=True)
class Fitting:
    """Decodes files of pictures. For worker processes.

    Parameters
    ----------
    color : {'RGB', 'L'}
        The mode of Pillow that pictures are converted to.
    size : tuple of int, optional
        The height and width that they are brought to; by default each keeps its own.
    resize : {'stretch', 'crop', 'pad'}, optional
        How, see `fitted`.
    """

    color: str
    size: tuple[int, int] | None = None
    resize: str = RESIZES[0]

    def __call__(self, path: str) -> NDArray[numpy.uint8]:
        """Return a picture, upright; shape (channel, height, width).

        Raises
        ------
        ConversionError
            It is no picture, its pixels do not fit into bytes, or it cannot be read.
        """
        from fuel.converters._pictures.pixels import decoded
        pixels = decoded(content_of(path), path, self.color, upright=True,
                         advice=', or store the files as they are with --encoded')
        return pixels if self.size is None else fitted(pixels, self.size, self.resize)


@dataclass(frozen=True, slots=True)
class Problem:
    """Finds out what is wrong with files. For worker processes.

    Parameters
    ----------
    read : callable
        What is going to read them: `Encoded` or `Fitting`.
    """

    read: Callable[[str], Any]

    def __call__(self, path: str) -> str | None:
        """Return why a file cannot be read as a picture; `None` if it can."""
        try:
            self.read(path)
        except ConversionError as error:
            return str(error)
        return None


def fitted(pixels: NDArray[numpy.uint8], size: tuple[int, int],
           resize: str) -> NDArray[numpy.uint8]:
    """Return a picture in another size.

    Parameters
    ----------
    pixels : ndarray, shape (channel, height, width)
        One or three channels.
    size : tuple of int
        The wanted height and width.
    resize : {'stretch', 'crop', 'pad'}
        ``'stretch'`` changes the proportions. ``'crop'`` takes the largest window in the middle
        that has the right ones. ``'pad'`` makes the picture as large as fits, with black beside
        it. The filter is Pillow's bilinear one, which takes all pixels into account where a
        picture gets smaller.
    """
    import numpy
    from PIL import Image
    (tall, wide), (height, width) = pixels.shape[1:], size
    if (tall, wide) == size:
        return pixels
    box, inner = (0.0, 0.0, float(wide), float(tall)), size
    if resize == 'crop':
        across, down = min(wide, tall * width / height), min(tall, wide * height / width)
        left, top = (wide - across) / 2, (tall - down) / 2
        # A hair more than there is would be refused.
        box = left, top, min(left + across, wide), min(top + down, tall)
    elif resize == 'pad':
        scale = min(height / tall, width / wide)
        inner = (min(height, max(1, round(tall * scale))), min(width, max(1, round(wide * scale))))
    picture = Image.fromarray(numpy.ascontiguousarray(
        pixels[0] if len(pixels) == 1 else pixels.transpose(1, 2, 0)))
    small = numpy.asarray(picture.resize(inner[::-1], Image.Resampling.BILINEAR, box))
    small = small[None] if small.ndim == 2 else small.transpose(2, 0, 1)
    if inner == size:
        return numpy.ascontiguousarray(small)
    result = numpy.zeros((len(pixels), height, width), dtype=numpy.uint8)
    top_row, left_column = (height - inner[0]) // 2, (width - inner[1]) // 2
    result[:, top_row:top_row + inner[0], left_column:left_column + inner[1]] = small
    return result
