"""Sources of variable length: flat arrays in the file, with the shapes they had beside them.

HDF5 stores one-dimensional arrays of different lengths. A dimension scale named ``shapes``, which
is attached to the first axis, holds the shape of every example; one named ``shape_labels`` holds
the names of the axes of an example.
"""
from __future__ import annotations

from typing import Any

import h5py
import numpy

from fuel._types import AnyArray
from fuel.exceptions import DataLayoutError
from fuel.storage.rows import LibraryRows
from fuel.utils.indices import Positions

__all__ = ['RaggedRows', 'checked_shapes', 'has_shapes', 'objects', 'shape_labels']

_SHAPES, _LABELS = 'shapes', 'shape_labels'


def _scale(dataset: h5py.Dataset, name: str) -> h5py.Dataset | None:
    """Return the scale of a given name that is attached to the first axis."""
    if dataset.ndim:
        for key, scale in dataset.dims[0].items():
            if key == name:
                return scale
    return None


def has_shapes(dataset: h5py.Dataset) -> bool:
    """Return whether a data set is a source of variable length with shapes."""
    return _scale(dataset, _SHAPES) is not None


def shape_labels(dataset: h5py.Dataset) -> tuple[str, ...] | None:
    """Return the labels of the axes of an example; `None` if they are not in the file."""
    scale = _scale(dataset, _LABELS)
    if scale is None:
        return None
    return tuple(label.decode('utf-8', 'replace') if isinstance(label, bytes) else str(label)
                 for label in scale[...].reshape(-1))


def checked_shapes(dataset: h5py.Dataset) -> h5py.Dataset | None:
    """Return the data set that holds the shapes of the examples; `None` if there is none.

    Raises
    ------
    DataLayoutError
        Data of variable length has more than one axis, or its shapes do not fit.
        A ``ValueError``.
    """
    shapes = _scale(dataset, _SHAPES)
    where = f'{dataset.file.filename}: source {dataset.name.lstrip("/")!r}'
    if shapes is None and h5py.check_vlen_dtype(dataset.dtype) is None:
        return None
    if dataset.ndim != 1:
        raise DataLayoutError(
            f'{where}: expected data of variable length to have a single axis, that of the '
            f'examples; got the shape {dataset.shape}. Flatten each example and keep its shape '
            "in a dimension scale named 'shapes'")
    if shapes is None:
        return None
    if h5py.check_vlen_dtype(dataset.dtype) is None:
        raise DataLayoutError(f"{where}: expected data of variable length, for a scale named "
                              f"'shapes' is attached to it; got {dataset.dtype}")
    if shapes.ndim != 2 or shapes.dtype.kind not in 'iu':
        raise DataLayoutError(
            f"{where}: expected the scale 'shapes' to hold integers in two axes, one row for "
            f'each example; got {shapes.dtype} of shape {shapes.shape}')
    if len(shapes) < len(dataset):
        raise DataLayoutError(
            f"{where}: the scale 'shapes' is shorter than the data: expected {len(dataset)} "
            f'rows, one for each example; got {len(shapes)}')
    return shapes


def objects(values: list[Any]) -> AnyArray:
    """Return a one-dimensional array of objects, whatever their lengths are."""
    array = numpy.empty(len(values), dtype=object)
    for position, value in enumerate(values):
        array[position] = value
    return array


class RaggedRows:
    """Reads examples of variable length and gives them back their shapes.

    Parameters
    ----------
    dataset : h5py.Dataset
        The flat data.
    shapes : h5py.Dataset, shape (n, axes)
        The shape of each example.
    """

    def __init__(self, dataset: h5py.Dataset, shapes: h5py.Dataset) -> None:
        self._rows = LibraryRows(dataset)
        self._shapes = LibraryRows(shapes)
        self._where = f'{dataset.file.filename}: source {dataset.name.lstrip("/")!r}'

    def read(self, positions: Positions) -> Any:
        """Return one array for an integer, otherwise a one-dimensional array of arrays."""
        flat = self._rows.read(positions)
        shapes = self._shapes.read(positions)
        if isinstance(positions, int):
            return self._shaped(flat, shapes.tolist(), positions)
        numbers = (range(positions.start, positions.stop, positions.step)
                   if isinstance(positions, slice) else positions)
        return objects([self._shaped(values, shape, number) for values, shape, number
                        in zip(flat, shapes.tolist(), numbers, strict=True)])

    def _shaped(self, values: AnyArray, shape: list[int], number: int) -> AnyArray:
        try:
            return values.reshape(shape)
        except ValueError:
            raise DataLayoutError(
                f'{self._where}: example {number} has {values.size} values, which do not fill '
                f'the shape {tuple(shape)} that is stored for it') from None
