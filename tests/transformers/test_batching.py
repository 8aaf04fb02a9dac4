"""Batches of examples, and examples of batches."""
import pickle

import numpy
import pytest

from fuel.datasets import IndexableDataset, IterableDataset
from fuel.schemes import (
    BatchSizeScheme,
    ConstantScheme,
    SequentialExampleScheme,
    SequentialScheme,
    ShuffledScheme,
)
from fuel.streams import AbstractDataStream, DataStream
from fuel.testing import assert_same
from fuel.transformers import AgnosticTransformer, Batch, Mapping, Transformer, Unpack


def examples_of(count, **kwargs):
    return DataStream(IndexableDataset({'x': numpy.arange(count)}, **kwargs),
                      iteration_scheme=SequentialExampleScheme(count))


def batches_of(*batches):
    stream = DataStream(IterableDataset({'x': batches}))
    stream.produces_examples = False
    return stream


def lists(stream):
    return [data[0].tolist() for data in stream.get_epoch_iterator()]


# Batch.

@pytest.mark.parametrize(('strictness', 'expected'), [(0, [[0, 1, 2], [3, 4]]), (1, [[0, 1, 2]])])
def test_last_batch(strictness, expected):
    stream = Batch(examples_of(5), ConstantScheme(3), strictness=strictness)
    assert lists(stream) == lists(stream) == expected
    assert stream.num_batches == len(expected) == len(stream)
    assert stream.num_examples == sum(map(len, expected))
    assert not stream.produces_examples


def test_last_batch_that_must_be_whole():
    stream = Batch(examples_of(5), ConstantScheme(3), strictness=2)
    iterator = stream.get_epoch_iterator()
    next(iterator)
    with pytest.raises(ValueError, match='expected 3 examples for the last batch.*got 2'):
        next(iterator)
    assert stream.num_batches is None
    whole = Batch(examples_of(6), ConstantScheme(3), strictness=2)
    assert lists(whole) == [[0, 1, 2], [3, 4, 5]]
    assert len(whole) == 2


@pytest.mark.parametrize(('scheme', 'expected'), [
    (ConstantScheme(2, num_examples=3), [[0, 1], [2]]), (ConstantScheme(2, times=1), [[0, 1]]),
    (ConstantScheme(2, num_examples=9), [[0, 1], [2, 3], [4]]),
    (ConstantScheme(2, times=9), [[0, 1], [2, 3], [4]]),
    (ConstantScheme(4, num_examples=7), [[0, 1, 2, 3], [4]]),
    (ConstantScheme(5, num_examples=5), [[0, 1, 2, 3, 4]])])
@pytest.mark.parametrize('strictness', [0, 1])
def test_lengths(scheme, expected, strictness):
    stream = Batch(examples_of(5), scheme, strictness=strictness)
    steps = lists(stream)
    assert len(stream) == len(steps) and stream.num_examples == sum(map(len, steps))
    if not strictness:
        assert steps == expected


def test_lengths_that_nobody_knows():
    class Own(ConstantScheme):
        def get_request_iterator(self):
            return iter([1, 4])

    for stream in (Batch(examples_of(5), Own(2)),
                   Batch(DataStream(IterableDataset(iter('abc'))), ConstantScheme(2))):
        assert stream.num_batches is stream.num_examples is None
        with pytest.raises(TypeError, match='not known'):
            len(stream)
    assert lists(Batch(examples_of(5), Own(2))) == [[0], [1, 2, 3, 4]]


def test_wrong_arguments_name_what_came():
    batches = DataStream(IndexableDataset([1, 2]), iteration_scheme=SequentialScheme(2, 1))
    with pytest.raises(ValueError, match='single examples.* DataStream produces batches'):
        Batch(batches, ConstantScheme(2))
    with pytest.raises(ValueError, match='got SequentialExampleScheme'):
        Batch(examples_of(2), SequentialExampleScheme(2))
    with pytest.raises(ValueError, match='0, 1 or 2; got 3'):
        Batch(examples_of(2), ConstantScheme(2), strictness=3)


def test_ragged_examples_become_objects():
    sentences = [[1, 2, 3], [4], [5, 6, 7, 8], [9]]
    stream = Batch(DataStream(IterableDataset(sentences)), ConstantScheme(2))
    for (batch,), part in zip(stream.get_epoch_iterator(), (sentences[:2], sentences[2:]),
                              strict=True):
        assert batch.shape == (2,) and batch.dtype == object
        assert list(batch) == part


def test_sequences_of_one_length_become_objects_all_the_same():
    stream = Batch(DataStream(IterableDataset([[1, 2], [3, 4]])), ConstantScheme(2))
    (batch,), = stream.get_epoch_iterator()
    assert batch.shape == (2,) and batch[0] == [1, 2]


def test_labels():
    stream = examples_of(2, axis_labels={'x': ('batch',), 'y': None})
    assert Batch(stream, ConstantScheme(2)).axis_labels == {'x': ('batch',), 'y': None}
    assert Batch(examples_of(2), ConstantScheme(2)).axis_labels is None


def test_get_data_with_a_size():
    stream = Batch(examples_of(5), ConstantScheme(2))
    with pytest.raises(ValueError, match='before an epoch was started'):
        stream.get_data(2)
    stream.get_epoch_iterator()
    assert stream.get_data(3)[0].tolist() == [0, 1, 2]
    assert stream.get_data(1)[0].tolist() == [3]


class Failing(AgnosticTransformer):
    """Raises once, at one of the examples."""

    def __init__(self, data_stream, error, number=3):
        super().__init__(data_stream)
        self.error = error
        self.number = number

    def transform_any(self, data):
        if data[0] == self.number and self.error is not None:
            error, self.error = self.error, None
            raise error
        return data


def test_bad_example_is_left_out_and_nothing_else_is_lost():
    stream = Batch(Failing(examples_of(8), ArithmeticError('bad')), ConstantScheme(2))
    iterator = stream.get_epoch_iterator()
    first = next(iterator)[0].tolist()
    with pytest.raises(ArithmeticError, match='bad'):
        next(iterator)
    assert [first, *(data[0].tolist() for data in iterator)] == [[0, 1], [2, 4], [5, 6], [7]]


def test_interrupted_batch_is_made_again():
    stream = Batch(Failing(examples_of(8), KeyboardInterrupt()), ConstantScheme(2))
    iterator = stream.get_epoch_iterator()
    next(iterator)
    with pytest.raises(KeyboardInterrupt):
        next(iterator)
    # What had been drawn is not held, but drawn again.
    state = stream.state_dict()
    assert [data[0].tolist() for data in iterator] == [[2, 3], [4, 5], [6, 7]]
    stream.load_state_dict(state)
    assert lists(stream) == [[2, 3], [4, 5], [6, 7]]


def test_interrupted_batch_of_a_data_set_read_on_is_made_from_what_was_drawn():
    stream = Batch(Failing(DataStream(IterableDataset({'x': range(8)})), KeyboardInterrupt()),
                   ConstantScheme(4))
    iterator = stream.get_epoch_iterator()
    with pytest.raises(KeyboardInterrupt):
        next(iterator)
    other, moved = pickle.loads(pickle.dumps((stream, iterator)))
    for rest in (iterator, moved):
        assert [data[0].tolist() for data in rest] == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert lists(other) == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_scheme_without_a_base_for_sizes():
    class Growing(BatchSizeScheme):
        def get_request_iterator(self):
            return iter(range(1, 4))

    assert lists(Batch(examples_of(10), Growing())) == [[0], [1, 2], [3, 4, 5]]


def test_over_a_stream_that_is_not_of_the_library():
    class Own(AbstractDataStream):
        sources = ('x',)
        produces_examples = True

        def get_epoch_iterator(self, as_dict=False):
            return iter([(1,), (2,), (3,)])

    stream = Batch(Own(), ConstantScheme(2))
    assert lists(stream) == lists(stream) == [[1, 2], [3]]
    with pytest.raises(ValueError, match='pickle the pair'):
        iterator = stream.get_epoch_iterator()
        next(iterator)
        stream.state_dict()


# Unpack.

def test_unfinished_epoch_does_not_leak_into_the_next():
    stream = Unpack(DataStream(IndexableDataset(numpy.arange(4)),
                               iteration_scheme=SequentialScheme(4, 2)))
    next(stream.get_epoch_iterator())
    assert [number for number, in stream.get_epoch_iterator()] == [0, 1, 2, 3]


def test_unpack_of_many_empty_batches():
    # The old library called itself again for each of them.
    stream = Unpack(batches_of(*[[]] * 5000, [1, 2], [], [3], []))
    assert list(stream.get_epoch_iterator()) == [(1,), (2,), (3,)]
    assert list(Unpack(batches_of([], [])).get_epoch_iterator()) == []


def test_unpack_of_unequal_sources():
    stream = DataStream(IterableDataset({'x': [[1, 2]], 'y': [[1]]}))
    stream.produces_examples = False
    with pytest.raises(ValueError, match="Unpack.*got 2 in 'x', 1 in 'y'"):
        next(Unpack(stream).get_epoch_iterator())


def test_unpack_of_examples():
    with pytest.raises(ValueError, match='batches; the wrapped DataStream produces single'):
        Unpack(examples_of(2))


def test_unpack_labels_and_lengths():
    stream = Unpack(DataStream(
        IndexableDataset({'x': numpy.zeros((5, 2))}, axis_labels={'x': ('batch', 'f')}),
        iteration_scheme=ShuffledScheme(5, 2)))
    assert stream.axis_labels == {'x': ('f',)}
    assert len(stream) == stream.num_examples == 5
    assert stream.num_batches is None
    assert stream.produces_examples


def test_unpack_of_a_mapping_that_returns_lists():
    stream = Unpack(Mapping(batches_of([1, 2], [3]), lambda data: [list(data[0])]))
    assert list(stream.get_epoch_iterator(as_dict=True)) == [{'x': 1}, {'x': 2}, {'x': 3}]


def test_batches_that_are_unpacked_and_made_again():
    numbers = numpy.random.RandomState(0).rand(23, 2)
    stream = DataStream(IndexableDataset(numbers), iteration_scheme=SequentialScheme(23, 7))
    parts = [data for data, in Batch(Unpack(stream), ConstantScheme(4)).get_epoch_iterator()]
    assert list(map(len, parts)) == [4] * 5 + [3]
    assert_same(numpy.concatenate(parts), numbers)


class Pairs(Transformer):
    """Puts two examples together, as programs of old do."""

    produces_examples = True

    def get_data(self, request=None):
        return (next(self.child_epoch_iterator)[0] + next(self.child_epoch_iterator)[0],)


def test_around_old_programs():
    stream = Batch(Pairs(Unpack(batches_of([1, 2, 3], [4, 5, 6]))), ConstantScheme(2))
    assert lists(stream) == lists(stream) == [[3, 7], [11]]
