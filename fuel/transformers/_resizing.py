"""Transformers that make images larger and smaller."""
from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy

from fuel._types import AnyArray
from fuel.transformers._images import Images, ImageTransformer, RandomTransformer, checked_shape
from fuel.transformers._pixels import checked_resample, resized, resized_by_pillow

__all__ = ['MinimumImageDimensions', 'RandomResizedCrop', 'RandomWindow', 'Resize']


class MinimumImageDimensions(ImageTransformer):
    """Makes images larger that are smaller than a minimum; others pass through as they are.

    Height and width grow by one factor, the smallest that brings both to the minimum.

    Parameters
    ----------
    data_stream : AbstractDataStream
        The stream to wrap.
    minimum_shape : tuple of int
        The least height and width.
    resample : {'nearest', 'box', 'bilinear', 'hamming', 'bicubic', 'lanczos'}, optional
        The filter of Pillow. The default, 'nearest', works for every dtype; others for integers
        of up to 32 bits and floats (which are computed as float32).
    **kwargs
        Handed to `SourcewiseTransformer`, such as `which_sources`.

    Raises
    ------
    ValueError
        There is no such filter.
    NotImplementedError
        Images have other axes than (channel, height, width) or (height, width).
    """

    _fewest_axes = 2

    def __init__(self, data_stream: Any, minimum_shape: tuple[int, int],
                 resample: str = 'nearest', **kwargs: Any) -> None:
        super().__init__(data_stream, **kwargs)
        self.minimum_shape = checked_shape(self, minimum_shape, 'minimum_shape')
        self.resample = checked_resample(self, resample)

    def _axes_error(self, message: str) -> Exception:
        return NotImplementedError(message)

    def change(self, image: AnyArray, plan: Any) -> AnyArray:
        """Return an image that is large enough."""
        size, minimum = image.shape[-2:], self.minimum_shape
        if size[0] >= minimum[0] and size[1] >= minimum[1]:
            return image
        if 0 in size:
            raise ValueError(f'{type(self).__name__}: an image of {size[0]} x {size[1]} pixels '
                             'cannot be made larger')
        # A factor as a fraction: a float may be a hair too large, and round up to a pixel more.
        over, under = max(zip(minimum, size, strict=True), key=lambda pair: pair[0] / pair[1])
        height, width = (-(-length * over // under) for length in size)
        return resized_by_pillow(image, (height, width), self.resample)

    def change_array(self, images: AnyArray, plans: Any) -> AnyArray:
        """Return images that are large enough."""
        size, minimum = images.shape[-2:], self.minimum_shape
        if size[0] >= minimum[0] and size[1] >= minimum[1]:
            return images
        return super().change_array(images, plans)


class Resize(ImageTransformer):
    """Makes every image larger or smaller, to a given size.

    Parameters
    ----------
    data_stream : AbstractDataStream
        The stream to wrap.
    size : tuple of int or int
        The exact height and width; or the length of the short side, where height and width are
        to keep their proportion.
    resample : {'bilinear', 'nearest', 'box', 'hamming', 'bicubic', 'lanczos'}, optional
        The filter of Pillow; all but 'nearest' take every pixel into account where the result is
        smaller. 'nearest' works for every dtype; others for integers of up to 32 bits and floats
        (which are computed as float32). For bytes the default, 'bilinear', gives what Pillow
        does within one grey level, in a third of the time.
    **kwargs
        Handed to `SourcewiseTransformer`, such as `which_sources`.

    Examples
    --------
    >>> import numpy
    >>> from fuel.datasets import IndexableDataset
    >>> from fuel.schemes import SequentialExampleScheme
    >>> from fuel.streams import DataStream
    >>> images = IndexableDataset({'image': numpy.zeros((4, 3, 60, 80), 'uint8')}, axis_labels={
    ...     'image': ('batch', 'channel', 'height', 'width')})
    >>> stream = DataStream(images, iteration_scheme=SequentialExampleScheme(4))
    >>> next(Resize(stream, 30).get_epoch_iterator())[0].shape
    (3, 30, 40)
    >>> next(Resize(stream, (50, 50)).get_epoch_iterator())[0].shape
    (3, 50, 50)
    """

    def __init__(self, data_stream: Any, size: tuple[int, int] | int, resample: str = 'bilinear',
                 **kwargs: Any) -> None:
        super().__init__(data_stream, **kwargs)
        by_short_side = isinstance(size, (int, numpy.integer))
        self.size = checked_shape(self, (size, size) if by_short_side else size, 'size')
        self.by_short_side = by_short_side
        self.resample = checked_resample(self, resample)

    def change(self, image: AnyArray, plan: Any) -> AnyArray:
        """Return an image of the wanted size."""
        wanted = self.size
        height, width = image.shape[-2:]
        if self.by_short_side and height and width:
            short, size = min(height, width), wanted[0]
            wanted = ((2 * height * size + short) // (2 * short),
                      (2 * width * size + short) // (2 * short))
        if wanted == (height, width):
            return image
        return resized(image, wanted, self.resample)


class RandomWindow(RandomTransformer):
    """Draws windows whose size, proportions and place are random.

    Parameters
    ----------
    data_stream : AbstractDataStream
        The stream to wrap.
    shape : tuple of int
        The height and width that windows are resized to.
    scale : tuple of float, optional
        How large a part of the image's area a window covers, at least and at most.
    ratio : tuple of float, optional
        The width of a window divided by its height, at least and at most.
    resample : str, optional
        The filter.
    **kwargs
        Handed to `RandomTransformer`.
    """

    # Each try takes an area and a ratio; then two numbers say where.
    _tries = 10

    def __init__(self, data_stream: Any, shape: tuple[int, int],
                 scale: tuple[float, float] = (0.08, 1.0),
                 ratio: tuple[float, float] = (3 / 4, 4 / 3), resample: str = 'bilinear',
                 **kwargs: Any) -> None:
        super().__init__(data_stream, **kwargs)
        self.shape = checked_shape(self, shape, 'shape')
        self.resample = checked_resample(self, resample)
        self.scale = self._checked_range('scale', scale, 1)
        self.ratio = self._checked_range('ratio', ratio, math.inf)

    def _checked_range(self, name: str, pair: Any, most: float) -> tuple[float, float]:
        low, high = pair
        if not 0 < low <= high <= most:
            raise ValueError(f'{type(self).__name__}: expected {name} to be a pair of positive '
                             f'numbers, the lower one first{", of at most 1" * (most == 1)}; got '
                             f'{pair!r}')
        return float(low), float(high)

    def window_chances(self, count: int) -> list[list[float]]:
        """Return the random numbers that `window_of` needs, for each of some images."""
        numbers: list[list[float]] = self.chances(count, 2 * self._tries + 2).tolist()
        return numbers

    def window_of(self, height: int, width: int,
                  chances: Sequence[float]) -> tuple[int, int, int, int]:
        """Return top, left, height and width of a window in an image of a given size."""
        if 0 in (height, width):
            raise ValueError(f'{type(self).__name__}: an image of {height} x {width} pixels has '
                             'no windows')
        low, high = self.scale
        narrowest, widest = math.log(self.ratio[0]), math.log(self.ratio[1])
        for attempt in range(self._tries):
            area = height * width * (low + (high - low) * chances[2 * attempt])
            ratio = math.exp(narrowest + (widest - narrowest) * chances[2 * attempt + 1])
            tall, wide = round(math.sqrt(area / ratio)), round(math.sqrt(area * ratio))
            if 0 < tall <= height and 0 < wide <= width:
                return (int(chances[-2] * (height - tall + 1)),
                        int(chances[-1] * (width - wide + 1)), tall, wide)
        # The image is so much longer than wide that hardly a window fits: take the middle.
        ratio = min(max(width / height, self.ratio[0]), self.ratio[1])
        tall = max(1, min(height, round(width / ratio)))
        wide = max(1, min(width, round(height * ratio)))
        return (height - tall) // 2, (width - wide) // 2, tall, wide


class RandomResizedCrop(RandomWindow, ImageTransformer):
    """Cuts a window of random size, proportions and place out of each image, and resizes it.

    Parameters
    ----------
    data_stream : AbstractDataStream
        The stream to wrap.
    shape : tuple of int
        The height and width of the result.
    scale : tuple of float, optional
        How large a part of the image's area the window covers, at least and at most; (0.08, 1)
        by default.
    ratio : tuple of float, optional
        The width of the window divided by its height, at least and at most; (3/4, 4/3) by
        default. Drawn so that a ratio and its inverse are as likely.
    resample : str, optional
        The filter, as for `Resize`; 'bilinear' by default.
    rng : RandomState or Generator, optional
        Draw from this one; the work cannot be spread over workers then. By default the windows
        depend on the seed, the epoch and the step only, and are the same for every source.
    **kwargs
        Handed to `SourcewiseTransformer`, such as `which_sources`.

    Notes
    -----
    Where the images are still encoded, `RandomResizedCropFromBytes` decodes only what it needs.
    """

    def plan(self, images: Images) -> Any:
        """Return the window of each image."""
        return [self.window_of(image.shape[1], image.shape[2], chances) for image, chances in zip(
            images, self.window_chances(len(images)), strict=True)]

    def change(self, image: AnyArray, plan: Any) -> AnyArray:
        """Return a window of an image, resized."""
        return resized(image, self.shape, self.resample, plan)

    def change_array(self, images: AnyArray, plans: Any) -> AnyArray:
        """Return windows of images, resized."""
        out = numpy.empty((*images.shape[:2], *self.shape), images.dtype)
        for image, plan, target in zip(images, plans, out, strict=True):
            resized(image, self.shape, self.resample, plan, target)
        return out
