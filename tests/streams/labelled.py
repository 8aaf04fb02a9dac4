"""A stream of two sources with axis labels."""
import numpy

from fuel.datasets import IndexableDataset
from fuel.schemes import ShuffledScheme
from fuel.streams import DataStream


def stream_of(count=8, scheme=None):
    dataset = IndexableDataset({'a': numpy.arange(count), 'b': numpy.arange(count) * 10},
                               axis_labels={'a': ('batch',), 'b': ('batch',)})
    return DataStream(dataset, iteration_scheme=scheme or ShuffledScheme(count, 4))


def firsts(iterator):
    return [data[0].tolist() for data in iterator]
