"""Data sets in files that were written with PyTables."""
from __future__ import annotations

import operator
import os
from collections.abc import Iterable
from typing import Any, ClassVar

import numpy

from fuel._types import AxisLabels, Batch, Request
from fuel.datasets._dataset import Dataset, source_tuple
from fuel.exceptions import DataFileError
from fuel.schemes.sequential import SequentialExampleScheme
from fuel.storage.describe import Description, rows_in_chunk
from fuel.storage.readers.rows import RowReader
from fuel.storage.tables.content import NodeContent
from fuel.utils.pickling import loading_lock, without_attributes

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
    A file may be written anew while no data set has it open. If it then has other rows than before
    this data set must be made again; until then it refuses to read.

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

    _content: NodeContent | None = None

    def __init__(self, path: str | os.PathLike[str], sources: Iterable[str], start: int = 0,
                 stop: int | None = None, data_node: str = 'Data',
                 sources_in_file: Iterable[str] | None = None,
                 axis_labels: AxisLabels | None = None) -> None:
        name = type(self).__name__
        self.path = os.fsdecode(path)
        self.provides_sources = source_tuple(sources, name)
        self.sources_in_file = (self.provides_sources if sources_in_file is None
                                else source_tuple(sources_in_file, f'{name}, sources_in_file'))
        if len(set(self.provides_sources)) < len(self.provides_sources):
            raise ValueError(f'{name}: expected every source once; got {self.provides_sources}. '
                             'To have a node under two names, give sources_in_file')
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
        self._current().open()

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
        content = self._current()
        positions = content.subset.positions(request)
        opened = content.lease.hold(content.place) if content.fast else None
        content.in_use()
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
        content = self._current()
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
        content = self._current()
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

    def _loaded(self) -> NodeContent:
        """Return what is known of the file, after looking into it if need be."""
        content = self._content
        if content is None or content.path != self.path:
            with loading_lock(self):
                content = self._content
                if content is None or content.path != self.path:
                    self._content = content = self._looked_into()
        return content

    def _looked_into(self) -> NodeContent:
        names = dict(zip(self.provides_sources, self.sources_in_file, strict=True))
        return NodeContent(self.path, self.data_node, names, self.start, self._stop)

    def _current(self) -> NodeContent:
        """Return what is known of the file, after looking again if it was changed meanwhile."""
        content = self._loaded()
        if content.outdated():
            with loading_lock(self):
                if self._content is content:
                    self._content = content.looked_into_again(self._looked_into)
            content = self._loaded()
        return content

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = without_attributes(self, super().__getstate__(), ('content',))
        return state


def _row_number(value: Any, what: str, owner: str) -> int:
    try:
        number = operator.index(value)
    except TypeError:
        number = -1
    if number < 0 or isinstance(value, bool):
        raise ValueError(f'{owner}: expected {what} to be the number of a row, from 0; got '
                         f'{value!r}')
    return number
