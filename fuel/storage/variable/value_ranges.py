"""Ranges of the values of a data set with a single axis, each as an array of its own."""
from __future__ import annotations

from itertools import pairwise
from typing import Any, Protocol

import h5py
import numpy

from fuel._kernels import block_arrays, check_ranges, range_arrays
from fuel._types import AnyArray
from fuel.config_parser import config
from fuel.storage.readers.block_rows import BlockRows, MappedRows
from fuel.storage.readers.cache import CHUNKS
from fuel.storage.readers.decoded_rows import DecodedRows
from fuel.storage.readers.rows import RowReader

__all__ = ['RangeReader', 'range_reader']

# Of ranges that follow each other at most so many bytes are read at once, and then divided; and
# the chunks of so many bytes are decoded together.
_PIECE_BYTES = 2 ** 24


class RangeReader(Protocol):
    """Reads ranges of values."""

    def read(self, starts: AnyArray, stops: AnyArray, shapes: AnyArray | None) -> AnyArray:
        """Return ranges of values.

        Parameters
        ----------
        starts, stops : ndarray of int64, shape (m,)
            The first value of each range, and the one after its last.
        shapes : ndarray of int64, shape (m, axes), or None
            The shape of each; with `None` they have one axis.

        Returns
        -------
        ndarray of object, shape (m,)
            A fresh array for each range.

        Raises
        ------
        ExampleError
            A range does not lie within the values, or does not fill its shape.
        """
        ...


def range_reader(dataset: h5py.Dataset, rows: RowReader) -> RangeReader:
    """Return what reads ranges in the way in which rows are read.

    Parameters
    ----------
    dataset : h5py.Dataset, shape (n,)
        The values.
    rows : RowReader
        What `fuel.storage.readers.reading.fixed_rows` gives for it.
    """
    if isinstance(rows, MappedRows):
        return _Whole(rows)
    if isinstance(rows, DecodedRows):
        return _Chunks(rows, dataset)
    if isinstance(rows, BlockRows) and dataset.chunks is not None:
        return _Blocks(rows, dataset)
    return _Slices(rows, dataset)


class _Whole:
    """Copies ranges of values that lie one after another."""

    def __init__(self, rows: MappedRows) -> None:
        self._rows = rows
        self._threads: int = config.num_threads

    def read(self, starts: AnyArray, stops: AnyArray, shapes: AnyArray | None) -> AnyArray:
        return range_arrays(self._rows.rows, starts, stops, shapes, self._threads)


class _Blocks:
    """Copies ranges out of chunks that are not encoded."""

    def __init__(self, rows: BlockRows, dataset: h5py.Dataset) -> None:
        self._rows = rows
        self._threads: int = config.num_threads
        self._values: int = dataset.chunks[0]
        self._total = len(dataset)
        self._dtype: numpy.dtype[Any] = dataset.dtype

    def read(self, starts: AnyArray, stops: AnyArray, shapes: AnyArray | None) -> AnyArray:
        return self._copied(starts, stops, shapes)[0]       # none of them is missing here

    def _copied(self, starts: AnyArray, stops: AnyArray,
                shapes: AnyArray | None) -> tuple[AnyArray, AnyArray | None]:
        table = self._rows.table
        return block_arrays(table.addresses, self._values, self._total, starts, stops,
                            self._dtype, shapes, table.used, self._threads)


class _Chunks(_Blocks):
    """Copies ranges out of chunks that must be decoded first, unless they are in the cache."""

    _rows: DecodedRows

    def read(self, starts: AnyArray, stops: AnyArray, shapes: AnyArray | None) -> AnyArray:
        guard = CHUNKS.guard            # before the table is looked at, see the cache
        arrays, missing = self._copied(starts, stops, shapes)
        del guard
        if missing is not None:
            missing = missing[numpy.argsort(starts[missing], kind='stable')]
            for places in self._groups(missing, starts, stops):
                arrays[places] = self._decoded(starts[places], stops[places],
                                               None if shapes is None else shapes[places])
        return arrays

    def _groups(self, places: AnyArray, starts: AnyArray, stops: AnyArray) -> list[AnyArray]:
        """Divide ranges so that the chunks of each group have a bounded size."""
        first, last = starts[places] // self._values, (stops[places] - 1) // self._values
        # Chunks that an earlier range has count once; ranges come in the order of the file.
        reached = numpy.maximum.accumulate(last)
        new = last - first + 1
        new[1:] = numpy.maximum(last[1:] - numpy.maximum(first[1:] - 1, reached[:-1]), 0)
        size = max(1, _PIECE_BYTES // (self._values * self._dtype.itemsize))
        group = (numpy.cumsum(new) - 1) // size
        return numpy.split(places, numpy.flatnonzero(group[1:] != group[:-1]) + 1)

    def _decoded(self, starts: AnyArray, stops: AnyArray,
                 shapes: AnyArray | None) -> AnyArray:
        """Decode the chunks that hold some ranges, copy these, and keep the chunks."""
        first, last = starts // self._values, (stops - 1) // self._values
        counts = last - first + 1
        ends = numpy.cumsum(counts)
        chunks = numpy.unique(numpy.arange(ends[-1]) + numpy.repeat(first - ends + counts, counts))
        slabs, targets = self._rows.decoded(chunks)
        # The chunks of one range follow each other here too.
        moved = (numpy.searchsorted(chunks, first) - first) * self._values
        arrays, _ = block_arrays(targets, self._values, len(targets) * self._values,
                                 starts + moved, stops + moved, self._dtype, shapes, None,
                                 self._threads)
        for numbers, slab in slabs:
            CHUNKS.put(self._rows.table.addresses, self._rows.table.used, numbers, slab)
        return arrays


class _Slices:
    """Reads slices of values, one for ranges that follow each other."""

    def __init__(self, rows: RowReader, dataset: h5py.Dataset) -> None:
        self._rows = rows
        self._total = len(dataset)
        self._dtype: numpy.dtype[Any] = dataset.dtype

    def read(self, starts: AnyArray, stops: AnyArray, shapes: AnyArray | None) -> AnyArray:
        check_ranges(starts, stops, self._total, self._dtype, shapes)
        order = numpy.argsort(starts, kind='stable')
        starts, stops = starts[order], stops[order]
        shapes = None if shapes is None else shapes[order]
        arrays = numpy.empty(len(starts), dtype=object)
        if not len(arrays):
            return arrays
        for low, high in pairwise(self._bounds(starts, stops)):
            part = slice(low, high)
            first = int(starts[low])
            values = self._slice(first, int(stops[high - 1]))
            of_part = None if shapes is None else shapes[part]
            if high - low == 1:
                arrays[low] = values if of_part is None else values.reshape(of_part[0])
            else:
                arrays[part] = range_arrays(values, starts[part] - first, stops[part] - first,
                                            of_part)
        result = numpy.empty(len(arrays), dtype=object)
        result[order] = arrays
        return result

    def _bounds(self, starts: AnyArray, stops: AnyArray) -> list[int]:
        """Return where pieces end in which each range begins where the last one ended."""
        runs = numpy.flatnonzero(starts[1:] != stops[:-1]) + 1
        limit = max(1, _PIECE_BYTES // max(1, self._dtype.itemsize))
        bounds = [0]
        for low, high in pairwise([0, *runs.tolist(), len(starts)]):
            while stops[high - 1] - starts[low] > limit and high - low > 1:
                # As many as fit, or one that is longer by itself.
                low += max(1, int(numpy.searchsorted(stops[low:high], starts[low] + limit,
                                                     side='right')))
                bounds.append(low)
            if low < high:
                bounds.append(high)
        return bounds

    def _slice(self, start: int, stop: int) -> AnyArray:
        if start == stop:
            return numpy.empty(0, dtype=self._dtype)
        values: AnyArray = self._rows.read(slice(start, stop, 1))
        return values
