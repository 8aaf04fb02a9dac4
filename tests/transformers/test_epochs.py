"""Epochs that are shorter or longer than those of the wrapped stream."""
import numpy
import pytest

from fuel.datasets import IndexableDataset, IterableDataset
from fuel.exceptions import SupersededIteratorError
from fuel.schemes import (
    SequentialExampleScheme,
    SequentialScheme,
    ShuffledExampleScheme,
    ShuffledScheme,
)
from fuel.streams import DataStream
from fuel.transformers import Filter, Repeat, Skip, Take


def examples_of(count=6, scheme=SequentialExampleScheme):
    return DataStream(IndexableDataset({'x': numpy.arange(count)}, axis_labels={'x': ('batch',)}),
                      iteration_scheme=scheme(count))


def batches_of(count=6, size=2, scheme=SequentialScheme):
    return DataStream(IndexableDataset({'x': numpy.arange(count)}),
                      iteration_scheme=scheme(count, size))


def numbers(stream):
    return [int(data[0]) for data in stream.get_epoch_iterator()]


def lists(stream):
    return [data[0].tolist() for data in stream.get_epoch_iterator()]


# Skip.

@pytest.mark.parametrize('count', [0, 1, 5, 6, 7])
def test_skip(count):
    stream = Skip(examples_of(), count)
    assert numbers(stream) == numbers(stream) == list(range(6))[count:]
    assert len(stream) == stream.num_examples == max(6 - count, 0)


def test_skip_of_batches():
    stream = Skip(batches_of(5), 1)
    assert lists(stream) == lists(stream) == [[2, 3], [4]]
    assert len(stream) == 2 and stream.num_examples is None


# Take.

@pytest.mark.parametrize('count', [1, 5, 6, 7])
def test_take(count):
    stream = Take(examples_of(), count)
    assert numbers(stream) == numbers(stream) == list(range(6))[:count]
    assert len(stream) == stream.num_examples == min(count, 6)


def test_truncated_epochs_go_on_with_the_next_order():
    whole = batches_of(10, 2, ShuffledScheme)
    orders = [lists(whole) for _ in range(3)]
    stream = Take(batches_of(10, 2, ShuffledScheme), 2)
    assert [lists(stream) for _ in range(3)] == [order[:2] for order in orders]
    assert len(stream) == 2


def test_take_never_draws_more():
    drawn = []

    def counted():
        for number in range(10):
            drawn.append(number)
            yield number

    stream = Take(DataStream(IterableDataset(counted())), 3)
    assert numbers(stream) == [0, 1, 2]
    assert drawn == [0, 1, 2]


def test_take_of_what_is_read_on():
    stream = Take(DataStream(IterableDataset({'x': range(5)})), 3)
    assert numbers(stream) == numbers(stream) == [0, 1, 2]


# Repeat.

def test_repeat():
    stream = Repeat(examples_of(3), 2)
    assert numbers(stream) == numbers(stream) == [0, 1, 2, 0, 1, 2]
    assert len(stream) == stream.num_examples == 6
    batches = Repeat(batches_of(3), 2)
    assert lists(batches) == [[0, 1], [2], [0, 1], [2]]
    assert len(batches) == 4 and batches.num_examples == 6
    assert Repeat(Filter(examples_of(3), bool), 2).num_examples is None


def test_repeat_gives_the_epochs_one_after_the_other():
    whole = examples_of(8, ShuffledExampleScheme)
    orders = [numbers(whole) for _ in range(6)]
    stream = Repeat(examples_of(8, ShuffledExampleScheme), 3)
    assert numbers(stream) == sum(orders[:3], [])
    assert numbers(stream) == sum(orders[3:], [])


@pytest.mark.parametrize('steps', [0, 1, 8, 9, 23])
def test_repeat_after_an_epoch_that_was_broken_off(steps):
    whole = Repeat(examples_of(8, ShuffledExampleScheme), 3)
    _, second = numbers(whole), numbers(whole)
    stream = Repeat(examples_of(8, ShuffledExampleScheme), 3)
    iterator = stream.get_epoch_iterator()
    for _ in range(steps):
        next(iterator)
    assert numbers(stream) == second


def test_older_of_two_repeats_is_refused():
    stream = Repeat(examples_of(3), 2)
    older = stream.get_epoch_iterator()
    next(older)
    newer = stream.get_epoch_iterator()
    with pytest.raises(SupersededIteratorError, match='Repeat'):
        next(older)
    assert [int(data[0]) for data in newer] == [0, 1, 2, 0, 1, 2]


def test_interrupted_at_the_start_of_the_next_epoch():
    class Interrupted(IndexableDataset):
        calls = 0

        def get_data(self, state=None, request=None):
            self.calls += 1
            if self.calls == 3:
                raise KeyboardInterrupt
            return super().get_data(state, request)

    stream = Repeat(DataStream(Interrupted({'x': [1, 2]}),
                               iteration_scheme=SequentialExampleScheme(2)), 2)
    iterator = stream.get_epoch_iterator()
    found = [next(iterator)[0], next(iterator)[0]]
    with pytest.raises(KeyboardInterrupt):
        next(iterator)
    assert found + [data[0] for data in iterator] == [1, 2, 1, 2]


def test_repeat_of_nothing_ends():
    assert list(Repeat(Filter(examples_of(), lambda data: False), 3).get_epoch_iterator()) == []


# All of them.

@pytest.mark.parametrize('wrap', [lambda stream: Skip(stream, 1), lambda stream: Take(stream, 1),
                                  lambda stream: Repeat(stream, 2)])
def test_labels_and_kind(wrap):
    stream = wrap(examples_of())
    assert stream.axis_labels == {'x': ()} and stream.produces_examples
    assert wrap(batches_of()).axis_labels is None
    assert not wrap(batches_of()).produces_examples
    unknown = wrap(DataStream(IterableDataset(iter('abc'))))
    assert unknown.num_examples is unknown.num_batches is None


@pytest.mark.parametrize(('cls', 'least'), [(Skip, 0), (Take, 1), (Repeat, 1)])
@pytest.mark.parametrize('wrong', [-1, 1.5, None, True, 'x'])
def test_wrong_counts(cls, least, wrong):
    with pytest.raises(ValueError, match=f'{cls.__name__}: expected .* an integer of at least '
                                         f'{least}; got'):
        cls(examples_of(), wrong)
    with pytest.raises(ValueError, match='at least'):
        cls(examples_of(), least - 1)
