"""The contract of the library, over the transformers that regroup, pad, merge and reorder."""
import numpy
import pytest

from fuel.schemes import ConstantScheme
from fuel.streams.blocks import rows_of
from fuel.testing import assert_same, check_stream, check_transformer
from fuel.transformers import (
    Batch,
    Cache,
    Filter,
    LengthBuckets,
    Mapping,
    Merge,
    Padding,
    Repeat,
    ShuffleBuffer,
    Skip,
    SortMapping,
    Take,
    Unpack,
)
from tests.contracts import chains
from tests.contracts.chains import COUNT, TRANSFORMERS, made, over

DATASETS = [chains.indexable, chains.indexable_ragged, chains.indexable_objects, chains.hdf5]


def name_of(value):
    return getattr(value, '__name__', None)


def total(example):
    return float(numpy.sum(example[0]))


def is_even(data):
    """Keep about half of the steps, by what is in the first source."""
    return int(sum(float(numpy.sum(item)) for item in list(data[0]))) % 2 == 0


def keeps_some(data):
    return numpy.ravel(data[-1] if isinstance(data[-1], numpy.ndarray) else [1]).size > 0


def width_of(example):
    return int(numpy.size(example[0]))


OF_EXAMPLES = {
    'batch': lambda stream: Batch(stream, ConstantScheme(3)),
    'batch_dropping': lambda stream: Batch(stream, ConstantScheme(3), strictness=1),
    'batch_some': lambda stream: Batch(stream, ConstantScheme(2, num_examples=5)),
    'batch_times': lambda stream: Batch(stream, ConstantScheme(2, times=2)),
    'filter': lambda stream: Filter(stream, keeps_some),
    'shuffle': lambda stream: ShuffleBuffer(stream, 3),
    'shuffle_all': lambda stream: ShuffleBuffer(stream, 100, seed=4),
    'buckets': lambda stream: LengthBuckets(stream, batch_size=2, pool_size=5, length=width_of),
    'buckets_budget': lambda stream: LengthBuckets(stream, max_tokens=8, pool_size=5,
                                                   length=width_of, shuffle_batches=True),
    'skip': lambda stream: Skip(stream, 2),
    'take': lambda stream: Take(stream, 4),
    'take_all': lambda stream: Take(stream, 100),
    'repeat': lambda stream: Repeat(stream, 2),
    'batch_unpack': lambda stream: Unpack(Batch(stream, ConstantScheme(3))),
    'filter_batch': lambda stream: Batch(Filter(stream, is_even), ConstantScheme(2)),
}

OF_BATCHES = {
    'unpack': Unpack,
    'unpack_batch': lambda stream: Batch(Unpack(stream), ConstantScheme(4)),
    'cache_smaller': lambda stream: Cache(stream, ConstantScheme(1)),
    'cache_larger': lambda stream: Cache(stream, ConstantScheme(5)),
    'cache_some': lambda stream: Cache(stream, ConstantScheme(3, num_examples=5)),
    'filter': lambda stream: Filter(stream, keeps_some),
    'sort': lambda stream: Mapping(stream, SortMapping(total)),
    'sort_reversed': lambda stream: Mapping(stream, SortMapping(total, reverse=True)),
    'shuffle': lambda stream: ShuffleBuffer(stream, 3),
    'skip': lambda stream: Skip(stream, 1),
    'take': lambda stream: Take(stream, 2),
    'repeat': lambda stream: Repeat(stream, 3),
}


@pytest.mark.parametrize('dataset', DATASETS, ids=name_of)
@pytest.mark.parametrize('name', OF_EXAMPLES)
def test_over_examples(name, dataset):
    check_transformer(OF_EXAMPLES[name], made(over, dataset, chains.single_shuffled))


@pytest.mark.parametrize('dataset', DATASETS, ids=name_of)
@pytest.mark.parametrize('name', OF_BATCHES)
def test_over_batches(name, dataset):
    check_transformer(OF_BATCHES[name], made(over, dataset, chains.shuffled))


@pytest.mark.parametrize('wrap', [
    lambda stream: Padding(stream, mask_sources=('features',)),
    lambda stream: Padding(stream, mask_sources=('features',), mask_dtype='bool', pad_value=-1),
], ids=['floats', 'bool'])
@pytest.mark.parametrize('dataset', DATASETS[1:3], ids=name_of)
def test_padding(dataset, wrap):
    check_transformer(wrap, made(over, dataset, chains.shuffled))


def test_padding_of_hdf5():
    check_transformer(lambda stream: Padding(stream, mask_sources=('words', 'targets')),
                      made(over, chains.hdf5, chains.shuffled))


@pytest.mark.parametrize('name', ['batch', 'filter', 'shuffle', 'skip', 'take', 'repeat',
                                  'batch_unpack'])
@pytest.mark.parametrize('dataset', chains.READ_ON, ids=name_of)
def test_over_data_sets_read_from_start_to_end(name, dataset):
    check_transformer(OF_EXAMPLES[name], made(over, dataset))


def merged(first, second, scheme, wrap=None):
    streams = [over(first, scheme), over(second, scheme)]
    names = [f'{name}_{number}' for number, stream in enumerate(streams)
             for name in stream.sources]
    merge = Merge(streams, names)
    return merge if wrap is None else wrap(merge)


@pytest.mark.parametrize('scheme', chains.SCHEMES, ids=name_of)
def test_merge(scheme):
    check_stream(made(merged, chains.indexable, chains.indexable_ragged, scheme),
                 new_process=False)


@pytest.mark.parametrize('wrap', [lambda merge: Take(merge, 2),
                                  lambda merge: Unpack(merge),
                                  TRANSFORMERS['noise'], TRANSFORMERS['counted']])
def test_around_merge(wrap):
    check_stream(made(merged, chains.indexable, chains.hdf5, chains.shuffled, wrap),
                 new_process=False, remembers=wrap is TRANSFORMERS['counted'])


def test_merge_of_merges():
    def make():
        return Merge([merged(chains.indexable_part, chains.indexable_part, chains.shuffled),
                      merged(chains.indexable_part, chains.indexable_part, chains.shuffled)],
                     'abcd')
    with pytest.raises(ValueError, match='tuple of source names'):
        make()

    def make_right():
        return Merge([merged(chains.indexable_part, chains.indexable_part, chains.shuffled),
                      merged(chains.indexable_part, chains.indexable_part, chains.shuffled)],
                     tuple('abcd'))
    check_stream(make_right, new_process=False)


@pytest.mark.parametrize('wrap', [
    lambda stream: Take(Repeat(stream, 2), 5),
    lambda stream: Repeat(Take(stream, 2), 2),
    lambda stream: Take(Skip(stream, 1), 2),
    lambda stream: Skip(Take(stream, 3), 1),
    lambda stream: Repeat(Repeat(stream, 2), 2),
    lambda stream: ShuffleBuffer(Take(ShuffleBuffer(stream, 3), 3), 2),
    lambda stream: ShuffleBuffer(Repeat(stream, 2), 5),
    lambda stream: Take(Filter(stream, keeps_some), 2),
    lambda stream: Skip(TRANSFORMERS['noise'](stream), 1),
    lambda stream: TRANSFORMERS['noise'](Take(TRANSFORMERS['noise'](stream), 2)),
])
@pytest.mark.parametrize('scheme', [chains.shuffled, chains.single_shuffled], ids=name_of)
def test_one_around_the_other(wrap, scheme):
    check_transformer(wrap, made(over, chains.indexable, scheme))


# The commonest chain of published programs, and a long one, both in new processes.

def text_chain(dataset, scheme=None):
    stream = over(dataset, scheme)
    stream = Mapping(Batch(stream, ConstantScheme(4)), SortMapping(width_of))
    stream = Batch(Unpack(stream), ConstantScheme(2))
    return Padding(stream, mask_sources=stream.sources[:1])


@pytest.mark.parametrize('dataset', [chains.indexable_ragged, chains.indexable_objects],
                         ids=name_of)
def test_text_chain_in_new_process(dataset):
    check_stream(made(text_chain, dataset, chains.single_shuffled))


@pytest.mark.parametrize('dataset', [chains.words, chains.characters], ids=name_of)
def test_text_chain_over_text_in_new_process(dataset):
    check_stream(made(text_chain, dataset))


def long_chain(dataset):
    stream = TRANSFORMERS['noise'](over(dataset, chains.shuffled))
    stream = Cache(Filter(stream, keeps_some), ConstantScheme(3))
    stream = ShuffleBuffer(Unpack(Mapping(stream, SortMapping(total))), 4)
    stream = Take(Skip(Repeat(TRANSFORMERS['noise'](stream), 2), 1), 2 * COUNT - 2)
    return TRANSFORMERS['noise'](LengthBuckets(stream, batch_size=3, length=width_of,
                                               shuffle_batches=True))


@pytest.mark.parametrize('dataset', DATASETS, ids=name_of)
def test_long_chain_in_new_process(dataset):
    check_stream(made(long_chain, dataset))


@pytest.mark.parametrize('dataset', chains.INDEXED, ids=name_of)
def test_examples_read_together_are_those_read_one_by_one(dataset):
    data = dataset()
    request = numpy.array([2, 0, 5, 5])
    assert_same(rows_of(data, request).examples(),
                [data.get_data(None, place) for place in (2, 0, 5, 5)])
