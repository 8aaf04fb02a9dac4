"""Open HDF5 files: one handle for each file and process, counted, never used after a fork.

HDF5 cannot be used in a child process through a file that the parent opened: both would move one
position in it. So handles belong to the process that opened them; a child opens its own. Whoever
reads holds the handle meanwhile, so that a file is not closed under a thread that reads it.
"""
from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeAlias

import h5py

from fuel.exceptions import DataFileError, DataFileNotFoundError

__all__ = ['FileLease', 'OpenFile', 'open_for_reading', 'open_handles']

_Key: TypeAlias = tuple[Any, ...]


def open_for_reading(path: str, driver: str | None = None) -> h5py.File:
    """Open an HDF5 file for reading.

    Parameters
    ----------
    path : str
        The file.
    driver : str, optional
        A driver of h5py.

    Raises
    ------
    DataFileNotFoundError
        There is no such file. A ``FileNotFoundError``.
    DataFileError
        It is cut off, not an HDF5 file, or open for writing somewhere. An ``OSError``.
    """
    try:
        return h5py.File(path, 'r', driver=driver)
    except PermissionError:
        raise
    except FileNotFoundError:
        raise DataFileNotFoundError(
            f'{path}: there is no such file. If it is one of the built-in data sets, make it with '
            'fuel-download and fuel-convert; if it was moved, set the attribute path of the data '
            'set to where it is now') from None
    except OSError as error:
        raise DataFileError(f'{path}: {_diagnosis(path, str(error))}') from error


def _diagnosis(path: str, message: str) -> str:
    """Say in words what HDF5 means by an error on opening."""
    if os.path.isdir(path):
        return 'expected an HDF5 file; this is a folder'
    if os.path.isfile(path) and not os.path.getsize(path):
        return ('expected an HDF5 file; the file is empty. Make it again with fuel-download and '
                'fuel-convert')
    if 'truncated' in message:
        problem = ('the file is cut off, as after a download or conversion that was interrupted; '
                   'make it again with fuel-download and fuel-convert')
    elif 'signature' in message:
        problem = 'this is not an HDF5 file; expected one, such as fuel-convert writes'
    elif 'lock' in message or 'already open' in message:
        problem = ('the file is open for writing, here or in another process; close it there '
                   'before it is read')
    else:
        problem = 'the file cannot be opened as HDF5; it may be damaged'
    return f'{problem} (HDF5 says: {message})'


class OpenFile:
    """A file that is open in this process.

    Attributes
    ----------
    file : h5py.File
        The handle.
    path, driver : str
        How it was asked for.
    pid : int
        The process it belongs to.
    users : int
        How many hold it; it is closed when nobody does.
    readers : dict
        What has been built on top of the handle, for reuse; it goes when the file is closed.
    """

    __slots__ = ('driver', 'file', 'key', 'path', 'pid', 'readers', 'users')

    def __init__(self, file: h5py.File, path: str, driver: str | None, key: _Key = ()) -> None:
        self.file = file
        self.path = path
        self.driver = driver
        self.key = key
        self.pid = os.getpid()
        self.users = 0
        self.readers: dict[str, Any] = {}

    def release(self) -> None:
        """Let go of the file, once for each time it was held."""
        _pool.release(self)


class _Pool:
    """The files that are open in this process, by real path, identity of the file and driver."""

    def __init__(self) -> None:
        self._inherited: list[OpenFile] = []
        self._files: dict[_Key, OpenFile] = {}
        self._begin()

    def _begin(self) -> None:
        self._pid = os.getpid()
        self._lock = threading.Lock()
        # Leases that were collected as garbage while the lock was held.
        self._abandoned: deque[OpenFile] = deque()

    def after_fork(self) -> None:
        """Begin anew in a child process."""
        self._inherited.extend(self._files.values())
        self._files = {}
        self._begin()

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the lock, and see to abandoned files afterwards."""
        if self._pid != os.getpid():            # forked behind the back of Python
            self.after_fork()
        try:
            with self._lock:
                yield
        finally:
            self._collect()

    def _collect(self) -> None:
        while self._abandoned and self._lock.acquire(blocking=False):
            try:
                with suppress(IndexError):
                    self.drop(self._abandoned.popleft())
            finally:
                self._lock.release()

    def acquire(self, path: str, driver: str | None) -> OpenFile:
        """Return a file, which is now held once more. Call it with the lock held."""
        # HDF5 would go on with the descriptor of the parent if it saw the file still open.
        while self._inherited:
            with suppress(Exception):
                self._inherited.pop().file.close()
        try:
            status = os.stat(path)
            key: _Key = (os.path.realpath(path), status.st_dev, status.st_ino, driver)
        except OSError:
            key = (path, driver)                # missing, or an address that only a driver knows
        opened = self._files.get(key)
        if opened is None or not opened.file:
            opened = self._files[key] = OpenFile(open_for_reading(path, driver), path, driver, key)
        opened.users += 1
        return opened

    def drop(self, opened: OpenFile) -> None:
        """Let go of a file; the last one closes it. Call it with the lock held."""
        if opened.pid != self._pid or not opened.key:
            return
        opened.users -= 1
        if opened.users <= 0:
            if self._files.get(opened.key) is opened:
                del self._files[opened.key]
            opened.readers.clear()
            opened.file.close()

    def release(self, opened: OpenFile) -> None:
        if opened.key:
            with self.locked():
                self.drop(opened)

    def abandon(self, opened: OpenFile) -> None:
        """Let go of a file from a finalizer, which may run anywhere, even under the lock."""
        self._abandoned.append(opened)
        self._collect()

    def counts(self) -> dict[str, int]:
        with self.locked():
            return {opened.path: opened.users for opened in self._files.values()}


_pool = _Pool()
if hasattr(os, 'register_at_fork'):
    os.register_at_fork(after_in_child=_pool.after_fork)


def open_handles() -> dict[str, int]:
    """Return the paths of the files that are open in this process, with their number of users."""
    return _pool.counts()


class FileLease:
    """The share of one data set in the file it reads.

    The file is opened by `open` or on first use, and closed by `close` once for every `open`, or
    when the lease is collected as garbage. In a child process it is opened again.
    """

    __slots__ = ('_file', '_opened')

    def __init__(self) -> None:
        self._file: OpenFile | None = None
        self._opened = 0

    def _current(self, path: str, driver: str | None) -> OpenFile:
        """Return the file, opening it if need be. The pool is locked."""
        current = self._file
        if (current is None or current.pid != os.getpid() or current.path != path
                or current.driver != driver or not current.file):
            fresh = _pool.acquire(path, driver)
            if current is not None:
                _pool.drop(current)
            self._file = current = fresh
        return current

    def open(self, path: str, driver: str | None = None) -> None:
        """Open a file, or count one user more."""
        with _pool.locked():
            self._current(path, driver)
            self._opened += 1

    def hold(self, path: str, driver: str | None = None) -> OpenFile:
        """Return the file, held until its method `release` is called."""
        with _pool.locked():
            current = self._current(path, driver)
            current.users += 1
            return current

    def peek(self, path: str, driver: str | None = None) -> h5py.File:
        """Return the handle, which stays open at least until `close` is called."""
        with _pool.locked():
            return self._current(path, driver).file

    def close(self) -> None:
        """Take back one call of `open`; the last one lets go of the file."""
        with _pool.locked():
            self._opened = max(0, self._opened - 1)
            if not self._opened and self._file is not None:
                current, self._file = self._file, None
                _pool.drop(current)

    def __del__(self, abandon: Callable[[OpenFile], None] = _pool.abandon) -> None:
        current = getattr(self, '_file', None)
        if current is not None:
            abandon(current)
