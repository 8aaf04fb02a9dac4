"""A heap in memory that processes share, in Python."""
from __future__ import annotations

import bisect
import errno
import mmap
import os
import sys
import threading
import weakref
from collections.abc import Iterable
from typing import Any

import numpy

from fuel._types import AnyArray

__all__ = ['Arena', 'map_shared']

_ALIGNMENT = 64


def map_shared(descriptor: int, nbytes: int) -> Any:
    """Map an open file, for reading and writing, so that others see what is written.

    Parameters
    ----------
    descriptor : int
        The file. It may be closed afterwards.
    nbytes : int
        How much of it, from its beginning.

    Returns
    -------
    buffer
        Mapped until the last array that was made from it is gone.

    Raises
    ------
    OSError
        The system does not map it.
    """
    options: dict[str, Any] = {'trackfd': False} if sys.version_info >= (3, 13) else {}
    return mmap.mmap(descriptor, nbytes, access=mmap.ACCESS_WRITE, **options)


class Arena:
    """Blocks of one piece of memory, taken and given back by any thread of one process.

    The lowest address that fits is taken. Blocks begin at multiples of 64 bytes. In a child made
    by ``fork`` nothing can be taken.

    Parameters
    ----------
    memory : buffer
        It must be writable, and full of zeros.
    descriptor : int, optional
        The file that it is, where room must be asked for before it is written to: on a disk, or
        if the system promises no more memory than it has. It may be closed afterwards. By default
        -1: nobody needs to be asked.

    Attributes
    ----------
    memory : buffer
        As given.
    nbytes : int
        Its size.
    in_use : int
        How many bytes are taken now.
    high_water : int
        How many have been, at most, since the last call of `trim`.
    resident : int
        How many may have memory of the system behind them now.
    blocks : int
        How many blocks are taken.
    """

    def __init__(self, memory: Any, descriptor: int = -1) -> None:
        whole = numpy.frombuffer(memory, numpy.uint8)
        if not whole.flags.writeable:
            raise ValueError('expected memory that can be written to')
        self.nbytes = len(whole)
        self.in_use = self.high_water = 0
        self.memory = memory
        self._descriptor = -1
        if descriptor >= 0:
            self._descriptor = os.dup(descriptor)
            weakref.finalize(self, os.close, self._descriptor)
        self._address = whole.ctypes.data
        self._touched = numpy.zeros(-(-self.nbytes // mmap.PAGESIZE), bool)
        self._lock = threading.Lock()
        self._taken: dict[int, tuple[int, int]] = {}    # length, forks then
        self._limbo: dict[int, tuple[int, int]] = {}    # forks when taken, and when given back
        self._starts = [0]                              # of free extents, and their lengths
        self._lengths = [self.nbytes // _ALIGNMENT * _ALIGNMENT]
        self._forks = self._newest = 0
        self._pid = os.getpid()

    @property
    def resident(self) -> int:
        """See above."""
        return int(numpy.count_nonzero(self._touched)) * mmap.PAGESIZE

    @property
    def blocks(self) -> int:
        """See above."""
        return len(self._taken)

    def __reduce__(self) -> Any:
        raise TypeError('an arena belongs to one process, and cannot be pickled')

    def allocate(self, nbytes: int) -> int:
        """Take a block.

        Parameters
        ----------
        nbytes : int
            Its size.

        Returns
        -------
        int
            Where it begins; -1 if there is no room.
        """
        if nbytes < 0:
            raise ValueError(f'expected a number of bytes of at least 0; got {nbytes}')
        length = max(1, -(-nbytes // _ALIGNMENT)) * _ALIGNMENT
        if self._pid != os.getpid():
            return -1
        with self._lock:
            i = next((i for i, free in enumerate(self._lengths) if free >= length), -1)
            if i < 0:
                return -1
            start, free = self._starts[i], self._lengths[i]
            pages = slice(start // mmap.PAGESIZE, -(-(start + length) // mmap.PAGESIZE))
            if (self._descriptor >= 0 and not self._touched[pages].all()
                    and not _has_room(self._descriptor, start, length)):
                return -1
            if free == length:
                del self._starts[i], self._lengths[i]
            else:
                self._starts[i] += length
                self._lengths[i] -= length
            self._taken[start] = length, self._forks
            self.in_use += length
            self.high_water = max(self.high_water, self.in_use)
            self._touched[pages] = True
            return start

    def free(self, offset: int) -> None:
        """Give a block back.

        Parameters
        ----------
        offset : int
            Where it begins.

        Raises
        ------
        ValueError
            No block that is taken begins there.
        """
        if self._pid != os.getpid():
            return
        with self._lock:
            if offset not in self._taken or offset in self._limbo:
                raise ValueError(f'no block that is taken begins at {offset}')
            if self._newest > self._taken[offset][1]:
                self._limbo[offset] = self._taken[offset][1], self._forks
            else:
                self._give(offset)

    def _give(self, start: int) -> None:
        length, _ = self._taken.pop(start)
        self.in_use -= length
        i = bisect.bisect(self._starts, start)
        if i < len(self._starts) and self._starts[i] == start + length:
            length += self._lengths[i]
            del self._starts[i], self._lengths[i]
        if i and self._starts[i - 1] + self._lengths[i - 1] == start:
            self._lengths[i - 1] += length
        else:
            self._starts.insert(i, start)
            self._lengths.insert(i, length)

    def trim(self, keep: int = 0) -> int:
        """Give memory behind free blocks back to the system, the highest first.

        Parameters
        ----------
        keep : int, optional
            How much to leave `resident`, to be used again. By default 0.

        Returns
        -------
        int
            How many bytes were given back.
        """
        if keep < 0:
            raise ValueError(f'expected a number of bytes of at least 0; got {keep}')
        with self._lock:
            self.high_water = self.in_use
            before = self.resident
            madvise = getattr(self.memory, 'madvise', None)
            if madvise is None or not hasattr(mmap, 'MADV_REMOVE'):
                return 0
            for start, length in zip(self._starts[::-1], self._lengths[::-1], strict=True):
                first = -(-start // mmap.PAGESIZE)
                for page in range((start + length) // mmap.PAGESIZE - 1, first - 1, -1):
                    if self.resident <= keep // mmap.PAGESIZE * mmap.PAGESIZE:
                        break
                    if self._touched[page]:
                        madvise(mmap.MADV_REMOVE, page * mmap.PAGESIZE, mmap.PAGESIZE)
                        self._touched[page] = False
            return before - self.resident

    def offset_of(self, array: AnyArray) -> int:
        """Tell where the data of an array lie.

        Parameters
        ----------
        array : ndarray
            Of any kind.

        Returns
        -------
        int
            The offset of its first item; -1 if that is elsewhere.
        """
        offset: int = array.ctypes.data - self._address
        return offset if 0 <= offset < self.nbytes else -1

    def owner_of(self, array: AnyArray) -> tuple[int, int, int] | None:
        """Tell whether an array is in a block that numpy took.

        Parameters
        ----------
        array : ndarray
            Of any kind.

        Returns
        -------
        tuple of int or None
            The offset of the array's data, the offset of the block, and how many references there
            are to the array that owns the block, where `array` is a view of that; else 0. `None`
            if no array owns the data, or not in here.
        """
        return None

    def install(self, threshold: int = 32768) -> None:
        """Let numpy take the data of new arrays from here, in the thread that calls.

        What does not fit is taken from elsewhere.

        Parameters
        ----------
        threshold : int, optional
            The least size, in bytes. By default 32768.
        """

    def uninstall(self) -> None:
        """Let numpy take memory again as it did before `install`, in the thread that calls."""

    def forked(self, child: int) -> None:
        """Note that a child is being made that will see the blocks taken now.

        They are not used again, once given back, before `settle` tells that it has ended.

        Parameters
        ----------
        child : int
            Its number, greater than that of any other one.
        """
        with self._lock:
            self._forks = self._newest = child

    def settle(self, living: Iterable[int]) -> None:
        """Use blocks again that no child can see any more.

        Parameters
        ----------
        living : iterable of int
            Numbers of the children that have not ended.
        """
        alive = sorted(living)
        with self._lock:
            self._newest = max((child for child in alive if child <= self._forks), default=0)
            for offset, (taken, given) in list(self._limbo.items()):
                if not any(taken < child <= given for child in alive):
                    del self._limbo[offset]
                    self._give(offset)


def _has_room(descriptor: int, start: int, length: int) -> bool:
    """Ask for room."""
    try:
        if hasattr(os, 'posix_fallocate'):
            os.posix_fallocate(descriptor, start, length)
    except OSError as error:
        return error.errno in (errno.EINVAL, errno.EOPNOTSUPP)
    return True
