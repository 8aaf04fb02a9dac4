"""HDF5 files that are damaged or wrong: what is said, and that nothing is left open."""
import gc
import pathlib
import pickle

import h5py
import numpy
import pytest

from fuel.datasets.hdf5 import H5PYDataset
from fuel.exceptions import DataFileError, DataFileNotFoundError, DataLayoutError, FuelError
from fuel.storage.handles import open_handles
from tests.storage.files import some_images, write_file, write_ragged

X = numpy.arange(20).reshape(10, 2)
Y = numpy.arange(10)


def write(tmp_path, splits=None, edit=None):
    both = {'a': {'x': (0, 6), 'y': (0, 6)}, 'b': {'x': (6, 10), 'y': (6, 10)}}
    return write_file(tmp_path / 'data.hdf5', {'x': X, 'y': Y}, splits or both, edit=edit)


def cut_off(tmp_path):
    whole = pathlib.Path(write(tmp_path))
    whole.write_bytes(whole.read_bytes()[:3000])
    return str(whole)


def not_hdf5(tmp_path):
    (tmp_path / 'data.hdf5').write_text('<html>404</html>' * 100)
    return str(tmp_path / 'data.hdf5')


def empty(tmp_path):
    (tmp_path / 'data.hdf5').write_bytes(b'')
    return str(tmp_path / 'data.hdf5')


def without_splits(tmp_path):
    def edit(h5file):
        del h5file.attrs['split']
    return write(tmp_path, edit=edit)


def without_a_source(tmp_path):
    def edit(h5file):
        del h5file['y']
    return write(tmp_path, edit=edit)


def dangling(tmp_path):
    def edit(h5file):
        del h5file['a_x_rows']
    return write(tmp_path, {'a': {'x': [3, 1]}}, edit)


def wrong_reference(tmp_path):
    def edit(h5file):
        h5file.create_group('group')
        array = h5file.attrs['split']
        array['indices'][0] = h5file['group'].ref
        h5file.attrs['split'] = array
    return write(tmp_path, edit=edit)


def several_axes(tmp_path):
    def edit(h5file):
        del h5file['y']
        h5file.create_dataset('y', (10, 2), dtype=h5py.vlen_dtype('u1'))
    return write(tmp_path, edit=edit)


def short_shapes(tmp_path):
    images = some_images(10)
    return write_ragged(tmp_path / 'data.hdf5', images, shapes=[i.shape for i in images[:4]],
                        splits={'a': {'images': (0, 10), 'number': (0, 10)}})


FAULTS = {
    'missing': (lambda tmp_path: str(tmp_path / 'data.hdf5'), DataFileNotFoundError,
                FileNotFoundError, 'no such file.*fuel-download and fuel-convert'),
    'cut off': (cut_off, DataFileError, OSError, 'cut off.*make it again'),
    'no HDF5': (not_hdf5, DataFileError, OSError, 'not an HDF5 file; expected'),
    'empty': (empty, DataFileError, OSError, 'the file is empty'),
    'no split attribute': (without_splits, DataLayoutError, ValueError,
                           "no attribute 'split'.*create_split_array"),
    'no source': (without_a_source, DataLayoutError, ValueError,
                  "source 'y', but there is no data set.*'x'"),
    'past the end': (lambda tmp_path: write(tmp_path, {'a': {'x': (0, 11)}}), DataLayoutError,
                     ValueError, "'a', source 'x'.*stops at 11, and there are 10 rows"),
    'indices past the end': (lambda tmp_path: write(tmp_path, {'a': {'x': [3, 10]}}),
                             DataLayoutError, ValueError, 'name row 10, and there are 10 rows'),
    'dangling': (dangling, DataLayoutError, ValueError, "'a', source 'x'.*leads nowhere"),
    'wrong reference': (wrong_reference, DataLayoutError, ValueError, 'integers; got.*Group'),
    'unequal': (lambda tmp_path: write(tmp_path, {'a': {'x': (0, 5), 'y': (0, 6)}}),
                DataLayoutError, ValueError, "'x' has 5, 'y' has 6"),
    'several axes': (several_axes, DataLayoutError, ValueError, 'single axis'),
    'short shapes': (short_shapes, DataLayoutError, ValueError, 'shorter than the data'),
}


@pytest.mark.parametrize('fault', FAULTS)
@pytest.mark.parametrize('in_memory', [False, True])
def test_faults_are_told_and_leave_nothing_open(tmp_path, fault, in_memory):
    make, error, built_in, words = FAULTS[fault]
    path = make(tmp_path)
    with pytest.raises(error, match=words) as caught:
        H5PYDataset(path, ('a',), load_in_memory=in_memory)
    assert isinstance(caught.value, built_in)
    assert isinstance(caught.value, FuelError)
    assert 'data.hdf5' in str(caught.value)
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (type(copy), str(copy)) == (type(caught.value), str(caught.value))
    assert path not in open_handles()


@pytest.mark.parametrize('arguments', [
    {'which_sets': ('c',)}, {'which_sets': ('a',), 'sources': ('z',)},
    {'which_sets': ('a',), 'subset': [6]}, {'which_sets': ('a',), 'sources': ()}])
def test_a_failed_constructor_leaves_no_file_open(tmp_path, arguments):
    path = write(tmp_path)
    with pytest.raises(ValueError, match=r'split|provide|subset|at least one'):
        H5PYDataset(path, **arguments)
    assert path not in open_handles()
    with h5py.File(path, 'a') as h5file:
        h5file['more'] = 1


def test_a_failed_constructor_leaves_a_given_file_open(tmp_path):
    with h5py.File(write(tmp_path)) as h5file:
        with pytest.raises(ValueError, match='no split'):
            H5PYDataset(h5file, ('c',))
        assert numpy.array_equal(h5file['x'], X)


def test_sources_that_are_not_used_may_be_wrong(tmp_path):
    dataset = H5PYDataset(without_a_source(tmp_path), ('a',), sources=('x',))
    assert numpy.array_equal(dataset.get_data(None, [5, 0])[0], X[[5, 0]])
    dataset.close(None)


def test_unequal_sources_can_be_used_one_at_a_time(tmp_path):
    path = write(tmp_path, {'a': {'x': (0, 5), 'y': (0, 6)}})
    assert H5PYDataset(path, ('a',), sources=('x',)).num_examples == 5
    assert H5PYDataset(path, ('a',), sources=('y',)).num_examples == 6


def test_a_file_that_is_damaged_within_is_told_when_it_is_read(tmp_path):
    path = tmp_path / 'data.hdf5'
    with h5py.File(path, 'w') as h5file:
        h5file.create_dataset('x', data=numpy.arange(1000), chunks=(100,), compression='gzip')
        place = h5file['x'].id.get_chunk_info(4).byte_offset
        h5file.attrs['split'] = H5PYDataset.create_split_array({'a': {'x': (0, 1000)}})
    content = bytearray(path.read_bytes())
    content[place:place + 20] = b'damaged damaged damg'
    path.write_bytes(content)
    dataset = H5PYDataset(path, ('a',))
    assert dataset.get_data(None, [399])[0].tolist() == [399]
    with pytest.raises(DataFileError, match=r"data\.hdf5: source 'x': rows 400 to 499 cannot"):
        dataset.get_data(None, [400])
    assert dataset.get_data(None, [399])[0].tolist() == [399]
    dataset.close(None)
    with pytest.raises(DataFileError, match='cannot be read'):
        H5PYDataset(path, ('a',), load_in_memory=True)
    gc.collect()
    assert str(path) not in open_handles()


def test_a_shape_that_does_not_fit_is_told_when_it_is_read(tmp_path):
    images = some_images(4)
    shapes = [image.shape for image in images]
    shapes[2] = (7, 7, 7)
    path = write_ragged(tmp_path / 'data.hdf5', images, shapes=shapes)
    dataset = H5PYDataset(path, ('all',))
    assert numpy.array_equal(dataset.get_data(None, 1)[0], images[1])
    with pytest.raises(DataLayoutError, match='example 2'):
        dataset.get_data(None, [2, 1])
    dataset.close(None)


def test_a_file_that_vanishes_between_opening_and_reading(tmp_path):
    path = write(tmp_path)
    dataset = H5PYDataset(path, ('a',))
    pathlib.Path(path).unlink()
    with pytest.raises(DataFileNotFoundError, match=r'data\.hdf5'):
        dataset.open()
    with pytest.raises(DataFileNotFoundError, match=r'data\.hdf5'):
        dataset.get_data(None, [0])
    assert dataset.close(None) is None
