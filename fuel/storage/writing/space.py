"""Room on the disk: what data will take of it, and whether there is as much.

A disk that gets full is an error like others as long as HDF5 writes rows. Values of variable
length it puts into a heap that it keeps in memory for a while, and if it cannot write that later it
ends the process. So for those there must be room before HDF5 gets them.
"""
from __future__ import annotations

import errno
import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from fuel.utils.progress import format_amount

__all__ = ['REFERENCE_BYTES', 'Disk', 'DiskError', 'heap_bytes', 'writing']

#: Bytes of what stands in a data set for a value of variable length.
REFERENCE_BYTES = 16
# In the heap, values have a header each and are padded. They stand together in collections, of at
# least this size and with a header each, which grow as long as nothing stands behind them.
_ALIGNMENT = 8
_OBJECT_HEADER = 16
_COLLECTION_BYTES = 4096
_COLLECTION_HEADER = 16
# Room that is left for what HDF5 writes beside the data, up to the closing of the file, and for
# rows that are held back.
_MARGIN = 8 << 20


class DiskError(OSError):
    """The file could not be written; unlike errors of what the data come from."""


@contextmanager
def writing() -> Iterator[None]:
    """Make errors of the system, which come while HDF5 writes, a `DiskError`."""
    try:
        yield
    except DiskError:
        raise
    except OSError as error:
        raise DiskError(*error.args) from error


def heap_bytes(nbytes: int) -> float:
    """Return how much of the heap a value of variable length takes, among others.

    Parameters
    ----------
    nbytes : int
        The bytes of the value.
    """
    if not nbytes:
        return 0
    size = _OBJECT_HEADER + -(-nbytes // _ALIGNMENT) * _ALIGNMENT
    return size + min(1, size / _COLLECTION_BYTES) * _COLLECTION_HEADER


class Disk:
    """The disk that a file is on.

    Parameters
    ----------
    h5file : h5py.File
        Open for writing. If it is not an ordinary file there is room for everything.
    """

    def __init__(self, h5file: Any) -> None:
        self._file = h5file
        self._folder = (os.path.dirname(os.path.abspath(h5file.filename))
                        if h5file.driver == 'sec2' else None)

    def check(self, needed: int) -> None:
        """Check that there is room for data that have not been given to HDF5 yet.

        Parameters
        ----------
        needed : int
            Bytes.

        Raises
        ------
        DiskError
            There is not. An ``OSError`` with the number ``ENOSPC``.
        """
        if needed > self._free():
            raise self._full(needed)

    def check_next(self, needed: int) -> None:
        """Check that there is room for the next of the data, behind those that HDF5 still holds.

        Parameters
        ----------
        needed : int
            Bytes.

        Raises
        ------
        DiskError
            There is not, or hardly. An ``OSError`` with the number ``ENOSPC``.
        """
        if self._folder is None or needed + _MARGIN + self._unwritten() <= self._free():
            return
        # HDF5 may hold less than it seems: file systems can have holes and compression.
        with writing():
            self._file.flush()
        if needed + _MARGIN > self._free():
            raise self._full(needed + _MARGIN)

    def _free(self) -> int:
        with suppress(OSError):
            if self._folder is not None:
                return min(shutil.disk_usage(self._folder).free, self._up_to_the_limit())
        return sys.maxsize

    def _up_to_the_limit(self) -> int:
        """Return how much larger the file may become than it is on the disk (``ulimit -f``)."""
        if sys.platform == 'win32':
            return sys.maxsize
        import resource
        limit = resource.getrlimit(resource.RLIMIT_FSIZE)[0]
        if limit == resource.RLIM_INFINITY:
            return sys.maxsize
        return max(0, limit - os.fstat(self._file.id.get_vfd_handle()).st_size)

    def _unwritten(self) -> int:
        """Return how much of the file is not on the disk yet."""
        status = os.fstat(self._file.id.get_vfd_handle())
        on_disk: int = min(status.st_size, 512 * getattr(status, 'st_blocks', status.st_size))
        return max(0, int(self._file.id.get_filesize()) - on_disk)

    def _full(self, needed: int) -> DiskError:
        free = self._free()
        number = errno.EFBIG if self._up_to_the_limit() <= free else errno.ENOSPC
        return DiskError(number, f'{os.strerror(number)}: {format_amount(needed, "B")} are needed, '
                         f'{format_amount(free, "B")} are free', self._folder)
