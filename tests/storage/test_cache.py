"""The cache of decoded chunks: its bound, its order, and that nobody reads freed memory."""
import gc
import linecache
import os
import sys
import threading
import weakref

import numpy
import pytest

import fuel
from fuel.storage.readers.cache import ChunkCache


@pytest.fixture(autouse=True)
def a_limit_of_100_bytes(monkeypatch):
    monkeypatch.setitem(fuel.config.config['chunk_cache_bytes'], 'value', 100)


def table(count):
    return numpy.zeros(count, dtype=numpy.int64), numpy.zeros(count, dtype=numpy.uint8)


def chunks(count, size=10):
    return numpy.zeros((count, size), dtype=numpy.uint8)


def put(cache, entries, numbers, size=10):
    buffer = chunks(len(numbers), size)
    cache.put(*entries, numpy.array(numbers), buffer)
    return buffer


def test_chunks_are_entered_where_they_lie():
    cache, entries = ChunkCache(), table(6)
    buffer = put(cache, entries, [4, 1])
    assert entries[0].tolist() == [0, buffer.ctypes.data + 10, 0, 0, buffer.ctypes.data, 0]
    assert cache.size == 20


def test_the_oldest_go_first():
    cache, entries = ChunkCache(), table(20)
    for number in range(12):
        put(cache, entries, [number])
        assert cache.size <= 100
    assert numpy.flatnonzero(entries[0]).tolist() == list(range(2, 12))


def test_what_was_used_gets_another_round():
    cache, entries = ChunkCache(), table(40)
    for number in range(11):                  # whoever is new counts as used
        put(cache, entries, [number])
    assert set(numpy.flatnonzero(entries[0])) == set(range(1, 11))
    entries[1][[1, 4]] = 1
    for number in range(11, 15):
        put(cache, entries, [number])
    assert set(numpy.flatnonzero(entries[0])) == {1, 4, *range(7, 15)}
    # It must have been used again since then.
    for number in range(15, 35):
        put(cache, entries, [number])
    assert not {1, 4} & set(numpy.flatnonzero(entries[0]))
    assert cache.size == 100


def test_a_window_of_chunks_stays_while_it_is_used():
    cache, entries = ChunkCache(), table(1000)
    decoded = 0
    random = numpy.random.default_rng(0)
    for window in range(0, 1000, 8):
        for number in window + random.integers(0, 8, 60):
            if not entries[0][number]:
                put(cache, entries, [number])
                decoded += 1
            entries[1][number] = 1
    assert decoded <= 1000                    # none is decoded twice


def test_where_all_were_used_some_go_all_the_same():
    cache, entries = ChunkCache(), table(30)
    for number in range(20):
        put(cache, entries, [number])
        entries[1][:] = 1
        assert cache.size <= 100
    assert entries[0][19]


def test_the_last_one_stays_even_if_it_is_larger_than_the_bound():
    cache, entries = ChunkCache(), table(40)
    put(cache, entries, [30])
    put(cache, entries, range(11))
    assert cache.size == 110
    assert numpy.flatnonzero(entries[0]).tolist() == list(range(11))
    put(cache, entries, range(11, 23))
    assert cache.size == 120
    assert numpy.flatnonzero(entries[0]).tolist() == list(range(11, 23))


def test_a_bound_of_0_keeps_nothing(monkeypatch):
    monkeypatch.setitem(fuel.config.config['chunk_cache_bytes'], 'value', 0)
    cache, entries = ChunkCache(), table(4)
    put(cache, entries, [1])
    assert cache.size == 0
    assert not entries[0].any()


def test_a_finalizer_may_drop_a_table_in_the_middle_of_anything():
    cache, one, other = ChunkCache(), table(20), table(20)
    put(cache, other, [0, 1])
    put(cache, one, [0])
    cache._owner = threading.get_ident()      # as if it were putting something in
    cache.drop(other[0])
    assert other[0].any()
    cache._owner = 0
    put(cache, one, [1])
    assert not other[0].any()
    assert cache.size == 20


class Interrupts:
    """Raises at one line after another of the cache's code."""

    def __init__(self, after):
        self.left = after

    def __call__(self, frame, event, argument):
        if 'storage/readers/cache.py' not in frame.f_code.co_filename:
            return None
        # At these Python itself is not interrupted: nothing is called there.
        source = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
        if event == 'line' and source.strip() not in ('with self._lock:', 'try:'):
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
        return self


def test_an_interrupt_leaves_no_address_of_freed_memory():
    interrupted = 0
    for after in range(1, 130):
        cache, entries = ChunkCache(), table(60)
        for number in range(9):
            put(cache, entries, [number])
        sys.settrace(Interrupts(after))
        try:
            for number in range(9, 13):
                put(cache, entries, [number])
            cache.drop(numpy.zeros(1, dtype=numpy.int64))
        except KeyboardInterrupt:
            interrupted += 1
        finally:
            sys.settrace(None)
        alive = {slab.buffer.ctypes.data for slab in cache._slabs}
        alive |= {buffer.ctypes.data for buffer in cache.guard.evicted}
        assert set(entries[0][entries[0] != 0].tolist()) <= alive
        put(cache, entries, [50])             # and it goes on
        assert entries[0][50]
    assert interrupted > 50


def test_chunks_that_are_there_are_not_taken_twice():
    cache, entries = ChunkCache(), table(4)
    first = put(cache, entries, [1, 2])
    put(cache, entries, [2, 1])
    assert cache.size == 20
    assert entries[0][1] == first.ctypes.data
    # Of two overlapping ones, each place refers to a chunk that is alive.
    second = put(cache, entries, [2, 3])
    assert cache.size == 40
    assert entries[0].tolist()[1:] == [first.ctypes.data, second.ctypes.data,
                                       second.ctypes.data + 10]
    cache.drop(entries[0])
    assert cache.size == 0
    assert not entries[0].any()


def test_a_table_goes_alone():
    cache, one, other = ChunkCache(), table(4), table(4)
    put(cache, one, [0, 1])
    put(cache, other, [2])
    cache.drop(one[0])
    assert not one[0].any()
    assert other[0].any()
    assert cache.size == 10


def test_a_guard_keeps_what_goes_after_it_was_taken():
    cache, entries = ChunkCache(), table(100)
    early = weakref.ref(put(cache, entries, [0]))
    for number in range(1, 11):              # the first is thrown out
        put(cache, entries, [number])
    gc.collect()
    assert early() is None                   # nobody was reading
    guard = cache.guard
    held = weakref.ref(put(cache, entries, [11]))
    for number in range(12, 60):
        put(cache, entries, [number])
    assert entries[0][11] == 0
    gc.collect()
    assert held() is not None
    later = cache.guard
    del guard
    gc.collect()
    assert held() is None
    assert later is cache.guard


def test_a_long_chain_of_guards_comes_apart():
    cache, entries = ChunkCache(), table(100)
    guard = cache.guard
    for turn in range(20_000):
        put(cache, entries, [turn % 100])
    del guard
    gc.collect()
    assert cache.size <= 100


def test_a_child_process_begins_anew():
    cache, entries = ChunkCache(), table(4)
    put(cache, entries, [0])
    cache._lock.acquire()                    # as if another thread held it when this was forked
    cache.after_fork()
    put(cache, table(4), [0])
    assert cache.size == 10


def test_the_default_bound_is_a_share_of_memory(monkeypatch):
    monkeypatch.delitem(fuel.config.config['chunk_cache_bytes'], 'value')
    memory = os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES')
    assert 0 < ChunkCache().limit <= memory // 8
    monkeypatch.setenv('FUEL_CHUNK_CACHE_BYTES', '1.5 MiB')
    assert ChunkCache().limit == 3 * 2 ** 19
