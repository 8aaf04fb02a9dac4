"""The rows of a source as the HDF5 library gives them, a few at a time."""
from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy

from fuel.storage.writing.given import with_shapes

__all__ = ['blocks_of', 'rows_of']

_BLOCK_BYTES = 4 << 20
_OBJECT_ROWS = 64


def rows_of(dataset: Any) -> tuple[Any, int]:
    """Return what gives rows for a slice, and how many there are at a time.

    Parameters
    ----------
    dataset : h5py.Dataset
        The source.

    Returns
    -------
    rows : object
        Has ``shape``, and gives an array for a slice, or a list of examples that have shapes of
        their own.
    step : int
        How many rows to ask for, to have a few megabytes.
    """
    rows = with_shapes(dataset)
    if rows is dataset and not dataset.dtype.hasobject:
        row_bytes = max(1, math.prod(dataset.shape[1:]) * dataset.dtype.itemsize)
        return rows, max(1, _BLOCK_BYTES // row_bytes)
    values = getattr(rows, 'num_values', None)
    if values is not None and len(rows.shape) and rows.shape[0]:
        mean = max(1, values * numpy.dtype(dataset.dtype).itemsize // rows.shape[0])
        return rows, max(1, min(4096, _BLOCK_BYTES // mean))
    return rows, _OBJECT_ROWS


def blocks_of(dataset: Any) -> Iterator[tuple[int, Any]]:
    """Yield the first row and the rows of a source, some at a time."""
    rows, step = rows_of(dataset)
    for start in range(0, rows.shape[0], step):
        yield start, rows[start:min(rows.shape[0], start + step)]
