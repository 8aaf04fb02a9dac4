"""Batching, padding, and chains over single examples, against floors in the same run.

Run ``python tests/benchmarks/bench_batching.py``; prints ``name: figure`` lines. A figure that is
a ratio is the speed of the library divided by that of the floor; higher is better.
"""
import statistics
import time

import numpy

from fuel._kernels import pad_rows
from fuel._kernels.reference import pad as reference
from fuel.datasets import IndexableDataset, IterableDataset
from fuel.schemes import ConstantScheme, SequentialExampleScheme, SequentialScheme
from fuel.streams import DataStream
from fuel.transformers import (
    AgnosticTransformer,
    Batch,
    Cache,
    Filter,
    Mapping,
    Merge,
    Padding,
    ShuffleBuffer,
    SortMapping,
    Unpack,
)

EXAMPLES = 100_000


def seconds(function):
    """Return how long a call takes."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def ratio(floor, candidate, runs=15):
    """Return the median of floor time over candidate time, measured in turn."""
    floor(), candidate()
    return statistics.median(seconds(floor) / seconds(candidate) for _ in range(runs))


def rate(count, candidate, runs=5):
    """Return how many things a second a call handles, in millions."""
    candidate()
    return count / statistics.median(seconds(candidate) for _ in range(runs)) / 1e6


def drain(steps):
    """Go through an iterator."""
    for _ in steps:
        pass


# Padding.

def ragged(count, shortest, longest, dtype='int64'):
    """Return sequences of random lengths."""
    rng = numpy.random.RandomState(0)
    return [rng.randint(10_000, size=length).astype(dtype)
            for length in rng.randint(shortest, longest + 1, size=count)]


def padding():
    """Print the figures for padding."""
    rows = ragged(64, 10, 500)
    stream = DataStream(IndexableDataset({'x': rows}), iteration_scheme=SequentialScheme(64, 64))
    transformer = Padding(stream, mask_dtype='float32')
    batch = next(stream.get_epoch_iterator())
    dense, mask = transformer.transform_batch(batch)

    def copied(times=100):
        # The result has fresh memory, and so has the copy.
        for _ in range(times):
            dense.copy(), mask.copy()

    def padded(times=100):
        for _ in range(times):
            transformer.transform_batch(batch)
    print(f'Padding 64 of 10 to 500 / memcpy of the result: {ratio(copied, padded):.2f}')
    for name, made in (('smallest', ragged(2, 1, 3)), ('64 of 10 to 500', rows),
                       ('largest', ragged(512, 500, 4000)),
                       ('lists, 64 of 5 to 80', [row.tolist() for row in ragged(64, 5, 80)])):
        def run(pad, made=made, times=3 if name == 'largest' else 200):
            for _ in range(times):
                pad(made, None, 'float32')
        figure = ratio(lambda run=run: run(reference.pad_rows), lambda run=run: run(pad_rows), 7)
        print(f'pad kernel / its numpy twin, {name}: {figure:.2f}')


# Chains over single examples.

class Nothing(AgnosticTransformer):
    """Gives what it gets."""

    def transform_any(self, data):
        return data


def generator_chain(source):
    """Return four Python generators, one around the other, over examples of one item."""
    def bottom():
        for item in source:
            yield (item,)

    def nothing(steps):
        yield from ()
        for data in steps:  # noqa: UP028 - a generator that looks at each step, as a user's would
            yield data
    steps = bottom()
    for _ in range(4):
        steps = nothing(steps)
    return steps


def four_of_nothing(stream):
    """Put four transformers that do nothing around a stream."""
    for _ in range(4):
        stream = Nothing(stream)
    return stream


def in_memory(items):
    """Return a stream of examples, in order."""
    return DataStream(IndexableDataset({'x': items}),
                      iteration_scheme=SequentialExampleScheme(len(items)))


def chains():
    """Print the figures for what each step costs."""
    numbers = numpy.arange(EXAMPLES)
    for name, items in (('array', numbers), ('list', numbers.tolist())):
        four = four_of_nothing(in_memory(items))
        figure = ratio(lambda items=items: drain(generator_chain(items)),
                       lambda four=four: drain(four.get_epoch_iterator()), 9)
        print(f'4 transformers of nothing over an {name} / 4 generators: {figure:.2f}')
    streams = {
        'stream of examples': in_memory(numbers),
        'Batch(100) of scalars': Batch(in_memory(numbers), ConstantScheme(100)),
        'Unpack of batches of 100': Unpack(DataStream(
            IndexableDataset(numbers), iteration_scheme=SequentialScheme(EXAMPLES, 100))),
        'Filter': Filter(in_memory(numbers), lambda data: True),
        'ShuffleBuffer(1000)': ShuffleBuffer(in_memory(numbers), 1000),
        'Merge of two': Merge([in_memory(numbers), in_memory(numbers)], ('x', 'y')),
        'Cache(100) of batches of 1000': Cache(DataStream(
            IndexableDataset(numbers), iteration_scheme=SequentialScheme(EXAMPLES, 1000)),
            ConstantScheme(100)),
    }
    for name, stream in streams.items():
        figure = rate(EXAMPLES, lambda stream=stream: drain(stream.get_epoch_iterator()))
        print(f'{name}, million examples a second: {figure:.2f}')


# The commonest chain of published programs.

def length_of(example):
    """Return the length of a sentence."""
    return len(example[0])


def text_chain(dataset, scheme=None):
    """Return sentences in batches of 80 of about the same length, padded."""
    stream = Batch(DataStream(dataset, iteration_scheme=scheme), ConstantScheme(20 * 80))
    stream = Mapping(stream, SortMapping(length_of))
    return Padding(Batch(Unpack(stream), ConstantScheme(80)), mask_dtype='float32')


def text():
    """Print the figures for ragged text."""
    arrays = ragged(EXAMPLES, 5, 80)
    lists = [row.tolist() for row in arrays]
    order = SequentialExampleScheme(EXAMPLES)
    cases = {
        'arrays, indexed': text_chain(IndexableDataset(arrays), order),
        'lists, indexed': text_chain(IndexableDataset(lists), order),
        'arrays, iterated': text_chain(IterableDataset(arrays)),
        'lists, iterated': text_chain(IterableDataset(lists)),
    }
    for name, stream in cases.items():
        figure = rate(EXAMPLES, lambda stream=stream: drain(stream.get_epoch_iterator()), 3)
        print(f'text chain, {name}, million sentences a second: {figure:.2f}')


def main():
    """Print the figures."""
    padding()
    chains()
    text()


if __name__ == '__main__':
    main()
