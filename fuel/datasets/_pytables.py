"""Data sets in files that were written with PyTables."""
from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, ClassVar, cast

import numpy

from fuel._types import AxisLabels, Batch, Request
from fuel.datasets._dataset import Dataset, source_tuple
from fuel.exceptions import DataFileError, DataLayoutError
from fuel.schemes.sequential import SequentialExampleScheme
from fuel.storage.describe import (
    Description,
    SourceDescription,
    describe_dataset,
    rows_in_chunk,
)
from fuel.storage.handles import FileLease, OpenFile
from fuel.storage.readers.rows import RowReader
from fuel.storage.tables.files import TablesLease
from fuel.storage.tables.nodes import NodeSource, find_source
from fuel.storage.tables.rows import fast_reader, tables_reader
from fuel.utils.pickling import loading_lock, without_attributes
from fuel.utils.subset import Subset

__all__ = ['PytablesDataset']


class PytablesDataset(Dataset):
    """A data set in a file that was written with PyTables.

    Parameters
    ----------
    path : str or path
        The file. It is opened when it is needed, in each process by itself.
    sources : tuple of str
        The names of the sources.
    start : int, optional
        The first row to use. By default 0.
    stop : int, optional
        The row to stop before. By default all rows are used, and all sources must have equally
        many.
    data_node : str, optional
        The group that the sources are in: ``'Data'`` by default, ``'Data/train'`` for a group in
        a group, ``'/'`` for the root group.
    sources_in_file : tuple of str, optional
        What each of the sources is called in the file: the name of a node in the group, or a path
        to one. Behind a table the path goes on to a column: ``'table/features'``, or
        ``'table/position/x'`` for a nested one. By default `sources`.
    axis_labels : mapping, optional
        Maps source names to a tuple with a label for each axis.

    Attributes
    ----------
    path : str
        Where the file is. It can be set, if the file was moved.
    sources_in_file : tuple of str
        As given, or `sources`.
    data_node : str
        As given.
    start : int
        As given.

    Raises
    ------
    FileNotFoundError
        There is no such file.
    OSError
        The file is no HDF5 file, is cut off, or is open for writing.
    ValueError
        Something that was asked for is not in the file, or the sources have different lengths.

    Notes
    -----
    The examples lie along the first axis of arrays, whichever of the axes it is that can grow.
    The kinds of nodes are

    * arrays (``Array``, ``CArray``, ``EArray``): an example is a row;
    * ragged arrays (``VLArray``): an example is an array, or whatever object or text the rows
      are made of, and several come in an array of objects. Rows of pickled objects (those of an
      ``ObjectAtom``) can run any program when they are read: read only files that you trust;
    * tables: an example is a row with its fields. A column of a table is an array.

    Numbers come in the byte order of the machine, and as arrays also where the file marks them
    to be read as lists.

    Rows of fixed size are read by their bytes, as those of `H5PYDataset` are; PyTables reads
    the rest. It cannot be used by two threads at once: while threads read this data set, the
    program must not use PyTables in other threads by itself.
    """

    independent_states: ClassVar[bool] = True
    takes_index_arrays: ClassVar[bool] = True

    _content: _Content | None = None

    def __init__(self, path: str | os.PathLike[str], sources: Iterable[str], start: int = 0,
                 stop: int | None = None, data_node: str = 'Data',
                 sources_in_file: Iterable[str] | None = None,
                 axis_labels: AxisLabels | None = None) -> None:
        name = type(self).__name__
        self.path = os.fsdecode(path)
        self.provides_sources = source_tuple(sources, name)
        self.sources_in_file = (self.provides_sources if sources_in_file is None
                                else source_tuple(sources_in_file, f'{name}, sources_in_file'))
        if len(self.sources_in_file) != len(self.provides_sources):
            raise ValueError(f'{name}: expected sources_in_file to have a name for each of the '
                             f'{len(self.provides_sources)} sources {self.provides_sources}; got '
                             f'{len(self.sources_in_file)}: {self.sources_in_file}')
        if not isinstance(data_node, str):
            raise ValueError(f'{name}: expected data_node to be the path of a group, such as '
                             f"'Data/train'; got {data_node!r}")
        self.data_node = data_node
        self.start = _row_number(start, 'start', name)
        self._stop = None if stop is None else _row_number(stop, 'stop', name)
        super().__init__(axis_labels=axis_labels)
        if self.num_examples:
            self.example_iteration_scheme = SequentialExampleScheme(self.num_examples)

    @property
    def stop(self) -> int:
        """The row to stop before."""
        return self.start + self.num_examples

    @property
    def num_examples(self) -> int:
        """The number of examples."""
        return self._loaded().subset.num_examples

    @property
    def source_shapes(self) -> list[tuple[int | None, ...]]:
        """The shape of each source, from the number of examples on; `None` where it varies."""
        content = self._loaded()
        return [(content.subset.num_examples, *content.entries[source].shape)
                for source in self.sources]

    @property
    def source_dtypes(self) -> list[numpy.dtype[Any]]:
        """The dtype of each source, and for ragged ones that of one example."""
        content = self._loaded()
        return [content.entries[source].dtype for source in self.sources]

    def open(self) -> None:
        """Open the file.

        Returns
        -------
        None
            There is no state: what is open belongs to the process, not to a reader.
        """
        self._loaded().open()

    def close(self, state: Any = None) -> None:
        """Close the file. It stays open while others use it, and is opened again if need be."""
        if self._content is not None:
            self._content.close()

    def close_file(self) -> None:
        """Close the file, however often it was opened. It is opened again if need be."""
        self._content = None

    def get_data(self, state: Any = None, request: Request = None) -> Batch:
        """Return examples.

        Parameters
        ----------
        state : object, optional
            What `open` returned; `None`.
        request : int, slice, list, tuple or ndarray
            Which examples, counted from `start`: an index, a slice, indices in any order and with
            duplicates, or a mask with a boolean for each example.

        Returns
        -------
        tuple
            For each source an array of examples, or one example for an integer. They belong to
            the caller.

        Raises
        ------
        ValueError
            An index is negative or past the end, or the request is empty or of another kind.
        """
        content = self._loaded()
        positions = content.subset.positions(request)
        opened = content.lease.hold(content.path) if content.fast else None
        try:
            if opened is not None:
                opened.check()
            return tuple([self._read(source, content.reader(source, opened), positions)
                          for source in self.sources])
        finally:
            if opened is not None:
                opened.release()

    def describe(self) -> Description:
        """Tell how each source is stored in the file, and how its rows are read.

        Returns
        -------
        Description
            A dict from sources to `SourceDescription`, which is printed with a line for each.
        """
        content = self._loaded()
        with content.held() as opened:
            return Description((source, content.describe(source, opened))
                               for source in self.sources)

    def example_chunks(self) -> tuple[int, int]:
        """Tell in which chunk of the file each example lies, for `ChunkShuffledScheme`.

        Returns
        -------
        tuple of int
            ``(length, offset)`` says that example i lies in chunk ``(i + offset) // length``.
            Chunks are those of the source that takes up most of the file.
        """
        content = self._loaded()
        with content.held() as opened:
            datasets = {source: opened.file[content.entries[source].path]
                        for source in self.sources}
            largest = max(datasets, key=lambda source: datasets[source].id.get_storage_size())
            length = rows_in_chunk(datasets[largest], content.entries[largest].length)
        return length, self.start % length

    def _read(self, source: str, reader: RowReader, positions: Any) -> Any:
        try:
            return reader.read(positions)
        except DataFileError:
            raise
        except (OSError, RuntimeError) as error:      # an HDF5ExtError is a RuntimeError
            reason = str(error).strip().rpartition('\n')[2]
            raise DataFileError(f'{self.path}: source {source!r} cannot be read: {reason}'
                                ) from error

    def _loaded(self) -> _Content:
        """Return what is known of the file, after looking into it if need be."""
        content = self._content
        if content is None or content.path != self.path:
            with loading_lock(self):
                content = self._content
                if content is None or content.path != self.path:
                    self._content = content = _Content(
                        self.path, self.data_node,
                        dict(zip(self.provides_sources, self.sources_in_file, strict=True)),
                        self.start, self._stop)
        return content

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = without_attributes(self, super().__getstate__(), ('content',))
        return state


class _Content:
    """What stands in a file, and the handles of one data set on it."""

    def __init__(self, path: str, data_node: str, names: dict[str, str], start: int,
                 stop: int | None) -> None:
        self.path = path
        self.lease = FileLease()
        self._tables = TablesLease(path)
        try:
            with self._tables.reading() as h5file:
                self.entries = {source: find_source(h5file, data_node, name)
                                for source, name in names.items()}
        finally:
            self._tables.close()
        self.subset = _chosen(path, self.entries, start, stop)
        # Under these names the readers are kept with the open file; no others begin with a slash.
        self._keys = {source: f'{entry.path} {entry.column}'
                      for source, entry in self.entries.items()}
        self._slow: dict[str, RowReader] = {}
        opened = self.lease.hold(path)
        try:
            for source in self.entries:
                self.reader(source, opened)
        finally:
            opened.release()
            self.lease.close()
        self.fast = len(self._slow) < len(self.entries)

    def reader(self, source: str, opened: OpenFile | None) -> RowReader:
        """Return the reader of a source."""
        slow = self._slow.get(source)
        if slow is None and opened is not None:
            entry = self.entries[source]
            try:
                fast: RowReader = opened.reader(self._keys[source],
                                                lambda opened, _: fast_reader(opened, entry))
            except LookupError as reason:
                slow = tables_reader(self._tables, entry, str(reason))
                self._slow[source] = slow
            else:
                return fast
        return cast(RowReader, slow)

    @contextmanager
    def held(self) -> Iterator[OpenFile]:
        """Give the file as h5py has it, which it may have only for this moment."""
        opened = self.lease.hold(self.path)
        try:
            yield opened
        finally:
            opened.release()
            if not self.fast:
                self.lease.close()

    def describe(self, source: str, opened: OpenFile) -> SourceDescription:
        """Describe a source."""
        entry = self.entries[source]
        ragged = 'vlen' if entry.kind == 'vlarray' else ''
        return describe_dataset(opened.file[entry.path], source, (entry.length, *entry.shape),
                                entry.dtype, self.reader(source, opened), ragged)

    def open(self) -> None:
        """Open the file in each of the libraries that read it."""
        if self.fast:
            self.lease.open(self.path)
        if self._slow:
            self._tables.open()

    def close(self) -> None:
        """Take back one call of `open`."""
        self.lease.close()
        self._tables.close()


def _chosen(path: str, entries: dict[str, NodeSource], start: int, stop: int | None) -> Subset:
    """Return the rows from `start` to `stop`."""
    lengths = {source: entry.length for source, entry in entries.items()}
    shortest = min(lengths, key=lengths.__getitem__)
    counted = ', '.join(f'{source!r} has {length}' for source, length in lengths.items())
    if stop is None:
        if len(set(lengths.values())) > 1:
            raise DataLayoutError(
                f'{path}: expected equally many examples along the first axis of all sources; got '
                f'different lengths: {counted}. Give stop, to use only rows that all of them have')
        stop = lengths[shortest]
        if start == stop == 0:
            return Subset.in_order(slice(0, 0, 1), 0)
    if stop > lengths[shortest]:
        raise ValueError(f'{path}: stop={stop} goes past the end of source {shortest!r}, which '
                         f'has {lengths[shortest]} rows')
    if start >= stop:
        raise ValueError(f'{path}: expected at least one row from start={start} to stop={stop}; '
                         f'{counted}')
    return Subset.in_order(slice(start, stop, 1), lengths[shortest])


def _row_number(value: Any, what: str, owner: str) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        number = -1
    if number < 0 or isinstance(value, bool):
        raise ValueError(f'{owner}: expected {what} to be the number of a row, from 0; got '
                         f'{value!r}')
    return number
