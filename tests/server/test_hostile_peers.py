"""What must not end a server: nonsense, greed, and data that cannot be sent."""
from __future__ import annotations

import contextlib
import errno
import gc
import json

import numpy
import pytest
import zmq

from fuel.datasets import IndexableDataset
from fuel.exceptions import ServerError
from fuel.schemes import SequentialExampleScheme, SequentialScheme
from fuel.server import Server
from fuel.streams import DataStream, ServerDataStream
from fuel.wire.greeting import PROTOCOL


def numbers(count=6):
    """Return a stream of batches of numbers."""
    return DataStream(IndexableDataset({'x': numpy.arange(count)}),
                      iteration_scheme=SequentialScheme(count, 2))


def single(*items):
    """Return a stream of single examples."""
    return DataStream(IndexableDataset({'x': list(items)}),
                      iteration_scheme=SequentialExampleScheme(len(items)))


def nested(depth):
    """Return lists in lists."""
    value = []
    for _ in range(depth):
        value = [value]
    return value


@contextlib.contextmanager
def raw_peer(server):
    """Yield a socket that can say anything to the server."""
    context = zmq.Context()
    peer = context.socket(zmq.DEALER)
    peer.linger = 0
    peer.rcvtimeo = 5000
    try:
        peer.connect(f'tcp://127.0.0.1:{server._door.control_port}')
        yield peer
    finally:
        peer.close()
        context.term()


HELLO = {'op': 'hello', 'version': PROTOCOL, 'session': 's', 'position': None, 'held': [],
         'ticket': 1, 'after': -1, 'hwm': 1, 'pid': 1, 'started': 1, 'machine': 'm'}


@pytest.mark.parametrize('message', [
    b'[' * 200_000, b'\xff', b'{}', json.dumps({**HELLO, 'hwm': float('inf')}).encode(),
    json.dumps({**HELLO, 'pid': float('inf')}).encode(),
    json.dumps({**HELLO, 'after': 'x'}).encode(), json.dumps({**HELLO, 'ticket': []}).encode(),
    json.dumps({**HELLO, 'after': 10**40}).encode()], ids=str)
def test_one_message_does_not_end_the_server(message):
    with (Server(numbers(), port=0).start() as server,
          ServerDataStream(port=server.port, timeout=20) as client):
        iterator = client.get_epoch_iterator()
        next(iterator)
        with raw_peer(server) as peer:
            peer.send(message)
            assert len(peer.recv()) < 1000
        assert [x.tolist() for x, in iterator] == [[2, 3], [4, 5]]


@pytest.mark.parametrize('item', [10**5000, nested(400), nested(3000)],
                         ids=['long', 'deep', 'deeper'])
def test_data_that_cannot_be_written_down_are_an_error_of_their_step(item):
    with (Server(single(item, 7), port=0).start() as server,
          ServerDataStream(port=server.port, timeout=20) as client):
        iterator = client.get_epoch_iterator()
        with pytest.raises(ServerError):
            next(iterator)
        assert next(iterator) == (7,)


def test_no_client_frees_the_memory_of_another():
    rows = numpy.random.default_rng(0).integers(0, 256, (40, 65536), dtype='uint8')
    stream = DataStream(IndexableDataset({'x': rows}), iteration_scheme=SequentialScheme(40, 1))
    with (Server(stream, port=0).start() as server,
          ServerDataStream(port=server.port, timeout=20) as client):
        iterator = client.get_epoch_iterator()
        held, = next(iterator)
        with raw_peer(server) as peer:
            peer.send_json({**HELLO, 'session': 'other', 'after': None})
            peer.recv()
            peer.send_json({'op': 'memory', 'released': list(range(200))})
            peer.send_json({'op': 'bye', 'session': client._visitor.name
                            if hasattr(client._visitor, 'name') else '', 'held': []})
            for _ in range(20):
                next(iterator)
        assert numpy.array_equal(held, rows[:1])


class FullSocket:
    """A listening socket of a process that may open no more files for a while."""

    def __init__(self, listening, times):
        self.listening = listening
        self.times = times

    def accept(self):
        """Accept a connection, if that can be done."""
        if self.times:
            self.times -= 1
            raise OSError(errno.EMFILE, 'Too many open files')
        return self.listening.accept()

    def __getattr__(self, name):
        return getattr(self.listening, name)


def test_a_server_that_can_open_no_more_files_goes_on():
    with Server(numbers(), port=0) as server:
        full = server._door._socket = FullSocket(server._door._socket, 2)
        with server.start(), ServerDataStream(port=server.port, timeout=20) as client:
            assert [x.tolist() for x, in client.get_epoch_iterator()] == [[0, 1], [2, 3], [4, 5]]
        assert not full.times


def test_a_server_that_is_never_closed_can_be_collected():
    server = Server(numbers(), port=0)
    del server
    gc.collect()


@pytest.mark.parametrize('options', [{'port': 99999}, {'port': -1}, {'control_port': 70000}])
def test_ports_are_checked(options):
    with pytest.raises(ValueError, match='from 0 to 65535; got'):
        Server(numbers(), **{'port': 0, **options})
