"""Where a file keeps the checksums of its sources, and whether they are to be kept."""
from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy
import numpy.typing as npt

from fuel.storage.provenance.digests import BlockDigests, RowDigests, can_be_digested
from fuel.storage.writing.given import with_shapes

__all__ = ['CHECKSUM', 'STRUCTURE', 'add_missing_checksums', 'checksum_of', 'form_of',
           'keeping_checksums', 'new_digests', 'stored_checksum', 'stored_digests',
           'structure_checksum', 'write_digests', 'write_structure_checksum']

#: The group of what is known about how a file came about.
GROUP = 'fuel_provenance'
#: The attribute of a source that has its checksum.
CHECKSUM = 'fuel_checksum'
#: The attribute of the root group that has the checksum of splits and labels.
STRUCTURE = 'fuel_structure_checksum'

_kept: ContextVar[bool] = ContextVar('fuel_checksums_kept', default=False)


@contextmanager
def keeping_checksums() -> Iterator[None]:
    """Have the checksums of all sources kept that are written while a ``with`` block runs."""
    token = _kept.set(True)
    try:
        yield
    finally:
        _kept.reset(token)


def new_digests(dtype: numpy.dtype[Any]) -> BlockDigests | None:
    """Return what digests the rows of a source that is about to be written; `None` for nothing."""
    return BlockDigests() if _kept.get() and can_be_digested(dtype) else None


def _places(source: str) -> tuple[str, str]:
    folder = f'{GROUP}/checksums'
    return f'{folder}/{source}_stops', f'{folder}/{source}_sha256'


def write_digests(dataset: Any, digests: BlockDigests | RowDigests) -> None:
    """Write the checksums of a source.

    Parameters
    ----------
    dataset : h5py.Dataset
        The source, in the root group.
    digests : BlockDigests or RowDigests
        Which has had all of its rows.
    """
    import h5py

    stops, blocks = digests.finish()
    h5file = dataset.file
    for place, values in zip(_places(dataset.name.lstrip('/')), (stops, blocks), strict=True):
        if place in h5file:
            del h5file[place]
        h5file.create_dataset(place, data=values)
    dataset.attrs.create(CHECKSUM, checksum_of(dataset, blocks),
                         dtype=h5py.string_dtype('ascii'))


def checksum_of(dataset: Any, blocks: npt.NDArray[numpy.uint8]) -> str:
    """Return the checksum of a source, from those of its blocks.

    Parameters
    ----------
    dataset : h5py.Dataset
        The source.
    blocks : ndarray of uint8, shape (number of blocks, 32)
        The digests of its blocks.
    """
    digest = hashlib.sha256(form_of(dataset).encode())
    digest.update(numpy.ascontiguousarray(blocks).reshape(-1).data)
    return f'sha256:{digest.hexdigest()}'


def form_of(dataset: Any) -> str:
    """Return the dtype of a source and the shape of a row as text, which ends in a newline.

    The dtype is numpy's, in little-endian byte order, or ``'text'`` for strings of variable
    length. Then come the sizes of the axes of a row, with ``'?'`` for those that vary.
    """
    rows = with_shapes(dataset)
    held = None if rows.dtype.metadata is None else dict(rows.dtype.metadata).get('vlen')
    if isinstance(held, numpy.dtype):
        dtype, sizes = held, ['?'] * getattr(rows, 'axes', 1)
    else:
        dtype, sizes = rows.dtype, list(rows.shape[1:])
    name = 'text' if dtype.hasobject else _described(dtype)
    return ' '.join([name, *map(str, sizes)]) + '\n'


def _described(dtype: numpy.dtype[Any]) -> str:
    """Return a dtype as numpy writes it, with those of its fields, in little-endian byte order."""
    if dtype.subdtype is not None:
        return f'{_described(dtype.subdtype[0])}{list(dtype.subdtype[1])}'
    if dtype.names is None:
        return numpy.dtype(dtype.newbyteorder('<')).str
    fields = [f'{name}:{_described(dtype[name])}' for name in dtype.names]
    return '{' + ','.join(fields) + '}'


def structure_checksum(h5file: Any) -> str:
    """Return the checksum of which rows belong to which split, and of the labels of axes.

    It is the SHA-256 of a text with a line for each split and source, in alphabetical order: the
    names, the first row and the one behind the last, or the SHA-256 of the little-endian 64-bit
    numbers of the rows, and for each source a line with its labels.

    Raises
    ------
    Exception
        They cannot be read, as `H5PYDataset` could not.
    """
    from fuel.storage.layout import get_axis_labels
    from fuel.storage.splits import read_splits

    lines = []
    for entry in read_splits(h5file):
        if entry.available:
            where = f'{entry.start} {entry.stop}'
            if entry.indices is not None:
                rows = numpy.asarray(h5file[entry.indices][...], dtype='<i8')
                where = hashlib.sha256(rows.tobytes()).hexdigest()
            lines.append(json.dumps([entry.split, entry.source, where]))
    labels = get_axis_labels(h5file)
    lines += [json.dumps([name, labels[name]]) for name in labels]
    return 'sha256:' + hashlib.sha256('\n'.join(sorted(lines)).encode()).hexdigest()


def write_structure_checksum(h5file: Any) -> None:
    """Write the checksum of the splits and labels of a file, of which all else is written."""
    import h5py

    h5file.attrs.create(STRUCTURE, structure_checksum(h5file), dtype=h5py.string_dtype('ascii'))


def stored_digests(h5file: Any, source: str
                   ) -> tuple[npt.NDArray[numpy.int64], npt.NDArray[numpy.uint8]] | None:
    """Return where each block of a source stops, and its digest; `None` if they are not there.

    Raises
    ------
    ValueError
        What is there is not as it must be.
    """
    stops, blocks = (h5file.get(place) for place in _places(source))
    if stops is None or blocks is None:
        return None
    found = stops[...], blocks[...]
    if (found[0].ndim != 1 or found[1].shape != (len(found[0]), 32)
            or found[0].dtype.kind != 'i' or found[1].dtype != 'uint8'
            or numpy.any(numpy.diff(found[0], prepend=0) <= 0)):
        raise ValueError(f'{h5file.filename}: the checksums of the blocks of {source!r} are '
                         'damaged: expected increasing rows (integers) and 32 bytes for each '
                         f'(uint8); got shapes {found[0].shape} and {found[1].shape}, dtypes '
                         f'{found[0].dtype} and {found[1].dtype}')
    return found


def stored_checksum(dataset: Any) -> str:
    """Return the checksum of a source, such as ``'sha256:...'``; empty if there is none."""
    value = dataset.attrs.get(CHECKSUM, '')
    return value.decode('ascii', 'replace') if isinstance(value, bytes) else str(value)


def add_missing_checksums(h5file: Any) -> None:
    """Compute the checksums of those sources that have none: those not written by our writers.

    Parameters
    ----------
    h5file : h5py.File
        Open for writing, with splits.
    """
    from fuel.storage.provenance.rows import blocks_of
    from fuel.storage.splits import get_all_sources

    for source in get_all_sources(h5file):
        dataset = h5file.get(source)
        if dataset is None or not getattr(dataset, 'shape', ()) or stored_checksum(dataset):
            continue
        if can_be_digested(dataset.dtype):
            digests = BlockDigests()
            for _, rows in blocks_of(dataset):
                digests.add(rows)
            write_digests(dataset, digests)
