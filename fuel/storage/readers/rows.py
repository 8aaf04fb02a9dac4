"""How rows are read out of a file.

A reader takes positions in a data set, in any order and with duplicates, and returns rows that
belong to the caller. Readers that know a faster way than the HDF5 library stand beside
`LibraryRows`, which can read everything.
"""
from __future__ import annotations

from typing import Any, Protocol

import h5py
import numpy

from fuel._kernels import gather_rows
from fuel._types import AnyArray
from fuel.storage.memory import own_objects
from fuel.utils.indices import IndexArray, Positions, is_increasing

__all__ = ['LibraryRows', 'RowReader']

# At most so many bytes of rows, and so many rows, are read by one call to HDF5.
_PIECE_BYTES = 2 ** 24
_PIECE_ROWS = 2 ** 14
# Where at least one row in so many is wanted, all are read at once and the wanted ones picked.
_DENSE = 4


class RowReader(Protocol):
    """Reads rows of one source.

    Attributes
    ----------
    way : str
        ``'mapped'``, ``'decoded'`` or ``'library'``; see `fuel.storage.readers.reading`.
    reason : str
        Why it is not read in a faster way; empty if there is none.
    """

    way: str
    reason: str

    def read(self, positions: Positions) -> Any:
        """Return the rows at the given positions.

        Parameters
        ----------
        positions : int, slice or ndarray of int32 or int64
            Within the data set, checked: a slice has three numbers, its step is not negative.

        Returns
        -------
        object
            One row for an integer, otherwise an array of rows.
        """
        ...


class LibraryRows:
    """Reads rows through the HDF5 library.

    Parameters
    ----------
    dataset : h5py.Dataset
        At least one axis.
    reason : str, optional
        Why it is not read in a faster way.
    """

    way = 'library'

    def __init__(self, dataset: h5py.Dataset, reason: str = '') -> None:
        self.reason = reason
        self._dataset = dataset
        self._shape: tuple[int, ...] = dataset.shape[1:]
        self._dtype: numpy.dtype[Any] = dataset.dtype
        row_bytes = max(1, int(numpy.prod(self._shape, dtype=numpy.int64)) * self._dtype.itemsize)
        self._piece = min(_PIECE_ROWS, max(1, _PIECE_BYTES // row_bytes))
        # Rows of variable length are dear: none is read that is not wanted.
        self._dense = 1 if self._dtype.hasobject else _DENSE

    def read(self, positions: Positions) -> Any:
        """Return the rows at the given positions; see `RowReader.read`."""
        if isinstance(positions, (int, slice)):
            return self._read_regular(positions)
        if is_increasing(positions):
            return self._read_increasing(positions)
        unique, inverse = numpy.unique(positions, return_inverse=True)
        rows = self._read_increasing(unique)
        if self._dtype.hasobject:
            # Only where a row was asked for twice would two places share an array.
            return (own_objects if len(unique) < len(inverse) else numpy.asarray)(rows[inverse])
        return gather_rows(rows, inverse)

    def _read_regular(self, positions: int | slice) -> Any:
        if isinstance(positions, slice) and positions.step > 1:
            # The library visits strided rows one by one.
            return self._read_increasing(
                numpy.arange(positions.start, positions.stop, positions.step))
        return self._dataset[positions]

    def _read_increasing(self, indices: IndexArray) -> AnyArray:
        """Read rows in increasing order, each once."""
        count = len(indices)
        if not count:
            return numpy.empty((0, *self._shape), dtype=self._dtype)
        if count <= self._piece or indices[-1] - indices[0] == count - 1:
            return self._read_piece(indices)
        rows: AnyArray = numpy.empty((count, *self._shape), dtype=self._dtype)
        for start in range(0, count, self._piece):
            piece = slice(start, start + self._piece)
            rows[piece] = self._read_piece(indices[piece])
        return rows

    def _read_piece(self, indices: IndexArray) -> AnyArray:
        first, last = int(indices[0]), int(indices[-1])
        rows: AnyArray
        if last - first == len(indices) - 1:
            rows = self._dataset[first:last + 1]
        elif last - first < self._dense * len(indices):
            rows = gather_rows(self._dataset[first:last + 1], indices - first)
        else:
            rows = self._dataset[indices]
        return rows
