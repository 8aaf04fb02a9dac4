"""How the sources of an HDF5 file are stored, read, and divided into chunks."""
from __future__ import annotations

import dataclasses
import os
from typing import TYPE_CHECKING, Any

import numpy

from fuel.storage import layout
from fuel.storage.damage import naming
from fuel.storage.describe import Description, describe_source, example_chunks
from fuel.utils.indices import IndexArray

if TYPE_CHECKING:
    from fuel.storage.handles import OpenFile

__all__ = ['FileDescription']

# More names than this are not written out.
_MOST_NAMES = 6


class FileDescription:
    """Mix-in for `H5PYDataset`, which tells about its file."""

    if TYPE_CHECKING:
        load_in_memory: bool | str
        path: str
        subsets: Any
        sources: tuple[str, ...]
        which_sets: tuple[str, ...]

        def _hold(self) -> OpenFile: ...
        def _follow_sources(self) -> None: ...

    def __repr__(self) -> str:
        """Tell what it is, without opening the file: it may be gone."""
        try:
            name = os.path.basename(self.path) or self.path
            splits = f'split{"" if len(self.which_sets) == 1 else "s"} {_some(self.which_sets)}'
            return (f'<{type(self).__name__}: {self._known_examples()}{_some(self.sources)}; '
                    f'{splits} of {name}>')
        except Exception:       # it is not made yet, or a subclass does not make it in full
            return object.__repr__(self)

    def _known_examples(self) -> str:
        """Return words for the number of examples, if it is known without opening the file."""
        known = vars(self)
        if known.get('_subsets') is None or known.get('_loaded_sources') != self.sources:
            return ''
        count = known['_subsets'][0].num_examples
        return f'{count} example{"" if count == 1 else "s"} of '

    def describe(self) -> Description:
        """Tell how each source is stored in the file, and how its rows are read.

        Returns
        -------
        Description
            A dict from sources to `SourceDescription`, which is printed with a line for each.
        """
        opened = self._hold()
        try:
            with naming(self.path):
                found = [describe_source(opened, source, opened.reader(source, layout.row_reader))
                         for source in self.sources]
        finally:
            opened.release()
        if self.load_in_memory:
            found = [dataclasses.replace(entry, way='memory', reason='') for entry in found]
        return Description((entry.name, entry) for entry in found)

    def example_chunks(self) -> tuple[int, int] | IndexArray:
        """Tell in which chunk of the file each example lies, for `ChunkShuffledScheme`.

        Returns
        -------
        tuple of int, or ndarray of int64, shape (num_examples,)
            ``(length, offset)`` says that example i lies in chunk ``(i + offset) // length``; an
            array gives the number of the chunk of each example. Chunks are those of the source
            that takes up most of the file.
        """
        self._follow_sources()
        opened = self._hold()
        try:
            with naming(self.path):
                source, length = example_chunks(opened.file, self.sources)
        finally:
            opened.release()
        rows = self.subsets[self.sources.index(source)].slice_or_array
        if isinstance(rows, slice) and (rows.step or 1) == 1:
            return length, int(rows.start or 0) % length
        if isinstance(rows, slice):
            rows = numpy.arange(*rows.indices(rows.stop))
        chunks: IndexArray = rows // length
        return chunks


def _some(names: tuple[str, ...]) -> str:
    """Return names in a line, the first of many only."""
    more = len(names) - _MOST_NAMES
    return ', '.join(names[:_MOST_NAMES]) + (f' and {more} more' if more > 0 else '')
