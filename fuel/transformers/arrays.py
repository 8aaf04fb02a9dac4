"""Transformers that do arithmetic on arrays and change their form."""
from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy

from fuel import axes
from fuel._types import AnyArray
from fuel.config_parser import config
from fuel.transformers.sourcewise import (
    AgnosticSourcewiseTransformer,
    SourcewiseTransformer,
    elementwise,
)

__all__ = ['Cast', 'Flatten', 'ScaleAndShift']


class Flatten(SourcewiseTransformer):
    """Flattens each example into a vector, and so a batch into a matrix.

    Ragged batches become lists, or arrays of objects, of vectors.

    Parameters
    ----------
    data_stream : AbstractDataStream
        The stream to wrap.
    which_sources : tuple of str, optional
        The sources to flatten; all by default.
    **kwargs
        Handed to `Transformer`.
    """

    def __init__(self, data_stream: Any, **kwargs: Any) -> None:
        super().__init__(data_stream, **kwargs)

    def output_axis_labels(self, labels: Any) -> Any:
        """Keep the batch axis; all others become one axis 'feature'."""
        keep = 0 if self.produces_examples else 1
        return axes.changed(labels, lambda _, old: (*old[:keep], 'feature'), self.which_sources)

    def transform_source_example(self, source_example: Any, source_name: str) -> Any:
        """Flatten one source of an example."""
        return numpy.asarray(source_example).reshape(-1)

    def transform_source_batch(self, source_batch: Any, source_name: str) -> Any:
        """Flatten one source of a batch."""
        if isinstance(source_batch, numpy.ndarray) and source_batch.dtype != object:
            # The number of columns is spelled out: -1 cannot be told from an empty batch.
            columns = math.prod(source_batch.shape[1:])
            return source_batch.reshape((len(source_batch), columns))
        flat = [numpy.asarray(example).reshape(-1) for example in source_batch]
        if not isinstance(source_batch, numpy.ndarray):
            return flat
        result = numpy.empty(len(flat), dtype=object)
        for place, example in enumerate(flat):
            result[place] = example
        return result


class ScaleAndShift(AgnosticSourcewiseTransformer):
    """Multiplies by a factor and then adds a number: ``x * scale + shift``.

    Results never wrap around. Integers times floating-point numbers give floating-point numbers
    as numpy promotes them (uint8 times a float gives float64). Integers with an integer scale
    and shift give int64.

    Parameters
    ----------
    data_stream : AbstractDataStream
        The stream to wrap.
    scale, shift : float, int or ndarray
        Arrays must broadcast with the data.
    which_sources : tuple of str, optional
        The sources to change; all by default.
    **kwargs
        Handed to `Transformer`.

    Raises
    ------
    OverflowError
        During the iteration: int64 does not hold a result.
    """

    def __init__(self, data_stream: Any, scale: Any, shift: Any, **kwargs: Any) -> None:
        super().__init__(data_stream, **kwargs)
        self.scale = _plain(scale)
        self.shift = _plain(shift)

    def transform_any_source(self, source_data: Any, source_name: str) -> Any:
        """Scale and shift one source."""
        return elementwise(self._scale_and_shift, source_data)

    def _scale_and_shift(self, array: AnyArray) -> Any:
        if array.dtype.kind in 'biu' and _is_integral(self.scale) and _is_integral(self.shift):
            array = _widened(array, self.scale, self.shift)
        result = array * self.scale
        if isinstance(result, numpy.ndarray) and numpy.result_type(result, self.shift) == \
                result.dtype and numpy.ndim(self.shift) == 0:
            result += self.shift  # the product is ours, so it can take the sum
            return result
        return result + self.shift


class Cast(AgnosticSourcewiseTransformer):
    """Casts into a dtype.

    Parameters
    ----------
    data_stream : AbstractDataStream
        The stream to wrap.
    dtype : str or dtype
        ``'floatX'`` stands for the setting ``config.floatX`` at the time of construction.
    which_sources : tuple of str, optional
        The sources to cast; all by default.
    **kwargs
        Handed to `Transformer`.

    Raises
    ------
    TypeError
        numpy does not know the dtype.
    """

    def __init__(self, data_stream: Any, dtype: Any, **kwargs: Any) -> None:
        super().__init__(data_stream, **kwargs)
        self.dtype = numpy.dtype(config.floatX if dtype == 'floatX' else dtype)

    def transform_any_source(self, source_data: Any, source_name: str) -> Any:
        """Cast one source."""
        return elementwise(lambda array: array.astype(self.dtype, copy=False), source_data)


def _plain(value: Any) -> Any:
    """Turn a numpy scalar into a Python number, which leaves float32 data float32."""
    return value.item() if getattr(value, 'ndim', None) == 0 else value


def _is_integral(value: Any) -> bool:
    return numpy.asarray(value).dtype.kind in 'biu'


def _widened(array: AnyArray, scale: Any, shift: Any) -> AnyArray:
    """Return integers as int64, after checking that it holds them scaled and shifted."""
    if not array.size:
        return array.astype(numpy.int64)
    ends = (0, 1) if array.dtype.kind == 'b' else (numpy.iinfo(array.dtype).min,
                                                   numpy.iinfo(array.dtype).max)
    # Only where the dtype could hold too large a number are the numbers themselves looked at.
    if not _fits(ends, scale, shift):
        ends = (array.min(), array.max())
        if not _fits(ends, scale, shift):
            raise OverflowError(
                f'ScaleAndShift: {array.dtype} numbers from {ends[0]} to {ends[1]}, times '
                f"{scale} plus {shift}, do not fit into int64; cast to 'float64' first")
    return array.astype(numpy.int64)


def _fits(ends: Iterable[Any], scale: Any, shift: Any) -> bool:
    """Tell whether int64 holds numbers between two ends, scaled and shifted."""
    room = numpy.iinfo(numpy.int64)
    factors = {int(numpy.min(scale)), int(numpy.max(scale))}
    terms = {int(numpy.min(shift)), int(numpy.max(shift))}
    # Python's integers have no end; the largest and smallest results lie at the ends.
    return all(room.min <= value <= room.max for end in map(int, ends) for factor in factors
               for term in terms for value in (end, end * factor, end * factor + term))
