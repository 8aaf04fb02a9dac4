"""The size of saved states, and the time to go on from them.

Run ``python tests/benchmarks/bench_resume.py``; prints ``name: figure`` lines.
"""
import json
import pickle
import time

import numpy

from fuel.datasets import IndexableDataset
from fuel.schemes import SequentialScheme, ShuffledScheme
from fuel.streams import DataStream
from fuel.transformers import Cast, ScaleAndShift

COUNT = 10**7


def made(scheme):
    """Return a chain over ten million examples."""
    stream = DataStream(IndexableDataset(numpy.zeros(COUNT, dtype='uint8')),
                        iteration_scheme=scheme)
    return Cast(ScaleAndShift(stream, 1 / 255, 0), 'float32')


def main():
    """Print the figures."""
    for name, scheme_class in (('sequential', SequentialScheme), ('shuffled', ShuffledScheme)):
        for epochs in (1, 101):
            stream = made(scheme_class(COUNT, 128))
            for _ in range(epochs):
                iterator = stream.get_epoch_iterator()
            for _ in range(100):
                next(iterator)
            state = stream.state_dict()
            text = json.dumps(state)
            bottom = json.dumps(stream.data_stream.data_stream.state_dict())
            other = made(scheme_class(COUNT, 128))
            start = time.perf_counter()
            other.load_state_dict(json.loads(text))
            resumed = other.get_epoch_iterator()
            next(resumed)
            taken = time.perf_counter() - start
            print(f'{name} state, epoch {iterator.epoch}, chain of 3, bytes of JSON: {len(text)}')
            print(f'{name} state, epoch {iterator.epoch}, stream alone, bytes: {len(bottom)}')
            print(f'{name}, epoch {iterator.epoch}, loaded and positioned, seconds: {taken:.2f}')
    requests = ShuffledScheme(COUNT, 128).get_request_iterator()
    print(f'shuffled request iterator, bytes pickled: {len(pickle.dumps(requests))}')


if __name__ == '__main__':
    main()
