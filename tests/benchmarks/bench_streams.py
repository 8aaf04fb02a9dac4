"""In-memory streams against the floor: numpy taking the same rows into a buffer that is reused.

Run ``python tests/benchmarks/bench_streams.py``; prints ``name: figure`` lines. A figure is the
speed of the stream divided by that of the floor, in the same run; higher is better.
"""
import statistics
import sys
import time

import numpy

from fuel.datasets import IndexableDataset
from fuel.schemes import SequentialScheme, ShuffledScheme
from fuel.streams import DataStream
from fuel.transformers import Cast, ScaleAndShift

BATCH_SIZE = 128
CASES = {'28x28': (60000, 28, 28), '3x32x32': (50000, 3, 32, 32)}


def made(shape):
    """Return images and labels."""
    rng = numpy.random.RandomState(0)
    return (rng.randint(256, size=shape).astype('uint8'),
            rng.randint(10, size=(shape[0], 1)).astype('uint8'))


def floor_epoch(arrays):
    """Take all rows in random order, batch by batch, into buffers that are reused."""
    order = numpy.random.RandomState(1).permutation(len(arrays[0]))
    buffers = [numpy.empty((BATCH_SIZE, *array.shape[1:]), array.dtype) for array in arrays]
    start = time.perf_counter()
    for first in range(0, len(order), BATCH_SIZE):
        indices = order[first:first + BATCH_SIZE]
        for array, buffer in zip(arrays, buffers, strict=True):
            numpy.take(array, indices, axis=0, out=buffer[:len(indices)], mode='clip')
    return time.perf_counter() - start


def stream_epoch(stream):
    """Go through an epoch of a stream; the shuffling at its start is part of it."""
    start = time.perf_counter()
    for _ in stream.get_epoch_iterator():
        pass
    return time.perf_counter() - start


def torch_epoch(loader):
    """Go through an epoch of a PyTorch loader."""
    start = time.perf_counter()
    for _ in loader:
        pass
    return time.perf_counter() - start


def ratio(floor, candidate, runs=9):
    """Return the median of floor time over candidate time, measured in turn."""
    floor(), candidate()
    return statistics.median(floor() / candidate() for _ in range(runs))


def main():
    """Print the figures."""
    for name, shape in CASES.items():
        arrays = made(shape)
        dataset = IndexableDataset({'features': arrays[0], 'targets': arrays[1]})
        shuffled = DataStream(dataset, iteration_scheme=ShuffledScheme(shape[0], BATCH_SIZE))
        ordered = DataStream(dataset, iteration_scheme=SequentialScheme(shape[0], BATCH_SIZE))

        def floor(arrays=arrays):
            return floor_epoch(arrays)
        for kind, stream in (('shuffled', shuffled), ('sequential', ordered)):
            figure = ratio(floor, lambda stream=stream: stream_epoch(stream))
            print(f'in-memory {name} {kind} / numpy.take: {figure:.2f}')
        chain = Cast(ScaleAndShift(shuffled, 1 / 255, 0, which_sources=('features',)), 'float32',
                     which_sources=('features',))
        print(f'in-memory {name} shuffled, scaled and cast / numpy.take: '
              f'{ratio(floor, lambda chain=chain: stream_epoch(chain), 3):.2f}')
        if 'torch' in sys.argv[1:]:
            import torch.utils.data as data
            from torch import from_numpy
            loader = data.DataLoader(data.TensorDataset(*map(from_numpy, arrays)),
                                     batch_size=BATCH_SIZE, shuffle=True)
            print(f'PyTorch DataLoader {name} shuffled / numpy.take: '
                  f'{ratio(floor, lambda loader=loader: torch_epoch(loader), 3):.2f}')


if __name__ == '__main__':
    main()
