"""States that do not fit, are not whole, or cannot be told."""
import json
import pickle
from itertools import islice

import numpy
import pytest

import fuel
from fuel.datasets import IterableDataset
from fuel.exceptions import StateError, SupersededIteratorError
from fuel.iterator import DataIterator
from fuel.schemes import (
    SequentialScheme,
    ShuffledScheme,
)
from fuel.streams import AbstractDataStream, DataStream
from fuel.testing import check_stream
from fuel.transformers import (
    AgnosticSourcewiseTransformer,
    AgnosticTransformer,
    Cast,
    ScaleAndShift,
    Transformer,
)
from tests.streams.common import dataset, firsts, stream_of

# States.

def two_over_one():
    stream = stream_of()
    return stream, ScaleAndShift(stream, 1, 0), ScaleAndShift(stream, 100, 0)


def test_two_transformers_over_one_stream_keep_their_own_places():
    _, one, other = two_over_one()
    first, second = one.get_epoch_iterator(), other.get_epoch_iterator()
    next(first), next(first), next(second)
    states = [json.dumps(first.state_dict()), json.dumps(second.state_dict())]
    left = firsts(first), firsts(second)
    _, one, other = two_over_one()
    one.load_state_dict(json.loads(states[0]))
    other.load_state_dict(json.loads(states[1]))
    assert (firsts(one.get_epoch_iterator()), firsts(other.get_epoch_iterator())) == left


class OwnDataIterator(AbstractDataStream):
    """Makes its own DataIterator, so that nobody else can say where it stands."""

    produces_examples = False
    sources = ('a', 'b')

    def __init__(self):
        super().__init__(iteration_scheme=ShuffledScheme(8, 2))
        self.data = dataset()

    def get_data(self, request=None):
        return self.data.get_data(None, request)

    def get_epoch_iterator(self, as_dict=False):
        return DataIterator(self, self.iteration_scheme.get_request_iterator(), as_dict)


def test_stream_that_makes_its_own_iterator_has_no_state():
    stream = OwnDataIterator()
    iterator = stream.get_epoch_iterator()
    next(iterator)
    for thing in (stream, iterator):
        with pytest.raises(StateError, match='OwnDataIterator'):
            thing.state_dict()
    assert firsts(pickle.loads(pickle.dumps((stream, iterator)))[1]) == firsts(iterator)


class Chained(Transformer):
    """Gives two streams, one after the other, by a generator."""

    def __init__(self, data_stream, other):
        super().__init__(data_stream)
        self.other = other

    def get_epoch_iterator(self, as_dict=False):
        yield from self.data_stream.get_epoch_iterator(as_dict=as_dict)
        yield from self.other.get_epoch_iterator(as_dict=as_dict)


def test_overridden_get_epoch_iterator_has_no_state_and_no_length():
    stream = Chained(stream_of(), stream_of())
    assert len(list(stream.get_epoch_iterator())) == 8
    assert stream.num_examples is None
    with pytest.raises(StateError, match='Chained overrides get_epoch_iterator'):
        stream.state_dict()


def test_superseded_iterator_has_no_state():
    class Drawing(Transformer):
        def get_data(self, request=None):
            return next(self.child_epoch_iterator)

        def _state(self):
            return {}

    stream = Drawing(stream_of())
    older = stream.get_epoch_iterator()
    next(older)
    stream.get_epoch_iterator()
    with pytest.raises(SupersededIteratorError):
        older.state_dict()


class OldNoise(AgnosticSourcewiseTransformer):
    """Draws from a RandomState of its own, in the old style."""

    def __init__(self, data_stream):
        super().__init__(data_stream)
        self.rng = numpy.random.RandomState(2)

    def transform_any_source(self, source_data, source_name):
        return source_data + self.rng.randint(1000)


def test_generator_of_a_transformer_is_in_its_state():
    check_stream(lambda: OldNoise(stream_of()), new_process=False, remembers=True)


class OwnShuffle(numpy.random.RandomState):
    def shuffle(self, items):
        items[:] = items[::-1]


def test_generator_with_a_shuffle_of_its_own():
    stream = stream_of(ShuffledScheme(8, 2, rng=OwnShuffle(1)))
    iterator = stream.get_epoch_iterator()
    next(iterator)
    with pytest.raises(StateError, match='order of ShuffledScheme cannot be told'):
        stream.state_dict()
    assert firsts(pickle.loads(pickle.dumps((stream, iterator)))[1]) == [[5, 4], [3, 2], [1, 0]]


@pytest.mark.parametrize(('saved', 'loading', 'message'), [
    (SequentialScheme(8, 2), ShuffledScheme(8, 2), 'without an rng'),
    (ShuffledScheme(8, 2), SequentialScheme(8, 2), 'has no rng'),
    (ShuffledScheme(8, 2), ShuffledScheme(8, 2, sorted_indices=True), 'sorted_indices'),
    (ShuffledScheme(8, 2), ShuffledScheme(8, 2, rng=numpy.random.default_rng(0)), 'another kind'),
    (SequentialScheme(8, 2), SequentialScheme(8, 4), 'batch_size'),
    (SequentialScheme(range(8), 2), None, 'with an iteration scheme')])
@pytest.mark.parametrize('steps', [0, 1, 5])
def test_states_of_other_schemes(saved, loading, message, steps):
    stream = stream_of(saved)
    if steps:
        list(islice(stream.get_epoch_iterator(), steps))
    other = DataStream(dataset(), iteration_scheme=loading) if loading is not None else DataStream(
        IterableDataset([1]))
    if message in ('batch_size', 'sorted_indices') and steps in (0, 5):
        # Between two epochs nothing depends on sizes: the next one is begun with the new ones.
        other.load_state_dict(stream.state_dict())
        assert len(list(other.get_epoch_iterator())) == loading.num_requests
        return
    with pytest.raises(StateError, match=message):
        other.load_state_dict(stream.state_dict())
        other.get_epoch_iterator()


@pytest.mark.parametrize('make', [stream_of, lambda: Cast(stream_of(), 'int8')])
def test_incomplete_states(make):
    stream = make()
    with pytest.raises(StateError, match='lacks'):
        stream.load_state_dict({'version': 1, 'class': type(stream).__name__})
    state = stream_of().state_dict()
    state.update(step=1000, done=False, epoch=0, requests={'examples': 8, 'batch_size': 2})
    stream = stream_of()
    stream.load_state_dict(state)
    with pytest.raises(StateError, match='after 1000 requests .* this DataStream has 4'):
        stream.get_epoch_iterator()


def test_loaded_state_is_a_copy():
    stream = stream_of()
    next(stream.get_epoch_iterator())
    state = stream.state_dict()
    other = stream_of()
    other.load_state_dict(state)
    state['step'] = 3
    assert firsts(other.get_epoch_iterator()) == [[2, 3], [4, 5], [6, 7]]


class Keyed(AgnosticTransformer):
    def transform_any(self, data):
        return (self.generator().integers(1 << 60),)


def test_seed_is_that_of_the_time_of_construction():
    fuel.config.default_seed = 123
    stream = Keyed(stream_of())
    iterator = stream.get_epoch_iterator()
    next(iterator)
    pair, state = pickle.dumps((stream, iterator)), stream.state_dict()
    left = [data[0] for data in iterator]
    fuel.config.default_seed = 1
    assert [data[0] for data in pickle.loads(pair)[1]] == left
    other = Keyed(stream_of())
    other.load_state_dict(json.loads(json.dumps(state)))
    assert [data[0] for data in other.get_epoch_iterator()] == left
