"""The heap in shared memory as the place where numpy takes its arrays from.

Without compiled kernels numpy takes them from elsewhere, and everything must be right as well.
"""
import contextvars
import gc
import mmap
import os
import threading

import numpy
import pytest

from fuel import _kernels

LENT = _kernels.BACKEND == 'compiled'
LARGE = 100_000


@pytest.fixture
def arena():
    arena = _kernels.Arena(mmap.mmap(-1, 1 << 24))
    arena.install(4096)
    yield arena
    arena.uninstall()


def is_in(arena, array):
    return arena.offset_of(array) >= 0


def test_large_arrays_come_from_the_arena(arena):
    made = [numpy.empty(LARGE, 'u1'), numpy.zeros((LARGE, 2)), numpy.ones(LARGE),
            numpy.arange(LARGE), numpy.arange(LARGE) * 2,
            numpy.ones((50, 50, 50)).transpose(2, 0, 1).copy(),
            numpy.concatenate([numpy.ones(LARGE), numpy.ones(3)]),
            numpy.frombuffer(bytes(LARGE), 'u1')[numpy.arange(LARGE)],
            numpy.array([1.5] * LARGE), numpy.empty(4096, 'u1')]
    assert [is_in(arena, array) for array in made] == [LENT] * len(made)
    assert arena.blocks == len(made) * LENT
    assert all(arena.offset_of(array) % 64 == 0 for array in made) or not LENT
    assert (made[3] == range(LARGE)).all() and (made[4] == made[3] * 2).all()
    del made
    assert (arena.blocks, arena.in_use) == (0, 0)


def test_small_arrays_and_views_do_not(arena):
    array = numpy.ones(LARGE)
    small = numpy.empty(4095, 'u1'), numpy.zeros(0), numpy.float64(3), numpy.array(3)
    assert not any(is_in(arena, one) for one in small if isinstance(one, numpy.ndarray))
    views = [array[10:], array.reshape(-1, 2), array.view('i4')]
    assert arena.blocks == LENT
    assert [is_in(arena, view) for view in views] == [LENT] * 3
    del array, views
    assert arena.blocks == 0


def test_memory_is_used_again_at_once(arena):
    places = set()
    for _ in range(20):
        places.add(arena.offset_of(numpy.empty(LARGE)))
    assert len(places) == 1
    assert arena.high_water <= 8 * LARGE + 64


@pytest.mark.parametrize('size', [4096, 5000, 3 * 4096 + 100, LARGE])
@pytest.mark.parametrize('start', [0, 64, 4096 - 64])
def test_zeros_are_zeros(arena, size, start):
    padding = numpy.full(4096 + start, 9, 'u1')                 # where the array begins
    fresh = numpy.zeros(size, 'u1')
    assert not fresh.any()
    fresh.fill(7)
    del fresh
    again = numpy.zeros(size, 'u1')
    assert not again.any()
    again.fill(7)
    half = numpy.full(size // 2 + 4096, 8, 'u1')
    del again
    larger = numpy.zeros(3 * size, 'u1')                        # used memory, and fresh one
    assert not larger.any()
    larger.fill(6)
    assert (half == 8).all() and (padding == 9).all()


def test_zeros_after_memory_was_given_back(arena):
    numpy.full(LARGE, 3, 'u1')
    arena.trim()
    assert not numpy.zeros(LARGE, 'u1').any()


def test_zeros_beside_other_arrays(arena):
    random = numpy.random.RandomState(0)
    kept = []
    for turn in range(400):
        size = int(random.randint(4096, 60_000))
        array = numpy.zeros(size, 'u1')
        assert not array.any()
        array.fill(turn % 255 + 1)
        kept.append((array, turn % 255 + 1))
        if len(kept) > 30:
            array, value = kept.pop(random.randint(30))
            assert (array == value).all()
        if turn % 50 == 0:
            arena.trim(100_000)
    assert all((array == value).all() for array, value in kept)


def test_resizing(arena):
    array = numpy.arange(LARGE)
    for size in (LARGE // 2, 3 * LARGE, 10, 5 * LARGE, LARGE, 1):
        kept = min(size, len(array))
        before = array[:kept].copy()
        array.resize(size, refcheck=False)
        assert (array[:kept] == before).all()
        assert not array[kept:].any()
        array[:] = numpy.arange(size) + size
    del array, before
    assert arena.blocks == 0


def test_resizing_between_neighbours(arena):
    first, array, last = (numpy.full(8192, value, 'u1') for value in (1, 2, 3))
    array.resize(12_000, refcheck=False)
    assert (array[:8192] == 2).all() and not array[8192:].any()
    array.fill(4)
    array.resize(5000, refcheck=False)
    del last
    array.resize(200_000, refcheck=False)
    assert (array[:5000] == 4).all()
    array.fill(5)
    assert (first == 1).all()
    small = numpy.full(100, 6, 'u1')
    small.resize(LARGE, refcheck=False)
    assert (small[:100] == 6).all()


def test_growing_from_an_iterator(arena):
    array = numpy.fromiter(iter(range(LARGE)), numpy.int64)
    assert (array == range(LARGE)).all()


def test_full_arena_leaves_arrays_to_the_system(arena):
    kept = [numpy.full(1 << 20, i, 'u1') for i in range(40)]
    assert sum(is_in(arena, array) for array in kept) == 16 * LENT
    zeros = numpy.zeros(1 << 20)
    assert not is_in(arena, zeros) and not zeros.any()
    grown = kept[0]
    kept[0] = None
    grown.resize(1 << 22, refcheck=False)
    assert not grown.any()
    assert all((array == i).all() for i, array in enumerate(kept) if i)
    with pytest.raises(MemoryError):
        numpy.empty(1 << 62, 'u1')
    with pytest.raises(MemoryError):
        numpy.zeros(1 << 62, 'u1')


def test_arrays_live_longer_than_the_arena():
    arena = _kernels.Arena(mmap.mmap(-1, 1 << 20))
    arena.install(4096)
    array = numpy.arange(LARGE // 8)
    arena.uninstall()
    del arena
    gc.collect()
    assert (array == range(LARGE // 8)).all()
    array += 1
    array.resize(LARGE // 4, refcheck=False)
    assert (array[:LARGE // 8] == range(1, LARGE // 8 + 1)).all()


def test_uninstalling_brings_back_what_was_before():
    before = numpy._core.multiarray.get_handler_name()
    first = _kernels.Arena(mmap.mmap(-1, 1 << 20))
    second = _kernels.Arena(mmap.mmap(-1, 1 << 20))
    first.uninstall()
    first.install(4096)
    second.install(100_000)
    medium, large = numpy.empty(50_000, 'u1'), numpy.empty(200_000, 'u1')
    assert is_in(first, medium) == LENT and is_in(second, large) == LENT
    first.uninstall()                                           # is not the last one
    assert is_in(second, numpy.empty(200_000, 'u1')) == LENT
    second.uninstall()
    assert is_in(first, numpy.empty(200_000, 'u1')) == LENT
    first.install(60_000)
    assert not is_in(first, numpy.empty(50_000, 'u1'))
    first.uninstall()
    assert not is_in(first, numpy.empty(200_000, 'u1'))
    assert numpy._core.multiarray.get_handler_name() == before
    del medium, large
    assert (first.blocks, second.blocks) == (0, 0)


def test_other_threads_are_left_alone(arena):
    found = []
    # Newer Pythons may be told to let threads inherit what is set; then the arena serves them too.
    thread = threading.Thread(target=contextvars.Context().run, args=(
        lambda: found.append(is_in(arena, numpy.empty(LARGE))),))
    thread.start()
    thread.join()
    assert found == [False]


def test_arrays_made_and_freed_by_many_threads(arena):
    here = contextvars.copy_context()
    failures, handed = [], []

    def work(seed):
        random = numpy.random.RandomState(seed)
        for _ in range(200):
            array = numpy.full(random.randint(1000, 30_000), seed, 'u1')
            handed.append((array, seed))
            del array
            if len(handed) > 10:
                try:
                    other, value = handed.pop(random.randint(5))
                except IndexError:
                    continue
                if not (other == value).all():
                    failures.append(value)

    threads = [threading.Thread(target=here.copy().run, args=(work, seed))
               for seed in range(1, 5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    handed.clear()
    threads.clear()
    assert arena.blocks == 0


def test_who_knows_of_an_array(arena):
    array = numpy.empty(LARGE, 'u1')
    other = numpy.empty(LARGE, 'u1')
    place = arena.offset_of(other)
    view = other[100:200]
    again = view[10:]
    if not LENT:
        assert arena.owner_of(array) is arena.owner_of(view) is None
        return
    assert arena.owner_of(array) == (0, 0, 0)
    assert arena.owner_of(view) == (place + 100, place, 3)
    assert arena.owner_of(again) == (place + 110, place, 3)
    del other, again
    assert arena.owner_of(view) == (place + 100, place, 1)
    # Nobody can tell who knows of memory that is no array's.
    assert arena.owner_of(numpy.frombuffer(memoryview(array), 'u1')) is None
    assert arena.owner_of(numpy.frombuffer(arena.memory, 'u1')) is None


def test_child_shares_arrays_but_takes_none(arena):
    array = numpy.full(LARGE, 5, 'u1')
    child = os.fork()
    if not child:
        code = 1
        try:
            assert (array == 5).all()
            fresh = numpy.full(LARGE, 6, 'u1')
            assert not is_in(arena, fresh)
            array.resize(2 * LARGE, refcheck=False)
            assert (array[:LARGE] == 5).all() and not array[LARGE:].any()
            del array, fresh
            assert not numpy.zeros(LARGE).any()
            assert arena.trim() == 0
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    assert (array == 5).all()
    assert is_in(arena, numpy.empty(LARGE)) == LENT


def test_forks_while_threads_take_and_give(arena):
    here = contextvars.copy_context()
    stop = threading.Event()

    def work():
        while not stop.is_set():
            numpy.empty(LARGE, 'u1')

    thread = threading.Thread(target=here.run, args=(work,))
    thread.start()
    try:
        for _ in range(20):
            child = os.fork()
            if not child:
                # A lock that another thread held would block this for ever.
                numpy.empty(LARGE, 'u1').resize(2 * LARGE, refcheck=False)
                os._exit(0)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        thread.join()
