"""HDF5 data sets and their streams, pickled in every state."""
import copy
import os
import pickle
import subprocess
import sys

import h5py
import numpy
import pytest

from fuel.datasets.hdf5 import H5PYDataset
from fuel.exceptions import DataFileNotFoundError
from fuel.schemes import SequentialScheme, ShuffledScheme
from fuel.storage.handles import open_handles
from fuel.streams import DataStream
from tests.storage.files import some_images, write_file, write_ragged

X = numpy.arange(200).reshape(100, 2)


@pytest.fixture
def path(tmp_path):
    return write_file(tmp_path / 'f.hdf5', {'x': X, 'y': numpy.arange(100)},
                      {'train': {'x': (0, 90), 'y': (0, 90)}, 'test': {'x': (90, 100),
                                                                       'y': (90, 100)}})


@pytest.fixture(params=[False, True], ids=['file', 'memory'])
def in_memory(request):
    return request.param


def round_trip(value):
    return pickle.loads(pickle.dumps(value))


STATES = {
    'fresh': lambda dataset: None,
    'open': lambda dataset: dataset.open(),
    'used': lambda dataset: dataset.get_data(None, [0]),
    'closed': lambda dataset: dataset.close(dataset.open()),
    'unpickled': round_trip,
}

FIRST_CALLS = {
    'open': lambda dataset: dataset.open(),
    'close': lambda dataset: dataset.close(None),
    'reset': lambda dataset: dataset.reset(None),
    'next_epoch': lambda dataset: dataset.next_epoch(None),
    'num_examples': lambda dataset: dataset.num_examples,
    'sources': lambda dataset: dataset.sources,
    'axis_labels': lambda dataset: dataset.axis_labels,
    'subsets': lambda dataset: dataset.subsets,
    'data_sources': lambda dataset: dataset.data_sources,
    'source_shapes': lambda dataset: dataset.source_shapes,
    'source_dtypes': lambda dataset: dataset.source_dtypes,
    'external_file_handle': lambda dataset: dataset.external_file_handle,
    'example_iteration_scheme': lambda dataset: dataset.example_iteration_scheme,
    'load': lambda dataset: dataset.load(),
    '_file_handle': lambda dataset: dataset._file_handle['x'],
    '_out_of_memory_close': lambda dataset: dataset._out_of_memory_close(),
    '_out_of_memory_open': lambda dataset: dataset._out_of_memory_open(),
    'pickle': pickle.dumps,
    'get_data': lambda dataset: dataset.get_data(None, 1),
}


@pytest.mark.parametrize('state', STATES)
@pytest.mark.parametrize('first_call', FIRST_CALLS)
def test_a_data_set_is_pickled_in_every_state_and_used_at_once(path, in_memory, state,
                                                               first_call):
    dataset = H5PYDataset(path, ('test',), subset=[2, 5, 7], load_in_memory=in_memory)
    STATES[state](dataset)
    unpickled = round_trip(dataset)
    FIRST_CALLS[first_call](unpickled)
    assert unpickled.num_examples == 3
    x, y = unpickled.get_data(None, [2, 0])
    assert numpy.array_equal(x, X[[97, 92]])
    assert y.tolist() == [97, 92]
    unpickled.close(None)


def test_pickles_are_small(tmp_path, in_memory):
    path = write_file(tmp_path / 'large.hdf5', {'x': numpy.zeros((10 ** 5, 20))},
                      {'all': {'x': (0, 10 ** 5)}, 'listed': {'x': numpy.arange(0, 10 ** 5, 2)}})
    for name in ('all', 'listed'):
        dataset = H5PYDataset(path, (name,), load_in_memory=in_memory)
        dataset.open()
        dataset.get_data(None, slice(0, 1000))
        assert len(pickle.dumps(dataset)) < 1000
        dataset.close(None)


def test_what_is_pickled(path, in_memory):
    dataset = H5PYDataset(path, ('test',), load_in_memory=in_memory)
    dataset.open()
    dataset.get_data(None, [0])
    assert set(dataset.__getstate__()) == {
        '_example_iteration_scheme', 'axis_labels', 'default_axis_labels', 'driver',
        'load_in_memory', 'path', 'provides_sources', 'sort_indices', 'user_given_subset',
        'vlen_sources', 'which_sets'}
    dataset.close(None)


def test_data_in_memory_are_read_again_when_needed(path):
    dataset = round_trip(H5PYDataset(path, ('test',), load_in_memory=True))
    assert '_data_sources' not in dataset.__dict__
    assert dataset.data_sources[1].tolist() == list(range(90, 100))
    assert path not in open_handles()


def test_subsets_given_by_lists_are_small_in_pickles(path):
    dataset = H5PYDataset(path, ('train',), subset=list(range(0, 90, 2)))
    assert isinstance(dataset.user_given_subset, numpy.ndarray)
    assert dataset.user_given_subset.dtype == numpy.int32
    assert round_trip(dataset).num_examples == 45


def test_unpickling_needs_no_file_but_reading_names_it(path, in_memory, tmp_path):
    pickled = pickle.dumps(H5PYDataset(path, ('test',), load_in_memory=in_memory))
    os.rename(path, tmp_path / 'moved.hdf5')
    dataset = pickle.loads(pickled)
    assert dataset.sources == ('x', 'y')
    assert dataset.axis_labels == {'x': ('', ''), 'y': ('',)}
    dataset.close(None)
    with pytest.raises(DataFileNotFoundError, match=r'f\.hdf5.*attribute path'):
        dataset.get_data(None, [0])
    with pytest.raises(FileNotFoundError, match=r'f\.hdf5'):
        dataset._file_handle
    dataset.path = str(tmp_path / 'moved.hdf5')
    assert dataset.get_data(None, [3])[1].tolist() == [93]
    dataset.close(None)


def test_the_path_can_be_set_while_the_file_is_open(path, tmp_path):
    other = write_file(tmp_path / 'other.hdf5', {'x': -X, 'y': -numpy.arange(100)},
                       {'test': {'x': (90, 100), 'y': (90, 100)}})
    dataset = H5PYDataset(path, ('test',))
    assert dataset.get_data(None, [3])[1].tolist() == [93]
    dataset.path = other
    assert dataset.get_data(None, [3])[1].tolist() == [-93]
    assert path not in open_handles()
    assert open_handles()[other] == 1
    dataset.close(None)


def test_a_file_given_open_is_opened_by_its_path(path, in_memory):
    with h5py.File(path) as h5file:
        pickled = pickle.dumps(H5PYDataset(h5file, ('test',), load_in_memory=in_memory))
    dataset = pickle.loads(pickled)
    assert dataset.external_file_handle is None
    assert dataset.get_data(None, [3, 1])[1].tolist() == [93, 91]
    dataset.close(None)


def test_a_file_that_was_only_in_memory_is_missed(tmp_path):
    name = str(tmp_path / 'never-written.hdf5')
    with h5py.File(name, 'w', driver='core', backing_store=False) as h5file:
        h5file['x'] = X
        h5file.attrs['split'] = H5PYDataset.create_split_array({'all': {'x': (0, 100)}})
        dataset = round_trip(H5PYDataset(h5file, ('all',)))
    with pytest.raises(FileNotFoundError, match='never-written'):
        dataset.get_data(None, [0])


def test_copies_are_independent(path, in_memory):
    dataset = H5PYDataset(path, ('test',), load_in_memory=in_memory)
    dataset.open()
    for made in (copy.copy(dataset), copy.deepcopy(dataset)):
        made.close(None)
        assert made.get_data(None, [3])[1].tolist() == [93]
        made.close(None)
    assert dataset.get_data(None, [3])[1].tolist() == [93]
    dataset.close(None)


def test_images_of_different_shapes_after_unpickling(tmp_path, in_memory):
    images = some_images(9)
    dataset = round_trip(H5PYDataset(write_ragged(tmp_path / 'f.hdf5', images), ('all',),
                                     load_in_memory=in_memory))
    read, numbers = dataset.get_data(None, [7, 2])
    assert numbers.tolist() == [7, 2]
    assert numpy.array_equal(read[0], images[7])
    dataset.close(None)


@pytest.mark.parametrize('scheme', [SequentialScheme, ShuffledScheme])
@pytest.mark.parametrize('step', [0, 1, 2])
def test_an_epoch_goes_on_after_unpickling(path, in_memory, scheme, step):
    stream = DataStream(H5PYDataset(path, ('train',), load_in_memory=in_memory),
                        iteration_scheme=scheme(90, 32))
    iterator = stream.get_epoch_iterator()
    for _ in range(step):
        next(iterator)
    pickled = pickle.dumps((stream, iterator))
    stream_, iterator_ = pickle.loads(pickled)
    for left, right in zip(iterator, iterator_, strict=True):
        assert all(numpy.array_equal(*pair) for pair in zip(left, right, strict=True))
    for left, right in zip(stream.get_epoch_iterator(), stream_.get_epoch_iterator(),
                           strict=True):
        assert all(numpy.array_equal(*pair) for pair in zip(left, right, strict=True))
    stream.close()
    stream_.close()


GO_ON = '''
import pickle, sys
with open(sys.argv[1], 'rb') as file:
    stream, iterator = pickle.load(file)
print([batch[1].tolist() for batch in iterator])
print([batch[1].tolist() for batch in stream.get_epoch_iterator()])
'''


@pytest.mark.parametrize('scheme', [SequentialScheme, ShuffledScheme])
def test_an_epoch_goes_on_in_a_new_process(path, tmp_path, in_memory, scheme):
    stream = DataStream(H5PYDataset(path, ('train',), load_in_memory=in_memory),
                        iteration_scheme=scheme(90, 32))
    iterator = stream.get_epoch_iterator()
    next(iterator)
    (tmp_path / 'state.pkl').write_bytes(pickle.dumps((stream, iterator)))
    said = subprocess.run([sys.executable, '-c', GO_ON, str(tmp_path / 'state.pkl')],
                          capture_output=True, text=True, check=True).stdout.splitlines()
    assert said == [str([batch[1].tolist() for batch in iterator]),
                    str([batch[1].tolist() for batch in stream.get_epoch_iterator()])]
    stream.close()
