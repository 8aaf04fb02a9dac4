"""Shared memory between a server and its clients on one machine.

The server puts arrays into a region of memory without a name, and tells where they lie. A client
maps the region, and hands out arrays over it. When the last of them that belong to a batch is gone,
the client says so, and the server uses the place again; not before.
"""
from __future__ import annotations

import bisect
import mmap
import os
from collections import deque
from contextlib import suppress
from typing import Any

import numpy

from fuel._types import JSON, AnyArray
from fuel.storage.sharing.available import check_memory
from fuel.storage.sharing.memory_segments import MemorySegment
from fuel.storage.sharing.segments import OPEN_FLAGS

__all__ = ['ALIGNMENT', 'MappedRegion', 'Places', 'Region']

#: Every array begins at a multiple of so many bytes.
ALIGNMENT = 64
# Places are whole pages.
_PAGE = 4096


class _WritableSegment(MemorySegment):
    """A piece of memory of another process that this one may write to."""

    @classmethod
    def _open(cls, token: dict[str, JSON]) -> int:
        return os.open(f'/proc/{token["pid"]}/fd/{token["place"]}', OPEN_FLAGS | os.O_RDWR)


class Places:
    """Which parts of a region are free; the lowest ones are taken first, as their pages are warm.

    Parameters
    ----------
    nbytes : int
        How large the region is.

    Attributes
    ----------
    in_use : int
        How many bytes are taken.
    """

    def __init__(self, nbytes: int) -> None:
        self._free = [(0, nbytes // _PAGE * _PAGE)]
        self._taken: dict[int, int] = {}
        self.in_use = 0

    def take(self, nbytes: int) -> int | None:
        """Take a part, and return where it starts; `None` if there is none that is large enough."""
        nbytes = max(-(-nbytes // _PAGE) * _PAGE, _PAGE)
        for place, (start, length) in enumerate(self._free):
            if length >= nbytes:
                if length == nbytes:
                    del self._free[place]
                else:
                    self._free[place] = start + nbytes, length - nbytes
                self._taken[start] = nbytes
                self.in_use += nbytes
                return start
        return None

    def give_back(self, start: int) -> None:
        """Make a part free again."""
        length = self._taken.pop(start)
        self.in_use -= length
        free = self._free
        place = bisect.bisect(free, (start, length))
        if place < len(free) and start + length == free[place][0]:
            length += free.pop(place)[1]
        if place and sum(free[place - 1]) == start:
            free[place - 1] = free[place - 1][0], free[place - 1][1] + length
        else:
            free.insert(place, (start, length))

    @property
    def end(self) -> int:
        """Where the last part ends that is taken."""
        return max((start + length for start, length in self._taken.items()), default=0)


class Region:
    """Shared memory that this process owns.

    Parameters
    ----------
    nbytes : int
        How much of it there may be. What was never used takes no memory.

    Raises
    ------
    OSError
        There is no such thing on this system.
    """

    def __init__(self, nbytes: int) -> None:
        nbytes = max(nbytes // _PAGE, 1) * _PAGE
        segment = MemorySegment.make()
        if segment is None:
            raise OSError('this system has no shared memory without a name')
        self._segment = segment
        try:
            os.ftruncate(segment.descriptor, nbytes)
            segment._fix_size()
            self._map = mmap.mmap(segment.descriptor, nbytes)
        except BaseException:
            segment.release()
            raise
        self.bytes: AnyArray = numpy.frombuffer(self._map, numpy.uint8)
        self.places = Places(nbytes)
        # Up to here there is memory; and how much was in use since somebody last looked.
        self._backed = 0
        self._peak = 0

    def token(self) -> dict[str, JSON]:
        """Return plain data with which another process of this machine finds the region."""
        return self._segment.token()

    def take(self, nbytes: int) -> int | None:
        """Take a part of the region, and return where it starts; `None` if there is no room."""
        start = self.places.take(nbytes)
        if start is None:
            return None
        end = start + -(-nbytes // _PAGE) * _PAGE
        self._peak = max(self._peak, end)
        if end > self._backed:
            try:
                check_memory(end - self._backed, 'shared memory')
                # A page that is not there when it is written to would end the process.
                os.posix_fallocate(self._segment.descriptor, self._backed, end - self._backed)
            except (MemoryError, OSError):
                self.places.give_back(start)
                return None
            self._backed = end
        return start

    def trim(self) -> None:
        """Give back memory that was not in use since this was last called."""
        peak, self._peak = max(self._peak, self.places.end), self.places.end
        # Whatever was given back has to be cleared before it can be used again.
        if peak < self._backed // 2 and hasattr(mmap, 'MADV_REMOVE'):
            with suppress(OSError):
                self._map.madvise(mmap.MADV_REMOVE, peak, self._backed - peak)
                self._backed = peak

    def close(self) -> None:
        """Let go of the region. Whoever has mapped it keeps it."""
        self._segment.release()


class _Lease:
    """Bytes of a region, until nobody looks at them any more."""

    __slots__ = ('__array_interface__', '_memory', '_number', '_released')

    def __init__(self, memory: AnyArray, number: int, released: deque[int]) -> None:
        self._memory = memory
        self._number = number
        self._released = released
        self.__array_interface__: dict[str, Any] = memory.__array_interface__

    def __del__(self) -> None:
        # Called in any thread, and at any point of it.
        self._released.append(self._number)


class MappedRegion:
    """Shared memory of a server, as a client sees it.

    Parameters
    ----------
    token : dict
        What `Region.token` returned.

    Attributes
    ----------
    held : set of int
        The numbers of batches whose arrays are there, or were when somebody last looked.

    Raises
    ------
    OSError
        This process cannot reach the region: it is that of another machine, user or container.
    """

    def __init__(self, token: dict[str, JSON]) -> None:
        segment = _WritableSegment.find(token)
        if segment is None:
            raise OSError('the shared memory of the server cannot be reached')
        try:
            self._bytes: AnyArray = numpy.frombuffer(
                mmap.mmap(segment.descriptor, token['size']), numpy.uint8)
        finally:
            segment.release()
        self.held: set[int] = set()
        self._released: deque[int] = deque()

    def take_released(self) -> list[int]:
        """Return the numbers of batches whose arrays are gone, each of them once."""
        numbers = []
        while self._released:
            numbers.append(self._released.popleft())
        self.held.difference_update(numbers)
        return numbers

    def drop(self, number: int) -> None:
        """Note that the arrays of a batch will not be looked at."""
        self._released.append(number)

    def lend(self, start: int, nbytes: int, number: int) -> AnyArray:
        """Return bytes of the region as an array.

        Parameters
        ----------
        start, nbytes : int
            Which bytes.
        number : int
            What `take_released` returns when the array, and all that share its memory, are gone.
        """
        memory = self._bytes[start:start + nbytes]
        if start < 0 or len(memory) != nbytes:
            self.drop(number)
            raise ValueError(f'the server tells of {nbytes} bytes at {start}, where its shared '
                             'memory has none')
        self.held.add(number)
        return numpy.asarray(_Lease(memory, number, self._released))
