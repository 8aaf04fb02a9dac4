"""The server: its sockets and its life."""
from __future__ import annotations

import logging
import os
import secrets
import socket
import threading
import weakref
from contextlib import suppress
from typing import Any, Self

from fuel._types import JSON
from fuel.config_parser import default_cache_bytes
from fuel.server.control import Control
from fuel.server.dealing import Dealer
from fuel.server.epochs import Epochs
from fuel.server.gate import Gate
from fuel.server.memory import SharedMemory
from fuel.server.pushing import FrontDoor
from fuel.wire.sockets import address, new_socket, zmq

__all__ = ['Server']

log = logging.getLogger(__name__)

# While there is nothing to do, the server looks up after so many milliseconds: for signals, which
# the system may hand to another thread, and for clients that have died while others wait for them.
_LOOK = 250
_LOOPBACK = ('127.', 'localhost', '::1')
# What was sent ahead is waited for so many milliseconds when the server ends.
_LINGER = 500


class Server:
    """Serves the batches of a stream to clients.

    Parameters
    ----------
    data_stream : AbstractDataStream
        The stream. The server iterates over its epochs; nobody else should meanwhile.
    port : int, optional
        Where to listen; 5557 by default, 0 for any port that is free.
    hwm : int, optional
        How many batches may be on their way to a client, 10 by default.
    host : str, optional
        The address to listen at. By default that of this machine alone, ``'127.0.0.1'``; ``'*'``
        for all addresses that it has.
    control_port : int, optional
        Where clients of this library, as opposed to the old one, are led to. Any port that is
        free by default. Of no use with keys: all goes through `port` then.
    keys : path, optional
        The file of the server's secret key. Clients then need its public key, and everything is
        encrypted. Clients of the old library cannot be served.
    client_keys : path, optional
        A folder with the public keys of those who may connect. By default all may who have the
        server's public key.
    shared_bytes : int, optional
        How much memory to share with clients on this machine; an eighth of all memory by default.
        It is only taken as it is needed. With 0 everything goes through sockets.
    iterator : iterator, optional
        An epoch iterator of the stream that is under way; its rest is served first.

    Attributes
    ----------
    port : int
        Where the server listens.

    Raises
    ------
    OSError
        The server cannot listen there.

    Examples
    --------
    >>> import numpy
    >>> from fuel.datasets import IndexableDataset
    >>> from fuel.schemes import SequentialScheme
    >>> from fuel.streams import DataStream
    >>> from fuel.streams.remote import ServerDataStream
    >>> stream = DataStream(IndexableDataset({'x': numpy.arange(5)}),
    ...                     iteration_scheme=SequentialScheme(5, batch_size=2))
    >>> with Server(stream, port=0).start() as server:
    ...     with ServerDataStream(port=server.port) as remote:
    ...         for x, in remote.get_epoch_iterator():
    ...             print(x)
    [0 1]
    [2 3]
    [4]
    """

    def __init__(self, data_stream: Any, port: int = 5557, hwm: int = 10, *,
                 host: str = '127.0.0.1', control_port: int | None = None,
                 keys: str | os.PathLike[str] | None = None,
                 client_keys: str | os.PathLike[str] | None = None,
                 shared_bytes: int | None = None, iterator: Any = None) -> None:
        for name, value in (('port', port), ('control_port', control_port)):
            if value is not None and not 0 <= value <= 65535:
                raise ValueError(f'expected {name} to be from 0 to 65535; got {value}')
        if hwm < 1:
            raise ValueError('expected hwm, how many batches are sent ahead, to be at least 1; '
                             f'got {hwm}')
        if client_keys is not None and keys is None:
            raise ValueError('client_keys needs the keys of the server, too: keys=...')
        self.data_stream = data_stream
        self._closing = self._is_closed = False
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._door: FrontDoor | None = None
        self._gate: Gate | None = None
        self._ear, self._mouth = socket.socketpair()
        self._memory = SharedMemory(default_cache_bytes() if shared_bytes is None
                                    else shared_bytes)
        self._context = zmq.Context()
        # Who forgets to close it is not kept waiting for what nobody will take.
        self._parts: list[Any] = [self._ear, self._mouth, self._memory]
        weakref.finalize(self, _drop, self._context, self._parts)
        self._router = new_socket(self._context, zmq.ROUTER, host)
        self._router.router_mandatory = True
        sources, labels = tuple(data_stream.sources), getattr(data_stream, 'axis_labels', None)
        dealer = self._dealer = Dealer(Epochs(data_stream, iterator))
        self._control = Control(self._router, dealer, self._memory, _about(data_stream),
                                sources, hwm)
        try:
            if keys is not None:
                self._gate = Gate(self._context, self._router, keys, client_keys)
                self._parts.append(self._gate)
                self.port = self._bind(host, port)
            else:
                self._door = FrontDoor(host, port, dealer, sources, labels)
                self._parts.append(self._door)
                self.port = self._door.port
                self._door.control_port = self._bind(host, control_port or 0)
        except BaseException:
            self._end()
            raise
        if keys is None and not host.startswith(_LOOPBACK):
            log.warning('the server listens at %s, port %d, without keys: whoever can reach it '
                        'gets the data, and whoever is on the way can change them', host,
                        self.port)

    def _bind(self, host: str, port: int) -> int:
        place = address(host, port)
        try:
            self._router.bind(place if port else f'{place[:-1]}*')
        except zmq.ZMQError as error:
            raise OSError(error.errno, f'the server cannot listen at port {port} of {host}: '
                                       f'{error.strerror}') from None
        return int(self._router.last_endpoint.rpartition(b':')[2].rstrip(b'\0'))

    def serve(self) -> None:
        """Serve until the server is stopped or closed, from another thread or a signal handler.

        Raises
        ------
        Exception
            What the stream raised, if a client of the old library was to get the step: it cannot
            be told.
        """
        poller = zmq.Poller()
        poller.register(self._router, zmq.POLLIN)
        poller.register(self._ear.fileno(), zmq.POLLIN)
        if self._gate is not None:
            poller.register(self._gate.socket, zmq.POLLIN)
        log.info('server started')
        log.info('clients connect to port %d', self.port)
        try:
            while not self._closing:
                busy = self._dealer.deal()
                busy = self._control.settle() or busy
                if self._door is not None:
                    self._door.register(poller)
                events = dict(poller.poll(0 if busy else _LOOK))
                if self._router in events:
                    self._control.listen()
                if self._gate is not None and self._gate.socket in events:
                    self._gate.answer()
                if self._door is not None:
                    self._door.attend(events)
                if not events and not busy and self._dealer.somebody_waits:
                    self._control.look_after()
        finally:
            self._end()

    def start(self) -> Self:
        """Serve in a thread of its own, and return the server."""
        with self._lock:
            if self._thread is None and not self._is_closed:
                self._thread = threading.Thread(target=self._serve_alone, daemon=True,
                                                name='fuel server')
                self._thread.start()
        return self

    def _serve_alone(self) -> None:
        try:
            self.serve()
        except Exception:
            log.exception('the server ended, as its stream failed')

    def stop(self) -> None:
        """Let `serve` return, as soon as the step is done that is being computed."""
        self._closing = True
        with suppress(OSError):
            self._mouth.send(b'.')

    def close(self) -> None:
        """Stop, tell the clients, and let go of all sockets. Can be called more than once."""
        self.stop()
        thread = self._thread
        if thread is not None and thread is not threading.current_thread():
            thread.join()
        self._end()

    def _end(self) -> None:
        with self._lock:
            if self._is_closed:
                return
            self._is_closed = self._closing = True
        self._control.say_goodbye()
        # What was sent ahead still arrives, if somebody is there to take it.
        self._router.close(linger=_LINGER)
        while self._parts:
            self._parts.pop().close()
        self._context.term()
        log.info('server ended')

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _drop(context: Any, parts: list[Any]) -> None:
    """Let go of all that a server has, at once."""
    while parts:
        parts.pop().close()
    context.destroy(0)


def _about(stream: Any) -> dict[str, JSON]:
    """Return what clients are told of a stream."""
    try:
        examples: bool | None = bool(stream.produces_examples)
    except (ValueError, AttributeError):
        examples = None
    labels = getattr(stream, 'axis_labels', None)
    return {'server': secrets.token_hex(8), 'sources': list(stream.sources), 'examples': examples,
            'labels': None if labels is None else {
                name: None if axes is None else list(axes) for name, axes in labels.items()}}
