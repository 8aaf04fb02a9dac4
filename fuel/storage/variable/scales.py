"""How a file says that a source is of variable length.

There are two layouts. In the *vlen* layout the data set has an array of its own for each example,
which HDF5 keeps in a heap. In the *ragged* layout it has the values of all examples, one after
another; a dimension scale named ``offsets``, which is attached to its axis, tells where each of
them begins, and has one entry more, where the last one ends. In both, a scale ``shapes`` holds the
shape of every example, and ``shape_labels`` the names of its axes.
"""
from __future__ import annotations

from dataclasses import dataclass

import h5py
import numpy

from fuel.exceptions import DataLayoutError
from fuel.storage.variable.attached import attached_scales, place_of

__all__ = ['VariableLayout', 'axis_labels', 'checked_shapes', 'has_own_shapes', 'has_shapes',
           'num_examples', 'place_of', 'shape_labels', 'variable_layout']

_SHAPES, _LABELS, _OFFSETS = 'shapes', 'shape_labels', 'offsets'
_MAX_AXES = 64      # of an array in numpy


@dataclass(frozen=True, slots=True)
class VariableLayout:
    """The data sets that belong to a source of variable length.

    Parameters
    ----------
    offsets : h5py.Dataset or None
        Where each example begins in the values, and where the last one ends; `None` in the vlen
        layout.
    shapes : h5py.Dataset or None
        The shape of each example; `None` if they have one axis.
    """

    offsets: h5py.Dataset | None
    shapes: h5py.Dataset | None

    @property
    def axes(self) -> int:
        """The number of axes of an example."""
        return 1 if self.shapes is None else int(self.shapes.shape[1])


def _holds_arrays(dataset: h5py.Dataset) -> bool:
    """Return whether values are arrays of variable length; strings are none."""
    return isinstance(h5py.check_vlen_dtype(dataset.dtype), numpy.dtype)


def has_shapes(dataset: h5py.Dataset) -> bool:
    """Return whether a scale with the shapes of examples is attached to a data set."""
    return bool(attached_scales(dataset, _SHAPES))


def has_own_shapes(dataset: h5py.Dataset) -> bool:
    """Return whether the examples of a source have shapes of their own.

    Those of the vlen layout without shapes are excepted, about which the file tells nothing.
    """
    return bool(attached_scales(dataset, _SHAPES, _OFFSETS, most=1))


def num_examples(dataset: h5py.Dataset) -> int:
    """Return the number of examples of a source, which in the ragged layout is not its length.

    Raises
    ------
    DataLayoutError
        The offsets are not as they must be. A ``ValueError``.
    """
    # Arrays of variable length have no offsets; to find that out would take longer.
    is_vlen = dataset.id.get_type().get_class() == h5py.h5t.VLEN
    offsets = None if is_vlen else attached_scales(dataset, _OFFSETS).get(_OFFSETS)
    if offsets is None:
        return len(dataset)
    _check_offsets(dataset, offsets)
    return len(offsets) - 1


def shape_labels(dataset: h5py.Dataset) -> tuple[str, ...] | None:
    """Return the labels of the axes of an example; `None` if they are not in the file."""
    scale = attached_scales(dataset, _LABELS).get(_LABELS)
    return None if scale is None else _strings(scale)


def _strings(scale: h5py.Dataset) -> tuple[str, ...]:
    return tuple(label.decode('utf-8', 'replace') if isinstance(label, bytes) else str(label)
                 for label in scale[...].reshape(-1))


def _stored_labels(dataset: h5py.Dataset) -> tuple[str, ...]:
    """Return the label of each axis of a data set, empty where none is set.

    They are read from where HDF5's dimension scales keep them. HDF5's own function for that ends
    the process where a file is damaged.
    """
    stored = dataset.attrs.get('DIMENSION_LABELS')
    labels = [] if stored is None else numpy.asarray(stored, dtype=object).reshape(-1).tolist()
    if len(labels) > dataset.ndim:
        raise DataLayoutError(f'{place_of(dataset)}: expected labels for {dataset.ndim} axes; got '
                              f'{len(labels)}')
    labels += [''] * (dataset.ndim - len(labels))
    return tuple(label.decode('utf-8', 'replace') if isinstance(label, bytes) else str(label)
                 for label in labels)


def axis_labels(dataset: h5py.Dataset) -> tuple[str, ...] | None:
    """Return the labels of the axes that batches of examples have.

    Returns
    -------
    tuple of str or None
        Empty labels where none is set. `None` if examples have shapes of their own, and the file
        does not tell how their axes are called.
    """
    stored = _stored_labels(dataset)
    found = attached_scales(dataset, _SHAPES, _OFFSETS, _LABELS)
    if found.keys() <= {_LABELS}:
        return stored
    if _LABELS in found:
        return (*stored[:1], *_strings(found[_LABELS]))
    return None if _SHAPES in found else stored[:1]


def variable_layout(dataset: h5py.Dataset) -> VariableLayout | None:
    """Return what belongs to a source of variable length; `None` for other sources.

    Raises
    ------
    DataLayoutError
        Data of variable length have more than one axis, or their scales do not fit.
        A ``ValueError``.
    """
    found = attached_scales(dataset, _OFFSETS, _SHAPES)
    offsets, shapes = found.get(_OFFSETS), found.get(_SHAPES)
    if offsets is None:
        shapes = _checked_shapes(dataset, shapes)
        if shapes is None and not _holds_arrays(dataset):
            return None
        return VariableLayout(None, shapes)
    if _holds_arrays(dataset):
        raise DataLayoutError(
            f"{place_of(dataset)}: expected values of one size, for a scale named 'offsets' is "
            f'attached to them; got arrays of variable length, {dataset.dtype}')
    _check_offsets(dataset, offsets)
    if shapes is not None:
        _check_shapes(dataset, shapes, len(offsets) - 1)
    return VariableLayout(offsets, shapes)


def _check_offsets(dataset: h5py.Dataset, offsets: h5py.Dataset) -> None:
    """Check what can be told of offsets without reading them all."""
    where = place_of(dataset)
    if dataset.ndim != 1:
        raise DataLayoutError(
            f"{where}: expected values with a single axis, for a scale named 'offsets' is attached "
            f'to them; got the shape {dataset.shape}. Flatten each example and keep its shape in '
            "a dimension scale named 'shapes'")
    if offsets.ndim != 1 or offsets.dtype.kind not in 'iu' or not len(offsets):
        raise DataLayoutError(
            f"{where}: expected the scale 'offsets' to hold integers in a single axis, one more "
            f'than there are examples; got {offsets.dtype} of shape {offsets.shape}')
    first, last = int(offsets[0]), int(offsets[-1])
    if first != 0 or last != len(dataset):
        raise DataLayoutError(
            f"{where}: expected the scale 'offsets' to begin with 0 and to end with "
            f'{len(dataset)}, the number of values; got {first} and {last}. Was the file cut, or '
            'are the offsets those of other data?')


def checked_shapes(dataset: h5py.Dataset) -> h5py.Dataset | None:
    """Return the data set with the shapes of examples in the vlen layout; `None` if there is none.

    Raises
    ------
    DataLayoutError
        Data of variable length have more than one axis, or their shapes do not fit.
        A ``ValueError``.
    """
    return _checked_shapes(dataset, attached_scales(dataset, _SHAPES).get(_SHAPES))


def _checked_shapes(dataset: h5py.Dataset, shapes: h5py.Dataset | None) -> h5py.Dataset | None:
    where = place_of(dataset)
    if shapes is None and not _holds_arrays(dataset):
        return None
    if dataset.ndim != 1:
        raise DataLayoutError(
            f'{where}: expected data of variable length to have a single axis, that of the '
            f'examples; got the shape {dataset.shape}. Flatten each example and keep its shape '
            "in a dimension scale named 'shapes'")
    if shapes is None:
        return None
    if not _holds_arrays(dataset):
        raise DataLayoutError(f"{where}: expected data of variable length, for a scale named "
                              f"'shapes' is attached to it; got {dataset.dtype}")
    _check_shapes(dataset, shapes, len(dataset))
    return shapes


def _check_shapes(dataset: h5py.Dataset, shapes: h5py.Dataset, examples: int) -> None:
    """Check that there is a shape for each example."""
    if shapes.ndim != 2 or shapes.dtype.kind not in 'iu' or shapes.shape[1] > _MAX_AXES:
        raise DataLayoutError(
            f"{place_of(dataset)}: expected the scale 'shapes' to hold integers in two axes, one "
            f'row for each example; got {shapes.dtype} of shape {shapes.shape}')
    if len(shapes) < examples:
        raise DataLayoutError(
            f"{place_of(dataset)}: the scale 'shapes' is shorter than the data: expected "
            f'{examples} rows, one for each example; got {len(shapes)}')
