"""Messages of the old library, through any socket of ZeroMQ."""
from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from fuel.exceptions import DataLayoutError
from fuel.wire.items import Buffer, pack, unpack

__all__ = ['read_message', 'recv_arrays', 'send_arrays']


def send_arrays(socket: Any, arrays: Iterable[Any] | None, stop: bool = False) -> None:
    """Send arrays through a socket.

    Parameters
    ----------
    socket : zmq.Socket
        The socket.
    arrays : iterable
        Arrays, or whatever else can be sent without a pickle: numbers, strings, bytes, and lists,
        tuples, dicts and object arrays of these. Programs that use the old library can read
        arrays of plain dtypes.
    stop : bool, optional
        Tell that the epoch is over, in place of sending anything.

    Raises
    ------
    TypeError
        Something is of a type that cannot be sent. Nothing was sent then.
    """
    if stop:
        socket.send(b'{"stop": true}')
        return
    header: list[Any] = []
    buffers: list[Buffer] = []
    for place, item in enumerate(arrays or ()):
        entry, frames = pack(item, f'item {place}')
        header.append(entry)
        buffers += frames
    socket.send_multipart([json.dumps(header).encode(), *buffers], copy=False)


def recv_arrays(socket: Any) -> list[Any]:
    """Receive what `send_arrays` of this or of the old library sent.

    Parameters
    ----------
    socket : zmq.Socket
        The socket.

    Returns
    -------
    list

    Raises
    ------
    StopIteration
        The epoch is over.
    DataLayoutError
        The message is not of this kind.
    """
    header, items = read_message(socket.recv_multipart(copy=False))
    if header is not None:
        raise StopIteration
    return items


def read_message(frames: list[Any]) -> tuple[dict[str, Any] | None, list[Any]]:
    """Return what a message says.

    Parameters
    ----------
    frames : list of zmq.Frame
        The parts that it consists of.

    Returns
    -------
    stop : dict or None
        The header of a message that says that the epoch is over.
    items : list
        Otherwise, one item for every source.
    """
    try:
        header = json.loads(frames[0].bytes)
    except ValueError as error:
        raise DataLayoutError(f'expected a message that begins with a header in JSON; got '
                              f'{frames[0].bytes[:100]!r}') from error
    if isinstance(header, dict) and 'stop' in header:
        return header, []
    if not isinstance(header, list):
        raise DataLayoutError(f'expected a list with a description for each array; got '
                              f'{header!r:.200}')
    buffers = iter(frames[1:])
    items = [unpack(entry, buffers) for entry in header]
    if next(buffers, None) is not None:
        raise DataLayoutError(f'expected {len(header)} arrays; there is more in the message')
    return None, items
