"""Connections of a client to a server, of this library or of the old one."""
from __future__ import annotations

import json
import math
import os
import time
from collections import deque
from contextlib import suppress
from typing import Any

from fuel._types import JSON
from fuel.exceptions import DataLayoutError, ServerError
from fuel.storage.sharing.owners import machine, start_of_process
from fuel.streams.place import Address
from fuel.wire.greeting import PROTOCOL, ask
from fuel.wire.items import unpack
from fuel.wire.messages import read_message
from fuel.wire.regions import MappedRegion
from fuel.wire.sockets import address, new_socket, public_key, secret_keys, zmq

__all__ = ['BrokenLinkError', 'Link', 'OldLink', 'connect']

# A server that is not there yet is asked again after so many seconds.
_AGAIN = 0.05
# Signals may be handed to another thread, so it is looked for them after so many milliseconds.
_LOOK = 250
# A farewell is waited for so many milliseconds.
_LINGER = 500


class BrokenLinkError(Exception):
    """The connection to the server has ended."""


def connect(place: Address, hwm: int, deadline: float | None) -> Link | OldLink:
    """Connect to a server.

    Parameters
    ----------
    place : Address
        Where it is.
    hwm : int
        How many messages of an old server to keep.
    deadline : float or None
        When to give up, on the clock of ``time.monotonic``.

    Raises
    ------
    TimeoutError
        Nobody was found there.
    ServerError
        What was found there is no server that this client could speak with.
    """
    if place.server_key is not None:
        return Link(place, place.port)
    while True:
        left = 5.0 if deadline is None else deadline - time.monotonic()
        try:
            found = ask(place.host, place.port, max(min(left, 5.0), 0.01))
            break
        except ValueError as error:
            raise ServerError(f'what listens at {place} is no server of this library: '
                              f'{error}') from error
        except OSError as error:
            reason = error
        if deadline is not None and time.monotonic() + _AGAIN >= deadline:
            raise TimeoutError(f'{reason}') from reason
        time.sleep(_AGAIN)
    if found.mechanism != 'NULL':
        raise ServerError(f'the server at {place} demands keys ({found.mechanism}); pass '
                          'server_key, the file of its public key')
    if found.control_port is None:
        return OldLink(place, hwm)
    return Link(place, found.control_port)


def _header(frames: list[Any]) -> dict[str, Any]:
    """Return the header of a message of a server of this library."""
    try:
        header = json.loads(frames[0].bytes)
        if isinstance(header['op'], str):
            return header  # type: ignore[no-any-return]
    except (ValueError, KeyError, TypeError):
        pass
    raise DataLayoutError(f'the server sent what is no message: {frames[0].bytes[:100]!r}')


class _Socket:
    """A socket whose end of the connection is noticed."""

    def __init__(self, place: Address, port: int, kind: str, hwm: int = 0) -> None:
        self.pid = os.getpid()
        self._context = zmq.Context()
        self._socket: Any = new_socket(self._context, getattr(zmq, kind), place.host)
        self._socket.rcvhwm = hwm
        self._monitor: Any = None
        try:
            if place.server_key is not None:
                self._encrypt(place)
            # A new connection begins with a word of greeting, so ZeroMQ must not make one itself.
            self._socket.reconnect_ivl = -1
            self._socket.connect_timeout = self._socket.handshake_ivl = 5000
            self._monitor = self._socket.get_monitor_socket(
                zmq.EVENT_DISCONNECTED | zmq.EVENT_CLOSED | zmq.EVENT_HANDSHAKE_FAILED_AUTH
                | zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL | zmq.EVENT_HANDSHAKE_FAILED_NO_DETAIL)
            self._monitor.linger = 0
            self._poller = zmq.Poller()
            self._poller.register(self._socket, zmq.POLLIN)
            self._poller.register(self._monitor, zmq.POLLIN)
            self._socket.connect(address(place.host, port))
        except BaseException:
            self.close()
            raise

    def _encrypt(self, place: Address) -> None:
        self._socket.curve_serverkey = public_key(place.server_key or '')
        self._socket.curve_publickey, self._socket.curve_secretkey = (
            zmq.curve_keypair() if place.client_key is None else secret_keys(place.client_key))

    def frames(self, deadline: float | None) -> list[Any] | None:
        """Return the frames of the next message; `None` if there is none before the deadline.

        Raises
        ------
        BrokenLinkError
            The connection has ended, and everything that came through it was returned.
        """
        while True:
            with suppress(zmq.Again):
                return self._read()
            left = math.inf if deadline is None else (deadline - time.monotonic()) * 1e3
            events = dict(self._poller.poll(math.ceil(max(0.0, min(left, _LOOK)))))
            if not events and left <= _LOOK:
                return None
            if self._socket not in events and self._monitor in events:
                self._find_out()

    def _read(self) -> list[Any]:
        """Return the frames of a message that has come."""
        return self._socket.recv_multipart(  # type: ignore[no-any-return]
            zmq.NOBLOCK, copy=False)

    def _find_out(self) -> None:
        event = int.from_bytes(self._monitor.recv_multipart()[0][:2], 'little')
        if event == zmq.EVENT_HANDSHAKE_FAILED_AUTH:
            raise ServerError('the server refuses the key of this client; its public key must '
                              'stand in the folder that the server was given')
        if event == zmq.EVENT_HANDSHAKE_FAILED_PROTOCOL:
            raise BrokenLinkError('the other side speaks another protocol, or has other keys')
        raise BrokenLinkError('the connection to the server ended')

    def part(self, session: str) -> None:
        """Close the socket."""
        self.close()

    def close(self, linger: int = 0) -> None:
        """Close the socket."""
        if self.pid != os.getpid():  # those of another process are its own to close
            return
        if self._monitor is not None:
            with suppress(zmq.ZMQError):
                self._socket.disable_monitor()
            self._monitor.close(linger=0)
        self._socket.close(linger=linger)
        self._context.term()


class OldLink(_Socket):
    """A connection to a server of the old library.

    Parameters
    ----------
    place : Address
        Where it is.
    hwm : int
        How many messages are kept before they are asked for.

    Attributes
    ----------
    ticket : int or None
        The epoch iterator that was given something of the epoch under way; `None` between epochs.
    is_new : bool
        Whether nothing was received yet.
    """

    def __init__(self, place: Address, hwm: int) -> None:
        super().__init__(place, place.port, 'PULL', hwm)
        self.ticket: int | None = None
        self.is_new = True

    def receive(self, deadline: float | None) -> tuple[bool, list[Any]] | None:
        """Return whether the epoch is over, and the data of a step; `None` after the deadline."""
        frames = self.frames(deadline)
        if frames is None:
            return None
        stop, items = read_message(frames)
        return stop is not None, items


class Link(_Socket):
    """A connection to a server of this library.

    Parameters
    ----------
    place : Address
        Where it is.
    port : int
        Where it can be spoken with.

    Attributes
    ----------
    about : dict or None
        What the server says of its stream; `None` before it has answered.
    """

    def __init__(self, place: Address, port: int) -> None:
        super().__init__(place, port, 'DEALER')
        self.about: dict[str, Any] | None = None
        self._waiting: deque[tuple[dict[str, Any], list[Any]]] = deque()
        self._memory: MappedRegion | None = None
        self._had: tuple[str, MappedRegion] | None = None

    def hello(self, session: str, hwm: int, ticket: int, position: JSON, after: int | None,
              had: tuple[str, MappedRegion] | None) -> None:
        """Say who this is, and what is wanted.

        Parameters
        ----------
        session : str
            What the client calls itself.
        hwm : int
            How many steps may be sent ahead.
        ticket : int
            Tells the epoch that is wanted from those that were wanted before.
        position : dict or None
            Where the client stands.
        after : int or None
            It wants an epoch after this one; `None` for the rest of the one that it is in.
        had : tuple or None
            The name of the shared memory of an earlier connection, and the memory.
        """
        self._had = had
        pid = os.getpid()
        self._tell(op='hello', version=PROTOCOL, session=session, hwm=hwm, ticket=ticket, pid=pid,
                   started=start_of_process(pid), machine=machine(), position=position,
                   after=after, held=self._held())

    def part(self, session: str) -> None:
        """Take leave, and close the socket."""
        if self.pid == os.getpid():
            self.tell('bye', session=session, held=self._held())
            self.close(linger=_LINGER)

    def _held(self) -> list[int]:
        return [] if self._had is None else sorted(self._had[1].held)

    @property
    def memory(self) -> tuple[str, MappedRegion] | None:
        """The name of the server's shared memory, and the memory, for a later connection."""
        return self._had

    def tell(self, operation: str, **entries: JSON) -> None:
        """Send a message, and with it which places of shared memory are free again."""
        if self._memory is not None and (released := self._memory.take_released()):
            entries['released'] = released
        self._tell(op=operation, **entries)

    def _tell(self, **entries: JSON) -> None:
        self._socket.send(json.dumps(entries).encode())

    def receive(self, deadline: float | None) -> tuple[dict[str, Any], list[Any]] | None:
        """Return the header and frames of the next message; `None` after the deadline.

        Raises
        ------
        BrokenLinkError
            The connection has ended.
        """
        self._make_sure()
        if self._waiting:
            return self._waiting.popleft()
        while True:
            frames = self.frames(deadline)
            if frames is None:
                return None
            header = _header(frames)
            operation = header['op']
            if operation == 'closed':
                raise BrokenLinkError('the server ended')
            if operation == 'welcome':
                self.about = header
                self._reach_memory(header['memory'])
            if operation != 'ping':
                return header, frames[1:]

    def _make_sure(self) -> None:
        """Raise an error if the connection has ended.

        What has come before counts no more: the server may give it to somebody else.
        """
        if self._monitor.get(zmq.EVENTS) & zmq.POLLIN:
            self._find_out()

    def last_words(self) -> list[dict[str, Any]]:
        """Return the headers of what came before the connection ended, and was not received."""
        headers = [header for header, _ in self._waiting]
        with suppress(zmq.ZMQError, DataLayoutError):
            while True:
                headers.append(_header(self._read()))
        return headers

    def news(self) -> list[dict[str, Any]]:
        """Return the headers of what has come so far; `receive` returns them as well."""
        with suppress(BrokenLinkError):  # `receive` finds out, too
            have = list(self._waiting)
            self._waiting.clear()
            try:
                while (message := self.receive(0)) is not None:
                    have.append(message)
            finally:
                self._waiting.extend(have)
        return [header for header, _ in self._waiting]

    def _reach_memory(self, token: dict[str, JSON] | None) -> None:
        """Map the shared memory of the server, if it is in reach."""
        if token is None:
            return
        had, name = self._had, token['name']
        if had is None or had[0] != name:
            self._had = None
            with suppress(OSError, ValueError):
                self._had = name, MappedRegion(token)
        if self._had is not None:
            self._memory = self._had[1]
            self.tell('memory')

    def drop(self, header: dict[str, Any]) -> None:
        """Let go of the data of a step that nobody wants."""
        if 'lent' in header and self._memory is not None:
            self._memory.drop(header['lent'][0])

    def items(self, header: dict[str, Any], frames: list[Any]) -> list[Any]:
        """Return the data of a step."""
        buffers = iter(frames)
        if 'lent' in header:
            number, start, nbytes, places = header['lent']
            if self._memory is None:
                raise DataLayoutError('the server put data where this client cannot reach them')
            whole = self._memory.lend(start, nbytes, number)
            buffers = iter([next(buffers) if place is None else whole[place:place + length]
                            for place, length in zip(places, header['lengths'], strict=True)])
        return [unpack(entry, buffers) for entry in header['items']]
