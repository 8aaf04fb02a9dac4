"""Finds the rows in which a source of one file differs from that of another.

Where both files have checksums of blocks of rows, only the blocks whose checksums differ are read.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import h5py
import numpy

from fuel._types import AnyArray
from fuel.storage import layout
from fuel.storage.handles import OpenFile
from fuel.storage.provenance.checksums import stored_digests

__all__ = ['DifferingRows', 'differing_rows']

# So many bytes of each file are read at once.
_PIECE_BYTES = 2 ** 22
# So many rows are told.
_MOST_ROWS = 10


@dataclass(frozen=True, slots=True)
class DifferingRows:
    """In which rows two sources differ.

    Attributes
    ----------
    count : int
        How many rows differ.
    compared : int
        How many rows both sources have.
    first : tuple of int
        The first of the differing rows.
    example : str
        In what the first of them differs; empty if none does.
    unread : int
        How many rows were not read, because checksums tell that they agree.
    """

    count: int
    compared: int
    first: tuple[int, ...]
    example: str
    unread: int


def differing_rows(one: OpenFile, other: OpenFile, source: str,
                   progress: Callable[[int], None] = lambda done: None, *,
                   read_all: bool = False) -> DifferingRows:
    """Compare the rows that a source has in two files.

    Parameters
    ----------
    one, other : OpenFile
        The files.
    source : str
        The name of the source. Its examples have equally many axes in both.
    progress : callable, optional
        Is told how many rows are done.
    read_all : bool, optional
        Whether rows are read also where checksums tell that they agree. By default they are not.
    """
    readers = [opened.reader(source, layout.row_reader) for opened in (one, other)]
    total = min(layout.num_examples(opened.file, source) for opened in (one, other))
    row_bytes = max(_row_bytes(opened.file, source) for opened in (one, other))
    step = max(1, _PIECE_BYTES // row_bytes)
    count, first, example, unread = 0, list[int](), '', total
    for start, stop in [(0, total)] if read_all else _suspects(one.file, other.file, source,
                                                               total):
        unread -= stop - start
        for low in range(start, stop, step):
            positions = slice(low, min(stop, low + step), 1)
            rows, others = (reader.read(positions) for reader in readers)
            differing = _differing(rows, others)
            if len(differing):
                if not example:
                    place = int(differing[0])
                    example = f'row {low + place} {_in_what(rows[place], others[place])}'
                count += len(differing)
                first += (differing[:_MOST_ROWS - len(first)] + low).tolist()
            progress(positions.stop)
    return DifferingRows(count, total, tuple(first), example, unread)


def _row_bytes(h5file: h5py.File, source: str) -> int:
    """Return how many bytes a row has, on average and about."""
    dataset = layout.source_dataset(h5file, source)
    count = max(1, layout.num_examples(h5file, source))
    if layout.ragged_kind(dataset) == 'ragged' or not dataset.dtype.hasobject:
        return max(1, int(dataset.size) * int(dataset.dtype.itemsize) // count)
    return 2 ** 14      # of arrays and strings in a heap, what they take up is not known


def _suspects(one: h5py.File, other: h5py.File, source: str,
              total: int) -> Iterator[tuple[int, int]]:
    """Yield the ranges of rows that must be read, because no checksums tell that they agree."""
    found, others = (_digests(h5file, source) for h5file in (one, other))
    if found is None or others is None or _form(one, source) != _form(other, source):
        yield 0, total
        return
    # A block of both files that begins and ends at the same rows, and has the same checksum.
    (stops, blocks), (those, their_blocks) = found, others
    ends, places, their_places = numpy.intersect1d(stops, those, return_indices=True)
    begins, their_begins = _begins(stops)[places], _begins(those)[their_places]
    agree = (begins == their_begins) & (blocks[places] == their_blocks[their_places]).all(axis=1)
    done = 0
    for start, stop in zip([*begins[agree].tolist(), total], [*ends[agree].tolist(), total],
                           strict=True):
        if done < min(start, total):
            yield done, min(start, total)
        done = stop


def _digests(h5file: h5py.File, source: str) -> Any:
    """Return the checksums of a source; `None` if there are none, or they are damaged."""
    try:
        return stored_digests(h5file, source)
    except (ValueError, OSError, RuntimeError):
        return None


def _begins(stops: AnyArray) -> AnyArray:
    return numpy.concatenate(([0], stops[:-1])) if len(stops) else stops


def _form(h5file: h5py.File, source: str) -> tuple[Any, ...]:
    """Return what must be alike for the checksums of two sources to tell whether they agree."""
    # The bytes of checksums are little-endian, whatever those in the file are.
    return (numpy.dtype(layout.example_dtype(h5file, source)).newbyteorder('<'),
            layout.example_shape(h5file, source))


def _differing(rows: Any, others: Any) -> AnyArray:
    """Return the places at which two arrays of rows differ."""
    if len(rows) == 0:
        return numpy.empty(0, numpy.int64)
    if rows.dtype.hasobject or others.dtype.hasobject:
        return numpy.flatnonzero([not _same(row, another)
                                  for row, another in zip(rows, others, strict=True)])
    return numpy.flatnonzero(_unequal(rows, others).reshape(len(rows), -1).any(axis=1))


def _unequal(values: AnyArray, others: AnyArray) -> AnyArray:
    """Return where values differ; where neither is a number they do not."""
    unequal: AnyArray = numpy.asarray(values != others)
    if values.dtype.kind in 'fc' and others.dtype.kind in 'fc' and unequal.any():
        unequal &= ~((values != values) & (others != others))
    return unequal


def _same(row: Any, another: Any) -> bool:
    if isinstance(row, numpy.ndarray) and isinstance(another, numpy.ndarray):
        return row.shape == another.shape and not _unequal(row, another).any()
    return bool(row == another)


def _in_what(row: Any, another: Any) -> str:
    """Say in what a row differs from another one."""
    row, another = numpy.asarray(row), numpy.asarray(another)
    if row.shape != another.shape:
        return f'has the shape {row.shape} in the first file, {another.shape} in the second'
    place = tuple(map(int, numpy.argwhere(_unequal(row, another))[0]))
    at = f' at [{", ".join(map(str, place))}]' if place else ''
    return f'has {row[place]!s:.40}{at} in the first file, {another[place]!s:.40} in the second'
