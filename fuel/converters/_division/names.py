"""Names that stand beside the sources of a file: of files, columns, and classes."""
from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any

import numpy

from fuel._types import AnyArray
from fuel.exceptions import ConversionError

__all__ = ['check_text', 'integers_between', 'listed', 'meant', 'plural', 'quoted', 'short',
           'shown', 'smallest_integers', 'stored_text', 'write_names']

_BLOCK = 4096
# Characters of a name in a message.
_LONGEST = 40


def stored_text(name: str) -> str:
    """Return the name of a file as it can be stored: what is no UTF-8 in it is escaped.

    Bytes that Python could not decode when it read the folder stand in the name as lone
    surrogates. They are put together again here, so that the result does not depend on the
    locale.
    """
    return name.encode('utf-8', 'surrogateescape').decode('utf-8', 'backslashreplace')


def check_text(text: str, where: str) -> None:
    """Check that a text which is not the name of a file can be stored.

    Parameters
    ----------
    text : str
        The text.
    where : str
        What it is, for the message.

    Raises
    ------
    ConversionError
        It has a character NUL, where HDF5 takes a text to end, or half a surrogate pair.
    """
    problem = ''
    if '\0' in text:
        problem = 'the character NUL, where HDF5 takes a text to end'
    elif not text.isascii() and any('\ud800' <= mark <= '\udfff' for mark in text):
        problem = 'half a surrogate pair, which is no character'
    if problem:
        raise ConversionError(f'{where}: expected text that can be stored; {text[:40]!r} has '
                              f'{problem}')


def write_names(h5file: Any, name: str, texts: Sequence[Any], *, files: bool = False) -> None:
    """Write a data set of texts, which belongs to no split and so is no source.

    Parameters
    ----------
    h5file : h5py.File
        Open for writing.
    name : str
        What the data set is to be called.
    texts : sequence
        The texts, or tuples of the same number of texts, which make its rows.
    files : bool, optional
        Whether they are names of files, to be stored as `stored_text` returns them.

    Raises
    ------
    ConversionError
        One of them cannot be stored.
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
            for position, entry in enumerate(block):
                row = [entry] if columns is None else list(entry)
                if files:
                    row = list(map(stored_text, row))
                for text in row:
                    check_text(text, name)
                rows[position] = row[0] if columns is None else row
            dataset[start:start + len(block)] = rows


def integers_between(low: int, high: int) -> numpy.dtype[Any] | None:
    """Return the smallest dtype of integers that holds numbers, without a sign if none needs one.

    Returns
    -------
    numpy.dtype or None
        `None` if there is none that holds all of them.
    """
    kinds = ('uint8', 'uint16', 'uint32', 'uint64') if low >= 0 else (
        'int8', 'int16', 'int32', 'int64')
    for kind in kinds:
        limits = numpy.iinfo(kind)
        if limits.min <= low and high <= limits.max:
            return numpy.dtype(kind)
    return None


def smallest_integers(values: AnyArray) -> AnyArray:
    """Return integers in the smallest dtype that holds them, without a sign if none needs one."""
    low, high = (int(values.min()), int(values.max())) if values.size else (0, 0)
    dtype = integers_between(low, high)
    return values if dtype is None else values.astype(dtype)


def shown(names: Sequence[str], most: int = 5) -> str:
    """Return names for a message, the first of many only."""
    more = f' and {len(names) - most} more' if len(names) > most else ''
    return ', '.join(names[:most]) + more


def plural(number: int, one: str) -> str:
    """Return a number of things, whose plural has an s.

    >>> plural(1, 'file'), plural(0, 'file')
    ('1 file', '0 files')
    """
    return f'{number} {one}' if number == 1 else f'{number} {one}s'


def short(name: str) -> str:
    """Return the beginning of a name, if it is long."""
    return name if len(name) <= _LONGEST else f'{name[:_LONGEST]}...'


def quoted(name: str) -> str:
    """Return a name for a list of names, between quotes where it has a comma or a blank in it."""
    name = short(name)
    return name if name.isprintable() and not set(name) & set(" ,;'\"") and name else repr(name)


def listed(texts: Sequence[str], most: int, *, total: int | None = None) -> str:
    """Return texts one after the other, the first of many only.

    Parameters
    ----------
    texts : sequence of str
        The texts, or as many of the first ones as are needed.
    most : int
        How many of them to name.
    total : int, optional
        How many there are; by default those given.
    """
    left = (len(texts) if total is None else total) - len(texts[:most])
    return ', '.join(texts[:most]) + (f' and {left} more' if left else '')


def meant(name: str, names: Sequence[str]) -> str | None:
    """Return which name was probably meant by one that is not there; `None` if none is like it."""
    folded: dict[str, str] = {}
    for known in names:
        folded.setdefault(known.strip().casefold(), known)
    key = name.strip().casefold()
    if key in folded:
        return folded[key]
    near = difflib.get_close_matches(key, list(folded), 1)
    return folded[near[0]] if near else None
