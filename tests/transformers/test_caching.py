"""Batches of another size than those that come."""
import numpy
import pytest

from fuel.datasets import IndexableDataset, IterableDataset
from fuel.schemes import ConstantScheme, SequentialExampleScheme, SequentialScheme
from fuel.streams import DataStream
from fuel.testing import assert_same
from fuel.transformers import AgnosticTransformer, Cache


def chunks(count=10, size=4, **kwargs):
    return DataStream(IndexableDataset({'x': numpy.arange(count)}, **kwargs),
                      iteration_scheme=SequentialScheme(count, size))


def lists(stream):
    return [list(data[0]) for data in stream.get_epoch_iterator()]


@pytest.mark.parametrize('size', range(1, 13))
@pytest.mark.parametrize('chunk', [1, 2, 4, 10])
def test_every_example_in_batches_of_the_size_asked_for(size, chunk):
    stream = Cache(chunks(size=chunk), ConstantScheme(size))
    expected = [list(range(10))[start:start + size] for start in range(0, 10, size)]
    assert lists(stream) == lists(stream) == expected
    assert len(stream) == len(expected) and stream.num_examples == 10


def test_last_partial_batch_is_kept():
    assert [len(data) for data in lists(Cache(chunks(), ConstantScheme(3)))] == [3, 3, 3, 1]


def test_request_larger_than_a_chunk():
    assert [len(data) for data in lists(Cache(chunks(), ConstantScheme(6)))] == [6, 4]


@pytest.mark.parametrize(('scheme', 'sizes'), [
    (ConstantScheme(3, num_examples=7), [3, 3, 1]), (ConstantScheme(3, times=2), [3, 3]),
    (ConstantScheme(3, num_examples=50), [3, 3, 3, 1]), (ConstantScheme(5, times=9), [5, 5])])
def test_schemes_that_end(scheme, sizes):
    stream = Cache(chunks(), scheme)
    assert [len(data) for data in lists(stream)] == sizes
    assert len(stream) == len(sizes) and stream.num_examples == sum(sizes)
    assert lists(stream)[0][0] == 0, 'what was left of an epoch went into the next'


def batches_of(**sources):
    stream = DataStream(IterableDataset(sources))
    stream.produces_examples = False
    return stream


def test_lists_and_ragged_arrays_keep_their_form():
    ragged = numpy.empty(2, dtype=object)
    ragged[:] = [numpy.arange(2), numpy.arange(3)]
    stream = Cache(batches_of(x=[[[1], [2, 3]], [[4, 5]]], y=[ragged, ragged[:1]]),
                   ConstantScheme(3))
    (lists_, objects), = stream.get_epoch_iterator()
    assert_same(lists_, [[1], [2, 3], [4, 5]])
    expected = numpy.empty(3, dtype=object)
    expected[:] = [numpy.arange(2), numpy.arange(3), numpy.arange(2)]
    assert_same(objects, expected)


def test_empty_chunks():
    stream = Cache(batches_of(x=[[], [1], [], [2, 3], []]), ConstantScheme(2))
    assert lists(stream) == [[1, 2], [3]]
    assert lists(Cache(batches_of(x=[[], []]), ConstantScheme(2))) == []


def test_wrong_arguments_name_what_came():
    with pytest.raises(ValueError, match='got SequentialScheme'):
        Cache(chunks(), SequentialScheme(3, 2))
    examples = DataStream(IndexableDataset([1]), iteration_scheme=SequentialExampleScheme(1))
    with pytest.raises(ValueError, match='wrapped DataStream produces single examples'):
        Cache(examples, ConstantScheme(2))
    with pytest.raises(ValueError, match="got 2 in 'x', 1 in 'y'"):
        lists(Cache(batches_of(x=[[1, 2]], y=[[1]]), ConstantScheme(2)))


def test_labels():
    labels = {'x': ('batch',)}
    stream = Cache(chunks(axis_labels=labels), ConstantScheme(2))
    assert stream.axis_labels == labels
    stream.axis_labels['x'] = None
    assert stream.axis_labels == labels


def test_get_data_with_a_size():
    stream = Cache(chunks(), ConstantScheme(2))
    stream.get_epoch_iterator()
    assert [stream.get_data(size)[0].tolist() for size in (1, 5)] == [[0], [1, 2, 3, 4, 5]]


class Interrupted(AgnosticTransformer):
    """Raises once, at the second step."""

    def __init__(self, data_stream, error):
        super().__init__(data_stream)
        self.error = error

    def transform_any(self, data):
        if data[0][0] and self.error:
            error, self.error = self.error, None
            raise error
        return data


@pytest.mark.parametrize(('error', 'expected'), [
    (KeyboardInterrupt(), [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9]]),
    (ArithmeticError(), [[0, 1, 2], [3, 8, 9]])])
def test_failed_step_keeps_what_was_left_of_the_chunk_before(error, expected):
    stream = Cache(Interrupted(chunks(), error), ConstantScheme(3))
    iterator = stream.get_epoch_iterator()
    steps = [next(iterator)[0].tolist()]
    with pytest.raises(type(error)):
        next(iterator)
    state = stream.state_dict()
    steps += [data[0].tolist() for data in iterator]
    assert steps == expected
    if isinstance(error, KeyboardInterrupt):
        stream.load_state_dict(state)
        assert lists(stream) == expected[1:]
