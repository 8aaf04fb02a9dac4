"""What may be given as the data of a source."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy

from fuel._types import AnyArray
from fuel.storage.writing.checks import checked_count

__all__ = ['Flat', 'Shaped', 'Stacked', 'Streamed', 'differ', 'is_array', 'is_array_of_objects',
           'is_empty', 'is_list_of_arrays', 'with_shapes']


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
            object.__setattr__(self, 'num_examples',
                               checked_count(self.num_examples, 'num_examples'))


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
        self.shape: tuple[int, ...] = tuple(dataset.shape)

    @property
    def axes(self) -> int:
        """The number of axes of an example."""
        return 1 if self._shapes is None else int(self._shapes.shape[1])

    def example(self) -> AnyArray:
        """Return something that has the dtype and the number of axes of the examples."""
        return numpy.empty((0,) * self.axes, self.dtype.metadata['vlen'])

    def __getitem__(self, rows: slice) -> list[AnyArray]:
        flat = self._flat(rows)
        if self._shapes is None:
            return flat
        return [values.reshape(shape) for values, shape
                in zip(flat, self._shapes[rows].tolist(), strict=True)]

    def _flat(self, rows: slice) -> list[AnyArray]:
        return list(self._dataset[rows])


class Flat(Shaped):
    """Examples in a file that stand in one array, with the offsets where they begin."""

    def __init__(self, dataset: Any, offsets: Any, shapes: Any) -> None:
        super().__init__(dataset, shapes)
        self._offsets = offsets
        #: How many values all examples have together.
        self.num_values = int(dataset.shape[0])
        # So that it is read like arrays of variable length: a few examples at a time.
        self.dtype = numpy.dtype('O', metadata={'vlen': dataset.dtype})
        self.shape = (len(offsets) - 1,)

    def _flat(self, rows: slice) -> list[AnyArray]:
        start, stop, _ = rows.indices(self.shape[0])
        offsets = self._offsets[start:stop + 1].astype('int64')
        if numpy.any(numpy.diff(offsets) < 0):
            raise ValueError(f'{self._dataset.file.filename}: source '
                             f'{self._dataset.name.lstrip("/")!r}: expected offsets that do not '
                             f'decrease; those of the examples from {start} to {stop} do')
        return numpy.split(self._dataset[offsets[0]:offsets[-1]], offsets[1:-1] - offsets[0])


def with_shapes(value: Any) -> Any:
    """Return a source of another file together with the shapes of its examples, if it has them.

    Raises
    ------
    DataLayoutError
        It could not be read as a source. A ``ValueError``.
    """
    if not hasattr(value, 'dims') or not getattr(value, 'shape', None):
        return value
    # Only now: h5py is slow to import.
    from fuel.storage.variable.scales import variable_layout
    found = variable_layout(value)
    if found is not None and found.offsets is not None:
        return Flat(value, found.offsets, found.shapes)
    return value if found is None or found.shapes is None else Shaped(value, found.shapes)


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
