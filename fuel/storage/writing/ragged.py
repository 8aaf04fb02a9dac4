"""Writes examples that differ in shape, in either of the two layouts that there are for them."""
from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy

from fuel._types import AnyArray
from fuel.storage.writing.checks import check_unmasked
from fuel.storage.writing.options import SourceOptions
from fuel.storage.writing.rows import (
    BLOCK_BYTES,
    RowWriter,
    SourceWriter,
    check_storable,
    without_padding,
)

__all__ = ['RaggedWriter', 'VlenWriter', 'checked_example', 'examples_of', 'extra_names']

# Examples that are written at a time, if they are small.
_GROUP = 4096
_SHAPE_DTYPE = numpy.dtype('int32')             # that of the documentation of the layout
_LONGEST = numpy.iinfo(_SHAPE_DTYPE).max


def extra_names(name: str, layout: str, axes: int | None) -> list[str]:
    """Return the names of the data sets that stand beside a source.

    Parameters
    ----------
    name, layout : str
        The source and its layout.
    axes : int or None
        Those of an example; `None` if it is not known.
    """
    names = [f'{name}_shape_labels']
    if layout == 'vlen' or axes != 1:
        names.append(f'{name}_shapes')
    if layout == 'ragged':
        names.append(f'{name}_offsets')
    return names


def examples_of(block: Any) -> Iterator[Any]:
    """Yield examples one by one, reading few of them at a time."""
    if not hasattr(block, 'shape') or not hasattr(block, 'dtype'):
        if not isinstance(block, Iterable):
            raise ValueError(f'expected an array or an iterable of arrays; got {block!r:.80}')
        yield from block
        return
    if len(block.shape) == 0:
        raise ValueError(f'expected examples; got the single value {block!r}')
    # An object may stand for any number of bytes.
    row_bytes = (1 << 16 if block.dtype.hasobject
                 else max(1, math.prod(block.shape[1:]) * block.dtype.itemsize))
    step = max(1, BLOCK_BYTES // row_bytes)
    for start in range(0, int(block.shape[0]), step):
        yield from block[start:start + step]


def checked_example(example: Any, where: str, dtype: numpy.dtype[Any] | None = None,
                    shape: Sequence[int | None] | None = None) -> Any:
    """Return an example, after checking that it goes with the others.

    Parameters
    ----------
    example : array
        The example.
    where : str
        What to call it in messages.
    dtype : numpy.dtype, optional
        What it must have.
    shape : sequence of int or None, optional
        What it must have, with `None` for axes of any length.

    Raises
    ------
    ValueError
        It is not an array, or another one than expected.
    """
    if not hasattr(example, 'shape') or not isinstance(getattr(example, 'dtype', None),
                                                       numpy.dtype):
        advice = ('. For texts give an array of dtype h5py.string_dtype(); of another file, the '
                  'data set without asstr()' if isinstance(example, str) else '')
        raise ValueError(f'{where}: expected an array, as every example of different shapes must '
                         f'be; got {example!r:.80} of type {type(example).__name__}{advice}')
    check_unmasked(example, where)
    if not example.shape:
        raise ValueError(f'{where}: expected an array of at least one axis; got the single value '
                         f'{example!r:.80}')
    if dtype is not None and example.dtype != dtype:
        raise ValueError(f'{where}: expected dtype {dtype}, as the examples before have; got '
                         f'{example.dtype}')
    if shape is not None:
        if len(example.shape) != len(shape):
            raise ValueError(f'{where}: expected {len(shape)} axes, as the examples before have; '
                             f'got the shape {tuple(example.shape)}')
        if any(size not in (None, found) for size, found in zip(shape, example.shape,
                                                                strict=True)):
            raise ValueError(f'{where}: expected the shape {tuple(shape)}, with any size for None; '
                             f'got {tuple(example.shape)}')
    if max(example.shape) > _LONGEST:
        raise ValueError(f'{where}: expected axes of at most {_LONGEST}; got the shape '
                         f'{tuple(example.shape)}')
    return example


class _ExampleWriter(SourceWriter):
    """What both layouts have in common: examples are checked, flattened and put into groups.

    Parameters
    ----------
    h5file : h5py.File
        Open for writing.
    name : str
        The source.
    shape : sequence of int or None
        The shape of an example, with `None` for axes that differ.
    dtype : numpy.dtype
        Of the values.
    num_examples : int or None
        The number of examples. If it is `None` the data sets grow.
    options : SourceOptions
        How to store the values.
    labels : sequence of str, optional
        Of the axes of a batch. By default the first is 'batch' and the others are empty.
    """

    def __init__(self, h5file: Any, name: str, shape: Sequence[int | None],
                 dtype: numpy.dtype[Any], num_examples: int | None, options: SourceOptions,
                 labels: Sequence[str] = ()) -> None:
        self.name = name
        self.dtype = dtype
        self._shape = tuple(shape)
        self._length = num_examples
        if not shape:
            raise ValueError(f'{name}: expected examples of at least one axis; got the shape ()')
        if dtype.hasobject:
            raise ValueError(f'{name}: expected examples with values of a fixed size; got dtype '
                             f'{dtype}')
        check_storable(name, dtype)
        labels = labels or ('batch', *[''] * len(shape))
        if len(labels) != 1 + len(shape):
            raise ValueError(f'{name}: expected {1 + len(shape)} axis labels, for the axis of the '
                             f'examples and the {len(shape)} of an example; got {tuple(labels)}')
        self._parts = self._create(h5file, options)
        self.dataset = self._parts[0].dataset
        self.dataset.dims[0].label = labels[0]
        for part in self._parts[1:]:
            self._attach(part.dataset, part.name.removeprefix(f'{name}_'))
        encoded = h5file.create_dataset(
            f'{name}_shape_labels', data=numpy.array([label.encode() for label in labels[1:]]))
        self._attach(encoded, 'shape_labels')

    @abstractmethod
    def _create(self, h5file: Any, options: SourceOptions) -> list[RowWriter]:
        """Return what writes the data set, and what writes the scales beside it."""

    @abstractmethod
    def _store(self, flat: list[AnyArray], shapes: list[tuple[int, ...]]) -> None:
        """Write a group of examples."""

    def _shapes_writer(self, h5file: Any) -> RowWriter:
        return RowWriter(h5file, f'{self.name}_shapes', (len(self._shape),), _SHAPE_DTYPE,
                         self._length, SourceOptions())

    def _attach(self, dataset: Any, scale: str) -> None:
        dataset.make_scale(scale)
        self.dataset.dims[0].attach_scale(dataset)

    def append(self, block: Any) -> None:
        """Write the next examples; see `SourceWriter.append`."""
        self._check_open()
        flat: list[AnyArray] = []
        shapes: list[tuple[int, ...]] = []
        size = 0
        for example in examples_of(block):
            number = self.num_examples + len(flat)
            checked = checked_example(example, f'{self.name}: example {number}', self.dtype,
                                      self._shape)
            if number == self._length:
                raise ValueError(f'{self.name}: expected {self._length} examples, as declared; '
                                 'got more')
            array = numpy.asarray(checked)
            if self.digests is not None:
                self.digests.add([array])
            flat.append(array.reshape(-1))
            shapes.append(array.shape)
            size += array.nbytes
            if size >= BLOCK_BYTES or len(flat) == _GROUP:
                self._take(flat, shapes)
                flat, shapes, size = [], [], 0
        if flat:
            self._take(flat, shapes)

    def _take(self, flat: list[AnyArray], shapes: list[tuple[int, ...]]) -> None:
        self._store(flat, shapes)
        self.num_examples += len(flat)

    def close(self) -> None:
        """Write what has been held back; see `SourceWriter.close`."""
        if self._closed:
            return
        if self._length is not None and self.num_examples != self._length:
            raise ValueError(f'{self.name}: expected {self._length} examples, as declared; got '
                             f'{self.num_examples}')
        for part in self._parts:
            part.close()
        self._closed = True
        self._write_digests()


class VlenWriter(_ExampleWriter):
    """Writes one array of variable length for each example, and its shape beside it.

    Values are stored in the byte order of the machine.

    Parameters
    ----------
    h5file, name, shape, dtype, num_examples, options, labels
        See `_ExampleWriter`; nothing is compressed.
    """

    def _create(self, h5file: Any, options: SourceOptions) -> list[RowWriter]:
        import h5py

        # h5py takes the values of arrays of variable length for native ones when it reads them.
        self._native = self.dtype.newbyteorder('=')
        self._rows = RowWriter(h5file, self.name, (), h5py.vlen_dtype(self._native), self._length,
                               options)
        self._shapes = self._shapes_writer(h5file)
        return [self._rows, self._shapes]

    def _store(self, flat: list[AnyArray], shapes: list[tuple[int, ...]]) -> None:
        objects = numpy.empty(len(flat), dtype=self._rows.dtype)
        for position, array in enumerate(flat):
            objects[position] = without_padding(array.astype(self._native, copy=False))
        self._rows.append(objects)
        self._shapes.append(numpy.array(shapes, dtype=_SHAPE_DTYPE))


class RaggedWriter(_ExampleWriter):
    """Writes all values one after the other, and where each example begins.

    Parameters
    ----------
    h5file, name, shape, dtype, num_examples, options, labels
        See `_ExampleWriter`.
    num_values : int, optional
        The number of values of all examples. If it is not given the data set grows.
    """

    def __init__(self, h5file: Any, name: str, shape: Sequence[int | None],
                 dtype: numpy.dtype[Any], num_examples: int | None, options: SourceOptions,
                 labels: Sequence[str] = (), *, num_values: int | None = None) -> None:
        self._num_values = num_values
        super().__init__(h5file, name, shape, dtype, num_examples, options, labels)

    def _create(self, h5file: Any, options: SourceOptions) -> list[RowWriter]:
        self._values = RowWriter(h5file, self.name, (), self.dtype, self._num_values, options)
        # One offset more than examples, for the end of the last one.
        self._offsets = RowWriter(h5file, f'{self.name}_offsets', (), numpy.dtype('int64'),
                                  None if self._length is None else self._length + 1,
                                  SourceOptions())
        self._offsets.append(numpy.zeros(1, dtype='int64'))
        # A single axis is as long as the example has values.
        self._shapes = self._shapes_writer(h5file) if len(self._shape) > 1 else None
        return [self._values, self._offsets, *([] if self._shapes is None else [self._shapes])]

    def _store(self, flat: list[AnyArray], shapes: list[tuple[int, ...]]) -> None:
        ends = numpy.cumsum([len(array) for array in flat], dtype='int64')
        self._offsets.append(ends + self._values.num_examples)
        self._values.append(numpy.concatenate(flat, dtype=self.dtype))
        if self._shapes is not None:
            self._shapes.append(numpy.array(shapes, dtype=_SHAPE_DTYPE))
