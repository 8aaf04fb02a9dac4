"""The file of a data set: a path to be opened when needed, or a file that was given open."""
from __future__ import annotations

import os
from typing import Any, cast

import h5py

from fuel.storage.handles import FileLease, OpenFile
from fuel.utils.cache import local_copy

__all__ = ['FileUser']


class FileUser:
    """Mix-in for objects that read an HDF5 file, whose pickles leave out what is open.

    Attributes
    ----------
    path : str
        Where the file is. It can be set at any time, as for a file that was moved. Each process
        reads its copy of that file on this machine if ``config.local_data_path`` says so.
    driver : str or None
        A driver of h5py.
    locking : bool, str or None
        Whether HDF5 locks the file, as for ``h5py.File``.
    """

    path: str
    driver: str | None
    locking: Any = None
    _external_pid: int | None = None
    _external_opened: OpenFile | None = None

    def _set_file(self, file_or_path: str | os.PathLike[str] | h5py.File,
                  driver: str | None, locking: Any = None) -> None:
        """Keep what the user gave."""
        if locking not in (None, True, False, 'best-effort'):
            raise ValueError("expected locking to be True, False, 'best-effort', or None for the "
                             f'default; got {locking!r}')
        if isinstance(file_or_path, h5py.File):
            if not file_or_path:
                raise ValueError('expected an open h5py.File, or a path; got one that is closed')
            self.external_file_handle = file_or_path
            self._external_pid = os.getpid()
            self.path = file_or_path.filename
        else:
            if not isinstance(file_or_path, (str, bytes, os.PathLike)):
                raise TypeError('expected the path of an HDF5 file, or an open h5py.File (which '
                                'may be made of a file-like object); got '
                                f'{type(file_or_path).__name__}')
            self.external_file_handle = None
            self.path = os.fsdecode(file_or_path)
        self.driver = driver
        if locking is not None:
            self.locking = locking

    @property
    def external_file_handle(self) -> h5py.File | None:
        """The open file that was given to the constructor; `None` if there is none."""
        return self.__dict__.get('_external_file_handle')

    @external_file_handle.setter
    def external_file_handle(self, value: h5py.File | None) -> None:
        self._external_file_handle = value
        self._external_opened = None
        self._external_pid = None if value is None else os.getpid()

    def _external(self) -> h5py.File | None:
        """Return the file that was given, unless it belongs to a parent process."""
        # Not through the property: a subclass may have made it one that calls load.
        h5file = self.__dict__.get('_external_file_handle')
        if h5file is None or self._external_pid not in (None, os.getpid()):
            return None
        if not h5file:
            raise ValueError(f'{self.path}: expected the h5py.File that was given to '
                             f'{type(self).__name__} to stay open; it has been closed. Give the '
                             'path, and the file will be opened when it is needed')
        return h5file

    @property
    def _lease(self) -> FileLease:
        lease: Any = self.__dict__.get('_file_lease')
        if lease is None:
            lease = self.__dict__.setdefault('_file_lease',
                                             FileLease(self.locking, local_copy))
        return cast(FileLease, lease)

    @property
    def _file_handle(self) -> h5py.File:
        """The open file; it is opened if need be."""
        h5file = self._external()
        return self._lease.peek(self.path, self.driver) if h5file is None else h5file

    def _out_of_memory_open(self) -> None:
        if self._external() is None:
            self._lease.open(self.path, self.driver)

    def _out_of_memory_close(self) -> None:
        self._lease.close()

    def _hold(self) -> OpenFile:
        """Return the open file, which stays open until it is released."""
        h5file = self._external()
        if h5file is None:
            return self._lease.hold(self.path, self.driver)
        opened = self._external_opened
        if opened is None or opened.file is not h5file:
            opened = self._external_opened = OpenFile(h5file, self.path, self.driver)
        return opened
