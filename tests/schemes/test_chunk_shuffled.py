"""Every example once, chunks together, random enough, and resumable at no cost."""
import collections
import functools
import hashlib
import itertools
import json
import pickle
import random
import tracemalloc

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fuel
from fuel.datasets import IndexableDataset
from fuel.exceptions import StateError
from fuel.schemes import (
    ChunkedExamples,
    ChunkShuffledExampleScheme,
    ChunkShuffledScheme,
    ConcatenatedScheme,
)
from fuel.schemes import chunked as module
from fuel.streams import DataStream
from fuel.testing import check_scheme, check_stream


def epoch(scheme):
    return list(scheme.get_request_iterator())


def flat(requests):
    return list(itertools.chain(*requests))


class Told:
    """A data set that tells the chunks of its examples, and counts how often it was asked."""

    def __init__(self, chunks):
        self.chunks = chunks
        self.asked = 0

    def example_chunks(self):
        self.asked += 1
        return self.chunks


def windows_of(order, chunk_of, window):
    """Divide an order into windows, taking only what is said about them: whole chunks together."""
    chunks = list(dict.fromkeys(chunk_of(example) for example in order))
    sizes = collections.Counter(chunk_of(example) for example in order)
    place = 0
    for first in range(0, len(chunks), window):
        part = chunks[first:first + window]
        end = place + sum(sizes[chunk] for chunk in part)
        yield part, order[place:end]
        place = end


@st.composite
def cases(draw):
    """Give examples, what tells their chunks, and a function that does so too."""
    total = draw(st.integers(1, 200))
    kind = draw(st.sampled_from(['number', 'range', 'steps', 'list', 'array']))
    start = draw(st.integers(0, total - 1))
    stop = draw(st.integers(start + 1, total))
    examples = {'number': total, 'range': range(start, stop),
                'steps': range(stop - 1, start - 1, -1) if start else range(0, stop, 3)}.get(kind)
    if examples is None:
        examples = draw(st.lists(st.integers(0, total - 1), min_size=1, max_size=total))
        if kind == 'array':
            examples = numpy.array(examples, dtype=draw(st.sampled_from(['u1', 'i4', 'i8'])))
    if draw(st.booleans()):
        length, offset = draw(st.integers(1, 30)), draw(st.integers(0, 40))
        chunks = (length, offset) if offset or draw(st.booleans()) else length
        return examples, chunks, lambda example: (example + offset) // length
    number = st.integers(0, draw(st.integers(0, 20)))
    numbers = draw(st.lists(number, min_size=total, max_size=total))
    if draw(st.booleans()):
        numbers.sort()
    dtype = draw(st.sampled_from(['u1', 'i2', 'i8', 'u8']))
    return examples, numpy.array(numbers, dtype=dtype), numbers.__getitem__


@given(cases(), st.integers(1, 50), st.integers(1, 40), st.booleans(), st.booleans(),
       st.integers(0, 9))
def test_every_example_once_and_chunks_of_a_window_together(case, batch_size, window, told,
                                                            is_sorted, seed):
    examples, chunks, chunk_of = case
    where = {'chunks': chunks}
    if told:
        where = {'dataset': Told((chunks, 0) if isinstance(chunks, int) else chunks)}
    rng = numpy.random.RandomState(seed)
    scheme = ChunkShuffledScheme(examples, batch_size, window=window, rng=rng,
                                 sorted_indices=is_sorted, **where)
    single = ChunkShuffledExampleScheme(examples, window=window,
                                        rng=numpy.random.RandomState(seed), **where)
    expected = sorted(range(examples) if isinstance(examples, int) else numpy.array(examples))
    for _ in range(2):
        batches, order = epoch(scheme), epoch(single)
        assert sorted(order) == expected
        assert {type(example) for example in order} == {int}
        parts = [order[place:place + batch_size] for place in range(0, len(order), batch_size)]
        assert batches == ([sorted(part) for part in parts] if is_sorted else parts)
        assert len(batches) == len(scheme)
        seen = set()
        for part, inside in windows_of(order, chunk_of, window):
            assert {chunk_of(example) for example in inside} == set(part)
            assert not seen.intersection(part)
            seen.update(part)


@given(cases(), st.sampled_from([None, 1, 3, 64]), st.integers(1, 40), st.data())
def test_any_place_is_reached_by_any_way(case, batch_size, window, data):
    examples, chunks, _ = case
    if batch_size is None:
        scheme = ChunkShuffledExampleScheme(examples, chunks=chunks, window=window)
    else:
        scheme = ChunkShuffledScheme(examples, batch_size, chunks=chunks, window=window)
    state = scheme.state_dict()
    ahead = epoch(scheme)
    scheme.load_state_dict(state)
    requests = scheme.start_epoch()
    for _ in range(6):
        place = data.draw(st.integers(0, len(ahead)))
        if data.draw(st.booleans()):
            requests.rewind(requests.position)
            requests.skip(place)
        else:
            requests.rewind(requests.position - place)
        assert requests.position == place
        count = data.draw(st.integers(1, 100))
        coming = requests.coming(count)
        if batch_size is not None or place == len(ahead):
            assert coming is None
        else:
            assert coming.tolist() == ahead[place:place + count]
        if place < len(ahead):
            compact = requests.next_compact()
            assert compact.dtype.kind == 'i'
            assert compact.tolist() == ahead[place]
            requests.take_back()
        assert list(requests) == ahead[place:]
    requests.skip(1000)
    assert requests.position == len(ahead)


@pytest.mark.parametrize('window', [1, 3, 64])
@pytest.mark.parametrize('chunks', [1, 4, (5, 3), [0, 0, 2, 2, 1, 0, 1, 1, 1, 5, 5, 4, 4]])
def test_contract(window, chunks):
    for rng in (numpy.random.RandomState, numpy.random.default_rng, random.Random):
        check_scheme(lambda rng=rng: ChunkShuffledScheme(
            13, 4, chunks=chunks, window=window, rng=rng(3)))
    check_scheme(lambda: ChunkShuffledScheme([12, 3, 5, 5, 1], 2, chunks=chunks, window=window,
                                             sorted_indices=True))
    check_scheme(lambda: ChunkShuffledExampleScheme(13, dataset=Told(chunks if isinstance(
        chunks, (tuple, list)) else (chunks, 0)), window=window))


def test_contract_over_many_windows(monkeypatch):
    monkeypatch.setattr(module, '_STRETCH', 8)
    check_scheme(lambda: ChunkShuffledScheme(90, 7, chunks=2, window=3))
    check_scheme(lambda: ConcatenatedScheme([
        ChunkShuffledScheme(20, 3, chunks=2, window=2, rng=rng)
        for rng in [numpy.random.RandomState(1)] * 2]))


def stream_of(**kwargs):
    dataset = IndexableDataset({'features': numpy.arange(50.)[:23], 'targets': range(23)})
    scheme_class = ChunkShuffledScheme if 'batch_size' in kwargs else ChunkShuffledExampleScheme
    return DataStream(dataset, iteration_scheme=scheme_class(23, chunks=3, window=2, **kwargs))


def test_streams_resume_in_a_new_process():
    check_stream(functools.partial(stream_of, batch_size=4))
    check_stream(stream_of)


def test_orders_stay_what_they_are():
    scheme = ChunkShuffledScheme(12, 5, chunks=3, window=2)
    assert epoch(scheme) == [[4, 11, 10, 9, 5], [3, 6, 1, 0, 7], [8, 2]]
    assert epoch(scheme) == [[1, 2, 7, 8, 6], [0, 5, 10, 3, 4], [11, 9]]
    order = epoch(ChunkShuffledExampleScheme(100_000, chunks=(64, 7)))
    assert hashlib.sha1(repr(order).encode()).hexdigest() == (
        '60f8536eb6bbc3e401c48d63ba2d3fa75d44605c')


def test_default_seed_is_read_when_the_scheme_is_made():
    fuel.config.default_seed = 1234
    scheme = ChunkShuffledScheme(30, 5, chunks=3)
    assert epoch(scheme) == epoch(ChunkShuffledScheme(30, 5, chunks=3,
                                                      rng=numpy.random.RandomState(1234)))
    fuel.config.default_seed = 1
    assert epoch(scheme) != epoch(ChunkShuffledScheme(30, 5, chunks=3))


@pytest.mark.parametrize('make', [numpy.random.RandomState, numpy.random.default_rng])
def test_one_number_is_drawn_for_an_epoch_of_any_length(make):
    for count in (3, 10_000):
        rng, expected = make(5), make(5)
        scheme = ChunkShuffledScheme(count, 4, chunks=2, window=3, rng=rng)
        assert scheme.rng is rng
        epoch(scheme)
        expected.bytes(16)
        assert rng.bytes(8) == expected.bytes(8)


def test_chunks_told_in_different_ways_give_one_order():
    expected = epoch(ChunkShuffledScheme(50, 8, chunks=(7, 3), window=2))
    numbers = (numpy.arange(50) + 3) // 7
    for where in ({'chunks': numbers}, {'chunks': numbers.tolist()}, {'dataset': Told((7, 3))},
                  {'dataset': Told(numbers * 5)}, {'chunks': (numpy.int64(7), numpy.int32(3))}):
        assert epoch(ChunkShuffledScheme(50, 8, window=2, **where)) == expected
    for examples in (range(50), list(range(50)), numpy.arange(50)):
        assert epoch(ChunkShuffledScheme(examples, 8, chunks=(7, 3), window=2)) == expected
    assert isinstance(Told(3), ChunkedExamples)


@pytest.mark.parametrize(('count', 'groups'), [(4, None), (5, [0, 0, 0, 1, 1]), (1, None)])
def test_all_permutations_are_equally_likely(count, groups):
    if groups is None:
        possible = list(itertools.permutations(range(count)))
    else:
        groups = numpy.array(groups, dtype='u8')
        possible = [first + second for first in itertools.permutations(range(3))
                    for second in itertools.permutations(range(3, 5))]
    times = 500 * len(possible)
    found = collections.Counter(tuple(module._permutation(7, step, count, groups).tolist())
                                for step in range(times))
    assert set(found) == set(possible)
    deviation = sum((number - 500)**2 / 500 for number in found.values())
    assert deviation < len(possible) + 5 * len(possible)**0.5


def test_windows_mix_other_chunks_in_every_epoch():
    scheme = ChunkShuffledScheme(64 * 40, 128, chunks=64, window=4)
    places = []
    for _ in range(30):
        order = numpy.array(flat(epoch(scheme)))
        place = numpy.empty_like(order)
        place[order] = numpy.arange(len(order))
        places.append(place)
    assert len({place.tobytes() for place in places}) == 30
    # Whether the first two chunks of the file are in one window: 3 times in 39, as by chance.
    together = sum(place[0] // 256 == place[64] // 256 for place in places)
    assert together < 10
    # The places of an example are spread over the whole epoch, as those of a full shuffle are.
    travel = abs(numpy.array(places) - numpy.arange(len(places[0]))).mean() / len(places[0])
    assert travel == pytest.approx(1 / 3, abs=0.02)


class CountingDataset(IndexableDataset):
    """Has chunks, and keeps those that were used last."""

    takes_index_arrays = True

    def __init__(self, count, length, offset, capacity):
        super().__init__({'features': numpy.arange(count)})
        self.layout = length, offset
        self.capacity = capacity
        self.kept = collections.OrderedDict()
        self.reads = 0

    def example_chunks(self):
        return self.layout

    def get_data(self, state=None, request=None):
        length, offset = self.layout
        for chunk in ((request + offset) // length).tolist():
            if chunk not in self.kept:
                self.reads += 1
            self.kept[chunk] = True
            self.kept.move_to_end(chunk)
            if len(self.kept) > self.capacity:
                self.kept.popitem(last=False)
        return super().get_data(state, request)


@pytest.mark.parametrize(('length', 'offset', 'window'), [(64, 0, 8), (64, 13, 8), (7, 3, 5),
                                                          (1, 0, 2), (500, 100, 1)])
@pytest.mark.parametrize('batch_size', [1, 50, 128])
def test_a_cache_as_big_as_the_window_reads_every_chunk_once(length, offset, window, batch_size):
    dataset = CountingDataset(3000, length, offset, window)
    stream = DataStream(dataset, iteration_scheme=ChunkShuffledScheme(
        3000, batch_size, dataset=dataset, window=window))
    for _ in range(3):
        dataset.reads = 0
        dataset.kept.clear()
        seen = numpy.concatenate([features for features, in stream.get_epoch_iterator()])
        assert sorted(seen.tolist()) == list(range(3000))
        assert dataset.reads == (2999 + offset) // length - offset // length + 1


def test_ten_million_examples_cost_little():
    tracemalloc.start()
    scheme = ChunkShuffledScheme(10**7, 128, chunks=64)
    requests = scheme.get_request_iterator()
    for _ in range(40):
        next(requests)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6 * 10**6
    assert len(pickle.dumps(requests)) < 5000
    assert len(json.dumps(requests.start_state())) < 5000
    assert len(json.dumps(scheme.state_dict())) < 5000


def test_a_place_is_reached_without_those_before_it(monkeypatch):
    scheme = ChunkShuffledScheme(10**7, 128, chunks=64)
    state = scheme.state_dict()
    made = []
    original = module._permutation

    def counted(seed, step, count, groups=None):
        made.append(count)
        return original(seed, step, count, groups)

    monkeypatch.setattr(module, '_permutation', counted)
    requests = scheme.resume_epoch({**scheme.start_epoch().start_state(), **state}, 70_000)
    assert not made
    assert len(next(requests)) == 128
    assert made[0] == 156_250
    assert len(made) < 4
    assert max(made[1:]) == 64 * 64


def test_small_windows_are_made_many_at_a_time(monkeypatch):
    made = []
    original = module._permutation
    monkeypatch.setattr(module, '_permutation',
                        lambda *args: (made.append(args[2]), original(*args))[1])
    epoch(ChunkShuffledScheme(100_000, 128, chunks=2, window=4))
    assert len(made) < 30


def test_what_a_data_set_tells_is_not_pickled():
    dataset = Told(numpy.arange(10**5) // 3)
    scheme = ChunkShuffledScheme(10**5, 64, dataset=dataset, window=3)
    requests = scheme.start_epoch()
    first = next(requests)
    assert dataset.asked == 1
    dataset.chunks = None
    payload = pickle.dumps((scheme, requests))
    assert len(payload) < 10_000
    resumed_scheme, resumed = pickle.loads(payload)
    assert resumed.position == 1
    told = resumed.table._dataset
    assert told.asked == 1  # not before it is needed: the file may not be there
    told.chunks = numpy.arange(10**5) // 3
    resumed.take_back()
    assert next(resumed) == first
    epoch(resumed_scheme)
    assert told.asked == 2


def test_another_file_after_pickling():
    payload = pickle.dumps(ChunkShuffledScheme(100, 8, dataset=Told((5, 0))))
    scheme = pickle.loads(payload)
    scheme._table._dataset.chunks = (5, 1)
    with pytest.raises(StateError, match='lay in 20 chunks when it was pickled, and lie in 21'):
        epoch(scheme)


def test_states_of_other_schemes():
    state = ChunkShuffledScheme(60, 4, chunks=5).start_epoch().start_state()
    for kwargs, message in (({'window': 8}, 'window 64; this ChunkShuffledScheme has 8'),
                            ({'batch_size': 5}, 'batch_size 4; this ChunkShuffledScheme has 5'),
                            ({'examples': 59}, 'examples 60; this ChunkShuffledScheme has 59'),
                            ({'chunks': 6}, 'chunks 12; this ChunkShuffledScheme has 10'),
                            ({'chunks': [0] * 6 + [*range(1, 12)] * 4 + [11] * 10}, 'chunks_crc'),
                            ({'sorted_indices': True}, 'sorted_indices None; this')):
        scheme = ChunkShuffledScheme(**{'examples': 60, 'batch_size': 4, 'chunks': 5, **kwargs})
        with pytest.raises(StateError, match=message):
            scheme.resume_epoch(state, 1)


class Unreadable(numpy.random.RandomState):
    """A subclass might draw in a way of its own."""


def test_generator_whose_state_cannot_be_read():
    scheme = ChunkShuffledScheme(20, 4, chunks=3, rng=Unreadable(3))
    requests = scheme.start_epoch()
    assert requests.start_state() is None
    with pytest.raises(StateError, match='the state of the Unreadable'):
        scheme.state_dict()
    next(requests)
    resumed = pickle.loads(pickle.dumps(requests))
    assert list(resumed) == list(requests)
