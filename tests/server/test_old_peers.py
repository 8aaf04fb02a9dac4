"""New servers with clients of the old library, old servers with new clients."""
import itertools
import json

import numpy
import pytest
import zmq

from fuel.datasets import IterableDataset
from fuel.exceptions import DataLayoutError, ServerError, ServerTimeoutError, StateError
from fuel.server import Server, recv_arrays, send_arrays
from fuel.streams import DataStream
from fuel.streams.remote import ServerDataStream
from fuel.transformers import ScaleAndShift

from .peers import SECONDS, OldClient, OldServer, equal, stream


@pytest.fixture
def pair():
    """Return two sockets that are connected to each other."""
    with zmq.Context() as context, context.socket(zmq.PUSH) as one, \
            context.socket(zmq.PULL) as other:
        other.connect(f'tcp://127.0.0.1:{one.bind_to_random_port("tcp://127.0.0.1")}')
        other.rcvtimeo = SECONDS * 1000
        yield one, other


# What goes over the wire.

def test_a_message_is_a_header_and_a_frame_for_each_array(pair):
    one, other = pair
    send_arrays(one, [numpy.arange(3), numpy.array([[1.5, 2.5]], '>f4')])
    header, *frames = other.recv_multipart()
    assert json.loads(header) == [
        {'shape': [3], 'fortran_order': False, 'descr': '<i8'},
        {'shape': [1, 2], 'fortran_order': False, 'descr': '>f4'}]
    assert frames == [numpy.arange(3).tobytes(), b'\x3f\xc0\0\0\x40\x20\0\0']
    send_arrays(one, None, stop=True)
    assert [json.loads(frame) for frame in other.recv_multipart()] == [{'stop': True}]


def test_the_end_of_an_epoch_is_received_as_stop_iteration(pair):
    one, other = pair
    one.send_json({'stop': True})
    with pytest.raises(StopIteration):
        recv_arrays(other)


def test_what_the_old_library_sent_is_received(pair):
    one, other = pair
    array = numpy.asfortranarray(numpy.arange(6).reshape(2, 3))
    one.send_json([{'descr': '<i8', 'shape': [2, 3], 'fortran_order': True},
                   {'descr': '<U2', 'shape': [1], 'fortran_order': False},
                   {'descr': [['a', '<i4'], ['b', '<f8', [2]]], 'shape': [1],
                    'fortran_order': False},
                   {'descr': '>f8', 'shape': [0, 4], 'fortran_order': False}], zmq.SNDMORE)
    structured = numpy.array([(1, [2, 3])], [('a', '<i4'), ('b', '<f8', (2,))])
    one.send_multipart([array.tobytes('F'), numpy.array(['ab']).tobytes(), structured.tobytes(),
                        b''])
    received = recv_arrays(other)
    assert isinstance(received, list)
    assert numpy.array_equal(received[0], array)
    assert received[0].flags.f_contiguous
    assert received[1].tolist() == ['ab']
    assert received[2].dtype == structured.dtype
    assert received[2].tobytes() == structured.tobytes()
    assert received[3].shape == (0, 4)


@pytest.mark.parametrize('arrays', [[], [numpy.array(5)], [numpy.zeros((0, 3))], [[1, 2], 'text'],
                                    [[numpy.arange(2), numpy.arange(3)], b'bytes', None]])
def test_arrays_of_all_kinds_are_sent_and_received(pair, arrays):
    send_arrays(pair[0], arrays)
    received = recv_arrays(pair[1])
    assert [type(item) for item in received] == [type(item) for item in arrays]
    assert [getattr(item, 'shape', None) for item in received] == [
        getattr(item, 'shape', None) for item in arrays]


def test_nothing_is_sent_of_a_list_with_something_that_cannot_be_sent(pair):
    with pytest.raises(TypeError, match=r'item 1: .*set cannot be sent'):
        send_arrays(pair[0], [numpy.arange(3), {1}])
    send_arrays(pair[0], [numpy.arange(2)])
    assert recv_arrays(pair[1])[0].tolist() == [0, 1]


@pytest.mark.parametrize('frames', [[b'no json'], [b'5'], [b'{}'], [b'[{}]', b''], [b'[]', b''],
                                    [b'\x80\x04N.']])
def test_other_messages_are_refused(pair, frames):
    pair[0].send_multipart(frames)
    with pytest.raises(DataLayoutError):
        recv_arrays(pair[1])


# A new server, and clients of the old library.

def test_an_old_client_gets_all_epochs_without_asking():
    local = stream()
    with Server(stream(), 0).start() as server, OldClient(server.port) as client:
        for _ in range(3):
            assert equal(client.epoch(), list(local.get_epoch_iterator()))


def test_old_clients_overlook_what_is_told_beside():
    with Server(stream(), 0).start() as server, OldClient(server.port) as client:
        header = json.loads(client.socket.recv_multipart()[0])
        assert header[0] == {'shape': [4, 3], 'fortran_order': False, 'descr': '<f4',
                             'source': 'x', 'labels': ['batch', 'feature'], 'epoch': 0, 'step': 0}
        header = json.loads(client.socket.recv_multipart()[0])
        assert (header[1]['source'], header[1]['epoch'], header[1]['step']) == ('y', 0, 1)


def test_two_old_clients_share_an_epoch_and_both_get_its_end():
    data = numpy.zeros((9, 10 ** 6))
    with Server(DataStream(IterableDataset({'x': list(data)})), 0).start() as server, \
            OldClient(server.port, 1) as one, OldClient(server.port, 1) as other:
        given = {one: [], other: []}
        for client in [one, other] * 25:
            header = json.loads(client.socket.recv_multipart()[0])
            given[client].append((header['epoch'], 'end') if 'stop' in header else
                                 (header[0]['epoch'], header[0]['step']))
    steps = [entry for entries in given.values() for entry in entries if entry[1] != 'end']
    assert len(set(steps)) == len(steps)
    for entries in given.values():
        # Each epoch that it had something of ended for it before the next one began.
        for before, after in itertools.pairwise(entries):
            assert after[0] == before[0] if before[1] != 'end' else after[0] > before[0]
        assert [entry for entry in entries if entry[1] == 'end']
    assert {epoch for epoch, _ in given[one]} & {epoch for epoch, _ in given[other]}


def test_an_old_client_that_comes_after_another_has_gone_gets_a_fresh_epoch():
    local = stream(40000)
    local.get_epoch_iterator()
    with Server(stream(40000), 0).start() as server:
        with OldClient(server.port) as client:
            client.receive()
        with OldClient(server.port) as client:
            assert equal([client.receive()], [next(local.get_epoch_iterator())])


def test_old_clients_are_sent_what_they_can_read_of_things_that_are_no_arrays():
    examples = [[1, 2], [3, 4]]
    dataset = IterableDataset({'x': examples, 'y': ['a', 'bc']})
    with Server(DataStream(dataset), 0).start() as server, OldClient(server.port) as client:
        (x, y), (x2, y2) = client.epoch()
        assert (x.tolist(), x.dtype, y.tolist()) == ([1, 2], numpy.dtype('i8'), 'a')
        assert (x2.tolist(), y2.tolist()) == ([3, 4], 'bc')


def test_the_server_ends_with_the_error_that_it_cannot_tell_an_old_client():
    dataset = IterableDataset({'x': [{1, 2}]})
    with Server(DataStream(dataset), 0) as server, OldClient(server.port), \
            pytest.raises(TypeError, match="source 'x': .*set"):
        server.serve()


def test_large_batches_reach_old_clients_whole():
    data = numpy.arange(5 * 10 ** 6).reshape(5, 10 ** 6)
    with Server(DataStream(IterableDataset({'x': list(data)})), 0).start() as server, \
            OldClient(server.port, hwm=1) as client:
        for _ in range(2):
            assert numpy.array_equal([x for x, in client.epoch()], data)


def test_old_and_new_clients_share_an_epoch():
    data = numpy.repeat(numpy.arange(60.)[:, None], 10 ** 6, axis=1)
    with Server(DataStream(IterableDataset({'x': list(data)})), 0).start() as server, \
            OldClient(server.port, 1) as old, \
            ServerDataStream(port=server.port, timeout=SECONDS, hwm=1) as new:
        given = [old.receive()[0][0]]
        iterator = new.get_epoch_iterator()
        for _ in range(5):
            given += [next(iterator)[0][0], old.receive()[0][0]]
        assert iterator.epoch == 0
        given += [x[0] for x, in old.epoch()]
        # The old client goes on into the next epoch only when the other has come to the end.
        given += [x[0] for x, in iterator]
        assert sorted(given) == list(range(60))


# An old server, and new clients.

BATCHES = [[(numpy.full((2, 3), 10 * epoch + step), numpy.array([step]))
            for step in range(4)] for epoch in range(5)]


def test_a_new_client_reads_the_epochs_of_an_old_server():
    with OldServer(BATCHES) as server, ServerDataStream(
            ('x', 'y'), False, port=server.port, timeout=SECONDS) as client:
        assert client.sources == ('x', 'y')
        assert not client.produces_examples
        assert client.axis_labels is None
        for epoch in BATCHES[:3]:
            assert equal(list(client.get_epoch_iterator()), epoch)
        iterator = client.get_epoch_iterator(as_dict=True)
        assert next(iterator).keys() == {'x', 'y'}
        assert (iterator.epoch, iterator.step) == (3, 1)


def test_a_new_iterator_never_gets_the_rest_of_an_old_epoch_from_an_old_server():
    with OldServer(BATCHES) as server, ServerDataStream(
            ('x', 'y'), False, port=server.port, timeout=SECONDS) as client:
        next(client.get_epoch_iterator())
        assert equal(list(client.get_epoch_iterator()), BATCHES[1])
        iterator = client.get_epoch_iterator()
        list(itertools.islice(iterator, 3))
        assert equal(list(client.get_epoch_iterator()), BATCHES[3])


def test_transformers_work_over_an_old_server():
    with OldServer(BATCHES) as server, ServerDataStream(
            ('x', 'y'), False, port=server.port, timeout=SECONDS) as client:
        scaled = ScaleAndShift(client, 2, 1, which_sources=('x',))
        assert [x[0, 0] for x, _ in scaled.get_epoch_iterator()] == [1, 3, 5, 7]


def test_the_sources_of_an_old_server_must_be_given():
    with OldServer(BATCHES) as server, ServerDataStream(
            port=server.port, timeout=SECONDS) as client, \
            pytest.raises(ValueError, match='does not tell the names'):
        print(client.sources)


def test_the_wrong_number_of_sources_is_told():
    with OldServer(BATCHES) as server, ServerDataStream(
            ('x',), False, port=server.port, timeout=SECONDS) as client, \
            pytest.raises(ValueError, match='expected 1 items'):
        next(client.get_epoch_iterator())


def test_an_old_server_that_ends_in_the_middle_of_an_epoch_is_an_error():
    with OldServer(BATCHES[:1]) as server, ServerDataStream(
            ('x', 'y'), False, port=server.port, timeout=SECONDS) as client:
        iterator = client.get_epoch_iterator()
        next(iterator)
        server.close()
        with pytest.raises((ServerError, StopIteration)):
            for _ in range(4):
                next(iterator)
        with OldServer(BATCHES, server.port):
            assert equal(list(client.get_epoch_iterator()), BATCHES[0])


def test_an_old_server_that_gives_nothing_is_not_waited_for():
    with OldServer([]) as server, ServerDataStream(
            ('x', 'y'), False, port=server.port, timeout=0.05) as client, \
            pytest.raises(ServerTimeoutError, match='gave nothing'):
        next(client.get_epoch_iterator())


def test_no_old_server_can_go_on_from_a_state():
    with OldServer(BATCHES) as server, ServerDataStream(
            ('x', 'y'), False, port=server.port, timeout=SECONDS) as client:
        next(client.get_epoch_iterator())
        state = client.state_dict()
    with OldServer(BATCHES) as server, ServerDataStream(
            ('x', 'y'), False, port=server.port, timeout=SECONDS) as client:
        client.load_state_dict(state)
        with pytest.raises(StateError, match='middle'):
            next(client.get_epoch_iterator())
