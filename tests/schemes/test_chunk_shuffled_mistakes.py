"""What chunk-shuffling schemes refuse."""
import functools

import numpy
import pytest

from fuel.schemes import ChunkShuffledExampleScheme, ChunkShuffledScheme


class Told:
    """A data set that tells the chunks of its examples."""

    def __init__(self, chunks):
        self.chunks = chunks

    def example_chunks(self):
        return self.chunks


@pytest.mark.parametrize('make', [functools.partial(ChunkShuffledScheme, batch_size=3),
                                  ChunkShuffledExampleScheme])
@pytest.mark.parametrize(('kwargs', 'error', 'message'), [
    ({}, TypeError, 'expected either chunks or dataset; got neither. Give chunks=64'),
    ({'chunks': 3, 'dataset': Told(3)}, TypeError, 'either chunks or dataset; got both'),
    ({'dataset': 'data.hdf5'}, TypeError, 'a method example_chunks, as an H5PYDataset has; got s'),
    ({'dataset': Told(3)}, TypeError, r'Told.example_chunks\(\) to be a tuple .* got int 3'),
    ({'dataset': Told((3, 'a'))}, TypeError, r'the offset in Told.example_chunks\(\)'),
    ({'chunks': 0}, ValueError, 'chunks to be a positive integer; got 0'),
    ({'chunks': 2.5}, TypeError, 'chunks to be a positive integer; got 2.5'),
    ({'chunks': True}, TypeError, 'chunks to be a positive integer; got True'),
    ({'chunks': (0, 1)}, ValueError, 'the length in chunks to be a positive integer; got 0'),
    ({'chunks': (3, -1)}, ValueError, 'the offset in chunks to be an integer of at least 0'),
    ({'chunks': (3, 1, 2)}, ValueError, r'\(length, offset\), or .* got a tuple of 3'),
    ({'chunks': 'abc'}, TypeError, 'the number of the chunk of each example; got'),
    ({'chunks': [0.5] * 10}, TypeError, r'number of the chunk of each example; got list \[0.5'),
    ({'chunks': [[1], [2, 3]]}, TypeError, r'the chunk of each example; got list \[\[1\], \[2'),
    ({'chunks': numpy.zeros(10)}, TypeError, r'got an array of float64 of shape \(10,\)'),
    ({'chunks': numpy.zeros((10, 1), int)}, TypeError, r'got an array of int64 of shape \(10, 1'),
    ({'chunks': numpy.zeros(9, int)}, ValueError, 'one is 9; got the numbers of 9 examples'),
    ({'chunks': [0], 'examples': [0, 4]}, ValueError, 'one is 4; got the numbers of 1 examples'),
    ({'chunks': 2, 'examples': [3, -1]}, ValueError, 'expected examples of at least 0; got -1'),
    ({'chunks': 2, 'examples': range(-2, 3)}, ValueError, 'examples of at least 0; got -2'),
    ({'chunks': 2, 'examples': ['a']}, TypeError, "a sequence of integers; got list, 'a' first"),
    ({'chunks': 2, 'examples': []}, ValueError, 'at least one example'),
    ({'chunks': 2, 'examples': 0}, ValueError, 'the number of examples to be a positive integer'),
    ({'chunks': 2, 'window': 0}, ValueError, 'window to be a positive integer; got 0'),
    ({'chunks': 2, 'window': 1.5}, TypeError, 'window to be a positive integer; got 1.5'),
    ({'chunks': 2, 'rng': 7}, TypeError, r'such as numpy.random.RandomState\(7\); got 7'),
])
def test_wrong_arguments(make, kwargs, error, message):
    with pytest.raises(error, match=f'ChunkShuffled(Example)?Scheme: .*{message}'):
        make(**{'examples': 10, **kwargs})


@pytest.mark.parametrize('batch_size', [0, 2.5])
def test_wrong_batch_sizes(batch_size):
    with pytest.raises((TypeError, ValueError), match='ChunkShuffledScheme: expected batch_size'):
        ChunkShuffledScheme(8, batch_size, chunks=2)
