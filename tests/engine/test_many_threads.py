"""Several threads that draw from one iterator, or from one stream."""
import contextlib
import threading

import numpy
import pytest

from fuel.testing import assert_same
from fuel.testing.comparing import drawn
from fuel.transformers import MultiProcessing, MultiThreading
from tests.engine import engines

pytestmark = pytest.mark.timeout(120)


def in_threads(count, work):
    """Call a function in several threads at once, with their numbers; raise what they raised."""
    errors = []

    def guarded(number):
        try:
            work(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(100)
    assert not any(thread.is_alive() for thread in threads)
    assert errors == []


@pytest.mark.parametrize('kwargs', [{}, {'in_order': False}, {'max_store': 2}], ids=str)
@pytest.mark.parametrize('workers', [0, 1, 3])
@pytest.mark.parametrize('cls', [MultiProcessing, MultiThreading])
def test_eight_threads_get_each_batch_once(cls, workers, kwargs):
    with contextlib.closing(cls(engines.in_order(1200, 3), num_workers=workers,
                                **kwargs)) as stream:
        iterator = stream.get_epoch_iterator()
        got = [[] for _ in range(8)]
        in_threads(8, lambda number: got[number].extend(iterator))
    every = numpy.concatenate([x for part in got for x, in part])
    assert sorted(every.tolist()) == list(range(1200))
    assert all(len(x) == 3 for part in got for x, in part)


@pytest.mark.parametrize('cls', [MultiProcessing, MultiThreading])
def test_each_thread_may_have_an_epoch_of_its_own(cls):
    expected = drawn(engines.with_random_numbers(), 8)
    with contextlib.closing(cls(engines.with_random_numbers(), num_workers=2)) as stream:
        iterators = [stream.get_epoch_iterator() for _ in range(8)]
        got = [[] for _ in range(8)]
        in_threads(8, lambda number: got[number].extend(iterators[number]))
    assert_same(got, expected)
