"""Rows of compressed data sets: chunks are decoded outside the HDF5 library, and kept a while."""
from __future__ import annotations

import weakref
from typing import Any

import numpy

from fuel._kernels import BlockTable
from fuel._types import AnyArray
from fuel.exceptions import DataFileError
from fuel.storage.readers.block_rows import BlockRows
from fuel.storage.readers.cache import CHUNKS
from fuel.storage.readers.chunks import ChunkIndex, RowRuns
from fuel.storage.readers.filters import ChunkError, Pipeline
from fuel.utils.indices import IndexArray

__all__ = ['DecodedRows']

# Chunks up to so many bytes together are decoded side by side, and so many are kept as one.
_GROUP_BYTES = 2 ** 23
_SLAB_BYTES = 2 ** 18


class DecodedRows(BlockRows):
    """Reads rows of chunks that must be decoded.

    Parameters
    ----------
    index : ChunkIndex
        Where the chunks lie.
    pipeline : Pipeline
        How they are decoded.
    base : int
        The address of the first byte of the file.
    fill : ndarray of uint8
        A chunk that stands for those that were never written.
    runs : RowRuns
        How rows are put together.
    rows : int
        How many there are.
    shape, dtype, threads, keep
        As for `BlockRows`.
    where : str
        Names file and source, for messages.
    """

    way = 'decoded'

    def __init__(self, index: ChunkIndex, pipeline: Pipeline, base: int, fill: AnyArray,
                 runs: RowRuns, rows: int, shape: tuple[int, ...], dtype: numpy.dtype[Any],
                 threads: int, keep: Any, where: str) -> None:
        self._index = index
        self._pipeline = pipeline
        self._base = base
        self._chunk_bytes = pipeline.chunk_bytes
        self._rows_per_chunk = index.shape[0]
        self._runs = runs
        self._rows = rows
        self._where = where
        self._row_bytes = int(numpy.prod(shape, dtype=numpy.int64)) * dtype.itemsize
        self._used = numpy.zeros(len(index.offsets), dtype=numpy.uint8)
        self._addresses = numpy.where(index.offsets == 0, fill.ctypes.data, 0)
        table = self._blocks(self._addresses, rows, self._used)
        super().__init__(table, shape, dtype, threads, (keep, fill))
        weakref.finalize(self, CHUNKS.drop, self._addresses)
        self.reason = f'its chunks are encoded with {", ".join(pipeline.names)}'

    def _blocks(self, addresses: AnyArray, rows: int, used: AnyArray | None = None) -> Any:
        return BlockTable(addresses, rows, self._rows_per_chunk, self._runs.stride,
                          self._row_bytes, self._runs.runs, used)

    def _copy(self, indices: IndexArray, rows: AnyArray) -> None:
        guard = CHUNKS.guard            # before the table is looked at, see the cache
        if not (indices.flags.c_contiguous and indices.flags.aligned):
            indices = indices.copy()
        missing = self.table.gather(indices, rows, self._threads)
        del guard
        if missing is not None:
            self._decode(indices[missing].astype(numpy.int64), missing, rows)

    def _read_slice(self, positions: slice) -> AnyArray:
        start, stop, size = positions.start, positions.stop, self._rows_per_chunk
        has_whole_chunks = -(-start // size) < stop // size
        if positions.step == 1 and self._runs.runs is None and has_whole_chunks:
            # What comes in order from more than fits is thrown out before it is wanted again.
            limit = CHUNKS.limit
            everything = len(self._addresses) * self._chunk_bytes
            if everything > limit or (stop - start) * self._row_bytes > limit // 4:
                return self._read_through(start, stop)
        return super()._read_slice(positions)

    def _read_through(self, start: int, stop: int) -> AnyArray:
        """Decode chunks into the place where their rows are wanted, and keep none of them."""
        rows: AnyArray = numpy.empty((stop - start, *self._shape), dtype=self._dtype)
        size = self._rows_per_chunk
        first, last = -(-start // size), stop // size
        whole = first + numpy.flatnonzero(self._index.offsets[first:last])
        step = max(1, _GROUP_BYTES // self._chunk_bytes)
        for place in range(0, len(whole), step):
            part = whole[place:place + step]
            self._decode_into(part, rows.ctypes.data + (part * size - start) * self._row_bytes)
        others = numpy.ones(stop - start, dtype=bool)
        for number in whole.tolist():
            others[number * size - start:(number + 1) * size - start] = False
        left = numpy.flatnonzero(others)
        if left.size:
            # Those of chunks that are not wanted as a whole, or were never written.
            values = numpy.empty((len(left), *self._shape), dtype=self._dtype)
            self._copy(left + start, values)
            rows[left] = values
        return rows

    def load(self, positions: slice | IndexArray) -> AnyArray:
        """Return rows that will not be asked for again; their chunks are not kept."""
        if isinstance(positions, slice):
            if positions.step == 1 and self._runs.runs is None and not self._is_empty:
                return self._read_through(positions.start, positions.stop)
            positions = numpy.arange(positions.start, positions.stop, positions.step)
        rows: AnyArray = numpy.empty((len(positions), *self._shape), dtype=self._dtype)
        if not self._is_empty:
            self._decode(positions.astype(numpy.int64), numpy.arange(len(positions)), rows,
                         keep=False)
        return rows

    def _decode(self, indices: IndexArray, places: AnyArray, rows: AnyArray,
                keep: bool = True) -> None:
        """Decode the chunks that hold some rows, copy the rows, and perhaps keep the chunks."""
        chunk_rows, which = numpy.unique(indices // self._rows_per_chunk, return_inverse=True)
        within = indices % self._rows_per_chunk
        columns = self._runs.columns
        size = max(1, _GROUP_BYTES // (columns * self._chunk_bytes))
        for start in range(0, len(chunk_rows), size):
            part = chunk_rows[start:start + size]
            numbers = (part[:, None] * columns + numpy.arange(columns)).reshape(-1)
            slabs, targets = self.decoded(numbers)
            if size >= len(chunk_rows):
                chosen: Any = slice(None)
            else:
                chosen = (which >= start) & (which < start + size)
            self._blocks(targets, len(part) * self._rows_per_chunk).gather(
                (which[chosen] - start) * self._rows_per_chunk + within[chosen], rows,
                self._threads, places[chosen])
            for slab_numbers, slab in slabs if keep else ():
                CHUNKS.put(self._addresses, self._used, slab_numbers, slab)

    def decoded(self, numbers: AnyArray) -> tuple[list[tuple[AnyArray, AnyArray]], AnyArray]:
        """Decode chunks; return them in slabs, and the address of each."""
        # All chunks of the same rows go into one slab, so that they come and go together.
        columns = self._runs.columns
        room = min(_SLAB_BYTES, CHUNKS.limit // 4)
        per_slab = max(1, room // (self._chunk_bytes * columns)) * columns
        targets = self._addresses[numbers]
        # Chunks that were never written are there already; so are those of other columns.
        wanted = numpy.flatnonzero(self._index.offsets[numbers])
        slabs = []
        for start in range(0, len(wanted), per_slab):
            part = wanted[start:start + per_slab]
            slab = numpy.empty((len(part), self._chunk_bytes), dtype=numpy.uint8)
            targets[part] = slab.ctypes.data + numpy.arange(len(part)) * self._chunk_bytes
            slabs.append((numbers[part], slab))
        self._decode_into(numbers[wanted], targets[wanted])
        return slabs, targets

    def _decode_into(self, numbers: AnyArray, targets: AnyArray) -> None:
        """Decode chunks that were written."""
        try:
            self._pipeline.decode(self._base + self._index.offsets[numbers],
                                  self._index.sizes[numbers], self._index.masks[numbers],
                                  targets, self._threads)
        except ChunkError as error:
            raise self._failure(int(numbers[error.place]), error) from error

    def _failure(self, number: int, error: ChunkError) -> DataFileError:
        """Say which rows cannot be read."""
        first = number // self._runs.columns * self._rows_per_chunk
        last = min(first + self._rows_per_chunk, self._rows) - 1
        rows = f'row {first}' if first == last else f'rows {first} to {last}'
        return DataFileError(f'{self._where}: {rows} cannot be read: {error}. The file is '
                             'damaged; make it again, or leave these rows out')
