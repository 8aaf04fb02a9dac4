"""Workers that are forked from an interpreter started for that purpose."""
from __future__ import annotations

import marshal
import os
import select
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress

from fuel.engine.channel import Kind
from fuel.engine.faults import UNKNOWN_END
from fuel.engine.launch import Station

__all__ = ['Hatched', 'Nest']

# However slow the machine is, an interpreter that takes longer to start will never do so.
_PATIENCE = 30.0
# How long the end of a worker may be known before its exit code is; and when nobody is to be told.
_NEWS = 1.0
_NO_NEWS = 0.2
_GRACE = 0.5
_PACKET = 1 << 16


class Nest:
    """The process that forks workers.

    Parameters
    ----------
    start : callable
        Starts the interpreter; takes the descriptor of its socket, and returns a `Popen` and what
        must be sent to it first.

    Attributes
    ----------
    failure : str
        Why it could not begin, if it said so.
    patience : float
        How many seconds to wait for it to tell how a worker ended.
    """

    def __init__(self, start: Callable[[int], tuple[subprocess.Popen[bytes], list[bytes]]]) -> None:
        self.failure = ''
        self.patience = _NEWS
        self._tickets = 0
        self._begun: dict[int, tuple[int, int]] = {}
        self._failed: dict[int, str] = {}
        self._ended: dict[int, int] = {}
        self._connection, others = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            with others:
                self._process, greeting = start(others.fileno())
        except BaseException:
            self._connection.close()
            raise
        self._connection.settimeout(_PATIENCE)
        self._takes_more = True
        self._has_hung_up = False
        self._send(greeting)

    def _send(self, packets: list[bytes], descriptors: tuple[int, ...] = ()) -> None:
        try:
            for packet in packets:
                socket.send_fds(self._connection, [packet], descriptors, socket.MSG_NOSIGNAL)
        except OSError:
            # It may have said before why.
            self._takes_more = False

    @property
    def is_alive(self) -> bool:
        """Whether workers can be expected from it."""
        return (self._takes_more and not self._has_hung_up and self._process.poll() is None)

    def hatch(self, station: Station) -> Hatched:
        """Ask for a worker; it need not be there yet."""
        self._tickets += 1
        self._send([marshal.dumps((self._tickets, station.plain()))],
                   tuple(station.descriptors()))
        return Hatched(self, self._tickets)

    def begun(self, ticket: int) -> tuple[int, int] | None:
        """Return the number and a descriptor of a process that has begun, once only."""
        return self._begun.pop(ticket, None)

    def failed(self, ticket: int) -> str | None:
        """Return why a worker could not be made, where it could not."""
        return self._failed.get(ticket)

    def ended(self, process: int) -> int | None:
        """Return the exit code of a process that has ended, once only."""
        return self._ended.pop(process, None)

    def attend(self, timeout: float = 0.0) -> bool:
        """Read what the process has told.

        Parameters
        ----------
        timeout : float, optional
            How many seconds to wait for something, if there is nothing yet.

        Returns
        -------
        bool
            Whether more may come.
        """
        poll = select.poll()
        while not self._has_hung_up:
            poll.register(self._connection, select.POLLIN)
            if not poll.poll(timeout * 1000):
                break
            try:
                packet, descriptors, _, _ = socket.recv_fds(
                    self._connection, _PACKET, 1, socket.MSG_CMSG_CLOEXEC)
            except ConnectionResetError:
                # It ended without reading all that it was sent; what it sent itself comes now.
                continue
            except OSError:
                packet, descriptors = b'', []
            self._take(packet, descriptors)
            timeout = 0.0
        return not self._has_hung_up

    def _take(self, packet: bytes, descriptors: list[int]) -> None:
        if not packet:
            self._has_hung_up = True
        elif packet[0] == Kind.FAILED:
            self.failure = packet[17:].decode('utf-8', 'replace')
        else:
            what, number, value = marshal.loads(packet)  # noqa: S302 (it is our own)
            if what == 'begun':
                self._begun[number] = value, descriptors[0]
            elif what == 'failed':
                self._failed[number] = value
            else:
                self._ended[number] = value

    def end(self) -> None:
        """End the process at once. Workers that it has made go on."""
        self._process.kill()
        self._process.wait()
        self.attend()  # what it had told before
        self._hang_up()

    def close(self) -> None:
        """End the process. Workers should have ended before."""
        self._hang_up()
        try:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_GRACE if self.patience else 0.0)
        finally:
            self.end()
            self._drop_begun()

    def forget(self) -> None:
        """Let go of it in a child of the parent."""
        self._process.returncode = 0
        self._hang_up()
        self._drop_begun()

    def _hang_up(self) -> None:
        self._has_hung_up = True
        self._connection.close()

    def _drop_begun(self) -> None:
        for _, descriptor in self._begun.values():
            os.close(descriptor)
        self._begun.clear()


class Hatched:
    """A worker that was asked for.

    Parameters
    ----------
    nest : Nest
        Where.
    ticket : int
        Under which number.
    """

    def __init__(self, nest: Nest, ticket: int) -> None:
        self._nest = nest
        self._ticket = ticket
        self._pid = 0
        self._sentinel = -1
        self._code: int | None = None
        self.failure = ''

    @property
    def pid(self) -> int:
        """The number of the process; waits until it has one, and is 0 if it never gets one."""
        deadline = time.monotonic() + _PATIENCE
        while not self._has_begun() and self.poll() is None and time.monotonic() < deadline:
            self._nest.attend(0.5)
        return self._pid

    @property
    def sentinel(self) -> int:
        """A descriptor that tells of its end; -1 as long as it has not begun."""
        self._has_begun()
        return self._sentinel

    def _has_begun(self) -> bool:
        if not self._pid and self._code is None:
            self._nest.attend()
            begun = self._nest.begun(self._ticket)
            if begun is not None:
                self._pid, self._sentinel = begun
        return bool(self._pid)

    def poll(self) -> int | None:
        """Return its exit code; `None` while it runs, or is yet to begin."""
        if self._code is None:
            self._code = self._end()
        return self._code

    def _end(self) -> int | None:
        if not self._has_begun():
            problem = self._nest.failed(self._ticket)
            if problem is not None:
                self.failure = f'it could not be started: {problem}'
            elif self._nest.attend() or self._has_begun():
                return None
            else:
                self.failure = self._nest.failure or 'what starts the workers has ended'
            return UNKNOWN_END
        if not _is_readable(self._sentinel):
            return None
        deadline = time.monotonic() + self._nest.patience
        self._nest.attend()
        while (code := self._nest.ended(self._pid)) is None:
            left = deadline - time.monotonic()
            if left <= 0 or not self._nest.attend(left):
                # Nor does it tell of the others soon: it was stopped, or has ended.
                self._nest.patience = 0.0
                code = self._nest.ended(self._pid)
                return UNKNOWN_END if code is None else code
        return code

    def send_signal(self, number: int) -> None:
        """Send it a signal. One that has not begun can only be killed."""
        if not self._has_begun():
            if number == signal.SIGKILL:
                self.abandon()
        elif self.poll() is None:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(self._sentinel, number)

    def abandon(self) -> None:
        """End what would make it, if it has not begun; if it has, do not care how it ends."""
        self._nest.patience = min(self._nest.patience, _NO_NEWS)
        if not self._has_begun():
            # Should it have begun after all, it ends when it finds nobody there.
            self._nest.end()

    def forget(self) -> None:
        """Let go of it in a child of the parent."""
        self._code = UNKNOWN_END
        self.close()

    def close(self) -> None:
        """Free what belongs to a process that has ended."""
        if self._sentinel >= 0:
            os.close(self._sentinel)
            self._sentinel = -1


def _is_readable(descriptor: int) -> bool:
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))
