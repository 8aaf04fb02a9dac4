"""The place of one worker in a pool, and the process that is in it."""
from __future__ import annotations

import os
import pickle
import signal
import socket
import time
from contextlib import ExitStack, suppress

from fuel.engine.channel import DONE, Channel, Kind, Message, packed_numbers
from fuel.engine.faults import describe_end, unpack_error
from fuel.engine.launch import DUMP, Launcher, Station, kill, wait_for_end
from fuel.engine.parcels import Inbox
from fuel.engine.region import Region
from fuel.engine.results import Finished, Lost
from fuel.engine.shipping import anonymous_file

__all__ = ['Member']

# How long a worker that has hung up may take to end.
_LINGER = 1.0
# How long it may take to write down its stacks.
_WRITING = 1.0
# As the system calls it in /proc.
_STOPPED = ('T', 't')
_CRASHES = (signal.SIGSEGV, signal.SIGFPE, signal.SIGABRT, signal.SIGBUS, signal.SIGILL)


class Member:
    """One worker.

    Parameters
    ----------
    launcher : Launcher
        Starts its process.
    worker, num_workers, generation : int
        As in `Station`.
    shipment : int
        Descriptor of the file with what it runs.
    parent : int
        Descriptor that tells of the end of this process, or -1.
    cores : list of int or None
        The only ones that it may use.
    region_bytes : int
        The size of its shared memory.

    Attributes
    ----------
    worker : int
        Its number.
    process : Launched
        Its process.
    channel : Channel
        To the process.
    inbox : Inbox
        What it has sent.
    is_gone : bool
        Whether its end has been noticed.
    """

    def __init__(self, launcher: Launcher, worker: int, num_workers: int, generation: int,
                 shipment: int, parent: int, cores: list[int] | None, region_bytes: int) -> None:
        self.worker = worker
        self.is_gone = False
        self._is_ready = False
        self._failure = ''
        with ExitStack() as undo:
            region = Region.create(region_bytes)
            undo.callback(region.close)
            self._region = region
            self._stacks = anonymous_file('fuel-stacks')
            undo.callback(os.close, self._stacks)
            mine, others = socket.socketpair()
            with others:
                self.channel = Channel(mine)
                undo.callback(self.channel.close)
                self.inbox = Inbox(region)
                self.process = launcher.launch(
                    Station(worker, num_workers, generation, others.fileno(), region.fileno(),
                            shipment, self._stacks, parent, cores), self.channel)
            undo.pop_all()

    def queue(self, number: int, body: bytes) -> None:
        """Have a task sent, and with it what is not needed any more of earlier ones."""
        self.tell_released()
        self.channel.queue(Kind.RUN, number, body)

    def tell_released(self) -> None:
        """Give the worker back the memory that nobody uses any more."""
        released = self.inbox.released()
        if released:
            self.channel.queue(Kind.RELEASE, 0, packed_numbers(released))

    def collect(self) -> list[Finished | Lost]:
        """Return what has happened since the last time, without waiting for anything."""
        has_ended = self.process.poll() is not None
        events: list[Finished | Lost] = []
        for message in self.channel.receive(whole=has_ended):
            if message.kind == Kind.DONE:
                events.append(self._finished(message))
            elif message.kind == Kind.READY:
                self._is_ready = True
            elif message.kind == Kind.FAILED:
                self._failure = message.content.decode('utf-8', 'replace')
        if has_ended or self.channel.ended:
            events.append(self._lost())
        return events

    def _finished(self, message: Message) -> Finished:
        content = message.content
        seconds, *lengths = DONE.unpack_from(content)
        parts = []
        place = DONE.size
        for length in lengths:
            parts.append(content[place:place + length])
            place += length
        description, error, extra = parts
        return Finished(self.worker, message.number, self.inbox.open(description),
                        unpack_error(error) if error else None,
                        pickle.loads(extra) if extra else None, seconds)

    def _lost(self) -> Lost:
        self.is_gone = True
        details = ''
        # It may have hung up and be about to end, and only its end says why.
        if wait_for_end([self.process], _LINGER):
            kill([self.process])
            reason = 'hung up without ending, and was killed'
        else:
            code = self.process.poll() or 0
            reason = describe_end(code)
            if -code in _CRASHES:
                details = self._written(0)
        if not self._is_ready:
            reason = f'{reason} before it was ready to work'
            details = self._failure or self.process.failure or details
        return Lost(self.worker, self.process.pid, reason, self._is_ready,
                    details and f'\n{details}')

    def stack(self) -> str:
        """Return where the worker is in its program, as text."""
        if self.process.poll() is not None:
            return 'it has ended'
        written = '' if self._state() in _STOPPED else self._dump()
        if written:
            return written
        state = self._state()
        if state in _STOPPED:
            return 'it was stopped by a signal (SIGSTOP) or a debugger, and does not run'
        if state == 'D':
            return 'it waits within the system, perhaps for a disk that does not answer'
        return ('it does not say where it is' if self._is_ready
                else 'it is still starting, or importing what it needs')

    def _state(self) -> str:
        """Return the letter of the system for what the process does, if there is one."""
        with suppress(OSError), open(f'/proc/{self.process.pid}/stat', 'rb') as content:
            return content.read().rpartition(b')')[2].split()[0].decode()
        return ''

    def _dump(self) -> str:
        start = before = self._length()
        self.process.send_signal(DUMP)
        deadline = time.monotonic() + _WRITING
        while time.monotonic() < deadline:
            time.sleep(0.01)
            now = self._length()
            if now == before > start:
                break
            before = now
        return self._written(start)

    def _length(self) -> int:
        return os.fstat(self._stacks).st_size

    def _written(self, start: int) -> str:
        text = os.pread(self._stacks, 1 << 20, start).decode('utf-8', 'replace')
        # After a crash a list of all modules follows, which tells nobody anything.
        return text.partition('\n\nExtension modules:')[0].strip()

    def end(self) -> None:
        """End the process at once, if it has not ended."""
        if not self.is_gone:
            self.is_gone = True
            kill([self.process])

    def forget(self) -> None:
        """Let go of everything in a child of the parent."""
        self.is_gone = True
        self.process.forget()
        self.channel.close()
        self._region.close()
        os.close(self._stacks)

    def close(self) -> None:
        """Free everything, when the process has ended. Arrays that came from it stay valid."""
        self.process.close()
        self.channel.close()
        self._region.close()
        os.close(self._stacks)

    def greet(self, size: int) -> None:
        """Tell the worker that what it runs is there."""
        self.channel.send(Kind.SETUP, size)
