"""Clients of the old library: what is pushed to them, and how.

An old client has a single ZeroMQ socket, of type PULL, and tells nothing to the server. It only
accepts a peer of type PUSH, and such a socket of ZeroMQ tells nothing to anybody either: who is
connected, what was sent to whom, and where another kind of client would have to go. So the few
bytes that the protocol (ZMTP 3.0, https://rfc.zeromq.org/spec/23/) asks of a pushing peer are
written here, over plain sockets that never block.
"""
from __future__ import annotations

import json
import socket
import struct
from collections import deque
from typing import Any

from fuel._types import JSON
from fuel.wire.greeting import LENGTH, greeting, read_greeting
from fuel.wire.items import Buffer, as_array, pack

__all__ = ['OldClient', 'listen', 'old_message']

_MORE, _LONG, _COMMAND = 1, 2, 4
_READY = b'\x05READY'
_SHORT = 255
# A command of a peer is no longer; who sends more is none of ours.
_ROOM = 1 << 12
# So much goes into the kernel with one call.
_PARTS = 64


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket.

    Parameters
    ----------
    host : str
        Which address of this machine; ``'*'`` for all.
    port : int
        The port; 0 for any one that is free.

    Raises
    ------
    OSError
        The port is taken; the message says which one.
    """
    family = socket.AF_INET6 if ':' in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(('' if host == '*' else host, port))
        made.listen(128)
        made.setblocking(False)
    except OSError as error:
        made.close()
        raise type(error)(error.errno, f'the server cannot listen at port {port} of {host}: '
                                       f'{error.strerror}') from None
    return made


def old_message(batch: Any, entries: list[dict[str, JSON]], epoch: int, step: int,
                ) -> tuple[bytes, list[Buffer]]:
    """Return the header and the arrays of a batch, as old clients read them.

    Parameters
    ----------
    batch : tuple
        The data.
    entries : list of dict
        More entries for the descriptions of the sources, such as their names.
    epoch, step : int
        Where the batch stands.

    Raises
    ------
    TypeError
        A source is no array, and cannot be made one.
    """
    header, buffers = [], []
    for item, more in zip(batch, entries, strict=True):
        where = f'source {more["source"]!r}'
        entry, frames = pack(as_array(item, where), where)
        header.append({**entry, **more, 'epoch': epoch, 'step': step})
        buffers += frames
    return json.dumps(header).encode(), buffers


class OldClient:
    """A connection to a client of the old library, or to what turns out to be one.

    Parameters
    ----------
    connection : socket.socket
        What was accepted.
    control_port : int
        Where clients of this library are told to go.

    Attributes
    ----------
    is_ready : bool
        Whether it is surely an old client that waits for data.
    is_closed : bool
        Whether the connection has ended.
    """

    def __init__(self, connection: socket.socket, control_port: int) -> None:
        connection.setblocking(False)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.connection = connection
        self.is_ready = False
        self.is_closed = False
        self._received = bytearray()
        self._greeted = False
        # What waits to be sent: parts that are one flat run of bytes each.
        self._parts: deque[memoryview] = deque()
        self._put(greeting(control_port))

    def fileno(self) -> int:
        """Return the descriptor, for a poller."""
        return self.connection.fileno()

    @property
    def waits(self) -> bool:
        """Whether something waits for the connection to take it."""
        return bool(self._parts)

    def close(self) -> None:
        """Close the connection."""
        self.is_closed = True
        self.is_ready = False
        self._parts.clear()
        self.connection.close()

    # What it says.

    def receive(self) -> None:
        """Read what has come."""
        try:
            part = self.connection.recv(_ROOM)
        except BlockingIOError:
            return
        except OSError:
            part = b''
        if not part:
            self.close()
            return
        self._received += part
        try:
            self._understand()
        except ValueError:
            self.close()

    def _understand(self) -> None:
        received = self._received
        if not self._greeted:
            if len(received) < LENGTH:
                if received and received[0] != 0xff:
                    raise ValueError('no ZeroMQ peer, or one from before 2013')
                return
            read_greeting(bytes(received[:LENGTH]))
            del received[:LENGTH]
            self._greeted = True
        while len(received) > 1:
            long = received[0] & _LONG
            if len(received) < (9 if long else 2):
                return
            length, start = ((struct.unpack_from('!Q', received, 1)[0], 9) if long
                             else (received[1], 2))
            if length > _ROOM:
                raise ValueError('a message of a client that has nothing to say')
            if len(received) < start + length:
                return
            body = bytes(received[start:start + length])
            is_command = received[0] & _COMMAND
            del received[:start + length]
            if is_command:
                self._obey(body)

    def _obey(self, body: bytes) -> None:
        if body.startswith(_READY):
            if _property(body[len(_READY):], b'socket-type') != b'PULL':
                raise ValueError('only those who pull are served here')
            self._put(_frame(_READY + b'\x0bSocket-Type' + struct.pack('!I', 4) + b'PUSH',
                             _COMMAND))
            self.is_ready = True
        elif body.startswith(b'\x04PING'):
            self._put(_frame(b'\x04PONG' + body[7:], _COMMAND))
        elif body.startswith(b'\x05ERROR'):
            raise ValueError('the client refuses')

    # What it is told.

    def push(self, header: bytes, buffers: list[Buffer]) -> None:
        """Send a message of several frames, or as much of it as the connection takes now."""
        frames = [header, *buffers]
        for place, frame in enumerate(frames):
            view = memoryview(frame)
            more = _MORE if place + 1 < len(frames) else 0
            self._parts.append(memoryview(_head(view.nbytes, more)))
            if view.nbytes:
                self._parts.append(view)
        self.flush()

    def _put(self, content: bytes) -> None:
        self._parts.append(memoryview(content))
        self.flush()

    def flush(self) -> None:
        """Send what waits, or as much of it as the connection takes now."""
        parts = self._parts
        try:
            while parts:
                sent = self.connection.sendmsg([parts[place]
                                                for place in range(min(len(parts), _PARTS))])
                while parts and sent >= parts[0].nbytes:
                    sent -= parts.popleft().nbytes
                if sent:
                    parts[0] = parts[0][sent:]
        except BlockingIOError:
            pass
        except OSError:
            self.close()


def _head(length: int, flags: int) -> bytes:
    """Return what stands before a frame."""
    if length > _SHORT:
        return struct.pack('!BQ', flags | _LONG, length)
    return bytes((flags, length))


def _frame(body: bytes, flags: int) -> bytes:
    return _head(len(body), flags) + body


def _property(content: bytes, wanted: bytes) -> bytes | None:
    """Return a property of a command, of which the name is given in small letters."""
    while content:
        name = content[1:1 + content[0]]
        content = content[1 + content[0]:]
        if len(content) < 4:
            raise ValueError('a property without a value')
        length = struct.unpack_from('!I', content)[0]
        if name.lower() == wanted:
            return content[4:4 + length]
        content = content[4 + length:]
    return None
