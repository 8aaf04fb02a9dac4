"""Names that stand beside the sources of a file: of files, columns, and classes."""
from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy

from fuel._types import AnyArray

__all__ = ['shown', 'smallest_integers', 'stored_text', 'write_names']

_BLOCK = 4096


def stored_text(name: str) -> str:
    """Return a name as it can be stored: what is no UTF-8 in the name of a file is escaped."""
    return os.fsencode(name).decode('utf-8', 'backslashreplace')


def write_names(h5file: Any, name: str, texts: Sequence[Any]) -> None:
    """Write a data set of texts, which belongs to no split and so is no source.

    Parameters
    ----------
    h5file : h5py.File
        Open for writing.
    name : str
        What the data set is to be called.
    texts : sequence
        The texts, or tuples of the same number of texts, which make its rows.
    """
    import h5py

    from fuel.storage.writing.space import writing

    dtype = h5py.string_dtype()
    columns = len(texts[0]) if len(texts) and isinstance(texts[0], tuple) else None
    with writing():
        dataset = h5file.create_dataset(
            name, (len(texts),) if columns is None else (len(texts), columns), dtype=dtype)
        for start in range(0, len(texts), _BLOCK):
            block = texts[start:start + _BLOCK]
            # Made empty first: numpy would make texts of one length out of a list.
            rows = numpy.empty((len(block), *dataset.shape[1:]), dtype=object)
            for position, text in enumerate(block):
                rows[position] = (stored_text(text) if columns is None
                                  else list(map(stored_text, text)))
            dataset[start:start + len(block)] = rows


def smallest_integers(values: AnyArray) -> AnyArray:
    """Return integers in the smallest dtype that holds them, without a sign if none needs one."""
    low, high = (int(values.min()), int(values.max())) if values.size else (0, 0)
    kinds = ('uint8', 'uint16', 'uint32', 'uint64') if low >= 0 else (
        'int8', 'int16', 'int32', 'int64')
    for kind in kinds:
        limits = numpy.iinfo(kind)
        if limits.min <= low and high <= limits.max:
            return values.astype(kind)
    return values


def shown(names: Sequence[str], most: int = 5) -> str:
    """Return names for a message, the first of many only."""
    more = f' and {len(names) - most} more' if len(names) > most else ''
    return ', '.join(names[:most]) + more
