"""How a client finds out what listens at a port.

Everything that speaks ZeroMQ's protocol (ZMTP 3, https://rfc.zeromq.org/spec/23/) begins with a
greeting of 64 bytes, the last 31 of which are a filler that nobody looks at. There a server of this
library says at which port it can be spoken with in both directions. A server of the old library
leaves the filler empty.
"""
from __future__ import annotations

import socket
import struct
from dataclasses import dataclass

__all__ = ['LENGTH', 'PROTOCOL', 'Greeting', 'ask', 'greeting', 'read_greeting']

#: How many bytes a greeting has.
LENGTH = 64
#: The version of what clients and servers of this library say to each other.
PROTOCOL = 1

_SIGNATURE = b'\xff\0\0\0\0\0\0\0\x01\x7f'
_MARK = b'fuel'
_FILLER = struct.Struct('!4sBH')


@dataclass(frozen=True, slots=True)
class Greeting:
    """What a greeting says.

    Attributes
    ----------
    mechanism : str
        How peers make sure of each other: ``'NULL'`` or ``'CURVE'``.
    control_port : int or None
        Where a server of this library can be spoken with; `None` if it is none.
    """

    mechanism: str
    control_port: int | None


def greeting(control_port: int | None = None) -> bytes:
    """Return the greeting of a peer without encryption.

    Parameters
    ----------
    control_port : int, optional
        Where the server that sends it can be spoken with.
    """
    filler = b'' if control_port is None else _FILLER.pack(_MARK, PROTOCOL, control_port)
    # Version 3.0; mechanism; not a server, as far as the mechanism is concerned.
    return (_SIGNATURE + b'\x03\x00' + b'NULL'.ljust(20, b'\0') + b'\0' + filler).ljust(
        LENGTH, b'\0')


def read_greeting(content: bytes) -> Greeting:
    """Read a greeting.

    Raises
    ------
    ValueError
        It is none.
    """
    if len(content) != LENGTH or content[0] != 0xff or content[9] != 0x7f or content[10] < 3:
        raise ValueError(f'expected the greeting of a ZeroMQ peer; got {content!r}')
    mark, _, port = _FILLER.unpack_from(content, 33)
    return Greeting(content[12:32].rstrip(b'\0').decode('ascii', 'replace'),
                    port if mark == _MARK else None)


def ask(host: str, port: int, timeout: float) -> Greeting:
    """Ask what listens at a port.

    Parameters
    ----------
    host : str
        The host.
    port : int
        The port.
    timeout : float
        How many seconds to wait, at most.

    Raises
    ------
    OSError
        Nobody listens there, or nobody answers.
    ValueError
        What listens does not speak ZeroMQ's protocol.
    """
    with socket.create_connection((host, port), timeout) as connection:
        # No more than the version: then the other side says everything, and refuses nothing yet.
        connection.sendall(greeting()[:12])
        content = b''
        while len(content) < LENGTH:
            part = connection.recv(LENGTH - len(content))
            if not part:
                if content:
                    raise ValueError(f'{host}:{port} broke off its greeting, {content!r}')
                raise ConnectionResetError(f'{host}:{port} closed the connection')
            content += part
    return read_greeting(content)
