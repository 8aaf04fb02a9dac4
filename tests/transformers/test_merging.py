"""Several streams side by side."""
import json
import logging

import numpy
import pytest

from fuel.datasets import IndexableDataset, IterableDataset
from fuel.exceptions import StateError
from fuel.schemes import ConstantScheme, SequentialExampleScheme, SequentialScheme
from fuel.streams import AbstractDataStream, DataStream
from fuel.transformers import AgnosticTransformer, Batch, Filter, Merge, Take, Unpack


def examples_of(items, name='x', **kwargs):
    return DataStream(IndexableDataset({name: items}, **kwargs),
                      iteration_scheme=SequentialExampleScheme(len(items)))


def read_on(items):
    return DataStream(IterableDataset(items))


def test_example_streams():
    stream = Merge((examples_of([1, 2]), examples_of(['a', 'b'])), ('number', 'letter'))
    for _ in range(2):
        assert list(stream.get_epoch_iterator()) == [(1, 'a'), (2, 'b')]
    assert stream.sources == ('number', 'letter')
    assert stream.produces_examples and len(stream) == stream.num_examples == 2


def test_as_dict():
    stream = Merge((examples_of([1, 2]), examples_of(['a', 'b'])), ['number', 'letter'])
    assert list(stream.get_epoch_iterator(as_dict=True)) == [
        {'number': 1, 'letter': 'a'}, {'number': 2, 'letter': 'b'}]


def test_streams_of_several_sources():
    both = DataStream(IndexableDataset({'x': [1, 2], 'y': [3, 4]}),
                      iteration_scheme=SequentialExampleScheme(2))
    stream = Merge((both, examples_of([5, 6])), ('a', 'b', 'c'))
    assert list(stream.get_epoch_iterator()) == [(1, 3, 5), (2, 4, 6)]


def test_streams_of_batches_end_and_come_again():
    def make():
        return Batch(read_on(range(5)), ConstantScheme(2))
    stream = Merge((make(), make()), ('x', 'y'))
    for _ in range(2):
        epoch = list(stream.get_epoch_iterator())
        assert [data[0].tolist() for data in epoch] == [[0, 1], [2, 3], [4]]
        assert all(x.tolist() == y.tolist() for x, y in epoch)
    assert not stream.produces_examples
    assert len(stream) == 3 and stream.num_examples == 5
    assert [data[1] for data in Unpack(stream).get_epoch_iterator()] == [0, 1, 2, 3, 4]


def test_lengths():
    def of(count, size):
        return DataStream(IndexableDataset(numpy.zeros(count)),
                          iteration_scheme=SequentialScheme(count, size))
    stream = Merge((of(6, 2), of(8, 2)), ('x', 'y'))
    assert stream.num_batches == 3 and stream.num_examples is None
    unknown = Merge((examples_of([1]), Filter(examples_of([1]), bool)), ('x', 'y'))
    assert unknown.num_examples is unknown.num_batches is None


@pytest.mark.parametrize('longer_first', [False, True])
@pytest.mark.parametrize('make', [examples_of, read_on])
def test_unequal_streams_end_at_the_shortest_with_a_warning(make, longer_first, caplog):
    streams = [make([1, 2]), make([3, 4, 5])][::-1 if longer_first else 1]
    stream = Merge(streams, ('x', 'y'))
    expected = [(3, 1), (4, 2)] if longer_first else [(1, 3), (2, 4)]
    with caplog.at_level(logging.WARNING):
        assert list(stream.get_epoch_iterator()) == expected
    message, = caplog.messages
    ended, more = (1, 0) if longer_first else (0, 1)
    assert f'stream {ended} (DataStream) came to its end after 2 steps' in message
    assert f'stream {more} (DataStream) has more' in message
    caplog.clear()
    assert list(stream.get_epoch_iterator()) == expected
    assert not caplog.messages, 'once is enough'


def test_unequal_streams_that_are_meant(caplog):
    stream = Merge((examples_of([1, 2]), examples_of([3, 4, 5])), ('x', 'y'), strict=False)
    assert list(stream.get_epoch_iterator()) == [(1, 3), (2, 4)]
    assert not caplog.messages


@pytest.mark.parametrize('lengths', [(2, 3), (3, 2), (3, 2, 3), (2, 2, 3)])
def test_unequal_streams_that_are_a_mistake(lengths):
    stream = Merge([examples_of([0] * length) for length in lengths],
                   tuple('xyz')[:len(lengths)], strict=True)
    iterator = stream.get_epoch_iterator()
    next(iterator), next(iterator)
    with pytest.raises(ValueError, match='came to its end after 2 steps.*strict=False'):
        next(iterator)


def test_equal_streams_are_no_mistake(caplog):
    for strict in (None, True, False):
        stream = Merge((examples_of([1, 2]), read_on([3, 4])), ('x', 'y'), strict=strict)
        assert len(list(stream.get_epoch_iterator())) == 2
    assert not caplog.messages


def test_wrong_arguments_name_what_came():
    with pytest.raises(ValueError, match='expected 2 different names.* x, y; got a'):
        Merge((examples_of([1]), examples_of([1], 'y')), ('a',))
    with pytest.raises(ValueError, match='expected 2 different names.*got a, a'):
        Merge((examples_of([1]), examples_of([1])), ('a', 'a'))
    with pytest.raises(ValueError, match='tuple of source names'):
        Merge((examples_of([1]), examples_of([1])), 'ab')
    with pytest.raises(ValueError, match='at least one'):
        Merge((), ())
    batches = DataStream(IndexableDataset([1]), iteration_scheme=SequentialScheme(1, 1))
    with pytest.raises(ValueError, match=r'DataStream \(examples\), DataStream \(batches\)'):
        Merge((examples_of([1]), batches), ('x', 'y'))
    with pytest.raises(ValueError, match='takes no requests; got 3'):
        Merge((examples_of([1]),), ('x',)).get_data(3)
    with pytest.raises(ValueError, match='before an epoch was started'):
        Merge((examples_of([1]),), ('x',)).get_data()


def test_get_data():
    stream = Merge((examples_of([1, 2]), examples_of(['a', 'b'])), ('x', 'y'))
    stream.get_epoch_iterator()
    assert [stream.get_data(), stream.get_data()] == [(1, 'a'), (2, 'b')]


def test_labels():
    one = examples_of(numpy.zeros((2, 3)), axis_labels={'x': ('batch', 'f')})
    other = examples_of([1, 2])
    assert Merge((one, other), ('a', 'b')).axis_labels == {'a': ('f',)}
    assert Merge((other, other), ('a', 'b')).axis_labels is None
    own = {'a': ('g',)}
    assert Merge((one, other), ('a', 'b'), axis_labels=own).axis_labels == own


def test_close_reset_and_next_epoch_go_to_all():
    calls = []

    class Told(AbstractDataStream):
        sources = ('x',)
        produces_examples = True

        def close(self):
            calls.append('close')

        def reset(self):
            calls.append('reset')

        def next_epoch(self):
            calls.append('next_epoch')

        def get_epoch_iterator(self, as_dict=False):
            return iter([(1,)])

    stream = Merge((Told(), Told()), ('x', 'y'))
    stream.close(), stream.reset(), stream.next_epoch()
    assert calls == ['close'] * 2 + ['reset'] * 2 + ['next_epoch'] * 2
    # Streams that are not of the library are merged too, but their position cannot be told.
    assert list(stream.get_epoch_iterator()) == [(1, 1)]
    next(stream.get_epoch_iterator())
    with pytest.raises(StateError, match='pickle the pair'):
        stream.state_dict()


def test_independent_iterators():
    stream = Merge((examples_of([1, 2]), examples_of(['a', 'b'])), ('x', 'y'))
    assert list(zip(stream.get_epoch_iterator(), stream.get_epoch_iterator(), strict=True)) == [
        ((1, 'a'), (1, 'a')), ((2, 'b'), (2, 'b'))]


def test_state_holds_those_of_all_streams():
    def make():
        return Merge((examples_of([1, 2, 3]), read_on([4, 5, 6])), ('x', 'y'))
    stream = make()
    next(stream.get_epoch_iterator())
    state = json.loads(json.dumps(stream.state_dict()))
    assert [part['step'] for part in state['data_streams']] == [1, 1]
    other = make()
    other.load_state_dict(state)
    assert list(other.get_epoch_iterator()) == [(2, 5), (3, 6)]
    assert list(other.get_epoch_iterator()) == [(1, 4), (2, 5), (3, 6)]
    with pytest.raises(StateError, match='2 merged streams; this Merge has 1'):
        Merge((examples_of([1]),), ('x',)).load_state_dict(state)


def test_merge_of_a_truncated_stream():
    stream = Merge((Take(examples_of([1, 2, 3]), 2), examples_of([4, 5])), ('x', 'y'), strict=True)
    for _ in range(2):
        assert list(stream.get_epoch_iterator()) == [(1, 4), (2, 5)]


class Failing(AgnosticTransformer):
    """Raises once, at one of the examples."""

    def __init__(self, data_stream, error):
        super().__init__(data_stream)
        self.error = error

    def transform_any(self, data):
        if data[0] % 10 == 2 and self.error is not None:
            error, self.error = self.error, None
            raise error
        return data


@pytest.mark.parametrize('place', [0, 1, 2])
@pytest.mark.parametrize('make', [examples_of, read_on])
def test_bad_example_is_left_out_of_all_streams(place, make):
    streams = [make([10 * number + digit for digit in range(1, 5)]) for number in range(3)]
    streams[place] = Failing(streams[place], ArithmeticError('bad'))
    iterator = Merge(streams, tuple('xyz')).get_epoch_iterator()
    assert next(iterator) == (1, 11, 21)
    with pytest.raises(ArithmeticError, match='bad'):
        next(iterator)
    assert list(iterator) == [(3, 13, 23), (4, 14, 24)]


@pytest.mark.parametrize('place', [0, 1, 2])
def test_interrupted_step_is_taken_again(place):
    streams = [examples_of([10 * number + digit for digit in range(1, 5)]) for number in range(3)]
    streams[place] = Failing(streams[place], KeyboardInterrupt())
    stream = Merge(streams, tuple('xyz'))
    iterator = stream.get_epoch_iterator()
    next(iterator)
    with pytest.raises(KeyboardInterrupt):
        next(iterator)
    state = stream.state_dict()
    rest = [(2, 12, 22), (3, 13, 23), (4, 14, 24)]
    assert list(iterator) == rest
    stream.load_state_dict(state)
    assert list(stream.get_epoch_iterator()) == rest


def test_what_cannot_be_drawn_again_is_kept():
    streams = [read_on([1, 2, 3]), Failing(examples_of([11, 12, 13]), KeyboardInterrupt())]
    stream = Merge(streams, ('x', 'y'))
    iterator = stream.get_epoch_iterator()
    next(iterator)
    with pytest.raises(KeyboardInterrupt):
        next(iterator)
    with pytest.raises(StateError, match='last step failed'):
        stream.state_dict()
    assert list(iterator) == [(2, 12), (3, 13)]
