"""Shared memory between server and client: what is free, and when."""
import gc
import multiprocessing
import os
import sys

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuel.wire.regions import MappedRegion, Places, Region

PAGE = 4096


@given(st.lists(st.tuples(st.booleans(), st.integers(1, 5 * PAGE)), max_size=60))
def test_places_never_overlap_and_all_of_them_come_back(steps):
    places = Places(32 * PAGE)
    taken = {}
    for take, number in steps:
        if take or not taken:
            start = places.take(number)
            pages = set(range((start or 0) // PAGE, (start or 0) // PAGE + -(-number // PAGE)))
            if start is None:
                # There is no gap that would have been large enough.
                free = sorted(set(range(32)) - set().union(*taken.values()))
                runs = ''.join('x' if page in free else ' ' for page in range(32)).split()
                assert max(map(len, runs), default=0) < len(pages)
                continue
            assert not pages & set().union(*taken.values())
            assert max(pages) < 32
            taken[start] = pages
        else:
            start = sorted(taken)[number % len(taken)]
            places.give_back(start)
            del taken[start]
        assert places.in_use == PAGE * sum(map(len, taken.values()))
    for start in taken:
        places.give_back(start)
    assert places.take(32 * PAGE) == 0


@pytest.fixture
def region():
    if sys.platform != 'linux':
        with pytest.raises(OSError, match='no shared memory'):
            Region(1 << 20)
        return
    made = Region(1 << 20)
    yield made
    made.close()


def test_what_is_written_in_one_mapping_is_read_in_the_other(region):
    mapped = MappedRegion(region.token())
    start = region.take(100)
    region.bytes[start:start + 100] = numpy.arange(100)
    array = mapped.lend(start, 100, 7)
    assert array.tolist() == list(range(100))
    array[:] = 5
    assert set(region.bytes[start:start + 100]) == {5}


def test_a_number_is_released_with_the_last_array_that_shares_the_memory(region):
    mapped = MappedRegion(region.token())
    array = mapped.lend(0, 64, 3)
    view = array.view('<f4').reshape(4, 4)[1:]
    buffer = memoryview(view)
    del array
    gc.collect()
    assert mapped.take_released() == []
    del view
    assert mapped.take_released() == []
    assert mapped.held == {3}
    del buffer
    assert mapped.take_released() == [3]
    assert mapped.held == set()
    assert mapped.take_released() == []


def test_arrays_outlive_the_region_and_the_mapping():
    region = Region(1 << 20)
    region.bytes[:5] = 9
    array = MappedRegion(region.token()).lend(0, 5, 1)
    region.close()
    del region
    gc.collect()
    assert array.tolist() == [9] * 5


def test_places_outside_are_refused(region):
    mapped = MappedRegion(region.token())
    for start, count in ((-1, 5), ((1 << 20) - 3, 5), (1 << 40, 1)):
        with pytest.raises(ValueError, match='has none'):
            mapped.lend(start, count, 1)


def test_the_region_of_nobody_is_not_found(region):
    token = region.token()
    for change in ({'pid': 2 ** 22 - 1}, {'name': 'other'}, {'machine': 'other'}, {'size': 5},
                   {'started': 1}, {'place': 0}, {'inode': 1}):
        with pytest.raises(OSError, match='cannot be reached'):
            MappedRegion({**token, **change})


def test_no_room_is_told(region):
    assert region.take(2 << 20) is None
    starts = [region.take(PAGE) for _ in range(256)]
    assert None not in starts
    assert region.take(1) is None


def test_memory_that_is_not_used_goes_back(region):
    start = region.take(1 << 19)
    region.bytes[start:start + (1 << 19)] = 1
    before = os.fstat(region._segment.descriptor).st_blocks
    assert before >= (1 << 19) // 512
    region.places.give_back(start)
    region.trim()
    assert os.fstat(region._segment.descriptor).st_blocks == before
    region.trim()
    assert os.fstat(region._segment.descriptor).st_blocks == 0
    start = region.take(1 << 19)
    region.bytes[start:start + (1 << 19)] = 1


def reader(token, ready, done):
    array = MappedRegion(token).lend(0, 5, 1)
    ready.set()
    done.wait(30)
    assert array.tolist() == [4] * 5


def test_another_process_reaches_the_region(region):
    context = multiprocessing.get_context('spawn')
    ready, done = context.Event(), context.Event()
    process = context.Process(target=reader, args=(region.token(), ready, done))
    process.start()
    assert ready.wait(30)
    region.bytes[:5] = 4
    done.set()
    process.join()
    assert process.exitcode == 0
