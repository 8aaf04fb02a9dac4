"""Data in memory that all processes of a machine share."""
import json
import os
import pickle
import subprocess
import sys

import h5py
import numpy
import pytest
from numpy.testing import assert_array_equal

from fuel.datasets.hdf5 import H5PYDataset
from fuel.schemes import ShuffledScheme
from fuel.storage.variable.vlen import objects
from fuel.streams import DataStream

COUNT = 300
X = numpy.random.default_rng(3).integers(0, 1000, (COUNT, 4, 5)).astype('uint16')
WORDS = [numpy.arange(number % 7, dtype='int32') for number in range(COUNT)]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / 'data.hdf5'
    with h5py.File(path, 'w') as file:
        file.create_dataset('x', data=X, chunks=(7, 4, 5), compression='gzip')
        words = file.create_dataset('words', (COUNT,), dtype=h5py.vlen_dtype('int32'))
        words[...] = objects(WORDS)
        file.attrs['split'] = H5PYDataset.create_split_array(
            {'train': {'x': (0, 200), 'words': (0, 200)}, 'test': {'x': (200, 300),
                                                                   'words': (200, 300)}})
    return str(path)


def assert_rows(batch, rows):
    words, x = batch
    assert_array_equal(x, X[rows])
    assert x.flags.writeable
    assert words.dtype == object
    assert words.shape == (len(rows),)
    for word, row in zip(words, rows, strict=True):
        assert_array_equal(word, WORDS[row])
        assert word.flags.writeable


def test_rows_are_those_of_the_file(path):
    dataset = H5PYDataset(path, ('test',), load_in_memory='shared')
    assert dataset.describe()['x'].way == 'memory'
    assert_rows(dataset.get_data(request=[5, 99, 0, 5]), [205, 299, 200, 205])
    assert_rows(dataset.get_data(request=slice(10, 90, 30)), [210, 240, 270])
    word, x = dataset.get_data(request=3)
    assert_array_equal(x, X[203])
    assert_array_equal(word, WORDS[203])
    os.remove(path)                      # nothing is read any more
    assert_rows(dataset.get_data(request=[1]), [201])


@pytest.mark.parametrize('subset', [slice(20, 50), slice(0, 100, 3), [7, 3, 99]])
def test_a_subset_is_that_of_the_file(path, subset):
    shared = H5PYDataset(path, ('test',), subset=subset, load_in_memory='shared')
    plain = H5PYDataset(path, ('test',), subset=subset)
    everything = slice(0, shared.num_examples)
    assert_array_equal(shared.get_data(request=everything)[1],
                       plain.get_data(request=everything)[1])


def test_data_cannot_be_changed_by_accident(path):
    dataset = H5PYDataset(path, ('train',), sources=('x',), load_in_memory='shared')
    with pytest.raises(ValueError, match='read-only'):
        dataset.data_sources[0][0] = 0
    batch, = dataset.get_data(request=slice(0, 5))
    batch[...] = 0
    assert_array_equal(dataset.get_data(request=slice(0, 5))[0], X[:5])


def test_two_data_sets_of_a_process_share_their_data(path):
    one, other, part = (H5PYDataset(path, which, sources=('x',), load_in_memory='shared')
                        for which in (('train',), ('train',), ('test',)))
    assert numpy.shares_memory(one.data_sources[0], other.data_sources[0])
    assert not numpy.shares_memory(one.data_sources[0], part.data_sources[0])
    again = pickle.loads(pickle.dumps(one))
    assert numpy.shares_memory(one.data_sources[0], again.data_sources[0])


READING = '''
import os, pickle, sys
import numpy
dataset = pickle.load(sys.stdin.buffer)
place = dataset.data_sources[0]
words, x = dataset.get_data(request=list(range(100)))
with open('/proc/self/maps') as maps:
    start = dataset.data_sources[1].ctypes.data
    shared = [line for line in maps
              if int(line.split('-')[0], 16) <= start < int(line.split()[0].split('-')[1], 16)]
print(int(x.sum()), sum(word.sum() for word in words), 'memfd' in shared[0] or '/fuel' in shared[0])
'''


def in_new_process(program, given, *arguments):
    done = subprocess.run([sys.executable, '-c', program, *arguments], input=given,
                          capture_output=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode().split()


def test_a_new_process_uses_the_same_memory(path):
    dataset = H5PYDataset(path, ('test',), load_in_memory='shared')
    pickled = pickle.dumps(dataset)
    assert len(pickled) < 3000
    os.rename(path, path + '.gone')
    with pytest.raises(AssertionError, match='there is no such file'):
        in_new_process(READING, pickle.dumps(H5PYDataset(path + '.gone', ('test',))).replace(
            b'.gone', b'.lost'))
    os.rename(path + '.gone', path)
    expected = [str(int(X[200:].sum())), str(sum(word.sum() for word in WORDS[200:])), 'True']
    for _ in range(2):
        assert in_new_process(READING, pickled) == expected


def test_after_its_owner_has_ended_the_file_is_read_again(path):
    writing = ('import pickle, sys\nfrom fuel.datasets.hdf5 import H5PYDataset\n'
               "dataset = H5PYDataset(sys.argv[1], ('test',), load_in_memory='shared')\n"
               'sys.stdout.write(pickle.dumps(dataset).hex())')
    pickled = bytes.fromhex(in_new_process(writing, b'', path)[0])
    dataset = pickle.loads(pickled)
    assert_rows(dataset.get_data(request=[0, 42]), [200, 242])


def test_another_file_of_the_same_name_is_not_taken_for_the_first(path):
    pickled = pickle.dumps(H5PYDataset(path, ('test',), sources=('x',), load_in_memory='shared'))
    keep = H5PYDataset(path, ('test',), sources=('x',), load_in_memory='shared')
    with h5py.File(path, 'r+') as file:
        file['x'][200:] = 7
    dataset = pickle.loads(pickled)
    assert (dataset.get_data(request=[0, 1])[0] == 7).all()
    assert_array_equal(keep.get_data(request=[0])[0], X[[200]])


def test_a_stream_over_it_goes_on_after_a_pickle(path):
    dataset = H5PYDataset(path, ('train',), sources=('x',), load_in_memory='shared')
    stream = DataStream(dataset, iteration_scheme=ShuffledScheme(200, 32))
    iterator = stream.get_epoch_iterator()
    next(iterator)
    state = json.loads(json.dumps(stream.state_dict()))
    copy = pickle.loads(pickle.dumps(iterator))
    rest = [x for x, in iterator]
    assert_array_equal(numpy.concatenate([x for x, in copy]), numpy.concatenate(rest))
    fresh = DataStream(H5PYDataset(path, ('train',), sources=('x',)),
                       iteration_scheme=ShuffledScheme(200, 32))
    fresh.load_state_dict(state)
    assert_array_equal(numpy.concatenate([x for x, in fresh.get_epoch_iterator()]),
                       numpy.concatenate(rest))


def test_nothing_is_left_open(path):
    before = len(os.listdir('/proc/self/fd'))
    for _ in range(20):
        H5PYDataset(path, ('test',), load_in_memory='shared').close()
    assert len(os.listdir('/proc/self/fd')) == before


@pytest.mark.parametrize('kind', ['ascii', 'utf-8'])
def test_strings_of_any_length(tmp_path, kind):
    words = [b'alpha', b'', 'größer'.encode() if kind == 'utf-8' else b'gamma', b'b' * 1000]
    with h5py.File(tmp_path / 'words.hdf5', 'w') as file:
        file.create_dataset('word', data=numpy.array(words, dtype=object),
                            dtype=h5py.string_dtype(kind))
        file.attrs['split'] = H5PYDataset.create_split_array({'train': {'word': (0, 4)}})
    sets = [H5PYDataset(tmp_path / 'words.hdf5', ('train',), load_in_memory=how)
            for how in (False, True, 'shared')]
    for dataset in sets:
        assert dataset.get_data(request=[3, 0, 1, 2])[0].tolist() == [words[3], *words[:3]]
        assert dataset.get_data(request=slice(0, 4))[0].dtype == object
        assert dataset.get_data(request=2)[0] == words[2]
        assert dataset.source_dtypes[0] == object
        assert dataset.source_shapes == [(4,)]


def test_what_cannot_be_shared_says_so(path):
    with h5py.File(path, 'r+') as file:
        names = file.create_dataset('names', (COUNT,), dtype=h5py.vlen_dtype(h5py.string_dtype()))
        names[0] = numpy.array(['a'], dtype=object)
        file.attrs['split'] = H5PYDataset.create_split_array({'train': {'names': (0, 200)}})
    with pytest.raises(TypeError, match="'names' cannot be put into shared memory.*=True"):
        H5PYDataset(path, ('train',), load_in_memory='shared')


def test_other_words_are_refused(path):
    with pytest.raises(ValueError, match="True, False or 'shared'; got 'share'"):
        H5PYDataset(path, ('train',), load_in_memory='share')
