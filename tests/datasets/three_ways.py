"""A file whose sources are read in each of the ways there are, and what must be read from it.

It is imported by the processes that tests start, too.
"""
import h5py
import numpy

from fuel.datasets.hdf5 import H5PYDataset
from tests.storage.ragged_files import attach_scale

ROWS = 3000
SOURCES = ('chunked', 'contiguous', 'flat', 'gzip', 'lzf', 'scaleoffset')


def rows_at(numbers):
    """Return the rows with some numbers, made from these."""
    return numpy.asarray(numbers)[:, None] * 7 + numpy.arange(4) * 100_003


def write_three_ways(path, first=0, count=ROWS):
    """Write the file; rows are those from `first` on."""
    rows = rows_at(numpy.arange(first, first + count))
    with h5py.File(path, 'w') as h5file:
        h5file['contiguous'] = rows
        h5file.create_dataset('chunked', data=rows, chunks=(11, 3))
        h5file.create_dataset('gzip', data=rows, chunks=(16, 4), compression='gzip', shuffle=True,
                              fletcher32=True)
        h5file.create_dataset('lzf', data=rows, chunks=(7, 4), compression='lzf')
        h5file.create_dataset('scaleoffset', data=rows, chunks=(50, 4), scaleoffset=0)
        # Examples of 0 to 4 values.
        lengths = numpy.arange(first, first + count) % 5
        h5file['flat'] = numpy.concatenate([row[:length] for row, length
                                            in zip(rows, lengths, strict=True)])
        attach_scale(h5file, 'flat', 'offsets', numpy.concatenate([[0], lengths.cumsum()]))
        h5file.attrs['split'] = H5PYDataset.create_split_array(
            {'all': dict.fromkeys(SOURCES, (0, count))})
    return str(path)


def wrong_values(dataset, request, first=0):
    """Read a list of rows and return how many of the sources are not as they must be."""
    wrong = 0
    numbers = numpy.asarray(request) + first
    expected = rows_at(numbers)
    for source, got in zip(dataset.sources, dataset.get_data(None, request), strict=True):
        if source == 'flat':
            wrong += not all(numpy.array_equal(one, row[:number % 5]) for one, row, number
                             in zip(got, expected, numbers.tolist(), strict=True))
        else:
            wrong += not numpy.array_equal(got, expected)
    return wrong


def read_much(dataset, seed, steps):
    """Read at random, and return how often something was wrong."""
    rng = numpy.random.default_rng(seed)
    return sum(wrong_values(dataset, rng.integers(0, ROWS, 40)) for _ in range(steps))
