"""What it takes to start worker processes, and to end them."""
from __future__ import annotations

import select
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any, Protocol

from fuel.engine.channel import Channel

__all__ = ['DUMP', 'Launched', 'Launcher', 'Station', 'held_back', 'kill', 'wait_for_end']

#: The signal at which a worker writes down its stacks. Few libraries use those at this end.
DUMP: int = getattr(signal, 'SIGRTMAX', signal.SIGUSR2 + 2) - 2


@dataclass(slots=True)
class Station:
    """What a worker must know to begin.

    Attributes
    ----------
    worker, num_workers : int
        Its number, from 0, and how many there are.
    generation : int
        How many processes were in its place before.
    control, region, shipment, stacks : int
        Descriptors: of its socket, its shared memory, the file with what it runs, and the file
        for its stacks.
    parent : int
        Descriptor that tells when the parent has ended, -1 where the system has none.
    cores : list of int or None
        The only ones that it may use.
    """

    worker: int
    num_workers: int
    generation: int
    control: int
    region: int
    shipment: int
    stacks: int
    parent: int
    cores: list[int] | None

    def descriptors(self) -> list[int]:
        """Return all descriptors that are there."""
        return [number for number in (self.control, self.region, self.shipment, self.stacks,
                                      self.parent) if number >= 0]

    def receive(self, descriptors: list[int]) -> None:
        """Take the numbers that the descriptors have in this process."""
        names = [name for name in ('control', 'region', 'shipment', 'stacks', 'parent')
                 if getattr(self, name) >= 0]
        for name, number in zip(names, descriptors, strict=True):
            setattr(self, name, number)

    def plain(self) -> dict[str, Any]:
        """Return the station as plain data."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


class Launched(Protocol):
    """A worker process, as its parent sees it.

    Attributes
    ----------
    failure : str
        Why it could not be started, where it could not.
    """

    failure: str

    @property
    def pid(self) -> int:
        """Return its number; 0 if it never came to be."""

    @property
    def sentinel(self) -> int:
        """Return a descriptor that can be read from when it has ended; -1 where there is none."""

    def poll(self) -> int | None:
        """Return its exit code as `subprocess` has it, or `UNKNOWN_END`; `None` while it runs."""

    def send_signal(self, number: int) -> None:
        """Send it a signal; it may have ended."""

    def abandon(self) -> None:
        """Say that it need not begin any more, and that nobody will ask how it ended."""

    def forget(self) -> None:
        """Let go of it in a child of the parent, whose own child it is not."""

    def close(self) -> None:
        """Free what belongs to a process that has ended."""


class Launcher(Protocol):
    """A way to start processes.

    Attributes
    ----------
    ships : bool
        Whether what they run must be sent to them.
    """

    ships: bool

    def launch(self, station: Station, channel: Channel) -> Launched:
        """Start a process.

        Parameters
        ----------
        station : Station
            What it is to be given.
        channel : Channel
            To it, for what must be sent before any message.

        Returns
        -------
        Launched
            It need not have begun to work.
        """

    def forget(self) -> None:
        """Let go of all in a child of the parent."""

    def close(self) -> None:
        """End what is left of it, when all processes have ended."""


@contextmanager
def held_back() -> Iterator[None]:
    """Hold Ctrl-C, and requests for stacks, back from processes that are started in the block.

    A process begins with the signals blocked that are blocked where it is started: nothing can
    interrupt it before it has said itself what is to be done at a signal.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, DUMP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def wait_for_end(processes: list[Launched], timeout: float) -> list[Launched]:
    """Wait until processes have ended.

    Parameters
    ----------
    processes : list of Launched
        Which ones.
    timeout : float
        How many seconds at most.

    Returns
    -------
    list of Launched
        Those that have not.
    """
    deadline = time.monotonic() + timeout
    while True:
        processes = [process for process in processes if process.poll() is None]
        left = deadline - time.monotonic()
        if not processes or left <= 0:
            return processes
        ended = select.poll()
        for process in processes:
            if process.sentinel >= 0:
                ended.register(process.sentinel, select.POLLIN)
            else:
                left = min(left, 0.01)
        ended.poll(left * 1000 + 1)


def kill(processes: list[Launched]) -> None:
    """End processes at once, whatever they are at, and wait until they have ended."""
    for process in processes:
        process.send_signal(signal.SIGKILL)
    # Nothing withstands SIGKILL but a call into a device that does not answer; nor is it waited
    # for without end.
    wait_for_end(processes, 5)
