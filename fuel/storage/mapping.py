"""A file mapped into memory, to read it where its bytes lie.

Reading a map past the end of its file ends the process. So the size of the file is looked at
before every request (`FileMap.check`), and nothing is read that does not lie inside the map. What
remains is a file that is cut within the microseconds between that look and the copying.
"""
from __future__ import annotations

import mmap
import os
import time
from contextlib import suppress

import h5py
import numpy

from fuel._types import AnyArray
from fuel.exceptions import DataFileError

__all__ = ['FileMap', 'FileStamp', 'why_not_mapped']


def why_not_mapped(file: h5py.File) -> str:
    """Say why an open file cannot be mapped; an empty string if it can."""
    if file.driver != 'sec2':
        return f'the file is read through the driver {file.driver!r}'
    if file.mode != 'r':
        return 'the file is open for writing'
    return ''


def _opened_again(descriptor: int, name: str) -> int:
    """Return another descriptor of an open file, which does not share its lock.

    A map keeps a descriptor, and would keep the file locked with that of HDF5.
    """
    status = os.fstat(descriptor)
    for path in (f'/proc/self/fd/{descriptor}', name):
        with suppress(OSError):
            again = os.open(path, os.O_RDONLY | getattr(os, 'O_BINARY', 0))
            if os.path.samestat(os.fstat(again), status):
                return again
            os.close(again)
    return os.dup(descriptor)


class FileStamp:
    """What an open file was like when it was opened, to see whether it has been changed.

    Parameters
    ----------
    file : h5py.File
        Open for reading, with the driver ``sec2``.
    """

    __slots__ = ('_descriptor', '_name', '_seen', 'key')

    def __init__(self, file: h5py.File) -> None:
        # The descriptor of HDF5 itself: the name may stand for another file by now.
        self._descriptor: int = file.id.get_vfd_handle()
        self._name = file.filename
        status = os.fstat(self._descriptor)
        self._seen = status.st_size, status.st_mtime_ns
        #: Identifies the file and its content on this machine.
        self.key = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns)

    @property
    def size(self) -> int:
        """The size of the file in bytes."""
        return self._seen[0]

    def check(self) -> None:
        """Check that the file is what it was.

        Raises
        ------
        DataFileError
            Its size or the time of its last change is another one. An ``OSError``.
        """
        try:
            status = os.fstat(self._descriptor)
        except OSError as error:
            raise DataFileError(f'{self._name}: the file was closed while it was in use: {error}'
                                ) from None
        if (status.st_size, status.st_mtime_ns) != self._seen:
            raise DataFileError(f'{self._name}: the file was changed while it was in use: '
                                f'{self._changes(status)}. Close every data set that reads it '
                                'and open them again')

    def _changes(self, status: os.stat_result) -> str:
        size, when = self._seen
        if status.st_size != size:
            return f'it had {size} bytes when it was opened, and has {status.st_size} now'
        before, now = (time.strftime('%Y-%m-%d %H:%M:%S', time.localtime(moment / 1e9))
                       for moment in (when, status.st_mtime_ns))
        return f'it was last written at {before} when it was opened, and at {now} since'


class FileMap:
    """The bytes of an open file, mapped read-only.

    Parameters
    ----------
    file : h5py.File
        One for which `why_not_mapped` finds no reason.
    stamp : FileStamp
        Taken when the file was opened.

    Attributes
    ----------
    array : ndarray of uint8, shape (size,)
        All bytes of the file. They cannot be written.
    base : int
        The address of the first byte.
    """

    __slots__ = ('_stamp', 'array', 'base')

    def __init__(self, file: h5py.File, stamp: FileStamp) -> None:
        self._stamp = stamp
        stamp.check()
        descriptor = _opened_again(file.id.get_vfd_handle(), file.filename)
        try:
            mapped = mmap.mmap(descriptor, stamp.size, access=mmap.ACCESS_READ)
        finally:
            os.close(descriptor)
        self.array: AnyArray = numpy.frombuffer(mapped, dtype=numpy.uint8)
        self.base: int = self.array.ctypes.data

    @property
    def size(self) -> int:
        """The size of the file in bytes."""
        return self._stamp.size

    def check(self) -> None:
        """Check that the file is what it was; see `FileStamp.check`."""
        self._stamp.check()
