"""Readers of the rows of PyTables nodes: by their bytes where numpy knows them, or by PyTables."""
from __future__ import annotations

from contextlib import suppress
from typing import Any, cast

import h5py
import numpy

from fuel._types import AnyArray
from fuel.exceptions import DataLayoutError
from fuel.storage.handles import OpenFile
from fuel.storage.readers.reading import fixed_rows
from fuel.storage.readers.rows import LibraryRows, RowReader
from fuel.storage.tables.files import TablesLease
from fuel.storage.tables.nodes import NodeSource
from fuel.storage.tables.stored_dtype import stored_dtype
from fuel.storage.variable.vlen import HeapRows, objects
from fuel.utils.indices import Positions

__all__ = ['StoredRows', 'fast_reader', 'tables_reader']


def tables_reader(lease: TablesLease, source: NodeSource, reason: str) -> RowReader:
    """Return what reads the rows of a source through PyTables.

    Parameters
    ----------
    lease : TablesLease
        The file.
    source : NodeSource
        What to read.
    reason : str
        Why it is not read in a faster way.
    """
    if source.kind == 'vlarray':
        return VariableRows(lease, source, reason)
    return LibraryRows(cast(Any, NodeData(lease, source)), reason)


def _node(h5file: Any, source: NodeSource) -> Any:
    """Return the node of a source."""
    node = h5file.get_node(source.path) if source.path in h5file else None
    _check_length(h5file.filename, source, 0 if node is None else int(node.shape[0]))
    return node


def _check_length(filename: str, source: NodeSource, length: int) -> None:
    """Check that nothing has gone since the data set looked into the file."""
    if length < source.length:
        raise DataLayoutError(
            f'{filename}: the file is not what it was when the data set was made: expected '
            f'{source.length} rows in {source.path!r}; there are {length}. Make the data set again')


class NodeData:
    """A node, as `LibraryRows` sees an h5py data set.

    Parameters
    ----------
    lease : TablesLease
        The file.
    source : NodeSource
        An array, a table or a column.
    """

    def __init__(self, lease: TablesLease, source: NodeSource) -> None:
        self._lease = lease
        self._source = source
        self._field = '/'.join(source.column) or None
        self.shape = (source.length, *cast(tuple[int, ...], source.shape))
        self.dtype = source.dtype

    def __getitem__(self, places: Any) -> Any:
        """Return the rows of an integer, a slice of step 1, or an array in increasing order."""
        with self._lease.reading() as h5file:
            node = _node(h5file, self._source)
            if isinstance(places, int):
                return self._rows(node, places, places + 1)[0]
            if isinstance(places, slice):
                return self._rows(node, places.start, places.stop)
            if self._source.kind == 'table':
                return self._array(node.read_coordinates(places, field=self._field), len(places))
            # Lists of places are taken for points, or one place at a time, by PyTables.
            rows: AnyArray = numpy.empty((len(places), *self.shape[1:]), dtype=self.dtype)
            ends = numpy.flatnonzero(numpy.diff(places) != 1) + 1
            first = 0
            for last in (*ends.tolist(), len(places)):
                rows[first:last] = self._rows(node, int(places[first]), int(places[last - 1]) + 1)
                first = last
            return rows

    def _rows(self, node: Any, start: int, stop: int) -> AnyArray:
        if self._source.kind == 'table':
            rows = node.read(start, stop, field=self._field)
        else:
            rows = node[start:stop]    # read would count along the axis that can grow
        return self._array(rows, stop - start)

    def _array(self, rows: Any, count: int) -> AnyArray:
        # A node may be marked to be read as lists.
        return numpy.ascontiguousarray(rows, dtype=self.dtype).reshape(count, *self.shape[1:])


class VariableRows:
    """Reads rows of variable length, and those that are objects or text, through PyTables.

    Parameters
    ----------
    lease : TablesLease
        The file.
    source : NodeSource
        A VLArray.
    reason : str
        Why it is not read in a faster way.
    """

    way = 'library'

    def __init__(self, lease: TablesLease, source: NodeSource, reason: str) -> None:
        self.reason = reason
        self._lease = lease
        self._source = source

    def read(self, positions: Positions) -> Any:
        """Return one row for an integer, otherwise a one-dimensional array of objects."""
        with self._lease.reading() as h5file:
            node = _node(h5file, self._source)
            if isinstance(positions, int):
                return self._row(node.read(positions, positions + 1)[0])
            if isinstance(positions, slice):
                rows = node.read(positions.start, positions.stop, positions.step)
            else:
                rows = [node.read(place, place + 1)[0] for place in positions.tolist()]
            return objects([self._row(row) for row in rows])

    def _row(self, row: Any) -> Any:
        if self._source.row is None:
            return row
        shape = self._source.row.shape
        return numpy.ascontiguousarray(row, dtype=self._source.dtype).reshape(-1, *shape)


def fast_reader(opened: OpenFile, source: NodeSource) -> RowReader:
    """Return what reads the rows of a source by their bytes.

    Parameters
    ----------
    opened : OpenFile
        The file.
    source : NodeSource
        What to read.

    Raises
    ------
    LookupError
        Only PyTables can read them; the message says why.
    """
    if source.row is None:
        raise LookupError('its rows are objects or text that PyTables has packed')
    dataset = opened.file[source.path]
    _check_length(opened.path, source, len(dataset))
    if source.kind == 'vlarray':
        return _ragged(dataset, opened, source)
    stored = stored_dtype(dataset.id.get_type())
    wanted = _field(source.row, source.column)
    found = None if stored is None else _field(stored, source.column)
    if stored is None or found is None or found.newbyteorder('=') != wanted:
        raise LookupError(f'its values are not stored in the form of {wanted}')
    return StoredRows(fixed_rows(dataset, opened, _raw(dataset, stored)), stored, source)


def _ragged(dataset: h5py.Dataset, opened: OpenFile, source: NodeSource) -> RowReader:
    """Return what reads rows of variable length where they lie in the file."""
    stored = dataset.id.get_type()
    values = stored_dtype(stored.get_super()) if isinstance(stored, h5py.h5t.TypeVlenID) else None
    if values is not None and values.shape:
        raise LookupError('its values have a shape of their own')
    if values is None or values != source.row:
        raise LookupError(f'its rows are not stored as arrays of {source.row}')
    return HeapRows(dataset, None, opened)


def _field(dtype: numpy.dtype[Any], column: tuple[str, ...]) -> numpy.dtype[Any] | None:
    """Return the dtype of a column; `None` if there is none."""
    for name in column:
        if name not in (dtype.base.names or ()):
            return None
        dtype = dtype.base[name]
    return dtype


def _raw(dataset: h5py.Dataset, stored: numpy.dtype[Any]) -> numpy.dtype[Any]:
    """Return the dtype to read the bytes as."""
    if not stored.shape:
        with suppress(TypeError):
            raw: numpy.dtype[Any] = dataset.dtype
            if not raw.hasobject:
                return raw              # h5py knows what stands for values never written
    # Axes that belong to the dtype are made when the bytes are there.
    return numpy.dtype(f'V{stored.itemsize}')


class StoredRows:
    """Takes the source out of rows read by their bytes.

    Parameters
    ----------
    rows : RowReader
        Reads the rows as they are stored.
    stored : numpy.dtype
        What their bytes are.
    source : NodeSource
        What is wanted of them.
    """

    def __init__(self, rows: RowReader, stored: numpy.dtype[Any], source: NodeSource) -> None:
        self._rows = rows
        self._stored = stored.base
        self._column = source.column
        self._dtype = source.dtype
        self._shape = cast(tuple[int, ...], source.shape)
        self.way = rows.way
        self.reason = rows.reason

    def read(self, positions: Positions) -> Any:
        """Return the rows at the given positions; see `RowReader.read`."""
        if isinstance(positions, int):
            return self._taken(self._rows.read(slice(positions, positions + 1, 1)))[0]
        return self._taken(self._rows.read(positions))

    def _taken(self, rows: Any) -> AnyArray:
        count = len(rows)
        rows = rows.view(self._stored)
        for name in self._column:
            rows = rows[name]
        taken: AnyArray = numpy.ascontiguousarray(rows, dtype=self._dtype)
        return taken.reshape(count, *self._shape)
