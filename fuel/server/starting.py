"""Starting a server that runs until it is told to end."""
from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

from fuel.server.serving import Server

__all__ = ['start_server', 'until_terminated']


class _Terminated(BaseException):
    """The process was asked to end."""


@contextlib.contextmanager
def until_terminated(stop: Callable[[], None]) -> Iterator[None]:
    """Run what is inside until it ends, or until the process is asked to end by SIGTERM.

    In other threads than the main one, signals are left as they are.

    Parameters
    ----------
    stop : callable
        Called then, too: an exception can come where nobody heeds it, as in a finalizer.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def terminate(number: int, frame: object) -> None:
        # Once is enough; a second one must not disturb the end.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        stop()
        raise _Terminated

    before = signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    except _Terminated:
        pass
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL if before is None else before)


def start_server(data_stream: Any, port: int = 5557, hwm: int = 10, *, host: str = '127.0.0.1',
                 control_port: int | None = None, keys: str | os.PathLike[str] | None = None,
                 client_keys: str | os.PathLike[str] | None = None,
                 shared_bytes: int | None = None, iterator: Any = None) -> None:
    """Serve the batches of a stream to other programs, until the process is asked to end.

    Returns on SIGTERM. Ctrl-C raises ``KeyboardInterrupt``. In both cases clients are told, and
    look for the server for a while in case that it comes back.

    Parameters
    ----------
    data_stream : AbstractDataStream
        The stream.
    port, hwm, host, control_port, keys, client_keys, shared_bytes, iterator
        See :class:`fuel.server.Server`, with which a server can be run in a thread.
    """
    with Server(data_stream, port, hwm, host=host, control_port=control_port, keys=keys,
                client_keys=client_keys, shared_bytes=shared_bytes,
                iterator=iterator) as server, until_terminated(server.stop):
        server.serve()
