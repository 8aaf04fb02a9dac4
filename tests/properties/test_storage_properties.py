"""Rows out of files of any dtype, shape, chunk shape and filters: what numpy and h5py say."""
import itertools

import h5py
import hypothesis
import hypothesis.strategies as st
import numpy

from fuel.datasets.hdf5 import H5PYDataset
from tests.storage.layout_entry import values
from tests.storage.layout_filters import FILTERS
from tests.storage.layout_types import APART, DEEP, PAIR, PLAIN
from tests.storage.ragged_files import write_flat

DTYPES = st.sampled_from([*PLAIN, 'S1', 'S7', 'V3', PAIR, APART, DEEP])
# scaleoffset, nbit and others are left to the library, and to tests of single layouts.
FILTER_NAMES = ('deflate', 'shuffle', 'fletcher32', 'lzf')

# An error that Hypothesis keeps would keep its file open, so no two examples share a name.
NUMBERS = itertools.count()


@st.composite
def stored_data(draw):
    """Return how to store a data set, and its rows before anything is written."""
    shape = (draw(st.integers(1, 40)), *draw(st.lists(st.integers(0, 5), max_size=3)))
    chunks, maxshape, filters = None, None, ()
    if draw(st.booleans()):
        # In one axis of four the data may grow; only there may a chunk be longer than they are.
        grows = [draw(st.integers(0, 3)) == 0 or not length for length in shape]
        maxshape = tuple(None if grow else length
                         for grow, length in zip(grows, shape, strict=True))
        chunks = tuple(draw(st.integers(1, length + 3 if grow else length))
                       for grow, length in zip(grows, shape, strict=True))
        filters = draw(st.lists(st.sampled_from(FILTER_NAMES), max_size=3))
    return {
        'shape': shape, 'dtype': numpy.dtype(draw(DTYPES)), 'chunks': chunks,
        'maxshape': maxshape, 'filters': filters,
        'fill': draw(st.booleans()),
        'early': draw(st.booleans()),
        'pieces': draw(st.lists(st.tuples(st.integers(0, 40), st.integers(1, 40)), max_size=3)),
        'whole': draw(st.booleans()),
        'file': {'libver': draw(st.sampled_from(['latest', ('earliest', 'v108'), 'v110'])),
                 'userblock_size': draw(st.sampled_from([0, 512, 1024]))},
    }


def requests(count):
    """Return a strategy for requests within a number of examples."""
    index = st.integers(0, count - 1)
    indices = st.lists(index, min_size=1, max_size=2 * count)
    return st.one_of(
        index, indices, indices.map(lambda places: numpy.array(places, 'int32')),
        st.permutations(range(count)).map(numpy.array), indices.map(sorted),
        st.tuples(index, st.integers(1, count), st.integers(1, 5)).map(
            lambda bounds: slice(bounds[0], min(count, bounds[0] + bounds[1]), bounds[2])),
        st.lists(st.booleans(), min_size=count, max_size=count).filter(any).map(numpy.array))


def write(path, stored):
    """Write a file and return the rows of its source 'x', which h5py had no part in."""
    dtype, shape = stored['dtype'], stored['shape']
    data = values(shape, dtype)
    expected = numpy.zeros(shape, dtype)
    with h5py.File(path, 'w', **stored['file']) as h5file:
        properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        if stored['chunks'] is not None:
            properties.set_chunk(stored['chunks'])
        for name in stored['filters']:
            FILTERS[name](properties)
        if stored['fill'] and dtype.kind != 'S':    # h5py takes it for a pointer
            fill = values((1,), dtype, seed=9)
            properties.set_fill_value(fill)
            expected[...] = fill
        if stored['early']:
            properties.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
        space = h5py.h5s.create_simple(shape, stored['maxshape'] and tuple(
            h5py.h5s.UNLIMITED if length is None else length for length in stored['maxshape']))
        dataset = h5py.Dataset(h5py.h5d.create(
            h5file.id, b'x', h5py.h5t.py_create(dtype, logical=True), space, properties))
        pieces = [(0, len(data))] if stored['whole'] else stored['pieces']
        for start, length in pieces:
            dataset[start:start + length] = data[start:start + length]
            expected[start:start + length] = data[start:start + length]
        h5file.attrs['split'] = H5PYDataset.create_split_array({'all': {'x': (0, len(data))}})
    return expected


@hypothesis.settings(max_examples=200)
@hypothesis.given(stored_data(), st.data())
def test_rows_are_those_of_numpy_and_h5py(tmp_path, stored, data):
    path = tmp_path / f'data_{next(NUMBERS)}.hdf5'
    expected = write(path, stored)
    with h5py.File(path) as h5file:
        through_library = h5file['x'][...]
    hypothesis.assume(through_library.dtype == stored['dtype'])
    assert numpy.array_equal(through_library, expected)
    subset = data.draw(st.one_of(st.none(), requests(len(expected)).filter(
        lambda request: not isinstance(request, int))))
    if subset is not None:
        chosen = numpy.unique(numpy.arange(len(expected))[subset])
        expected, through_library = expected[chosen], through_library[chosen]
    dataset = H5PYDataset(path, ('all',), subset=subset, load_in_memory=data.draw(st.booleans()))
    dataset.open()
    try:
        assert dataset.source_shapes == [expected.shape]
        for _ in range(3):
            request = data.draw(requests(len(expected)))
            got, = dataset.get_data(None, request)
            for wanted in (expected[request], through_library[request]):
                assert numpy.shape(got) == wanted.shape
                assert got.dtype == wanted.dtype
                assert numpy.array_equal(got, wanted)
            if isinstance(got, numpy.ndarray):
                got[...] = numpy.zeros((), got.dtype)
    finally:
        dataset.close(None)
    path.unlink()


@st.composite
def stored_bytes(draw):
    """Return arrays of different lengths, and how their values are stored one after another."""
    lengths = draw(st.lists(st.integers(0, 9), min_size=1, max_size=20))
    chunks = draw(st.none() | st.integers(1, 30))
    total = sum(lengths)
    return lengths, draw(st.sampled_from(['uint8', '<i4', '>f8'])), {
        'chunks': None if chunks is None or not total else (min(chunks, total),),
        'compression': draw(st.sampled_from([None, 'gzip', 'lzf'])) if chunks and total else None,
    }


@hypothesis.given(stored_bytes(), st.data())
def test_examples_of_different_lengths(tmp_path, stored, data):
    lengths, dtype, how = stored
    arrays = [values((length,), dtype, seed) for seed, length in enumerate(lengths)]
    path = write_flat(tmp_path / f'flat_{next(NUMBERS)}.hdf5', arrays, dtype, **how)
    dataset = H5PYDataset(path, ('all',), load_in_memory=data.draw(st.booleans()))
    dataset.open()
    try:
        for _ in range(3):
            request = data.draw(requests(len(arrays)))
            numbers, got = dataset.get_data(None, request)
            assert numpy.array_equal(numbers, numpy.arange(len(arrays))[request])
            if isinstance(request, int):
                got = [got]
            else:
                assert (got.dtype, got.shape) == (object, numbers.shape)
            for number, array in zip(numpy.atleast_1d(numbers), got, strict=True):
                assert array.dtype == dtype
                assert numpy.array_equal(array, arrays[number])
                array[...] = 0
    finally:
        dataset.close(None)
