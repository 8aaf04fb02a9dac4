"""What clients of this library and the server say to each other.

Every message is a header in JSON and, where data go with it, frames of raw bytes. The page
:doc:`/server` of the documentation lists the messages.
"""
from __future__ import annotations

import json
import logging
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from fuel._types import JSON
from fuel.exceptions import StateError
from fuel.server.clients import Client
from fuel.server.dealing import Dealer
from fuel.server.memory import SharedMemory
from fuel.storage.sharing.owners import owner_lives
from fuel.wire.greeting import PROTOCOL
from fuel.wire.items import Buffer
from fuel.wire.sockets import zmq

__all__ = ['Control']

log = logging.getLogger(__name__)

# So many messages are heard at a time, so that others are not forgotten.
_AT_ONCE = 64
_BACKLOG = 1 << 16
# Of what a client said, so many characters are repeated.
_LONGEST = 200


class Control:
    """Listens to the clients of this library, and answers.

    Parameters
    ----------
    router : zmq.Socket
        Where they are.
    dealer : Dealer
        Deals out the steps.
    memory : SharedMemory
        Shared with clients on this machine.
    about : dict
        What every client is told of the stream.
    sources : tuple of str
        The names of the sources.
    hwm : int
        How many steps may be sent ahead.
    """

    def __init__(self, router: Any, dealer: Dealer, memory: SharedMemory, about: dict[str, JSON],
                 sources: tuple[str, ...], hwm: int) -> None:
        self._router = router
        self._dealer = dealer
        dealer.look_after = self.look_after
        self._memory = memory
        self._about = about
        self._sources = sources
        self._hwm = hwm
        self._clients: dict[bytes, Client] = {}
        # Those that cannot be reached any more. They are seen to when nobody is in the middle of
        # dealing.
        self._lost: set[bytes] = set()
        self._arrivals: deque[tuple[bytes, dict[str, Any]]] = deque()

    def send(self, route: bytes, header: dict[str, JSON], buffers: list[Buffer]) -> None:
        """Send a message to a client, or note that it is gone."""
        try:
            self._router.send_multipart([route, json.dumps(header).encode(), *buffers],
                                        copy=False)
        except zmq.ZMQError as error:
            if error.errno != zmq.EHOSTUNREACH:
                raise
            self._lost.add(route)

    def listen(self) -> None:
        """Hear what clients have said."""
        self._listen(_AT_ONCE)
        self.settle()

    def settle(self) -> bool:
        """See to those who have gone and those who have come; tell whether there were any.

        Called when nothing else is under way.
        """
        busy = bool(self._lost or self._arrivals)
        self.see_to_lost()
        while self._arrivals:
            # Who comes must not be kept waiting by the dead.
            self.look_after()
            route, message = self._arrivals.popleft()
            self._understand(route, self._welcome, message)
            self.see_to_lost()
        return busy

    def _listen(self, most: int) -> None:
        for _ in range(most):
            try:
                route, *frames = self._router.recv_multipart(zmq.NOBLOCK)
            except zmq.Again:
                break
            self._understand(route, self._hear, frames)

    def _understand(self, route: bytes, action: Callable[[bytes, Any], None], said: Any) -> None:
        """Do what a client has said, or tell it that it cannot be understood."""
        try:
            action(route, said)
        except (ValueError, KeyError, TypeError, IndexError, AttributeError, OverflowError,
                RecursionError) as error:
            reason = repr(error)[:_LONGEST]
            log.warning('a message of a client is not understood: %s', reason)
            self.send(route, {'op': 'refused', 'type': 'ValueError', 'ticket': None,
                              'reason': f'the server does not understand the client: {reason}'},
                      [])

    def see_to_lost(self) -> None:
        """Take those out who cannot be reached any more."""
        if self._lost:
            # What they have taken is what they said so of, before they were gone.
            self._listen(_BACKLOG)
        while self._lost:
            route = self._lost.pop()
            client = self._clients.get(route)
            if client is not None and client.name in self._dealer.epochs.members:
                lives = client.is_here and owner_lives(*client.process)
                if lives or not client.is_here:
                    self._dealer.epochs.missing[client.name] = lives
            self._remove(route, 'is gone')

    def look_after(self) -> None:
        """Find out who is gone, for those who wait."""
        for route, client in list(self._clients.items()):
            if client.is_here and not owner_lives(*client.process):
                self._lost.add(route)
            else:
                client.tell(op='ping')
        self.see_to_lost()

    def say_goodbye(self) -> None:
        """Tell everybody that the server ends."""
        for client in list(self._clients.values()):
            with suppress(zmq.ZMQError):
                client.tell(op='closed')

    def _remove(self, route: bytes, why: str) -> None:
        client = self._clients.pop(route, None)
        if client is not None:
            log.info('client %s %s', client.name, why)
            self._dealer.drop(client)
            self._dealer.takers.pop(client.name, None)
            self._dealer.epochs.peers.pop(client.name, None)
            self._dealer.epochs.here -= client.names
            self._memory.sweep()

    def _hear(self, route: bytes, frames: list[bytes]) -> None:
        message = json.loads(frames[0])
        operation = message['op']
        if operation == 'hello':
            for entry in ('after', 'ticket'):
                _check_whole(message, entry)
            self._arrivals.append((route, message))
            return
        if operation == 'bye':
            leaving = self._clients.get(route)
            self._remove(route, 'takes leave')
            if leaving is not None:
                self._memory.settle(leaving.name, message['held'])
            return
        client = self._clients.get(route)
        if client is None:
            # It was taken for dead. It comes again, with its position.
            self.send(route, {'op': 'closed'}, [])
            return
        for number in message.get('released', ()):
            self._memory.release(number, client.name)
        if 'took' in message and message['ticket'] == client.ticket:
            client.took(message['took'], self._dealer.epochs)
        if operation == 'memory':
            client.reaches_memory = True
        elif operation == 'join':
            for entry in ('after', 'ticket'):
                _check_whole(message, entry)
            self._dealer.join(client, message['ticket'], message['after'])
        elif operation == 'end' and message['ticket'] == client.ticket:
            self._dealer.finish(client)
            self._memory.trim()

    def _must_go_back(self, name: str, position: dict[str, Any]) -> bool:
        """Tell whether a client needs that the server goes to the position that it brings."""
        if position['within'] or position['server'] != self._about['server']:
            return True
        # It has seen the end of an epoch of this very server. If it comes from a saved state, and
        # alone, the epochs after that are made again.
        return name not in position['names'] and not self._dealer.epochs.members

    def _welcome(self, route: bytes, message: dict[str, Any]) -> None:
        name, position = message['session'], message['position']
        if message['version'] != PROTOCOL:
            raise ValueError(f'expected version {PROTOCOL} of the protocol; the client speaks '
                             f'version {message["version"]}')
        # The same client over a new connection, or one that went on from a state of another.
        former = {name}
        if position is not None and position['within']:
            former.update(position['names'])
        for other, client in list(self._clients.items()):
            if client.name in former:
                if client.name != name:
                    client.tell(op='superseded')
                self._remove(other, 'is replaced')
        self._memory.settle(name, message['held'])
        client = Client(name, route, self.send, message, self._sources, self._memory, self._hwm)
        self._clients[route] = self._dealer.takers[name] = client
        client.tell(op='welcome', version=PROTOCOL, **self._about,
                    memory=self._memory.token() if client.is_here else None)
        log.info('client %s comes', name)
        epochs = self._dealer.epochs
        if (position is not None and position['within'] and name in position['names']
                and position['server'] == self._about['server']
                and position['epoch'] < epochs.epoch):
            # It was taken for dead. What was left of its epoch went to others.
            client.tell(op='end', ticket=message['ticket'], epoch=position['epoch'], state=None,
                        low=position['low'])
            return
        try:
            if position is not None and self._must_go_back(name, position):
                self._dealer.resume(client, message['ticket'], position)
            if message['after'] is not None:
                self._dealer.join(client, message['ticket'], message['after'])
        except StateError as error:
            self._dealer.drop(client)
            client.tell(op='refused', ticket=message['ticket'], type='StateError',
                        reason=str(error))
        finally:
            epochs.came_back(client.names)


def _check_whole(message: dict[str, Any], entry: str) -> None:
    """Raise an error unless an entry is a number of a usual size, or `None`."""
    value = message[entry]
    if value is not None and (type(value) is not int or abs(value) >= 1 << 62):
        raise ValueError(f'expected {entry} to be an integer; got {str(value)[:_LONGEST]}')
