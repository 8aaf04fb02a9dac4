"""Parcels between a worker and its parent: who holds which memory, and for how long."""
import contextlib
import gc
import os
import pickle
import socket
import struct
import threading
import weakref

import numpy
import pytest

from fuel import _kernels
from fuel.engine.parcels import Inbox, Outbox
from fuel.engine.region import Region

LENT = _kernels.BACKEND == 'compiled'
SIZE = 100_000


@pytest.fixture
def sides():
    """Return both, in one process."""
    region = Region.create(1 << 26)
    outbox, inbox = Outbox(region), Inbox(region)
    region.close()
    outbox.install()
    yield outbox, inbox
    outbox.arena.uninstall()


def sent(sides, *steps):
    outbox, inbox = sides
    return inbox.open(outbox.pack(list(steps)))


def batch(value=1):
    return numpy.full(SIZE, value, 'u1'), numpy.arange(10)


def test_memory_is_lent_until_the_last_view_is_gone(sides):
    outbox, inbox = sides
    parcel = sent(sides, batch(), batch())
    assert (parcel.nbytes, inbox.leased, outbox.in_flight) == (2 * SIZE, 0, 2 * SIZE)
    first, second = parcel.steps()
    del parcel
    assert (inbox.leased, inbox.released()) == (2 * SIZE, [])
    view = first[0][10:20].reshape(2, 5).view('i1').T
    del first
    assert inbox.released() == []
    del second
    assert (inbox.leased, inbox.released(), inbox.released()) == (SIZE, [1], [])
    outbox.release([1])
    assert outbox.in_flight == SIZE
    assert (view == 1).all()
    del view
    assert (inbox.leased, inbox.released()) == (0, [0])
    outbox.release([0])
    assert (outbox.in_flight, outbox.arena.blocks) == (0, 0)


@pytest.mark.parametrize('keep', [
    lambda array: memoryview(array)[5:9], lambda array: array.view(numpy.recarray),
    lambda array: numpy.frombuffer(array, 'u1')[3:], lambda array: [array.flat],
    lambda array: numpy.lib.stride_tricks.sliding_window_view(array, 3)])
def test_all_that_sees_the_memory_keeps_it(sides, keep):
    _, inbox = sides
    array = sent(sides, batch()).steps()[0][0]
    kept = keep(array)
    del array
    gc.collect()
    assert inbox.released() == []
    del kept
    assert inbox.released() == [0]


def test_arrays_of_one_parcel_are_given_back_one_by_one(sides):
    _, inbox = sides
    (first, second), = sent(sides, (numpy.ones(SIZE), numpy.ones(SIZE))).steps()
    del first
    assert (inbox.released(), inbox.leased) == ([0], 8 * SIZE)
    assert second.all()
    del second
    assert inbox.released() == [1]


def test_arrays_are_the_callers(sides):
    outbox, _ = sides
    array, labels = sent(sides, batch()).steps()[0]
    array += 1
    labels[:] = 5
    others = [sent(sides, batch(9)) for _ in range(3)]
    assert (array == 2).all() and (labels == 5).all()
    assert type(array) is type(labels) is numpy.ndarray
    assert pickle.loads(pickle.dumps(array)).sum() == 2 * SIZE
    assert outbox.arena.blocks == 4
    del others


def test_copies_give_the_memory_back_at_once(sides):
    outbox, inbox = sides
    steps = sent(sides, batch(3), ([batch(4)],)).copied()
    assert (inbox.leased, sorted(inbox.released())) == (0, [0, 1])
    outbox.release([0, 1])
    del sides
    numpy.full(SIZE, 7, 'u1')
    array = steps[0][0]
    assert array.flags.owndata and array.flags.writeable and (array == 3).all()
    assert (steps[1][0][0][0] == 4).all()


def test_lent_memory_can_be_taken_back(sides):
    _, inbox = sides
    parcel = sent(sides, batch(), batch())
    first, second = parcel.steps()
    del first
    parcel.release()
    assert (sorted(inbox.released()), inbox.leased) == ([0, 1], 0)
    parcel.release()
    del second, parcel
    assert inbox.released() == []


@pytest.mark.parametrize('how', ['release', '__del__'])
def test_parcels_that_nobody_wants_give_their_memory_back(sides, how):
    _, inbox = sides
    parcel = sent(sides, batch())
    if how == 'release':
        parcel.release()
        parcel.release()
        with pytest.raises(ValueError, match='not been emptied yet'):
            parcel.steps()
    del parcel
    assert (inbox.released(), inbox.leased) == ([0], 0)


@pytest.mark.parametrize('first', ['steps', 'copied'])
@pytest.mark.parametrize('second', ['steps', 'copied'])
def test_parcels_are_emptied_once(sides, first, second):
    _, inbox = sides
    parcel = sent(sides, batch())
    getattr(parcel, first)()
    with pytest.raises(ValueError, match='not been emptied yet'):
        getattr(parcel, second)()
    del parcel
    assert inbox.released() == [0]


def test_parcels_without_blocks(sides):
    outbox, inbox = sides
    parcel = sent(sides)
    assert (parcel.nbytes, parcel.steps()) == (0, [])
    assert sent(sides, 'x', (1, 2)).copied() == ['x', (1, 2)]
    assert (inbox.released(), outbox.in_flight) == ([], 0)


def test_arrays_live_longer_than_both_sides():
    region = Region.create(1 << 20)
    outbox, inbox = Outbox(region), Inbox(region)
    array = inbox.open(outbox.pack([batch(5)])).steps()[0][0]
    gone = weakref.ref(inbox)
    del outbox, inbox, region
    gc.collect()
    assert gone() is None
    array += 1
    assert (array == 6).all()


def test_memory_comes_back_from_garbage_and_threads(sides):
    _, inbox = sides
    ring = [sent(sides, batch()).steps()]
    ring.append(ring)
    thread_holds = [sent(sides, batch()).steps()]
    thread = threading.Thread(target=thread_holds.clear)
    thread.start()
    thread.join()
    assert inbox.released() == [1]
    del ring
    gc.collect()
    assert inbox.released() == [0]


def test_many_threads_give_back_while_one_counts(sides):
    outbox, inbox = sides
    held, numbers, stop = [], [], threading.Event()

    def work():
        while not stop.is_set() or held:
            with contextlib.suppress(IndexError):
                held.pop()

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for i in range(300):
        held.extend(sent(sides, (numpy.full(5000, i % 251, 'u1'), numpy.ones(SIZE))).steps())
        numbers += (released := inbox.released())
        outbox.release(released)
        assert inbox.leased >= 0
    stop.set()
    for thread in threads:
        thread.join()
    numbers += (released := inbox.released())
    outbox.release(released)
    assert sorted(numbers) == list(range(600))
    assert (inbox.leased, outbox.in_flight, outbox.arena.blocks) == (0, 0, 0)


def pages(region):
    return os.fstat(region.fileno()).st_blocks * 512


def test_memory_follows_the_size_of_batches():
    with Region.create(1 << 30) as region:
        outbox, inbox = Outbox(region), Inbox(region)
        outbox.install()
        try:
            held, most = [], []
            for nbytes in (40_000, 400_000, 8_000_000, 400_000, 40_000, 4_000_000, 3000):
                for i in range(150):
                    held.append(inbox.open(outbox.pack([
                        (numpy.full(nbytes, i % 256, 'u1'), numpy.full(nbytes // 8, i, 'i8'))])
                    ).steps())
                    if len(held) > 3:
                        image, label = held.pop(0)[0]
                        assert i < 3 or (image[-1] == (i - 3) % 256 and label[-1] == i - 3)
                        del image, label
                    outbox.release(inbox.released())
                most.append(pages(region))
                assert pages(region) <= outbox.arena.resident
            # Each time some batches of two arrays, and what is kept for the next ones.
            assert most[2] >= 4 * 16_000_000
            for i, nbytes in ((0, 40_000), (1, 400_000), (3, 400_000), (4, 40_000), (6, 3000)):
                assert most[i] <= 30 * nbytes + (1 << 23)
            held.clear()
            outbox.release(inbox.released())
            assert (outbox.in_flight, inbox.leased, outbox.arena.blocks) == (0, 0, 0)
        finally:
            outbox.arena.uninstall()


def test_steady_batches_take_steady_memory():
    with Region.create(1 << 30) as region:
        outbox, inbox = Outbox(region), Inbox(region)
        outbox.install()
        try:
            seen = set()
            random = numpy.random.RandomState(3)
            held = []
            for turn in range(3000):
                size = int(random.randint(30_000, 60_000))
                held.append(inbox.open(outbox.pack([
                    (numpy.empty(size), [numpy.ones(i) for i in range(5)], 'text')])).steps())
                if len(held) > 2:
                    held.pop(random.randint(3))
                outbox.release(inbox.released())
                if turn > 100:
                    seen.add(pages(region))
            assert max(seen) < 8_000_000
            assert outbox.arena.blocks < 10
        finally:
            outbox.arena.uninstall()


class Link:
    """A worker made by fork, at the other end of a pair of sockets."""

    def __init__(self, work):
        self.region = Region.create(1 << 28)
        mine, other = socket.socketpair()
        self.pid = os.fork()
        if not self.pid:
            code = 1
            try:
                mine.close()
                work(Outbox(Region.attach(os.dup(self.region.fileno()))), other)
                code = 0
            finally:
                os._exit(code)
        other.close()
        self.socket = mine
        self.inbox = Inbox(self.region)
        self.region.close()

    def take(self):
        return self.inbox.open(receive(self.socket))

    def give_back(self):
        send(self.socket, pickle.dumps(self.inbox.released()))

    def end(self):
        self.socket.close()
        return os.waitpid(self.pid, 0)[1]


def send(link, content):
    link.sendall(struct.pack('q', len(content)) + content)


def receive(link):
    length, = struct.unpack('q', receive_exactly(link, 8))
    return receive_exactly(link, length)


def receive_exactly(link, length):
    content = b''
    while len(content) < length:
        piece = link.recv(length - len(content))
        if not piece:
            raise EOFError
        content += piece
    return content


def images(outbox, link):
    """Send images, until nobody takes them any more."""
    outbox.install()
    number = 0
    with contextlib.suppress(EOFError, ConnectionError):
        while True:
            steps = [(numpy.full((16, 3, 50 + number % 30, 50), number % 251, 'u1'),
                      numpy.full(16, number)), {'number': number, 'x': numpy.full(9999, number)}]
            description = outbox.pack(steps)
            del steps
            send(link, description)
            outbox.release(pickle.loads(receive(link)))
            number += 1
            assert outbox.in_flight < 1 << 24


def test_batches_of_another_process():
    link = Link(images)
    try:
        held = []
        for number in range(500):
            parcel = link.take()
            (image, label), mapping = parcel.copied() if number % 3 == 0 else parcel.steps()
            assert image.shape == (16, 3, 50 + number % 30, 50)
            held.append((number, image, label, mapping))
            image += 1
            mapping['x'] += 1
            if len(held) > 4:
                then, image, label, mapping = held.pop(0)
                assert (image == then % 251 + 1).all() and (label == then).all()
                assert mapping['number'] == then and (mapping['x'] == then + 1).all()
            del parcel, image, label, mapping
            link.give_back()
    finally:
        assert link.end() == 0
    # What was lent outlives the worker.
    for then, image, _, mapping in held:
        assert (image == then % 251 + 1).all() and (mapping['x'] == then + 1).all()
    held.clear()
    del image, mapping
    assert link.inbox.leased == 0
