"""What stands in a file of PyTables under a name: an array, a ragged array, a table, a column."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy

from fuel.exceptions import DataLayoutError

__all__ = ['NodeSource', 'find_source']

# A chain of more links than this is taken for a circle.
_MOST_LINKS = 64
# Messages give the names of that many nodes or columns.
_NAMED = 10


@dataclass(frozen=True)
class NodeSource:
    """A source, as the file describes it.

    Attributes
    ----------
    path : str
        The path of the node.
    column : tuple of str
        The column of a table, with the columns it is nested in; empty otherwise.
    kind : str
        ``'array'``, ``'table'`` or ``'vlarray'``.
    length : int
        The number of examples.
    shape : tuple of int or None
        The shape of an example; `None` for the axis that varies.
    dtype : numpy.dtype
        The dtype of what an example consists of, in the byte order of the machine.
    row : numpy.dtype or None
        The dtype of what is stored; it may have a shape, and fields. `None` for rows that only
        PyTables understands.
    """

    path: str
    column: tuple[str, ...]
    kind: str
    length: int
    shape: tuple[int | None, ...]
    dtype: numpy.dtype[Any]
    row: numpy.dtype[Any] | None


def find_source(h5file: Any, data_node: str, name: str) -> NodeSource:
    """Find out what a source is.

    Parameters
    ----------
    h5file : tables.File
        The file, open.
    data_node : str
        The path of the group that the name is looked for in.
    name : str
        The name of a node, or a path to it from there. A path may go on behind a table, to a
        column, and into nested columns.

    Returns
    -------
    NodeSource

    Raises
    ------
    DataLayoutError
        There is no such node, or it is none that has examples. A ``ValueError``.
    """
    import tables
    where = f'{h5file.filename}: source {name!r}'
    node, column = _walk(h5file, f'{data_node}/{name}', where)
    path = node._v_pathname
    if isinstance(node, tables.Table):
        dtype, shape = _column(node.dtype, column, f'{where}, table {path!r}')
        return NodeSource(path, column, 'table', int(node.nrows), shape, dtype, node.dtype)
    if isinstance(node, tables.VLArray):
        row = None if isinstance(node.atom, tables.atom.PseudoAtom) else node.atom.dtype
        if row is None:
            return NodeSource(path, (), 'vlarray', int(node.nrows), (), numpy.dtype(object), None)
        return NodeSource(path, (), 'vlarray', int(node.nrows), (None, *row.shape), row.base, row)
    if isinstance(node, tables.Array):
        if not node.shape:
            raise DataLayoutError(f'{where}: expected an axis for the examples; {path!r} is a '
                                  'single value')
        # The axis that can grow need not be the first one, which is that of the examples.
        length, *shape_ = map(int, node.shape)
        row = node.atom.dtype
        return NodeSource(path, (), 'array', length, (*shape_, *row.shape), row.base, row)
    if isinstance(node, tables.Group):
        raise DataLayoutError(f'{where}: {path!r} is a group; expected the name of an array or '
                              f'table, such as one of those in it: {_children(node)}')
    raise DataLayoutError(
        f'{where}: PyTables cannot read {path!r} ({type(node).__name__}). If the file was written '
        'with h5py, give it a split attribute and read it with H5PYDataset')


def _walk(h5file: Any, path: str, where: str) -> tuple[Any, tuple[str, ...]]:
    """Follow a path to a node, and to a column in it."""
    import tables
    node = h5file.root
    parts = [part for part in path.split('/') if part]
    for place, part in enumerate(parts):
        if isinstance(node, tables.Table):
            return node, tuple(parts[place:])
        if not isinstance(node, tables.Group):
            raise DataLayoutError(f'{where}: expected {node._v_pathname!r} to be a group or a '
                                  f'table, for it is followed by {part!r}; it is a '
                                  f'{type(node).__name__}')
        if part not in node._v_children:
            raise DataLayoutError(f'{where}: there is no node {part!r} in {node._v_pathname!r}; '
                                  f'those that are there: {_children(node)}')
        node = _followed(node._f_get_child(part), where)
    return node, ()


def _followed(node: Any, where: str) -> Any:
    """Return the node that a link leads to."""
    import tables
    links = 0
    while isinstance(node, tables.link.Link):
        link = f'{where}: the link {node._v_pathname!r} leads to {node.target!r}'
        if not isinstance(node, tables.link.SoftLink):
            raise DataLayoutError(f'{link}, in another file; give the path of that file')
        links += 1
        if links > _MOST_LINKS:
            raise DataLayoutError(f'{link}, which leads in a circle')
        try:
            node = node.dereference()
        except tables.NoSuchNodeError:
            raise DataLayoutError(f'{link}, which is not there') from None
    return node


def _children(group: Any) -> str:
    return _some(sorted(group._v_children))


def _some(names: Sequence[str]) -> str:
    """Name the first of several, and say how many there are beside them."""
    more = len(names) - _NAMED
    named = ', '.join(map(repr, names[:_NAMED])) or 'none'
    return f'{named} and {more} more' if more > 0 else named


def _column(dtype: numpy.dtype[Any], column: tuple[str, ...], where: str
            ) -> tuple[numpy.dtype[Any], tuple[int, ...]]:
    """Return the dtype of a column of a table, and the shape of a cell."""
    shape: tuple[int, ...] = ()
    for name in column:
        if name not in (dtype.names or ()):
            raise DataLayoutError(f'{where}: there is no column {name!r}; those that are there: '
                                  f'{_some(dtype.names or ())}')
        field = dtype[name]
        dtype, shape = field.base, (*shape, *field.shape)
    return dtype, shape
