"""Scaling, shifting and casting in one pass over the data."""
from __future__ import annotations

import math
from typing import Any

import numpy
import numpy.typing as npt

from fuel import axes
from fuel._kernels import scale_cast
from fuel._types import AnyArray
from fuel.collate import as_objects
from fuel.config_parser import config
from fuel.transformers.sourcewise import SourcewiseTransformer

__all__ = ['Normalize', 'can_scale_at_once', 'scaled_at_once']

# What float64 holds all integers up to, and numbers that no product comes near.
_EXACT, _LARGE = 2.0**53, 1e37


def can_scale_at_once(array: AnyArray, scale: Any, shift: Any, dtype: numpy.dtype[Any]) -> bool:
    """Tell whether numpy gives the same as `scaled_at_once` to the bit, and gives no warnings.

    It does for integers of one or two bytes, which numpy too turns into float64, or into int64
    where nothing comes out that float64 does not hold.
    """
    if (type(array) is not numpy.ndarray or array.dtype.kind not in 'biu'
            or array.dtype.itemsize > 2 or not array.ndim or dtype.char not in 'fd'
            or not dtype.isnative):
        return False
    limit = _LARGE
    for number in (scale, shift):
        if type(number) is int:
            limit = _EXACT
        elif type(number) is not float:
            return False
    return bool(65536 * abs(scale) + abs(shift) < limit)


def scaled_at_once(array: AnyArray, scale: float, shift: float,
                   dtype: numpy.dtype[Any]) -> AnyArray:
    """Return ``array * scale + shift``, computed in float64, in another dtype."""
    return scale_cast(array, numpy.array([scale], numpy.float64),
                      numpy.array([shift], numpy.float64), dtype)


class Normalize(SourcewiseTransformer):
    """Scales numbers, takes off the mean of their channel and divides by its deviation.

    Gives ``(x * scale - mean) / std``, cast, in one pass over the data; on the way it can take
    images from height, width, channel to channel, height, width. It is computed as ``x * (scale /
    std) - mean / std`` in float64 and rounded once. Ragged batches are lists, or arrays of
    objects, of single images, and come out in the same form.

    Parameters
    ----------
    data_stream : AbstractDataStream
        The stream to wrap.
    mean, std : float or sequence of float
        One number for every channel, or one for all; of numbers that are scaled already.
    scale : float, optional
        What to multiply by before that. Takes bytes to numbers from 0 to 1 by default.
    dtype : str or dtype, optional
        Of floating-point numbers; 'float32' by default. ``'floatX'`` stands for the setting
        ``config.floatX`` at the time of construction.
    channel_axis : int, optional
        Which axis the channels are on, counted from the end, so that it is negative. By default
        the one that is labelled ``'channel'``; where the labels are not known, the last if
        `to_channel_first` is set, and the third from the end if not.
    to_channel_first : bool, optional
        Make the channels the first axis of every example. Off by default.
    which_sources : tuple of str, optional
        The sources to change; all by default.
    **kwargs
        Handed to `Transformer`.

    Raises
    ------
    ValueError
        A deviation is 0, a number is not finite, `mean` and `std` are for different numbers of
        channels, or `channel_axis` is not negative. During the iteration: the data have no such
        axis, or another number of channels.
    TypeError
        The dtype is not one of floating-point numbers; during the iteration, that the data are
        not numbers.

    Examples
    --------
    >>> import numpy
    >>> from fuel.datasets import IndexableDataset
    >>> from fuel.schemes import SequentialScheme
    >>> from fuel.streams import DataStream
    >>> from fuel.transformers import Normalize
    >>> pixels = numpy.array([[[[0, 51, 255]]], [[[255, 204, 0]]]], dtype='uint8')
    >>> dataset = IndexableDataset({'image': pixels}, axis_labels={
    ...     'image': ('batch', 'height', 'width', 'channel')})
    >>> stream = Normalize(DataStream(dataset, iteration_scheme=SequentialScheme(2, 2)),
    ...                    mean=[0.5, 0.2, 0], std=[0.5, 0.1, 1], to_channel_first=True)
    >>> stream.axis_labels
    {'image': ('batch', 'channel', 'height', 'width')}
    >>> image, = next(stream.get_epoch_iterator())
    >>> image.shape
    (2, 3, 1, 1)
    >>> image[:, :, 0, 0]
    array([[-1.,  0.,  1.],
           [ 1.,  6.,  0.]], dtype=float32)
    """

    def __init__(self, data_stream: Any, mean: Any, std: Any, *, scale: float = 1 / 255,
                 dtype: Any = 'float32', channel_axis: int | None = None,
                 to_channel_first: bool = False, **kwargs: Any) -> None:
        super().__init__(data_stream, **kwargs)
        self.mean = _numbers('mean', mean)
        self.std = _numbers('std', std)
        if not self.std.all():
            raise ValueError(f'Normalize: expected a std without zeros; got {std!r}')
        if len(self.mean) != len(self.std) and 1 not in (len(self.mean), len(self.std)):
            raise ValueError(f'Normalize: expected a mean and a std of as many channels; got '
                             f'{len(self.mean)} and {len(self.std)}')
        if not math.isfinite(scale):
            raise ValueError(f'Normalize: expected a finite scale; got {scale!r}')
        if channel_axis is not None and channel_axis >= 0:
            raise ValueError('Normalize: expected a channel_axis counted from the end, such as -1 '
                             f'for the last or -3 for the third from there; got {channel_axis}')
        self.scale = float(scale)
        self.dtype = numpy.dtype(config.floatX if dtype == 'floatX' else dtype)
        if self.dtype.kind != 'f':
            raise TypeError(f'Normalize: expected a dtype of floating-point numbers; got '
                            f'{self.dtype}')
        self.channel_axis = channel_axis
        self.to_channel_first = to_channel_first

    def output_axis_labels(self, labels: Any) -> Any:
        """Move the label of the channel axis together with the axis."""
        if not self.to_channel_first:
            return dict(labels)
        first = 0 if self.produces_examples else 1

        def moved(_: str, old: tuple[str, ...]) -> tuple[str, ...] | None:
            axis = len(old) + (self.channel_axis or self._channel_axis(old))
            if not first <= axis < len(old):
                return None
            rest = old[:axis] + old[axis + 1:]
            return (*rest[:first], old[axis], *rest[first:])
        return axes.changed(labels, moved, self.which_sources)

    def _channel_axis(self, labels: tuple[str, ...] | None) -> int:
        if labels is not None and 'channel' in labels:
            return labels.index('channel') - len(labels)
        return -1 if self.to_channel_first else -3

    def transform_source_example(self, source_example: Any, source_name: str) -> Any:
        """Normalise one source of an example."""
        return self._normalized(numpy.asarray(source_example), source_name, 0)

    def transform_source_batch(self, source_batch: Any, source_name: str) -> Any:
        """Normalise one source of a batch."""
        if isinstance(source_batch, numpy.ndarray) and source_batch.dtype != object:
            return self._normalized(source_batch, source_name, 1)
        images = [self._normalized(numpy.asarray(image), source_name, 0)
                  for image in source_batch]
        return as_objects(images) if isinstance(source_batch, numpy.ndarray) else images

    def _normalized(self, array: AnyArray, source_name: str, first: int) -> AnyArray:
        factor, term = self.scale / self.std, -self.mean / self.std
        if len(factor) == len(term) == 1 and not self.to_channel_first:
            return scale_cast(array, factor, term, self.dtype)
        axis = self.channel_axis
        if axis is None:
            labels = self.data_stream.axis_labels
            axis = self._channel_axis(None if labels is None else labels.get(source_name))
        channels = max(len(factor), len(term))
        if array.ndim + axis < first or array.shape[axis] != channels != 1:
            raise ValueError(
                f'Normalize: expected {channels} channels on axis {axis} of source '
                f'{source_name!r}; got an array of shape {array.shape}. See channel_axis.')
        return scale_cast(array, factor, term, self.dtype, axis,
                          first if self.to_channel_first else None)


def _numbers(name: str, value: Any) -> npt.NDArray[numpy.float64]:
    """Return one or more numbers as a vector."""
    numbers = numpy.atleast_1d(numpy.asarray(value, dtype=numpy.float64))
    if numbers.ndim != 1 or not len(numbers) or not numpy.isfinite(numbers).all():
        raise ValueError(f'Normalize: expected the {name} to be a finite number, or one for every '
                         f'channel; got {value!r}')
    return numbers
