"""Dictionaries from tokens to numbers in files of every form, and in none."""
import gzip
import json
import pickle

import numpy
import pytest

from fuel.datasets.text import TextFile
from tests.datasets.sentences import NUMBERS, WORDS, everything, remaining

# Dictionaries in files

def test_a_dictionary_in_json(files, tmp_path):
    path = tmp_path / 'words.json'
    path.write_text(json.dumps(WORDS), encoding='utf-8')
    dataset = TextFile(files, str(path))
    assert dataset.dictionary == WORDS
    assert remaining(dataset, dataset.open()) == NUMBERS


def test_a_dictionary_with_a_token_on_every_line(files, tmp_path):
    path = tmp_path / 'words.txt'
    path.write_text(''.join(f'{word}\n' for word in WORDS), encoding='utf-8')
    assert everything(files, path) == NUMBERS


def test_a_list_of_characters_may_hold_a_space(tmp_path):
    path = tmp_path / 'characters.txt'
    path.write_bytes('a\r\n \r\né'.encode())
    text = tmp_path / 'text'
    text.write_text('é a\n', encoding='utf-8')
    assert everything([text], path, None, None, None, 'character') == [[2, 1, 0]]


@pytest.mark.parametrize('protocol', range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickled_dictionary(files, tmp_path, protocol):
    path = tmp_path / 'words.pkl'
    path.write_bytes(pickle.dumps(WORDS, protocol=protocol))
    assert everything(files, path) == NUMBERS


def test_a_dictionary_pickled_by_python_2(tmp_path):
    path = tmp_path / 'words.pkl'
    # cPickle.dumps({'a': 1, 'h\xc3\xa9': 2}, protocol=2)
    path.write_bytes(b'\x80\x02}q\x01(U\x01aq\x02K\x01U\x03h\xc3\xa9q\x03K\x02u.')
    text = tmp_path / 'text'
    text.write_text('hé a\n', encoding='utf-8')
    assert everything([text], path, None, None, None) == [[2, 1]]


def test_a_compressed_dictionary_and_a_pickle_of_any_name(files, tmp_path):
    path = tmp_path / 'words.json.gz'
    path.write_bytes(gzip.compress(json.dumps(WORDS).encode()))
    assert everything(files, path) == NUMBERS
    path = tmp_path / 'words'
    path.write_bytes(pickle.dumps(WORDS))
    assert everything(files, path) == NUMBERS


class Malicious:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (self.path, 'w')


def test_code_in_a_pickled_dictionary_is_not_run(files, tmp_path):
    target = tmp_path / 'written'
    path = tmp_path / 'words.pkl'
    path.write_bytes(pickle.dumps({**WORDS, 'x': Malicious(str(target))}))
    with pytest.raises(ValueError, match=r'words\.pkl: .*open.*JSON'):
        TextFile(files, path)
    assert not target.exists()


@pytest.mark.parametrize(('name', 'content', 'message'), [
    ('words.json', b'{"a": 1', 'no dictionary'),
    ('words.json', b'["a", "b"]', 'got a list'),
    ('words.json', b'{"a": "1"}', "'a': '1'"),
    ('words.json', b'{"a": true}', "'a': True"),
    ('words.json.gz', gzip.compress(b'{"a": 1}')[:-10], 'no dictionary'),
    ('words.json.gz', b'{"a": 1}', 'no dictionary'),
    ('words.pkl', pickle.dumps([1]), 'got a list'),
    ('words.pkl', pickle.dumps(WORDS)[:-5], 'no dictionary'),
    ('words.pkl', b'', 'no dictionary'),
    ('words.pkl', b'garbage', 'damaged|no dictionary'),
    ('words.pkl', pickle.dumps({'a': numpy.int64(1)}), 'numpy.*JSON'),
    ('words.txt', b'a\nb\na\n', "line 3: 'a' stands on line 1"),
    ('words.txt', b'a 1\nb 2\n', "line 1: expected one token.*JSON"),
    ('words.txt', b'a\n\nb\n', 'line 2: expected one token'),
    ('words.txt', b'\xe9\n', 'no dictionary'),
])
def test_files_that_hold_no_dictionary(files, tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message) as caught:
        TextFile(files, path)
    assert name in str(caught.value)


def test_a_missing_dictionary_is_named(files, tmp_path):
    with pytest.raises(FileNotFoundError, match=r'dictionary does not exist.*words.json'):
        TextFile(files, tmp_path / 'words.json')
