"""Open HDF5 files: one handle for each file and process, counted, never used after a fork.

HDF5 cannot be used in a child process through a file that the parent opened: both would move one
position in it. So handles belong to the process that opened them; a child opens its own. Whoever
reads holds the handle meanwhile, so that a file is not closed under a thread that reads it.
"""
from __future__ import annotations

import errno
import logging
import os
import re
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeAlias

import h5py

from fuel.exceptions import DataFileError, DataFileNotFoundError
from fuel.storage.mapping import FileMap, FileStamp, why_not_mapped

__all__ = ['FileLease', 'OpenFile', 'open_for_reading', 'open_handles']

logger = logging.getLogger(__name__)

_Key: TypeAlias = tuple[Any, ...]

# What a file system answers that cannot lock files.
_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EROFS, errno.EACCES}


def open_for_reading(path: str, driver: str | None = None, locking: Any = None) -> h5py.File:
    """Open an HDF5 file for reading.

    Parameters
    ----------
    path : str
        The file.
    driver : str, optional
        A driver of h5py.
    locking : bool or str, optional
        Whether HDF5 locks the file, as for ``h5py.File``. By default it does, unless the file
        system cannot: many network file systems and read-only ones.

    Raises
    ------
    DataFileNotFoundError
        There is no such file. A ``FileNotFoundError``.
    DataFileError
        It is cut off, not an HDF5 file, or open for writing somewhere. An ``OSError``.
    """
    try:
        try:
            return h5py.File(path, 'r', driver=driver, locking=locking)
        except OSError as error:
            if locking is not None or not _cannot_lock(error):
                raise
            return h5py.File(path, 'r', driver=driver, locking=False)
    except PermissionError:
        raise
    except FileNotFoundError:
        inside = '' if os.path.isabs(path) else f' in {os.getcwd()}'
        raise DataFileNotFoundError(
            f'{path}: there is no such file{inside}. If it is one of the built-in data sets, make '
            'it with fuel-download and fuel-convert; if it was moved, set the attribute path of '
            'the data set to where it is now') from None
    except OSError as error:
        raise DataFileError(f'{path}: {_diagnosis(path, str(error))}') from error


def _cannot_lock(error: OSError) -> bool:
    """Tell whether a file could not be opened because its file system has no locks."""
    found = re.search(r'unable to lock file, errno = (\d+)', str(error))
    return found is not None and int(found[1]) in _NO_LOCKS


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


def _unchecked() -> None:
    """Do nothing; for files that others may rightly write."""


class OpenFile:
    """A file that is open in this process.

    Attributes
    ----------
    file : h5py.File
        The handle.
    path, driver : str
        How it was opened.
    pid : int
        The process it belongs to.
    users : int
        How many hold it; it is closed when nobody does.
    readers : dict
        What has been built on top of the handle, for reuse; it goes when the file is closed.
    counting : Lock
        Held while `users` changes.
    lock : RLock
        Held while something is added to `readers`.
    why_not_mapped : str
        Why the file cannot be read without the HDF5 library; empty if it can.
    stamp : FileStamp or None
        What the file was like when it was opened; `None` where that cannot be told.
    """

    __slots__ = ('_map', 'check', 'counting', 'driver', 'file', 'key', 'lock', 'path', 'pid',
                 'readers', 'stamp', 'users', 'why_not_mapped')

    def __init__(self, file: h5py.File, path: str, driver: str | None, key: _Key = ()) -> None:
        self.file = file
        self.path = path
        self.driver = driver
        self.key = key
        self.pid = os.getpid()
        self.users = 0
        self.readers: dict[str, Any] = {}
        self.counting = threading.Lock()
        self.lock = threading.RLock()
        self.why_not_mapped = why_not_mapped(file)
        self._map: FileMap | None = None
        self.stamp: FileStamp | None = None
        #: Raises `DataFileError` if the file has been changed since it was opened.
        self.check: Callable[[], None] = _unchecked
        if not self.why_not_mapped:
            self.stamp = FileStamp(file)
            self.check = self.stamp.check

    def file_map(self) -> FileMap | None:
        """Return the bytes of the file; `None` where they cannot be mapped."""
        if self._map is None and self.stamp is not None and not self.why_not_mapped:
            with self.lock:
                if self._map is None:
                    try:
                        self._map = FileMap(self.file, self.stamp)
                    except (OSError, ValueError, OverflowError) as error:
                        if isinstance(error, DataFileError):
                            raise
                        self.why_not_mapped = f'the file cannot be mapped into memory: {error}'
        return self._map

    def reader(self, source: str, build: Callable[[OpenFile, str], Any]) -> Any:
        """Return what reads a source; it is built once, and kept with the file."""
        found = self.readers.get(source)
        if found is None:
            with self.lock:
                found = self.readers.get(source)
                if found is None:
                    found = self.readers[source] = build(self, source)
        return found

    def forget(self) -> None:
        """Drop what was built on top of the handle."""
        self.readers.clear()
        self._map = None

    def hold(self) -> bool:
        """Hold the file once more, if it is still held by somebody in this process."""
        if self.pid != os.getpid():         # the lock may have been held when this was forked
            return False
        with self.counting:
            if self.users < 1:
                return False
            self.users += 1
            return True

    def release(self) -> None:
        """Let go of the file, once for each time it was held."""
        if self.key and self.pid == os.getpid():
            with self.counting:
                if self.users > 1:      # somebody else closes it
                    self.users -= 1
                    return
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
                    opened = self._abandoned.popleft()
                    if opened.pid != self._pid or not opened.key:
                        continue
                    if not opened.counting.acquire(blocking=False):
                        # Perhaps this very thread counts; somebody collects again before long.
                        self._abandoned.append(opened)
                        return
                    try:
                        self._let_go(opened)
                    finally:
                        opened.counting.release()
            finally:
                self._lock.release()

    def acquire(self, path: str, driver: str | None, locking: Any) -> OpenFile:
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
            opened = self._files[key] = OpenFile(
                open_for_reading(path, driver, locking), path, driver, key)
        with opened.counting:
            opened.users += 1
        return opened

    def drop(self, opened: OpenFile) -> None:
        """Let go of a file; the last one closes it. Call it with the lock held."""
        if opened.pid == self._pid and opened.key:
            with opened.counting:
                self._let_go(opened)

    def _let_go(self, opened: OpenFile) -> None:
        opened.users -= 1
        if opened.users <= 0:
            if self._files.get(opened.key) is opened:
                del self._files[opened.key]
            opened.forget()
            opened.file.close()

    def release(self, opened: OpenFile) -> None:
        if opened.key:
            with self.locked():
                self.drop(opened)

    def abandon(self, opened: OpenFile) -> None:
        """Let go of a file from a finalizer, which may run anywhere, even under the lock."""
        # When the interpreter ends there is not enough left of h5py, which closes files itself.
        if not sys.is_finalizing():
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

    Parameters
    ----------
    locking : bool or str, optional
        As for `open_for_reading`.
    locate : callable, optional
        Tells for a path where to open the file, perhaps at a copy; it may take long.
    """

    __slots__ = ('_file', '_locate', '_opened', 'locking')

    def __init__(self, locking: Any = None,
                 locate: Callable[[str], str] | None = None) -> None:
        # With the path and the driver that were asked for.
        self._file: tuple[str, str | None, OpenFile] | None = None
        self._opened = 0
        self._locate = locate
        self.locking = locking

    def _current(self, path: str, driver: str | None) -> OpenFile | None:
        """Return the file, if it is open in this process."""
        current = self._file
        if (current is not None and current[0] == path and current[1] == driver
                and current[2].pid == os.getpid() and current[2].file):
            return current[2]
        return None

    def _place(self, path: str, driver: str | None) -> str:
        """Return where to open the file. The pool is not locked."""
        if self._locate is None or driver not in (None, 'sec2'):
            return path
        current = self._current(path, driver)
        return self._locate(path) if current is None else current.path

    def _acquired(self, path: str, driver: str | None, place: str) -> OpenFile:
        """Return the file, opening it if need be. The pool is locked."""
        opened = self._current(path, driver)
        if opened is None:
            try:
                opened = _pool.acquire(place, driver, self.locking)
            except OSError as error:
                if place == path:
                    raise
                logger.warning('%s is read, for a copy of it cannot be opened: %s', path, error)
                opened = _pool.acquire(path, driver, self.locking)
            if self._file is not None:
                _pool.drop(self._file[2])
            self._file = path, driver, opened
        return opened

    def open(self, path: str, driver: str | None = None) -> None:
        """Open a file, or count one user more."""
        place = self._place(path, driver)
        with _pool.locked():
            self._acquired(path, driver, place)
            self._opened += 1

    def hold(self, path: str, driver: str | None = None) -> OpenFile:
        """Return the file, held until its method `release` is called."""
        current = self._file
        if current is not None and current[0] == path and current[1] == driver and (
                current[2].hold()):
            return current[2]
        place = self._place(path, driver)
        with _pool.locked():
            opened = self._acquired(path, driver, place)
            with opened.counting:
                opened.users += 1
            return opened

    def peek(self, path: str, driver: str | None = None) -> h5py.File:
        """Return the handle, which stays open at least until `close` is called."""
        place = self._place(path, driver)
        with _pool.locked():
            return self._acquired(path, driver, place).file

    def close(self) -> None:
        """Take back one call of `open`; the last one lets go of the file."""
        with _pool.locked():
            self._opened = max(0, self._opened - 1)
            if not self._opened and self._file is not None:
                current, self._file = self._file, None
                _pool.drop(current[2])

    def __del__(self, abandon: Callable[[OpenFile], None] = _pool.abandon) -> None:
        current = getattr(self, '_file', None)
        if current is not None:
            abandon(current[2])
