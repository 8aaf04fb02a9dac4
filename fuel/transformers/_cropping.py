"""Transformers that cut windows out of images."""
from __future__ import annotations

from typing import Any

import numpy

from fuel._kernels import window_batch_bchw
from fuel._types import AnyArray
from fuel.transformers._images import Images, ImageTransformer, RandomTransformer, checked_shape

__all__ = ['CenterCrop', 'FixedCrop', 'RandomFixedSizeCrop']


class _Crop(ImageTransformer):
    """Cuts windows of one size; `plan` gives the top and the left of each."""

    window_shape: tuple[int, int]

    def change(self, image: AnyArray, plan: Any) -> AnyArray:
        """Return a window of an image."""
        (top, left), (height, width) = plan, self.window_shape
        return image[:, top:top + height, left:left + width].copy()

    def change_array(self, images: AnyArray, plans: Any) -> AnyArray:
        """Return windows of images."""
        out = numpy.empty((*images.shape[:2], *self.window_shape), images.dtype)
        window_batch_bchw(images, plans[:, 0], plans[:, 1], out)
        return out

    def slacks(self, images: Images) -> list[tuple[int, int]]:
        """Return by how much images are taller and wider than the window.

        Returns
        -------
        list of tuple of int
            A pair for every image; a single one for an array, whose images are of one size.
        """
        height, width = self.window_shape
        shapes = ([images.shape[2:]] if isinstance(images, numpy.ndarray)
                  else [image.shape[1:] for image in images])
        slacks = []
        for tall, wide in shapes:
            if tall < height or wide < width:
                raise ValueError(
                    f'{type(self).__name__}: a window of {height} x {width} pixels (height x '
                    f'width) does not fit into an image of {tall} x {wide}. '
                    'MinimumImageDimensions makes small images larger.')
            slacks.append((tall - height, wide - width))
        return slacks


class RandomFixedSizeCrop(RandomTransformer, _Crop):
    """Cuts a window out of each image, at a random place.

    Parameters
    ----------
    data_stream : AbstractDataStream
        The stream to wrap.
    window_shape : tuple of int
        Height and width of the window.
    rng : RandomState or Generator, optional
        Draw from this one, in the order that programs of old rely on: for an array of images all
        offsets of width and then all of height; otherwise for each image that of height and that
        of width, where there is a choice. The work cannot be spread over workers then. By default
        the places depend on the seed, the epoch and the step only: the same for an array, a list
        or an array of objects, and the same for every source, so that an image and its mask stay
        together.
    **kwargs
        Handed to `SourcewiseTransformer`, such as `which_sources`.

    Raises
    ------
    ValueError
        The window does not fit into an image, or the data are no images.

    Examples
    --------
    >>> import numpy
    >>> from fuel.datasets import IndexableDataset
    >>> from fuel.schemes import SequentialScheme
    >>> from fuel.streams import DataStream
    >>> images = IndexableDataset({'image': numpy.zeros((4, 3, 36, 36), 'uint8')}, axis_labels={
    ...     'image': ('batch', 'channel', 'height', 'width')})
    >>> stream = DataStream(images, iteration_scheme=SequentialScheme(4, 2))
    >>> stream = RandomFixedSizeCrop(stream, (32, 32))
    >>> next(stream.get_epoch_iterator())[0].shape
    (2, 3, 32, 32)
    """

    def __init__(self, data_stream: Any, window_shape: tuple[int, int], **kwargs: Any) -> None:
        super().__init__(data_stream, **kwargs)
        self.window_shape = checked_shape(self, window_shape, 'window_shape')

    def plan(self, images: Images) -> Any:
        """Return the top and the left of the window of each image, shape (n, 2)."""
        slacks = self.slacks(images)
        if self.rng is None:
            # All tops lie in one piece, and all lefts, as the kernel wants them.
            offsets = numpy.empty((2, len(images)), numpy.int64)
            numpy.multiply(self.chances(len(images), 2).T, numpy.array(slacks).T + 1, out=offsets,
                           casting='unsafe')
            return offsets.T
        draw = getattr(self.rng, 'integers', None) or self.rng.randint
        if isinstance(images, numpy.ndarray):
            lefts, tops = (draw(0, slacks[0][axis] + 1, size=len(images)) for axis in (1, 0))
            return numpy.stack([tops, lefts], axis=1)
        return [[draw(0, slack + 1) if slack else 0 for slack in pair] for pair in slacks]


class CenterCrop(_Crop):
    """Cuts the window out of the middle of each image.

    Parameters
    ----------
    data_stream : AbstractDataStream
        The stream to wrap.
    window_shape : tuple of int
        Height and width of the window. Where as many pixels cannot be left over on both sides,
        the one that is too many is left over at the bottom or right.
    **kwargs
        Handed to `SourcewiseTransformer`, such as `which_sources`.

    Raises
    ------
    ValueError
        The window does not fit into an image, or the data are no images.
    """

    def __init__(self, data_stream: Any, window_shape: tuple[int, int], **kwargs: Any) -> None:
        super().__init__(data_stream, **kwargs)
        self.window_shape = checked_shape(self, window_shape, 'window_shape')

    def plan(self, images: Images) -> Any:
        """Return the top and the left of the window of each image, shape (n, 2)."""
        offsets = numpy.array(self.slacks(images)) // 2
        return numpy.broadcast_to(offsets, (len(images), 2))


class FixedCrop(_Crop):
    """Cuts the window out of each image at the same place.

    Parameters
    ----------
    data_stream : AbstractDataStream
        The stream to wrap.
    window_shape : tuple of int
        Height and width of the window.
    offset : tuple of int, optional
        The row and the column at which it starts. Negative ones are counted from the last place
        at which the window fits, which is -1. (0, 0), the top left corner, by default.
    **kwargs
        Handed to `SourcewiseTransformer`, such as `which_sources`.

    Raises
    ------
    ValueError
        The window does not lie in an image, or the data are no images.
    """

    def __init__(self, data_stream: Any, window_shape: tuple[int, int],
                 offset: tuple[int, int] = (0, 0), **kwargs: Any) -> None:
        super().__init__(data_stream, **kwargs)
        self.window_shape = checked_shape(self, window_shape, 'window_shape')
        top, left = offset
        self.offset = (int(top), int(left))

    def plan(self, images: Images) -> Any:
        """Return the top and the left of the window of each image, shape (n, 2)."""
        slacks = numpy.array(self.slacks(images))
        offset = numpy.array(self.offset)
        places = numpy.where(offset < 0, slacks + 1 + offset, offset)
        outside = ((places < 0) | (places > slacks)).any(axis=1)
        if outside.any():
            height, width = (slacks[numpy.flatnonzero(outside)[0]] + self.window_shape).tolist()
            raise ValueError(
                f'{type(self).__name__}: a window of {self.window_shape[0]} x '
                f'{self.window_shape[1]} pixels at row {self.offset[0]}, column {self.offset[1]} '
                f'does not lie in an image of {height} x {width}')
        return numpy.broadcast_to(places, (len(images), 2))
