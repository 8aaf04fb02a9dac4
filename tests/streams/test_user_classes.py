"""Data sets, schemes and transformers of users that are easy to get wrong."""
import pickle
from itertools import islice

import numpy
import pytest

from fuel.datasets import IndexableDataset, IterableDataset
from fuel.exceptions import StateError, SupersededIteratorError
from fuel.schemes import (
    ConcatenatedScheme,
    SequentialExampleScheme,
    SequentialScheme,
    ShuffledScheme,
)
from fuel.streams import DataStream
from fuel.testing import check_stream
from fuel.transformers import (
    AgnosticTransformer,
    SourcewiseTransformer,
    Transformer,
)
from tests.streams.common import dataset, firsts, resumed, stream_of

# Data that come once only.

def test_two_iterators_over_data_that_come_once_do_not_mix():
    stream = DataStream(IterableDataset(iter(range(6))))
    older, newer = stream.get_epoch_iterator(), stream.get_epoch_iterator()
    with pytest.raises(SupersededIteratorError):
        next(older)
    assert firsts(newer) == list(range(6))


def test_state_of_data_that_come_once():
    stream = DataStream(IterableDataset(iter(range(6))))
    next(stream.get_epoch_iterator())
    fresh = resumed(lambda: DataStream(IterableDataset(iter(range(6)))), stream)
    assert firsts(fresh.get_epoch_iterator()) == [1, 2, 3, 4, 5]
    stream.load_state_dict(stream.state_dict())
    with pytest.raises(StateError, match='an iterator from which something was drawn already'):
        stream.get_epoch_iterator()


def test_state_of_a_longer_data_set():
    stream = DataStream(IterableDataset({'a': dict.fromkeys(range(6))}))
    list(islice(stream.get_epoch_iterator(), 5))
    shorter = resumed(lambda: DataStream(IterableDataset({'a': dict.fromkeys(range(2))})), stream)
    with pytest.raises(StateError, match='saved after 5 examples of an epoch; this .* has 2'):
        shorter.get_epoch_iterator()


# Schemes of users.

class Subsample(ShuffledScheme):
    """Draws which examples to visit before it calls its base."""

    def get_request_iterator(self):
        self.indices = sorted(self.rng.choice(8, 4, replace=False).tolist())
        return super().get_request_iterator()


class Offset(SequentialScheme):
    """Has a generator of its own, and attributes that the bases have no use for."""

    def __init__(self, *args, **kwargs):
        self.start, self.stop, self.num_examples = 2, 6, 4
        super().__init__(*args, **kwargs)
        self.rng = numpy.random.RandomState(3)

    def get_request_iterator(self):
        self.indices = [(place + int(self.rng.randint(8))) % 8 for place in range(8)]
        return super().get_request_iterator()


class Growing(SequentialScheme):
    """Keeps a number from epoch to epoch, and says so."""

    size = 1

    def get_request_iterator(self):
        self.size += 1
        self.indices = range(self.size)
        return super().get_request_iterator()

    def state_dict(self):
        return {'size': self.size}

    def load_state_dict(self, state):
        self.size = state['size']


@pytest.mark.parametrize('make_scheme', [
    lambda: Subsample(8, 2), lambda: Offset(8, 2), lambda: Growing(8, 2),
    lambda: ConcatenatedScheme([Subsample(8, 3), Growing(8, 2)])])
def test_schemes_that_do_something_before_their_base_does(make_scheme):
    check_stream(lambda: stream_of(make_scheme()), new_process=False)


def test_scheme_without_a_base_class():
    class Plain:
        requests_examples = False

        def get_request_iterator(self):
            return iter([[0, 1], [5]])

    stream = DataStream(dataset(), iteration_scheme=Plain())
    assert firsts(stream.get_epoch_iterator()) == [[0, 1], [5]]
    assert stream.num_examples is None


class OwnIterator(SequentialScheme):
    position = 0

    def get_request_iterator(self):
        return self

    def __iter__(self):
        return self

    def __next__(self):
        self.position = (self.position + 1) % 8
        return [self.position]


def test_scheme_that_is_its_own_iterator_has_no_state():
    stream = stream_of(OwnIterator(8, 2))
    next(stream.get_epoch_iterator())
    with pytest.raises(StateError, match='OwnIterator cannot be told in plain data'):
        stream.state_dict()


def test_mixin_with_an_order_of_its_own_has_no_known_length():
    class Once:
        def get_request_iterator(self):
            return iter([[0]])

    class Mixed(Once, SequentialScheme):
        pass

    assert Mixed(8, 2).num_requests is None


# Data sets of users.

class Counting(IndexableDataset):
    epochs = 0

    def next_epoch(self, state):
        self.epochs += 1
        return super().next_epoch(state)


class SharedState(IterableDataset):
    """Opens its data once, and gives the same state to everybody."""

    def open(self):
        if not hasattr(self, 'state'):
            self.state = super().open()
        return self.state


def test_overridden_next_epoch_is_called():
    stream = DataStream(Counting(numpy.arange(8)), iteration_scheme=SequentialScheme(8, 4))
    for _ in range(3):
        list(stream.get_epoch_iterator())
    assert stream.dataset.epochs == 2

    class Told(DataStream):
        told = 0

        def next_epoch(self):
            self.told += 1
            super().next_epoch()

    stream = Told(IterableDataset([1, 2]))
    for _ in range(3):
        assert len(list(stream.get_epoch_iterator())) == 2
    assert stream.told == 2


def test_state_that_is_shared_is_not_mixed():
    stream = DataStream(SharedState([1, 2, 3, 4]))
    older = stream.get_epoch_iterator()
    stream.get_epoch_iterator()
    with pytest.raises(SupersededIteratorError):
        next(older)


class Lazy:
    """Can be indexed by a place, and by nothing else."""

    def __len__(self):
        return 8

    def __getitem__(self, place):
        return numpy.full(2, place)


def test_things_that_know_no_slices():
    stream = DataStream(IndexableDataset(Lazy()), iteration_scheme=SequentialScheme(8, 3))
    (batch,) = next(stream.get_epoch_iterator())
    assert [row.tolist() for row in batch] == [[0, 0], [1, 1], [2, 2]]


def test_overridden_get_data_is_given_lists_wherever_it_comes_from():
    def checking(self, state=None, request=None):
        assert type(request) is list
        return IndexableDataset.get_data(self, state, request)

    class Mixin:
        get_data = checking

    class Mixed(Mixin, IndexableDataset):
        pass

    stream = DataStream(Mixed(numpy.arange(8)), iteration_scheme=SequentialScheme(8, 4))
    assert firsts(stream.get_epoch_iterator()) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    patched = dataset()
    patched.get_data = lambda state=None, request=None: checking(patched, state, request)
    stream = DataStream(patched, iteration_scheme=SequentialScheme(8, 4))
    assert firsts(stream.get_epoch_iterator()) == [[0, 1, 2, 3], [4, 5, 6, 7]]


def test_indexables_may_be_replaced():
    data = dataset()
    data.indexables = [numpy.arange(20), numpy.arange(20)]
    assert data.num_examples == 20
    assert data.get_data(request=19)[0] == 19


def test_rows_of_a_file_stay_there(tmp_path):
    import h5py
    with h5py.File(tmp_path / 'data.hdf5', 'w') as file:
        file['x'] = numpy.arange(20).reshape(10, 2)
        data = IndexableDataset({'x': file['x']}, start=3, stop=9)
        assert data.num_examples == 6
        expected = numpy.arange(20).reshape(10, 2)[3:9]
        for request in ([5, 0, 0], slice(1, 6, 2), 4):
            assert numpy.array_equal(data.get_data(request=request)[0], expected[request])
        file['x'][3] = 99
        assert data.get_data(request=0)[0].tolist() == [99, 99]


@pytest.mark.parametrize('iterable', [
    [[numpy.arange(3)], [numpy.arange(3)]], [(numpy.arange(3), 1), (numpy.arange(3), 2)],
    numpy.zeros(2, dtype=[('a', 'i4')]), [[1, 2], [3]]])
@pytest.mark.parametrize('kind', [IterableDataset, IndexableDataset])
def test_nothing_that_is_given_out_belongs_to_the_data_set(iterable, kind):
    scheme = None if kind is IterableDataset else SequentialExampleScheme(2)
    check_stream(lambda: DataStream(kind(iterable), iteration_scheme=scheme), new_process=False)
    stream = DataStream(kind(iterable), iteration_scheme=scheme)
    before = repr(iterable)
    for data, in stream.get_epoch_iterator():
        if isinstance(data, list):
            data.append(5)
        elif isinstance(data, tuple):
            data[0][...] = 7
        else:
            data['a'] = 55
    assert repr(iterable) == before


@pytest.mark.parametrize('request_', [numpy.array([], dtype=int), numpy.zeros((2, 2), dtype=int)])
def test_odd_arrays_as_requests(request_):
    with pytest.raises(ValueError, match='expected'):
        dataset().get_data(request=request_)


# Names that programs use for things of their own.

class Names(SourcewiseTransformer):
    """Has attributes and methods with the names of internal things."""

    def __init__(self, data_stream, **kwargs):
        super().__init__(data_stream, **kwargs)
        self.cursor = 0
        self._loaded = False
        self._state = 0
        self.num_examples = 3
        self.groups = None

    def transform(self, image):
        return image * 2

    def transform_source_batch(self, source_batch, source_name):
        self.cursor += 1
        return self.transform(source_batch)


def test_names_do_not_collide():
    stream = Names(stream_of(), which_sources=('a',))
    assert firsts(stream.get_epoch_iterator()) == [[0, 2], [4, 6], [8, 10], [12, 14]]
    assert stream.cursor == 4
    assert stream.num_examples == 3
    iterator = stream.get_epoch_iterator()
    next(iterator)
    assert firsts(pickle.loads(pickle.dumps((stream, iterator)))[1]) == firsts(iterator)


# Programs that draw from child_epoch_iterator.

class Doubled(Transformer):
    """Takes a second batch from the wrapped stream for each one."""

    def transform_batch(self, batch):
        other = next(self.child_epoch_iterator)
        return tuple(numpy.concatenate(pair) for pair in zip(batch, other, strict=True))


def test_iterators_of_a_transformer_that_draws_by_itself_do_not_mix():
    stream = Doubled(stream_of())
    older, newer = stream.get_epoch_iterator(), stream.get_epoch_iterator()
    pairs = [(one[0].tolist(), other[0].tolist())
             for one, other in zip(older, newer, strict=True)]
    assert pairs == [([0, 1, 2, 3],) * 2, ([4, 5, 6, 7],) * 2]


class Truncated(AgnosticTransformer):
    """Puts something around the iterator over the wrapped stream."""

    def get_epoch_iterator(self, **kwargs):
        iterator = super().get_epoch_iterator(**kwargs)
        self.child_epoch_iterator = islice(self.child_epoch_iterator, 2)
        return iterator

    def transform_any(self, data):
        return data


def test_replaced_child_epoch_iterator_is_used():
    stream = Truncated(stream_of())
    for _ in range(2):
        assert firsts(stream.get_epoch_iterator()) == [[0, 1], [2, 3]]
    assert stream.num_examples is None
