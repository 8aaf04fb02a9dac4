"""Where a file keeps the checksums of its sources, and whether they are to be kept."""
from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy
import numpy.typing as npt

from fuel.storage.provenance.digests import BlockDigests, RowDigests, can_be_digested

__all__ = ['CHECKSUM', 'add_missing_checksums', 'keeping_checksums', 'new_digests',
           'stored_checksum', 'stored_digests', 'write_digests']

#: The group of what is known about how a file came about.
GROUP = 'fuel_provenance'
#: The attribute of a source that has its checksum.
CHECKSUM = 'fuel_checksum'

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
    total = hashlib.sha256(blocks.reshape(-1).data).hexdigest()
    dataset.attrs.create(CHECKSUM, f'sha256:{total}', dtype=h5py.string_dtype('ascii'))


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
                         'damaged: expected increasing rows and 32 bytes for each; got shapes '
                         f'{found[0].shape} and {found[1].shape}')
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
