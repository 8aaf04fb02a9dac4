"""A file that becomes another one while a data set does not have it open."""
import os

import h5py
import numpy
import pytest
from numpy.testing import assert_array_equal

from fuel.datasets.hdf5 import H5PYDataset
from fuel.exceptions import DataFileError
from fuel.schemes import SequentialScheme
from fuel.storage.handles import open_handles
from fuel.streams import DataStream


def write(path, rows):
    with h5py.File(str(path) + '.new', 'w') as file:
        file['x'] = rows
        file.attrs['split'] = H5PYDataset.create_split_array({'train': {'x': (0, len(rows))}})
    os.replace(str(path) + '.new', path)


ROWS = numpy.arange(300).reshape(100, 3)


@pytest.fixture
def dataset(tmp_path):
    write(tmp_path / 'data.hdf5', ROWS)
    return H5PYDataset(tmp_path / 'data.hdf5', ('train',))


@pytest.mark.parametrize('other', [ROWS[:50], ROWS.astype('int32'), ROWS[:, :2],
                                   numpy.arange(400).reshape(200, 2)])
def test_a_file_of_another_form_is_refused(dataset, other):
    write(dataset.path, other)
    for request in (slice(90, 100), [0, 99], 3, [0]):
        with pytest.raises(DataFileError, match=r'data\.hdf5: the file was changed since'):
            dataset.get_data(request=request)
    assert dataset.num_examples == 100
    write(dataset.path, ROWS + 1)               # one of the right form again
    assert_array_equal(dataset.get_data(request=[0, 99])[0], ROWS[[0, 99]] + 1)


def test_a_file_of_the_same_form_is_read(dataset):
    write(dataset.path, ROWS + 7)
    assert_array_equal(dataset.get_data(request=[5, 99, 0])[0], ROWS[[5, 99, 0]] + 7)


def test_a_copy_in_another_place_is_read(dataset, tmp_path):
    write(tmp_path / 'copy.hdf5', ROWS)
    os.remove(dataset.path)
    dataset.path = str(tmp_path / 'copy.hdf5')
    assert_array_equal(dataset.get_data(request=slice(98, 100))[0], ROWS[98:])


def test_while_it_is_open_the_old_file_is_read(dataset):
    dataset.open()
    write(dataset.path, ROWS[:50] + 7)
    assert_array_equal(dataset.get_data(request=[99])[0], ROWS[[99]])
    assert_array_equal(H5PYDataset(dataset.path, ('train',)).get_data(request=[49])[0],
                       ROWS[[49]] + 7)
    dataset.close()
    with pytest.raises(DataFileError, match='changed since this data set was made'):
        dataset.get_data(request=[99])


def test_a_stream_closes_its_file_however_many_epochs_it_gave(dataset):
    stream = DataStream(dataset, iteration_scheme=SequentialScheme(100, 10))
    for _ in range(4):
        assert sum(len(x) for x, in stream.get_epoch_iterator()) == 100
        assert list(open_handles().values()) == [1]
    unfinished = stream.get_epoch_iterator()
    next(unfinished)
    stream.close()
    assert open_handles() == {}
    assert len(next(unfinished)[0]) == 10       # it opens the file again
    dataset.close()
    assert open_handles() == {}
