"""Transformers that take the bytes of image files."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from fuel._types import AnyArray
from fuel.exceptions import ImageDecodingError
from fuel.transformers._decoding import BadImage, decoded, decoded_window
from fuel.transformers._pixels import resized
from fuel.transformers._resizing import RandomWindow
from fuel.transformers.sourcewise import SourcewiseTransformer

__all__ = ['ImagesFromBytes', 'RandomResizedCropFromBytes', 'relabelled']

AXES = ('channel', 'height', 'width')


def relabelled(transformer: SourcewiseTransformer, axes: tuple[str, ...]) -> dict[str, Any]:
    """Return the labels of a transformer whose chosen sources get axes of their own.

    Those are known also where the labels of the wrapped stream are not.
    """
    labels = dict(transformer.data_stream.axis_labels or {})
    if not transformer.produces_examples:
        axes = ('batch', *axes)
    return {**labels, **dict.fromkeys(transformer.which_sources, axes)}


class _Decoder(SourcewiseTransformer):
    """Calls something for every image, and says which one it was that failed."""

    color_mode: str | None

    def _own_axis_labels(self) -> Any:
        return relabelled(self, AXES)

    def output_axis_labels(self, labels: Any) -> Any:
        """Label the axes of the images; see `relabelled`."""
        return relabelled(self, AXES)

    def _checked_mode(self, color_mode: Any) -> Any:
        if color_mode is not None:
            from PIL import ImageMode
            try:
                ImageMode.getmode(color_mode)
            except (KeyError, TypeError):
                raise ValueError(f'{type(self).__name__}: expected color_mode to be a mode of '
                                 f"Pillow, such as 'RGB' or 'L'; got {color_mode!r}") from None
        return color_mode

    def _each_of(self, images: Any, source_name: str, decode: Callable[[Any, int], Any],
                 is_batch: bool) -> list[Any]:
        """Return what `decode` makes of each image and its number."""
        result = []
        for number, data in enumerate(images):
            if not isinstance(data, (bytes, bytearray)):
                raise TypeError(
                    f'{type(self).__name__}: expected source {source_name!r} to hold the bytes of '
                    f'image files; got a {type(data).__name__}. ToBytes makes bytes of arrays.')
            try:
                result.append(decode(data, number))
            except BadImage as error:
                place = [f'source {source_name!r}']
                position = self._running_position()
                if position is not None:
                    place.append(f'epoch {position.epoch}, step {position.step - 1}')
                if is_batch:
                    place.append(f'image {number} of the batch')
                raise ImageDecodingError(
                    f'{type(self).__name__}: the image of {", ".join(place)} cannot be used: '
                    f'{error}. It has {len(data)} bytes and starts with {bytes(data[:16])!r}.'
                ) from error
        return result


class ImagesFromBytes(_Decoder):
    """Decodes images: the bytes of image files become arrays.

    Pictures that were taken sideways are turned upright, as their EXIF data say. Of animated
    images the first is taken. 16-bit grey ones are scaled where they become 8-bit ones.

    Parameters
    ----------
    data_stream : AbstractDataStream
        The stream to wrap. Its examples are bytes; its batches lists, or arrays of objects, of
        bytes.
    color_mode : str or None, optional
        The mode of Pillow that every image is converted to: 'RGB', the default, 'L' for grey,
        'RGBA' and others. `None` leaves images as they are, so that they may have 1, 3 or 4
        channels, and of images with a palette gives the numbers of the colours.
    **kwargs
        Handed to `SourcewiseTransformer`, such as `which_sources`.

    Raises
    ------
    TypeError
        The data are no bytes.
    ImageDecodingError
        An image is broken or cut short, is none, or has more than ``PIL.Image.MAX_IMAGE_PIXELS``
        pixels. The message names source, epoch, step and first bytes. An `OSError`.

    Notes
    -----
    Arrays have the axes (channel, height, width), grey ones one channel; batches become lists of
    them. Where simplejpeg is installed (``pip install 'fuel[jpeg]'``), it decodes JPEG images, with
    the same result within one grey level.

    Examples
    --------
    >>> import io, numpy
    >>> from PIL import Image
    >>> from fuel.datasets import IndexableDataset
    >>> from fuel.streams import DataStream
    >>> file = io.BytesIO()
    >>> Image.new('RGB', (5, 4), 'red').save(file, 'PNG')
    >>> dataset = IndexableDataset({'picture': [file.getvalue()]})
    >>> stream = ImagesFromBytes(DataStream(
    ...     dataset, iteration_scheme=dataset.example_iteration_scheme))
    >>> image, = next(stream.get_epoch_iterator())
    >>> image.shape, image[:, 0, 0].tolist()
    ((3, 4, 5), [255, 0, 0])
    >>> stream.axis_labels
    {'picture': ('channel', 'height', 'width')}
    """

    def __init__(self, data_stream: Any, color_mode: str | None = 'RGB', **kwargs: Any) -> None:
        super().__init__(data_stream, **kwargs)
        self.color_mode = self._checked_mode(color_mode)

    def transform_source_example(self, source_example: Any, source_name: str) -> Any:
        """Decode an image."""
        return self._each_of([source_example], source_name, self._image, is_batch=False)[0]

    def transform_source_batch(self, source_batch: Any, source_name: str) -> Any:
        """Decode the images of a batch into a list."""
        return self._each_of(source_batch, source_name, self._image, is_batch=True)

    def _image(self, data: bytes, number: int) -> AnyArray:
        return _channels_first(decoded(data, self.color_mode))


class RandomResizedCropFromBytes(_Decoder, RandomWindow):
    """Decodes a window of random size, proportions and place of each image, and resizes it.

    Does what `RandomResizedCrop` does to images that `ImagesFromBytes` decoded, but decodes only
    what it needs of JPEG images: the rows down to the end of the window, and on request at a half,
    a quarter or an eighth of the size where the window is much larger than the result.

    Parameters
    ----------
    data_stream : AbstractDataStream
        The stream to wrap; as for `ImagesFromBytes`.
    shape : tuple of int
        The height and width of the result.
    scale, ratio : tuple of float, optional
        As for `RandomResizedCrop`.
    resample : str, optional
        The filter, as for `Resize`; 'bilinear' by default.
    color_mode : str, optional
        The mode of Pillow that every image is converted to; 'RGB' by default.
    reducing_gap : float or None, optional
        `None`, the default, decodes images at their full size, and gives exactly what
        `RandomResizedCrop` makes of the window. With a number, JPEG images are decoded at a half,
        a quarter or an eighth of their size where the window then still is this many times as
        high and wide as the result. That is faster, and not the same: the window is moved by less
        than 2, 4 or 8 pixels of the image, to where pixels of the smaller image begin, and its
        pixels differ from those of the whole image, within one grey level on smooth pictures, by
        about one on average on detailed ones (with 2), and by several at sharp edges.
    rng : RandomState or Generator, optional
        Draw from this one; the work cannot be spread over workers then. By default the windows
        depend on the seed, the epoch and the step only, and are the same for every source.
    **kwargs
        Handed to `SourcewiseTransformer`, such as `which_sources`.

    Raises
    ------
    TypeError
        The data are no bytes.
    ImageDecodingError
        As for `ImagesFromBytes`.

    Notes
    -----
    A batch becomes one array with the axes (batch, channel, height, width).
    """

    def __init__(self, data_stream: Any, shape: tuple[int, int],
                 scale: tuple[float, float] = (0.08, 1.0),
                 ratio: tuple[float, float] = (3 / 4, 4 / 3), resample: str = 'bilinear',
                 color_mode: str = 'RGB', reducing_gap: float | None = None,
                 **kwargs: Any) -> None:
        super().__init__(data_stream, shape=shape, scale=scale, ratio=ratio, resample=resample,
                         **kwargs)
        if color_mode is None:
            raise ValueError(f'{type(self).__name__}: expected color_mode to be a mode of Pillow, '
                             'since the images of a batch become one array; got None')
        if reducing_gap is not None and not reducing_gap >= 1:
            raise ValueError(f'{type(self).__name__}: expected reducing_gap to be None or a '
                             f'number of at least 1; got {reducing_gap!r}')
        self.color_mode: str = self._checked_mode(color_mode)
        self.reducing_gap = reducing_gap

    def transform_source_example(self, source_example: Any, source_name: str) -> Any:
        """Decode a window of an image."""
        chances = self.window_chances(1)
        return self._each_of([source_example], source_name,
                             lambda data, number: self._window(data, chances[number]),
                             is_batch=False)[0]

    def transform_source_batch(self, source_batch: Any, source_name: str) -> Any:
        """Decode a window of every image of a batch into one array."""
        count = len(source_batch)
        chances = self.window_chances(count)
        batch: Any = None

        def into_batch(data: bytes, number: int) -> None:
            nonlocal batch
            if batch is None:
                first = self._window(data, chances[number])
                batch = numpy.empty((count, *first.shape), first.dtype)
                batch[number] = first
            else:
                self._window(data, chances[number], batch[number])

        self._each_of(source_batch, source_name, into_batch, is_batch=True)
        if batch is None:
            raise ValueError(f'{type(self).__name__}: a batch of source {source_name!r} is empty')
        return batch

    def _window(self, data: bytes, chances: list[float], out: AnyArray | None = None) -> AnyArray:
        pixels, box = decoded_window(
            data, self.color_mode, lambda height, width: self.window_of(height, width, chances),
            self.shape, self.reducing_gap)
        return resized(_channels_first(pixels), self.shape, self.resample, box, out)


def _channels_first(pixels: AnyArray) -> AnyArray:
    """Return a view with the channels in front; grey pixels get an axis for them."""
    return pixels[None] if pixels.ndim == 2 else pixels.transpose(2, 0, 1)
