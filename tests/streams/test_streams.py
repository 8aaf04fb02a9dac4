"""Streams: epochs, positions, what they tell of their data."""
import json
import pickle

import numpy
import pytest

from fuel._itertools import iter_
from fuel.datasets import Dataset, IndexableDataset, IterableDataset
from fuel.exceptions import FuelError, StateError, SupersededIteratorError
from fuel.schemes import (
    SequentialExampleScheme,
    SequentialScheme,
    ShuffledScheme,
)
from fuel.streams import AbstractDataStream, DataStream
from fuel.transformers import Cast, Mapping, ScaleAndShift
from tests.streams.labelled import firsts, stream_of


def test_epochs_follow_the_scheme():
    stream = stream_of()
    assert firsts(stream.get_epoch_iterator()) == [[7, 2, 1, 6], [0, 4, 3, 5]]
    assert firsts(stream.get_epoch_iterator()) == [[2, 3, 4, 7], [1, 6, 0, 5]]


def test_new_schemes_give_the_same_order_and_one_scheme_reshuffles():
    assert firsts(stream_of().get_epoch_iterator()) == firsts(stream_of().get_epoch_iterator())
    stream = stream_of()
    assert firsts(stream.get_epoch_iterator()) != firsts(stream.get_epoch_iterator())


def test_as_dict():
    for data in stream_of().get_epoch_iterator(as_dict=True):
        assert list(data) == ['a', 'b']
        assert (data['b'] == 10 * data['a']).all()


def test_pairs_of_two_iterators_are_never_mixed():
    stream = stream_of(scheme=SequentialScheme(8, 2))
    for one, other in zip(stream.get_epoch_iterator(), stream.get_epoch_iterator(), strict=True):
        assert one[0].tolist() == other[0].tolist()
    chain = Cast(ScaleAndShift(stream, 2, 0), 'float32')
    pairs = list(zip(chain.get_epoch_iterator(), chain.get_epoch_iterator(), strict=True))
    assert len(pairs) == 4
    assert all((one[0] == other[0]).all() for one, other in pairs)


def test_training_and_monitoring_on_one_stream():
    chain = Mapping(stream_of(scheme=SequentialScheme(8, 2)), lambda data: data)
    seen = []
    for data in chain.get_epoch_iterator():
        seen.append(data[0].tolist())
        assert len(list(chain.get_epoch_iterator())) == 4
    assert seen == [[0, 1], [2, 3], [4, 5], [6, 7]]


class OneFile(Dataset):
    """A data set whose state can be held once only."""

    provides_sources = ('line',)

    def open(self):
        return iter_(list('abcd'))

    def get_data(self, state=None, request=None):
        return (next(state),)


def test_older_iterator_raises_where_two_cannot_live():
    stream = DataStream(OneFile())
    older = stream.get_epoch_iterator()
    assert next(older) == ('a',)
    newer = stream.get_epoch_iterator()
    with pytest.raises(SupersededIteratorError, match='epoch 0 of this DataStream was broken off'):
        next(older)
    assert list(newer) == [('a',), ('b',), ('c',), ('d',)]
    with pytest.raises(SupersededIteratorError):
        list(zip(stream.get_epoch_iterator(), stream.get_epoch_iterator(), strict=True))


def test_broken_off_epoch_does_not_leak_into_the_next():
    for stream in (DataStream(OneFile()), DataStream(IterableDataset({'line': 'abcd'}))):
        for data in stream.get_epoch_iterator():
            if data == ('b',):
                break
        assert len(list(stream.get_epoch_iterator())) == 4


def test_ended_iterators_stay_ended():
    iterator = stream_of().get_epoch_iterator()
    assert len(list(iterator)) == 2
    for _ in range(2):
        with pytest.raises(StopIteration):
            next(iterator)


def test_position():
    stream = stream_of()
    next(iter(stream.iterate_epochs()))
    iterator = stream.get_epoch_iterator()
    assert (iterator.epoch, iterator.step) == (1, 0)
    next(iterator)
    chain = Cast(stream, 'float32').get_epoch_iterator()
    next(chain)
    assert (iterator.epoch, iterator.step) == (1, 1)
    assert (chain.epoch, chain.step) == (2, 1)


def test_iterate_epochs_is_endless():
    epochs = stream_of().iterate_epochs(as_dict=True)
    assert [len(list(epoch)) for epoch, _ in zip(epochs, range(5), strict=False)] == [2] * 5


# What streams tell.

def test_produces_examples():
    assert not stream_of().produces_examples
    assert stream_of(scheme=SequentialExampleScheme(8)).produces_examples
    assert DataStream(IterableDataset([1])).produces_examples
    stream = stream_of()
    with pytest.raises(ValueError, match='follows from its iteration scheme, ShuffledScheme'):
        stream.produces_examples = True

    class Bare(AbstractDataStream):
        def get_epoch_iterator(self, **kwargs):
            return super().get_epoch_iterator(**kwargs)

    with pytest.raises(ValueError, match='assign produces_examples'):
        _ = Bare().produces_examples
    with pytest.raises(NotImplementedError, match='Bare does not define get_data'):
        next(Bare().get_epoch_iterator())


def test_axis_labels_without_the_batch_axis_for_examples():
    labels = {'a': ('batch', 'x'), 'b': ('batch',), 'c': None}
    dataset = IndexableDataset({'a': [[1]], 'b': [1], 'c': [1]}, axis_labels=labels)
    batches = DataStream(dataset, iteration_scheme=SequentialScheme(1, 1))
    assert batches.axis_labels == labels
    examples = DataStream(dataset, iteration_scheme=SequentialExampleScheme(1))
    assert examples.axis_labels == {'a': ('x',), 'b': (), 'c': None}
    assert dataset.axis_labels == labels
    assert DataStream(IndexableDataset([1]), iteration_scheme=SequentialScheme(
        1, 1)).axis_labels is None
    given = DataStream(dataset, iteration_scheme=SequentialScheme(1, 1),
                       axis_labels={'a': ('q', 'r')})
    assert given.axis_labels == {'a': ('q', 'r')}


def test_lengths():
    batches = stream_of(10, ShuffledScheme(10, 4))
    assert (batches.num_examples, batches.num_batches, len(batches)) == (10, 3, 3)
    examples = stream_of(10, SequentialExampleScheme(7))
    assert (examples.num_examples, examples.num_batches, len(examples)) == (7, None, 7)
    read_on = DataStream(IterableDataset([1, 2]))
    assert (read_on.num_examples, len(read_on)) == (2, 2)
    chain = Cast(Mapping(batches, lambda data: data), 'float32')
    assert (chain.num_examples, chain.num_batches, len(chain)) == (10, 3, 3)
    unknown = DataStream(IterableDataset(iter([1])))
    assert unknown.num_examples is None
    assert bool(unknown)
    with pytest.raises(TypeError, match='not known'):
        len(unknown)


def test_sources_can_be_assigned():
    stream = stream_of()
    assert stream.sources == ('a', 'b')
    stream.sources = {'x': 1, 'y': 2}.keys()
    assert stream.sources == ('x', 'y')
    assert list(next(stream.get_epoch_iterator(as_dict=True))) == ['x', 'y']
    assert pickle.loads(pickle.dumps(stream)).sources == ('x', 'y')
    with pytest.raises(ValueError, match=r"such as \('ab',\)"):
        stream.sources = 'ab'


def test_batch_scheme_over_iterable_data_set_names_the_way_out():
    stream = DataStream(IterableDataset([1, 2]), iteration_scheme=SequentialScheme(2, 1))
    with pytest.raises(ValueError, match='Use IndexableDataset'):
        next(stream.get_epoch_iterator())


def test_default_stream():
    class Pixels(IndexableDataset):
        default_transformers = ((ScaleAndShift, [2, 1], {'which_sources': ('a', 'missing')}),
                                (Cast, ['float32'], {}),
                                (Cast, ['int8'], {'which_sources': ('missing',)}))

    dataset = Pixels({'a': numpy.arange(3), 'b': numpy.arange(3)})
    scheme = SequentialScheme(3, 3)
    (a, b), = DataStream.default_stream(dataset, iteration_scheme=scheme).get_epoch_iterator()
    assert a.tolist() == [1, 3, 5]
    assert b.tolist() == [0, 1, 2]
    assert a.dtype == b.dtype == numpy.float32
    (a, _), = DataStream(dataset, iteration_scheme=scheme).get_epoch_iterator()
    assert a.dtype == numpy.int64


# Saved states.

def test_state_is_small_plain_and_versioned():
    stream = stream_of(10**7, SequentialScheme(10**7, 128))
    chain = Cast(ScaleAndShift(stream, 2, 0), 'float32')
    iterator = chain.get_epoch_iterator()
    next(iterator)
    assert len(json.dumps(stream.state_dict())) < 500
    assert len(json.dumps(chain.state_dict())) < 1000
    assert chain.state_dict()['version'] == 1
    assert chain.state_dict() == iterator.state_dict()


def test_state_of_a_shuffled_stream_over_ten_million_examples():
    def make():
        return DataStream(IndexableDataset(numpy.arange(10**7, dtype='int32')),
                          iteration_scheme=ShuffledScheme(10**7, 1000))
    stream = make()
    stream.get_epoch_iterator()
    iterator = stream.get_epoch_iterator()
    for _ in range(50):
        next(iterator)
    text = json.dumps(stream.state_dict())
    assert len(text) < 5000
    other = make()
    other.load_state_dict(json.loads(text))
    assert next(other.get_epoch_iterator())[0].tolist() == next(iterator)[0].tolist()


def test_state_before_the_first_epoch():
    stream, other = stream_of(), stream_of()
    other.get_epoch_iterator()
    other.load_state_dict(stream.state_dict())
    assert firsts(other.get_epoch_iterator()) == [[7, 2, 1, 6], [0, 4, 3, 5]]


def test_state_at_the_end_is_that_of_the_next_epoch():
    stream, other = stream_of(), stream_of()
    iterator = stream.get_epoch_iterator()
    list(iterator)
    assert stream.state_dict()['done']
    other.load_state_dict(stream.state_dict())
    newest = other.get_epoch_iterator()
    assert newest.epoch == 1
    assert firsts(newest) == [[2, 3, 4, 7], [1, 6, 0, 5]]


def test_state_before_the_end_was_seen_leaves_an_empty_rest():
    stream, other = stream_of(), stream_of()
    iterator = stream.get_epoch_iterator()
    next(iterator), next(iterator)
    other.load_state_dict(stream.state_dict())
    assert firsts(other.get_epoch_iterator()) == []
    assert firsts(other.get_epoch_iterator()) == [[2, 3, 4, 7], [1, 6, 0, 5]]


def test_state_of_an_older_iterator():
    stream = stream_of(12, ShuffledScheme(12, 4))
    chain = Cast(stream, 'int32')
    training = chain.get_epoch_iterator()
    next(training)
    for _ in range(2):  # monitoring, on the stream below
        list(stream.get_epoch_iterator())
    state = json.loads(json.dumps(training.state_dict()))
    left = firsts(training), firsts(stream.get_epoch_iterator())
    fresh = DataStream(stream.dataset, iteration_scheme=ShuffledScheme(12, 4))
    other = Cast(fresh, 'int32')
    other.load_state_dict(state)
    resumed = other.get_epoch_iterator()
    assert (resumed.epoch, resumed.step) == (0, 1)
    assert (firsts(resumed), firsts(fresh.get_epoch_iterator())) == left


def test_pickled_pair_keeps_shared_references():
    stream = stream_of()
    iterator = stream.get_epoch_iterator()
    next(iterator)
    other, resumed = pickle.loads(pickle.dumps((stream, iterator)))
    assert resumed.data_stream is other
    assert resumed.cursor is other.epoch_cursor
    chain = Cast(stream, 'float32')
    pair = pickle.loads(pickle.dumps((chain, chain.get_epoch_iterator())))
    assert pair[1].child is pair[0].child_epoch_iterator


def test_wrong_states():
    stream = stream_of()
    state = stream.state_dict()
    with pytest.raises(StateError, match='expected the dict that state_dict'):
        stream.load_state_dict([1])
    with pytest.raises(StateError, match='got that of a DataStream'):
        Cast(stream, 'int8').load_state_dict(state)
    with pytest.raises(StateError, match='version 99'):
        stream.load_state_dict({**state, 'version': 99})
    next(stream.get_epoch_iterator())
    other = stream_of(scheme=ShuffledScheme(8, 2))
    with pytest.raises(FuelError, match='batch_size 4; this ShuffledScheme has 2'):
        other.load_state_dict(stream.state_dict())
