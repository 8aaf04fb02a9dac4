"""Uses of streams that are easy to get wrong: unusual subclasses, names, states, failures."""
import json
import os
import pickle
import subprocess
import sys
from itertools import islice

import numpy
import pytest

import fuel
from fuel.datasets import Dataset, IndexableDataset, IterableDataset, TextFile
from fuel.exceptions import StateError, SupersededIteratorError
from fuel.iterator import DataIterator
from fuel.schemes import (
    ConcatenatedScheme,
    ConstantScheme,
    SequentialExampleScheme,
    SequentialScheme,
    ShuffledScheme,
)
from fuel.streams import AbstractDataStream, DataStream
from fuel.testing import check_stream
from fuel.transformers import (
    AgnosticSourcewiseTransformer,
    AgnosticTransformer,
    Cast,
    Mapping,
    ScaleAndShift,
    SourcewiseTransformer,
    Transformer,
)


def dataset():
    return IndexableDataset({'a': numpy.arange(8), 'b': numpy.arange(8) * 10})


def stream_of(scheme=None):
    return DataStream(dataset(), iteration_scheme=scheme or SequentialScheme(8, 2))


def firsts(iterator):
    return [numpy.asarray(data[0]).tolist() for data in iterator]


def resumed(make, iterator_or_stream):
    """Return a new stream that goes on from the state of another."""
    other = make()
    other.load_state_dict(json.loads(json.dumps(iterator_or_stream.state_dict())))
    return other


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
    sizes_only = message in ('batch_size', 'sorted_indices')
    if sizes_only and steps in (0, 5):
        return  # at the end of an epoch the next one is begun anew
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


# Failures.

def test_stop_iteration_out_of_a_function_is_no_end():
    calls = []

    def mapping(data):
        calls.append(data)
        if len(calls) == 3:
            next(iter([]))
        return data

    iterator = Mapping(stream_of(), mapping).get_epoch_iterator()
    next(iterator), next(iterator)
    with pytest.raises(RuntimeError, match='StopIteration'):
        next(iterator)

    class Ends(Lazy):
        def __getitem__(self, place):
            raise StopIteration

    with pytest.raises(RuntimeError, match='StopIteration'):
        IndexableDataset(Ends()).get_data(request=[0])


@pytest.mark.parametrize('make', [
    lambda: DataStream(IterableDataset(list(range(5)))), lambda: stream_of(
        SequentialExampleScheme(5))])
def test_interrupted_step_is_not_lost(make):
    interrupts = [1, 1, 3]

    def mapping(data):
        if interrupts and data[0] == interrupts[0]:
            interrupts.pop(0)
            raise KeyboardInterrupt
        return data

    stream = Mapping(make(), mapping)
    iterator, given = stream.get_epoch_iterator(), []
    while len(given) < 5:
        try:
            given.append(int(next(iterator)[0]))
        except KeyboardInterrupt:
            other, rest = pickle.loads(pickle.dumps((stream.data_stream, iterator.child)))
            assert other is rest.data_stream
    assert given == list(range(5))


class Flaky(Dataset):
    provides_sources = ('x',)
    example_iteration_scheme = None

    def get_data(self, state=None, request=None):
        if request == 'missing':
            raise FileNotFoundError(request)
        return (request,)


def test_loop_that_skips_missing_files_ends():
    scheme = SequentialExampleScheme(['one', 'missing', 'three'])
    iterator = DataStream(Flaky(), iteration_scheme=scheme).get_epoch_iterator()
    given, errors = [], 0
    while True:
        try:
            given.append(next(iterator)[0])
        except FileNotFoundError:
            errors += 1
        except StopIteration:
            break
    assert given == ['one', 'three']
    assert errors == 2  # once more, in case that it was mended meanwhile


# Closing.

class Strict(Dataset):
    """A data set whose states must not be closed twice."""

    provides_sources = ('x',)
    example_iteration_scheme = None

    def open(self):
        return iter([1, 2, 3])

    def close(self, state):
        state.__length_hint__()

    def get_data(self, state=None, request=None):
        return (next(state),)


def test_closed_streams_open_again(tmp_path):
    (tmp_path / 'text').write_text('a b\n')
    dictionary = {'<S>': 0, '</S>': 1, '<UNK>': 2}
    for make in (lambda: DataStream(Strict()),
                 lambda: DataStream(TextFile([str(tmp_path / 'text')], dictionary))):
        expected = list(make().get_epoch_iterator())
        stream = make()
        stream.close()
        stream.close()
        stream.state_dict()
        assert list(stream.get_epoch_iterator()) == expected
        stream.close()
        stream.reset()
        assert list(stream.get_epoch_iterator()) == expected
        stream.close()
        stream.load_state_dict(make().state_dict())
        assert list(stream.get_epoch_iterator()) == expected
        stream.close()


# Wrong arguments.

@pytest.mark.parametrize(('arguments', 'message'), [
    ((numpy.arange(3),), 'expected a data set; got ndarray'),
    ((dataset(), 5), 'expected an iteration scheme; got int')])
def test_wrong_arguments(arguments, message):
    with pytest.raises(TypeError, match=message):
        DataStream(*arguments)


def test_transformer_without_a_stream():
    class Sourceless(Transformer):
        def __init__(self):
            super(Transformer, self).__init__()

    stream = Sourceless()
    assert stream.axis_labels is None
    with pytest.raises(ValueError, match='produces_examples'):
        _ = stream.produces_examples
    with pytest.raises(StateError, match='wraps no stream'):
        stream.state_dict()


def test_request_iterator_can_be_assigned():
    iterator = stream_of().get_epoch_iterator()
    iterator.request_iterator = iter([[7], [0, 0]])
    assert firsts(iterator) == [[7], [0, 0]]


# Cost.

def test_long_chains_cost_in_proportion():
    """A step of a chain four times as long takes nowhere near sixteen times as long."""
    code = '''
import time, numpy
from fuel.datasets import IndexableDataset
from fuel.schemes import SequentialScheme
from fuel.streams import DataStream
from fuel.transformers import AgnosticSourcewiseTransformer
class Same(AgnosticSourcewiseTransformer):
    def transform_any_source(self, source, name):
        return source
def step(depth):
    stream = DataStream(IndexableDataset(numpy.arange(40000)),
                        iteration_scheme=SequentialScheme(40000, 2))
    for _ in range(depth):
        stream = Same(stream)
    best = 9e9
    iterator = stream.get_epoch_iterator()
    for _ in range(20):
        start = time.perf_counter()
        for _ in range(50):
            next(iterator)
        best = min(best, time.perf_counter() - start)
    return best
print(step(40) / step(10))
'''
    folder = os.path.dirname(os.path.dirname(fuel.__file__))
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True,
                          env={**os.environ, 'PYTHONPATH': folder})
    assert float(done.stdout) < 8


class Sized(Dataset):
    provides_sources = ('x',)
    example_iteration_scheme = None

    def get_data(self, state=None, request=None):
        return (numpy.arange(request),)


def test_sizes_as_requests_resume():
    check_stream(lambda: DataStream(Sized(), iteration_scheme=ConstantScheme(3, num_examples=7)),
                 new_process=False)
