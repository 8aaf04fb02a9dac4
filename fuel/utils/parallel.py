"""A producer in a process of its own, and a consumer in this one."""
from __future__ import annotations

import multiprocessing
import os
import traceback
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

import zmq

from fuel.exceptions import WorkerError, WorkerLostError

__all__ = ['producer_consumer']

# When everything that the producer sent has surely arrived, after it has ended.
_SETTLED = 500
# Signals may be handed to another thread, so it is looked for them after so many milliseconds.
_LOOK = 250


class _FedSocket(zmq.Socket):  # type: ignore[type-arg]
    """A socket that does not wait for a producer that has ended."""

    def fed_by(self, producer: _Producer) -> None:
        """Say whom the messages come from."""
        # Attributes of sockets are options of ZeroMQ, unless they are set in this way.
        self.__dict__['producer'] = producer

    def recv(self, flags: int = 0, copy: bool = True, track: bool = False) -> Any:
        """Receive a frame, as ``zmq.Socket.recv`` does.

        Raises
        ------
        WorkerError
            The producer has failed; the error tells how.
        WorkerLostError
            It has ended, and there is nothing more to receive.
        """
        producer = self.__dict__.get('producer')
        # The parts of a message come together.
        if producer is not None and not flags & zmq.NOBLOCK and int(self.rcvtimeo) < 0:
            producer.wait_for(self)
        return super().recv(flags, copy, track)


class _Producer:
    """The process of a producer.

    Parameters
    ----------
    function : callable
        What it runs.
    """

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self._reports, theirs = multiprocessing.Pipe()
        self._process = multiprocessing.Process(target=_produce, args=(function, theirs),
                                                daemon=True)
        self._process.start()
        theirs.close()

    def connect(self, address: str) -> None:
        """Tell it where the consumer is."""
        self._reports.send(address)

    def wait_for(self, socket: Any) -> None:
        """Wait until there is something to receive, or the producer has ended."""
        poller = zmq.Poller()
        poller.register(socket, zmq.POLLIN)
        poller.register(self._process.sentinel, zmq.POLLIN)
        events: dict[Any, int] = {}
        while not events:
            events = dict(poller.poll(_LOOK))
        if socket in events or socket.poll(_SETTLED):
            return
        self._process.join()
        report = None
        with suppress(EOFError, OSError):
            report = self._reports.recv()
        if report is not None:
            name, message, lines = report
            raise WorkerError(f'the producer failed: {name}: {message}\n\nin the producer:\n'
                              f'{lines}', name)
        code = self._process.exitcode
        raise WorkerLostError(
            'the producer has ended, and there is nothing more to receive'
            + (f'; it was killed by signal {-code}' if code is not None and code < 0 else
               f'; its exit code is {code}' if code else ''))

    def close(self) -> None:
        """End the process, whatever it does."""
        self._process.terminate()
        self._process.join(1)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        self._process.close()
        self._reports.close()


def _produce(function: Callable[[Any], Any], reports: Connection) -> None:
    """Run a producer in its process."""
    try:
        address = reports.recv()
    except EOFError:
        return
    context = zmq.Context()
    socket = context.socket(zmq.PUSH)
    try:
        socket.connect(address)
        function(socket)
    except Exception as error:
        reports.send((type(error).__name__, str(error), traceback.format_exc()))
        # The parent tells of it.
        context.destroy(linger=_SETTLED)
        os._exit(1)
    # What was sent is waited for.
    socket.close()
    context.term()


def producer_consumer(producer: Callable[[Any], Any], consumer: Callable[[Any], Any],
                      addr: str = 'tcp://127.0.0.1', port: int | None = None,
                      context: Any = None) -> Any:
    """Run a producer in a process of its own, and a consumer of what it sends in this one.

    Parameters
    ----------
    producer : callable
        Called, in the new process, with a socket of ZeroMQ of type PUSH.
    consumer : callable
        Called with a socket of type PULL, at which arrives what the producer sends. When the
        producer has failed or ended and there is nothing more to receive, the socket raises an
        error; it does not wait for ever.
    addr : str, optional
        Where the two meet, without a port.
    port : int, optional
        The port. Any one that is free by default.
    context : zmq.Context, optional
        For the consumer's socket. A new one by default, which is closed at the end.

    Returns
    -------
    object
        What the consumer returned. The producer is ended then, whether or not it was ready.

    Raises
    ------
    OSError
        The port is taken.
    """
    # Before there are any threads of ZeroMQ, which do not survive a fork.
    process = _Producer(producer)
    own = None
    try:
        if context is None:
            context = own = zmq.Context()
        socket = _FedSocket(context, zmq.PULL)
        try:
            try:
                if port is None:
                    port = socket.bind_to_random_port(addr)
                else:
                    socket.bind(f'{addr}:{port}')
            except zmq.ZMQError as error:
                raise OSError(error.errno, f'the consumer cannot listen at {addr}:{port}: '
                                           f'{error.strerror}') from None
            socket.fed_by(process)
            process.connect(f'{addr}:{port}')
            return consumer(socket)
        finally:
            socket.close(linger=0)
    finally:
        process.close()
        if own is not None:
            own.term()
