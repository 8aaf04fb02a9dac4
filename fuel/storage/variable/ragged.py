"""Sources of variable length, of both layouts; see `fuel.storage.variable.scales`."""
from __future__ import annotations

import h5py

from fuel.storage.handles import OpenFile
from fuel.storage.memory import keep_freed_memory
from fuel.storage.readers.rows import RowReader
from fuel.storage.variable.flat import FlatRows
from fuel.storage.variable.scales import (
    axis_labels,
    checked_shapes,
    has_own_shapes,
    has_shapes,
    num_examples,
    shape_labels,
    variable_layout,
)
from fuel.storage.variable.vlen import RaggedRows, objects, vlen_rows

__all__ = ['RaggedRows', 'axis_labels', 'checked_shapes', 'has_own_shapes', 'has_shapes',
           'num_examples', 'objects', 'shape_labels', 'variable_rows', 'variable_shape']


def variable_rows(dataset: h5py.Dataset, opened: OpenFile) -> RowReader | None:
    """Return what reads a source of variable length; `None` for other sources.

    Parameters
    ----------
    dataset : h5py.Dataset
        At least one axis.
    opened : OpenFile
        The file that it is in.

    Returns
    -------
    RowReader or None
        It gives one array for an integer, and otherwise a one-dimensional array of arrays, also
        if they have all the same shape.

    Raises
    ------
    DataLayoutError
        Data of variable length have more than one axis, or their scales do not fit.
        A ``ValueError``.
    """
    found = variable_layout(dataset)
    if found is None:
        return None
    keep_freed_memory()
    if found.offsets is None:
        return vlen_rows(dataset, found.shapes, opened)
    return FlatRows(dataset, found.offsets, found.shapes, opened)


def variable_shape(dataset: h5py.Dataset) -> tuple[None, ...] | None:
    """Return a `None` for each axis of an example; `None` for sources of one shape.

    Raises
    ------
    DataLayoutError
        As for `variable_rows`.
    """
    found = variable_layout(dataset)
    return None if found is None else (None,) * found.axes
