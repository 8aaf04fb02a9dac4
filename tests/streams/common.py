"""Streams for the tests of unusual uses."""
import json

import numpy

from fuel.datasets import IndexableDataset
from fuel.schemes import SequentialScheme
from fuel.streams import DataStream


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
