"""What may be given as the data of a source."""
from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy

from fuel._types import AnyArray

__all__ = ['Shaped', 'Stacked', 'Streamed', 'differ', 'is_array', 'is_array_of_objects', 'is_empty',
           'is_list_of_arrays', 'with_shapes']


@dataclass(frozen=True, slots=True)
class Streamed:
    """Data that come bit by bit, with their number declared beforehand.

    Parameters
    ----------
    items : iterable
        Blocks of examples: arrays whose first axis is that of the examples. Or single examples,
        one array for each, if the source is one of examples that differ in shape.
    num_examples : int, optional
        How many examples there are in all items. If it is not given, as for a plain iterable, the
        data set grows while it is written, for which HDF5 wants it in chunks.
    """

    items: Iterable[Any]
    num_examples: int | None = None

    def __post_init__(self) -> None:
        if self.num_examples is not None:
            count = operator.index(self.num_examples)
            if count < 0:
                raise ValueError(f'expected num_examples of at least 0; got {count}')
            object.__setattr__(self, 'num_examples', count)


class Stacked:
    """A list of arrays of one shape, stacked a few at a time."""

    def __init__(self, arrays: Sequence[Any]) -> None:
        self._arrays = arrays
        self.dtype = arrays[0].dtype
        self.shape = (len(arrays), *arrays[0].shape)

    def __getitem__(self, rows: slice) -> AnyArray:
        return numpy.stack(self._arrays[rows], dtype=self.dtype)


class Shaped:
    """Flat examples in a file, with the shapes that stand beside them."""

    def __init__(self, dataset: Any, shapes: Any) -> None:
        self._dataset, self._shapes = dataset, shapes
        self.dtype = dataset.dtype
        self.shape = dataset.shape

    def example(self) -> AnyArray:
        """Return something that has the dtype and the number of axes of the examples."""
        return numpy.empty((0,) * int(self._shapes.shape[1]), self.dtype.metadata['vlen'])

    def __getitem__(self, rows: slice) -> list[AnyArray]:
        return [flat.reshape(shape) for flat, shape
                in zip(self._dataset[rows], self._shapes[rows].tolist(), strict=True)]


def with_shapes(value: Any) -> Any:
    """Return a data set of a file together with the shapes of its examples, if it has them."""
    if hasattr(value, 'dims') and len(value.shape) == 1:
        for key, scale in value.dims[0].items():
            if key == 'shapes' and 'vlen' in (value.dtype.metadata or {}):
                return Shaped(value, scale)
    return value


def is_array(value: Any) -> bool:
    """Return whether something has a shape and a dtype of numpy."""
    return hasattr(value, 'shape') and isinstance(getattr(value, 'dtype', None), numpy.dtype)


def is_list_of_arrays(value: Any) -> bool:
    """Return whether something is a list of arrays that have axes."""
    return (isinstance(value, (list, tuple)) and len(value) > 0
            and all(is_array(item) and len(item.shape) > 0 for item in value))


def is_array_of_objects(value: Any) -> bool:
    """Return whether something is a one-dimensional array of Python objects."""
    # What h5py makes of its types is noted in the metadata.
    return (is_array(value) and value.dtype.kind == 'O' and not value.dtype.metadata
            and len(value.shape) == 1)


def is_empty(value: Any) -> bool:
    """Return whether something is an empty list, which does not tell what it would be a list of."""
    return isinstance(value, (list, tuple)) and not value


def differ(arrays: Sequence[Any]) -> bool:
    """Return whether not all arrays have the same shape."""
    return any(tuple(array.shape) != tuple(arrays[0].shape) for array in arrays)
