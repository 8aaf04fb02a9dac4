"""TextFile: lines as lists of numbers, readable on from any line."""
import gzip
import os
import pickle
import subprocess
import sys

import pytest

from fuel.datasets.text import TextFile
from fuel.exceptions import DataFileError
from fuel.schemes import ConstantScheme
from fuel.streams import DataStream
from tests.datasets.sentences import (
    FIRST,
    FIRST_NUMBERS,
    NUMBERS,
    SECOND,
    WORDS,
    everything,
    remaining,
)

# What comes out

def test_words_of_several_files(files):
    assert everything(files, WORDS) == NUMBERS


def test_examples_are_tuples_of_a_list_of_ints(files):
    dataset = TextFile(files, WORDS)
    example = dataset.get_data(dataset.open())
    assert type(example) is tuple
    assert type(example[0]) is list
    assert {type(number) for number in example[0]} == {int}


def test_a_stream_gives_the_lines_epoch_after_epoch(files):
    stream = DataStream(TextFile(files, WORDS))
    for _ in range(2):
        assert [example for example, in stream.get_epoch_iterator()] == NUMBERS


def test_example_stream_and_attributes(files):
    dataset = TextFile(files, WORDS)
    assert dataset.provides_sources == dataset.sources == ('features',)
    assert dataset.example_iteration_scheme is None
    assert dataset.num_examples is None
    assert [example for example, in dataset.get_example_stream().get_epoch_iterator()] == NUMBERS


def test_paths_of_any_kind(files, tmp_path):
    assert everything([tmp_path / 'first.txt'], WORDS) == FIRST_NUMBERS
    assert everything([os.fsencode(files[0])], WORDS) == FIRST_NUMBERS
    assert everything((path for path in files), WORDS) == NUMBERS


def test_one_path_is_not_a_sequence_of_letters(files, tmp_path):
    assert everything(files[0], WORDS) == FIRST_NUMBERS
    assert everything(tmp_path / 'first.txt', WORDS) == FIRST_NUMBERS


def test_lines_without_words_and_without_a_newline_at_the_end(tmp_path):
    path = tmp_path / 'text'
    path.write_text('\n \t \nthis\n\nis', encoding='utf-8')
    assert everything([path], WORDS) == [[0, 1], [0, 1], [0, 3, 1], [0, 1], [0, 4, 1]]


def test_empty_files_have_no_lines(files, tmp_path):
    empty = tmp_path / 'empty'
    empty.touch()
    assert everything([empty], WORDS) == []
    assert everything([empty, files[0], empty, files[1], empty], WORDS) == NUMBERS


def test_the_same_file_twice(files):
    assert everything([files[0]] * 2, WORDS) == FIRST_NUMBERS * 2


@pytest.mark.parametrize(('bos', 'eos', 'expected'), [
    (None, '</S>', [3, 7, 1]), ('<S>', None, [0, 3, 7]), (None, None, [3, 7]),
    ('is', 'a', [4, 3, 7, 5])])
def test_markers_can_be_others_or_left_away(files, bos, eos, expected):
    assert everything(files[:1], WORDS, bos_token=bos, eos_token=eos)[1] == expected


def test_another_token_for_the_unknown(files):
    assert everything(files[1:], WORDS, unk_token='a')[1] == [0, 4, 3, 5, 1]


def test_unknown_words_without_a_token_name_word_file_and_line(files):
    dataset = TextFile(files, WORDS, unk_token=None)
    state = dataset.open()
    for _ in range(3):
        dataset.get_data(state)
    with pytest.raises(KeyError, match=r'second.txt, line 2: .*unheard') as caught:
        dataset.get_data(state)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    assert remaining(dataset, state) == []


def test_an_unknown_word_does_not_hide_the_lines_after_it(tmp_path):
    path = tmp_path / 'text'
    path.write_text('this\nunheard\nis\n', encoding='utf-8')
    dataset = TextFile([path], WORDS, unk_token=None)
    state = dataset.open()
    dataset.get_data(state)
    with pytest.raises(KeyError):
        dataset.get_data(state)
    assert remaining(dataset, state) == [[0, 4, 1]]


def test_a_number_of_zero_is_a_known_word(files):
    assert everything(files[:1], {'this': 0, 'is': 1, 'a': 2, 'sentence': 3, 'another': 4},
                      bos_token=None, eos_token=None, unk_token=None) == [[0, 1, 2, 3], [0, 4]]


def test_looking_up_words_leaves_a_defaultdict_as_it_is(files):
    from collections import defaultdict
    dictionary = defaultdict(int, WORDS)
    with pytest.raises(KeyError):
        everything(files, dictionary, unk_token=None)
    assert everything(files, dictionary) == NUMBERS
    assert dictionary == WORDS


def test_characters(tmp_path):
    path = tmp_path / 'text'
    path.write_text('  ab a \n\nbc\n', encoding='utf-8')
    dictionary = {'<S>': 0, '</S>': 1, '<UNK>': 2, 'a': 3, 'b': 4, ' ': 5}
    assert everything([path], dictionary, level='character') == [[0, 3, 4, 5, 3, 1], [0, 1],
                                                                 [0, 4, 2, 1]]


def test_characters_of_any_plane(tmp_path):
    path = tmp_path / 'text'
    path.write_text('aé€🎈\n', encoding='utf-8')
    dictionary = {char: number for number, char in enumerate('aé€🎈')}
    assert everything([path], dictionary, None, None, None, 'character') == [[0, 1, 2, 3]]


def test_lines_end_in_every_usual_way(tmp_path):
    path = tmp_path / 'text'
    path.write_bytes(b'this is\r\na\rsentence\nanother')
    seen = []
    assert everything([path], WORDS, preprocess=lambda line: seen.append(line) or line) == [
        [0, 3, 4, 1], [0, 5, 1], [0, 6, 1], [0, 7, 1]]
    assert seen == ['this is\n', 'a\n', 'sentence\n', 'another']


# Preprocessing

def test_preprocess_sees_the_line_with_its_newline(files):
    seen = []

    def lower(line):
        seen.append(line)
        return line.replace('this', 'a')

    assert everything(files[:1], WORDS, preprocess=lower) == [[0, 5, 4, 5, 6, 1], [0, 5, 7, 1]]
    assert seen == ['this is a sentence\n', 'this another\n']


def test_errors_of_preprocess_say_where(files):
    def divide(line):
        return 1 / 0

    with pytest.raises(ZeroDivisionError) as caught:
        everything(files, WORDS, preprocess=divide)
    assert any('first.txt, line 1' in note for note in caught.value.__notes__)


def test_preprocess_cannot_end_the_epoch_unseen(files):
    with pytest.raises(RuntimeError, match=r'first.txt, line 1: preprocess raised StopIteration'):
        everything(files, WORDS, preprocess=lambda line: next(iter(())))


def test_preprocess_must_return_a_string(files):
    with pytest.raises(TypeError, match=r'first.txt, line 1: expected a string'):
        everything(files, WORDS, preprocess=str.split)
    with pytest.raises(TypeError, match='function'):
        TextFile(files, WORDS, preprocess='lower')


# Encodings and compression

@pytest.mark.parametrize('encoding', ['utf-8', 'latin-1', 'cp1252', 'utf-16', 'utf-16-be', 'utf-32',
                                      'utf-8-sig', 'cp037'])
@pytest.mark.parametrize('packed', [False, True])
def test_encodings_with_and_without_gzip(tmp_path, encoding, packed):
    path = tmp_path / ('text.gz' if packed else 'text')
    content = 'é à\nà\n'.encode(encoding)
    path.write_bytes(gzip.compress(content) if packed else content)
    numbers = {'é': 3, 'à': 4}
    assert everything([path], numbers, None, None, None, encoding=encoding) == [[3, 4], [4]]


def test_gzip_gives_text_like_any_other_file(zipped):
    # The old library handed out bytes here, so that every word was unknown.
    assert everything(zipped, WORDS) == NUMBERS


def test_gzip_of_several_members(tmp_path):
    path = tmp_path / 'text.gz'
    path.write_bytes(gzip.compress(FIRST.encode()) + gzip.compress(SECOND.encode()))
    assert everything([path], WORDS) == NUMBERS


def test_the_default_encoding_is_utf8_whatever_the_locale(tmp_path):
    path = tmp_path / 'text'
    path.write_bytes('\ufeffé\n'.encode())
    program = ('from fuel.datasets.text import TextFile\n'
               f'dataset = TextFile([{str(path)!r}], {{chr(233): 5}}, None, None, None)\n'
               'print(dataset.get_data(dataset.open()))')
    environment = {**os.environ, 'LC_ALL': 'C', 'PYTHONUTF8': '0', 'PYTHONCOERCECLOCALE': '0'}
    result = subprocess.run([sys.executable, '-c', program], env=environment, check=True,
                            capture_output=True, text=True)
    assert result.stdout == '([5],)\n'


def test_undecodable_bytes_name_file_and_line_and_hide_nothing(tmp_path):
    path = tmp_path / 'text'
    path.write_bytes(b'this\nis \xe9t\xe9\na\n')
    dataset = TextFile([path], WORDS)
    state = dataset.open()
    assert dataset.get_data(state) == ([0, 3, 1],)
    with pytest.raises(UnicodeError, match=r'text, line 2: byte 0xe9 after .*utf-8.*encoding='):
        dataset.get_data(state)
    assert remaining(dataset, state) == [[0, 5, 1]]


def test_text_cut_in_the_middle_of_a_character_names_the_file(tmp_path):
    path = tmp_path / 'text'
    path.write_bytes('this\nis\n'.encode('utf-16')[:-1])
    dataset = TextFile([path], WORDS, encoding='utf-16')
    state = dataset.open()
    for _ in range(2):  # and is not taken for the end of the data the second time
        with pytest.raises(UnicodeError, match=r'text, after line [01]: .*utf-16'):
            remaining(dataset, state)
    # Nor by whoever goes on from there.
    plain = dataset.state_to_plain(state, 1)
    with pytest.raises(UnicodeError, match='after line'):
        remaining(dataset, dataset.state_from_plain(plain, iter(())))
    dataset.close(state)


@pytest.mark.parametrize('content', [gzip.compress(FIRST.encode())[:-12], b'this is no gzip file'])
def test_damaged_gzip_files_are_named(tmp_path, content):
    path = tmp_path / 'text.gz'
    path.write_bytes(content)
    dataset = TextFile([path], WORDS)
    state = dataset.open()
    for _ in range(2):
        with pytest.raises(DataFileError, match=r'text\.gz, after line \d: .*damaged'):
            remaining(dataset, state)


# Errors

def test_missing_files_are_named_before_any_is_read(files, tmp_path):
    missing = str(tmp_path / 'missing.txt')
    with pytest.raises(FileNotFoundError, match='text file 2 of 3') as caught:
        TextFile([files[0], missing, files[1]], WORDS).open()
    assert caught.value.filename == missing
    assert 'missing.txt' in str(caught.value)


def test_folders_and_pipes_are_named_and_never_waited_for(tmp_path):
    with pytest.raises(IsADirectoryError, match=str(tmp_path)):
        everything([tmp_path], WORDS)
    pipe = tmp_path / 'pipe'
    os.mkfifo(pipe)
    with pytest.raises(OSError, match='pipe or a device'):
        everything([pipe], WORDS)


def test_no_files_at_all(files):
    with pytest.raises(ValueError, match='one or more files; got none'):
        TextFile([], WORDS)


@pytest.mark.parametrize('level', ['words', 'Word', '', None])
def test_levels_that_do_not_exist(files, level):
    with pytest.raises(ValueError, match="'word' or 'character'"):
        TextFile(files, WORDS, level=level)


@pytest.mark.parametrize('encoding', ['utf-88', 'base64'])
def test_encodings_that_do_not_exist(files, encoding):
    with pytest.raises(ValueError, match=f'text encoding.*{encoding}'):
        TextFile(files, WORDS, encoding=encoding)


@pytest.mark.parametrize('name', ['bos_token', 'eos_token', 'unk_token'])
def test_tokens_that_are_not_in_the_dictionary(files, name):
    with pytest.raises(ValueError, match=f"the {name} '<X>' is not in the dictionary.*{name}=None"):
        TextFile(files, WORDS, **{name: '<X>'})


@pytest.mark.parametrize('asked', [0, 3, [0, 1], slice(2)])
def test_requests_point_to_batch(files, asked):
    dataset = TextFile(files, WORDS)
    state = dataset.open()
    with pytest.raises(ValueError, match='Batch'):
        dataset.get_data(state, asked)
    assert remaining(dataset, state) == NUMBERS


def test_an_iteration_scheme_points_to_batch(files):
    stream = DataStream(TextFile(files, WORDS), iteration_scheme=ConstantScheme(2))
    with pytest.raises(ValueError, match='Batch'):
        next(stream.get_epoch_iterator())


def test_a_state_is_needed(files):
    with pytest.raises(ValueError, match=r'open\(\)'):
        TextFile(files, WORDS).get_data()


def test_what_is_no_dictionary(files):
    with pytest.raises(TypeError, match='list'):
        TextFile(files, ['<S>', '</S>', '<UNK>'])
