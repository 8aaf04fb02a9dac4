"""Whether the rows of a source are still those that were written."""
from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy

from fuel.storage.provenance.checksums import (
    STRUCTURE,
    checksum_of,
    stored_checksum,
    stored_digests,
    structure_checksum,
)
from fuel.storage.provenance.digests import rows_bytes
from fuel.storage.provenance.rows import rows_of

__all__ = ['STRUCTURE_NAME', 'Verdict', 'verify_source', 'verify_structure']

#: What the verdict about splits and labels is called; no source has such a name.
STRUCTURE_NAME = '(splits and labels)'


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is known of the rows of a source.

    Attributes
    ----------
    source : str
        Its name.
    checked : bool
        Whether the file has checksums of it.
    bad : tuple of (int, int)
        Ranges (first row, row after the last) in which something differs.
    problem : str
        What else is wrong; empty if nothing is.
    """

    source: str
    checked: bool
    bad: tuple[tuple[int, int], ...] = ()
    problem: str = ''

    @property
    def good(self) -> bool:
        """Whether all is as it was written; also if there is nothing to compare with."""
        return not self.bad and not self.problem


def verify_source(h5file: Any, source: str,
                  progress: Callable[[int], None] = lambda rows: None) -> Verdict:
    """Compare the rows of a source with their checksums.

    Parameters
    ----------
    h5file : h5py.File
        The file.
    source : str
        The source.
    progress : callable, optional
        Told now and then how many rows have been compared.

    Returns
    -------
    Verdict
        Rows that cannot be read are bad ones.
    """
    try:
        return _verify(h5file, source, progress)
    except Exception as error:      # what is damaged makes HDF5 and numpy raise nearly anything
        return Verdict(source, True, problem=f'it cannot be read: {" ".join(str(error).split())}')


def verify_structure(h5file: Any) -> Verdict:
    """Compare which rows belong to which split, and the labels of axes, with their checksum.

    Parameters
    ----------
    h5file : h5py.File
        The file.

    Returns
    -------
    Verdict
        Splits that `H5PYDataset` would refuse are a problem.
    """
    from fuel.storage.selection import select
    from fuel.storage.splits import entries_of, get_provided_sources, read_splits

    try:
        stored = h5file.attrs.get(STRUCTURE)
        found = structure_checksum(h5file)
        entries = read_splits(h5file)
        for split in dict.fromkeys(entry.split for entry in entries):
            chosen = entries_of(entries, (split,), h5file.filename)
            sources = get_provided_sources(chosen, h5file.filename)
            select(h5file, chosen, sources, sources)
    except Exception as error:
        return Verdict(STRUCTURE_NAME, True, problem=' '.join(str(error).split()))
    if stored is None:
        return Verdict(STRUCTURE_NAME, False)
    stored = stored.decode('ascii', 'replace') if isinstance(stored, bytes) else str(stored)
    problem = '' if stored == found else 'they are not as they were written'
    return Verdict(STRUCTURE_NAME, True, problem=problem)


def _verify(h5file: Any, source: str, progress: Callable[[int], None]) -> Verdict:
    dataset = h5file.get(source)
    if dataset is None or not getattr(dataset, 'shape', ()):
        return Verdict(source, False, problem=f'there is no data set {source!r} with rows')
    try:
        found = stored_digests(h5file, source)
        checksum = stored_checksum(dataset)
    except (OSError, RuntimeError, ValueError) as error:
        return Verdict(source, True, problem=f'its checksums cannot be read: {error}')
    if found is None:
        problem = 'the checksums of its blocks are missing' if checksum else ''
        return Verdict(source, bool(checksum), problem=problem)
    stops, blocks = found
    problem = ''
    if checksum != checksum_of(dataset, blocks):
        problem = ('its dtype, the shape of its rows, or the checksums of its blocks do not fit '
                   'the checksum of the source')
    try:
        rows, step = rows_of(dataset)
        count = int(rows.shape[0])
    except (OSError, RuntimeError, ValueError) as error:
        return Verdict(source, True, problem=f'its rows cannot be found: {error}')
    last = int(stops[-1]) if len(stops) else 0
    if count != last:
        problem = f'there are checksums for {last} rows; the source has {count}'
    bad: list[tuple[int, int]] = []
    starts = [0, *stops[:-1].tolist()]
    position = 0
    while position < len(stops) and starts[position] < count:
        # As many whole blocks as have about `step` rows.
        end = max(position + 1, int(numpy.searchsorted(stops, starts[position] + step, 'right')))
        spans = list(zip(starts[position:end], stops[position:end].tolist(), strict=True))
        bad += _differing(rows, spans, [block.tobytes() for block in blocks[position:end]])
        position = end
        progress(min(count, spans[-1][1]))
    return Verdict(source, True, _joined(bad), problem)


def _differing(rows: Any, spans: list[tuple[int, int]], digests: list[bytes]
               ) -> list[tuple[int, int]]:
    """Return those blocks of a few that cannot be read or are not as they were."""
    first = spans[0][0]
    try:
        content = rows_bytes(rows[first:spans[-1][1]])
    except Exception:   # damaged data raise nearly anything
        if len(spans) == 1:
            return spans
        middle = len(spans) // 2
        return [*_differing(rows, spans[:middle], digests[:middle]),
                *_differing(rows, spans[middle:], digests[middle:])]
    return [(start, stop) for (start, stop), digest in zip(spans, digests, strict=True)
            if _digest(content[start - first:stop - first]) != digest]


def _digest(content: Any) -> bytes:
    if isinstance(content, list):
        return hashlib.sha256(b''.join(content)).digest()
    return hashlib.sha256(memoryview(content.reshape(-1).view('u1'))
                          if content.size else b'').digest()


def _joined(spans: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Join ranges that follow each other."""
    joined: list[tuple[int, int]] = []
    for start, stop in spans:
        if joined and joined[-1][1] == start:
            joined[-1] = joined[-1][0], stop
        else:
            joined.append((start, stop))
    return tuple(joined)
