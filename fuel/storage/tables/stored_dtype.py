"""The dtype that describes the bytes of an HDF5 type as they lie in the file."""
from __future__ import annotations

from typing import Any

import numpy
from h5py import h5t

__all__ = ['stored_dtype']


def stored_dtype(stored: h5t.TypeID) -> numpy.dtype[Any] | None:
    """Return the dtype of which the stored bytes are values, as they are.

    Parameters
    ----------
    stored : h5py.h5t.TypeID
        A type in a file.

    Returns
    -------
    numpy.dtype or None
        In the byte order of the file. Bytes of booleans are taken as numpy's, pairs ``r`` and
        ``i`` of floats as complex numbers, enumerations as their numbers; array types give a
        dtype with a shape. `None` if numpy has nothing that is stored alike; a field of which that
        is true is of plain bytes.
    """
    if isinstance(stored, (h5t.TypeIntegerID, h5t.TypeFloatID)):
        return _number(stored)
    if isinstance(stored, h5t.TypeEnumID):
        return stored_dtype(stored.get_super())
    if isinstance(stored, h5t.TypeBitfieldID):
        return numpy.dtype(bool) if stored.get_size() == 1 else None
    if isinstance(stored, h5t.TypeStringID):
        return None if stored.is_variable_str() else numpy.dtype(f'S{stored.get_size()}')
    if isinstance(stored, h5t.TypeArrayID):
        base = stored_dtype(stored.get_super())
        return None if base is None else numpy.dtype((base, stored.get_array_dims()))
    if isinstance(stored, h5t.TypeCompoundID):
        return _compound(stored)
    return None


def _number(stored: Any) -> numpy.dtype[Any] | None:
    """Return the dtype of a number, if not a bit of it is stored in another way than numpy's."""
    try:
        dtype: numpy.dtype[Any] = stored.dtype
        if dtype.itemsize == 1 == stored.get_size():
            stored = stored.copy()
            stored.set_order(h5t.ORDER_LE)     # a single byte may have either
        alike = h5t.py_create(dtype).equal(stored)
    except (TypeError, ValueError):
        return None
    return numpy.dtype(dtype.str) if alike else None


def _compound(stored: Any) -> numpy.dtype[Any]:
    names, formats, offsets = [], [], []
    for place in range(stored.get_nmembers()):
        member = stored.get_member_type(place)
        names.append(stored.get_member_name(place).decode('utf-8', 'surrogateescape'))
        formats.append(stored_dtype(member) or numpy.dtype(f'V{member.get_size()}'))
        offsets.append(stored.get_member_offset(place))
    size = stored.get_size()
    if (names == ['r', 'i'] and formats[0] == formats[1] and formats[0].kind == 'f'
            and offsets == [0, formats[0].itemsize] and size == 2 * formats[0].itemsize):
        return numpy.dtype(f'{formats[0].byteorder}c{size}')
    return numpy.dtype({'names': names, 'formats': formats, 'offsets': offsets, 'itemsize': size})
