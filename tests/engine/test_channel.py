"""Messages between a process and its workers."""
import os
import socket
import threading

import pytest

from fuel.engine.channel import Channel, Kind, Link, numbers_of, packed_numbers


@pytest.fixture
def ends():
    mine, others = socket.socketpair()
    channel = Channel(mine)
    with others:
        yield channel, Link(others.fileno()), others
    channel.close()


def test_messages_arrive_whole_and_in_order(ends):
    channel, link, _ = ends
    channel.send(Kind.SETUP, 7)
    channel.send(Kind.RUN, -1, b'ab', b'', b'c')
    messages = []
    while len(messages) < 2:
        messages += link.receive()
    assert messages == [(Kind.SETUP, 7, b''), (Kind.RUN, -1, b'abc')]
    assert link.receive(wait=False) == []
    link.send(Kind.DONE, 5, b'x', b'', bytes(100))
    link.send(Kind.READY)
    assert channel.receive() == [(Kind.DONE, 5, b'x' + bytes(100)), (Kind.READY, 0, b'')]
    assert channel.receive() == [] and not channel.ended


def test_what_does_not_fit_waits_and_nothing_is_lost(ends):
    channel, link, _ = ends
    content = os.urandom(3 * 10 ** 6)
    for number in range(3):
        channel.send(Kind.RUN, number, content[number:])
    assert channel.backlog
    messages = []
    while len(messages) < 3:
        channel.flush()
        messages += link.receive(wait=False)
    assert not channel.backlog
    assert messages == [(Kind.RUN, number, content[number:]) for number in range(3)]


def test_a_worker_that_writes_much_waits_for_its_parent(ends):
    channel, link, _ = ends
    content = os.urandom(3 * 10 ** 6)
    thread = threading.Thread(target=link.send, args=(Kind.DONE, 1, content, b'end'))
    thread.start()
    messages = []
    while not messages:
        messages = channel.receive()
    thread.join()
    assert messages == [(Kind.DONE, 1, content + b'end')]


def test_a_message_in_pieces(ends):
    channel, link, others = ends
    link.send(Kind.DONE, 3, b'abcdef')
    whole = channel._connection.recv(1000)
    for place in range(len(whole) - 1):
        others.sendall(whole[place:place + 1])
        assert channel.receive() == []
    others.sendall(whole[-1:] + whole + whole[:5])
    assert channel.receive(whole=True) == [(Kind.DONE, 3, b'abcdef')] * 2
    others.sendall(whole[5:])
    assert channel.receive() == [(Kind.DONE, 3, b'abcdef')]


def test_the_parent_hangs_up(ends):
    channel, link, _ = ends
    channel.send(Kind.RUN, 1, b'x')
    channel.hang_up()
    assert link.receive() == [(Kind.RUN, 1, b'x')]
    assert link.receive() is None and link.receive(wait=False) is None
    with pytest.raises(BrokenPipeError):
        link.send(Kind.READY)
    channel.hang_up()


def test_the_worker_has_gone(ends):
    channel, link, others = ends
    link.send(Kind.DONE, 1, b'last')
    others.close()
    channel.send(Kind.RUN, 1, bytes(10))  # no signal, and no error
    assert not channel.backlog
    assert channel.receive(whole=True) == [(Kind.DONE, 1, b'last')]
    assert channel.ended
    assert channel.receive() == []


def test_numbers():
    for numbers in ([], [0], [1, -2, 2 ** 62]):
        assert list(numbers_of(packed_numbers(numbers))) == numbers
