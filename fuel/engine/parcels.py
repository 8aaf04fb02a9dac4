"""Data of steps on their way from a worker to its parent, through shared memory."""
from __future__ import annotations

import pickle
import threading
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any

from fuel._kernels import Arena
from fuel.engine.forks import children
from fuel.engine.leases import Copies, Leases, Lent
from fuel.engine.packing import Hold, pack
from fuel.engine.region import Region
from fuel.engine.unpacking import Blocks, unpack

__all__ = ['Inbox', 'Outbox', 'Parcel']

# Every so many times, memory that is not used any more is given back to the system.
_WINDOW = 32
# Less than this is not worth it.
_LEAST = 1 << 22


class Outbox:
    """The worker's side: packs data, and keeps them until the parent needs them no more.

    Parameters
    ----------
    region : Region
        The memory. Only this process takes blocks of it. It may be closed afterwards.

    Attributes
    ----------
    arena : Arena
        Its blocks.
    in_flight : int
        How many bytes the parent has not given back.
    """

    def __init__(self, region: Region) -> None:
        self.arena: Any = Arena(region.memory, region.fileno() if region.must_ask else -1)
        self.in_flight = 0
        self._holds: dict[int, Hold] = {}
        self._number = 0
        self._turns = 0
        self._peak = 0
        children.add(self)

    def install(self, threshold: int = 32768) -> None:
        """Let numpy take large arrays from the shared memory, in the thread that calls.

        Parameters
        ----------
        threshold : int, optional
            What large is, in bytes. By default 32768.
        """
        self.arena.install(threshold)

    def pack(self, steps: Sequence[Any]) -> bytes:
        """Pack the data of some steps.

        Parameters
        ----------
        steps : list
            See `fuel.engine.packing.pack`.

        Returns
        -------
        bytes
            For `Inbox.open`.
        """
        if children.any:
            self.arena.settle(children.living())
        description, holds = pack(steps, self.arena, self._number)
        for hold in holds:
            self._holds[self._number] = hold
            self._number += 1
            self.in_flight += hold[1]
        self._turns += 1
        if self._turns % _WINDOW == 0:
            self._follow()
        return description

    def release(self, numbers: Iterable[int]) -> None:
        """Give blocks back to the arena.

        Parameters
        ----------
        numbers : iterable of int
            What `Inbox.released` returned.
        """
        for number in numbers:
            hold, nbytes = self._holds.pop(number)
            self.in_flight -= nbytes
            if isinstance(hold, int):
                self.arena.free(hold)

    def _follow(self) -> None:
        """Give memory back to the system where much less than before is in use for some time."""
        peak = self.arena.high_water
        most = max(peak, self._peak)
        # Fresh memory is dear: some is kept, and what is given back must be worth it.
        if self.arena.resident > 2 * most + _LEAST:
            self.arena.trim(most + most // 4)
        else:
            self.arena.trim(self.arena.nbytes)          # only to measure anew
        self._peak = peak

    def exposed(self) -> bool:
        """Tell whether a child would see anything."""
        return bool(self.arena.blocks)

    def forked(self, child: int) -> None:
        """Note that a child is about to see what is there."""
        self.arena.forked(child)


class Inbox:
    """The parent's side: opens what one worker has packed.

    Parameters
    ----------
    region : Region
        The memory. It may be closed afterwards.
    """

    def __init__(self, region: Region) -> None:
        self._memory = region.memory
        self._returned: deque[tuple[int, int, int]] = deque()
        self._lock = threading.Lock()
        self._free: list[int] = []
        # What children may see: the number, and the children before it was lent and given back.
        self._seen: list[tuple[int, int, int]] = []
        self._leased = 0
        children.add(self)

    def open(self, description: bytes) -> Parcel:
        """Open what a worker has packed.

        Parameters
        ----------
        description : bytes
            What `Outbox.pack` returned.

        Returns
        -------
        Parcel
            Its blocks are given back when it is gone and the arrays in it too.
        """
        first, places, laid_out = pickle.loads(description)
        return Parcel(self, first, places, laid_out)

    def released(self) -> list[int]:
        """Return which blocks the worker may use again; each of them once.

        Returns
        -------
        list of int
            For `Outbox.release`.
        """
        if not self._returned and not self._seen and not self._free:
            return []
        with self._lock:
            self._drain()
            if self._seen:
                living = children.living()
                seen, self._seen = self._seen, []
                for entry in seen:
                    _, born, died = entry
                    if any(born < child <= died for child in living):
                        self._seen.append(entry)
                    else:
                        self._free.append(entry[0])
            numbers, self._free = self._free, []
            return numbers

    @property
    def leased(self) -> int:
        """How many bytes are in arrays that somebody holds."""
        with self._lock:
            self._drain()
            return self._leased

    def _drain(self) -> None:
        returned = self._returned
        while returned:
            number, nbytes, born = returned.popleft()
            self._leased -= nbytes
            if children.any and born < children.count:
                self._seen.append((number, born, children.count))
            else:
                self._free.append(number)

    def _lend(self, nbytes: int) -> None:
        with self._lock:
            self._leased += nbytes

    def exposed(self) -> bool:
        """Tell whether a child would see anything."""
        return self._leased > 0

    def forked(self, child: int) -> None:
        """Note that a child is about to see what is lent; what was lent before tells its age."""


class Parcel:
    """Data of steps. Made by `Inbox.open`.

    Attributes
    ----------
    nbytes : int
        How many bytes of shared memory it holds.
    """

    __slots__ = ('_first', '_inbox', '_laid_out', '_lent', '_places', 'nbytes')

    def __init__(self, inbox: Inbox, first: int, places: list[tuple[int, int]],
                 laid_out: Any) -> None:
        self._inbox = inbox
        self._first = first
        self._places = places
        self._laid_out = laid_out
        self._lent: Lent | None = None
        self.nbytes = sum([nbytes for _, nbytes in places])

    def steps(self) -> list[Any]:
        """Return the data, without a copy of large arrays.

        Returns
        -------
        list
            One item for every step. The arrays are the caller's. Their memory is given back when
            the last view of them is gone.
        """
        inbox = self._inbox
        laid_out = self._empty()
        places = self._places
        self._lent = lent = Lent(inbox._returned, self._first, places)
        inbox._lend(self.nbytes)
        return self._unpack(laid_out, Leases(lent, inbox._memory, self._first, places))

    def copied(self) -> list[Any]:
        """Return the data in memory of this process, and give the shared memory back.

        Returns
        -------
        list
            One item for every step.
        """
        laid_out = self._empty()
        try:
            return self._unpack(laid_out, Copies(self._inbox._memory, self._places))
        finally:
            self._inbox._returned.extend([(number, 0, children.count) for number in range(
                self._first, self._first + len(self._places))])

    def _empty(self) -> Any:
        laid_out, self._laid_out = self._laid_out, None
        if laid_out is None:
            raise ValueError('expected a parcel that has not been emptied yet')
        return laid_out

    @staticmethod
    def _unpack(laid_out: Any, blocks: Blocks) -> list[Any]:
        if isinstance(laid_out, int):
            _, _, laid_out = pickle.loads(blocks.content(laid_out))
        return unpack(laid_out, blocks)

    def release(self) -> None:
        """Give the shared memory back at once. Arrays of `steps` must not be used any more."""
        if self._laid_out is not None:
            self._laid_out = None
            self._inbox._returned.extend([(number, 0, children.count) for number in range(
                self._first, self._first + len(self._places))])
        elif self._lent is not None:
            self._lent.give_all_back()

    def __del__(self) -> None:
        if self._laid_out is not None:
            self.release()
