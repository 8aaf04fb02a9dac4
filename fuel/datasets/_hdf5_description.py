"""How the sources of an HDF5 file are stored, read, and divided into chunks."""
from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import numpy

from fuel.storage import layout
from fuel.storage.damage import naming
from fuel.storage.describe import Description, describe_source, example_chunks
from fuel.utils.indices import IndexArray

if TYPE_CHECKING:
    from fuel.storage.handles import OpenFile

__all__ = ['FileDescription']


class FileDescription:
    """Mix-in for `H5PYDataset`, which tells about its file."""

    if TYPE_CHECKING:
        load_in_memory: bool | str
        path: str
        subsets: Any
        sources: tuple[str, ...]

        def _hold(self) -> OpenFile: ...
        def _follow_sources(self) -> None: ...

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
