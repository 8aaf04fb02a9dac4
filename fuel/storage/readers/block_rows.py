"""Rows copied out of the file's memory map, wherever HDF5 put them."""
from __future__ import annotations

import math
from typing import Any

import numpy

from fuel._kernels import BlockTable, copy_whole, gather_rows
from fuel._types import AnyArray
from fuel.utils.indices import IndexArray, Positions

__all__ = ['BlockRows', 'ChunkRows', 'MappedRows']

# Rows of a slice that are found and copied together.
_PIECE_ROWS = 2 ** 16
# Where rows are smaller, those of a slice are copied by whole blocks.
_SMALL_ROW = 512
# A slice of so many bytes may be copied by several threads.
_SHARED_BYTES = 2 ** 17


class BlockRows:
    """Reads rows out of blocks in memory; the base of what maps and what decodes.

    Parameters
    ----------
    table : BlockTable
        Where the blocks are.
    shape : tuple of int
        Of a row.
    dtype : numpy.dtype
        Of its values, as they are stored.
    threads : int
        How many may copy.
    keep : object
        What must live as long as the blocks are read.
    """

    way = 'mapped'
    reason = ''

    def __init__(self, table: Any, shape: tuple[int, ...], dtype: numpy.dtype[Any], threads: int,
                 keep: Any) -> None:
        self.table = table
        self._shape = shape
        self._dtype = dtype
        self._threads = threads
        self._keep = keep
        self._is_empty = not math.prod(shape) * dtype.itemsize

    def read(self, positions: Positions) -> Any:
        """Return the rows at the given positions; see `RowReader.read`."""
        if isinstance(positions, numpy.ndarray):
            return self._gather(positions)
        if isinstance(positions, int):
            return self._gather(numpy.array([positions]))[0]
        return self._read_slice(positions)

    def load(self, positions: slice | IndexArray) -> AnyArray:
        """Return rows that will not be asked for again."""
        rows: AnyArray = self.read(positions)
        return rows

    def _gather(self, indices: IndexArray) -> AnyArray:
        rows: AnyArray = numpy.empty((len(indices), *self._shape), dtype=self._dtype)
        if not self._is_empty:
            self._copy(indices, rows)
        return rows

    def _read_slice(self, positions: slice) -> AnyArray:
        numbers = range(positions.start, positions.stop, positions.step)
        rows: AnyArray = numpy.empty((len(numbers), *self._shape), dtype=self._dtype)
        if not self._is_empty:
            self._copy_range(numbers, rows)
        return rows

    def _copy_range(self, numbers: range, rows: AnyArray) -> None:
        """Copy rows at regular distances."""
        for start in range(0, len(numbers), _PIECE_ROWS):
            part = numbers[start:start + _PIECE_ROWS]
            self._copy(numpy.arange(part.start, part.stop, part.step),
                       rows[start:start + len(part)])

    def _copy(self, indices: IndexArray, rows: AnyArray) -> None:
        """Copy rows; none of them is missing here."""
        if not (indices.flags.c_contiguous and indices.flags.aligned):
            indices = indices.copy()
        self.table.gather(indices, rows, self._threads)


class ChunkRows(BlockRows):
    """Reads rows of chunks that hold whole rows and are not encoded.

    Parameters
    ----------
    table, shape, dtype, threads, keep
        As for `BlockRows`.
    length : int
        How many rows a chunk has.
    """

    def __init__(self, table: Any, shape: tuple[int, ...], dtype: numpy.dtype[Any], threads: int,
                 keep: Any, length: int) -> None:
        super().__init__(table, shape, dtype, threads, keep)
        self._length = length
        chunk_bytes = length * table.row_bytes
        count = len(table.addresses)
        self._chunks = BlockTable(table.addresses, count, 1, 0, chunk_bytes)

    def _copy_range(self, numbers: range, rows: AnyArray) -> None:
        length = self._length
        first, last = -(-numbers.start // length), numbers.stop // length
        if numbers.step != 1 or self.table.row_bytes >= _SMALL_ROW or first >= last:
            super()._copy_range(numbers, rows)
            return
        # Row by row only at both ends.
        begin, end = first * length - numbers.start, last * length - numbers.start
        super()._copy_range(numbers[:begin], rows[:begin])
        whole = rows[begin:end].reshape(last - first, -1)
        self._chunks.gather(numpy.arange(first, last), whole, self._threads)
        super()._copy_range(numbers[end:], rows[end:])


class MappedRows(BlockRows):
    """Reads rows that lie one after another in the file's map.

    Parameters
    ----------
    rows : ndarray, shape (n, ...)
        The rows where they lie.
    threads : int
        How many may copy.
    keep : object
        What must live as long as the rows are read.
    """

    def __init__(self, rows: AnyArray, threads: int, keep: Any) -> None:
        row_bytes = math.prod(rows.shape[1:]) * rows.dtype.itemsize
        count = max(1, len(rows))
        table = BlockTable(numpy.array([rows.ctypes.data]), count, count, row_bytes, row_bytes)
        super().__init__(table, rows.shape[1:], rows.dtype, threads, keep)
        self.rows = rows
        # Single numbers are copied as such.
        self._are_small = row_bytes <= 16

    def _gather(self, indices: IndexArray) -> AnyArray:
        return gather_rows(self.rows, indices) if self._are_small else super()._gather(indices)

    def read(self, positions: Positions) -> Any:
        """Return the rows at the given positions; see `RowReader.read`."""
        # A single value is no view already, unless it has fields.
        if isinstance(positions, int):
            row = self.rows[positions]
            return row.copy() if isinstance(row, (numpy.ndarray, numpy.void)) else row
        return super().read(positions)

    def _read_slice(self, positions: slice) -> AnyArray:
        part: AnyArray = self.rows[positions]
        return copy_whole(part, self._threads) if part.nbytes >= _SHARED_BYTES else part.copy()
