"""Where the rows of an HDF5 data set lie in its file, told by HDF5 once for each process."""
from __future__ import annotations

import math
import os
from dataclasses import dataclass
from itertools import product

import h5py
import numpy

from fuel._kernels import chunk_index
from fuel._types import AnyArray
from fuel.exceptions import DataFileError

__all__ = ['ChunkIndex', 'RowRuns', 'contiguous_offset', 'read_chunk_index', 'row_runs']

# A row that falls into more pieces than this is put together faster by the library.
_MOST_RUNS = 4096
# How many chunks are looked at to find out from where offsets are counted.
_COMPARED = 64


@dataclass(frozen=True, slots=True)
class ChunkIndex:
    """The places of all chunks of a data set.

    Attributes
    ----------
    offsets : ndarray of int64, shape (chunks,)
        Where each chunk begins in the file; 0 for one that was never written. The chunks of the
        same rows come one after another.
    sizes : ndarray of int64, shape (chunks,)
        The bytes that each takes up in the file.
    masks : ndarray of uint32, shape (chunks,)
        Bit `i` tells that filter `i` was left out.
    shape : tuple of int
        The shape of a chunk.
    """

    offsets: AnyArray
    sizes: AnyArray
    masks: AnyArray
    shape: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RowRuns:
    """How a row is put together from the chunks that hold its rows.

    Attributes
    ----------
    columns : int
        How many chunks hold the same rows.
    stride : int
        Bytes from one row to the next inside a chunk.
    runs : ndarray of int64, shape (n, 4), or None
        Column, offset in the chunk's row, offset in the row, and size of each piece; `None` where
        a chunk holds whole rows and nothing else.
    """

    columns: int
    stride: int
    runs: AnyArray | None


def contiguous_offset(dataset: h5py.Dataset) -> int | None:
    """Return where a data set in one piece begins in the file; `None` if it was never written."""
    if not dataset.id.get_storage_size():
        return None                 # behind a user block there is an offset all the same
    offset: int | None = dataset.id.get_offset()
    return offset


def read_chunk_index(dataset: h5py.Dataset, file_size: int) -> ChunkIndex:
    """Ask HDF5 where the chunks of a data set lie.

    Raises
    ------
    DataFileError
        A chunk reaches past the end of the file. An ``OSError``.
    """
    chunk = numpy.array(dataset.chunks, dtype=numpy.int64)
    grid = -(-numpy.array(dataset.shape, dtype=numpy.int64) // chunk)
    count = math.prod(grid.tolist())            # numpy would wrap around
    offsets, sizes = numpy.zeros(count, dtype=numpy.int64), numpy.zeros(count, dtype=numpy.int64)
    masks = numpy.zeros(count, dtype=numpy.uint32)
    chunk_index(dataset.id, chunk, grid, offsets, sizes, masks)
    written = numpy.flatnonzero(offsets)
    if written.size:
        offsets[written] += _missing_base(dataset, chunk, grid, offsets, written)
        outside = ((offsets < 0) | (sizes < 0) | (sizes > file_size)
                   | (offsets > file_size - sizes))
        if outside.any():
            wrong = int(numpy.flatnonzero(outside)[0])
            raise DataFileError(
                f'{dataset.file.filename}: source {dataset.name.lstrip("/")!r}: chunk {wrong} '
                f'with {sizes[wrong]} bytes at {offsets[wrong]} reaches past the end of the file '
                f'of {file_size} bytes. The file is damaged or was cut off')
    return ChunkIndex(offsets, sizes, masks, tuple(dataset.chunks))


def _missing_base(dataset: h5py.Dataset, chunk: AnyArray, grid: AnyArray, offsets: AnyArray,
                  written: AnyArray) -> int:
    """Return what must be added to offsets: some versions of HDF5 count from the user block."""
    base = int(dataset.file.userblock_size)
    if base:
        descriptor = dataset.file.id.get_vfd_handle()
        for number in written[:_COMPARED].tolist():
            place = numpy.array(numpy.unravel_index(number, grid)) * chunk
            _, raw = dataset.id.read_direct_chunk(tuple(place.tolist()))
            if not 0 <= offsets[number] < 2 ** 62:
                continue                        # which is found out of range afterwards
            as_told, further = (os.pread(descriptor, len(raw), int(offsets[number]) + added) == raw
                                for added in (0, base))
            if as_told != further:
                return 0 if as_told else base
    return 0


def row_runs(shape: tuple[int, ...], chunk: tuple[int, ...], itemsize: int) -> RowRuns | None:
    """Work out how rows are put together from chunks.

    Parameters
    ----------
    shape, chunk : tuple of int
        Of the data set and of its chunks, beginning with the axis of the rows.
    itemsize : int
        Bytes of a value.

    Returns
    -------
    RowRuns or None
        `None` where rows fall into so many pieces that it is not worth it.
    """
    row, part = shape[1:], chunk[1:]
    stride = math.prod(part) * itemsize
    if row == part:
        return RowRuns(1, stride, None)
    grid = [-(-size // length) for size, length in zip(row, part, strict=True)]
    # Axes after this one are whole in each chunk, so that values along it lie together.
    last = max(axis for axis, (size, length) in enumerate(zip(row, part, strict=True))
               if size != length)
    row_steps, part_steps = _steps(row, itemsize), _steps(part, itemsize)
    number = math.prod(grid) * math.prod(part[:last])
    if number > _MOST_RUNS:
        return None
    runs: list[tuple[int, int, int, int]] = []
    for column, place in enumerate(product(*map(range, grid))):
        corner = [number * length for number, length in zip(place, part, strict=True)]
        extent = [min(length, size - start)
                  for length, size, start in zip(part, row, corner, strict=True)]
        size = extent[last] * part_steps[last]
        for inner in product(*map(range, extent[:last])):
            source = sum(index * step for index, step in zip(inner, part_steps, strict=False))
            target = sum((start + index) * step for start, index, step
                         in zip(corner, (*inner, *(0,) * (len(row) - last)), row_steps,
                                strict=True))
            runs.append((column, source, target, size))
    table = numpy.array(runs, dtype=numpy.int64).reshape(-1, 4)
    return RowRuns(math.prod(grid), stride, table)


def _steps(shape: tuple[int, ...], itemsize: int) -> list[int]:
    """Return the bytes from one value to the next along each axis, in C order."""
    steps = [itemsize]
    for size in shape[:0:-1]:
        steps.append(steps[-1] * size)
    return steps[::-1]
