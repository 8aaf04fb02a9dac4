"""The interpreter from which workers are forked.

It is started afresh, imports once what all workers need, and then makes each of them by a fork: the
second worker, and one that replaces another, is there in a few milliseconds. It has a single
thread, has opened no file, and runs nothing of the user's, so nothing of what makes forks dangerous
applies.
"""
from __future__ import annotations

import importlib
import marshal
import os
import select
import signal
import socket
import time
import warnings
from contextlib import suppress
from typing import Any, NoReturn

__all__ = ['serve']

_MOST_DESCRIPTORS = 8
_PACKET = 1 << 16
# A little longer than workers take that see to it themselves.
_GRACE = 1.2


def serve(control: int, imports: list[str]) -> tuple[dict[str, Any], list[int]]:
    """Make workers until the parent hangs up; return in each worker, and never in this process.

    Requests and answers are packets of marshalled tuples. A request ``(ticket, station)`` comes
    with the descriptors of the station. Answers are ``('begun', ticket, pid)``, with a descriptor
    of the process; ``('failed', ticket, text)``; and ``('ended', pid, status)``.

    Parameters
    ----------
    control : int
        Descriptor of the socket to the parent, of kind ``SOCK_SEQPACKET``.
    imports : list of str
        Modules to import; one that cannot be is for those to complain about who need it.

    Returns
    -------
    station : dict
        What the worker was given, as plain data.
    descriptors : list of int
        What came with it.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for name in imports:
        with suppress(Exception):
            importlib.import_module(name)
    connection = socket.socket(fileno=control)
    children: dict[int, int] = {}
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    try:
        while True:
            for descriptor, _ in poll.poll():
                if descriptor in children:
                    poll.unregister(descriptor)
                    _tell_end(connection, descriptor, children.pop(descriptor))
                    continue
                request, descriptors, _, _ = socket.recv_fds(connection, _PACKET, _MOST_DESCRIPTORS)
                if not request:
                    _end(children)
                ticket, station = marshal.loads(request)  # noqa: S302 (it is our own)
                process = _fork(connection, ticket)
                if process == 0:
                    connection.close()
                    for sibling in children:
                        os.close(sibling)
                    return station, descriptors
                for number in descriptors:
                    os.close(number)
                if process > 0:
                    child = os.pidfd_open(process)
                    children[child] = process
                    poll.register(child, select.POLLIN)
                    socket.send_fds(connection, [marshal.dumps(('begun', ticket, process))],
                                    [child])
    except OSError:  # the parent has gone
        _end(children)


def _end(children: dict[int, int]) -> NoReturn:
    """End this process, and with it workers that do not end by themselves."""
    poll = select.poll()
    for child in children:
        poll.register(child, select.POLLIN)
    deadline = time.monotonic() + _GRACE
    left = set(children)
    while left and (seconds := deadline - time.monotonic()) > 0:
        for child, _ in poll.poll(seconds * 1000):
            poll.unregister(child)
            left.discard(child)
    for child in left:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(child, signal.SIGKILL)
    os._exit(0)


def _fork(connection: socket.socket, ticket: int) -> int:
    """Fork; return 0 in the child, and -1 where it could not be made."""
    try:
        with warnings.catch_warnings():
            # A library may have made threads when it was imported; it must cope itself.
            warnings.simplefilter('ignore')
            return os.fork()
    except OSError as error:
        connection.sendmsg([marshal.dumps(('failed', ticket, str(error)))])
        return -1


def _tell_end(connection: socket.socket, descriptor: int, process: int) -> None:
    os.close(descriptor)
    _, status = os.waitpid(process, 0)
    connection.sendmsg([marshal.dumps(('ended', process, os.waitstatus_to_exitcode(status)))])
