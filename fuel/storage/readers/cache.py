"""Decoded chunks, kept in memory up to a bound that all files of a process share.

Readers look chunks up in tables of addresses, without the lock and without the interpreter. So a
chunk that is thrown out may still be being copied by somebody. Each reader therefore holds a
`Guard` meanwhile, taken before the first look into a table: what is thrown out afterwards hangs
on that guard, or on one that follows it, and is freed with the last of them.
"""
from __future__ import annotations

import os
import threading
from collections import deque
from typing import Any

import numpy

from fuel._types import AnyArray
from fuel.config_parser import config

__all__ = ['CHUNKS', 'ChunkCache', 'Guard']


class Guard:
    """Keeps alive what was thrown out after it was taken."""

    __slots__ = ('evicted', 'following')

    def __init__(self) -> None:
        self.evicted: list[AnyArray] = []
        self.following: Guard | None = None


class _Slab:
    """Some chunks of one table that were decoded together, in one buffer."""

    __slots__ = ('addresses', 'buffer', 'numbers', 'used')

    def __init__(self, addresses: AnyArray, used: AnyArray, numbers: AnyArray,
                 buffer: AnyArray) -> None:
        self.addresses = addresses
        self.used = used
        self.numbers = numbers
        self.buffer = buffer


class ChunkCache:
    """A cache of decoded chunks, bounded in bytes.

    The oldest chunks go first, but those that were used since they were looked at last get
    another round. Those that came last stay, even if they are larger than the bound.

    Attributes
    ----------
    size : int
        Bytes that are in it.
    """

    def __init__(self) -> None:
        self._begin()

    def _begin(self) -> None:
        self._lock = threading.Lock()
        self._owner = 0                 # the thread that has the lock
        self._slabs: deque[_Slab] = deque()
        # Tables whose chunks are to be thrown out as soon as the lock is free.
        self._dropped: deque[AnyArray] = deque()
        self.guard = Guard()
        self.size = 0

    @property
    def limit(self) -> int:
        """How many bytes it may hold; the setting ``chunk_cache_bytes``."""
        limit: int = config.chunk_cache_bytes
        return limit

    def put(self, addresses: AnyArray, used: AnyArray, numbers: AnyArray,
            buffer: AnyArray) -> None:
        """Take in chunks.

        Parameters
        ----------
        addresses : ndarray of int64
            The table, in which the places of the chunks are entered.
        used : ndarray of uint8
            Flags beside the table, which are set when a chunk is read.
        numbers : ndarray of int64, shape (n,)
            Where in the table.
        buffer : ndarray, shape (n, chunk bytes)
            The chunks themselves; nobody writes it any more.
        """
        limit = self.limit
        if not limit:
            return
        with self._lock:
            self._owner = threading.get_ident()
            try:
                if not addresses[numbers].all():  # or else somebody else was faster
                    self._evict(max(0, limit - buffer.nbytes))
                    self._enter(_Slab(addresses, used, numbers, buffer))
            finally:
                self._owner = 0
        self._collect()

    def _enter(self, slab: _Slab) -> None:
        """Take in chunks. The lock is held.

        An interrupt may come anywhere: no address stands in a table whose buffer is not in the
        cache yet, or not any more.
        """
        buffer, numbers = slab.buffer, slab.numbers
        places = buffer.ctypes.data + numpy.arange(len(numbers)) * buffer.strides[0]
        self.size += buffer.nbytes
        self._slabs.append(slab)
        slab.used[numbers] = 1          # or else older ones that were used once would outlast them
        slab.addresses[numbers] = places

    def _evict(self, room: int) -> None:
        """Throw out chunks until no more than some bytes are left. The lock is held."""
        if self.size <= room:
            return
        guard = self.guard
        chances = len(self._slabs)
        while self.size > room and self._slabs:
            slab = self._slabs[0]
            if chances > 0 and slab.used[slab.numbers].any():
                chances -= 1
                slab.used[slab.numbers] = 0
                self._slabs.rotate(-1)
            else:
                self._forget(slab, guard)
                self._slabs.popleft()
                self.size -= slab.buffer.nbytes
        self._follow(guard)

    def _forget(self, slab: _Slab, guard: Guard) -> None:
        """Take chunks out of their table, and have whoever reads them keep them alive."""
        guard.evicted.append(slab.buffer)
        start = slab.buffer.ctypes.data
        held = slab.addresses[slab.numbers]
        # Where two threads decoded a chunk at once, the table may refer to the other copy.
        inside = (held >= start) & (held < start + slab.buffer.nbytes)
        slab.addresses[slab.numbers[inside]] = 0

    def _follow(self, guard: Guard) -> None:
        """Begin another guard; nothing hangs on the one before any more but what it has."""
        fresh = Guard()
        guard.following = fresh
        self.guard = fresh

    def drop(self, addresses: AnyArray) -> None:
        """Throw out all chunks of a table.

        It may be called by a finalizer, which can run in the middle of any other method: then it
        is done afterwards.
        """
        self._dropped.append(addresses)
        self._collect()

    def _collect(self) -> None:
        """Throw out the chunks of tables that were dropped, unless this thread has the lock."""
        if not self._dropped or self._owner == threading.get_ident():
            return
        with self._lock:
            self._owner = threading.get_ident()
            try:
                while self._dropped:
                    self._drop(self._dropped[0])
                    self._dropped.popleft()
            finally:
                self._owner = 0

    def _drop(self, addresses: AnyArray) -> None:
        guard = self.guard
        kept = deque[_Slab]()
        for slab in self._slabs:
            if slab.addresses is addresses:
                self._forget(slab, guard)
            else:
                kept.append(slab)
        self._slabs = kept
        self.size = sum(slab.buffer.nbytes for slab in kept)
        self._follow(guard)

    def after_fork(self) -> None:
        """Begin anew in a child process, whose parent may have been in the middle of something."""
        self._begin()


#: The cache of this process.
CHUNKS: Any = ChunkCache()
if hasattr(os, 'register_at_fork'):
    os.register_at_fork(after_in_child=CHUNKS.after_fork)
