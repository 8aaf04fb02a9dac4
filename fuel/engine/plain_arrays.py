"""Arrays whose values are their bytes, so that another process can read them where they are."""
from __future__ import annotations

from typing import Any, Literal

import numpy

from fuel._types import AnyArray

__all__ = ['code_of', 'order_of']

# The numbers of numpy's own types of old. Others may keep their values elsewhere.
_KNOWN_TYPES = 24
# numpy has one object for each of these, which is found faster than anything is compared.
_COMMON = {id(numpy.dtype(char)): numpy.dtype(char).str for char in '?bBhHiIlLqQefdgFDG'}


def code_of(dtype: numpy.dtype[Any]) -> Any:
    """Return what says the same as a dtype, and is quickly pickled.

    Parameters
    ----------
    dtype : dtype
        Any.

    Returns
    -------
    str, dtype or None
        `None` if the values of such an array are not, or not only, its bytes.
    """
    code = _COMMON.get(id(dtype))
    if code is not None:
        return code
    if not 0 <= dtype.num < _KNOWN_TYPES or dtype.hasobject or not dtype.itemsize:
        return None
    if dtype.names is None and dtype.metadata is None:
        return dtype.str
    return dtype


def order_of(array: AnyArray) -> Literal['C', 'F'] | None:
    """Return the order of the items of an array.

    Parameters
    ----------
    array : ndarray
        Any.

    Returns
    -------
    {'C', 'F', None}
        `None` if they do not lie in one piece.
    """
    flags = array.flags
    if flags.c_contiguous:
        return 'C'
    return 'F' if flags.f_contiguous else None
