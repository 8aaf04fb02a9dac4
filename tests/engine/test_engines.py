"""What engines do with the steps of a stream: threads here, since they need no start."""
from __future__ import annotations

import json
import pickle
import threading

import numpy
import pytest

import fuel
from fuel.datasets import IndexableDataset
from fuel.exceptions import StateError
from fuel.schemes import ShuffledExampleScheme
from fuel.streams import DataStream
from fuel.testing.comparing import assert_same, copied, drawn
from fuel.transformers import (
    Cast,
    MultiThreading,
    SourceMapping,
    Transformer,
)
from fuel.transformers.image import RandomFixedSizeCrop
from tests.engine.chains import (
    SPREAD,
    WHOLE,
    batched_examples,
    batches,
    examples,
    iterated,
    numbers,
    plain,
)


@pytest.mark.parametrize('workers', [0, 1, 2, 7])
@pytest.mark.parametrize('chain', SPREAD)
def test_threads_change_nothing(chain, workers):
    expected = drawn(chain(), epochs=3)
    with MultiThreading(chain(), num_workers=workers) as stream:
        assert_same(drawn(stream, epochs=3), expected)


@pytest.mark.parametrize('chain', WHOLE)
def test_a_chain_runs_in_one_thread(chain):
    with MultiThreading(chain()) as stream:
        assert stream.plan.mode == 'chain'
        assert_same(drawn(stream, epochs=3), drawn(chain(), epochs=3))


@pytest.mark.parametrize('whole', [None, True])
@pytest.mark.parametrize('workers', [0, 1, 2])
@pytest.mark.parametrize('chain', [batches, batched_examples, examples, iterated])
def test_any_state_goes_on_anywhere(chain, workers, whole):
    if workers != 1 and (whole or chain is iterated):
        workers = 1
    expected = drawn(chain(), epochs=2)
    for taken in (0, 1, 3, len(expected[0])):
        stream = MultiThreading(chain(), num_workers=workers, whole_chain=whole)
        iterator = stream.get_epoch_iterator()
        assert_same([copied(next(iterator)) for _ in range(taken)], expected[0][:taken])
        state = json.loads(json.dumps(stream.state_dict()))
        assert state == iterator.state_dict()
        pair = pickle.dumps((stream, iterator))
        stream.close()
        # Into the bare chain, and into another number of workers.
        for other in (chain(), MultiThreading(chain(), num_workers=1 if chain is iterated else 3),
                      MultiThreading(chain(), num_workers=0)):
            other.load_state_dict(state)
            assert other.state_dict() == state
            assert_same(drawn(other, epochs=2), [expected[0][taken:], expected[1]])
            other.close()
        stream, iterator = pickle.loads(pair)
        assert_same([copied(data) for data in iterator], expected[0][taken:])
        assert_same(drawn(stream), expected[1:])
        stream.close()


def test_the_state_is_that_of_the_wrapped_stream():
    stream, bare = MultiThreading(batches(), num_workers=2), batches()
    iterator, other = stream.get_epoch_iterator(), bare.get_epoch_iterator()
    for _ in range(3):
        next(iterator), next(other)
        assert stream.state_dict() == bare.state_dict() == iterator.state_dict()
    for _ in iterator:
        next(other)
    next(other, None)
    assert stream.state_dict() == bare.state_dict()
    stream.close()


@pytest.mark.parametrize('chain', [batches, batched_examples])
def test_an_epoch_that_is_broken_off_leaves_nothing_in_the_next(chain):
    bare = chain()
    next(bare.get_epoch_iterator())
    expected = drawn(bare)
    for workers, whole in ((2, None), (1, True)):
        with MultiThreading(chain(), num_workers=workers, whole_chain=whole) as stream:
            next(stream.get_epoch_iterator())
            assert_same(drawn(stream), expected)


def test_a_random_state_goes_on_from_where_the_program_stood():
    def chain():
        return RandomFixedSizeCrop(plain(), (5, 5), which_sources=('image',),
                                   rng=numpy.random.RandomState(5))
    bare = chain()
    next(bare.get_epoch_iterator())
    with MultiThreading(chain()) as stream:
        next(stream.get_epoch_iterator())
        assert_same(drawn(stream, epochs=2), drawn(bare, epochs=2))


def test_two_epochs_side_by_side():
    expected = drawn(batches(), epochs=2)
    for persistent in (False, True):
        with MultiThreading(batches(), num_workers=2, persistent_workers=persistent) as stream:
            first, second = stream.get_epoch_iterator(), stream.get_epoch_iterator()
            for step in range(len(expected[0])):
                assert_same(copied(next(first)), expected[0][step])
                assert_same(copied(next(second)), expected[1][step])
            assert next(first, None) is next(second, None) is None


def test_eight_threads_draw_from_one_iterator():
    for workers in (0, 3):
        with MultiThreading(numbers(400), num_workers=workers) as stream:
            assert stream.thread_safe
            iterator = stream.get_epoch_iterator()
            found = [[] for _ in range(8)]

            def draw(mine, iterator=iterator):
                mine.extend(int(number) for number, in iterator)

            threads = [threading.Thread(target=draw, args=(mine,)) for mine in found]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert sorted(number for mine in found for number in mine) == list(range(400))


def test_any_order_gives_each_step_once_and_goes_on_exactly():
    first = threading.Event()

    def slow(number):
        if number[0] == 0:
            first.wait(10)
        return number

    stream = MultiThreading(SourceMapping(numbers(20, 1), slow), num_workers=2, in_order=False)
    iterator = stream.get_epoch_iterator()
    found = [int(next(iterator)[0][0]) for _ in range(3)]
    assert 0 not in found
    state = json.loads(json.dumps(stream.state_dict()))
    assert state == iterator.state_dict()
    first.set()
    assert sorted(found + [int(number[0]) for number, in iterator]) == list(range(20))
    stream.close()
    for options in ({'num_workers': 3, 'in_order': False}, {'num_workers': 2}):
        other = MultiThreading(SourceMapping(numbers(20, 1), slow), **options)
        other.load_state_dict(state)
        assert other.state_dict() == state
        assert sorted(found + [int(number[0]) for number, in other.get_epoch_iterator()]) == list(
            range(20))
        assert len(drawn(other)[0]) == 20
        other.close()
    with pytest.raises(StateError, match='in_order=False'):
        SourceMapping(numbers(20, 1), slow).load_state_dict(state)


@pytest.mark.parametrize('given', [[1], [1, 2, 4], [3, 7, 19], list(range(1, 20))])
@pytest.mark.parametrize('in_order', [False, True])
@pytest.mark.parametrize('workers', [0, 1, 2, 3])
def test_steps_that_were_given_before_their_time_do_not_come_again(workers, in_order, given):
    stream = numbers(20, 1)
    stream.get_epoch_iterator()
    state = {'version': 1, 'class': 'InAnyOrder', 'given': given,
             'data_stream': stream.state_dict()}
    with MultiThreading(numbers(20, 1), num_workers=workers, in_order=in_order) as threads:
        threads.load_state_dict(state)
        if not workers:
            with pytest.raises(StateError, match='at least one worker'):
                threads.get_epoch_iterator()
            return
        found = [int(number[0]) for number, in threads.get_epoch_iterator()]
        assert sorted(found) == [number for number in range(20) if number not in given]
        assert found == sorted(found) or not in_order
        assert len(drawn(threads)[0]) == 20


def test_a_pair_of_any_order_can_be_pickled():
    stream = MultiThreading(numbers(20, 1), num_workers=2, in_order=False)
    iterator = stream.get_epoch_iterator()
    found = [int(next(iterator)[0][0]) for _ in range(5)]
    stream, iterator = pickle.loads(pickle.dumps((stream, iterator)))
    assert sorted(found + [int(number[0]) for number, in iterator]) == list(range(20))
    stream.close()


def test_what_is_ahead_is_bounded():
    done = []

    def note(number):
        done.append(int(number[0]))
        return number

    for options, most in (({'prefetch_factor': 3, 'num_workers': 2}, 6),
                          ({'max_store': 2, 'num_workers': 2}, 2),
                          ({'max_bytes': 24, 'prefetch_factor': 9, 'num_workers': 1}, 3)):
        done.clear()
        stream = MultiThreading(SourceMapping(numbers(60, 1), note), **options)
        iterator = stream.get_epoch_iterator()
        for taken in range(1, 30):
            next(iterator)
            assert len(done) <= taken + most
        stream.close()


def test_get_data_gives_the_next_of_the_newest_epoch():
    with MultiThreading(numbers(6, 2), num_workers=2) as stream:
        with pytest.raises(ValueError, match='get_epoch_iterator first'):
            stream.get_data()
        stream.get_epoch_iterator()
        assert_same(stream.get_data(), (numpy.arange(2),))
        with pytest.raises(ValueError, match='takes no requests'):
            stream.get_data([1])


def test_transformers_above_and_dicts():
    expected = drawn(Cast(batches(), 'float32', which_sources=('image',)))
    with MultiThreading(batches(), num_workers=2) as inner:
        assert_same(drawn(Cast(inner, 'float32', which_sources=('image',))), expected)
        first = next(inner.get_epoch_iterator(as_dict=True))
        assert list(first) == ['image', 'number']
        assert inner.sources == ('image', 'number')
        assert inner.axis_labels == batches().axis_labels
        assert len(inner) == len(batches())


def test_threads_end():
    before = threading.active_count()
    stream = MultiThreading(numbers(100, 1), num_workers=3)
    for number, _ in enumerate(stream.get_epoch_iterator()):
        if number == 3:
            break
    # The iterator of a loop that was broken off is gone, and so are its threads.
    assert threading.active_count() == before
    kept = MultiThreading(numbers(100, 1), num_workers=3, persistent_workers=True)
    drawn(kept)
    assert threading.active_count() == before + 3
    kept.close()
    assert threading.active_count() == before
    drawn(kept)
    del kept
    assert threading.active_count() == before


def test_worker_info():
    found = set()

    def note(number):
        info = fuel.get_worker_info()
        found.add((info.id, info.num_workers, type(info.dataset).__name__, info.seed))
        return number

    with MultiThreading(SourceMapping(numbers(50, 1), note), num_workers=2) as stream:
        drawn(stream)
    assert {entry[:3] for entry in found} <= {(0, 2, 'IndexableDataset'),
                                              (1, 2, 'IndexableDataset')}
    assert fuel.get_worker_info() is None


class Looks(Transformer):
    """A transformer of a program that looks at two steps."""

    def get_data(self, request=None):
        """Return the next step but one."""
        next(self.child_epoch_iterator)
        return next(self.child_epoch_iterator)

    def _state(self):
        return {}


@pytest.mark.parametrize('workers', [1, 2])
def test_transformers_of_programs(workers):
    expected = drawn(Looks(numbers(12, 2)), epochs=2)
    with MultiThreading(Looks(numbers(12, 2)), num_workers=workers) as stream:
        assert_same(drawn(stream, epochs=2), expected)


def test_shuffled_examples_in_groups():
    stream = DataStream(IndexableDataset({'number': numpy.arange(500)}),
                        iteration_scheme=ShuffledExampleScheme(500))
    expected = drawn(stream)
    again = DataStream(IndexableDataset({'number': numpy.arange(500)}),
                       iteration_scheme=ShuffledExampleScheme(500))
    with MultiThreading(again, num_workers=2, max_store=1000) as threads:
        assert_same(drawn(threads), expected)
