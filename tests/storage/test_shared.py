"""Arrays that processes share, and their registry, within one process."""
import gc
import json
import os
import threading

import numpy
import pytest

from fuel.storage.sharing.arrays import SharedArrays, shared_arrays
from fuel.storage.sharing.blocks import SharedBlock
from fuel.storage.sharing.flat import flatten, flatten_into, unflatten
from tests.storage.shared_memory import KINDS, numbers, open_files

both_kinds = pytest.mark.parametrize('kind', KINDS)

DTYPES = [
    'u1', '>f4', '<c16', '?', 'S5', '<U3', 'M8[ns]', 'm8[D]', 'V16', 'f2',
    [('a', '>i2'), ('b', 'f8', (2, 3))],
    numpy.dtype([('a', 'u1'), ('b', 'f8'), ('c', [('d', 'S3')])], align=True),
    {'names': ['b', 'a'], 'formats': ['u1', '<i4'], 'offsets': [7, 1], 'itemsize': 12},
    numpy.dtype('u1', metadata={'enum': {'one': 1}})]


@both_kinds
def test_arrays_of_all_dtypes(kind):
    rng = numpy.random.default_rng(0)
    arrays = [numpy.frombuffer(rng.bytes(6 * numpy.dtype(dtype).itemsize), dtype).reshape(2, 3)
              if dtype not in ('?', '<U3') else rng.integers(0, 2, (2, 3)).astype(dtype)
              for dtype in DTYPES]
    shared = SharedArrays.publish({'x': arrays, 'none': [], 'y': [numpy.arange(7)[::-2]]}, kind)
    shared.seal()
    found = SharedArrays.attach(json.loads(json.dumps(shared.token())))
    assert list(found.arrays) == list(shared.arrays) == ['x', 'none', 'y']
    assert found.nbytes == shared.nbytes and found.arrays['none'] == ()
    assert found.arrays['y'][0].tolist() == [6, 4, 2, 0]
    for one, other in ((shared, found), (found, shared)):
        for array, mine, theirs in zip(arrays, one.arrays['x'], other.arrays['x'], strict=True):
            assert mine.dtype == theirs.dtype == array.dtype and mine.shape == (2, 3)
            assert mine.tobytes() == theirs.tobytes()
            assert repr(mine.tolist()) == repr(array.tolist())  # what lies between fields is lost
            assert mine.ctypes.data % 64 == 0
            assert not mine.flags.writeable


@both_kinds
def test_arrays_are_filled_by_pieces(kind):
    shared = SharedArrays.publish({'x': [('<f4', (10, 3))], 'y': [(numpy.int64, (10,)), ('?', ())]},
                                  kind)
    x, (y, flag) = shared.arrays['x'][0], shared.arrays['y']
    assert not x.any() and not y.any() and not flag.any()
    for start in range(0, 10, 4):
        x[start:start + 4] = numpy.arange(start, min(start + 4, 10))[:, None]
    y[:] = range(10)
    flag[...] = True
    with pytest.raises(ValueError, match='call seal'):
        shared.token()
    shared.seal()
    shared.seal()
    for array in (x, y, flag):
        with pytest.raises(ValueError, match='read-only'):
            array[...] = 0
    found = SharedArrays.attach(shared.token()).arrays
    assert found['x'][0].tolist() == [[row] * 3 for row in range(10)]
    assert found['y'][0].tolist() == list(range(10)) and found['y'][1].item() is True


@both_kinds
def test_ragged_sources(kind):
    images = [numpy.full((number % 3 + 1, number), number) for number in range(9)]
    words = ['some', '', 'wörds']
    shapes = numpy.array([image.shape for image in images])
    offsets = numpy.concatenate([[0], shapes.prod(axis=1).cumsum()])
    shared = SharedArrays.publish({
        'images': [(int, (int(offsets[-1]),)), offsets, ('i8', shapes.shape)],
        'words': [array for array in flatten(words) if array is not None]}, kind)
    for first in range(0, 9, 4):
        flatten_into(images[first:first + 4], *shared.arrays['images'], first)
    shared.seal()
    found = SharedArrays.attach(shared.token())
    for one, other in zip(unflatten(*found.arrays['images']), images, strict=True):
        assert numpy.array_equal(one, other) and not one.flags.writeable
    assert unflatten(*found.arrays['words']).tolist() == words


def test_objects_are_refused():
    with pytest.raises(TypeError, match="source 'x': expected arrays without objects; .*Flatten"):
        SharedArrays.publish({'x': [numpy.array([None])]})
    with pytest.raises(TypeError, match="source 'y'"):
        SharedArrays.publish({'y': [(object, (3,))]})


def test_lack_of_memory_is_said_for_all_of_it():
    with pytest.raises(MemoryError, match=r'All of it takes 1048576\.0 GiB'):
        SharedArrays.publish({'x': [('u1', (1 << 50,))]}, purpose='All of it')


@pytest.mark.parametrize('token', [None, {}, {'arrays': {}}, {'arrays': {}, 'block': None}])
def test_nonsense_finds_nothing(token):
    assert SharedArrays.attach(token) is None


def test_what_is_in_use_outlives_the_close():
    shared = numbers()
    array, token = shared.arrays['x'][0], shared.token()
    shared.close()
    shared.close()
    assert shared.closed and dict(shared.arrays) == {}
    assert SharedArrays.attach(token) is None
    assert array.sum() == 499500


# The registry.

def forbidden():
    raise AssertionError('built twice')


@both_kinds
def test_users_of_one_key_share_and_the_last_one_releases(kind):
    before = open_files()
    first = shared_arrays(('file', 1, kind), lambda: numbers(kind))
    second = shared_arrays(('file', 1, kind), forbidden)
    other = shared_arrays(('file', 2, kind), lambda: numbers(kind, 5))
    assert second is first and other is not first
    token = first.token()
    del first
    assert shared_arrays(('file', 1, kind), forbidden) is second
    assert SharedArrays.attach(token) is not None
    del second, other
    gc.collect()
    assert SharedArrays.attach(token) is None
    assert open_files() == before
    again = shared_arrays(('file', 1, kind), lambda: numbers(kind, 3))
    assert again.arrays['x'][0].tolist() == [0, 1, 2]


def test_what_is_built_is_sealed_and_what_is_closed_is_built_again():
    first = shared_arrays('key', lambda: SharedArrays.publish({'x': [numpy.arange(3)]}))
    assert not first.arrays['x'][0].flags.writeable
    first.close()
    assert shared_arrays('key', lambda: numbers(count=4)).arrays['x'][0].sum() == 6


def test_a_build_that_fails_is_tried_again():
    with pytest.raises(ZeroDivisionError):
        shared_arrays('failing', lambda: 1 / 0)
    assert shared_arrays('failing', numbers).arrays['x'][0].sum() == 499500


def test_a_build_may_ask_for_what_it_builds():
    inner = []

    def build():
        inner.append(shared_arrays('nested', numbers))
        return inner[0]

    assert shared_arrays('nested', build) is inner[0]


def run_threads(*works):
    results = [None] * len(works)

    def run(place, work):
        results[place] = work()

    threads = [threading.Thread(target=run, args=case, daemon=True) for case in enumerate(works)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return results


def test_threads_build_once():
    built, barrier = [], threading.Barrier(8)

    def build():
        built.append(1)
        return numbers()

    def work():
        barrier.wait(60)
        return shared_arrays('threads', build)

    results = run_threads(*[work] * 8)
    assert built == [1] and len(set(map(id, results))) == 1 and results[0] is not None


def test_different_keys_are_built_at_the_same_time():
    both = threading.Barrier(2)

    def work(key):
        def build():
            both.wait(60)                           # the other one must be here as well
            return numbers()
        return shared_arrays(key, build)

    first, second = run_threads(lambda: work('one'), lambda: work('two'))
    assert first is not None and second is not None and first is not second


@pytest.mark.filterwarnings('ignore:.*multi-threaded.*:DeprecationWarning')
def test_a_child_neither_waits_for_threads_of_its_parent_nor_loses_what_is_shared():
    shared, building, go_on = shared_arrays('before', numbers), threading.Event(), threading.Event()

    def slow():
        building.set()
        assert go_on.wait(60)
        return numbers()

    thread = threading.Thread(target=shared_arrays, args=('slow', slow))
    thread.start()
    assert building.wait(60)
    pid = os.fork()
    if not pid:
        same = shared_arrays('before', forbidden) is shared
        os._exit(0 if same and shared_arrays('slow', numbers).arrays['x'][0].sum() == 499500
                 else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    go_on.set()
    thread.join(60)
    assert SharedArrays.attach(shared.token()) is not None  # the child has closed only its own


@both_kinds
def test_a_child_reads_but_does_not_write_what_is_not_sealed(kind):
    block = SharedBlock.create(8, kind)
    block.array('u1', 8)[:] = 3
    pid = os.fork()
    if not pid:
        status = 0
        try:
            array = block.array('u1', 8)
            assert array.tolist() == [3] * 8 and not array.flags.writeable
            with pytest.raises(ValueError, match='inherited by fork'):
                block.seal()
            block.close()
        except BaseException:
            status = 1
        os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    block.seal()
    assert SharedBlock.attach(block.token()).array('u1', 8).tolist() == [3] * 8
