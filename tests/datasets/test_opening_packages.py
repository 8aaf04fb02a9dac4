"""Data sets of other packages, opened by their names and from files that their converters made."""
from __future__ import annotations

import os
import sys

import pytest

import fuel
import fuel.datasets
from fuel.datasets import H5PYDataset
from fuel.exceptions import ConfigurationFileError, DataFileNotFoundError
from tests.datasets.test_opening import write
from tests.test_entry_points import install, site  # noqa: F401

CLASSES = '''
from fuel.datasets import Dataset, H5PYDataset, IndexableDataset
from fuel.utils import find_in_data_path

class Beetles(H5PYDataset):
    filename = 'beetles.hdf5'
    default_transformers = ()
    loads_in_memory = True

    def __init__(self, which_sets, **kwargs):
        super().__init__(find_in_data_path(self.filename), which_sets, **kwargs)

class Legs(IndexableDataset):
    def __init__(self, number=6, **kwargs):
        super().__init__([[0] * number], **kwargs)

number = 3
'''


@pytest.fixture(autouse=True)
def _data_path(tmp_path, monkeypatch):
    for name in ('data', 'cwd'):
        (tmp_path / name).mkdir()
    fuel.config.data_path = [str(tmp_path / 'data')]
    monkeypatch.chdir(tmp_path / 'cwd')


@pytest.fixture
def beetles(site):  # noqa: F811
    """The name of a module with classes, which a package declares."""
    install(site, 'beetles_package', CLASSES, {
        'beetles': 'beetles_package:Beetles', 'legs': 'beetles_package:Legs',
        'iris': 'beetles_package:Beetles', 'odd': 'beetles_package:number'}, kind='datasets')
    return 'beetles_package'


def test_by_name(beetles, tmp_path):
    with pytest.raises(DataFileNotFoundError, match=r'beetles\.hdf5 not found'):
        fuel.datasets.open('beetles')
    write(tmp_path / 'data' / 'beetles.hdf5')
    dataset = fuel.datasets.open('beetles', 'train')
    assert type(dataset) is sys.modules[beetles].Beetles
    assert dataset.num_examples == 5
    assert fuel.datasets.open('beetles', ('train', 'test'), subset=slice(3)).num_examples == 3
    with pytest.raises(ValueError, match="the splits 'train', 'test'"):
        fuel.datasets.open('beetles')
    write(tmp_path / 'data' / 'beetles.hdf5', splits=('all',))
    assert fuel.datasets.open('beetles').num_examples == 5


def test_a_class_without_splits(beetles):
    assert fuel.datasets.open('legs').get_data(request=[0])[0] == [[0] * 6]
    assert len(fuel.datasets.open('legs', number=8).get_data(request=[0])[0][0]) == 8


def test_names_of_built_in_data_sets_stay_theirs(beetles):
    with pytest.raises(DataFileNotFoundError, match='fuel-convert iris'):
        fuel.datasets.open('iris', 'train')
    assert beetles not in sys.modules


def test_packages_are_imported_when_they_are_needed(beetles, tmp_path):
    fuel.datasets.open(write(tmp_path / 'x.hdf5', command='fuel-convert images photos'), 'train')
    fuel.datasets.open(write(tmp_path / 'y.hdf5', command='other beetles'), 'train')
    fuel.datasets.open(write(tmp_path / 'z.hdf5'), 'train')
    with pytest.raises(DataFileNotFoundError, match="did you mean 'beetles'"):
        fuel.datasets.open('betles')
    assert beetles not in sys.modules


def test_files_that_the_converter_made(beetles, tmp_path):
    path = write(tmp_path / 'renamed.h5', command='fuel-convert beetles --num-test 2')
    dataset = fuel.datasets.open(path, 'train')
    assert type(dataset) is sys.modules[beetles].Beetles
    assert (dataset.path, dataset.filename) == (str(path), 'renamed.h5')
    assert dataset.load_in_memory is True
    assert fuel.datasets.open(path, 'train', load_in_memory=False).load_in_memory is False


@pytest.mark.parametrize('name', ['legs', 'nothing'])
def test_files_of_other_converters(beetles, tmp_path, name):
    path = write(tmp_path / 'x.hdf5', command=f'fuel-convert {name}')
    assert type(fuel.datasets.open(path, 'train')) is H5PYDataset


def test_broken_entry_points(beetles, site, tmp_path):  # noqa: F811
    install(site, 'broken', 'import not_there', {'ants': 'broken:Ants'}, kind='datasets')
    path = write(tmp_path / 'x.hdf5', command='fuel-convert ants')
    for what in ('ants', path):
        with pytest.raises(ConfigurationFileError, match=(
                r'^ants of broken 1\.0 \(entry point broken:Ants in fuel\.datasets\) cannot be '
                "imported: ModuleNotFoundError: No module named 'not_there'")):
            fuel.datasets.open(what, 'train')
    with pytest.raises(ConfigurationFileError, match='expected a class that is derived .* got 3'):
        fuel.datasets.open('odd')


def test_two_packages_with_one_name(beetles, site):  # noqa: F811
    install(site, 'others', CLASSES, {'beetles': 'others:Beetles'}, kind='datasets')
    with pytest.raises(ConfigurationFileError,
                       match=r"beetles_package 1\.0 and others 1\.0 both have 'beetles'"):
        fuel.datasets.open('beetles', 'train')


# Files in the current folder

def test_the_ending_can_be_left_out_in_the_current_folder(tmp_path):
    write(tmp_path / 'data' / 'own.hdf5', ['all'])
    here = write(tmp_path / 'cwd' / 'own.hdf5', ['all'])
    assert os.path.realpath(fuel.datasets.open('own').path) == str(here)
    assert os.path.realpath(fuel.datasets.open(here.with_suffix('')).path) == str(here)


def test_a_folder_beside_the_file_that_was_made_of_it(tmp_path):
    (tmp_path / 'cwd' / 'photos').mkdir()
    write(tmp_path / 'cwd' / 'photos.hdf5')
    assert fuel.datasets.open('photos', 'train').num_examples == 5
