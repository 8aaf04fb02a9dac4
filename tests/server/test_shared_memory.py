"""On one machine, arrays go through shared memory, and the memory comes back."""
import gc
import sys

import numpy
import pytest

from fuel.server import Server
from fuel.streams import AbstractDataStream
from fuel.streams.remote import ServerDataStream

from .peers import SECONDS
from .processes import SPAWN

SIZE = 1 << 18


class Large(AbstractDataStream):
    """Gives batches of a large and a small array."""

    sources = ('x', 'y')
    produces_examples = False

    def __init__(self, steps=12, size=SIZE):
        super().__init__()
        self.steps, self.size = steps, size

    def get_epoch_iterator(self, as_dict=False):
        return iter([(numpy.full(self.size, step, 'u1'), numpy.array([step]))
                     for step in range(self.steps)])


@pytest.fixture
def serve():
    """Return a function that starts a server, and returns it and a client."""
    held = []

    def start(stream, **kwargs):
        server = Server(stream, 0, **kwargs).start()
        client = ServerDataStream(port=server.port, timeout=SECONDS)
        held.extend([client, server])
        return server, client
    yield start
    for one in held:
        one.close()


def in_use(server, client):
    """Return how much clients have, once the server has heard what this one says."""
    client.get_epoch_iterator()
    iterator = client.get_epoch_iterator()
    with pytest.raises(StopIteration):
        while True:
            next(iterator)
    client.close()
    with ServerDataStream(port=server.port, timeout=SECONDS) as other:
        assert other.sources
    return server._memory.in_use


def is_shared(server, array):
    """Tell whether an array lies in the shared memory of a server in this process."""
    region = server._memory._region
    before = None if region is None else region.bytes.copy()
    array[:] = 77
    return before is not None and not numpy.array_equal(before, region.bytes)


def test_large_arrays_lie_in_shared_memory_and_small_ones_do_not(serve):
    server, client = serve(Large(), shared_bytes=1 << 24)
    large, small = next(client.get_epoch_iterator())
    on_linux = sys.platform == 'linux'
    assert is_shared(server, large) == on_linux
    assert not is_shared(server, small)


def test_the_memory_comes_back_when_the_arrays_are_gone(serve):
    server, client = serve(Large(), shared_bytes=1 << 24)
    for _ in range(5):
        for x, y in client.get_epoch_iterator():
            assert set(x[::1000].tolist()) == set(y.tolist())
    del x
    gc.collect()
    assert in_use(server, client) == 0


def test_arrays_that_are_kept_keep_their_values(serve):
    server, client = serve(Large(), shared_bytes=1 << 24)
    held = list(client.get_epoch_iterator())
    for _ in range(3):
        for x, _ in client.get_epoch_iterator():
            x[:] = 255
    assert all((x == step).all() for step, (x, _) in enumerate(held))
    client.close()
    server.close()
    assert all((x == step).all() for step, (x, _) in enumerate(held))


def test_without_room_arrays_go_through_the_socket(serve):
    server, client = serve(Large(), shared_bytes=3 * SIZE)
    for _ in range(2):
        held = list(client.get_epoch_iterator())
        assert all((x == step).all() for step, (x, _) in enumerate(held))
    assert server._memory.in_use <= 3 * SIZE


def test_arrays_larger_than_the_memory_go_through_the_socket(serve):
    _, client = serve(Large(3, 1 << 21), shared_bytes=1 << 20)
    assert [x.sum() for x, _ in client.get_epoch_iterator()] == [0, 1 << 21, 2 << 21]


def test_memory_follows_the_size_of_the_batches_down(serve):
    stream = Large()
    server, client = serve(stream, shared_bytes=1 << 28)
    region = server._memory._region
    for size in (1 << 22, 1 << 20, 1 << 20, 1 << 20):
        stream.size = size
        for x, _ in client.get_epoch_iterator():
            assert x.size == size
    if region is not None:
        assert region._backed <= 24 << 20


def test_what_was_on_its_way_to_a_client_that_left_comes_back(serve):
    server, client = serve(Large(), shared_bytes=1 << 24)
    for _ in range(10):
        iterator = client.get_epoch_iterator()
        next(iterator), next(iterator), next(iterator)
    del iterator
    gc.collect()
    assert in_use(server, client) == 0


def test_what_was_on_its_way_over_a_closed_connection_comes_back(serve):
    server, client = serve(Large(), shared_bytes=1 << 24)
    for _ in range(10):
        iterator = client.get_epoch_iterator()
        next(iterator), next(iterator), next(iterator)
        client.close()
    del iterator
    gc.collect()
    assert in_use(server, client) == 0


def keep(port, pipe):
    """Keep some arrays until the end comes."""
    client = ServerDataStream(port=port, timeout=SECONDS)
    iterator = client.get_epoch_iterator()
    held = [next(iterator) for _ in range(5)]
    pipe.send(len(held))
    pipe.recv()


def test_the_memory_of_a_client_that_was_killed_is_used_again(serve):
    server, client = serve(Large(), shared_bytes=1 << 24)
    pipe, theirs = SPAWN.Pipe()
    process = SPAWN.Process(target=keep, args=(server.port, theirs), daemon=True)
    process.start()
    assert pipe.poll(SECONDS)
    if server._memory._region is not None:
        # The first one may have been sent before the client said that it reaches the memory.
        assert server._memory.in_use >= 4 * SIZE
    process.kill()
    process.join()
    pipe.close()
    theirs.close()
    assert in_use(server, client) == 0


def test_a_client_that_cannot_reach_the_memory_gets_everything(serve, monkeypatch):
    server, client = serve(Large(), shared_bytes=1 << 24)
    if server._memory._region is not None:
        token = server._memory.token()
        monkeypatch.setattr(server._memory, 'token', lambda: {**token, 'pid': 2 ** 22 - 1})
    assert [y[0] for _, y in client.get_epoch_iterator()] == list(range(12))
    assert server._memory.in_use == 0


def test_arrays_of_many_dtypes_lie_as_they_should(serve):
    arrays = [numpy.arange(50000, dtype='>f8'), numpy.asfortranarray(numpy.ones((300, 200))),
              numpy.zeros(20000, numpy.longdouble), numpy.zeros(9000, [('a', 'i1'), ('b', '<f8')]),
              numpy.arange(30000).astype('M8[s]')]

    class Several(Large):
        def get_epoch_iterator(self, as_dict=False):
            return iter([(array, [array, array[:5]]) for array in arrays])
    _, client = serve(Several(), shared_bytes=1 << 24)
    for expected, (x, (y, z)) in zip(arrays, client.get_epoch_iterator(), strict=True):
        for array, other in ((x, expected), (y, expected), (z, expected[:5])):
            assert array.flags.aligned
            assert array.flags.writeable
            assert array.dtype == other.dtype
            assert array.tobytes() == other.tobytes()
