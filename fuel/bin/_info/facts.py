"""What is known of a file: how it came about, its splits, its sources."""
from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import Any

import h5py

from fuel.exceptions import DataFileError
from fuel.storage import layout
from fuel.storage.describe import SourceDescription, describe_source
from fuel.storage.handles import OpenFile
from fuel.storage.provenance.reading import Provenance, read_provenance
from fuel.storage.readers.rows import RowReader
from fuel.storage.splits import SplitEntry, get_all_sources, read_splits
from fuel.storage.variable import scales

__all__ = ['Facts', 'OtherData', 'SourceFacts', 'SplitPart', 'facts_of', 'why_not_readable']

# A file that is not ours may hold any number of data sets; so many of them are told.
_MOST_OTHERS = 50
# What goes wrong with a part of a file, which hides no other part.
_PROBLEMS = (ValueError, OSError, RuntimeError, KeyError, TypeError)


@dataclass(frozen=True, slots=True)
class SplitPart:
    """One source of one split.

    Attributes
    ----------
    split, source : str
        What it is.
    examples : int or None
        How many there are; `None` if the list of them cannot be read.
    start, stop : int
        The rows, where they follow each other.
    indices : str
        The name of the data set that lists the rows; empty where they follow each other.
    comment : str
        Empty if there is none.
    problem : str
        What is wrong with the rows; empty if nothing is.
    """

    split: str
    source: str
    examples: int | None
    start: int
    stop: int
    indices: str
    comment: str
    problem: str


@dataclass(frozen=True, slots=True)
class SourceFacts:
    """One source.

    Attributes
    ----------
    name : str
        What it is called.
    description : SourceDescription or None
        How it is stored and read; `None` if there is a problem.
    axis_labels : tuple of str or None
        A label for each axis of a batch, empty where there is none; `None` if the file does not
        tell.
    bytes_on_disk : int or None
        What it takes up in the file, with the shapes and offsets of its examples.
    bytes_in_memory : int or None
        What all its values take up; `None` if that cannot be told without reading them.
    checksum : str
        Of the values, as they were written; empty if the file has none.
    problem : str
        Why it cannot be described; empty if it can.
    """

    name: str
    description: SourceDescription | None
    axis_labels: tuple[str, ...] | None
    bytes_on_disk: int | None
    bytes_in_memory: int | None
    checksum: str
    problem: str


@dataclass(frozen=True, slots=True)
class OtherData:
    """A data set of a file that has no splits."""

    name: str
    shape: tuple[int, ...]
    dtype: str


@dataclass(frozen=True, slots=True)
class Facts:
    """What is known of a file.

    Attributes
    ----------
    path : str
        As it was given.
    size : int
        In bytes.
    provenance : Provenance
        How the file came about.
    splits : dict
        Maps the names of splits to their parts, one for each source that they have.
    sources : tuple of SourceFacts
        In the order of the file.
    others : tuple of OtherData
        Data sets, if the file has no splits.
    problem : str
        Why the file cannot be used as a data set; empty if it can.
    """

    path: str
    size: int
    provenance: Provenance
    splits: dict[str, tuple[SplitPart, ...]]
    sources: tuple[SourceFacts, ...]
    others: tuple[OtherData, ...]
    problem: str


def facts_of(opened: OpenFile) -> Facts:
    """Gather what is known of an open file, without reading its data.

    Parameters
    ----------
    opened : OpenFile
        The file.
    """
    h5file, path = opened.file, opened.path
    provenance = read_provenance(h5file)
    size = os.path.getsize(path)
    problem = why_not_readable(h5file)
    if problem:
        return Facts(path, size, provenance, {}, (), _other_data(h5file), problem)
    splits: dict[str, list[SplitPart]] = {}
    for entry in read_splits(h5file):
        parts = splits.setdefault(entry.split, [])
        if entry.available:
            parts.append(_part(h5file, entry))
    return Facts(path, size, provenance, {name: tuple(parts) for name, parts in splits.items()},
                 tuple(_source(opened, source) for source in get_all_sources(h5file)), (), '')


def why_not_readable(h5file: h5py.File) -> str:
    """Say why an HDF5 file is no data set of Fuel; an empty string if it is one."""
    if 'split' not in h5file.attrs:
        return "it has no attribute 'split', which tells the splits of the data apart"
    try:
        read_splits(h5file)
    except _PROBLEMS as error:
        return _words(error).removeprefix(f'{h5file.filename}: ')
    return ''


def _part(h5file: h5py.File, entry: SplitEntry) -> SplitPart:
    """Return what is known of a source of a split."""
    examples: int | None = entry.stop - entry.start
    indices = problem = ''
    try:
        if entry.indices is not None:
            examples = None
            listed = h5file[entry.indices]
            indices = str(listed.name)
            examples = int(listed.shape[0])
        total = layout.num_examples(h5file, entry.source)
        if entry.indices is None and not 0 <= entry.start <= entry.stop <= total:
            problem = f'rows {entry.start} to {entry.stop} do not lie within the {total} there are'
    except _PROBLEMS as error:
        problem = _words(error)
    return SplitPart(entry.split, entry.source, examples, entry.start, entry.stop, indices,
                     entry.comment, problem)


def _source(opened: OpenFile, name: str) -> SourceFacts:
    """Return what is known of a source; one that is not as it should be hides no other."""
    try:
        reader = opened.reader(name, layout.row_reader)
        description = describe_source(opened, name, reader)
        dataset = layout.source_dataset(opened.file, name)
        values = _bytes_in_memory(dataset, description, reader)
        return SourceFacts(name, description, scales.axis_labels(dataset),
                           _bytes_on_disk(dataset, description, values), values,
                           _checksum(dataset), '')
    except _PROBLEMS as error:
        return SourceFacts(name, None, None, None, None, '', _words(error))


def _bytes_in_memory(dataset: h5py.Dataset, description: SourceDescription,
                     reader: RowReader) -> int | None:
    """Return how many bytes all values have, from what is known of their number."""
    if description.dtype.hasobject:
        return None
    itemsize = int(description.dtype.itemsize)
    if description.layout != 'vlen':
        return int(math.prod(dataset.shape)) * itemsize
    counts: Any = getattr(reader, 'counts', None)
    if counts is None:
        return None
    return int(counts(slice(0, len(dataset), 1)).sum()) * itemsize


def _bytes_on_disk(dataset: h5py.Dataset, description: SourceDescription,
                   in_memory: int | None) -> int | None:
    """Return how many bytes a source takes up in its file."""
    stored = description.stored_bytes
    found = scales.variable_layout(dataset)
    if found is None:
        return stored
    if found.offsets is None:
        # The values lie in a heap, as they are; HDF5 does not tell how large it is.
        if in_memory is None:
            return None
        stored += in_memory
    return stored + sum(int(scale.id.get_storage_size())
                        for scale in (found.offsets, found.shapes) if scale is not None)


def _checksum(dataset: h5py.Dataset) -> str:
    stored = dataset.attrs.get('fuel_checksum', '')
    return stored.decode('ascii', 'replace') if isinstance(stored, bytes) else str(stored)


def _other_data(h5file: h5py.File) -> tuple[OtherData, ...]:
    """Return the data sets of a file that is not ours."""
    found: list[OtherData] = []

    def visit(name: str, entry: Any) -> bool | None:
        if isinstance(entry, h5py.Dataset):
            try:
                found.append(OtherData(name, tuple(entry.shape or ()), str(entry.dtype)))
            except TypeError as error:                  # a type that numpy does not have
                found.append(OtherData(name, (), f'of a type that cannot be read ({error})'))
        return True if len(found) >= _MOST_OTHERS else None
    try:
        h5file.visititems(visit)
    except _PROBLEMS as error:
        raise DataFileError(f'{h5file.filename} cannot be read; it may be truncated or damaged: '
                            f'{_words(error)}') from error
    return tuple(found)


def _words(error: BaseException) -> str:
    """Return the message of an error; that of a missing key without quotes around it."""
    text = error.args[0] if isinstance(error, KeyError) and error.args else error
    return ' '.join(str(text).split())
