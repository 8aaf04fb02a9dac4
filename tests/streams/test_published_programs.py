"""Streams as published programs write them."""
import json
import pickle

import numpy
import pytest

from fuel._itertools import iter_
from fuel.datasets import Dataset, IndexableDataset
from fuel.exceptions import StateError, SupersededIteratorError
from fuel.iterator import DataIterator
from fuel.schemes import (
    ConstantScheme,
    SequentialScheme,
)
from fuel.streams import AbstractDataStream, DataStream
from fuel.transformers import Cast, Transformer
from tests.streams.labelled import firsts, stream_of


class Sizes(Dataset):
    """Takes a number of examples as its request, and keeps a generator as its state."""

    provides_sources = ('x',)

    def open(self):
        return numpy.random.RandomState(3)

    def get_data(self, state=None, request=None):
        return (state.randint(100, size=request),)


def test_sizes_as_requests():
    def make():
        return DataStream(Sizes(), iteration_scheme=ConstantScheme(3, times=4))
    stream = make()
    iterator = stream.get_epoch_iterator()
    next(iterator)
    text = json.dumps(stream.state_dict())
    left = firsts(pickle.loads(pickle.dumps((stream, iterator)))[1])
    assert firsts(iterator) == left
    other = make()
    other.load_state_dict(json.loads(text))
    assert firsts(other.get_epoch_iterator()) == left


class Fixed(AbstractDataStream):
    """A stream without a data set, which builds its own DataIterator."""

    produces_examples = True
    sources = ('x',)

    def get_data(self, request=None):
        return (request,)

    def get_epoch_iterator(self, as_dict=False):
        return DataIterator(self, iter_(list('abc')), as_dict)


def test_stream_that_makes_its_own_iterator():
    stream = Fixed()
    iterator = stream.get_epoch_iterator()
    assert iterator.request_iterator is not None
    assert list(iterator) == [('a',), ('b',), ('c',)]
    second = stream.get_epoch_iterator(as_dict=True)
    assert second.epoch == 1
    assert next(second) == {'x': 'a'}
    assert list(pickle.loads(pickle.dumps((stream, second)))[1]) == [{'x': 'b'}, {'x': 'c'}]
    assert list(Cast(stream, 'S1').get_epoch_iterator()) == [(b'a',), (b'b',), (b'c',)]


class Lazy(Transformer):
    """Overrides everything, calls no constructor but that of the base of all streams."""

    def __init__(self, streams):
        super(Transformer, self).__init__()
        self.streams = streams
        self.sources = streams[0].sources
        self.produces_examples = False

    def get_epoch_iterator(self, **kwargs):
        self.children = [stream.get_epoch_iterator() for stream in self.streams]
        return DataIterator(self, **kwargs)

    def get_data(self, request=None):
        return tuple(numpy.concatenate(parts)
                     for parts in zip(*[next(child) for child in self.children], strict=True))

    def close(self):
        for stream in self.streams:
            stream.close()


def test_transformer_over_several_streams_that_overrides_everything():
    lazy = Lazy([stream_of(), stream_of(scheme=SequentialScheme(8, 4))])
    assert firsts(lazy.get_epoch_iterator()) == [[7, 2, 1, 6, 0, 1, 2, 3], [0, 4, 3, 5, 4, 5, 6, 7]]
    assert len(list(Cast(lazy, 'int8').get_epoch_iterator())) == 2
    lazy.close()


class Whitening(Transformer):
    """Has a scheme of its own, and asks the wrapped stream by requests."""

    def __init__(self, data_stream, iteration_scheme):
        super().__init__(data_stream, iteration_scheme=iteration_scheme)
        data, _ = data_stream.get_data(slice(0, data_stream.dataset.num_examples))
        self.mean = int(data.mean())

    def get_data(self, request=None):
        return tuple(item - self.mean for item in self.data_stream.get_data(request))


def test_transformer_with_a_scheme_of_its_own():
    stream = DataStream(IndexableDataset({'a': numpy.arange(5), 'b': numpy.arange(5)}))
    whitening = Whitening(stream, SequentialScheme(5, 2))
    assert not whitening.produces_examples
    assert firsts(whitening.get_epoch_iterator()) == [[-2, -1], [0, 1], [2]]
    assert firsts(whitening.get_epoch_iterator()) == [[-2, -1], [0, 1], [2]]


class Segments(Transformer):
    """Cuts each example into single items: get_data keeps something over several calls."""

    produces_examples = True
    left = ()

    @property
    def sources(self):
        return ('item',)

    def get_data(self, request=None):
        if not len(self.left):
            self.left = list(next(self.child_epoch_iterator)[0])
        item, *self.left = self.left
        return (item,)


def test_transformer_that_keeps_something_over_several_calls():
    stream = Segments(stream_of(scheme=SequentialScheme(8, 3)))
    iterator = stream.get_epoch_iterator()
    assert [next(iterator)[0] for _ in range(4)] == [0, 1, 2, 3]
    _, resumed = pickle.loads(pickle.dumps((stream, iterator)))
    assert [int(item) for item, in resumed] == [4, 5, 6, 7]
    assert stream.num_examples is None
    with pytest.raises(StateError, match='Segments overrides get_data'):
        stream.state_dict()
    older = stream.get_epoch_iterator()
    stream.get_epoch_iterator()
    with pytest.raises(SupersededIteratorError):
        next(older)
