"""A producer in a process of its own, and what becomes of it."""
import os
import signal

import numpy
import pytest
import zmq

from fuel.exceptions import WorkerError, WorkerLostError
from fuel.server import recv_arrays, send_arrays
from fuel.utils.parallel import producer_consumer

from ..server.processes import free_port

# Later versions of Python warn of forks wherever there are threads.
pytestmark = pytest.mark.filterwarnings('ignore:This process:DeprecationWarning')


def numbers(socket):
    """Send some numbers, and who sends them."""
    for number in range(5):
        socket.send_json([number, os.getpid()])


def arrays(socket):
    """Send a large array."""
    send_arrays(socket, [numpy.arange(10 ** 6)])


def failing(socket):
    """Send something, and fail."""
    socket.send_json(1)
    raise ValueError('no more')


def quitting(socket):
    """Send something, and end."""
    socket.send_json(1)


def dying(socket):
    """Be killed."""
    os.kill(os.getpid(), signal.SIGKILL)


def waiting(socket):
    """Send something, and wait for ever."""
    socket.send_json(os.getpid())
    signal.pause()


def five(socket):
    """Receive five messages."""
    return [socket.recv_json() for _ in range(5)]


def endless(socket):
    """Receive without end."""
    while True:
        socket.recv_multipart()


def test_the_consumer_gets_what_the_producer_sends():
    received = producer_consumer(numbers, five)
    assert [number for number, _ in received] == [0, 1, 2, 3, 4]
    assert {pid for _, pid in received} != {os.getpid()}


def test_a_given_port_is_used():
    port = free_port()

    def consume(socket):
        assert socket.last_endpoint.rstrip(b'\0') == f'tcp://127.0.0.1:{port}'.encode()
        return five(socket)
    assert len(producer_consumer(numbers, consume, port=port)) == 5


def test_a_given_address_is_used(tmp_path):
    def consume(socket):
        assert socket.last_endpoint.startswith(b'tcp://127.0.0.2:')
        return five(socket)
    assert len(producer_consumer(numbers, consume, addr='tcp://127.0.0.2')) == 5
    assert len(producer_consumer(numbers, consume, addr='tcp://127.0.0.2', port=free_port())) == 5


def test_a_given_context_is_used_and_left_open():
    with zmq.Context() as context:
        def consume(socket):
            assert socket.context is context
            return five(socket)
        assert len(producer_consumer(numbers, consume, context=context)) == 5
        assert not context.closed


def test_arrays_go_through():
    received, = producer_consumer(arrays, recv_arrays)
    assert numpy.array_equal(received, numpy.arange(10 ** 6))


def test_a_producer_that_fails_is_an_error_with_its_traceback():
    with pytest.raises(WorkerError, match=r'(?s)failed: ValueError: no more.*in failing') as raised:
        producer_consumer(failing, endless)
    assert raised.value.original == 'ValueError'


def test_a_producer_that_ends_is_not_waited_for():
    with pytest.raises(WorkerLostError, match='has ended, and there is nothing more'):
        producer_consumer(quitting, endless)


def test_a_producer_that_is_killed_is_named_with_the_signal():
    with pytest.raises(WorkerLostError, match='killed by signal 9'):
        producer_consumer(dying, endless)


def test_everything_that_was_sent_is_received_before_the_end_is_told():
    received = []

    def consume(socket):
        while True:
            received.append(socket.recv_json())
    with pytest.raises(WorkerLostError):
        producer_consumer(numbers, consume)
    assert [number for number, _ in received] == [0, 1, 2, 3, 4]


def lives(pid):
    """Tell whether there is a process."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_the_producer_is_ended_when_the_consumer_is_ready_or_fails():
    assert not lives(producer_consumer(waiting, lambda socket: socket.recv_json()))
    pids = []

    def consume(socket):
        pids.append(socket.recv_json())
        raise ArithmeticError
    with pytest.raises(ArithmeticError):
        producer_consumer(waiting, consume)
    assert not lives(pids[0])


def test_a_port_that_is_taken_is_named():
    with zmq.Context() as context, context.socket(zmq.PULL) as taken:
        port = taken.bind_to_random_port('tcp://127.0.0.1')
        with pytest.raises(OSError, match=f'cannot listen at tcp://127.0.0.1:{port}'):
            producer_consumer(numbers, five, port=port)


def test_the_consumer_can_give_up_by_itself():
    def consume(socket):
        socket.rcvtimeo = 50
        socket.recv_json()
        with pytest.raises(zmq.Again):
            socket.recv()
        with pytest.raises(zmq.Again):
            socket.recv(zmq.NOBLOCK)
        return 'tired'
    assert producer_consumer(waiting, consume) == 'tired'
