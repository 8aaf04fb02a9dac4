"""Rows of the ragged layout: the values of all examples in one data set, one after another."""
from __future__ import annotations

from typing import Any

import h5py
import numpy

from fuel._kernels import ExampleError, gather_rows
from fuel._types import AnyArray
from fuel.exceptions import DataLayoutError
from fuel.storage.handles import OpenFile
from fuel.storage.readers.block_rows import MappedRows
from fuel.storage.readers.reading import fixed_rows
from fuel.storage.variable.scales import place_of
from fuel.storage.variable.value_ranges import range_reader
from fuel.storage.variable.vlen import ShapeRows, as_array_positions, number_at
from fuel.utils.indices import Positions

__all__ = ['FlatRows']


class FlatRows:
    """Reads examples of variable length by their offsets.

    Parameters
    ----------
    dataset : h5py.Dataset
        The values, in a single axis.
    offsets : h5py.Dataset, shape (n + 1,)
        Where each example begins, and where the last one ends.
    shapes : h5py.Dataset, shape (n, axes), or None
        The shape of each example.
    opened : OpenFile
        The file that they are in.
    """

    def __init__(self, dataset: h5py.Dataset, offsets: h5py.Dataset,
                 shapes: h5py.Dataset | None, opened: OpenFile) -> None:
        values = fixed_rows(dataset, opened)
        self._ranges = range_reader(dataset, values)
        self._offsets = _integers(offsets, opened)
        self._shapes = None if shapes is None else ShapeRows(shapes, opened)
        self._where = place_of(dataset)
        self.way, self.reason = values.way, values.reason

    def read(self, positions: Positions) -> Any:
        """Return one array for an integer, otherwise a one-dimensional array of arrays."""
        chosen: slice | AnyArray = as_array_positions(positions)
        if isinstance(chosen, slice):
            starts, stops = self._offsets[:-1][chosen], self._offsets[1:][chosen]
        else:
            starts = gather_rows(self._offsets[:-1], chosen)
            stops = gather_rows(self._offsets[1:], chosen)
        shapes = None if self._shapes is None else self._shapes.read(chosen)
        try:
            arrays = self._ranges.read(starts, stops, shapes)
        except ExampleError as error:
            raise DataLayoutError(f'{self._where}: example {number_at(positions, error.place)} '
                                  f'{error.problem}') from None
        return arrays[0] if isinstance(positions, int) else arrays


    def counts(self, positions: slice | AnyArray) -> AnyArray:
        """Return how many values the examples at the given positions have."""
        lengths: AnyArray = (self._offsets[1:] - self._offsets[:-1])[positions]
        return lengths


def _integers(offsets: h5py.Dataset, opened: OpenFile) -> AnyArray:
    """Return offsets as int64, where they lie in the file if they can be used there."""
    reader = fixed_rows(offsets, opened)
    if isinstance(reader, MappedRows) and reader.rows.dtype == numpy.int64:
        return reader.rows
    integers: AnyArray = reader.read(slice(0, len(offsets), 1))
    # What does not fit becomes negative, which is found when the example is read.
    return integers.astype(numpy.int64)
