"""Sorting, shuffling, and batches of like lengths."""
import collections
import json

import numpy
import pytest

from fuel.datasets import IndexableDataset, IterableDataset
from fuel.schemes import ConstantScheme, SequentialExampleScheme, SequentialScheme
from fuel.streams import DataStream
from fuel.testing import assert_same
from fuel.transformers import (
    Batch,
    Filter,
    LengthBuckets,
    Mapping,
    Padding,
    ShuffleBuffer,
    SortMapping,
    Unpack,
)


def examples_of(items, **kwargs):
    return DataStream(IndexableDataset({'x': items}, **kwargs),
                      iteration_scheme=SequentialExampleScheme(len(items)))


def length_of(example):
    return len(example[0])


def first(example):
    return example[0]


# SortMapping.

def test_arrays_stay_arrays_and_lists_lists():
    ragged = numpy.empty(3, dtype=object)
    ragged[:] = [numpy.arange(3), numpy.arange(1), numpy.arange(2)]
    done = SortMapping(length_of)((ragged, numpy.array([0, 1, 2], 'u1'), ['a', 'b', 'c'],
                                   numpy.arange(6.).reshape(3, 2), (7, 8, 9)))
    expected = numpy.empty(3, dtype=object)
    expected[:] = [numpy.arange(1), numpy.arange(2), numpy.arange(3)]
    assert_same(done, (expected, numpy.array([1, 2, 0], 'u1'), ['b', 'c', 'a'],
                       numpy.array([[2., 3.], [4., 5.], [0., 1.]]), [8, 9, 7]))


def test_lists_of_unequal_lengths():
    # numpy makes no array of these, which the old library tried.
    assert SortMapping(length_of)(([[1, 2, 3], [1], [1, 2, 3, 4], [1]],)) == (
        [[1], [1], [1, 2, 3], [1, 2, 3, 4]],)


@pytest.mark.parametrize(('reverse', 'expected'), [(False, 'bdac'), (True, 'acbd')])
def test_order_of_equal_keys_is_kept(reverse, expected):
    (_, letters) = SortMapping(first, reverse=reverse)(([2, 1, 2, 1], list('abcd')))
    assert ''.join(letters) == expected


def test_batches_as_dicts():
    stream = Mapping(DataStream(IndexableDataset({'x': [[1, 2], [3]], 'y': [5, 6]}),
                                iteration_scheme=SequentialScheme(2, 2)),
                     SortMapping(lambda example: len(example['x'])), mapping_accepts=dict)
    assert list(stream.get_epoch_iterator()) == [([[3], [1, 2]], [6, 5])]


def test_empty_batches_and_wrong_ones():
    assert_same(SortMapping(first)((numpy.empty(0, 'i4'), [])), (numpy.empty(0, 'i4'), []))
    with pytest.raises(ValueError, match='zip'):
        SortMapping(first)(([1, 2], [1]))
    with pytest.raises(TypeError, match='expected a function; got 3'):
        SortMapping(3)


def test_batch_is_left_alone():
    numbers = numpy.array([3, 1, 2])
    numbers.flags.writeable = False
    done, = SortMapping(first)((numbers,))
    assert done.tolist() == [1, 2, 3] and done.flags.writeable


def test_the_chain_of_published_programs():
    rng = numpy.random.RandomState(0)
    sentences = [rng.randint(1, 100, size=length).tolist() for length in rng.randint(1, 9, 50)]
    stream = DataStream(IterableDataset(sentences))
    stream = Mapping(Batch(stream, ConstantScheme(20)), SortMapping(length_of))
    stream = Padding(Batch(Unpack(stream), ConstantScheme(4)))
    found = []
    for data, mask in stream.get_epoch_iterator():
        lengths = mask.sum(axis=1).astype(int)
        assert list(lengths) == sorted(lengths)
        found += [row[:length].tolist() for row, length in zip(data, lengths, strict=True)]
    parts = [sentences[start:start + 20] for start in (0, 20, 40)]
    assert found == [entry for part in parts for entry in sorted(part, key=len)]


# ShuffleBuffer.

@pytest.mark.parametrize('size', [1, 2, 5, 16, 40, 1000])
def test_every_step_once_and_in_its_part(size):
    stream = ShuffleBuffer(examples_of(numpy.arange(40)), size)
    epochs = [[int(data[0]) for data in stream.get_epoch_iterator()] for _ in range(2)]
    for epoch in epochs:
        for start in range(0, 40, size):
            assert sorted(epoch[start:start + size]) == list(range(40))[start:start + size]
    assert (epochs[0] == epochs[1]) == (size == 1)
    assert len(stream) == stream.num_examples == 40


def test_every_buffer_is_in_another_order():
    stream = ShuffleBuffer(examples_of(numpy.arange(40)), 10)
    epoch = [int(data[0]) % 10 for data in stream.get_epoch_iterator()]
    assert len({tuple(epoch[start:start + 10]) for start in range(0, 40, 10)}) == 4


def test_every_order_is_as_likely():
    stream = ShuffleBuffer(examples_of('abc'), 3)
    orders = collections.Counter(''.join(data[0] for data in stream.get_epoch_iterator())
                                 for _ in range(600))
    # 100 of each are expected; 40 more or less are four standard deviations.
    assert len(orders) == 6 and all(60 < count < 140 for count in orders.values())


def test_seed():
    def order(**kwargs):
        stream = ShuffleBuffer(examples_of(numpy.arange(40)), 40, **kwargs)
        return [int(data[0]) for data in stream.get_epoch_iterator()]
    assert order() == order() == order(seed=1) != order(seed=2)


def test_batches_are_shuffled_as_a_whole():
    stream = ShuffleBuffer(DataStream(IndexableDataset(numpy.arange(20)),
                                      iteration_scheme=SequentialScheme(20, 2)), 10)
    batches = [data[0].tolist() for data in stream.get_epoch_iterator()]
    assert sorted(batches) == [[start, start + 1] for start in range(0, 20, 2)] != batches
    assert len(stream) == 10 and not stream.produces_examples


def test_nothing_is_lost_or_repeated_across_a_resume():
    def make():
        return ShuffleBuffer(DataStream(IterableDataset({'x': range(50)})), 16)
    whole = [data[0] for data in make().get_epoch_iterator()]
    for step in range(51):
        stream = make()
        taken = [data[0] for _, data in zip(range(step), stream.get_epoch_iterator(),
                                            strict=False)]
        state = json.dumps(stream.state_dict())
        assert len(state) < 1000
        other = make()
        other.load_state_dict(json.loads(state))
        rest = [data[0] for data in other.get_epoch_iterator()] if step else whole
        assert collections.Counter(taken + rest) == collections.Counter(range(50))
        assert taken + rest == whole


def test_wrong_buffer_sizes():
    for size in (0, -1, 2.5, True):
        with pytest.raises((ValueError, TypeError), match='buffer_size to be a positive integer'):
            ShuffleBuffer(examples_of([1]), size)


# LengthBuckets.

def sentences_of(count, longest=30):
    rng = numpy.random.RandomState(3)
    return [rng.randint(100, size=length) for length in rng.randint(1, longest + 1, size=count)]


def padded_size(batch):
    return len(batch) * max(map(len, batch))


@pytest.mark.parametrize('shuffle', [False, True])
@pytest.mark.parametrize('pool', [1, 7, 100, 1000])
@pytest.mark.parametrize('budget', [30, 31, 64, 1000])
def test_padded_tokens_stay_within_the_budget(budget, pool, shuffle):
    sentences = sentences_of(200)
    stream = LengthBuckets(examples_of(sentences), max_tokens=budget, pool_size=pool,
                           shuffle_batches=shuffle)
    batches = [list(data[0]) for data in stream.get_epoch_iterator()]
    assert all(padded_size(batch) <= budget for batch in batches)
    found = sorted(row.tobytes() for batch in batches for row in batch)
    assert found == sorted(row.tobytes() for row in sentences)
    assert stream.num_batches is None and stream.num_examples == 200


@pytest.mark.parametrize('count', [0, 1, 39, 40, 41, 100])
def test_batches_of_one_size(count):
    stream = LengthBuckets(DataStream(IterableDataset({'x': sentences_of(count)})), batch_size=4,
                           pool_size=40)
    batches = [list(data[0]) for data in stream.get_epoch_iterator()]
    assert len(batches) == len(stream)
    for start in range(0, count, 40):
        part = sorted(sentences_of(count)[start:start + 40], key=len)
        mine, batches = batches[:-(-len(part) // 4)], batches[-(-len(part) // 4):]
        assert_same([row for batch in mine for row in batch], part)
    assert not batches


def test_little_is_padded():
    sentences = sentences_of(1000, 80)
    stream = LengthBuckets(examples_of(sentences), batch_size=20)
    total = sum(padded_size(data[0]) for data in stream.get_epoch_iterator())
    assert total < 1.1 * sum(map(len, sentences))


def test_shuffled_batches():
    def lengths(stream):
        return [len(data[0][0]) for data in stream.get_epoch_iterator()]
    make = sentences_of(200)
    plain = LengthBuckets(examples_of(make), batch_size=10, pool_size=200)
    assert lengths(plain) == sorted(lengths(plain))
    stream = LengthBuckets(examples_of(make), batch_size=10, pool_size=200, shuffle_batches=True)
    one, other = lengths(stream), lengths(stream)
    assert sorted(one) == sorted(other) == lengths(plain)
    assert len({tuple(one), tuple(other), tuple(lengths(plain))}) == 3
    again = LengthBuckets(examples_of(make), batch_size=10, pool_size=200, shuffle_batches=True)
    assert lengths(again) == one
    again.seed = 7
    assert lengths(again) != other


def test_length_of_ones_own():
    stream = LengthBuckets(
        DataStream(IterableDataset({'x': ['a', 'bbb', 'cc'], 'y': [[1] * 5, [1], [1] * 3]})),
        max_tokens=10, length=lambda example: max(map(len, example)))
    data = list(stream.get_epoch_iterator(as_dict=True))
    assert [batch['x'].tolist() for batch in data] == [['bbb', 'cc'], ['a']]
    assert [list(batch['y']) for batch in data] == [[[1], [1] * 3], [[1] * 5]]


def test_example_longer_than_the_budget():
    sentences = [[1, 2], [1, 2, 3, 4]]
    stream = LengthBuckets(examples_of(sentences), max_tokens=3)
    with pytest.raises(ValueError, match='at most 3 tokens.*got one of 4.*Filter'):
        next(stream.get_epoch_iterator())
    kept = Filter(examples_of(sentences), lambda data: len(data[0]) <= 3)
    assert len(list(LengthBuckets(kept, max_tokens=3).get_epoch_iterator())) == 1


def test_labels_and_padding():
    stream = LengthBuckets(examples_of(sentences_of(5), axis_labels={'x': ('batch', 'time')}),
                           batch_size=2)
    assert stream.axis_labels == {'x': ('batch', 'time')}
    assert not stream.produces_examples
    padded = Padding(stream)
    assert padded.axis_labels == {'x': ('batch', 'time'), 'x_mask': ('batch', 'time')}
    assert all(data.shape == mask.shape for data, mask in padded.get_epoch_iterator())


def test_wrong_arguments_name_what_came():
    batches = DataStream(IndexableDataset([1]), iteration_scheme=SequentialScheme(1, 1))
    with pytest.raises(ValueError, match='wrapped DataStream produces batches'):
        LengthBuckets(batches, batch_size=2)
    for sizes in ({}, {'batch_size': 2, 'max_tokens': 3}):
        with pytest.raises(ValueError, match='expected batch_size or max_tokens'):
            LengthBuckets(examples_of([[1]]), **sizes)
    with pytest.raises(ValueError, match='pool_size to be a positive integer; got 0'):
        LengthBuckets(examples_of([[1]]), batch_size=2, pool_size=0)
