"""What of a server's shared memory lies with which client."""
from __future__ import annotations

import itertools
import logging
from typing import Any

import numpy

from fuel._types import JSON
from fuel.storage.sharing.owners import owner_lives
from fuel.wire.items import Buffer
from fuel.wire.regions import ALIGNMENT, Region

__all__ = ['Lent', 'SharedMemory']

log = logging.getLogger(__name__)

# What is smaller goes with the message.
_SMALL = 1 << 14


class Lent:
    """A part of shared memory that holds arrays of one batch.

    Attributes
    ----------
    number : int
        Tells it from all others.
    start, nbytes : int
        Where it lies.
    places : list of int or None
        Where each of the buffers lies in it; `None` for those that do not.
    owner : str
        The client that has it.
    process : tuple
        Number and start of its process.
    """

    __slots__ = ('nbytes', 'number', 'owner', 'places', 'process', 'start')

    def __init__(self, number: int, start: int, nbytes: int, places: list[int | None],
                 owner: str, process: tuple[int, int | None]) -> None:
        self.number = number
        self.start = start
        self.nbytes = nbytes
        self.places = places
        self.owner = owner
        self.process = process


class SharedMemory:
    """The shared memory of a server, and who has which part of it.

    Parameters
    ----------
    nbytes : int
        How much there may be; 0 for none.
    """

    def __init__(self, nbytes: int) -> None:
        self._region: Region | None = None
        self._lent: dict[int, Lent] = {}
        self._numbers = itertools.count(1)
        if nbytes > 0:
            try:
                self._region = Region(nbytes)
            except OSError as error:
                log.debug('arrays go through sockets only: %s', error)

    @property
    def in_use(self) -> int:
        """How many bytes clients have."""
        return 0 if self._region is None else self._region.places.in_use

    def token(self) -> dict[str, JSON] | None:
        """Return plain data with which a client finds the memory; `None` if there is none."""
        return None if self._region is None else self._region.token()

    def lend(self, buffers: list[Buffer], owner: str, process: tuple[int, int | None],
             ) -> Lent | None:
        """Copy buffers into shared memory.

        Parameters
        ----------
        buffers : list of buffer
            Those that are small are left out.
        owner : str
            Who gets them.
        process : tuple of int
            Number and start of its process.

        Returns
        -------
        Lent or None
            `None` if none of them is large, or if there is no room.
        """
        region = self._region
        places: list[int | None] = []
        nbytes = 0
        for buffer in buffers:
            length = memoryview(buffer).nbytes
            if length < _SMALL:
                places.append(None)
            else:
                places.append(nbytes)
                nbytes += -(-length // ALIGNMENT) * ALIGNMENT
        if region is None or not nbytes:
            return None
        start = region.take(nbytes)
        if start is None:
            self.sweep()
            start = region.take(nbytes)
            if start is None:
                return None
        for buffer, place in zip(buffers, places, strict=True):
            if place is not None:
                content = numpy.frombuffer(buffer, numpy.uint8)
                region.bytes[start + place:start + place + len(content)] = content
        lent = Lent(next(self._numbers), start, nbytes, places, owner, process)
        self._lent[lent.number] = lent
        return lent

    def release(self, number: Any, owner: str) -> None:
        """Use a part again that the client that has it has let go of."""
        lent = self._lent.get(number)
        if lent is None or lent.owner != owner:
            return
        del self._lent[number]
        if self._region is not None:
            self._region.places.give_back(lent.start)

    def settle(self, owner: str, held: list[int]) -> None:
        """Use again what a client neither has nor will ever get.

        Parameters
        ----------
        owner : str
            The client, which has closed its connection.
        held : list of int
            What it has.
        """
        for lent in list(self._lent.values()):
            if lent.owner == owner and lent.number not in held:
                self.release(lent.number, owner)

    def sweep(self) -> None:
        """Use what processes had that do not live any more."""
        gone = {process for process in {lent.process for lent in self._lent.values()}
                if not owner_lives(*process)}
        for lent in [lent for lent in self._lent.values() if lent.process in gone]:
            self.release(lent.number, lent.owner)

    def trim(self) -> None:
        """Give memory back that was not used lately."""
        if self._region is not None:
            self._region.trim()

    def close(self) -> None:
        """Let go of the memory. Clients keep what they have."""
        if self._region is not None:
            self._region.close()
            self._region = None
