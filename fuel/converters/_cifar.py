"""What CIFAR-10 and CIFAR-100 have in common: pickled batches of small pictures in a tar archive.

A batch is a dictionary. ``data`` has a row of 3072 bytes for each picture: its red, green and blue
values, 1024 of each, row by row. Other entries are lists of labels.
"""
from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy

from fuel._types import AnyArray
from fuel.converters._conversion.checks import expect_count
from fuel.converters._conversion.output import new_file
from fuel.converters._conversion.spooled import Spool, SpooledArray
from fuel.converters._formats.archives import TarMember, tar_members
from fuel.converters._formats.pickles import read_pickle
from fuel.converters.base import fill_hdf5_file, progress_bar
from fuel.exceptions import ConversionError
from fuel.storage.writing.space import writing

__all__ = ['CifarSet', 'convert_cifar']

_PICTURE = (3, 32, 32)
_PICTURE_BYTES = 3 * 32 * 32
# The largest of the public batches has 155 MB.
_LARGEST_BATCH = 1 << 29


@dataclass(frozen=True, slots=True, kw_only=True)
class CifarSet:
    """Where the parts of a data set are.

    Parameters
    ----------
    archive : str
        The name of the tar archive.
    batches : mapping
        Maps splits to the names in the archive of their batches, in order.
    labels : mapping
        Maps sources to the names in a batch of their lists of labels, and to how many labels
        there are.
    sizes : mapping
        Maps splits to the number of examples that the public data set has.
    names : tuple
        The name in the archive of the member that has the names of classes, and a mapping from
        sources to the names in it of their lists.
    """

    archive: str
    batches: Mapping[str, Sequence[str]]
    labels: Mapping[str, tuple[str, int]]
    sizes: Mapping[str, int]
    names: tuple[str, Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class _Batch:
    features: AnyArray | SpooledArray
    labels: dict[str, AnyArray]


@dataclass(frozen=True, slots=True)
class _Found:
    batches: dict[str, _Batch]
    # Of classes, by source. An archive without them is as good.
    names: dict[str, list[str]]


def convert_cifar(dataset: CifarSet, directory: str, output_directory: str, output_filename: str,
                  storage: Mapping[str, Any]) -> tuple[str, ...]:
    """Convert an archive of pickled batches.

    The archive is read once. Batches come in any order in it, so that they wait in a temporary
    file until all are there.

    Parameters
    ----------
    dataset : CifarSet
        Which one.
    directory, output_directory, output_filename : str
        Where the archive lies, and where the file is to be.
    storage : mapping
        Options of `fill_hdf5_file`.

    Returns
    -------
    tuple of str
        The path of the file.

    Raises
    ------
    ConversionError
        The archive is cut off or damaged, or batches are missing or not as expected.
    """
    path = os.path.join(directory, dataset.archive)
    with new_file(output_directory, output_filename) as h5file, Spool(output_directory) as spool:
        found = _read(path, dataset, spool)
        data: list[tuple[str, str, Any]] = []
        for split, names in dataset.batches.items():
            batches = [found.batches[name] for name in names]
            rows = sum(len(batch.features) for batch in batches)
            expect_count(path, f'{split} examples', rows, dataset.sizes[split])
            data += [(split, 'features', batch.features) for batch in batches]
            data += [(split, source, batch.labels[source])
                     for source in dataset.labels for batch in batches]
        labels = {'features': ('batch', 'channel', 'height', 'width'),
                  **dict.fromkeys(dataset.labels, ('batch', 'index'))}
        fill_hdf5_file(h5file, data, axis_labels=labels, **storage)
        _write_names(h5file, found.names)
    return (os.path.join(output_directory, output_filename),)


def _write_names(h5file: Any, names: Mapping[str, Sequence[str]]) -> None:
    """Write the names of classes beside the sources, where people and ``fuel-info`` find them."""
    import h5py

    with writing():
        for source, of_classes in names.items():
            h5file[source].attrs.create('target_names', of_classes, dtype=h5py.string_dtype())


def _read(path: str, dataset: CifarSet, spool: Spool) -> _Found:
    """Read the members of the archive that are needed."""
    wanted = [name for names in dataset.batches.values() for name in names]
    found, names = _Found({}, {}), dataset.names
    with progress_bar(dataset.archive, len(wanted), unit='batches') as progress:
        for member in tar_members(path, limit=_LARGEST_BATCH):
            if member.name == names[0]:
                found.names.update(_names(member, names[1], dataset.labels))
            if member.name not in wanted:
                continue
            if member.name in found.batches:
                raise ConversionError(f'{path}: expected the member {member.name!r} once; it is '
                                      'there twice')
            found.batches[member.name] = _batch(member, dataset.labels, spool)
            progress.update(len(found.batches))
    missing = [name for name in wanted if name not in found.batches]
    if missing:
        raise ConversionError(f'{path}: expected the members {", ".join(wanted)}; '
                              f'{", ".join(missing)} is missing. Download the archive again')
    return found


def _content(member: TarMember, where: str, spool: Spool | None = None) -> dict[Any, Any]:
    """Return the dictionary that a member has."""
    content = read_pickle(member.stream, member.size, where, spool)
    if not isinstance(content, dict):
        raise ConversionError(f'{where}: expected a dictionary; got {type(content).__name__}')
    return content


def _names(member: TarMember, lists: Mapping[str, str], sources: Mapping[str, tuple[str, int]]
           ) -> dict[str, list[str]]:
    """Read the names of classes."""
    where = f'{member.archive}: {member.name}'
    content = _content(member, where)
    result = {}
    for source, name in lists.items():
        names = _entry(content, name, where)
        if (not isinstance(names, list) or len(names) != sources[source][1]
                or not all(isinstance(text, (bytes, str)) for text in names)):
            raise ConversionError(f'{where}: expected a list of {sources[source][1]} names in '
                                  f'{name!r}; got something else')
        result[source] = [text.decode('utf-8', 'replace') if isinstance(text, bytes) else text
                          for text in names]
    return result


def _batch(member: TarMember, sources: Mapping[str, tuple[str, int]], spool: Spool) -> _Batch:
    """Read and check one batch."""
    where = f'{member.archive}: {member.name}'
    content = _content(member, where, spool)
    pixels = _entry(content, 'data', where)
    shape, dtype = getattr(pixels, 'shape', None), getattr(pixels, 'dtype', None)
    if shape is None or len(shape) != 2 or shape[1] != _PICTURE_BYTES or dtype != numpy.uint8:
        raise ConversionError(f"{where}: expected 'data' to be an array of uint8 with "
                              f'{_PICTURE_BYTES} columns; got '
                              + (type(pixels).__name__ if shape is None else
                                 f'{dtype} of shape {shape}'))
    labels = {}
    for source, (name, classes) in sources.items():
        numbers = _entry(content, name, where)
        labels[source] = _labels(numbers, classes, f'{where}: {name!r}')
        if len(labels[source]) != shape[0]:
            raise ConversionError(f'{where}: expected {shape[0]} labels in {name!r}, one for each '
                                  f'picture; got {len(labels[source])}')
    return _Batch(pixels.reshape(shape[0], *_PICTURE), labels)


def _entry(content: Mapping[Any, Any], name: str, where: str) -> Any:
    """Return an entry of a batch; Python 2 wrote its name as bytes."""
    for key in (name.encode(), name):
        if key in content:
            return content[key]
    keys = ', '.join(sorted(key.decode('latin-1') if isinstance(key, bytes) else str(key)
                            for key in content))
    raise ConversionError(f'{where}: expected an entry {name!r}; got {keys or "none"}')


def _labels(numbers: Any, classes: int, where: str) -> AnyArray:
    """Return labels as a column."""
    if isinstance(numbers, numpy.ndarray):
        numbers = numbers.reshape(-1).tolist()
    if not isinstance(numbers, (list, tuple)):
        raise ConversionError(f'{where}: expected a list of labels; got {type(numbers).__name__}')
    for position, label in enumerate(numbers):
        if type(label) is not int or not 0 <= label < classes:
            raise ConversionError(f'{where}: expected labels from 0 to {classes - 1}; label '
                                  f'{position} is '
                                  + (str(label) if isinstance(label, (int, float))
                                     else f'of type {type(label).__name__}'))
    return numpy.array(numbers, dtype='uint8').reshape(-1, 1)
