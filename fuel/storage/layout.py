"""What stands in the root group of a file: its sources, their axis labels, their readers."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import h5py
import numpy

from fuel.exceptions import DataLayoutError
from fuel.storage.damage import naming
from fuel.storage.handles import OpenFile
from fuel.storage.readers.reading import fixed_rows
from fuel.storage.readers.rows import RowReader
from fuel.storage.splits import get_all_sources
from fuel.storage.variable import scales
from fuel.storage.variable.ragged import variable_rows, variable_shape

__all__ = ['example_dtype', 'example_shape', 'get_axis_labels', 'get_vlen_sources',
           'num_examples', 'ragged_kind', 'row_reader', 'source_dataset']


def source_dataset(h5file: h5py.File, source: str) -> h5py.Dataset:
    """Return the data set of a source.

    Raises
    ------
    DataLayoutError
        There is none of this name, or it has no axis of examples. A ``ValueError``.
    """
    found = h5file.get(source)
    if not isinstance(found, h5py.Dataset):
        there = ', '.join(repr(name) for name, entry in h5file.items()
                          if isinstance(entry, h5py.Dataset)) or 'none'
        raise DataLayoutError(
            f'{h5file.filename}: the split attribute names the source {source!r}, but there is no '
            f'data set of this name in the root group; those that are there: {there}')
    if not found.ndim:
        raise DataLayoutError(f'{h5file.filename}: expected source {source!r} to have an axis for '
                              'the examples; got a single value')
    return found


def row_reader(opened: OpenFile, source: str) -> RowReader:
    """Return what reads the rows of a source.

    Raises
    ------
    DataLayoutError
        The data set or its scales are not as they must be. A ``ValueError``.
    DataFileError
        The file is damaged. An ``OSError``.
    """
    with naming(opened.path, source):
        dataset = source_dataset(opened.file, source)
        return variable_rows(dataset, opened) or fixed_rows(dataset, opened)


def num_examples(h5file: h5py.File, source: str) -> int:
    """Return how many examples a source has."""
    return scales.num_examples(source_dataset(h5file, source))


def ragged_kind(dataset: h5py.Dataset) -> str:
    """Return ``'vlen'`` or ``'ragged'`` for data of variable length, else an empty string."""
    found = scales.variable_layout(dataset)
    return '' if found is None else 'vlen' if found.offsets is None else 'ragged'


def example_shape(h5file: h5py.File, source: str) -> tuple[int | None, ...]:
    """Return the shape of one example, with `None` for axes of variable length."""
    dataset = source_dataset(h5file, source)
    ragged = variable_shape(dataset)
    return tuple(dataset.shape[1:]) if ragged is None else ragged


def example_dtype(h5file: h5py.File, source: str) -> Any:
    """Return the dtype of the values of one example; objects for strings of any length."""
    dtype = source_dataset(h5file, source).dtype
    values = h5py.check_vlen_dtype(dtype)
    # Strings too are of variable length to HDF5, which names the class str or bytes for them.
    return values if isinstance(values, numpy.dtype) else dtype


def _present(h5file: h5py.File, sources: Iterable[str] | None) -> dict[str, h5py.Dataset]:
    """Return the data sets of those sources that have one."""
    found = {name: h5file.get(name)
             for name in (get_all_sources(h5file) if sources is None else sources)}
    return {name: dataset for name, dataset in found.items() if isinstance(dataset, h5py.Dataset)}


def get_vlen_sources(h5file: h5py.File, sources: Iterable[str] | None = None) -> tuple[str, ...]:
    """Return the names of the sources whose examples have shapes of their own."""
    return tuple(name for name, dataset in _present(h5file, sources).items()
                 if scales.has_own_shapes(dataset))


def get_axis_labels(h5file: h5py.File, sources: Iterable[str] | None = None
                    ) -> dict[str, tuple[str, ...] | None]:
    """Read the axis labels of all sources of a file.

    Parameters
    ----------
    h5file : h5py.File
        The file, open.
    sources : iterable of str, optional
        By default all that the split attribute names.

    Returns
    -------
    dict
        Maps sources to a tuple with a label for each axis, which is empty where none is set. For
        data of variable length these are the axes that batches of examples have, and `None` if
        the file does not tell them.
    """
    return {name: scales.axis_labels(dataset)
            for name, dataset in _present(h5file, sources).items()}
