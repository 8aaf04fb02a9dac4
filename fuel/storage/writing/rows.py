"""Writes rows of a fixed size, block by block."""
from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

import numpy

from fuel._types import AnyArray
from fuel.storage.provenance.checksums import write_digests
from fuel.storage.provenance.digests import BlockDigests, RowDigests
from fuel.storage.writing.checks import check_unmasked
from fuel.storage.writing.options import SourceOptions
from fuel.storage.writing.space import REFERENCE_BYTES, Disk, heap_bytes, writing

__all__ = ['BLOCK_BYTES', 'RowWriter', 'SourceWriter', 'check_storable', 'chunk_shape',
           'same_dtype', 'set_labels']

#: Bytes that are written at a time, and so about what a writer has in memory.
BLOCK_BYTES = 4 << 20
# Rows of which HDF5 holds references only, written at a time.
_OBJECT_ROWS = 256
# Bytes of a chunk. With gzip, chunks of 1 MB save 0.2 % of an array of images and 4 % of one of
# floats and are 6 to 10 % faster to read in order, but a random row takes 13 to 15 times as long:
# all of its chunk is decoded. With 16 kB it takes a quarter, and floats 7 % more room.
_CHUNK_BYTES = 64 << 10
# HDF5 stores the size of a chunk in four bytes.
_LARGEST_CHUNK = 2 ** 32 - 1


def chunk_shape(name: str, row: Sequence[int], itemsize: int, length: int | None,
                chunk_examples: int | None = None) -> tuple[int, ...]:
    """Choose the shape of the chunks of a data set.

    Parameters
    ----------
    name : str
        The source, for messages.
    row : sequence of int
        The shape of one row.
    itemsize : int
        Bytes of an item.
    length : int or None
        The number of rows, if known.
    chunk_examples : int, optional
        How many rows were asked for; by default as many as have 64 kB.

    Returns
    -------
    tuple of int
        Whole rows, unless a single one is more than HDF5 can have in a chunk.

    Raises
    ------
    ValueError
        HDF5 cannot have as many rows in a chunk as were asked for.
    """
    row_bytes = max(1, math.prod(row) * itemsize)
    rows = chunk_examples or max(1, _CHUNK_BYTES // row_bytes)
    if length is not None:
        rows = max(1, min(rows, length))
    if rows > 1 and rows * row_bytes > _LARGEST_CHUNK:
        raise ValueError(f'{name}: {rows} examples of {row_bytes} bytes do not fit into a chunk; '
                         'expected chunk_examples to be at most '
                         f'{max(1, _LARGEST_CHUNK // row_bytes)}')
    shape = [max(1, size) for size in row]
    for axis, size in enumerate(shape):
        rest = math.prod(shape[axis + 1:]) * itemsize
        if size * rest <= _LARGEST_CHUNK:
            break
        pieces = math.ceil(size / max(1, _LARGEST_CHUNK // rest))
        shape[axis] = math.ceil(size / pieces)
    return (rows, *shape)


def check_storable(name: str, dtype: numpy.dtype[Any]) -> None:
    """Raise if HDF5 has nothing for a dtype.

    Raises
    ------
    ValueError
        There is nothing; the message says what to do.
    """
    import h5py

    try:
        h5py.h5t.py_create(dtype, logical=True)
    except (TypeError, ValueError) as error:
        advice = f' ({error})'
        if dtype.kind == 'U':
            advice = "; give texts as an array of dtype h5py.string_dtype(), or encoded"
        elif dtype.kind == 'O':
            advice = ('; give examples of different shapes as a one-dimensional array, or a list, '
                      'of arrays, and texts as an array of dtype h5py.string_dtype()')
        elif dtype.kind in 'mM':
            advice = "; store the numbers that times are made of, as in array.view('i8')"
        raise ValueError(f'{name}: HDF5 cannot store arrays of dtype {dtype}{advice}') from None


def same_dtype(one: numpy.dtype[Any], other: numpy.dtype[Any]) -> bool:
    """Return whether two dtypes are the same in a file.

    To numpy all objects are alike; h5py notes in the metadata what they are.
    """
    return one == other and (not one.hasobject
                             or dict(one.metadata or {}) == dict(other.metadata or {}))


def without_padding(rows: AnyArray) -> AnyArray:
    """Return rows with zeros in those bytes of structures that belong to no field.

    Otherwise there would be what happened to be in the memory, in a file that others may read.
    """
    if rows.dtype.names is None:
        return rows
    clean = numpy.zeros(rows.shape, dtype=rows.dtype)
    _copy_fields(clean, rows)
    return clean


def _copy_fields(target: AnyArray, rows: AnyArray) -> None:
    if rows.dtype.names is None:
        target[...] = rows
    else:
        for field in rows.dtype.names:
            _copy_fields(target[field], rows[field])


def _bytes_of(value: Any) -> int:
    """Return how many bytes a value of variable length has."""
    if isinstance(value, str):
        return len(value.encode('utf-8', 'replace'))
    if isinstance(value, numpy.ndarray):
        return value.nbytes
    return len(value) if isinstance(value, bytes) else 0


def set_labels(name: str, dataset: Any, labels: Sequence[str]) -> None:
    """Label the axes of a data set.

    Raises
    ------
    ValueError
        There is not one label for each axis.
    """
    if labels and len(labels) != len(dataset.shape):
        raise ValueError(f'{name}: expected {len(dataset.shape)} axis labels, for the axes of '
                         f'{tuple(dataset.shape)}; got {tuple(labels)}')
    for axis, label in enumerate(labels):
        dataset.dims[axis].label = label


class SourceWriter(ABC):
    """Writes a source from its first example to its last.

    As a context manager it is closed at the end, unless there was an error.

    Attributes
    ----------
    name : str
        The source.
    dataset : h5py.Dataset
        What is written. It is complete when the writer has been closed.
    num_examples : int
        How many examples have been taken so far.
    digests : BlockDigests, RowDigests or None
        Digests the examples, if their checksums are to be kept in the file.
    """

    name: str
    dataset: Any
    num_examples: int = 0
    digests: BlockDigests | RowDigests | None = None
    _closed: bool = False

    @abstractmethod
    def append(self, block: Any) -> None:
        """Write the next examples.

        Parameters
        ----------
        block : array or iterable of arrays
            An array whose first axis is that of the examples: anything with ``shape`` and
            ``dtype`` that can be sliced, so that it need not be in memory. For examples that
            differ in shape also an iterable of arrays, one for each example.

        Raises
        ------
        ValueError
            An example has another shape or dtype than was declared, or there are more examples; or
            the writer is closed.
        """

    @abstractmethod
    def close(self) -> None:
        """Write what has been held back. To close once more does nothing.

        Raises
        ------
        ValueError
            There are less examples than were declared.
        """

    def _write_digests(self) -> None:
        """Write the checksums, if they are to be kept."""
        if self.digests is not None:
            with writing():
                write_digests(self.dataset, self.digests)

    def _check_open(self) -> None:
        if self._closed:
            raise ValueError(f'{self.name}: expected examples before the writer was closed; it has '
                             f'{self.num_examples}. To write more of them, close it later')

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        if kind is None:
            self.close()


class RowWriter(SourceWriter):
    """Writes rows of a fixed size.

    Rows are collected until they make a block, which consists of whole chunks: so every chunk is
    compressed once, and the file does not depend on how the rows came.

    Parameters
    ----------
    h5file : h5py.File
        Open for writing.
    name : str
        The name of the data set.
    shape : sequence of int
        The shape of one row.
    dtype : numpy.dtype
        Of the values.
    num_examples : int or None
        The number of rows. If it is `None` the data set grows.
    options : SourceOptions
        How to store it.
    labels : sequence of str, optional
        Of the axes.
    """

    def __init__(self, h5file: Any, name: str, shape: Sequence[int], dtype: numpy.dtype[Any],
                 num_examples: int | None, options: SourceOptions,
                 labels: Sequence[str] = ()) -> None:
        self.name = name
        self.dtype = dtype
        self._shape = tuple(shape)
        self._length = num_examples
        self._written = 0
        self._held: AnyArray | None = None
        self._disk = Disk(h5file)
        check_storable(name, dtype)
        row_bytes = max(1, math.prod(shape) * dtype.itemsize)
        self._step = _OBJECT_ROWS if dtype.hasobject else max(1, BLOCK_BYTES // row_bytes)
        keywords: dict[str, Any] = {}
        grows = num_examples is None
        # HDF5 has no chunks of nothing, and needs none for it.
        if grows or (num_examples and math.prod(shape)
                     and (options.filtered or options.chunk_examples)):
            chunks = chunk_shape(name, shape, dtype.itemsize, num_examples, options.chunk_examples)
            self._step = max(1, self._step // chunks[0]) * chunks[0]
            # Chunks are written whole, so HDF5 need not keep any: those that it keeps and cannot
            # write later, because the disk is full, crash it.
            keywords = {'chunks': chunks, 'rdcc_nbytes': 1, **options.keywords(dtype.itemsize)}
            if grows:
                # A chunk has something of every axis, even of one that has nothing and stays so.
                keywords['maxshape'] = (None, *[size or None for size in self._shape])
        # What is left of compressed data cannot be known.
        self._asks = dtype.hasobject or (grows and options.compression is None)
        if dtype.hasobject:             # all references get their place with the first of them
            self._disk.check_next(REFERENCE_BYTES * math.prod(shape) * (num_examples or 0))
        self.dataset = h5file.create_dataset(name, (num_examples or 0, *self._shape), dtype=dtype,
                                             **keywords)
        set_labels(name, self.dataset, labels)

    def append(self, block: Any) -> None:
        """Write the next rows; see `SourceWriter.append`."""
        self._check_open()
        is_array = hasattr(block, 'shape') and hasattr(block, 'dtype')
        rows = block if is_array else numpy.asarray(block)
        self._check(rows)
        count, start = int(rows.shape[0]), 0
        while start < count:
            held = self.num_examples - self._written
            stop = min(count, start + self._step - held)
            piece = numpy.asarray(rows[start:stop])
            self.num_examples += stop - start
            if not held and (stop - start == self._step or self.dtype.hasobject
                             or self.num_examples == self._length):
                self._store(piece)
            else:
                self._hold(piece, held)
            start = stop

    def _check(self, rows: Any) -> None:
        check_unmasked(rows, self.name)
        if not rows.shape:
            raise ValueError(f'{self.name}: expected an array with a first axis for the examples; '
                             f'got the single value {rows!r}')
        if not same_dtype(self.dtype, rows.dtype):
            raise ValueError(f'{self.name}: expected dtype {self.dtype}, as before; got '
                             f'{rows.dtype}, from example {self.num_examples} on')
        if tuple(rows.shape[1:]) != self._shape:
            raise ValueError(f'{self.name}: expected examples of shape {self._shape}, as before; '
                             f'got {tuple(rows.shape[1:])}, from example {self.num_examples} on')
        count = self.num_examples + int(rows.shape[0])
        if self._length is not None and count > self._length:
            raise ValueError(f'{self.name}: expected {self._length} examples, as declared; got at '
                             f'least {count}')

    def _hold(self, piece: AnyArray, held: int) -> None:
        if self._held is None:
            rows = self._step if self._length is None else min(self._step, self._length)
            self._held = numpy.empty((rows, *self._shape), dtype=self.dtype)
        self._held[held:held + len(piece)] = piece
        if held + len(piece) == self._step or self.num_examples == self._length:
            self._store(self._held[:held + len(piece)])

    def _store(self, rows: AnyArray) -> None:
        start, stop = self._written, self._written + len(rows)
        if self._asks:
            self._disk.check_next(self._bytes_of(rows))
        fresh = without_padding(rows)
        if self.dtype.hasobject and fresh is rows:
            fresh = numpy.empty(rows.shape, dtype=self.dtype)
            fresh[...] = rows
        if self.digests is not None:
            self.digests.add(fresh)
        with writing():
            if self._length is None:
                self.dataset.resize(stop, axis=0)
            if rows.size:
                # Assignment to an item of the data set looks into arrays of arrays and may take
                # them for arrays of more axes.
                self.dataset.write_direct(numpy.ascontiguousarray(fresh),
                                          dest_sel=slice(start, stop))
        self._written = stop

    def _bytes_of(self, rows: AnyArray) -> int:
        """Return how much of the disk rows take."""
        if 'vlen' not in (self.dtype.metadata or {}):
            return int(rows.nbytes)
        return int(REFERENCE_BYTES * rows.size
                   + sum(heap_bytes(_bytes_of(value)) for value in rows.ravel().tolist()))

    def close(self) -> None:
        """Write what has been held back; see `SourceWriter.close`."""
        if self._closed:
            return
        held = self.num_examples - self._written
        if held and self._held is not None:
            self._store(self._held[:held])
        self._held = None
        if self._length is not None and self.num_examples != self._length:
            raise ValueError(f'{self.name}: expected {self._length} examples, as declared; got '
                             f'{self.num_examples}')
        self._closed = True
        self._write_digests()
