"""Steps that are left out."""
import numpy
import pytest

from fuel.datasets import IndexableDataset
from fuel.schemes import SequentialExampleScheme, SequentialScheme, ShuffledExampleScheme
from fuel.streams import DataStream
from fuel.transformers import Filter


def examples_of(count=8, scheme=SequentialExampleScheme):
    return DataStream(IndexableDataset({'x': numpy.arange(count), 'y': -numpy.arange(count)},
                                       axis_labels={'x': ('batch',), 'y': ('batch',)}),
                      iteration_scheme=scheme(count))


def is_odd(data):
    return data[0] % 2 == 1


def test_examples():
    stream = Filter(examples_of(), is_odd)
    for _ in range(2):
        assert list(stream.get_epoch_iterator()) == [(1, -1), (3, -3), (5, -5), (7, -7)]
    assert stream.produces_examples


def test_batches():
    stream = Filter(DataStream(IndexableDataset({'x': numpy.arange(7)}),
                               iteration_scheme=SequentialScheme(7, 2)),
                    lambda data: len(data[0]) == 2 and data[0][0] != 2)
    assert [data[0].tolist() for data in stream.get_epoch_iterator()] == [[0, 1], [4, 5]]
    assert not stream.produces_examples


def test_as_dict():
    # The old library gave tuples whatever was asked for.
    stream = Filter(examples_of(4), is_odd)
    assert list(stream.get_epoch_iterator(as_dict=True)) == [{'x': 1, 'y': -1}, {'x': 3, 'y': -3}]


def test_length_is_not_known():
    stream = Filter(examples_of(), is_odd)
    assert stream.num_examples is stream.num_batches is None
    with pytest.raises(TypeError):
        len(stream)


def test_nothing_is_kept():
    stream = Filter(examples_of(), lambda data: False)
    assert list(stream.get_epoch_iterator()) == list(stream.get_epoch_iterator()) == []


def test_every_order_is_filtered():
    stream = Filter(examples_of(20, ShuffledExampleScheme), is_odd)
    first, second = ([int(data[0]) for data in stream.get_epoch_iterator()] for _ in range(2))
    assert sorted(first) == sorted(second) == list(range(1, 20, 2))
    assert first != second


def test_labels():
    stream = Filter(examples_of(), is_odd)
    assert stream.axis_labels == {'x': (), 'y': ()}


def test_wrong_predicate():
    with pytest.raises(TypeError, match='expected a function; got None'):
        Filter(examples_of(), None)


def failing_at(number, error):
    def predicate(data):
        nonlocal error
        if data[0] == number and error is not None:
            raised, error = error, None
            raise raised
        return is_odd(data)
    return predicate


def test_example_that_cannot_be_judged_is_left_out():
    stream = Filter(examples_of(), failing_at(3, ArithmeticError('bad')))
    iterator = stream.get_epoch_iterator()
    assert next(iterator)[0] == 1
    with pytest.raises(ArithmeticError, match='bad'):
        next(iterator)
    assert [data[0] for data in iterator] == [5, 7]


def test_interrupted_step_is_taken_again():
    stream = Filter(examples_of(), failing_at(3, KeyboardInterrupt()))
    iterator = stream.get_epoch_iterator()
    next(iterator)
    with pytest.raises(KeyboardInterrupt):
        next(iterator)
    state = stream.state_dict()
    assert [data[0] for data in iterator] == [3, 5, 7]
    stream.load_state_dict(state)
    assert [data[0] for data in stream.get_epoch_iterator()] == [3, 5, 7]
