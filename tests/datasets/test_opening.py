"""Data sets by their name or by the path of their file."""
from __future__ import annotations

import inspect
import os
import pickle
import re

import h5py
import numpy
import pytest
import tables
from numpy.testing import assert_array_equal

import fuel
import fuel.datasets
from fuel._registry import BUILT_IN
from fuel.datasets import H5PYDataset, IndexableDataset, TextFile
from fuel.datasets._names import NAMES, by_command, by_name
from fuel.datasets.hdf5 import PytablesDataset
from fuel.exceptions import DataFileError, DataFileNotFoundError, DataLayoutError
from fuel.streams import DataStream
from fuel.utils import cache

ROWS = numpy.arange(30).reshape(10, 3)


def write(path, splits=('train', 'test'), command=None):
    with h5py.File(path, 'w') as file:
        file['features'] = ROWS
        file.attrs['split'] = H5PYDataset.create_split_array(
            {split: {'features': (5 * number, 5 * number + 5)}
             for number, split in enumerate(splits)})
        if command is not None:
            file.attrs['fuel_convert_command'] = command
    return path


@pytest.fixture(autouse=True)
def _data_path(tmp_path, monkeypatch):
    (tmp_path / 'data').mkdir()
    (tmp_path / 'cwd').mkdir()
    fuel.config.data_path = [str(tmp_path / 'data')]
    monkeypatch.chdir(tmp_path / 'cwd')


@pytest.fixture
def data(tmp_path):
    """The folder of the data path."""
    return tmp_path / 'data'


# Names

def test_all_built_in_data_sets_are_known():
    assert {*NAMES} == {*BUILT_IN, 'spiral', 'swiss_roll'}


@pytest.mark.parametrize('name', NAMES)
def test_what_is_said_of_the_classes(name):
    named = NAMES[name]
    cls = named.load()
    parameters = inspect.signature(cls.__init__).parameters
    assert ('which_sets' in parameters) == named.has_splits
    if named.argument:
        assert parameters[named.argument].default in (named.default, inspect.Parameter.empty)
    if named.filename and not named.argument:
        assert cls.filename == named.filename


@pytest.mark.parametrize(('name', 'known', 'chosen'), [
    ('mnist', 'mnist', {}), ('svhn', 'svhn', {}), ('svhn_2', 'svhn', {'which_format': 2}),
    ('svhn_format_1', 'svhn', {'which_format': 1}), ('celeba_64', 'celeba', {'which_format': '64'}),
    ('celeba_aligned_cropped', 'celeba', {'which_format': 'aligned_cropped'}),
    ('caltech101_silhouettes16', 'caltech101_silhouettes', {'size': 16}),
    ('cifar10', 'cifar10', {}), ('cifar100', 'cifar100', {}), ('svhn_3', None, {}),
    ('mnist_2', None, {}), ('', None, {}), ('MNIST', None, {})])
def test_names(name, known, chosen):
    assert by_name(name) == (None if known is None else (NAMES[known], chosen))


@pytest.mark.parametrize(('command', 'known', 'chosen'), [
    ('fuel-convert mnist', 'mnist', {}), ('fuel-convert mnist --dtype bool', 'mnist', {}),
    ('/usr/bin/fuel-convert mnist -r "a b.hdf5"', 'mnist', {}),
    ("fuel-convert iris -d it's", 'iris', {}),
    ('fuel-convert svhn -d raw 2', 'svhn', {'which_format': 2}),
    ('fuel-convert celeba 64', 'celeba', {'which_format': '64'}),
    ('fuel-convert caltech101_silhouettes 16 -o x', 'caltech101_silhouettes', {'size': 16}),
    ('fuel-convert youtube_audio --youtube-id=abc', 'youtube_audio', {'youtube_id': 'abc'}),
    ('fuel-convert youtube_audio --youtube-id abc', 'youtube_audio', {'youtube_id': 'abc'}),
    ('fuel-convert youtube_audio', None, {}), ('fuel-convert svhn', None, {}),
    ('fuel-convert images photos', None, {}), ('fuel-convert', None, {}), ('', None, {}),
    ('my-convert mnist', None, {}), ('fuel-convert one_billion_word', None, {})])
def test_commands(command, known, chosen):
    assert by_command(command) == (None if known is None else (NAMES[known], chosen))


def test_built_in_data_sets_by_name(data):
    write(data / 'mnist.hdf5')
    dataset = fuel.datasets.open('mnist', which_sets=('train',))
    assert type(dataset) is NAMES['mnist'].load()
    assert dataset.num_examples == 5
    assert dataset.load_in_memory is True
    assert fuel.datasets.open('mnist', 'test', load_in_memory=False).load_in_memory is False
    assert fuel.datasets.open('mnist', ['test', 'train']).num_examples == 10


@pytest.mark.parametrize(('name', 'arguments', 'filename'), [
    ('svhn', {'which_format': 2}, 'svhn_format_2'), ('svhn_format_2', {}, 'svhn_format_2'),
    ('celeba_64', {}, 'celeba_64'), ('caltech101_silhouettes', {}, 'caltech101_silhouettes28'),
    ('caltech101_silhouettes16', {}, 'caltech101_silhouettes16')])
def test_variants(data, name, arguments, filename):
    write(data / f'{filename}.hdf5')
    dataset = fuel.datasets.open(name, 'train', **arguments)
    assert dataset.path == str(data / f'{filename}.hdf5')
    with pytest.raises(ValueError, match="which_sets to name one or several .* 'train', 'test'"):
        fuel.datasets.open(name, **arguments)


@pytest.mark.parametrize(('name', 'message'), [
    ('svhn', 'which_format=1 or which_format=2'), ('youtube_audio', 'youtube_id'),
    ('celeba', "which_format='aligned_cropped' or which_format='64'")])
def test_a_variant_must_be_given_where_there_is_no_default(name, message):
    with pytest.raises(ValueError, match=f'{name}: expected the argument {message}'):
        fuel.datasets.open(name, 'train')


def test_data_sets_without_splits(data):
    assert fuel.datasets.open('spiral', num_examples=7).num_examples == 7
    assert fuel.datasets.open('swiss_roll', num_examples=7).num_examples == 7
    with pytest.raises(ValueError, match='spiral: this data set has no splits'):
        fuel.datasets.open('spiral', 'train')
    write(data / 'abc.hdf5', splits=('train',))
    for which_sets in (None, 'train', ('train',)):
        dataset = fuel.datasets.open('youtube_audio', which_sets, youtube_id='abc')
        assert dataset.youtube_id == 'abc'


def test_a_data_set_that_was_not_made_yet():
    for which_sets in (None, 'train'):
        with pytest.raises(DataFileNotFoundError, match='fuel-convert mnist'):
            fuel.datasets.open('mnist', which_sets)


@pytest.mark.parametrize(('name', 'message'), [
    ('mnsit', "'mnsit' is neither .* did you mean 'mnist'"), ('CIFAR-10', "did you mean 'cifar10'"),
    ('qqq', r'name of a data set\. The names are adult, .*youtube_audio'),
    ('./mnist', r"'\./mnist' is neither a file")])
def test_unknown_names(name, message):
    with pytest.raises(DataFileNotFoundError, match=message):
        fuel.datasets.open(name)


def test_other_arguments():
    with pytest.raises(TypeError):
        fuel.datasets.open(3)
    with pytest.raises(DataFileError, match='this is a folder'):
        fuel.datasets.open('.')


# Files with splits

def test_files_with_splits(tmp_path):
    path = write(tmp_path / 'own.hdf5')
    dataset = fuel.datasets.open(path, 'test')
    assert type(dataset) is H5PYDataset
    assert_array_equal(dataset.get_data(request=slice(0, 5))[0], ROWS[5:])
    with pytest.raises(ValueError, match=re.escape(
            f"{path}: expected the argument which_sets to name one or several of the splits "
            "'train', 'test', such as which_sets=('train',)")):
        fuel.datasets.open(path)
    assert fuel.datasets.open(write(tmp_path / 'all.hdf5', ['all'])).num_examples == 5


def test_the_data_path_is_searched(data):
    path = write(data / 'own.hdf5', ['all'])
    for name in ('own', 'own.hdf5'):
        assert fuel.datasets.open(name).path == str(path)


@pytest.mark.parametrize('command', ['fuel-convert mnist -r digits', b'fuel-convert mnist'])
def test_a_file_of_a_built_in_data_set_under_another_name(tmp_path, command):
    path = write(tmp_path / 'digits.hdf5', command=command)
    dataset = fuel.datasets.open(path, 'train')
    mnist = NAMES['mnist'].load()
    assert type(dataset) is mnist
    assert dataset.default_transformers == mnist.default_transformers != ()
    assert dataset.path == str(path)
    assert dataset.load_in_memory is True
    assert_array_equal(pickle.loads(pickle.dumps(dataset)).get_data(request=[1])[0], ROWS[[1]])
    assert fuel.datasets.open(path, 'train', load_in_memory=False).load_in_memory is False


def test_the_variant_is_that_of_the_command(tmp_path):
    path = write(tmp_path / 'numbers.hdf5', command='fuel-convert svhn 2')
    assert fuel.datasets.open(path, 'train').which_format == 2


# Other files

def test_files_of_pytables(tmp_path):
    path = tmp_path / 'tables.h5'
    with tables.open_file(path, 'w') as file:
        for group, name in (('/Data', 'y'), ('/Data', 'x'), ('/', 'z')):
            file.create_array(group, name, obj=ROWS, createparents=True)
    dataset = fuel.datasets.open(path)
    assert type(dataset) is PytablesDataset
    assert dataset.sources == ('x', 'y')
    assert_array_equal(dataset.get_data(request=[3])[0], ROWS[[3]])
    assert fuel.datasets.open(path, data_node='/').sources == ('z',)
    assert fuel.datasets.open(path, sources=('y',), stop=3).num_examples == 3
    with pytest.raises(ValueError, match='tables.h5: this file has no splits'):
        fuel.datasets.open(path, 'train')


def test_hdf5_files_without_splits(tmp_path):
    with h5py.File(tmp_path / 'plain.hdf5', 'w') as file:
        file['x'], file['y'], file['version'], file['ids'] = ROWS, ROWS[:, 0], 3, numpy.arange(10)
        file['ids'].make_scale('ids')
    dataset = fuel.datasets.open(tmp_path / 'plain.hdf5')
    assert dataset.sources == ('x', 'y')
    with h5py.File(tmp_path / 'nothing.hdf5', 'w'):
        pass
    with pytest.raises(DataLayoutError, match=r'nothing\.hdf5: expected splits.*or arrays'):
        fuel.datasets.open(tmp_path / 'nothing.hdf5')


def test_arrays_of_numpy(tmp_path):
    numpy.savez(tmp_path / 'x.npz', b=ROWS, a=ROWS[:, 0])
    dataset = fuel.datasets.open(tmp_path / 'x.npz')
    assert type(dataset) is IndexableDataset
    assert dataset.sources == ('b', 'a')
    assert_array_equal(dataset.get_data(request=[3])[1], [9])
    assert fuel.datasets.open(tmp_path / 'x.npz', sources=('a',)).sources == ('a',)
    numpy.save(tmp_path / 'x.npy', ROWS)
    dataset = fuel.datasets.open(tmp_path / 'x.npy', start=2)
    assert dataset.sources == ('data',)
    assert dataset.num_examples == 8
    with pytest.raises(ValueError, match=r'x\.npy: this file has no splits'):
        fuel.datasets.open(tmp_path / 'x.npy', 'train')


@pytest.mark.parametrize('name', ['x.npz', 'x.npy'])
def test_damaged_arrays(tmp_path, name):
    numpy.savez(tmp_path / 'x.npz', ROWS)
    numpy.save(tmp_path / 'x.npy', ROWS)
    os.truncate(tmp_path / name, 150)
    with pytest.raises(DataFileError, match=rf'{name}: its arrays cannot be read'):
        fuel.datasets.open(tmp_path / name)
    numpy.save(tmp_path / 'objects.npy', numpy.array([{}]))
    with pytest.raises(DataFileError, match=r'objects\.npy: its arrays cannot be read'):
        fuel.datasets.open(tmp_path / 'objects.npy')


def test_text(tmp_path):
    (tmp_path / 'x.txt').write_text('a b\n')
    dataset = fuel.datasets.open(tmp_path / 'x.txt', dictionary={
        'a': 0, 'b': 1, '<S>': 2, '</S>': 3, '<UNK>': 4})
    assert type(dataset) is TextFile
    assert list(DataStream(dataset).get_epoch_iterator()) == [([2, 0, 1, 3],)]
    with pytest.raises(DataFileError, match=r'x\.txt: .* the argument dictionary'):
        fuel.datasets.open(tmp_path / 'x.txt')


@pytest.mark.parametrize(('name', 'message'), [
    ('x.csv', 'fuel-convert table -h'), ('x.png', 'fuel-convert images -h'),
    ('x.hdf5', 'not an HDF5 file'), ('empty.h5', 'the file is empty')])
def test_other_files(tmp_path, name, message):
    (tmp_path / name).write_bytes(b'' if 'empty' in name else b'1,2,3\n' * 20)
    with pytest.raises(DataFileError, match=rf'{name}: .*{message}'):
        fuel.datasets.open(tmp_path / name)


def test_local_copies_are_used(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, '_files', cache._Files())
    fuel.config.local_data_path = str(tmp_path / 'local')
    numpy.save(tmp_path / 'x.npy', ROWS)
    fuel.datasets.open(tmp_path / 'x.npy')
    dataset = fuel.datasets.open(write(tmp_path / 'own.hdf5', ['all']))
    assert dataset.path == str(tmp_path / 'own.hdf5')
    assert len(os.listdir(tmp_path / 'local')) == 3
