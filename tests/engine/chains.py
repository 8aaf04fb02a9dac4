"""Chains of streams that engines are tried on."""
from __future__ import annotations

import numpy
from numpy.random import RandomState

from fuel.datasets import IndexableDataset, IterableDataset
from fuel.schemes import (
    ConstantScheme,
    SequentialExampleScheme,
    SequentialScheme,
    ShuffledExampleScheme,
    ShuffledScheme,
)
from fuel.streams import DataStream
from fuel.transformers import (
    Batch,
    Cast,
    Filter,
    Mapping,
    Merge,
    Padding,
    ShuffleBuffer,
    SourceMapping,
    Unpack,
)
from fuel.transformers.image import RandomFixedSizeCrop

LABELS = {'image': ('batch', 'channel', 'height', 'width'), 'number': ('batch',)}
EXAMPLES = 60


def pictures():
    """Return a data set of small pictures and numbers."""
    images = RandomState(3).randint(0, 256, (EXAMPLES, 3, 8, 8)).astype('uint8')
    return IndexableDataset({'image': images, 'number': numpy.arange(EXAMPLES)},
                            axis_labels=LABELS)


def batches():
    """Batches that are cropped at random."""
    return RandomFixedSizeCrop(
        DataStream(pictures(), iteration_scheme=ShuffledScheme(EXAMPLES, 7)), (5, 5),
        which_sources=('image',))


def numbers(count, size=None):
    """Return a stream of numbers, or of batches of them."""
    scheme = SequentialExampleScheme(count) if size is None else SequentialScheme(count, size)
    return DataStream(IndexableDataset({'number': numpy.arange(count)}), iteration_scheme=scheme)


def plain():
    """Nothing but a data set."""
    return DataStream(pictures(), iteration_scheme=ShuffledScheme(EXAMPLES, 16))


def examples():
    """Single examples, transformed."""
    return Cast(DataStream(pictures(), iteration_scheme=ShuffledExampleScheme(EXAMPLES)),
                'float32', which_sources=('image',))


def batched_examples():
    """Single examples, put into batches above."""
    return Batch(examples(), iteration_scheme=ConstantScheme(8))


def is_even(data):
    """Tell whether the number of an example is even."""
    return data[1] % 2 == 0


def filtered():
    """Single examples some of which are left out."""
    return Batch(Filter(examples(), is_even), iteration_scheme=ConstantScheme(4))


def through_a_buffer():
    """Single examples that are shuffled again."""
    return Batch(ShuffleBuffer(examples(), 20), iteration_scheme=ConstantScheme(9))


def with_a_random_state():
    """A transformer that goes on with its random state."""
    return RandomFixedSizeCrop(plain(), (5, 5), which_sources=('image',), rng=RandomState(5))


def sentences():
    """Sequences of several lengths, padded."""
    lengths = RandomState(2).randint(1, 9, EXAMPLES)
    words = [numpy.arange(length) + length for length in lengths]
    stream = DataStream(IndexableDataset({'words': words}),
                        iteration_scheme=SequentialExampleScheme(EXAMPLES))
    return Padding(Batch(stream, iteration_scheme=ConstantScheme(8)))


def ragged():
    """Batches of sequences, as they are."""
    lengths = RandomState(2).randint(1, 9, EXAMPLES)
    words = numpy.array([numpy.arange(length) + length for length in lengths], dtype=object)
    return DataStream(IndexableDataset({'words': words}),
                      iteration_scheme=ShuffledScheme(EXAMPLES, 8))


def upper(word):
    """Return a word in capitals."""
    return word.upper()


def strings():
    """Batches of Python strings."""
    words = [f'word {number}' for number in range(EXAMPLES)]
    return SourceMapping(Unpack(DataStream(IndexableDataset({'word': words}),
                                           iteration_scheme=ShuffledScheme(EXAMPLES, 8))), upper)


def iterated():
    """A data set that gives its examples one after another."""
    return Batch(DataStream(IterableDataset({'number': list(range(EXAMPLES))})),
                 iteration_scheme=ConstantScheme(7))


def doubled(data):
    """Return twice the number of an example."""
    return (2 * data[0],)


def merged():
    """Two streams side by side."""
    numbers = DataStream(IndexableDataset({'a': numpy.arange(EXAMPLES)}),
                         iteration_scheme=ShuffledExampleScheme(EXAMPLES))
    others = DataStream(IndexableDataset({'b': numpy.arange(EXAMPLES)}),
                        iteration_scheme=SequentialExampleScheme(EXAMPLES))
    return Batch(Merge((Mapping(numbers, doubled), others), ('a', 'b')),
                 iteration_scheme=ConstantScheme(8))


#: Chains that any number of workers can share.
SPREAD = [plain, batches, examples, batched_examples, filtered, through_a_buffer, sentences,
          ragged, strings, with_a_random_state]
#: Chains that run in one place as a whole.
WHOLE = [iterated, merged]
