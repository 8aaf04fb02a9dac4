"""Arguments of whoever writes a file, looked at before anything is written."""
from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy

__all__ = [
    'check_file',
    'check_unmasked',
    'checked_count',
    'checked_entry',
    'checked_labels',
    'checked_name',
    'checked_shape',
]

_ENTRIES = 'expected tuples (split, source, array) or (split, source, array, comment)'


def check_file(h5file: Any) -> None:
    """Check that something is a file that can be written.

    Raises
    ------
    ValueError
        It is not.
    """
    import h5py

    expected = "expected a file that is open for writing, such as h5py.File('data.hdf5', 'w')"
    if not isinstance(h5file, h5py.File):
        advice = ('; sources stand in the root group' if isinstance(h5file, h5py.Group)
                  else '')
        raise ValueError(f'{expected}; got {h5file!r:.80} of type {type(h5file).__name__}{advice}')
    if not h5file:
        raise ValueError(f'{expected}; got one that is closed')
    if h5file.mode == 'r':
        raise ValueError(f'{expected}; {h5file.filename} is open for reading only')


def check_unmasked(array: Any, where: str) -> None:
    """Check that an array has no mask, for which there is no place in a file.

    Raises
    ------
    ValueError
        It has one.
    """
    if isinstance(array, numpy.ma.MaskedArray):
        raise ValueError(f'{where}: expected an array without a mask, which would be lost; give '
                         'array.filled(value), and the mask as another source if it is needed')


def checked_name(name: Any, what: str) -> str:
    """Return the name of a split or a source.

    Raises
    ------
    ValueError
        It is none that a file can have.
    """
    problem = ''
    if not isinstance(name, str):
        problem = 'to be a string'
    elif not name:
        problem = 'to have at least one character'
    elif '\0' in name:
        problem = 'without the character NUL, where HDF5 takes it to end'
    elif what == 'source' and ('/' in name or name == '.'):
        problem = 'to be that of a data set in the root group, without slashes'
    if problem:
        raise ValueError(f'expected the name of a {what} {problem}; got {name!r}')
    return str(name)


def checked_entry(entry: Any) -> tuple[str, str, Any, str]:
    """Return split, source, array and comment of an entry of the data.

    Raises
    ------
    ValueError
        It has something else.
    """
    if not isinstance(entry, Sequence) or isinstance(entry, (str, bytes)):
        raise ValueError(f'{_ENTRIES}; got {entry!r:.80} of type {type(entry).__name__}')
    if len(entry) not in (3, 4) or not all(isinstance(name, str) for name in entry[:2]):
        raise ValueError(f'{_ENTRIES}; got one of {len(entry)} entries that begins with '
                         f'{entry[:1]!r:.80}')
    split, name = checked_name(entry[0], 'split'), checked_name(entry[1], 'source')
    comment = entry[3] if len(entry) == 4 and entry[3] is not None else ''
    if not isinstance(comment, str):
        raise ValueError(f'{split}/{name}: expected a comment that is a string; got {comment!r}')
    return split, name, entry[2], comment


def checked_count(value: Any, what: str) -> int:
    """Return a number of things.

    Raises
    ------
    ValueError
        It is not an integer of at least 0.
    """
    try:
        count = -1 if isinstance(value, (bool, numpy.bool)) else operator.index(value)
    except TypeError:
        count = -1
    if count < 0:
        raise ValueError(f'expected {what} to be an integer of at least 0; got {value!r}')
    return count


def checked_shape(name: str, shape: Any) -> tuple[int | None, ...]:
    """Return the shape of an example, with `None` for axes that differ.

    Raises
    ------
    ValueError
        It is none.
    """
    if not isinstance(shape, Iterable) or isinstance(shape, (str, bytes, Mapping)):
        raise ValueError(f'{name}: expected the shape of one example, such as (3, None), with None '
                         f'for axes that differ; got {shape!r}')
    return tuple(None if size is None else checked_count(size, f'{name}: sizes of axes, or None,')
                 for size in shape)


def checked_labels(name: str, labels: Any) -> tuple[str, ...]:
    """Return the labels of the axes of a source.

    Raises
    ------
    ValueError
        They are not a sequence of strings.
    """
    if isinstance(labels, Iterable) and not isinstance(labels, (str, bytes)):
        several = tuple(labels)
        if all(isinstance(label, str) for label in several):
            return several
    raise ValueError(f"{name}: expected axis labels such as ('batch', 'feature'); got {labels!r}")
