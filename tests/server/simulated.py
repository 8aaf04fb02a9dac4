"""A server and its clients without sockets, threads or processes, one step at a time.

Everything but the sockets is the real thing: what is said, who gets what, and how it goes on after
somebody has died.
"""
import itertools
import json
from collections import deque
from unittest import mock

import zmq

from fuel.exceptions import ServerTimeoutError
from fuel.server.control import Control
from fuel.server.dealing import Dealer
from fuel.server.epochs import Epochs
from fuel.server.memory import SharedMemory
from fuel.server.serving import _about
from fuel.streams import links
from fuel.streams.remote import ServerDataStream


class Router:
    """The server's socket."""

    def __init__(self):
        self.received = deque()
        self.sent = {}

    def recv_multipart(self, flags):
        if not self.received:
            raise zmq.Again
        return self.received.popleft()

    def send_multipart(self, frames, copy):
        if frames[0] not in self.sent:
            raise zmq.ZMQError(zmq.EHOSTUNREACH)
        if frames[1] == b'{"op": "ping"}':
            return  # nobody would look at it
        self.sent[frames[0]].append([zmq.Frame(bytes(memoryview(frame))) for frame in frames[1:]])


class World:
    """A place with a server, or without one, where clients come and go."""

    def __init__(self, make_stream, hwm=10):
        self.make_stream = make_stream
        self.hwm = hwm
        self.router = None
        self.routes = itertools.count()
        self.now = 0.0

    def start(self, stream=None):
        """Start a server, in place of the one that there is; that dies without a word."""
        stream = self.make_stream() if stream is None else stream
        self.router = Router()
        self.dealer = Dealer(Epochs(stream), clock=lambda: self.now)
        self.control = Control(self.router, self.dealer, SharedMemory(0), _about(stream),
                               tuple(stream.sources), self.hwm)

    def turn(self):
        """Let the server do something; tell whether there was anything to do."""
        before = len(self.router.received)
        busy = self.dealer.deal()
        self.control.settle()
        self.control.listen()
        return busy or bool(before)

    def client(self, **kwargs):
        """Return a client."""
        return ServerDataStream(port=1, timeout=1, **kwargs)

    def cut(self, client):
        """Let the connection of a client end."""
        if client.connected:
            self.router.sent.pop(client._visitor._link.route, None)

    def kill(self, client):
        """Let a client die without a word."""
        if client.connected:
            # Of this process, all of them are; the number is that of none.
            route = client._visitor._link.route
            if route in self.control._clients:
                self.control._clients[route].process = 1 << 22, 1
            self.cut(client)
            client._visitor._leaving.detach()
            client._visitor._link = None

    def connect(self, place, hwm, deadline):
        if self.router is None:
            raise TimeoutError('no server was found')
        return Link(self)

    def __enter__(self):
        self.patch = mock.patch.object(links, 'connect', self.connect)
        self.patch.start()
        return self

    def __exit__(self, *exception):
        self.patch.stop()


class Link(links.Link):
    """A client's socket."""

    def __init__(self, world):
        self.pid = links.os.getpid()
        self.about = self._memory = self._had = None
        self._waiting = deque()
        self.world, self.router = world, world.router
        self.route = str(next(world.routes)).encode()
        # What has come is there to be read, also after the connection has ended.
        self.queue = self.router.sent[self.route] = deque()

    def _tell(self, **entries):
        if self.route in self.router.sent:
            self.router.received.append([self.route, json.dumps(entries).encode()])

    def frames(self, deadline):
        idle = False
        while True:
            if self.queue:
                return self._read()
            if deadline == 0:
                return None
            self._make_sure()
            if self.world.turn():
                idle = False
            elif idle:
                return None
            else:
                # As a server does that has waited for a while.
                self.world.control.look_after()
                idle = True

    def _read(self):
        if not self.queue:
            raise zmq.Again
        return self.queue.popleft()

    def _make_sure(self):
        if self.router is not self.world.router or self.route not in self.router.sent:
            raise links.BrokenLinkError('the connection to the server ended')

    def close(self, linger=0):
        if linger:
            # What was said before is still heard.
            self.router.sent.setdefault(self.route, deque())
        self.router.sent.pop(self.route, None)


def waits(iterator):
    """Tell whether the next step of an iterator has to wait for others."""
    try:
        next(iterator)
    except ServerTimeoutError:
        return True
    return False
