"""Sources of variable length, whatever their lengths, layout and requests."""
import tempfile
from pathlib import Path

import h5py
import numpy
from hypothesis import given
from hypothesis import strategies as st

from fuel.datasets.hdf5 import H5PYDataset
from tests.storage.ragged_files import write_flat, write_vlen

OPTIONS = [{}, {'chunks': (3,)}, {'chunks': (8,), 'compression': 'gzip', 'shuffle': True},
           {'chunks': (100,), 'fletcher32': True}]


@st.composite
def sources(draw):
    """Return the writer, its options, and arrays with one or two axes, perhaps of one shape."""
    dtype = draw(st.sampled_from(['u1', '>i2', '<f4', 'bool']))
    sides = st.integers(0, 5)
    axes = draw(st.integers(1, 2))
    shapes = draw(st.lists(st.tuples(*[sides] * axes), min_size=1, max_size=12))
    if draw(st.booleans()):
        shapes = [shapes[0]] * len(shapes)
    rng = numpy.random.default_rng(draw(st.integers(0, 99)))
    arrays = [rng.integers(0, 2 if dtype == 'bool' else 100, shape).astype(dtype)
              for shape in shapes]
    options = draw(st.sampled_from(OPTIONS))
    writer = draw(st.sampled_from([write_flat, write_vlen]))
    if writer is write_vlen and 'fletcher32' in options:
        options = {}                    # HDF5 has no checksums for these
    rows = sum(array.size for array in arrays) if writer is write_flat else len(arrays)
    if 'chunks' in options and rows:
        options = {**options, 'chunks': (min(rows, options['chunks'][0]),)}
    elif not rows:
        options = {}
    return writer, options, dtype, arrays


def requests(count):
    numbers = st.integers(0, count - 1)
    return st.one_of(
        numbers, st.lists(numbers, min_size=1, max_size=20),
        st.lists(numbers, min_size=1, max_size=20).map(lambda chosen: numpy.array(chosen, 'i4')),
        st.tuples(numbers, st.integers(1, count), st.integers(1, 3)).map(
            lambda parts: slice(parts[0], max(parts[0] + 1, parts[1]), parts[2])),
        st.lists(st.booleans(), min_size=count, max_size=count).filter(any).map(numpy.array))


@given(sources(), st.data())
def test_every_request_gives_the_arrays_that_were_written(made, data):
    writer, options, dtype, arrays = made
    with tempfile.TemporaryDirectory() as folder:
        path = writer(Path(folder) / 'f.hdf5', arrays, dtype, **options)
        in_memory = H5PYDataset(path, ('all',), load_in_memory=True)
        datasets = [in_memory, H5PYDataset(path, ('all',))]
        wanted = data.draw(st.lists(requests(len(arrays)), min_size=1, max_size=5))
        for dataset in datasets:
            assert dataset.num_examples == len(arrays)
            handle = dataset.open()
            for request in wanted:
                number, values = dataset.get_data(handle, request)
                chosen = numpy.arange(len(arrays))[request]
                assert numpy.array_equal(number, chosen)
                if isinstance(request, int):
                    values = [values]
                else:
                    assert values.dtype == object
                    assert values.shape == chosen.shape
                for array, place in zip(values, numpy.atleast_1d(chosen), strict=True):
                    assert array.dtype == arrays[place].dtype
                    assert array.shape == arrays[place].shape
                    assert array.tobytes() == arrays[place].tobytes()
            dataset.close(handle)


@given(sources())
def test_both_layouts_are_described_alike(made):
    _, _, dtype, arrays = made
    with tempfile.TemporaryDirectory() as folder:
        told = []
        for writer in (write_flat, write_vlen):
            path = writer(Path(folder) / f'{writer.__name__}.hdf5', arrays, dtype)
            dataset = H5PYDataset(path, ('all',), sources=('values',))
            told.append((dataset.axis_labels['values'], dataset.source_shapes,
                         dataset.source_dtypes, dataset.num_examples))
            with h5py.File(path) as h5file:
                assert dataset.source_dtypes == [h5py.check_vlen_dtype(h5file['values'].dtype)
                                                 or h5file['values'].dtype]
        assert told[0] == told[1]
