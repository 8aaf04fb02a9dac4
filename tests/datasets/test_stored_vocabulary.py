"""Dictionaries in HDF5 files."""
import h5py
import numpy
import pytest

from fuel.datasets.text import TextFile, read_vocabulary
from tests.datasets.sentences import NUMBERS, WORDS, everything


def write(path, **data):
    with h5py.File(path, 'w') as h5file:
        for name, values in data.items():
            if values and isinstance(values[0], str):
                h5file.create_dataset(name, data=values, dtype=h5py.string_dtype())
            else:
                h5file[name] = values
    return path


@pytest.mark.parametrize('name', ['words.hdf5', 'words.h5', 'words'])
def test_tokens_have_the_numbers_of_their_places(files, tmp_path, name):
    path = write(tmp_path / name, vocabulary=list(WORDS))
    assert read_vocabulary(path) == WORDS
    assert read_vocabulary(str(path)) == WORDS
    assert everything(files, path) == NUMBERS
    assert TextFile(files, path).dictionary == WORDS


def test_tokens_with_numbers_of_their_own(tmp_path):
    path = write(tmp_path / 'words.hdf5', vocabulary=['é', 'b', ' '], vocabulary_ids=[4, 4, 70000])
    found = read_vocabulary(path)
    assert found == {'é': 4, 'b': 4, ' ': 70000}
    assert {type(number) for number in found.values()} == {int}


def test_fixed_strings(tmp_path):
    path = tmp_path / 'words.hdf5'
    with h5py.File(path, 'w') as h5file:
        h5file['vocabulary'] = numpy.array([b'a', b'bc'])
    assert read_vocabulary(path) == {'a': 0, 'bc': 1}


@pytest.mark.parametrize(('data', 'words'), [
    ({'features': [1, 2]}, 'it has features'), ({}, 'it has nothing'),
    ({'vocabulary': [1, 2]}, 'no list of strings'),
    ({'vocabulary': ['a', 'a']}, 'not all different'),
    ({'vocabulary': ['a', 'b'], 'vocabulary_ids': [1]}, 'one number each'),
    ({'vocabulary': ['a', 'b'], 'vocabulary_ids': [1., 2.]}, 'one number each')])
def test_files_without_a_dictionary(tmp_path, data, words):
    path = write(tmp_path / 'words.hdf5', **data)
    with pytest.raises(ValueError, match=rf'words\.hdf5: expected .*{words}'):
        read_vocabulary(path)


@pytest.mark.parametrize('content', [b'', b'{"a": 1}', b'\x89HDF\r\n\x1a\n', b'\x89HDF'])
def test_files_that_are_not_hdf5(tmp_path, content):
    path = tmp_path / 'words.hdf5'
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r'words\.hdf5: expected an HDF5 file'):
        read_vocabulary(path)


def test_a_group_in_the_place_of_the_tokens(tmp_path):
    path = tmp_path / 'words.hdf5'
    with h5py.File(path, 'w') as h5file:
        h5file.create_group('vocabulary')
    with pytest.raises(ValueError, match='no list of strings'):
        read_vocabulary(path)
