"""The port at which clients of the old library are served, and others are told where to go."""
from __future__ import annotations

import errno
import logging
import secrets
import socket
from contextlib import suppress
from typing import Any

from fuel.server.clients import PushedClient
from fuel.server.dealing import Dealer
from fuel.server.old_clients import OldClient, listen
from fuel.wire.sockets import zmq

__all__ = ['FrontDoor']


log = logging.getLogger(__name__)


class FrontDoor:
    """Accepts connections, and pushes steps to clients of the old library.

    Parameters
    ----------
    host : str
        The address to listen at.
    port : int
        The port; 0 for any that is free.
    dealer : Dealer
        Deals out the steps.
    sources : tuple of str
        The names of the sources.
    labels : mapping or None
        The labels of their axes.

    Attributes
    ----------
    port : int
        Where it listens.
    control_port : int
        Where clients of this library are led to; must be assigned.
    """

    control_port = 0

    def __init__(self, host: str, port: int, dealer: Dealer, sources: tuple[str, ...],
                 labels: Any) -> None:
        self._socket: socket.socket = listen(host, port)
        self.port: int = self._socket.getsockname()[1]
        self._dealer = dealer
        self._sources = sources
        self._labels = labels
        self._visitors: dict[int, tuple[OldClient, PushedClient]] = {}
        # Whether no more connections could be opened, the last time that somebody came.
        self._is_full = self._was_full = False

    def register(self, poller: Any) -> None:
        """Tell a poller what is waited for, and forget those who are gone."""
        if self._is_full:
            # It is tried again the next time, and nobody waits for it in the meantime.
            with suppress(KeyError):
                poller.unregister(self._socket.fileno())
            self._is_full = False
        else:
            poller.register(self._socket.fileno(), zmq.POLLIN)
        for descriptor, (connection, taker) in list(self._visitors.items()):
            if not connection.is_closed:
                poller.register(descriptor, zmq.POLLIN | (
                    zmq.POLLOUT if connection.waits else 0))
                continue
            del self._visitors[descriptor]
            with suppress(KeyError):
                poller.unregister(descriptor)
            self._dealer.drop(taker)
            self._dealer.takers.pop(taker.name, None)

    def attend(self, events: dict[Any, int]) -> None:
        """See to what has happened."""
        visitors = list(self._visitors.items())
        # First, while no number of a descriptor can have become that of another connection.
        if self._socket.fileno() in events:
            self._accept()
        for descriptor, (connection, taker) in visitors:
            flags = events.get(descriptor, 0)
            if flags & zmq.POLLOUT:
                connection.flush()
                taker.settle(self._dealer.epochs)
            if flags & ~zmq.POLLOUT and not connection.is_closed:
                connection.receive()

    def _accept(self) -> None:
        with suppress(BlockingIOError, ConnectionError):
            try:
                made, _ = self._socket.accept()
            except OSError as error:
                if error.errno not in (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM):
                    raise
                # Who is here is served on; who wants to come waits.
                if not self._was_full:
                    log.warning('no more clients can connect: %s', error.strerror)
                self._is_full = self._was_full = True
                return
            self._was_full = False
            descriptor = made.fileno()
            connection = OldClient(made, self.control_port)
            taker = PushedClient(f'old-{secrets.token_hex(4)}', connection, self._sources,
                                 self._labels)
            self._visitors[descriptor] = connection, taker
            self._dealer.takers[taker.name] = taker

    def close(self) -> None:
        """Close all connections."""
        for connection, _ in self._visitors.values():
            connection.close()
        self._socket.close()
