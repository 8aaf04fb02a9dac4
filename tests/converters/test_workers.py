"""Work in processes, in order."""
import contextlib
import logging
import os
import threading

import numpy
import pytest

from fuel.converters._conversion import workers as _workers
from fuel.converters._conversion.workers import in_order
from fuel.exceptions import ConversionError, WorkerLostError
from tests.converters import work
from tests.engine.watching import descendants, ended, nothing_left, program

pytestmark = pytest.mark.timeout(60)

several = pytest.mark.parametrize('workers', [0, 1, 2])


@pytest.fixture
def no_processes(monkeypatch):
    """Fail where processes are started."""
    def start(function, workers):
        raise AssertionError(f'{workers} processes were started')
    monkeypatch.setattr(_workers, '_pool', start)


@several
def test_results_come_in_the_order_of_items(workers):
    with nothing_left():
        assert list(in_order(work.square, range(1000), workers=workers, group=7)) == [
            number * number for number in range(1000)]


@several
def test_results_of_any_kind(workers):
    found = list(in_order(work.mixed, range(48), workers=workers, group=3))
    for got, expected in zip(found, map(work.mixed, range(48)), strict=True):
        assert type(got) is type(expected)
        if isinstance(expected, list):
            assert all(map(numpy.array_equal, got, expected))
        else:
            assert numpy.array_equal(got, expected)


@pytest.mark.parametrize('room', [1, 1 << 30])
def test_arrays_belong_to_the_caller(room, monkeypatch):
    monkeypatch.setattr(_workers, '_AHEAD_BYTES', room)
    kept = []
    for array in in_order(work.picture, range(150), workers=2, group=4):
        array[0] = 255
        kept.append(array)
    for number, array in enumerate(kept):
        assert (array[0] == 255).all() and (array[1:] == number % 251).all()


def test_work_is_done_in_other_processes():
    found = list(in_order(work.with_process, range(200), workers=2, group=5))
    here = [number for number, process in found if process == os.getpid()]
    assert here == list(range(10))
    assert len({process for _, process in found}) == 3


def test_a_few_items_start_no_processes(no_processes):
    assert list(in_order(work.square, range(64), workers=2)) == [n * n for n in range(64)]
    assert list(in_order(work.square, iter(()), workers=2)) == []
    with pytest.raises(AssertionError, match='2 processes'):
        list(in_order(work.square, range(65), workers=2))


def test_a_single_processor_starts_no_processes(no_processes, monkeypatch):
    monkeypatch.setattr(_workers, 'usable_cpus', lambda: 1)
    assert list(in_order(work.square, range(500))) == [n * n for n in range(500)]


@pytest.mark.parametrize('error', [OSError, MemoryError])
@pytest.mark.parametrize(('processors', 'expected'), [(2, 2), (64, 8)])
def test_a_system_that_starts_no_processes(processors, expected, error, monkeypatch, caplog):
    asked = []

    def start(function, workers):
        asked.append(workers)
        raise error('no more processes')
    monkeypatch.setattr(_workers, '_pool', start)
    monkeypatch.setattr(_workers, 'usable_cpus', lambda: processors)
    assert list(in_order(work.square, range(500))) == [n * n for n in range(500)]
    assert asked == [expected]
    assert 'no more processes' in caplog.text


def test_processors_are_those_that_may_be_used():
    assert 1 <= _workers.usable_cpus() <= os.cpu_count()


def test_items_are_drawn_as_they_are_needed():
    drawn = []

    def items():
        for number in range(400):
            drawn.append(number)
            yield b'x' * (1 << 20)
    ahead = []
    for number, size in enumerate(in_order(work.length, items(), workers=2, group=2)):
        assert size == 1 << 20
        ahead.append(len(drawn) - number)
    # Three tasks of one item for each of two workers, and the next one.
    assert max(ahead) <= 8
    assert len(ahead) == 400


def test_small_items_are_not_drawn_without_end():
    drawn = []
    results = in_order(work.square, (drawn.append(n) or n for n in range(5000)), workers=2,
                       group=32)
    for number, _ in enumerate(results):
        assert len(drawn) - number <= 32 * 8


@several
def test_an_error_comes_after_the_results_before_it(workers):
    found = []
    with nothing_left(), pytest.raises(ConversionError) as caught:
        for result in in_order(work.fails_at_70, range(400), workers=workers, group=9):
            found.append(result)
    assert found == list(range(70))
    assert str(caught.value) == 'archive, member 70: no picture'
    if workers:
        assert 'in fails_at_70' in str(caught.value.__cause__)


def test_an_error_of_any_class():
    with pytest.raises(work.OddError, match='20 at the end') as caught:
        list(in_order(work.fails_oddly, range(50), workers=2, group=3))
    assert caught.value.place == 'the end'


@several
def test_an_error_of_the_items(workers):
    def items():
        yield from range(50)
        raise ConversionError('the archive ends')
    found = []
    with pytest.raises(ConversionError, match='the archive ends'):
        for result in in_order(work.square, items(), workers=workers, group=4):
            found.append(result)
    assert found == [n * n for n in range(50)]


def test_an_error_of_the_items_as_soon_as_processes_are_needed():
    def items():
        yield from range(8)
        raise ConversionError('the archive ends')
    with pytest.raises(ConversionError, match='the archive ends'):
        list(in_order(work.square, items(), workers=2, group=4))


def test_the_error_of_an_earlier_item_comes_before_that_of_the_items():
    def items():
        yield from range(75)
        raise OSError('the archive ends')
    with pytest.raises(ConversionError, match='member 70'):
        list(in_order(work.fails_at_70, items(), workers=2, group=30))


def test_a_function_that_cannot_be_sent():
    lock = threading.Lock()

    def locked(number):
        with lock:
            return number
    with nothing_left(), pytest.raises(TypeError, match=r"locked \(its variable 'lock'\) cannot "
                                                        'be sent to worker processes'):
        list(in_order(locked, range(50), workers=2, group=3))


def test_a_local_function_is_sent():
    factor = 3
    assert list(in_order(lambda number: number * factor, range(50), workers=1, group=3)) == [
        number * 3 for number in range(50)]


def test_an_item_that_cannot_be_sent():
    items = [*range(30), threading.Lock(), *range(30)]
    found = []
    with nothing_left(), pytest.raises(TypeError, match=(
            r'items 30 to 32 cannot be sent to a worker: .*lock.*\. Give paths or bytes')):
        for result in in_order(work.mixed, items, workers=2, group=3):
            found.append(result)
    assert len(found) == 30


def test_a_result_that_cannot_be_sent():
    with nothing_left(), pytest.raises(TypeError, match='cannot be sent to another process'):
        list(in_order(work.cannot_be_sent_back, range(50), workers=2, group=3))


def test_a_closed_generator_leaves_nothing():
    with nothing_left():
        results = in_order(work.picture, range(10 ** 9), workers=2, group=2)
        for _ in range(30):
            next(results)
        assert descendants()
        results.close()


def test_a_forgotten_generator_leaves_nothing():
    with nothing_left():
        for number, _ in enumerate(in_order(work.square, range(10 ** 9), workers=2, group=2)):
            if number == 30:
                break


def test_an_error_of_the_consumer_leaves_nothing():
    with nothing_left(), contextlib.suppress(OSError), contextlib.closing(
            in_order(work.square, range(10 ** 9), workers=2, group=2)) as results:
        for result in results:
            if result > 1000:
                raise OSError('the disk is full')


def test_a_worker_that_dies_again_and_again(caplog):
    found = []
    with nothing_left(), pytest.raises(WorkerLostError, match='killed by signal 9.*items 18 to 20'):
        for number in in_order(work.dies, ((n, os.getpid()) for n in range(60)), workers=2,
                               group=3):
            found.append(number)
    assert found == list(range(18))


def test_a_worker_that_dies_once(tmp_path, caplog):
    items = [(number, str(tmp_path / 'died')) for number in range(60)]
    with caplog.at_level(logging.WARNING), nothing_left():
        assert list(in_order(work.dies_once, items, workers=2, group=3)) == list(range(60))
    assert 'another one takes its place' in caplog.text


SCRIPT = '''
import itertools
import os
import sys
from fuel.converters._conversion.workers import in_order
from tests.engine.watching import descendants

print('once', flush=True)
FACTOR = 3


def triple(number):
    return number * FACTOR


assert list(in_order(triple, range(300), workers=2, group=5)) == [3 * n for n in range(300)]
results = in_order(triple, itertools.count(), workers=2, group=5)
for number in range(100):
    assert next(results) == 3 * number
print(*descendants(), flush=True)
sys.stdin.read()
'''


def test_a_script_without_a_guard_that_is_killed(tmp_path):
    with program(SCRIPT, tmp_path) as process:
        assert process.stdout.readline() == 'once\n'
        workers = [int(number) for number in process.stdout.readline().split()]
        assert len(workers) >= 2
        process.kill()
        assert ended(workers, 5) == []
        assert process.communicate()[1] == ''


@pytest.mark.parametrize('wrong', [{'workers': -1}, {'workers': True}, {'group': 0}])
def test_numbers_that_make_no_sense(wrong):
    with pytest.raises(ValueError, match=f'in_order: expected {next(iter(wrong))} to be at least'):
        in_order(work.square, range(3), **wrong)
