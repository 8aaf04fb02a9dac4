"""What a layout is, and the values that are written in it."""
from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import h5py
import numpy

# Rows, and their shape: odd numbers, so that no chunk shape fits by accident.
SHAPE = (37, 3, 5)


@dataclass(frozen=True)
class Layout:
    """A way for a data set to stand in a file.

    Attributes
    ----------
    write : callable
        Makes the data set 'x' in an open file and returns the rows that it must have.
    way : str or None
        How it is to be read: 'mapped', 'decoded' or 'library'; `None` if that is left open.
    file : mapping
        How to open the file for writing.
    """

    write: Callable[[h5py.File], Any]
    way: str | None
    file: Mapping[str, Any] = field(default_factory=dict)


def values(shape=SHAPE, dtype='int32', seed=0):
    """Return numbers of any dtype that use all of its bytes, without NaN."""
    dtype = numpy.dtype(dtype)
    rng = numpy.random.default_rng(seed)
    if dtype.subdtype is not None:
        return values((*shape, *dtype.shape), dtype.base, seed)
    if dtype.names:
        rows = numpy.zeros(shape, dtype)
        for place, name in enumerate(dtype.names):
            rows[name] = values(shape, dtype[name], seed + place)
        return rows
    if dtype.kind == 'b':
        return rng.integers(0, 2, shape).astype(dtype)
    if dtype.kind in 'iu':
        limits = numpy.iinfo(dtype)
        return rng.integers(limits.min, limits.max, shape, endpoint=True,
                            dtype=dtype.newbyteorder('=')).astype(dtype)
    if dtype.kind == 'f':
        return rng.normal(scale=50, size=shape).astype(dtype)
    if dtype.kind == 'c':
        return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(dtype)
    if dtype.kind in 'SV':
        count = int(numpy.prod(shape, dtype=int))
        letters = rng.integers(ord('a'), ord('z') + 1, count * dtype.itemsize, dtype='uint8')
        return letters.view(dtype).reshape(shape)
    if dtype.kind in 'mM':
        return rng.integers(0, 2 ** 50, shape).astype('int64').view(dtype)
    raise TypeError(f'no values for {dtype}')


def stored(shape=SHAPE, dtype='int32', **kwargs):
    """Return what writes values with h5py's own call."""
    def write(h5file):
        rows = values(shape, dtype)
        h5file.create_dataset('x', data=rows, **kwargs)
        return rows
    return write


def created(h5file, rows, chunks=None, dtype=None, maxshape=None, edit=None, file_type=None,
            write=True):
    """Make the data set 'x' with calls of the C library, and write rows; return it.

    Parameters
    ----------
    edit : callable, optional
        Is given the creation properties.
    file_type : h5py.h5t.TypeID, optional
        The type in the file, where it is not that of the rows.
    write : bool, optional
        Whether to write the rows.
    """
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    if chunks is not None:
        properties.set_chunk(chunks)
    if edit is not None:
        edit(properties)
    unlimited = h5py.h5s.UNLIMITED
    space = h5py.h5s.create_simple(
        rows.shape, None if maxshape is None else tuple(
            unlimited if axis is None else axis for axis in maxshape))
    kind = file_type or h5py.h5t.py_create(numpy.dtype(dtype or rows.dtype), logical=True)
    dataset = h5py.Dataset(h5py.h5d.create(h5file.id, b'x', kind, space, properties))
    if write and rows.size:
        dataset[...] = rows
    return dataset
