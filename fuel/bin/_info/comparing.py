"""Says in what two files differ."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import h5py
import numpy

from fuel._types import AnyArray
from fuel.bin._info.as_json import SCHEMA
from fuel.bin._info.facts import Facts, SourceFacts, SplitPart, facts_of
from fuel.bin._info.rows_compared import DifferingRows, differing_rows
from fuel.exceptions import DataLayoutError
from fuel.storage.handles import OpenFile
from fuel.storage.splits import read_splits

__all__ = ['Comparison', 'Difference', 'compare', 'comparison_as_data', 'text_of_comparison']

#: Opens a bar for a source of a number of rows; what it gives is told how many rows are done.
Watch = Callable[[str, int], AbstractContextManager[Callable[[int], None]]]

# What differences are about, in the order in which they are printed.
_TITLES = {'splits': 'Splits', 'sources': 'Sources', 'data': 'Data',
           'names': 'Names and other data', 'storage': 'Stored in another way',
           'provenance': 'Where the data come from'}
# Those that make no other data set.
_OUTSIDE = ('storage', 'provenance')
# Attributes that HDF5 keeps for itself, or that are compared elsewhere.
_KNOWN = {'CLASS', 'NAME', 'DIMENSION_LIST', 'DIMENSION_LABELS', 'REFERENCE_LIST', 'split',
          'fuel_checksum', 'fuel_structure_checksum', 'h5py_interface_version',
          'fuel_convert_version', 'fuel_convert_command', 'fuel_version', 'h5py_version',
          'hdf5_version', 'numpy_version', 'fuel_convert_date', 'fuel_convert_seed', 'TITLE',
          'VERSION', 'FLAVOR', 'PYTABLES_FORMAT_VERSION'}
# More raw files than this are not listed.
_MOST_INPUTS = 5


@dataclass(frozen=True, slots=True)
class Difference:
    """Something in which two files differ.

    Attributes
    ----------
    about : str
        ``'splits'``, ``'sources'``, ``'data'``, ``'names'``, ``'storage'`` or ``'provenance'``.
    name : str
        Of the split, the source, or whatever it is.
    what : str
        What of it differs, such as ``'dtype'``.
    first, second : object
        What it is in the first and in the second file, as plain data; `None` if it is missing.
    text : str
        The difference in words.
    """

    about: str
    name: str
    what: str
    first: Any
    second: Any
    text: str

    @property
    def in_data(self) -> bool:
        """Whether a program that reads the two files would notice."""
        return self.about not in _OUTSIDE


@dataclass(frozen=True, slots=True)
class Comparison:
    """What was found out about two files.

    Attributes
    ----------
    paths : tuple of two str
        The first and the second file.
    differences : tuple of Difference
        In what they differ.
    believed : bool
        Whether rows were not read because checksums tell that they agree.
    """

    paths: tuple[str, str]
    differences: tuple[Difference, ...]
    believed: bool

    @property
    def same_data(self) -> bool:
        """Whether a program that reads the two files would not notice a difference."""
        return not any(difference.in_data for difference in self.differences)


def compare(one: OpenFile, other: OpenFile, watch: Watch, *,
            read_all: bool = False) -> Comparison:
    """Find in what two files differ.

    Parameters
    ----------
    one, other : OpenFile
        The files.
    watch : callable
        Shows how far the reading of a source is.
    read_all : bool, optional
        Whether rows are read also where checksums tell that they agree. By default they are not.

    Raises
    ------
    DataLayoutError
        One of them is no data set of Fuel. A ``ValueError``.
    """
    facts, others = facts_of(one), facts_of(other)
    for entry in (facts, others):
        if entry.problem:
            raise DataLayoutError(f'{entry.path} is not a data set of Fuel: {entry.problem}')
    found: list[Difference] = [*_of_splits(one, other, facts, others)]
    believed = False
    sources = {source.name: source for source in facts.sources}
    those = {source.name: source for source in others.sources}
    for name in dict.fromkeys((*sources, *those)):
        if name not in sources or name not in those:
            found.append(_missing('sources', name, name in sources, 'source'))
            continue
        found += _of_source(sources[name], those[name])
        rows = _rows_of(one, other, sources[name], those[name], watch, read_all)
        if rows is not None:
            believed = believed or rows.unread > 0
            if rows.count:
                found.append(Difference('data', name, 'rows', list(rows.first), list(rows.first),
                                        _told(rows)))
    found += [*_of_extras(one.file, other.file), *_of_provenance(facts, others)]
    return Comparison((facts.path, others.path), tuple(found), believed)


def text_of_comparison(comparison: Comparison) -> str:
    """Return in words in what two files differ."""
    lines = [f'first:  {comparison.paths[0]}', f'second: {comparison.paths[1]}', '']
    for about, title in _TITLES.items():
        told = [difference for difference in comparison.differences
                if difference.about == about]
        if told:
            # There can be a raw file for each example.
            inputs = [difference for difference in told if difference.what == 'input']
            left_out = set(map(id, inputs[_MOST_INPUTS:]))
            lines += [f'    {title}', '', *(f'        {difference.name}: {difference.text}'
                                            for difference in told if id(difference) not in
                                            left_out)]
            if left_out:
                lines.append(f'        {len(left_out)} more raw files differ; --json lists all')
            lines.append('')
    lines.append('The data differ.' if not comparison.same_data else 'The data are the same.'
                 if not comparison.believed else 'The data are the same, as their checksums tell; '
                 'with --verify, all of them are read.')
    return '\n'.join(lines)


def comparison_as_data(comparison: Comparison) -> dict[str, Any]:
    """Return differences as plain data."""
    return {'schema': SCHEMA, 'first': comparison.paths[0], 'second': comparison.paths[1],
            'same_data': comparison.same_data, 'checksums_believed': comparison.believed,
            'differences': [
                {'about': difference.about, 'name': difference.name, 'what': difference.what,
                 'first': difference.first, 'second': difference.second,
                 'text': difference.text} for difference in comparison.differences]}


def _change(about: str, name: str, what: str, first: Any, second: Any) -> Iterator[Difference]:
    """Yield a difference, if there is one."""
    if first != second:
        yield Difference(about, name, what, first, second,
                         f'{what} {_said(first)} in the first file, {_said(second)} in the second')


def _said(value: Any) -> str:
    if isinstance(value, list) and any(isinstance(entry, str) for entry in value):
        return ', '.join(map(str, value))
    if isinstance(value, list):
        return ' x '.join('?' if entry is None else str(entry) for entry in value) or 'none'
    return 'missing' if value is None else str(value)


def _missing(about: str, name: str, in_first: bool, what: str) -> Difference:
    """Return the difference that something is in one file alone."""
    return Difference(about, name, what, name if in_first else None, None if in_first else name,
                      f'only in the {"first" if in_first else "second"} file')


def _of_splits(one: OpenFile, other: OpenFile, facts: Facts,
               others: Facts) -> Iterator[Difference]:
    for name in dict.fromkeys((*facts.splits, *others.splits)):
        if name not in facts.splits or name not in others.splits:
            yield _missing('splits', name, name in facts.splits, 'split')
            continue
        parts = {part.source: part for part in facts.splits[name]}
        those = {part.source: part for part in others.splits[name]}
        for source in dict.fromkeys((*parts, *those)):
            if source not in parts or source not in those:
                yield Difference(
                    'splits', name, f'source {source}', source if source in parts else None,
                    source if source in those else None,
                    f'has {source} only in the {"first" if source in parts else "second"} file')
                continue
            yield from _of_part(one, other, parts[source], those[source])


def _of_part(one: OpenFile, other: OpenFile, part: SplitPart,
             that: SplitPart) -> Iterator[Difference]:
    """Yield the difference between the rows of a split and source."""
    if part.examples != that.examples:
        yield from _change('splits', part.split, f'examples of {part.source}', part.examples,
                           that.examples)
        return
    rows, others = (_rows(opened.file, entry) for opened, entry in ((one, part), (other, that)))
    if rows is None or others is None or numpy.array_equal(rows, others):
        return
    place = int(numpy.flatnonzero(rows != others)[0])
    yield Difference('splits', part.split, f'rows of {part.source}', int(rows[place]),
                     int(others[place]),
                     f'other rows of {part.source}: example {place} is row {rows[place]} in the '
                     f'first file, {others[place]} in the second')


def _rows(h5file: h5py.File, part: SplitPart) -> AnyArray | None:
    if not part.indices:
        return numpy.arange(part.start, max(part.start, part.stop))
    try:
        rows: AnyArray = h5file[part.indices][...].reshape(-1)
    except (KeyError, OSError, RuntimeError):
        return None
    return rows


def _of_source(source: SourceFacts, that: SourceFacts) -> Iterator[Difference]:
    name = source.name
    found, those = source.description, that.description
    if found is None or those is None:
        yield from _change('sources', name, 'problem:', source.problem or None,
                           that.problem or None)
        return
    yield from _change('sources', name, 'shape', list(found.shape), list(those.shape))
    yield from _change('sources', name, 'dtype', str(found.dtype), str(those.dtype))
    if source.axis_labels != that.axis_labels:
        labels, others = (None if entry.axis_labels is None else list(entry.axis_labels)
                          for entry in (source, that))
        yield Difference('sources', name, 'axis labels', labels, others,
                         f'axis labels {labels} in the first file, {others} in the second')
    yield from _change('storage', name, 'layout', found.layout, those.layout)
    yield from _change('storage', name, 'chunks', *(
        None if entry.chunks is None else list(entry.chunks) for entry in (found, those)))
    yield from _change('storage', name, 'filters', list(found.filters), list(those.filters))


def _rows_of(one: OpenFile, other: OpenFile, source: SourceFacts, that: SourceFacts,
             watch: Watch, read_all: bool) -> DifferingRows | None:
    """Return in which rows a source differs; `None` where its rows cannot be compared."""
    found, those = source.description, that.description
    if found is None or those is None or found.shape[1:] != those.shape[1:] or (
            not found.shape[0] or not those.shape[0]):
        return None
    with watch(source.name, min(found.shape[0], those.shape[0])) as progress:
        return differing_rows(one, other, source.name, progress, read_all=read_all)


def _told(rows: DifferingRows) -> str:
    """Return in words which rows differ."""
    listed = ', '.join(map(str, rows.first)) + (', ...' if rows.count > len(rows.first) else '')
    return f'{rows.count} of {rows.compared} rows differ: {listed}; {rows.example}'


def _of_extras(one: h5py.File, other: h5py.File) -> Iterator[Difference]:
    """Yield the differences between names of classes, vocabularies, and whatever else there is."""
    extras, others = _extras(one), _extras(other)
    for name in dict.fromkeys((*extras, *others)):
        if name not in extras or name not in others:
            yield _missing('names', name, name in extras, 'value')
        elif not _equal(extras[name], others[name]):
            yield Difference('names', name, 'values', None, None, 'differs')


def _extras(h5file: h5py.File) -> dict[str, Any]:
    """Return what the root group holds beside sources, their scales, and rows of splits."""
    entries = read_splits(h5file)
    known = {entry.source for entry in entries}
    for entry in entries:
        if entry.indices is not None:
            known.add(str(h5file[entry.indices].name).lstrip('/'))
    found: dict[str, Any] = {}
    for name in sorted(h5file, key=str):       # a damaged name is bytes
        dataset = h5file.get(name)
        if not isinstance(dataset, h5py.Dataset):
            continue
        if name not in known and 'CLASS' not in dataset.attrs:
            found[name] = dataset
        found.update({f'{name}, attribute {key}': value for key, value in _attributes(dataset)})
    found.update({f'attribute {key}': value for key, value in _attributes(h5file)})
    return found


def _attributes(entry: h5py.Group | h5py.Dataset) -> Iterator[tuple[str, Any]]:
    for key in sorted(entry.attrs, key=str):
        if key not in _KNOWN:
            yield key, entry.attrs[key]


def _equal(value: Any, other: Any) -> bool:
    """Compare arrays, or data sets by pieces."""
    if isinstance(value, h5py.Dataset) and isinstance(other, h5py.Dataset):
        if value.shape != other.shape or value.dtype.kind != other.dtype.kind:
            return False
        if not value.shape:
            return _equal(value[()], other[()])
        step = max(1, 2 ** 22 // max(1, value.nbytes // max(1, len(value))))
        return all(_equal(value[low:low + step], other[low:low + step])
                   for low in range(0, len(value), step))
    value, other = numpy.asarray(value), numpy.asarray(other)
    if value.shape != other.shape:
        return False
    if value.dtype.hasobject and value.ndim:
        return all(numpy.array_equal(*pair)
                   for pair in zip(value.ravel(), other.ravel(), strict=True))
    return bool((value == other).all())


def _of_provenance(facts: Facts, others: Facts) -> Iterator[Difference]:
    tags, those = _tags(facts), _tags(others)
    for tag in dict.fromkeys((*tags, *those)):
        for change in _change('provenance', tag, 'is', tags.get(tag), those.get(tag)):
            yield Difference(change.about, tag, 'tag', change.first, change.second,
                             change.text.removeprefix('is '))
    inputs = {given.name: given for given in facts.provenance.inputs}
    theirs = {given.name: given for given in others.provenance.inputs}
    for name in dict.fromkeys((*inputs, *theirs)):
        if name not in inputs or name not in theirs:
            yield _missing('provenance', name, name in inputs, 'input')
        elif inputs[name] != theirs[name]:
            first, second = ([given.size, given.sha256] for given in (inputs[name], theirs[name]))
            yield Difference('provenance', name, 'input', first, second,
                             f'an input of {first[0]} bytes, sha256:{first[1]}, for the first '
                             f'file; of {second[0]} bytes, sha256:{second[1]}, for the second')


def _tags(facts: Facts) -> dict[str, Any]:
    """Return how a file came about, but for the inputs."""
    tags: dict[str, Any] = dict(facts.provenance.tags)
    if facts.provenance.seed is not None:
        tags['fuel_convert_seed'] = facts.provenance.seed
    return tags
