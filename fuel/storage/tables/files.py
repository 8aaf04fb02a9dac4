"""Files open in PyTables: used by one thread at a time, and never after a fork.

PyTables can be used neither by two threads at once nor, in a child process, through a file that
the parent opened. It may share its HDF5 library with h5py. So whoever reads through it holds the
lock of h5py, which is also held while a process forks.
"""
from __future__ import annotations

import atexit
import os
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, cast

from h5py._objects import phil

from fuel.exceptions import DataFileError
from fuel.storage.handles import open_for_reading
from fuel.storage.mapping import FileStamp

__all__ = ['TablesLease', 'open_tables']


class _Files:
    """The files that are open in this process."""

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._depth = 0                          # how many calls on the stack hold the lock
        self._files: list[Any] = []
        self._inherited: list[Any] = []
        self._abandoned: deque[Any] = deque()    # collected as garbage while the lock was held
        self._at_exit = False

    def after_fork(self) -> None:
        """Begin anew in a child process."""
        self._inherited, self._files = [*self._inherited, *self._files], []
        self._abandoned.clear()
        self._pid = os.getpid()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock, and see to abandoned files afterwards."""
        with phil:
            if self._pid != os.getpid():         # forked behind the back of Python
                self.after_fork()
            self._depth += 1
            try:
                yield
            finally:
                self._depth -= 1
                self._collect()

    def _collect(self) -> None:
        # A finalizer may run in the middle of a call to PyTables, which must not be disturbed.
        while self._abandoned and not self._depth:
            with suppress(IndexError):
                self.close(self._abandoned.popleft())

    def open(self, path: str) -> Any:
        """Open a file. Call it with the lock held."""
        import tables
        if not self._at_exit:
            # PyTables warns at exit about files that are still open: it must find none.
            atexit.register(self.close_all)
            self._at_exit = True
        self._forget_inherited()
        # PyTables names no reason where it cannot open a file.
        open_for_reading(path).close()
        before = _known(path)
        try:
            opened = tables.open_file(path, 'r')
        except Exception as error:
            for failed in _known(path) - before:       # PyTables keeps what it failed to open
                with suppress(Exception):
                    failed.close()
            raise DataFileError(f'{path}: PyTables cannot open the file: {_reason(error)}'
                                ) from error
        # Whoever closes all files of PyTables closes these, too.
        self._files = [*filter(_is_open, self._files), opened]
        return opened

    def _forget_inherited(self) -> None:
        # HDF5 would go on with the descriptor of the parent if it saw the file still open.
        while self._inherited:
            with suppress(Exception):
                self._inherited.pop().close()

    def close(self, opened: Any) -> None:
        """Close a file. Call it with the lock held."""
        if opened in self._files:                # otherwise it is closed, or of another process
            self._files.remove(opened)
            opened.close()

    def abandon(self, opened: Any) -> None:
        """Close a file from a finalizer, which may run anywhere, now or when the lock is free."""
        self._abandoned.append(opened)
        if phil.acquire(blocking=False):
            try:
                self._collect()
            finally:
                phil.release()

    def close_all(self) -> None:
        with self.locked():
            self._forget_inherited()
            for opened in list(self._files):
                self.close(opened)

    def names(self) -> list[str]:
        with self.locked():
            return [opened.filename for opened in self._files if opened.isopen]


def _is_open(opened: Any) -> bool:
    return bool(opened.isopen)


def _known(path: str) -> set[Any]:
    """Return the files of a path that PyTables knows to be open, whoever opened them."""
    import tables
    return set(tables.file._open_files.get_handlers_by_name(path))


def _reason(error: Exception) -> str:
    """Say why PyTables could not open a file that is sound HDF5."""
    if isinstance(error, (OSError, RuntimeError, ValueError)):
        return str(error).strip().rpartition('\n')[2]
    return (f'it stumbles over an attribute of the root group ({type(error).__name__}: {error}), '
            'as it does over the attribute split of the files of H5PYDataset; read it with '
            'H5PYDataset')


_files = _Files()
if hasattr(os, 'register_at_fork'):
    os.register_at_fork(after_in_child=_files.after_fork)


def open_tables() -> list[str]:
    """Return the paths of the files that data sets have open in PyTables, in this process."""
    return _files.names()


class _Handle:
    """A file of PyTables, as `FileStamp` sees one of h5py."""

    def __init__(self, opened: Any) -> None:
        self.id = self
        self.filename = opened.filename
        self.get_vfd_handle = opened.fileno


class TablesLease:
    """The file that one data set reads through PyTables.

    It is opened by `open` or on first use, and closed by `close` once for every `open`, or when
    the lease is collected as garbage. In a child process it is opened again.

    Parameters
    ----------
    path : str
        The file.
    """

    __slots__ = ('_file', '_opened', '_path', '_pid', '_stamp')

    def __init__(self, path: str) -> None:
        self._path = path
        self._file: Any = None
        self._opened = 0
        self._pid = 0
        self._stamp: FileStamp | None = None

    @contextmanager
    def reading(self) -> Iterator[Any]:
        """Give the ``tables.File``, which no other thread uses meanwhile.

        Raises
        ------
        DataFileError
            The file has been changed since it was opened. An ``OSError``.
        """
        import tables  # noqa: F401 (before the lock is held, for it takes long)
        with _files.locked():
            if self._file is None or self._pid != os.getpid() or not self._file.isopen:
                self._file = _files.open(self._path)
                self._pid = os.getpid()
                self._stamp = FileStamp(cast(Any, _Handle(self._file)))
            if self._stamp is not None:
                self._stamp.check()
            yield self._file

    def open(self) -> None:
        """Open the file, or count one user more."""
        with self.reading():
            self._opened += 1

    def close(self) -> None:
        """Take back one call of `open`; the last one closes the file."""
        with _files.locked():
            self._opened = max(0, self._opened - 1)
            if not self._opened and self._file is not None:
                opened, self._file = self._file, None
                _files.close(opened)

    def __del__(self, abandon: Callable[[Any], None] = _files.abandon) -> None:
        opened = getattr(self, '_file', None)
        if opened is not None:
            abandon(opened)
