"""What the benchmark of the engines reads, and the streams over it."""
import functools

import numpy

from fuel.datasets import H5PYDataset, IndexableDataset
from fuel.schemes import SequentialScheme
from fuel.streams import DataStream
from fuel.transformers.image import ImagesFromBytes, RandomFixedSizeCrop
from tests.benchmarks.bench_images import photograph

LABELS = ('batch', 'channel', 'height', 'width')
CROP = 224


class Arrays:
    """Rows in memory, more than the caches of a processor hold, and the batches to make of them.

    Parameters
    ----------
    shape : tuple of int
        Of a batch.
    dtype : str
        Of the rows.
    batches : int
        How many batches an epoch has.
    """

    def __init__(self, shape, dtype, batches):
        self.name = f'{"x".join(map(str, shape))} {dtype}'
        self.batch_size, self.batches = shape[0], batches
        self.batch_bytes = int(numpy.prod(shape)) * numpy.dtype(dtype).itemsize
        rows = self.batch_size * -(-160 * 2**20 // self.batch_bytes)
        random = numpy.random.default_rng(0)
        self.rows = random.integers(0, 255, size=(rows, *shape[1:]), dtype='uint8').astype(dtype)
        self.places = random.integers(0, rows, size=self.batch_size * batches)

    def stream(self):
        """Return a stream of batches in random order."""
        dataset = IndexableDataset({'images': self.rows})
        return DataStream(dataset,
                          iteration_scheme=SequentialScheme(self.places, self.batch_size))

    def requests(self):
        """Return the same batches as lists of indices."""
        return self.places.reshape(self.batches, self.batch_size).tolist()

    def blocks(self):
        """Return all rows in pieces of the size of a batch."""
        return [self.rows[start:start + self.batch_size]
                for start in range(0, len(self.rows), self.batch_size)]


class Photographs:
    """JPEG files in memory, of 500 x 375 pixels, of which a random part of each is wanted."""

    def __init__(self, batches, batch_size=64):
        self.files = [photograph(seed) for seed in range(128)]
        self.batches, self.batch_size = batches, batch_size
        self.places = numpy.random.default_rng(0).integers(0, len(self.files),
                                                           size=batch_size * batches)

    def stream(self):
        """Return a stream of batches of crops."""
        dataset = IndexableDataset({'images': self.files})
        stream = DataStream(dataset,
                            iteration_scheme=SequentialScheme(self.places, self.batch_size))
        return RandomFixedSizeCrop(ImagesFromBytes(stream), (CROP, CROP))

    def requests(self):
        """Return the same batches as lists of indices."""
        return self.places.reshape(self.batches, self.batch_size).tolist()


def write_file(path, rows=2000):
    """Write an HDF5 file of small images."""
    import h5py
    with h5py.File(path, 'w') as file:
        file['images'] = numpy.random.default_rng(0).integers(
            0, 256, size=(rows, 3, 32, 32), dtype='uint8')
        file.attrs['split'] = H5PYDataset.create_split_array({'train': {'images': (0, rows)}})


def file_stream(path):
    """Return a stream over that file."""
    dataset = H5PYDataset(path, ('train',))
    return DataStream(dataset, iteration_scheme=SequentialScheme(dataset.num_examples, 128))


def read_every_byte(data):
    """Read an array as fast as numpy can, and write nothing."""
    numpy.bitwise_xor.reduce(data.reshape(-1).view('uint64'))


big = functools.partial(Arrays, (64, 3, 224, 224), 'uint8')
small = functools.partial(Arrays, (128, 3, 32, 32), 'float32')
