"""The sources of a file as a sheet needs them: a few rows here and there, never all of them."""
from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import h5py
import numpy

from fuel._types import AnyArray
from fuel.bin._info.facts import Facts, SourceFacts, SplitPart, facts_of
from fuel.storage import layout
from fuel.storage.describe import SourceDescription
from fuel.storage.handles import OpenFile
from fuel.storage.readers.rows import RowReader

__all__ = ['Contents', 'Rows', 'Source', 'spread']

# So many bytes of a source are read for one purpose, and so many of decoded chunks.
_BUDGET = 2 ** 24
_DECODED_BUDGET = 2 ** 28
# An example with more bytes is read here and there, in so many stretches.
_MOST_BYTES = 2 ** 26
_STRETCHES = 1500
_SEED = 20150601


def spread(count: int, wanted: int, run: int = 1, salt: int = 0) -> AnyArray:
    """Return places that are spread evenly over a range, but not regularly.

    Parameters
    ----------
    count : int
        The places are from 0 to this, which is not one of them.
    wanted : int
        How many there shall be; all, if there are no more.
    run : int, optional
        So many of them follow each other.
    salt : int, optional
        Another number gives other places.

    Returns
    -------
    ndarray of int64
        In increasing order; the same ones each time.
    """
    if wanted >= count:
        return numpy.arange(count)
    random = numpy.random.default_rng((_SEED, abs(salt)))
    runs = max(1, wanted // run)
    bounds = numpy.linspace(0, count - min(run, count), runs + 1)
    begins = (bounds[:-1] + random.random(runs) * numpy.diff(bounds)).astype(numpy.int64)
    places: AnyArray = numpy.unique(begins[:, None] + numpy.arange(run))
    return places[places < count]


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a source that a split has, in its order.

    Attributes
    ----------
    start, stop : int
        Where they are, if they follow each other.
    listed : ndarray or None
        The rows, if they do not.
    """

    start: int
    stop: int
    listed: AnyArray | None

    def __len__(self) -> int:
        return max(0, self.stop - self.start) if self.listed is None else len(self.listed)

    def at(self, places: AnyArray) -> AnyArray:
        """Return the rows at places of the split."""
        found: AnyArray = self.start + places if self.listed is None else self.listed[places]
        return found.astype(numpy.int64)


@dataclass(frozen=True, slots=True)
class Source:
    """A source that can be read.

    Attributes
    ----------
    facts : SourceFacts
        What is known of it.
    dataset : h5py.Dataset
        Where it is stored.
    reader : RowReader
        What reads rows.
    name : str
        What it is called.
    count : int
        The number of its examples.
    shape : tuple
        Of an example, `None` for axes of any length.
    labels : tuple of str
        For the axes of an example; empty if there are none.
    row_bytes : int
        Of an example, on average.
    """

    facts: SourceFacts
    dataset: h5py.Dataset
    reader: RowReader
    name: str
    count: int
    shape: tuple[int | None, ...]
    dtype: numpy.dtype[Any]
    labels: tuple[str, ...]
    row_bytes: int

    @property
    def has_own_shapes(self) -> bool:
        """Whether examples have shapes of their own."""
        return None in self.shape

    @property
    def size(self) -> int:
        """The number of values of an example, if all have the same shape."""
        return math.prod(size or 0 for size in self.shape)

    def read(self, rows: AnyArray) -> Any:
        """Return rows, in any order; an array, or an array of arrays.

        Of examples that are too long to be read there are stretches of the longest axis.
        """
        if not self.is_cut:
            return self.reader.read(numpy.asarray(rows, dtype=numpy.int64))
        axis = self.long_axis
        length = self.shape[axis] or 0
        step_bytes = max(1, self.row_bytes // max(1, length))
        stretch = max(1, _MOST_BYTES // 8 // _STRETCHES // step_bytes)
        starts = numpy.linspace(0, length - stretch, min(_STRETCHES, length)).astype(int).tolist()
        before = (slice(None),) * axis
        return numpy.array([numpy.concatenate([
            self.dataset[(row, *before, slice(start, start + stretch))] for start in starts],
            axis=axis) for row in numpy.asarray(rows).tolist()])

    @property
    def is_cut(self) -> bool:
        """Whether examples are too long to be read as a whole."""
        return not self.has_own_shapes and self.row_bytes > _MOST_BYTES

    @property
    def long_axis(self) -> int:
        """The longest axis of an example."""
        sizes = [size or 0 for size in self.shape]
        return sizes.index(max(sizes))

    def places(self, count: int, wanted: int) -> AnyArray:
        """Choose places of which the rows can be read for a moderate price.

        Parameters
        ----------
        count : int
            How many places there are.
        wanted : int
            How many are wanted at most.
        """
        wanted = max(1, min(wanted, _BUDGET // max(1, self.row_bytes)))
        chunks = self.dataset.chunks
        if chunks is None or self.has_own_shapes:
            return spread(count, wanted)
        decoded = math.prod(chunks) * self.dataset.dtype.itemsize
        decoded *= math.prod(-(-size // chunk) for size, chunk in zip(
            self.dataset.shape[1:], chunks[1:], strict=True))
        most = max(1, _DECODED_BUDGET // max(1, decoded))
        return spread(count, wanted, max(1, min(chunks[0], -(-wanted // most))))


class Contents:
    """What is in a file.

    Parameters
    ----------
    opened : OpenFile
        The file.

    Attributes
    ----------
    facts : Facts
        What is known of it.
    sources : dict
        Maps names to the sources that can be read.
    splits : dict
        Maps names of splits to dicts from sources to `Rows`.
    """

    def __init__(self, opened: OpenFile) -> None:
        self.file: h5py.File = opened.file
        self.facts: Facts = facts_of(opened)
        self.sources: dict[str, Source] = {}
        for found in self.facts.sources:
            if found.description is not None:
                self.sources[found.name] = _source(opened, found, found.description)
        self.splits: dict[str, Mapping[str, Rows]] = {
            name: {part.source: _rows(self.file, part) for part in parts
                   if part.source in self.sources and not part.problem}
            for name, parts in self.facts.splits.items()}

    def shown_splits(self, source: str, most: int = 4) -> list[str]:
        """Return the splits with examples of a source, without those that others make up."""
        having = [name for name, parts in self.splits.items() if len(parts.get(source, ()))]
        whole = [name for name in having if len(self.splits[name][source]) == (
            self.sources[source].count)]
        if len(having) > 1 and 0 < len(whole) < len(having):
            having = [name for name in having if name not in whole]
        return having[:most]

    def values(self, split: str, source: str, places: AnyArray) -> Any:
        """Return what a source has at some places of a split."""
        return self.sources[source].read(self.splits[split][source].at(places))

    def sample(self, source: str, wanted: int) -> tuple[AnyArray, Any]:
        """Return some rows of a source, spread over all it has, and what is in them."""
        found = self.sources[source]
        rows = found.places(found.count, wanted)
        return rows, found.read(rows)


def _source(opened: OpenFile, facts: SourceFacts, found: SourceDescription) -> Source:
    dataset = layout.source_dataset(opened.file, facts.name)
    count = found.shape[0] or 0
    size = facts.bytes_in_memory
    row_bytes = 2 ** 14 if size is None else max(1, size // max(1, count))
    return Source(facts, dataset, opened.reader(facts.name, layout.row_reader), facts.name, count,
                  found.shape[1:], found.dtype, tuple((facts.axis_labels or ())[1:]), row_bytes)


def _rows(h5file: h5py.File, part: SplitPart) -> Rows:
    listed = h5file[part.indices][...].reshape(-1) if part.indices else None
    return Rows(part.start, part.stop, listed)
