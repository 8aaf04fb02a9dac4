"""What a data set reads of a file of PyTables, and its handles on that file."""
from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias, cast

from fuel.exceptions import DataLayoutError
from fuel.storage.describe import SourceDescription, describe_dataset
from fuel.storage.handles import FileLease, OpenFile
from fuel.storage.readers.rows import RowReader
from fuel.storage.tables.files import TablesLease
from fuel.storage.tables.nodes import NodeSource, find_source
from fuel.storage.tables.rows import fast_reader, tables_reader
from fuel.utils.cache import local_copy
from fuel.utils.subset import Subset

__all__ = ['NodeContent']

_Stamp: TypeAlias = tuple[int, int, int, int]


def _stamp_of(path: str) -> _Stamp | None:
    """Return what identifies a file and its content; `None` if it is not there."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


class NodeContent:
    """What stands in a file, and the handles of one data set on it.

    Parameters
    ----------
    path : str
        The file.
    data_node : str
        The group that the sources are in.
    names : dict
        Maps sources to names in that group.
    start : int
        The first row to use.
    stop : int or None
        The row to stop before.

    Attributes
    ----------
    place : str
        Where the file is opened: perhaps at a copy on a faster disk.
    entries : dict
        Maps sources to `NodeSource`.
    subset : Subset
        The rows to use.
    fast : bool
        Whether a source is read by its bytes, without PyTables.
    lease : FileLease
        The file, for such sources.
    """

    def __init__(self, path: str, data_node: str, names: dict[str, str], start: int,
                 stop: int | None) -> None:
        self.path = path
        self._stamp = _stamp_of(path)
        self.place = local_copy(path)
        self._used_by = 0               # the process that has the file open
        self._opened = 0
        self.lease = FileLease()
        self._tables = TablesLease(self.place)
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
        opened = self.lease.hold(self.place)
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

    def in_use(self) -> None:
        """Note that the file is open from now on; it notices itself if it is changed then."""
        self._used_by = os.getpid()

    def outdated(self) -> bool:
        """Return whether the file was changed while it was not open."""
        if self._used_by == os.getpid():
            return False
        stamp = _stamp_of(self.path)
        if self.place != self.path and not os.path.exists(self.place):
            return True
        return stamp is not None and stamp != self._stamp

    def looked_into_again(self, look: Callable[[], NodeContent]) -> NodeContent:
        """Return what stands in the file now, if that has the same rows.

        Raises
        ------
        DataLayoutError
            It has other ones: whoever counts on their number would go wrong. A ``ValueError``.
        """
        problem = f'{self.path}: the file is not what it was when the data set was made'
        advice = 'Make the data set again'
        try:
            fresh = look()
        except DataLayoutError as error:
            raise DataLayoutError(f'{problem}: {error}. {advice}') from None
        for source, entry in self.entries.items():
            now = fresh.entries[source]
            if (self.subset.num_examples != fresh.subset.num_examples
                    and entry.length != now.length):
                raise DataLayoutError(f'{problem}: expected {entry.length} rows in {entry.path!r}; '
                                      f'there are {now.length}. {advice}')
            if (entry.shape, entry.dtype) != (now.shape, now.dtype):
                raise DataLayoutError(
                    f'{problem}: expected rows of shape {entry.shape} and dtype {entry.dtype} in '
                    f'{entry.path!r}; they have {now.shape} and {now.dtype}. {advice}')
        return fresh

    @contextmanager
    def held(self) -> Iterator[OpenFile]:
        """Give the file as h5py has it, which it may have only for this moment."""
        opened = self.lease.hold(self.place)
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
        self.in_use()
        self._opened += 1
        if self.fast:
            self.lease.open(self.place)
        if self._slow:
            self._tables.open()

    def close(self) -> None:
        """Take back one call of `open`."""
        self._opened = max(0, self._opened - 1)
        if not self._opened:
            self._used_by = 0
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
