"""The heap in shared memory, against its numpy twin and a list of what was taken."""
import mmap
import os
import pickle
import threading

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuel import _kernels
from fuel._kernels.reference import arena as reference

ARENAS = [_kernels.Arena, reference.Arena]
PAGE = mmap.PAGESIZE


@pytest.fixture
def memory():
    """Shared memory without a name; its file."""
    descriptor = os.memfd_create('test')
    os.ftruncate(descriptor, 1 << 20)
    yield mmap.mmap(descriptor, 1 << 20), descriptor
    os.close(descriptor)


def given_bytes(descriptor):
    """Return how much memory the system has given for a file."""
    return os.fstat(descriptor).st_blocks * 512


def rounded(nbytes):
    return max(64, -(-nbytes // 64) * 64)


def lowest_gap(taken, length, end):
    """Return where a block fits first, by looking through all that are taken."""
    start = 0
    for other in sorted(taken):
        if other - start >= length:
            return start
        start = other + taken[other]
    return start if end - start >= length else -1


@pytest.mark.parametrize('arena_class', ARENAS)
@given(st.lists(st.one_of(st.integers(0, 700), st.integers(0, 12000),
                          st.floats(0, 1, exclude_max=True)), max_size=120))
def test_lowest_address_that_fits_is_taken(arena_class, actions):
    arena = arena_class(bytearray(16000))
    taken, most = {}, 0
    for action in actions:
        if isinstance(action, int):
            offset = arena.allocate(action)
            assert offset == lowest_gap(taken, rounded(action), 16000)
            if offset >= 0:
                taken[offset] = rounded(action)
        elif taken:
            offset = sorted(taken)[int(action * len(taken))]
            arena.free(offset)
            del taken[offset]
        most = max(most, sum(taken.values()))
        assert (arena.in_use, arena.blocks, arena.high_water) == (
            sum(taken.values()), len(taken), most)
    for offset in taken:
        arena.free(offset)
    # All pieces are joined again.
    assert arena.allocate(16000) == 0
    assert arena.in_use == 16000


@pytest.mark.parametrize('arena_class', ARENAS)
def test_many_blocks(arena_class):
    arena = arena_class(bytearray(64 * 3000))
    offsets = [arena.allocate(64) for _ in range(3000)]
    assert offsets == list(range(0, 64 * 3000, 64))
    assert arena.allocate(1) == -1
    for i in numpy.random.RandomState(1).permutation(3000):
        arena.free(offsets[i])
    assert (arena.in_use, arena.blocks) == (0, 0)
    assert arena.allocate(64 * 3000) == 0


@pytest.mark.parametrize('arena_class', ARENAS)
def test_no_room(arena_class):
    arena = arena_class(bytearray(1000))
    assert arena.nbytes == 1000
    assert arena.allocate(1000) == -1
    assert arena.allocate(2**62) == -1
    assert arena.allocate(960) == 0
    assert arena.allocate(0) == -1
    arena.free(0)
    assert arena.allocate(0) == 0
    assert arena.allocate(0) == 64


@pytest.mark.parametrize('arena_class', ARENAS)
def test_what_is_no_block_cannot_be_given_back(arena_class):
    arena = arena_class(bytearray(1000))
    for wrong in (0, 64, 10**9, -1):
        with pytest.raises(ValueError, match=f'no block that is taken begins at {wrong}'):
            arena.free(wrong)
    offset = arena.allocate(200)
    with pytest.raises(ValueError, match='no block'):
        arena.free(offset + 64)
    arena.free(offset)
    with pytest.raises(ValueError, match='no block'):
        arena.free(offset)


@pytest.mark.parametrize('arena_class', ARENAS)
def test_wrong_arguments(arena_class):
    with pytest.raises(ValueError, match='memory that can be written to'):
        arena_class(bytes(100))
    arena = arena_class(bytearray(100))
    with pytest.raises(ValueError, match='at least 0; got -1'):
        arena.allocate(-1)
    with pytest.raises(ValueError, match='at least 0; got -5'):
        arena.trim(-5)
    with pytest.raises(TypeError, match='cannot be pickled'):
        pickle.dumps(arena)


@pytest.mark.parametrize('arena_class', ARENAS)
def test_places_of_arrays(arena_class):
    memory = bytearray(1000)
    arena = arena_class(memory)
    whole = numpy.frombuffer(memory, 'u1')
    assert arena.memory is memory
    assert arena.offset_of(whole) == 0
    assert arena.offset_of(whole[10:20]) == 10
    assert arena.offset_of(whole[::-1]) == 999
    assert arena.offset_of(numpy.zeros(3)) == -1
    assert arena.owner_of(whole) is None
    assert arena.owner_of(numpy.zeros(3)) is None


@pytest.mark.parametrize('arena_class', ARENAS)
def test_memory_is_given_back_from_the_top(arena_class, memory):
    mapped, descriptor = memory
    arena = arena_class(mapped)
    offsets = [arena.allocate(10 * PAGE) for _ in range(10)]
    numpy.frombuffer(mapped, 'u1')[:100 * PAGE] = 1

    def kept():
        # What is mapped would be given anew by looking at it.
        content = numpy.frombuffer(os.pread(descriptor, 100 * PAGE, 0), 'u1')
        content = content.reshape(10, -1)
        assert ((content == 0).all(axis=1) | (content == 1).all(axis=1)).all()
        return numpy.flatnonzero(content[:, 0]).tolist()

    assert arena.resident == given_bytes(descriptor) == 100 * PAGE
    for i in (1, 2, 7, 9):
        arena.free(offsets[i])
    assert arena.trim(1 << 20) == 0
    assert arena.trim(80 * PAGE + 1) == 20 * PAGE
    assert arena.resident == given_bytes(descriptor) == 80 * PAGE
    assert kept() == [0, 1, 2, 3, 4, 5, 6, 8]
    assert arena.trim(75 * PAGE) == 5 * PAGE
    assert arena.resident == given_bytes(descriptor) == 75 * PAGE
    assert arena.trim() == 15 * PAGE
    assert arena.resident == given_bytes(descriptor) == 60 * PAGE
    assert kept() == [0, 3, 4, 5, 6, 8]
    assert arena.trim() == 0
    # It can be used again.
    assert arena.allocate(20 * PAGE) == 10 * PAGE
    assert arena.resident == 80 * PAGE


@pytest.mark.parametrize('arena_class', ARENAS)
def test_pages_that_a_block_shares_are_kept(arena_class, memory):
    mapped, descriptor = memory
    arena = arena_class(mapped)
    small, large = arena.allocate(100), arena.allocate(3 * PAGE)
    after = arena.allocate(100)
    content = numpy.frombuffer(mapped, 'u1')
    content[:4 * PAGE] = 1
    arena.free(large)
    assert arena.trim() == 2 * PAGE
    assert given_bytes(descriptor) == arena.resident == 2 * PAGE
    assert content[small:100].all() and content[after:after + 100].all()


@pytest.mark.parametrize('arena_class', ARENAS)
def test_high_water_begins_anew(arena_class):
    arena = arena_class(bytearray(10000))
    first = arena.allocate(640)
    arena.allocate(64)
    arena.free(first)
    assert arena.high_water == 704
    arena.trim()
    assert arena.high_water == 64
    arena.allocate(128)
    assert arena.high_water == 192


@pytest.mark.parametrize('arena_class', ARENAS)
def test_memory_that_cannot_be_given_back_stays(arena_class):
    arena = arena_class(bytearray(10 * PAGE))
    arena.free(arena.allocate(9 * PAGE))
    assert arena.trim() == 0
    assert arena.resident == 9 * PAGE


@pytest.mark.parametrize('arena_class', ARENAS)
def test_room_on_a_disk_is_asked_for(arena_class, tmp_path):
    with open(tmp_path / 'memory', 'w+b') as file:
        file.truncate(1 << 20)
        mapped = mmap.mmap(file.fileno(), 1 << 20)
        arena = arena_class(mapped, file.fileno())
        offset = arena.allocate(100 * PAGE)
        assert os.fstat(file.fileno()).st_blocks * 512 >= 100 * PAGE
        arena.free(offset)
        # A file that nobody may write to is as good as a full disk.
        with open(tmp_path / 'memory', 'rb') as other:
            arena = arena_class(mapped, other.fileno())
        assert arena.allocate(100) == -1
        assert (arena.in_use, arena.blocks) == (0, 0)
        with pytest.raises(OSError, match='Bad file descriptor'):
            arena_class(mapped, 10**6)


@pytest.mark.parametrize('arena_class', ARENAS)
def test_blocks_from_several_threads(arena_class):
    arena = arena_class(bytearray(1 << 20))
    content = numpy.frombuffer(arena.memory, 'u1')
    failures = []

    def work(seed):
        random = numpy.random.RandomState(seed)
        mine = []
        for _ in range(300):
            if mine and random.rand() < .5:
                offset, nbytes = mine.pop(random.randint(len(mine)))
                if not (content[offset:offset + nbytes] == seed).all():
                    failures.append(seed)
                arena.free(offset)
            else:
                nbytes = int(random.randint(1, 4000))
                offset = arena.allocate(nbytes)
                if offset >= 0:
                    content[offset:offset + nbytes] = seed
                    mine.append((offset, nbytes))
        for offset, _ in mine:
            arena.free(offset)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert (arena.in_use, arena.blocks) == (0, 0)


@pytest.mark.parametrize('arena_class', ARENAS)
def test_blocks_that_children_see_are_not_used_again(arena_class):
    arena = arena_class(bytearray(6400))
    old, other = arena.allocate(64), arena.allocate(64)
    arena.forked(7)
    arena.free(old)
    with pytest.raises(ValueError, match='no block'):
        arena.free(old)
    assert arena.allocate(64) == 128
    arena.forked(9)
    arena.free(other)
    arena.free(128)
    assert (arena.blocks, arena.in_use) == (3, 192)
    arena.settle([7, 9])
    assert arena.blocks == 3
    arena.settle([7])                               # which saw the first two only
    assert arena.blocks == 2
    young = arena.allocate(64)
    assert young == 128
    arena.free(young)                               # nobody has seen this one
    assert arena.blocks == 2
    arena.settle([])
    assert (arena.blocks, arena.in_use) == (0, 0)
    assert arena.allocate(6400) == 0


@pytest.mark.parametrize('arena_class', ARENAS)
def test_child_takes_and_gives_nothing(arena_class):
    arena = arena_class(bytearray(6400))
    offset = arena.allocate(64)
    child = os.fork()
    if not child:
        code = 1
        try:
            arena.free(offset)
            arena.free(12345)
            code = 0 if arena.allocate(64) == -1 and arena.blocks == 1 else 2
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    assert arena.allocate(64) == 64


@pytest.mark.parametrize('map_shared', [_kernels.map_shared, reference.map_shared])
def test_mapped_files(map_shared):
    descriptor = os.memfd_create('test')
    os.ftruncate(descriptor, 3 * PAGE)
    first, second = map_shared(descriptor, 3 * PAGE), map_shared(descriptor, PAGE)
    assert (len(first), len(second)) == (3 * PAGE, PAGE)
    os.close(descriptor)
    array = numpy.frombuffer(first, 'u1')
    array[:100] = 7
    del first
    assert (numpy.frombuffer(second, 'u1')[:100] == 7).all()
    with pytest.raises(TypeError, match='pickle'):
        pickle.dumps(second)
    with pytest.raises(OSError, match='Bad file descriptor'):
        map_shared(10**6, PAGE)
    with pytest.raises((ValueError, OverflowError), match='at least 1|positive'):
        map_shared(0, -1)
