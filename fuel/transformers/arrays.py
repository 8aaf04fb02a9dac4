"""Transformers that do arithmetic on arrays and change their form."""
from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy

from fuel import axes, failures
from fuel._types import AnyArray, Batch
from fuel.config_parser import config
from fuel.iterator import by_source
from fuel.transformers.iterating import Change
from fuel.transformers.scaling import can_scale_at_once, scaled_at_once
from fuel.transformers.sourcewise import (
    AgnosticSourcewiseTransformer,
    SourcewiseTransformer,
    elementwise,
)

__all__ = ['Cast', 'Flatten', 'ForceFloatX', 'ScaleAndShift']


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
        for name, value in (('scale', scale), ('shift', shift)):
            if numpy.asarray(value).dtype.kind not in 'biufc':
                raise TypeError(f'{type(self).__name__}: expected {name} to be a number or an '
                                f'array of numbers; got {value!r}')

    def transform_any_source(self, source_data: Any, source_name: str) -> Any:
        """Scale and shift one source."""
        return elementwise(self._scale_and_shift, source_data)

    def _scale_and_shift(self, array: AnyArray) -> Any:
        if array.dtype.kind in 'biu' and _is_integral(self.scale):
            if _is_integral(self.shift):
                array = _widened(array, self.scale, self.shift)
            else:
                # The product would be one of integers, and wrap around before the sum.
                array = array.astype(numpy.result_type(array, self.shift))
        elif can_scale_at_once(array, self.scale, self.shift, numpy.dtype(numpy.float64)):
            return scaled_at_once(array, self.scale, self.shift, numpy.dtype(numpy.float64))
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

    Notes
    -----
    Around a `ScaleAndShift` the two go over small integers, such as pixels, in one pass; the
    results are the same to the bit.
    """

    def __init__(self, data_stream: Any, dtype: Any, **kwargs: Any) -> None:
        super().__init__(data_stream, **kwargs)
        try:
            self.dtype = numpy.dtype(config.floatX if dtype == 'floatX' else dtype)
        except TypeError as error:
            raise TypeError(f"{type(self).__name__}: expected a dtype of numpy, or 'floatX'; got "
                            f'{dtype!r}') from error

    def transform_any_source(self, source_data: Any, source_name: str) -> Any:
        """Cast one source."""
        return elementwise(self._cast, source_data)

    def _cast(self, array: AnyArray) -> Any:
        return array.astype(self.dtype, copy=False)

    def steps_after(self, changes: tuple[Change, ...]) -> tuple[Change, ...]:
        """Put one function in the place of two, around a `ScaleAndShift`; see `Transformer`."""
        below, own = self.data_stream, self.step_function()
        if (type(self) is Cast and type(below) is ScaleAndShift and own != self.transform_step
                and changes[-1:] == (below.step_function(),) != (below.transform_step,)
                and self.sources == below.sources):
            return (*changes[:-1], _scaled_and_cast(below, self))
        return (*changes, own)


def _scaled_and_cast(scaling: ScaleAndShift, casting: Cast) -> Change:
    """Return a function that does what a `ScaleAndShift` and a `Cast` around it do to a step."""
    sources, scaled, cast = casting.sources, scaling.which_sources, casting.which_sources

    def both(array: AnyArray) -> Any:
        if can_scale_at_once(array, scaling.scale, scaling.shift, casting.dtype):
            return scaled_at_once(array, scaling.scale, scaling.shift, casting.dtype)
        return casting.transform_any_source(scaling.transform_any_source(array, ''), '')

    changes: list[Callable[[Any], Any] | None] = [
        functools.partial(elementwise, both) if name in scaled and name in cast
        else functools.partial(scaling.transform_any_source, source_name=name) if name in scaled
        else functools.partial(casting.transform_any_source, source_name=name) if name in cast
        else None for name in sources]

    def changed(data: Batch) -> Batch:
        if data is None or len(data) != len(sources):
            by_source(scaling.data_stream, data)  # raises, and says what is wrong
        result = []
        for item, name, change in zip(data, sources, changes, strict=True):
            try:
                result.append(item if change is None else change(item))
            except Exception as error:
                failures.mark_source(error, name)
                raise
        return tuple(result)
    return changed


class ForceFloatX(AgnosticSourcewiseTransformer):
    """Casts all floating-point arrays into floatX, and leaves everything else as it is.

    In lists and arrays of objects, as ragged batches are, every array is looked at by itself.

    Parameters
    ----------
    data_stream : AbstractDataStream
        The stream to wrap.
    which_sources : tuple of str, optional
        The sources to look at; all by default.
    **kwargs
        Handed to `Transformer`.

    Examples
    --------
    >>> import numpy
    >>> from fuel import config
    >>> from fuel.datasets import IndexableDataset
    >>> from fuel.schemes import SequentialScheme
    >>> from fuel.streams import DataStream
    >>> from fuel.transformers import ForceFloatX
    >>> config.floatX = 'float32'
    >>> dataset = IndexableDataset({'x': numpy.zeros((2, 3)), 'y': numpy.arange(2)})
    >>> stream = ForceFloatX(DataStream(dataset, iteration_scheme=SequentialScheme(2, 2)))
    >>> [data.dtype.name for data in next(stream.get_epoch_iterator())]
    ['float32', 'int64']
    """

    def transform_any_source(self, source_data: Any, source_name: str) -> Any:
        """Cast one source where it is of floating-point numbers."""
        return _forced(source_data, numpy.dtype(config.floatX))


def _forced(data: Any, dtype: numpy.dtype[Any]) -> Any:
    """Return data with all arrays of floating-point numbers cast."""
    if isinstance(data, numpy.ndarray) and data.dtype != object:
        return data.astype(dtype, copy=False) if data.dtype.kind == 'f' else data
    if isinstance(data, numpy.ndarray):
        result = numpy.empty(data.shape, dtype=object)
        for place in numpy.ndindex(data.shape):
            result[place] = _forced(data[place], dtype)
        return result
    # Only a list is known to be made of a list again.
    return [_forced(entry, dtype) for entry in data] if type(data) is list else data


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
