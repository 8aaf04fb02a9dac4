"""Messages between a process and its workers, over a pair of sockets.

A message is a head of fixed size (what it is, which task it is about, how long it is) and bytes.
The side of the parent never blocks; that of a worker, which has nothing else to do, does.
"""
from __future__ import annotations

import enum
import os
import select
import socket
import struct
import time
from collections import deque
from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

__all__ = ['BRISK', 'DONE', 'Channel', 'Kind', 'Link', 'Message', 'numbers_of',
           'packed_numbers', 'spun']

#: What the content of `Kind.DONE` begins with: seconds, and the lengths of what follows, which is
#: the description of the parcel, the error, and what travels along.
DONE = struct.Struct('<dQQQ')

#: Seconds. After a shorter task the other side looks for the next message for a while before it
#: goes to sleep: to wake it takes as long as the task.
BRISK = 0.0003

_SPIN = 0.0001
_HEAD = struct.Struct('<BqQ')
_PIECE = 1 << 16
# As much is read from one worker at a time, so that one that sends much does not keep the others
# waiting.
_TURN = 1 << 20
# Whoever restored the default for SIGPIPE must not be killed by a worker that has ended.
_NO_SIGNAL = getattr(socket, 'MSG_NOSIGNAL', 0)


class Kind(enum.IntEnum):
    """What a message is about."""

    #: To a worker: what it runs is there. The number says how many bytes it takes.
    SETUP = 1
    #: To a worker: a task.
    RUN = 2
    #: To a worker: these parcels are not needed any more.
    RELEASE = 3
    #: From a worker: it is ready for tasks.
    READY = 4
    #: From a worker: what came of a task.
    DONE = 5
    #: From a worker that could not even begin: why, as text.
    FAILED = 6


class Message(NamedTuple):
    """A message that has arrived.

    Attributes
    ----------
    kind : int
        One of `Kind`.
    number : int
        Which task.
    content : bytes
        The rest.
    """

    kind: int
    number: int
    content: bytes


def packed_numbers(numbers: list[int]) -> bytes:
    """Return integers as the content of a message."""
    return struct.pack(f'<{len(numbers)}q', *numbers)


def numbers_of(content: bytes) -> tuple[int, ...]:
    """Return the integers that the content of a message is made of."""
    return struct.unpack(f'<{len(content) // 8}q', content)


def spun(waiting: select.poll) -> list[tuple[int, int]]:
    """Return what is ready, after looking for it for a moment without going to sleep."""
    deadline = time.perf_counter() + _SPIN
    while True:
        ready = waiting.poll(0)
        if ready or time.perf_counter() > deadline:
            return ready


class _Incoming:
    """Bytes that have arrived, cut into messages."""

    def __init__(self) -> None:
        self._bytes = bytearray()

    def add(self, piece: bytes) -> None:
        self._bytes += piece

    def messages(self) -> list[Message]:
        """Return the messages that are complete, and forget them."""
        found: list[Message] = []
        start, end = 0, len(self._bytes)
        with memoryview(self._bytes) as view:
            while end - start >= _HEAD.size:
                kind, number, size = _HEAD.unpack_from(view, start)
                if end - start - _HEAD.size < size:
                    break
                start += _HEAD.size
                found.append(Message(kind, number, bytes(view[start:start + size])))
                start += size
        if start:
            del self._bytes[:start]
        return found


class Channel:
    """The side of the parent.

    Parameters
    ----------
    connection : socket.socket
        A stream; it is made non-blocking, and closed by `close`.

    Attributes
    ----------
    ended : bool
        Whether the other side has hung up.
    """

    def __init__(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        self.ended = False
        self._connection = connection
        self._incoming = _Incoming()
        self._outgoing: deque[memoryview] = deque()

    def fileno(self) -> int:
        """Return the number of the descriptor, -1 after `close`."""
        return self._connection.fileno()

    @property
    def backlog(self) -> bool:
        """Whether something waits to be sent."""
        return bool(self._outgoing)

    def send(self, kind: Kind, number: int = 0, *parts: bytes) -> None:
        """Send a message, or as much of it as goes through now; `flush` sends the rest."""
        self.queue(kind, number, *parts)
        self.flush()

    def queue(self, kind: Kind, number: int = 0, *parts: bytes) -> None:
        """Have a message sent by the next `flush`, which costs as much for one as for many."""
        self._outgoing.append(memoryview(
            b''.join((_HEAD.pack(kind, number, sum(map(len, parts))), *parts))))

    def send_raw(self, *parts: bytes) -> None:
        """Send bytes that are no message."""
        self._outgoing.extend(memoryview(part) for part in parts if part)
        self.flush()

    def flush(self) -> None:
        """Send what waits, as far as it goes through without blocking."""
        while self._outgoing and not self.ended:
            first = [self._outgoing[i] for i in range(min(len(self._outgoing), 16))]
            try:
                sent = self._connection.sendmsg(first, [], _NO_SIGNAL)
            except BlockingIOError:
                return
            except OSError:  # nobody is there any more; what was sent before can still be read
                self._outgoing.clear()
                return
            while sent:
                part = self._outgoing.popleft()
                if sent < len(part):
                    self._outgoing.appendleft(part[sent:])
                    break
                sent -= len(part)

    def receive(self, whole: bool = False) -> list[Message]:
        """Return what has arrived.

        Parameters
        ----------
        whole : bool, optional
            Read all that there is, as from a worker that has ended. By default `False`: what is
            left is found at the next time.
        """
        total = 0
        while not self.ended and (whole or total < _TURN):
            try:
                piece = self._connection.recv(_PIECE)
            except BlockingIOError:
                break
            except OSError:
                piece = b''
            self.ended = not piece
            self._incoming.add(piece)
            total += len(piece)
            if len(piece) < _PIECE and not whole:
                break  # nearly always there is no more
        return self._incoming.messages()

    def hang_up(self) -> None:
        """Tell the other side that it is over, whoever else holds a copy of the socket."""
        with suppress(OSError):  # it has hung up itself
            self._connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        """Close the socket."""
        self.ended = True
        self._outgoing.clear()
        self._connection.close()


class Link:
    """The side of a worker.

    It reads and writes the plain descriptor, so that a worker need not import sockets to start.

    Parameters
    ----------
    descriptor : int
        Of a stream that blocks.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._incoming = _Incoming()
        self._waiting = select.poll()
        self._waiting.register(descriptor, select.POLLIN)

    def send(self, kind: Kind, number: int = 0, *parts: bytes) -> None:
        """Send a message.

        Raises
        ------
        OSError
            The parent has gone.
        """
        left: Sequence[bytes | memoryview] = [
            _HEAD.pack(kind, number, sum(map(len, parts))), *filter(None, parts)]
        while left:
            sent = os.writev(self._descriptor, left)
            while left and sent >= len(left[0]):
                sent -= len(left[0])
                left = left[1:]
            if sent:
                left = [memoryview(left[0])[sent:], *left[1:]]

    def receive(self, wait: bool = True, brisk: bool = False) -> list[Message] | None:
        """Return messages that have arrived.

        Parameters
        ----------
        wait : bool, optional
            Wait for one. By default `True`; otherwise the list may be empty.
        brisk : bool, optional
            Look for it for a moment, before going to sleep. By default `False`.

        Returns
        -------
        list of Message or None
            `None` when the parent has hung up.
        """
        while True:
            if not wait and not self._waiting.poll(0):
                return []
            if wait and brisk:
                spun(self._waiting)
            try:
                piece = os.read(self._descriptor, _PIECE)
            except OSError:
                return None
            if not piece:
                return None
            self._incoming.add(piece)
            messages = self._incoming.messages()
            if messages:
                return messages
