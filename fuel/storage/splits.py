"""The ``split`` attribute: which rows of which data set make up which split.

The root group of a file holds, in its attribute ``split``, a one-dimensional array of a compound
type with one element for each pair of a split and a source. `create_split_array` makes it,
`read_splits` understands it, in every form that was ever written.
"""
from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import h5py
import numpy

from fuel._types import AnyArray
from fuel.exceptions import DataLayoutError

__all__ = ['FIELDS', 'SplitDict', 'SplitEntry', 'create_split_array', 'entries_of',
           'get_all_sources', 'get_all_splits', 'get_provided_sources', 'read_splits']

#: Names of the fields of the compound type, in order.
FIELDS = ('split', 'source', 'start', 'stop', 'indices', 'available', 'comment')

SplitDict: TypeAlias = Mapping[str, Mapping[str, Sequence[Any]]]

# A zero-byte string would come back as a zero-width type, so that an absent comment is a full stop.
_NO_COMMENT = b'.'


@dataclass(frozen=True, slots=True)
class SplitEntry:
    """Where one source of one split stands.

    Attributes
    ----------
    split, source : str
        What the entry is about.
    start, stop : int
        The rows of a split that is one piece; without meaning if `indices` is given.
    indices : h5py.Reference or None
        Refers to the data set that holds the numbers of the rows.
    available : bool
        Whether the split has this source at all.
    comment : str
        Empty if there is none.
    """

    split: str
    source: str
    start: int
    stop: int
    indices: Any
    available: bool
    comment: str


def create_split_array(split_dict: SplitDict) -> AnyArray:
    """Make the array that describes the splits of a file.

    Parameters
    ----------
    split_dict : dict
        Maps names of splits to dicts, and those map names of sources to tuples ``(start, stop)``,
        ``(start, stop, indices)`` or ``(start, stop, indices, comment)``. `indices` is `None` or
        a reference to a data set with the numbers of the rows; it overrides `start` and `stop`.
        A source that is missing from a split is marked as not available in it.

    Returns
    -------
    numpy.ndarray, shape (splits * sources,)
        To be stored with ``h5file.attrs['split'] = ...``. Splits come in the order of the dict,
        the sources of each in alphabetical order.

    Raises
    ------
    ValueError
        There is no split or no source, or an entry cannot be understood.

    Examples
    --------
    >>> array = create_split_array({'train': {'x': (0, 80)}, 'test': {'x': (80, 100)}})
    >>> array['stop'].tolist()
    [80, 100]
    """
    if not isinstance(split_dict, Mapping) or not all(
            isinstance(of_split, Mapping) for of_split in split_dict.values()):
        raise TypeError('expected a dict from the names of splits to dicts from the names of '
                        "sources to (start, stop), such as {'train': {'x': (0, 80)}}; got "
                        f'{split_dict!r}')
    sources = sorted({source for of_split in split_dict.values() for source in of_split})
    if not sources:
        raise ValueError('expected a dict from the names of splits to dicts from the names of '
                         f'sources to (start, stop); got {split_dict!r}, which names no source')
    rows: list[tuple[Any, ...]] = []
    for split, of_split in split_dict.items():
        for source in sources:
            if source in of_split:
                where = f'split {split!r}, source {source!r}'
                start, stop, indices, comment = _checked_entry(of_split[source], where)
                rows.append((_encoded(split), _encoded(source), start, stop, indices, True,
                             comment))
            else:
                rows.append((_encoded(split), _encoded(source), 0, 0, h5py.Reference(), False,
                             _NO_COMMENT))
    # Widths are counted after encoding: a letter may take several bytes.
    split_width, source_width, comment_width = (
        max(len(row[column]) for row in rows) for column in (0, 1, 6))
    dtype = numpy.dtype([
        ('split', f'S{split_width}'), ('source', f'S{source_width}'),
        ('start', '<i8'), ('stop', '<i8'), ('indices', h5py.ref_dtype), ('available', '?'),
        ('comment', f'S{comment_width}')])
    array = numpy.empty(len(rows), dtype=dtype)
    for position, row in enumerate(rows):
        array[position] = row
    return array


def _encoded(name: Any) -> bytes:
    if isinstance(name, bytes):
        encoded = name
    elif isinstance(name, str):
        encoded = name.encode('utf-8')
    else:
        raise ValueError(f'expected names of splits and sources that are strings; got {name!r}')
    if not encoded or encoded.endswith(b'\0'):
        raise ValueError(f'expected a name of at least one character; got {name!r}')
    return encoded


def _checked_entry(entry: Any, where: str) -> tuple[int, int, h5py.Reference, bytes]:
    """Return start, stop, reference and comment out of the tuple a user gave."""
    try:
        start, stop, *rest = entry
        start, stop = operator.index(start), operator.index(stop)
        if len(rest) > 2:
            raise ValueError
    except (TypeError, ValueError):
        raise ValueError(f'{where}: expected (start, stop), (start, stop, indices) or (start, '
                         f'stop, indices, comment) with integers; got {entry!r}') from None
    indices = rest[0] if rest else None
    comment = rest[1] if len(rest) > 1 else None
    if indices is None:
        indices = h5py.Reference()
    if not isinstance(indices, h5py.Reference):
        raise ValueError(f'{where}: expected indices that are None or a reference such as '
                         f"h5file['train_indices'].ref; got {indices!r}")
    if not indices and not 0 <= start <= stop:
        raise ValueError(f'{where}: expected 0 <= start <= stop; got start {start} and stop '
                         f'{stop}')
    if isinstance(comment, str):
        comment = comment.encode('utf-8')
    return start, stop, indices, comment or _NO_COMMENT


def read_splits(h5file: h5py.File) -> tuple[SplitEntry, ...]:
    """Read the split attribute of an open file.

    Numbers may have been written as scalars or as arrays of one element, which depends on the
    version of numpy that wrote them; names as bytes or as strings.

    Parameters
    ----------
    h5file : h5py.File
        The file, open.

    Returns
    -------
    tuple of SplitEntry
        In the order of the file.

    Raises
    ------
    DataLayoutError
        There is no such attribute, or it is something else. A ``ValueError``.
    """
    if 'split' not in h5file.attrs:
        raise DataLayoutError(
            f"{h5file.filename}: the root group has no attribute 'split', which tells the splits "
            "of the file apart. Convert the data with fuel-convert, or set h5file.attrs['split'] "
            'to the result of H5PYDataset.create_split_array')
    array = numpy.asarray(h5file.attrs['split'])
    missing = [field for field in FIELDS if field not in (array.dtype.names or ())]
    if missing:
        raise DataLayoutError(
            f"{h5file.filename}: expected the attribute 'split' to be an array with the fields "
            f'{", ".join(FIELDS)}; got {array.dtype} without {", ".join(missing)}. Make it with '
            'H5PYDataset.create_split_array')
    columns = [array[field].reshape(-1) for field in FIELDS]
    if any(column.size != columns[0].size for column in columns):
        raise DataLayoutError(f"{h5file.filename}: expected one value for each field of the "
                              f"attribute 'split'; got {array.dtype}")
    return tuple(
        SplitEntry(_decoded(split), _decoded(source), int(start), int(stop), indices or None,
                   bool(available), _comment(comment))
        for split, source, start, stop, indices, available, comment in zip(*columns, strict=True))


def _decoded(name: Any) -> str:
    # Old writers cut names in the middle of a letter that takes several bytes.
    return name.decode('utf-8', 'replace') if isinstance(name, bytes) else str(name)


def _comment(comment: Any) -> str:
    decoded = _decoded(comment)
    return '' if decoded == _NO_COMMENT.decode() else decoded


def get_all_splits(h5file: h5py.File) -> tuple[str, ...]:
    """Return the names of all splits of an open file, in the order of the file."""
    return tuple(dict.fromkeys(entry.split for entry in read_splits(h5file)))


def get_all_sources(h5file: h5py.File) -> tuple[str, ...]:
    """Return the names of all sources of an open file, in the order of the file."""
    return tuple(dict.fromkeys(entry.source for entry in read_splits(h5file)))


def entries_of(entries: Sequence[SplitEntry], which_sets: Sequence[str],
               filename: str) -> dict[str, dict[str, SplitEntry]]:
    """Choose the available entries of some splits.

    Parameters
    ----------
    entries : sequence of SplitEntry
        What `read_splits` returned.
    which_sets : sequence of str
        Names of splits.
    filename : str
        For messages.

    Returns
    -------
    dict
        Maps each split to a dict from source to entry.

    Raises
    ------
    ValueError
        A split is not in the file; the message names those that are.
    DataLayoutError
        A pair of split and source is listed twice. A ``ValueError``.
    """
    chosen: dict[str, dict[str, SplitEntry]] = {split: {} for split in which_sets}
    available = dict.fromkeys(entry.split for entry in entries)
    unknown = [split for split in chosen if split not in available]
    if unknown:
        raise ValueError(
            f'{filename}: there is no split {", ".join(map(repr, unknown))}; the splits of this '
            f'file are {", ".join(map(repr, available))}')
    for entry in entries:
        if entry.available and entry.split in chosen:
            if entry.source in chosen[entry.split]:
                raise DataLayoutError(
                    f'{filename}: source {entry.source!r} is listed twice for split '
                    f'{entry.split!r}; expected one entry for each pair')
            chosen[entry.split][entry.source] = entry
    return chosen


def get_provided_sources(chosen: Mapping[str, Mapping[str, SplitEntry]],
                         filename: str) -> tuple[str, ...]:
    """Return the sources that all chosen splits have, in alphabetical order.

    Raises
    ------
    ValueError
        There are none.
    """
    common = set.intersection(*(set(of_split) for of_split in chosen.values()))
    if not common:
        have = '; '.join(f'{split!r} has {", ".join(map(repr, sorted(of_split))) or "none"}'
                         for split, of_split in chosen.items())
        raise ValueError(f'{filename}: the splits have no source in common: {have}')
    return tuple(sorted(common))
