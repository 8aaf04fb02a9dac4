"""The dimension scales that are attached to a data set, read without HDF5's functions for them.

The form is that of the HDF5 Dimension Scale Specification: the attribute ``DIMENSION_LIST`` of the
data set has, for each of its axes, a list of references to scales; a scale is a data set with the
attribute ``CLASS``, which says ``DIMENSION_SCALE``, and perhaps with the attribute ``NAME``. HDF5's
own functions end the process where such an attribute of a damaged file has another form.
"""
from __future__ import annotations

from typing import Any

import h5py
import numpy
from h5py import h5a, h5d, h5r, h5t

from fuel.exceptions import DataLayoutError

__all__ = ['attached_scales', 'place_of']

_LIST, _CLASS, _NAME = b'DIMENSION_LIST', b'CLASS', b'NAME'
_IS_SCALE = b'DIMENSION_SCALE'
_LISTS = h5py.vlen_dtype(h5py.ref_dtype)
# What h5py raises for what it cannot read.
_PROBLEMS = (OSError, RuntimeError, KeyError, TypeError, ValueError)


def place_of(dataset: h5py.Dataset) -> str:
    """Name a source and its file, for messages."""
    return f'{dataset.file.filename}: source {dataset.name.lstrip("/")!r}'


def attached_scales(dataset: h5py.Dataset, *names: str, most: int = 9) -> dict[str, h5py.Dataset]:
    """Return scales that are attached to the first axis of a data set.

    Parameters
    ----------
    dataset : h5py.Dataset
        The data set.
    *names : str
        Of the scales.
    most : int, optional
        Where so many of them are found, others are not looked for.

    Returns
    -------
    dict
        Maps those names to scales that there are; to the first one if several have the same.

    Raises
    ------
    DataLayoutError
        The attribute is not of the form described, or refers to something that is no scale. A
        ``ValueError``.
    """
    found: dict[str, h5py.Dataset] = {}
    if not h5a.exists(dataset.id, _LIST):
        return found
    most = min(most, len(names))
    for reference in _references(dataset):
        try:
            scale = h5r.dereference(reference, dataset.id) if reference else None
            name = _text(scale, _NAME).decode('utf-8', 'replace')
            if name in names and name not in found:
                if not isinstance(scale, h5d.DatasetID) or _text(scale, _CLASS) != _IS_SCALE:
                    raise _damaged(dataset, 'got a reference to something that is no scale')
                found[name] = h5py.Dataset(scale)
                if len(found) == most:
                    break
        except DataLayoutError:
            raise
        except _PROBLEMS as error:
            raise _damaged(dataset, f'one of them cannot be read: {error}') from error
    return found


def _references(dataset: h5py.Dataset) -> list[Any]:
    """Return the references to the scales of the first axis."""
    try:
        attribute = h5a.open(dataset.id, _LIST)
        kind, shape = attribute.get_type(), attribute.shape
        if shape != (dataset.id.rank,) or not isinstance(kind, h5t.TypeVlenID) or (
                kind.get_super() != h5t.STD_REF_OBJ):
            raise _damaged(dataset, f'got {attribute.dtype} of shape {shape}')
        lists = numpy.empty(shape, _LISTS)
        attribute.read(lists)
        return lists[0].tolist() if lists.size else []
    except DataLayoutError:
        raise
    except _PROBLEMS as error:
        raise _damaged(dataset, f'it cannot be read: {error}') from error


def _text(scale: Any, name: bytes) -> bytes:
    """Return an attribute that is a string; empty if it is none, or not there."""
    try:
        attribute = h5a.open(scale, name)
    except KeyError:
        return b''
    kind = attribute.get_type()
    if not isinstance(kind, h5t.TypeStringID):
        return b''
    size = kind.get_size()
    if attribute.get_storage_size() == size and not kind.is_variable_str():
        stored = numpy.empty(attribute.shape, (bytes, size))
        attribute.read(stored, kind)
        return stored.tobytes().split(b'\0')[0].rstrip()
    value = numpy.asarray(h5py.Dataset(scale).attrs[name.decode()], dtype=object).reshape(-1)
    text = value[0] if value.size == 1 else b''
    return text.encode() if isinstance(text, str) else bytes(text)


def _damaged(dataset: h5py.Dataset, problem: str) -> DataLayoutError:
    return DataLayoutError(
        f"{place_of(dataset)}: expected the attribute 'DIMENSION_LIST' to have a list of "
        f'references to dimension scales for each axis, of which there are {dataset.ndim}; '
        f'{problem}. The file may be damaged')
