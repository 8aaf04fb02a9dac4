from __future__ import annotations

import pickle
import shlex

import pytest

import fuel
from fuel.exceptions import DataFileNotFoundError
from fuel.utils import find_in_data_path


@pytest.fixture
def folders(tmp_path, monkeypatch):
    first, second = tmp_path / 'first', tmp_path / 'second'
    first.mkdir()
    second.mkdir()
    monkeypatch.setenv('FUEL_DATA_PATH', f'{first}:{second}')
    monkeypatch.chdir(tmp_path)
    return first, second


def test_first_directory_with_the_file_wins(folders):
    first, second = folders
    (second / 'a.hdf5').touch()
    assert find_in_data_path('a.hdf5') == str(second / 'a.hdf5')
    (first / 'a.hdf5').touch()
    assert find_in_data_path('a.hdf5') == str(first / 'a.hdf5')


def test_directory_of_that_name_is_no_file(folders):
    first, second = folders
    (first / 'a.hdf5').mkdir()
    (second / 'a.hdf5').touch()
    assert find_in_data_path('a.hdf5') == str(second / 'a.hdf5')


def test_path_objects_and_subdirectories(folders):
    first, _ = folders
    (first / 'deep').mkdir()
    (first / 'deep' / 'a.txt').touch()
    assert find_in_data_path(first.relative_to(first) / 'deep' / 'a.txt') == str(
        first / 'deep' / 'a.txt')


def test_variables_and_home_are_expanded(tmp_path, monkeypatch):
    (tmp_path / 'data').mkdir()
    (tmp_path / 'data' / 'a.hdf5').touch()
    monkeypatch.setenv('HOME', str(tmp_path))
    monkeypatch.setenv('SOMEWHERE', str(tmp_path))
    for path in ('~/data', '$SOMEWHERE/data', '${SOMEWHERE}/data'):
        monkeypatch.setenv('FUEL_DATA_PATH', path)
        assert find_in_data_path('a.hdf5') == str(tmp_path / 'data' / 'a.hdf5')


def test_empty_data_path_means_the_current_directory(folders, monkeypatch, tmp_path):
    monkeypatch.setenv('FUEL_DATA_PATH', '')
    (tmp_path / 'a.hdf5').touch()
    assert find_in_data_path('a.hdf5') == 'a.hdf5'


@pytest.mark.parametrize('form', [str, lambda path: [str(path)], lambda path: (str(path),)])
def test_assigned_data_path(folders, monkeypatch, form):
    (folders[1] / 'a.hdf5').touch()
    monkeypatch.setitem(fuel.config.config['data_path'], 'value', form(folders[1]))
    assert find_in_data_path('a.hdf5') == str(folders[1] / 'a.hdf5')


def test_error_names_everything_needed_to_go_on(folders, monkeypatch):
    monkeypatch.setenv('FUEL_CONFIG', '/some/where/rc')
    with pytest.raises(DataFileNotFoundError) as caught:
        find_in_data_path('iris.hdf5')
    text = str(caught.value)
    assert isinstance(caught.value, IOError)
    for part in ("iris.hdf5 not found in Fuel's data path", str(folders[0]), str(folders[1]),
                 'FUEL_DATA_PATH', 'data_path', '/some/where/rc',
                 'fuel-download iris && fuel-convert iris'):
        assert part in text
    assert 'export' not in text
    assert str(pickle.loads(pickle.dumps(caught.value))) == text


def test_error_names_the_usual_rc_file(folders, monkeypatch):
    monkeypatch.delenv('FUEL_CONFIG', raising=False)
    with pytest.raises(DataFileNotFoundError, match=r'~/\.fuelrc'):
        find_in_data_path('iris.hdf5')


@pytest.mark.parametrize('filename', ['my_own.hdf5', 'base.hdf5', '__init__.hdf5', '../x.hdf5',
                                      'images.hdf5', 'iris_small.hdf5', 'svhn_format_3.hdf5'])
def test_other_names_get_general_advice(folders, filename):
    with pytest.raises(DataFileNotFoundError, match='fuel-convert -h lists the names'):
        find_in_data_path(filename)


def test_file_in_the_current_directory_is_pointed_out(folders, tmp_path):
    (tmp_path / 'iris.hdf5').touch()
    with pytest.raises(DataFileNotFoundError, match='current directory') as caught:
        find_in_data_path('iris.hdf5')
    assert f'export FUEL_DATA_PATH={shlex.quote(str(tmp_path))}' in str(caught.value)


@pytest.mark.parametrize(('filename', 'commands'), [
    ('mnist.hdf5', 'fuel-download mnist && fuel-convert mnist'),
    ('mnist_bool.hdf5', 'fuel-download mnist && fuel-convert mnist --dtype bool'),
    ('caltech101_silhouettes28.hdf5',
     'fuel-download caltech101_silhouettes 28 && fuel-convert caltech101_silhouettes 28'),
    ('svhn_format_2.hdf5', 'fuel-download svhn 2 && fuel-convert svhn 2'),
    ('deep/cifar10.hdf5', 'fuel-download cifar10 && fuel-convert cifar10')])
def test_message_has_the_commands_with_their_arguments(folders, filename, commands):
    with pytest.raises(DataFileNotFoundError) as caught:
        find_in_data_path(filename)
    assert f'{commands}\n' in f'{caught.value}\n'


@pytest.mark.parametrize(('filename', 'name', 'convert', 'home'), [
    ('celeba_64.hdf5', 'celeba', 'celeba 64', 'mmlab.ie.cuhk.edu.hk'),
    ('dogs_vs_cats.hdf5', 'dogs_vs_cats', 'dogs_vs_cats', 'kaggle.com'),
    ('ilsvrc2010.hdf5', 'ilsvrc2010', 'ilsvrc2010', 'image-net.org'),
    ('deep/ilsvrc2012.hdf5', 'ilsvrc2012', 'ilsvrc2012', 'image-net.org')])
def test_files_that_must_be_got_by_hand(folders, filename, name, convert, home):
    with pytest.raises(DataFileNotFoundError) as caught:
        find_in_data_path(filename)
    *_, by_hand, then = str(caught.value).splitlines()
    assert 'fuel-download' not in str(caught.value)
    assert 'get the raw files by hand from https://' in by_hand
    assert home in by_hand
    assert f'(fuel-convert {name} -h lists them) and put them into {folders[0]}' in by_hand
    assert then == f'Then: cd {folders[0]} && fuel-convert {convert}'
