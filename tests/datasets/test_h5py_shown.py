"""What is printed for an HDF5 data set."""
from __future__ import annotations

import os
import pickle

import h5py
import numpy
import pytest

from fuel.datasets.hdf5 import H5PYDataset
from fuel.storage.handles import open_handles
from tests.storage.files import write_file


@pytest.fixture
def path(tmp_path):
    return write_file(tmp_path / 'some name.hdf5', {
        'x': numpy.arange(40).reshape(20, 2), 'y': numpy.arange(20)},
        {'train': {'x': (0, 15), 'y': (0, 15)}, 'test': {'x': (15, 20), 'y': (15, 20)},
         'one': {'y': (3, 4)}})


class Named(H5PYDataset):
    pass


@pytest.mark.parametrize('in_memory', [False, True, 'shared'])
def test_class_examples_sources_splits_and_file(path, in_memory):
    dataset = H5PYDataset(path, ('train',), load_in_memory=in_memory)
    assert repr(dataset) == '<H5PYDataset: 15 examples of x, y; split train of some name.hdf5>'
    assert str(dataset) == repr(dataset)
    dataset.close()
    assert repr(Named(path, ('train', 'test'), sources=('y',), load_in_memory=in_memory)) == (
        '<Named: 20 examples of y; splits train, test of some name.hdf5>')
    assert repr(H5PYDataset(path, ('train',), subset=slice(2, 3))) == (
        '<H5PYDataset: 1 example of x, y; split train of some name.hdf5>')


def test_open_file_and_bytes(path):
    with h5py.File(path) as h5file:
        dataset = H5PYDataset(h5file, ('one',))
        expected = '<H5PYDataset: 1 example of y; split one of some name.hdf5>'
        assert repr(dataset) == expected
    assert repr(dataset) == expected            # also when that file has been closed
    assert repr(H5PYDataset(os.fsencode(path), ('one',))) == expected


def test_many_names(tmp_path):
    many = write_file(tmp_path / 'x.hdf5', {f'x{number}': numpy.zeros(3) for number in range(9)},
                      {'all': {f'x{number}': (0, 3) for number in range(9)}})
    assert repr(H5PYDataset(many, ('all',))) == (
        '<H5PYDataset: 3 examples of x0, x1, x2, x3, x4, x5 and 3 more; split all of x.hdf5>')


def test_nothing_is_opened_or_read(path):
    dataset = H5PYDataset(path, ('train',), load_in_memory=True)
    copy = pickle.loads(pickle.dumps(dataset))
    os.remove(path)
    assert repr(copy) == '<H5PYDataset: x, y; split train of some name.hdf5>'
    assert repr(dataset) == '<H5PYDataset: 15 examples of x, y; split train of some name.hdf5>'
    assert not open_handles()


def test_number_is_that_of_the_sources_that_were_loaded(path):
    dataset = H5PYDataset(path, ('train',))
    dataset.sources = ('y',)
    assert repr(dataset) == '<H5PYDataset: y; split train of some name.hdf5>'
    assert dataset.num_examples == 15
    assert repr(dataset) == '<H5PYDataset: 15 examples of y; split train of some name.hdf5>'


def test_half_made():
    class Late(H5PYDataset):
        def __init__(self):
            self.shown = repr(self)

    assert Late().shown.startswith('<tests.datasets.test_h5py_shown.test_half_made')
    assert repr(object.__new__(H5PYDataset)).startswith('<fuel.datasets._h5py.H5PYDataset object')
