"""Engines when something goes wrong: with threads, which need no start."""
from __future__ import annotations

import signal
import threading

import numpy
import pytest

from fuel.datasets import IndexableDataset
from fuel.exceptions import WorkerTimeoutError
from fuel.schemes import SequentialScheme
from fuel.streams import DataStream
from fuel.testing.comparing import drawn
from fuel.transformers import (
    Cast,
    MultiProcessing,
    MultiThreading,
    SourceMapping,
    Tolerant,
    Transformer,
)
from fuel.transformers.image import RandomFixedSizeCrop
from tests.engine.chains import WHOLE, batched_examples, iterated, numbers, plain


def fail_at(bad):
    """Return a function that raises for some numbers."""
    def check(number):
        if int(numpy.max(number)) in bad:
            raise ValueError(f'bad number {int(numpy.max(number))}')
        return number
    return check


def until_the_end(iterator):
    """Return what an iterator gives, errors in between."""
    found = []
    for _ in range(1000):
        try:
            found.append(int(numpy.max(next(iterator)[0])))
        except StopIteration:
            return found
        except (ValueError, OSError) as error:
            found.append(str(error))
    raise AssertionError('the epoch does not end')


@pytest.mark.parametrize('workers', [0, 1, 3])
@pytest.mark.parametrize('size', [None, 1])
def test_errors_come_in_their_place_and_the_epoch_goes_on(size, workers):
    stream = MultiThreading(SourceMapping(numbers(40, size), fail_at({3, 4, 17, 39})),
                            num_workers=workers)
    expected = [f'bad number {number}' if number in {3, 4, 17, 39} else number
                for number in range(40)]
    assert until_the_end(stream.get_epoch_iterator()) == expected
    stream.close()


def test_a_tolerant_transformer_works_above_and_below():
    bad = SourceMapping(numbers(40), fail_at({3, 17}))
    expected = [[(number,) for number in range(40) if number not in {3, 17}]]
    for stream in (Tolerant(MultiThreading(bad, num_workers=2)),
                   MultiThreading(Tolerant(bad), num_workers=2), MultiThreading(Tolerant(bad))):
        assert [[(int(number),) for number, in epoch] for epoch in drawn(stream)] == expected
        stream.close()


class Missing(IndexableDataset):
    """A data set whose file is away for a while."""

    times = 1

    def get_data(self, state=None, request=None):
        """Return data, if the file is there."""
        if request == [5] and self.times:
            self.times -= 1
            raise FileNotFoundError('the disk is away')
        return super().get_data(state, request)


@pytest.mark.parametrize('workers', [0, 1, 2])
@pytest.mark.parametrize('times', [1, 2, 3])
def test_data_that_could_not_be_reached_are_asked_for_once_more(times, workers):
    dataset = Missing({'number': numpy.arange(8)})
    dataset.times = times
    stream = MultiThreading(DataStream(dataset, iteration_scheme=SequentialScheme(8, 1)),
                            num_workers=workers)
    problems = ['the disk is away'] * min(times, 2)
    rest = [5] if times == 1 else []
    assert until_the_end(stream.get_epoch_iterator()) == [0, 1, 2, 3, 4, *problems, *rest, 6, 7]
    stream.close()


def test_a_function_that_returns_nothing_is_named():
    class Forgetful(Transformer):
        def transform_batch(self, batch):
            pass

    for workers in (0, 2):
        stream = MultiThreading(Forgetful(numbers(4, 2)), num_workers=workers)
        with pytest.raises(ValueError, match=r'returned None for step 0 of epoch 0'):
            next(stream.get_epoch_iterator())
        stream.close()


def test_the_end_may_come_from_a_transformer():
    class Stops(Transformer):
        def transform_batch(self, batch):
            if batch[0][0] == 4:
                raise StopIteration
            return batch

    for workers in (0, 2):
        with MultiThreading(Stops(numbers(8, 1)), num_workers=workers) as stream:
            assert len(drawn(stream)[0]) == 4


def test_a_stuck_thread_is_an_error_that_shows_where_it_is():
    release = threading.Event()

    def wait_for_ever(number):
        if number[0] == 2:
            release.wait()
        return number

    stream = MultiThreading(SourceMapping(numbers(8, 1), wait_for_ever), num_workers=2, timeout=0.2)
    iterator = stream.get_epoch_iterator()
    assert [int(next(iterator)[0][0]) for _ in range(2)] == [0, 1]
    with pytest.raises(WorkerTimeoutError,
                       match=r'step 2 of epoch 0 \(request \[2\]\) within 0.2 s') as caught:
        next(iterator)
    assert 'wait_for_ever' in str(caught.value)
    # It is not lost.
    release.set()
    assert [int(number[0]) for number, in iterator] == [2, 3, 4, 5, 6, 7]
    stream.close()


def test_control_c_loses_nothing(monkeypatch):
    stream = MultiThreading(numbers(30, 1), num_workers=2)
    iterator = stream.get_epoch_iterator()
    found = [int(next(iterator)[0][0]) for _ in range(3)]
    desk = iterator._session.desk
    wait = desk.pool.wait
    raised = []

    def interrupted(timeout):
        if len(raised) < 5:
            raised.append(1)
            raise KeyboardInterrupt
        return wait(timeout)

    monkeypatch.setattr(desk.pool, 'wait', interrupted)
    for _ in range(100):
        try:
            found.extend(int(number[0]) for number, in iterator)
            break
        except KeyboardInterrupt:
            continue
    assert found == list(range(30))
    assert len(raised) == 5
    stream.close()


def test_signals_at_any_time_lose_nothing():
    signals, armed = [0], [False]

    def stop(number, frame):
        if armed[0]:
            signals[0] += 1
            raise KeyboardInterrupt

    stream = MultiThreading(numbers(4000, 1), num_workers=2)
    iterator = stream.get_epoch_iterator()
    handler = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, 0.001, 0.0007)
    try:
        while iterator.step < 4000:
            step = iterator.step
            try:
                armed[0] = True
                number, = next(iterator)
                armed[0] = False
            except KeyboardInterrupt:
                armed[0] = False
                # It was handed out, or it comes again.
                assert iterator.step in (step, step + 1)
            else:
                assert (int(number[0]), iterator.step) == (step, step + 1)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, handler)
    assert next(iterator, None) is None
    assert signals[0] > 3
    stream.close()


@pytest.mark.parametrize(('options', 'match'), [
    ({'num_workers': -1}, 'num_workers to be an integer of at least 0; got -1'),
    ({'num_workers': True}, 'num_workers'),
    ({'max_store': 0}, 'max_store to be an integer of at least 1; got 0'),
    ({'prefetch_factor': 0}, 'prefetch_factor'),
    ({'timeout': -1}, 'timeout to be a number of seconds'),
    ({'timeout': float('nan')}, 'timeout'),
    ({'max_bytes': 'much'}, "max_bytes: .*got 'much'"),
    ({'hand_out': 'lend'}, "'copy' or 'borrow'; got 'lend'"),
    ({'whole_chain': True, 'num_workers': 2}, 'one worker .*num_workers=2'),
])
def test_bad_options_are_named(options, match):
    with pytest.raises(ValueError, match=f'MultiProcessing: .*{match}'):
        MultiProcessing(numbers(4, 2), **options)


def test_what_cannot_be_shared_says_so():
    with pytest.raises(ValueError, match=r'IterableDataset gives .*num_workers=1'):
        MultiThreading(iterated(), num_workers=2)
    with pytest.raises(ValueError, match=r'Merge .*around each of the streams'):
        MultiThreading(WHOLE[1](), num_workers=2)
    with pytest.raises(ValueError, match='One of the two is enough'):
        MultiThreading(Cast(MultiThreading(numbers(4, 2)), 'float32'))
    with pytest.raises(ValueError, match='in_order=False .*Put Batch around'):
        MultiThreading(batched_examples(), num_workers=2, in_order=False)
    with pytest.raises(TypeError, match='worker_init_fn'):
        MultiProcessing(numbers(4, 2), worker_init_fn=3)


def test_a_random_state_in_the_way_is_told(caplog):
    chain = RandomFixedSizeCrop(plain(), (5, 5), which_sources=('image',),
                                rng=numpy.random.RandomState(5))
    stream = MultiThreading(chain, num_workers=2)
    assert 'rng=' in caplog.text
    assert stream.plan.where(chain) == 'here'
    assert stream.plan.where(chain.data_stream) == 'workers'
