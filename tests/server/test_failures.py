"""Servers and clients that die, hang, fail, or are not there."""
import math
import os
import signal
import socket
import threading
import time
import traceback

import numpy
import pytest

from fuel.datasets import IterableDataset
from fuel.exceptions import ServerError, ServerTimeoutError, SupersededIteratorError
from fuel.server import Server
from fuel.streams import AbstractDataStream, DataStream, links
from fuel.streams.remote import ServerDataStream
from fuel.transformers import Mapping

from .peers import SECONDS, equal, stream
from .processes import ClientProcess, ServerProcess, free_port


def remote(server, **kwargs):
    """Return a client of a server."""
    return ServerDataStream(port=server.port, **{'timeout': SECONDS, **kwargs})


# Nobody there.

def test_a_server_that_is_not_there_is_not_waited_for_for_ever():
    client = ServerDataStream(('x',), False, port=free_port(), timeout=0.2)
    iterator = client.get_epoch_iterator()
    start = time.monotonic()
    with pytest.raises(ServerTimeoutError, match=r'waited 0.2 seconds.*Is it running'):
        next(iterator)
    assert time.monotonic() - start < 5
    assert not client.connected


def test_what_was_waited_for_in_vain_comes_when_there_is_a_server():
    client = ServerDataStream(port=free_port(), timeout=0.1)
    iterator = client.get_epoch_iterator()
    for _ in range(2):
        with pytest.raises(ServerTimeoutError):
            next(iterator)
    with Server(stream(), client.port).start(), client:
        client.timeout = SECONDS
        assert equal(list(iterator), list(stream().get_epoch_iterator()))


def test_a_client_waits_for_a_server_that_comes_later():
    client = ServerDataStream(port=free_port(), timeout=SECONDS)
    got = []
    thread = threading.Thread(target=lambda: got.extend(client.get_epoch_iterator()))
    thread.start()
    with Server(stream(), client.port).start():
        thread.join()
        client.close()
    assert equal(got, list(stream().get_epoch_iterator()))


def test_what_is_no_server_is_named():
    with socket.create_server(('127.0.0.1', 0)) as listening:
        def answer():
            connection, _ = listening.accept()
            with connection:
                connection.sendall(b'SSH-2.0-OpenSSH_9.6\r\n'.ljust(64))
        thread = threading.Thread(target=answer)
        thread.start()
        client = ServerDataStream(port=listening.getsockname()[1], timeout=SECONDS)
        with pytest.raises(ServerError, match='is no server of this library.*SSH'):
            next(client.get_epoch_iterator())
        thread.join()


def test_a_port_that_is_taken_is_named():
    with Server(stream(), 0) as server, pytest.raises(
            OSError, match=rf'cannot listen at port {server.port} of 127.0.0.1'):
        Server(stream(), server.port)
    with Server(stream(), 0) as server, pytest.raises(OSError, match='cannot listen at port'):
        Server(stream(), 0, control_port=server.port)


# Somebody dies.

def test_an_epoch_goes_on_when_the_server_was_killed_and_started_again():
    local = stream(400)
    with ServerProcess(400) as server, remote(server) as client:
        iterator, expected = client.get_epoch_iterator(), local.get_epoch_iterator()
        for kill_at in (1, 30, 99):
            while iterator.step < kill_at:
                assert equal([next(iterator)], [next(expected)])
            server.kill()
            server.start()
        assert equal(list(iterator), list(expected))
        server.kill()
        server.start()
        assert equal(list(client.get_epoch_iterator()), list(local.get_epoch_iterator()))


def test_a_server_that_ends_is_looked_for_and_missed():
    client = ServerDataStream(port=free_port(), timeout=0.2)
    with Server(stream(4000), client.port).start(), client:
        client.timeout = SECONDS
        iterator = client.get_epoch_iterator()
        next(iterator)
    client.timeout = 0.2
    with pytest.raises(ServerTimeoutError):
        for _ in range(1000):
            next(iterator)


def test_what_a_killed_client_had_not_taken_goes_to_the_other():
    with ServerProcess(400) as server, ClientProcess(server.port, pause=5) as dying:
        given = [dying.given() for _ in range(6)]
        with remote(server) as client:
            iterator = client.get_epoch_iterator()
            given.append(next(iterator)[1].tolist())
            dying.kill()
            given += [y.tolist() for _, y in iterator]
    assert sorted(given) == sorted(y.tolist() for _, y in stream(400).get_epoch_iterator())


def test_a_client_after_one_that_was_killed_gets_a_fresh_epoch():
    with ServerProcess(400) as server:
        with ClientProcess(server.port, pause=0) as dying:
            dying.given()
        local = stream(400)
        epochs = [list(local.get_epoch_iterator()) for _ in range(2)]
        with remote(server) as client:
            iterator = client.get_epoch_iterator()
            got = list(iterator)
            # The server may not have heard that anything was taken of the first one.
            assert iterator.epoch in (0, 1)
            assert equal(got, epochs[iterator.epoch])


def test_several_processes_share_an_epoch():
    with ServerProcess(4000) as server:
        clients = [ClientProcess(server.port, pause=0) for _ in range(3)]
        try:
            given = [client.given() for client in clients]
            for client in clients:
                client.pipe.send('go on')
            for client in clients:
                given += iter(client.given, None)
        finally:
            for client in clients:
                client.kill()
    assert sorted(given) == sorted(y.tolist() for _, y in stream(4000).get_epoch_iterator())


@pytest.mark.parametrize('timeout', [0.3])
def test_a_server_that_hangs_ends_in_a_timeout(timeout):
    with ServerProcess(4000) as server, remote(server) as client:
        iterator = client.get_epoch_iterator()
        next(iterator)
        os.kill(server.process.pid, signal.SIGSTOP)
        client.timeout = timeout
        with pytest.raises(ServerTimeoutError, match='it is there, but gave nothing'):
            for _ in range(100):
                next(iterator)
        step = iterator.step
        os.kill(server.process.pid, signal.SIGCONT)
        client.timeout = SECONDS
        next(iterator)
        assert iterator.step == step + 1


def test_an_endless_timeout_is_taken():
    with Server(stream(), 0).start() as server, remote(server, timeout=math.inf) as client:
        next(client.get_epoch_iterator())


# Something fails.

def failing(batch):
    """Fail for one of the batches."""
    if 11 in batch[1]:
        raise KeyError('eleven')
    return batch


def test_an_error_of_the_stream_arrives_and_the_epoch_goes_on():
    with Server(Mapping(stream(), failing), 0).start() as server, remote(server) as client:
        for _ in range(2):
            iterator = client.get_epoch_iterator()
            good, errors = [], []
            while not iterator.cursor.finished:
                try:
                    good.append(next(iterator))
                except StopIteration:
                    pass
                except ServerError as error:
                    errors.append(error)
                    failed_at = iterator.step - 1
            assert len(good) == 9
            (error,) = errors
            assert error.original == 'KeyError'
            assert f"step {failed_at} of epoch {iterator.epoch}: KeyError: 'eleven'" in str(error)
            text = ''.join(traceback.format_exception(error))
            assert 'in failing' in text


class Unwilling(AbstractDataStream):
    """A stream that cannot begin."""

    sources = ('x',)
    produces_examples = True

    def get_epoch_iterator(self, as_dict=False):
        raise OSError('the disk is gone')


def test_a_stream_that_cannot_begin_an_epoch_is_told():
    with Server(Unwilling(), 0).start() as server, remote(server) as client:
        iterator = client.get_epoch_iterator()
        for _ in range(2):
            with pytest.raises(ServerError, match='cannot begin an epoch: OSError: the disk'):
                next(iterator)


@pytest.mark.parametrize('place', ['items', 'tell', 'frames'])
def test_what_ctrl_c_breaks_off_is_given_again(place, monkeypatch):
    with Server(stream(), 0).start() as server, remote(server) as client:
        iterator, expected = client.get_epoch_iterator(), stream().get_epoch_iterator()
        for _ in range(3):
            assert equal([next(iterator)], [next(expected)])
        with monkeypatch.context() as patch:
            def interrupted(*args, **kwargs):
                patch.undo()
                raise KeyboardInterrupt
            patch.setattr(links.Link, place, interrupted)
            with pytest.raises(KeyboardInterrupt):
                next(iterator)
        assert equal(list(iterator), list(expected))


def test_nonsense_at_the_port_disturbs_nobody():
    with Server(stream(), 0).start() as server, remote(server) as client:
        iterator = client.get_epoch_iterator()
        got = [next(iterator)]
        for content in (b'', b'GET / HTTP/1.1\r\n\r\n', b'\xff' * 64, b'\0' * 1000,
                        links.ask.__globals__['greeting']() + b'\x04\xff'):
            with socket.create_connection(('127.0.0.1', server.port), SECONDS) as visitor:
                visitor.sendall(content)
                visitor.shutdown(socket.SHUT_WR)
                while visitor.recv(1000):
                    pass
        assert equal(got + list(iterator), list(stream().get_epoch_iterator()))


def test_nonsense_of_a_client_is_answered():
    with Server(stream(), 0).start() as server, remote(server) as client:
        client.sources
        link = client._visitor._link
        for message in (b'no json', b'[]', b'{}', b'{"op": "join"}', b'{"op": 5}'):
            link._socket.send(message)
        link._socket.send_multipart([b'', b'more'])
        iterator = client.get_epoch_iterator()
        with pytest.raises(ServerError, match='does not understand'):
            next(iterator)
        assert equal(list(iterator), list(stream().get_epoch_iterator()))


# Nothing is left.

def descriptors():
    return len(os.listdir('/proc/self/fd')) if os.path.isdir('/proc/self/fd') else 0


def test_no_descriptor_and_no_thread_is_left():
    def once():
        with Server(stream(), 0).start() as server, remote(server) as client:
            next(client.get_epoch_iterator())
        client = remote(server)
        del client
    once()
    before = descriptors(), threading.active_count()
    for _ in range(10):
        once()
    assert (descriptors(), threading.active_count()) == before


def test_a_client_that_is_not_needed_any_more_takes_leave():
    with Server(stream(), 0).start() as server:
        client = remote(server)
        iterator = client.get_epoch_iterator()
        next(iterator)
        del client, iterator
        # Nobody takes part any more, so this is the next epoch.
        with remote(server) as other:
            iterator = other.get_epoch_iterator()
            next(iterator)
            assert iterator.epoch == 1


# Threads and forks.

def test_eight_threads_get_every_batch_once():
    with Server(stream(4000), 0).start() as server, remote(server) as client:
        iterator = client.get_epoch_iterator()
        given = []

        def take():
            try:
                while True:
                    given.append(next(iterator)[1].tolist())
            except StopIteration:
                pass
        threads = [threading.Thread(target=take) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert sorted(given) == sorted(y.tolist() for _, y in stream(4000).get_epoch_iterator())


@pytest.mark.filterwarnings('ignore:This process:DeprecationWarning')
def test_a_forked_child_goes_on_over_a_connection_of_its_own():
    local = stream()
    expected = list(local.get_epoch_iterator())
    with ServerProcess() as server, remote(server) as client:
        iterator = client.get_epoch_iterator()
        assert equal([next(iterator)], expected[:1])
        pid = os.fork()
        if not pid:
            code = 1
            try:
                code = 0 if equal(list(iterator), expected[1:]) else 2
                client.close()
            finally:
                os._exit(code)
        assert os.waitpid(pid, 0)[1] == 0
        # What the child was given is not given again.
        with pytest.raises(SupersededIteratorError):
            list(iterator)
        assert equal(list(client.get_epoch_iterator()), list(local.get_epoch_iterator()))


def test_servers_are_stopped_from_elsewhere_and_closed_twice():
    server = Server(stream(), 0)
    thread = threading.Thread(target=server.serve)
    thread.start()
    server.stop()
    thread.join()
    server.close()
    server.close()
    assert server.start() is server
    assert server._thread is None


def test_large_data_come_whole_over_sockets():
    data = [numpy.arange(3 * 10 ** 6) + number for number in range(4)]
    with Server(DataStream(IterableDataset({'x': data})), 0, shared_bytes=0).start() as server, \
            remote(server) as client:
        for _ in range(2):
            assert numpy.array_equal([x for x, in client.get_epoch_iterator()], data)
