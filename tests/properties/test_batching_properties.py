"""Chains that regroup, against plain Python on the same examples, for any sizes and any stop."""
import json
import pickle

import numpy
from hypothesis import given, settings
from hypothesis import strategies as st

from fuel.datasets import IndexableDataset, IterableDataset
from fuel.schemes import ConstantScheme, SequentialExampleScheme, SequentialScheme
from fuel.streams import DataStream
from fuel.transformers import (
    Batch,
    Cache,
    Filter,
    LengthBuckets,
    Mapping,
    Padding,
    Repeat,
    ShuffleBuffer,
    Skip,
    SortMapping,
    Take,
    Unpack,
)

SIZES = st.integers(1, 7)
SENTENCES = st.lists(st.lists(st.integers(0, 99), max_size=6), min_size=1, max_size=25)


def parts_of(items, size):
    return [items[start:start + size] for start in range(0, len(items), size)]


def over(sentences, indexed):
    if indexed:
        return DataStream(IndexableDataset({'x': sentences}),
                          iteration_scheme=SequentialExampleScheme(len(sentences)))
    return DataStream(IterableDataset({'x': sentences}))


def length_of(example):
    return len(example[0])


def is_short(example):
    return len(example[0]) < 4


@given(SENTENCES, SIZES, SIZES, st.booleans())
def test_sorted_and_padded(sentences, chunk, size, indexed):
    stream = Mapping(Batch(over(sentences, indexed), ConstantScheme(chunk)),
                     SortMapping(length_of))
    stream = Padding(Batch(Unpack(stream), ConstantScheme(size)))
    expected = [row for part in parts_of(sentences, chunk) for row in sorted(part, key=len)]
    for _ in range(2):
        epoch = list(stream.get_epoch_iterator())
        assert len(epoch) == len(parts_of(expected, size))
        for (dense, mask), rows in zip(epoch, parts_of(expected, size), strict=True):
            width = max(map(len, rows))
            assert dense.tolist() == [row + [0] * (width - len(row)) for row in rows]
            assert mask.tolist() == [[1] * len(row) + [0] * (width - len(row)) for row in rows]


# Each takes the examples that come and gives those that are expected, all in plain Python.
STEPS = {
    'batch': (lambda stream, size: Unpack(Batch(stream, ConstantScheme(size))),
              lambda items, size: items),
    'drop': (lambda stream, size: Unpack(Batch(stream, ConstantScheme(size), strictness=1)),
             lambda items, size: items[:len(items) // size * size]),
    'cache': (lambda stream, size: Unpack(Cache(Batch(stream, ConstantScheme(3)),
                                                ConstantScheme(size))),
              lambda items, size: items),
    'skip': (Skip, lambda items, size: items[size:]),
    'take': (Take, lambda items, size: items[:size]),
    'repeat': (lambda stream, size: Repeat(stream, 1 + size % 3),
               lambda items, size: items * (1 + size % 3)),
    'filter': (lambda stream, size: Filter(stream, is_short),
               lambda items, size: [item for item in items if len(item) < 4]),
    'sort': (lambda stream, size: Unpack(Mapping(Batch(stream, ConstantScheme(size)),
                                                 SortMapping(length_of, reverse=True))),
             lambda items, size: [row for part in parts_of(items, size)
                                  for row in sorted(part, key=len, reverse=True)]),
    'buckets': (lambda stream, size: Unpack(LengthBuckets(stream, batch_size=2, pool_size=size)),
                lambda items, size: [row for part in parts_of(items, size)
                                     for row in sorted(part, key=len)]),
}
CHAINS = st.lists(st.tuples(st.sampled_from(sorted(STEPS)), SIZES), max_size=4)


def chained(sentences, indexed, chain):
    stream = over(sentences, indexed)
    for name, size in chain:
        stream = STEPS[name][0](stream, size)
    return stream


@given(SENTENCES, st.booleans(), CHAINS, st.integers(0, 40))
@settings(max_examples=200)
def test_any_chain_stopped_anywhere(sentences, indexed, chain, stop):
    expected = sentences
    for name, size in chain:
        expected = STEPS[name][1](expected, size)
    stream = chained(sentences, indexed, chain)
    iterator = stream.get_epoch_iterator()
    taken = [list(data[0]) for _, data in zip(range(stop), iterator, strict=False)]
    assert taken == expected[:stop]
    other, moved = pickle.loads(pickle.dumps((stream, iterator)))
    assert taken + [list(data[0]) for data in moved] == expected
    assert [list(data[0]) for data in other.get_epoch_iterator()] == expected
    if not stream.epoch_cursor.finished:
        fresh = chained(sentences, indexed, chain)
        fresh.load_state_dict(json.loads(json.dumps(stream.state_dict())))
        assert [list(data[0]) for data in fresh.get_epoch_iterator()] == expected[stop:]
        assert [list(data[0]) for data in fresh.get_epoch_iterator()] == expected
    assert taken + [list(data[0]) for data in iterator] == expected
    if stream.num_examples is not None:
        assert stream.num_examples == len(expected)


@given(st.integers(1, 40), SIZES, SIZES, st.sampled_from([0, 1]))
def test_lengths_are_those_of_the_epochs(count, chunk, size, strictness):
    examples = DataStream(IndexableDataset(numpy.arange(count)),
                          iteration_scheme=SequentialExampleScheme(count))
    batches = DataStream(IndexableDataset(numpy.arange(count)),
                         iteration_scheme=SequentialScheme(count, chunk))
    for stream in (Batch(examples, ConstantScheme(size), strictness=strictness),
                   Batch(examples, ConstantScheme(size, times=chunk), strictness=strictness),
                   Batch(examples, ConstantScheme(size, num_examples=3 * chunk), strictness),
                   Cache(batches, ConstantScheme(size)),
                   Cache(batches, ConstantScheme(size, times=chunk)), Unpack(batches),
                   ShuffleBuffer(batches, size), Take(batches, size), Skip(batches, size),
                   Repeat(batches, size), LengthBuckets(as_sequences(examples), batch_size=size,
                                                        pool_size=chunk)):
        epoch = list(stream.get_epoch_iterator())
        assert len(stream) == len(epoch)
        if stream.num_examples is not None and not stream.produces_examples:
            assert stream.num_examples == sum(len(data[0]) for data in epoch)


def as_sequences(stream):
    return Mapping(stream, lambda data: ([data[0]],))


@given(SENTENCES, st.integers(6, 40), SIZES, st.booleans())
def test_buckets_within_a_budget(sentences, budget, pool, shuffle):
    stream = LengthBuckets(over(sentences, indexed=True), max_tokens=budget, pool_size=pool,
                           shuffle_batches=shuffle)
    batches = [list(data[0]) for data in stream.get_epoch_iterator()]
    assert all(len(batch) * max(map(len, batch)) <= budget for batch in batches)
    assert sorted(row for batch in batches for row in batch) == sorted(sentences)
    assert all(batch == sorted(batch, key=len) for batch in batches)
