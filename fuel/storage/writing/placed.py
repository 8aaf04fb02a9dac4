"""Writes examples of different lengths in any order, each at its own place.

Where what is converted lies in one order and is to stand in another, such as a shuffled one,
either the reading or the writing has to jump. Reads wait for the disk; writes do not, because the
system collects them and sorts them.
"""
from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Any, Self

import numpy
import numpy.typing as npt

from fuel._types import AnyArray
from fuel.storage.provenance.checksums import new_digests, write_digests
from fuel.storage.provenance.digests import RowDigests
from fuel.storage.writing.checks import check_file, checked_labels, checked_name
from fuel.storage.writing.options import SourceOptions, check_options
from fuel.storage.writing.rows import RowWriter, check_storable, set_labels
from fuel.storage.writing.space import REFERENCE_BYTES, Disk, heap_bytes, writing

__all__ = ['PlacedWriter', 'can_be_placed', 'create_placed_source']

# HDF5 takes values of variable length for a group of examples at a time.
_GROUP = 1024


def can_be_placed(options: SourceOptions) -> bool:
    """Tell whether examples can be written in any order: not where they share compressed chunks.

    Parameters
    ----------
    options : SourceOptions
        Of the source.
    """
    return options.layout != 'ragged' or not options.filtered


def create_placed_source(h5file: Any, name: str, dtype: npt.DTypeLike, lengths: npt.ArrayLike, *,
                         options: SourceOptions, axis_labels: Sequence[str]) -> PlacedWriter:
    """Create the data sets of a source of examples that have one axis, for writing in any order.

    Parameters
    ----------
    h5file : h5py.File
        Open for writing.
    name : str
        The source.
    dtype : dtype_like
        Of the values, numbers of a fixed size.
    lengths : array of int, shape (num_examples,)
        How many values each example has.
    options : SourceOptions
        How to store it; with the layout 'ragged' without filters.
    axis_labels : sequence of str
        Of the axis of the examples, and of that of their values.

    Returns
    -------
    PlacedWriter
        What it writes is what `create_source` would have written.

    Raises
    ------
    ValueError
        The options do not go with each other, or with examples in any order.
    DiskError
        There is no room for the data. An ``OSError``.
    """
    check_file(h5file)
    checked_name(name, 'source')
    kind = numpy.dtype(dtype)
    check_storable(name, kind)
    labels = checked_labels(name, axis_labels)
    if len(labels) != 2 or kind.hasobject:
        raise ValueError(f'{name}: expected numbers and two axis labels; got {kind} and {labels}')
    options = check_options(name, options, options.layout or 'vlen', kind)
    if not can_be_placed(options):
        raise ValueError(f'{name}: compressed chunks are written in order; append the examples to '
                         'what create_source returns')
    writer = RaggedPlaced if options.layout == 'ragged' else VlenPlaced
    return writer(h5file, name, kind, numpy.asarray(lengths, dtype='int64'), options, labels)


class PlacedWriter(ABC):
    """Writes examples at their places.

    As a context manager it is closed at the end, unless there was an error.

    Parameters
    ----------
    h5file, name, dtype, lengths, options, labels
        As for `create_placed_source`.

    Attributes
    ----------
    name : str
        The source.
    dataset : h5py.Dataset
        What is written. It is complete when the writer has been closed.
    """

    dataset: Any

    def __init__(self, h5file: Any, name: str, dtype: numpy.dtype[Any],
                 lengths: npt.NDArray[numpy.int64], options: SourceOptions,
                 labels: tuple[str, ...]) -> None:
        self.name = name
        self.dtype = dtype
        self._lengths = lengths
        self._placed = numpy.zeros(len(lengths), dtype=bool)
        self._disk = Disk(h5file)
        # Whether checksums are kept is known to what makes those of rows that come in order.
        kept = new_digests(dtype) is not None
        self._digests = RowDigests(len(lengths)) if kept else None
        # They are made while HDF5 writes: hashing does not need the interpreter.
        self._hasher = ThreadPoolExecutor(1, 'fuel-checksums') if kept else None
        self._hashed: Future[None] | None = None
        self._disk.check(self._needed())
        with writing():
            self._create(h5file, options)
            set_labels(name, self.dataset, labels[:1])
            names = h5file.create_dataset(f'{name}_shape_labels',
                                          data=numpy.array([labels[1].encode()]))
            self._attach(names, 'shape_labels')

    @abstractmethod
    def _needed(self) -> int:
        """Return how many bytes the values take."""

    @abstractmethod
    def _create(self, h5file: Any, options: SourceOptions) -> None:
        """Create the data set and the scale that tells the lengths of examples."""

    @abstractmethod
    def _store(self, rows: list[int], examples: list[AnyArray]) -> None:
        """Write some examples."""

    def _attach(self, dataset: Any, scale: str) -> None:
        dataset.make_scale(scale)
        self.dataset.dims[0].attach_scale(dataset)

    def _scale(self, h5file: Any, scale: str, values: AnyArray) -> None:
        with RowWriter(h5file, f'{self.name}_{scale}', values.shape[1:], values.dtype,
                       len(values), SourceOptions()) as writer:
            writer.append(values)
        self._attach(writer.dataset, scale)

    def place(self, rows: Sequence[int], examples: Sequence[AnyArray]) -> None:
        """Write examples.

        Parameters
        ----------
        rows : sequence of int
            Which examples of the source they are.
        examples : sequence of ndarray
            One array with a single axis for each row.

        Raises
        ------
        ValueError
            An example has another dtype or length than was declared, or was there before.
        DiskError
            The disk is full. An ``OSError``.
        """
        for row, example in zip(rows, examples, strict=True):
            if example.dtype != self.dtype or example.shape != (self._lengths[row],):
                raise ValueError(f'{self.name}: example {row}: expected {self._lengths[row]} '
                                 f'values of {self.dtype}, as declared; got {example.dtype} of '
                                 f'shape {example.shape}')
            if self._placed[row]:
                raise ValueError(f'{self.name}: expected every example once; got example {row} '
                                 'twice')
            self._placed[row] = True
        if self._hasher is not None:
            self._wait()
            self._hashed = self._hasher.submit(self._hash, list(rows), list(examples))
        for start in range(0, len(rows), _GROUP):
            stop = start + _GROUP
            self._store(list(rows[start:stop]), list(examples[start:stop]))

    def _hash(self, rows: list[int], examples: list[AnyArray]) -> None:
        if self._digests is not None:
            for row, example in zip(rows, examples, strict=True):
                self._digests.set(row, example)

    def _wait(self) -> None:
        """Wait for the checksums of the examples before: no more of them are held in memory."""
        hashed, self._hashed = self._hashed, None
        if hashed is not None:
            hashed.result()

    def close(self) -> None:
        """End the source.

        Raises
        ------
        ValueError
            There are examples that never came.
        """
        missing = numpy.flatnonzero(~self._placed)
        if len(missing):
            raise ValueError(f'{self.name}: expected {len(self._placed)} examples, as declared; '
                             f'{len(missing)} did not come, such as example {missing[0]}')
        self._wait()
        if self._digests is not None:
            with writing():
                write_digests(self.dataset, self._digests)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        try:
            if kind is None:
                self.close()
        finally:
            if self._hasher is not None:
                self._hasher.shutdown()


class VlenPlaced(PlacedWriter):
    """Writes one array of variable length for each example.

    In the heap they lie in the order in which they come; the references to them are in order.
    """

    def _needed(self) -> int:
        sizes = self._lengths * self.dtype.itemsize
        return int(sizes.sum() + len(sizes) * (REFERENCE_BYTES + heap_bytes(1)))

    def _create(self, h5file: Any, options: SourceOptions) -> None:
        import h5py

        # h5py takes the values of arrays of variable length for native ones when it reads them.
        self._native = self.dtype.newbyteorder('=')
        self._rows = RowWriter(h5file, self.name, (), h5py.vlen_dtype(self._native),
                               len(self._lengths), options)
        self.dataset = self._rows.dataset
        self._scale(h5file, 'shapes', self._lengths.astype('int32')[:, None])

    def _store(self, rows: list[int], examples: list[AnyArray]) -> None:
        import h5py

        objects = numpy.empty(len(rows), dtype=self._rows.dtype)
        for position, example in enumerate(examples):
            objects[position] = example.astype(self._native, copy=False)
        self._disk.check_next(int(sum(heap_bytes(example.nbytes) for example in examples))
                              + REFERENCE_BYTES * len(rows))
        with writing():
            # Indexing with an array would have h5py sort rows and look at each of them.
            target = self.dataset.id.get_space()
            target.select_elements(numpy.array(rows, dtype='uint64')[:, None])
            self.dataset.id.write(h5py.h5s.create_simple((len(rows),)), target, objects, None)


class RaggedPlaced(PlacedWriter):
    """Writes each example at its place among the values of all."""

    def _needed(self) -> int:
        return int(self._lengths.sum()) * self.dtype.itemsize

    def _create(self, h5file: Any, options: SourceOptions) -> None:
        self._offsets = numpy.zeros(len(self._lengths) + 1, dtype='int64')
        numpy.cumsum(self._lengths, out=self._offsets[1:])
        self.dataset = h5file.create_dataset(self.name, (int(self._offsets[-1]),),
                                             dtype=self.dtype)
        self._scale(h5file, 'offsets', self._offsets)

    def _store(self, rows: list[int], examples: list[AnyArray]) -> None:
        import h5py

        kind = h5py.h5t.py_create(self.dtype)
        target = self.dataset.id.get_space()
        with writing():
            for row, example in zip(rows, examples, strict=True):
                if len(example):
                    target.select_hyperslab((int(self._offsets[row]),), (len(example),))
                    self.dataset.id.write(h5py.h5s.create_simple((len(example),)), target,
                                          numpy.ascontiguousarray(example), kind)
