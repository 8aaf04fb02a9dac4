"""All workers of a pool, apart from the pool itself.

So they can be ended when the pool is collected as garbage, and let go of in a fork.
"""
from __future__ import annotations

import os
import select
from collections.abc import Iterator
from contextlib import suppress

from fuel.engine.channel import BRISK, spun
from fuel.engine.launch import Launcher, held_back, kill, wait_for_end
from fuel.engine.members import Member
from fuel.engine.parcels import Inbox
from fuel.engine.results import Finished, Lost
from fuel.engine.shipping import anonymous_file
from fuel.exceptions import WorkerLostError

__all__ = ['Crew']

# When the pool is closed, workers may finish the step that they are at for so many seconds.
_GRACE = 0.5
# Where the system does not tell of the end of a process, it is looked for so often.
_LOOK = 0.25
# Generations of one pool are counted beyond those of pools.
_FURTHER = 1 << 32


class Crew:
    """What a pool has, apart from the pool, so that it can be ended when the pool is collected."""

    def __init__(self, launcher: Launcher, num_workers: int, cores: list[list[int] | None],
                 region_bytes: int, generation: int) -> None:
        self.pid = os.getpid()
        self.launcher = launcher
        self.members: list[Member] = []
        self.size = 0
        self.is_closed = False
        # Whether the latest tasks were short.
        self._is_brisk = False
        self._num_workers = num_workers
        self._cores = cores
        self._region_bytes = region_bytes
        self._generations = [generation] * num_workers
        # Of workers that were replaced, as long as somebody has arrays from them.
        self._old_inboxes: list[Inbox] = []
        self.shipment = anonymous_file('fuel-shipment')
        self._parent = -1
        if hasattr(os, 'pidfd_open'):
            with suppress(OSError):  # an old kernel
                self._parent = os.pidfd_open(self.pid)
        _crews.add(self)

    def start(self) -> None:
        """Start all processes."""
        with held_back():
            for worker in range(self._num_workers):
                self.members.append(self._made(worker))

    def _made(self, worker: int) -> Member:
        return Member(self.launcher, worker, self._num_workers, self._generations[worker],
                      self.shipment, self._parent, self._cores[worker], self._region_bytes)

    def replace(self, worker: int) -> None:
        """Start another process in the place of one."""
        old = self.members[worker]
        old.end()
        self._old_inboxes = [inbox for inbox in (*self._old_inboxes, old.inbox) if inbox.leased]
        # Not the random numbers of the one before again, which were for other tasks.
        self._generations[worker] += _FURTHER
        with held_back():
            self.members[worker] = new = self._made(worker)
        old.close()
        if self.launcher.ships:
            new.greet(self.size)

    def inboxes(self) -> Iterator[Inbox]:
        """Return all that may have lent memory."""
        for member in self.members:
            yield member.inbox
        yield from self._old_inboxes

    def look(self, timeout: float | None) -> list[Finished | Lost]:
        """Return what has happened, waiting for it at most so many seconds."""
        living = {}
        unsure = set()
        poll = select.poll()
        for member in self.members:
            if member.is_gone:
                continue
            member.tell_released()
            member.channel.flush()
            number, sentinel = member.channel.fileno(), member.process.sentinel
            poll.register(number, select.POLLIN | (
                select.POLLOUT if member.channel.backlog else 0))
            living[number] = member
            if sentinel >= 0:
                poll.register(sentinel, select.POLLIN)
                living[sentinel] = member
            else:
                unsure.add(member)
        if not living:
            raise WorkerLostError('all workers have ended; nothing is left to wait for')
        if unsure:
            timeout = _LOOK if timeout is None else min(timeout, _LOOK)
        ready = spun(poll) if self._is_brisk else []
        if not ready:
            ready = poll.poll(None if timeout is None else timeout * 1000)
        if self.is_closed:  # by another thread
            return []
        events: list[Finished | Lost] = []
        for member in unsure.union(living[number] for number, _ in ready):
            events += member.collect()
        for event in events:
            self._is_brisk = isinstance(event, Finished) and event.seconds < BRISK
        return events

    def forget(self) -> None:
        """Let go of everything in a child of the process that started the workers."""
        for member in self.members:
            member.forget()
        self.launcher.forget()
        for descriptor in (self.shipment, self._parent):
            if descriptor >= 0:
                os.close(descriptor)
        self.is_closed = True

    def close(self) -> None:
        """End all processes."""
        if self.pid != os.getpid() or self.is_closed:
            return
        self.is_closed = True
        running = [member.process for member in self.members if not member.is_gone]
        try:
            for member in self.members:
                member.channel.hang_up()
            for process in running:
                process.abandon()
            wait_for_end(running, _GRACE)
        finally:
            kill(running)
            for member in self.members:
                member.close()
            self.launcher.close()
            for descriptor in (self.shipment, self._parent):
                if descriptor >= 0:
                    os.close(descriptor)
            _crews.discard(self)


_crews: set[Crew] = set()


def _forget_all() -> None:
    """Keep a child process, in which this runs, from holding or ending workers of its parent."""
    crews = list(_crews)
    _crews.clear()
    for crew in crews:
        crew.forget()


os.register_at_fork(after_in_child=_forget_all)
