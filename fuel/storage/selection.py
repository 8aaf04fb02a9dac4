"""From the splits of a file to the rows of each source that belong together.

Several splits are merged into their union, in the order of the file, and each example counts once.
Examples of different sources belong together by their place in a split. Usually all sources of a
split list the same rows, and then sorting them cannot tear examples apart. Where they do not, the
examples are put into the order of the first source that the splits provide, and keep their
duplicates.
"""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import h5py
import numpy

from fuel.exceptions import DataLayoutError
from fuel.storage.layout import num_examples
from fuel.storage.splits import SplitEntry
from fuel.utils.indices import IndexArray, compact, is_increasing
from fuel.utils.subset import Subset

__all__ = ['select']

# Where at least one row in so many is wanted, the wanted ones are marked rather than sorted.
_DENSE = 64
# The rows that a split lists for a source: (start, stop), or an array in the order of the file.
_Rows: TypeAlias = tuple[int, int] | IndexArray


def select(h5file: h5py.File, chosen: Mapping[str, Mapping[str, SplitEntry]],
           sources: Sequence[str], provided: Sequence[str]) -> dict[str, Subset]:
    """Return the rows of each source that make up the chosen splits.

    Parameters
    ----------
    h5file : h5py.File
        The file, open.
    chosen : mapping
        Maps each of the splits to its entries, by source.
    sources : sequence of str
        The sources wanted.
    provided : sequence of str
        All sources that the splits have in common. Those that are not wanted count too for the
        order of examples, so that it does not depend on which are wanted.

    Returns
    -------
    dict
        Maps the wanted sources to subsets of equal length.

    Raises
    ------
    DataLayoutError
        A split reaches past the end of its data, refers to something that is no list of rows, or
        has sources of different lengths. A ``ValueError``.
    """
    reader = _RowsReader(h5file)
    listed = {source: [reader.rows(of_split[source]) for of_split in chosen.values()]
              for source in sources}
    _check_lengths(h5file.filename, list(chosen), listed)
    lengths = [_length(rows) for rows in listed[sources[0]]]
    for source in provided:
        if source not in listed:
            try:
                rows = [reader.rows(of_split[source]) for of_split in chosen.values()]
            except DataLayoutError:
                continue                  # nobody asked for this source
            if [_length(entry) for entry in rows] == lengths:
                listed[source] = rows
    columns = [listed[source] for source in provided if source in listed]
    totals = {source: num_examples(h5file, source) for source in sources}
    if all(_same(first, other) for column in columns[1:]
           for first, other in zip(columns[0], column, strict=True)):
        union = _union(columns[0], max(totals.values()))
        return {source: Subset.in_order(union.slice_or_array, total)
                for source, total in totals.items()}
    if _pieces_in_order(columns):
        return {source: _union(listed[source], total) for source, total in totals.items()}
    order = _paired_order(columns)
    return {source: Subset.in_order(compact(_column(listed[source])[order], total), total)
            for source, total in totals.items()}


class _RowsReader:
    """Reads the rows that entries list; each data set of indices only once."""

    def __init__(self, h5file: h5py.File) -> None:
        self._file = h5file
        self._read: dict[Any, tuple[IndexArray, int, int]] = {}

    def rows(self, entry: SplitEntry) -> _Rows:
        """Return the rows of an entry, after checking that they exist."""
        total = num_examples(self._file, entry.source)
        where = f'{self._file.filename}: split {entry.split!r}, source {entry.source!r}'
        if entry.indices is None:
            if not 0 <= entry.start <= entry.stop:
                raise DataLayoutError(f'{where}: expected 0 <= start <= stop; got start '
                                      f'{entry.start} and stop {entry.stop}')
            if entry.stop > total:
                raise DataLayoutError(
                    f'{where}: the split goes past the end of the data: it stops at '
                    f'{entry.stop}, and there are {total} rows. Was the file cut, or the split '
                    'attribute written for other data?')
            return entry.start, entry.stop
        indices, lowest, highest = self._indices(entry.indices, where)
        if lowest < 0 or highest >= total:
            wrong = lowest if lowest < 0 else highest
            raise DataLayoutError(
                f'{where}: the split goes past the end of the data: its indices name row '
                f'{wrong}, and there are {total} rows, from 0 to {total - 1}')
        return indices

    def _indices(self, reference: Any, where: str) -> tuple[IndexArray, int, int]:
        """Return the indices that a reference refers to, with the lowest and the highest."""
        try:
            target = self._file[reference]
            key = h5py.h5o.get_info(target.id).addr
        except (KeyError, OSError, RuntimeError, TypeError, ValueError) as error:
            raise DataLayoutError(
                f'{where}: the reference to the indices of the split leads nowhere; the data set '
                f'it referred to has been deleted, or stands in another file ({error})') from None
        if (not isinstance(target, h5py.Dataset) or target.ndim != 1
                or target.dtype.kind not in 'iu'):
            kind = (f'{target.dtype} of shape {target.shape}' if isinstance(target, h5py.Dataset)
                    else type(target).__name__)
            raise DataLayoutError(
                f'{where}: expected the indices of the split to refer to a one-dimensional data '
                f'set of integers; got {target.name!r}, {kind}')
        if key not in self._read:
            indices = target[...]
            lowest, highest = (int(indices.min()), int(indices.max())) if indices.size else (0, -1)
            indices = compact(indices, highest + 1 if lowest >= 0 else 2 ** 32)
            self._read[key] = indices, lowest, highest
        return self._read[key]


def _length(rows: _Rows) -> int:
    return rows[1] - rows[0] if isinstance(rows, tuple) else len(rows)


def _check_lengths(filename: str, splits: Sequence[str],
                   listed: Mapping[str, Sequence[_Rows]]) -> None:
    """Check that every split has equally many rows in all sources."""
    for place, split in enumerate(splits):
        lengths = {source: _length(rows[place]) for source, rows in listed.items()}
        if len(set(lengths.values())) > 1:
            counted = ', '.join(f'{source!r} has {length}' for source, length in lengths.items())
            raise DataLayoutError(
                f'{filename}: expected equally many examples in all sources of split {split!r}; '
                f'got different lengths: {counted}. Choose sources of one length, or correct the '
                'split attribute')


def _same(rows: _Rows, other: _Rows) -> bool:
    if isinstance(rows, tuple) or isinstance(other, tuple):
        if isinstance(rows, tuple) and isinstance(other, tuple):
            return rows == other
        return bool(numpy.array_equal(_as_array(rows), _as_array(other)))
    return rows is other or bool(numpy.array_equal(rows, other))


def _as_array(rows: _Rows) -> IndexArray:
    return numpy.arange(*rows) if isinstance(rows, tuple) else rows


def _column(pieces: Sequence[_Rows]) -> IndexArray:
    """Return the rows of one source, split after split."""
    return numpy.concatenate([_as_array(rows).astype(numpy.int64) for rows in pieces])


def _union(pieces: Sequence[_Rows], total: int) -> Subset:
    """Return the union of the rows of several splits, in the order of the file."""
    has_indices = not all(isinstance(rows, tuple) for rows in pieces)
    if len(pieces) > 1 and has_indices and total < _DENSE * sum(map(_length, pieces)):
        return Subset.in_order(compact(_marked(pieces, total), total), total)
    union = Subset.in_order(slice(0, 0), total)
    for rows in pieces:
        if isinstance(rows, tuple):
            union += Subset.in_order(slice(*rows), total)
        else:
            union += Subset.in_order(rows if is_increasing(rows) else _sorted(rows), total)
    return union


def _sorted(rows: IndexArray) -> IndexArray:
    """Return rows in increasing order, each once."""
    highest = int(rows.max())
    if highest < _DENSE * len(rows):
        return _marked([rows], highest + 1)
    return numpy.unique(rows)


def _marked(pieces: Sequence[_Rows], total: int) -> IndexArray:
    """Return rows in increasing order, each once.

    Marking rows takes one pass, where sorting would take many.
    """
    marked = numpy.zeros(total, dtype=bool)
    for rows in pieces:
        marked[slice(*rows) if isinstance(rows, tuple) else rows] = True
    return numpy.flatnonzero(marked)


def _pieces_in_order(columns: Sequence[Sequence[_Rows]]) -> bool:
    """Return whether all splits are slices that come in one order, without overlap, everywhere.

    Then the union of each source by itself keeps examples together.
    """
    if not all(isinstance(rows, tuple) for column in columns for rows in column):
        return False
    order = sorted(range(len(columns[0])), key=lambda place: tuple(columns[0][place]))
    return all(column[before][1] <= column[after][0] for column in columns
               for before, after in pairwise(order))


def _paired_order(columns: Sequence[Sequence[_Rows]]) -> IndexArray:
    """Return in which order, and which, examples are taken out of the splits one after another.

    They are ordered by their row in the first source. What an earlier split has is left out of
    the later ones; what one split lists several times stays.
    """
    table = [_column(column) for column in columns]
    if len(columns[0]) == 1:
        return numpy.argsort(table[0], kind='stable')
    split = numpy.repeat(numpy.arange(len(columns[0])), [_length(rows) for rows in columns[0]])
    example = numpy.zeros(len(split), dtype=numpy.int64)       # equal numbers for equal examples
    for column in table:
        _, rank = numpy.unique(column, return_inverse=True)
        ranks = int(numpy.max(rank)) + 1 if len(rank) else 1
        _, example = numpy.unique(example * ranks + rank, return_inverse=True)
    _, earliest = numpy.unique(example, return_index=True)
    kept = numpy.flatnonzero(split == split[earliest][example])
    return kept[numpy.argsort(table[0][kept], kind='stable')]
