"""What ``fuel-convert text`` says of texts and options that it cannot use."""
import gzip
import json
import os

import h5py
import pytest

from fuel.bin.fuel_convert import main
from fuel.converters._texts import numbers as _text_numbers
from fuel.exceptions import ConversionError
from tests.converters.texts import convert, read


@pytest.fixture
def folder(tmp_path):
    (tmp_path / 'a.txt').write_text('the owl\nthe cat\n')
    return tmp_path


def failing(folder, capsys, *args):
    """Run the command, which fails; return what it says, after looking that nothing is left."""
    before = sorted(os.listdir(folder))
    with pytest.raises(SystemExit) as caught:
        main(['text', '-d', str(folder), '-o', str(folder), *map(str, args)])
    assert caught.value.code == 2
    message, = capsys.readouterr().err.splitlines()
    assert message.startswith('fuel-convert')
    assert sorted(os.listdir(folder)) == before
    return message


@pytest.mark.parametrize(('args', 'words'), [
    ((), ('expected texts', 'got none')),
    (('b.txt',), ('b.txt: there is no such file', '-d names another')),
    (('a.txt', '--split', 'valid=/nowhere/b.txt'), ('/nowhere/b.txt: there is no such file',)),
    (('.',), ('is a folder', '*.txt')),
    (('a.txt', '--split', 'train=a.txt'), ('the split train', 'one place')),
    (('a.txt', '--split', 'a.txt'), ('--split', 'valid=more.txt', "'a.txt'")),
    (('a.txt', '--split', 'x=a.txt', '--split', 'x=a.txt'), ("'x'", 'already')),
    (('a.txt', '--split', 'valid=a.txt', '--valid-fraction', '0.5'), ('valid', 'one way')),
    (('--split', 'train=a.txt', '--valid-fraction', '0.5'), ('before --split',)),
    (('a.txt', '--valid-fraction', '0.5', '--test-fraction', '0.5'), ('for train',)),
    (('a.txt', '--valid-fraction', '0.1'), ('of 2 none would be in valid',)),
    (('a.txt', '--valid-fraction', '1'), ('--valid-fraction',)),
    (('a.txt', '--no-unk', '--min-count', '2'), ('leave 2 of 4', '--unk')),
    (('a.txt', '--no-unk', '--max-size', '1'), ('leave 2 of 4',)),
    (('a.txt', '--min-count', '0'), ('--min-count', 'at least 1', "'0'")),
    (('a.txt', '--encoding', 'utf-88'), ("'utf-88'",)),
    (('a.txt', '--layout', 'vlen', '--compression', 'gzip'), ('layout ragged',)),
    (('a.txt', '--chunk-examples', '3'), ('ragged',)),
    (('a.txt', '--vocabulary', 'no.json'), ('no.json: there is no such file',)),
    (('a.txt', '--vocabulary', 'a.txt'), ('a.txt, line 1', 'one token')),
    (('a.txt', '--vocabulary', 'a.txt', '--max-size', '3'), ('got both',))])
def test_options_that_do_not_work(folder, capsys, args, words):
    message = failing(folder, capsys, *args)
    for word in words:
        assert word in message, message


def test_unknown_words_without_a_token_for_them_name_file_and_line(folder, capsys):
    (folder / 'b.txt').write_text('the owl\n\nthe dog\n')
    message = failing(folder, capsys, 'a.txt', '--split', 'test=b.txt', '--no-unk')
    assert "b.txt, line 3: 'dog' is not in the dictionary" in message
    assert '--unk' in message


def test_bytes_that_are_no_utf8(folder, capsys):
    (folder / 'b.txt').write_bytes(b'the\nowl \xe9t\xe9\n')
    message = failing(folder, capsys, 'a.txt', 'b.txt')
    assert 'b.txt, line 2: byte 0xe9' in message
    assert 'is not valid utf-8; ' in message
    assert message.endswith('--encoding latin-1')
    assert 'encoding=' not in message


@pytest.mark.parametrize(('content', 'words'), [
    (b'\x93NUMPY\x01\x00v\x00', "this is an array of NumPy, which 'fuel-convert arrays' takes"),
    (b'PK\x03\x04\x14\x00', 'this is a zip archive, as .npz, .docx and .xlsx files are'),
    (b'\x89HDF\r\n\x1a\n', 'this is an HDF5 file'), (b'PAR1\x15', "'fuel-convert table'"),
    (b'\x89PNG\r\n\x1a\n', 'this is a picture'), (b'%PDF-1.7\n', 'this is a PDF file')])
def test_files_of_other_kinds(folder, capsys, content, words):
    (folder / 'b.txt').write_bytes(content)
    for args in (('b.txt',), ('a.txt', '--split', 'test=b.txt'), ('b.txt', '--encoding', 'cp437')):
        message = failing(folder, capsys, *args)
        assert 'b.txt: expected a text; ' in message
        assert words in message


def test_a_seed_without_a_lot(folder, capsys):
    assert ('expected --valid-fraction or --test-fraction with --seed'
            in failing(folder, capsys, 'a.txt', '--seed', '4'))


@pytest.mark.parametrize('content', [gzip.compress(b'the owl\n' * 1000)[:-12], b'no gzip file'])
def test_damaged_gzip_files(folder, capsys, content):
    (folder / 'b.txt.gz').write_bytes(content)
    message = failing(folder, capsys, 'a.txt', 'b.txt.gz')
    assert 'b.txt.gz, after line' in message
    assert 'damaged' in message


def test_empty_files(folder, capsys):
    (folder / 'b.txt').touch()
    assert "for the split 'valid'" in failing(folder, capsys, 'a.txt', '--split', 'valid=b.txt')
    assert 'b.txt is empty' in failing(folder, capsys, 'b.txt')
    (folder / 'c.txt').write_text('\n')
    assert 'expected words' in failing(folder, capsys, 'c.txt', '--no-bos', '--no-eos', '--no-unk')


@pytest.mark.parametrize(('content', 'options', 'words'), [
    ({'<S>': 0, '<UNK>': 1}, (), ("'</S>'", '--eos', '--no-eos')),
    ({'the': -1}, ('--no-bos', '--no-eos', '--no-unk'), ("'the' has -1",)),
    ({}, (), ('empty',)),
    ({'<S>': 0, '</S>': 1, '<UNK>': 300}, ('--dtype', 'uint8'), ('up to 300', '--dtype')),
    ({'<S>': 0, '</S>': 1, '<UNK>': 2, 'a\0b': 3}, (), ('NUL',)),
    ({'<S>': 0, '</S>': 1, '<UNK>': 2, '\ud800': 3}, (), ('surrogate',)),
    (['the'], (), ('dictionary',))])
def test_vocabularies_that_do_not_work(folder, capsys, content, options, words):
    (folder / 'words.json').write_text(json.dumps(content))
    message = failing(folder, capsys, 'a.txt', '--vocabulary', 'words.json', *options)
    for word in ('words.json', *words):
        assert word in message, message


def test_a_text_with_the_character_nul(folder, capsys):
    (folder / 'b.txt').write_bytes(b'the\nthe\0 owl\n')
    assert 'b.txt, line 2: expected a text; got a character NUL' in failing(folder, capsys, 'b.txt')


@pytest.mark.parametrize('level', ['word', 'character'])
@pytest.mark.parametrize('packed', [False, True])
def test_lines_that_are_too_long(folder, capsys, monkeypatch, level, packed):
    monkeypatch.setattr('fuel.converters._texts.lines._LONGEST_LINE', 1000)
    content = f'owl\n{"ab " * 333}c\n{"ab " * 333}cd\n'.encode()
    (folder / 'b.txt').write_bytes(gzip.compress(content) if packed else content)
    message = failing(folder, capsys, 'b.txt', '--level', level)
    assert 'b.txt, line 3: expected lines of at most 1000 characters' in message
    (folder / 'b.txt').write_text('ab ' * 333 + 'c\n' + 'd' * 1000)
    convert(folder, 'b.txt', '--level', level)


@pytest.mark.parametrize('level', ['word', 'character'])
def test_a_long_line_is_counted_like_others(folder, monkeypatch, level):
    line = 'ab c ' * 30
    (folder / 'b.txt').write_text(f'owl\n{line}\nc\n')
    found = [read(convert(folder, 'b.txt', '--level', level))]
    (folder / 'text.hdf5').unlink()
    monkeypatch.setattr(_text_numbers, '_TOKENS', 20)
    found.append(read(convert(folder, 'b.txt', '--level', level)))
    assert found[0] == found[1]
    assert len(found[0][0]['train'][1]) == 2 + (60 if level == 'word' else 149)


def test_pipes_are_no_texts(folder, capsys):
    os.mkfifo(folder / 'pipe.txt')
    assert 'pipe.txt: expected a file' in failing(folder, capsys, 'pipe.txt')


def test_a_file_that_is_in_two_splits_is_told(folder, caplog):
    convert(folder, 'a.txt', '--split', 'test=a.txt')
    record, = (record for record in caplog.records if record.levelname == 'WARNING')
    assert 'a.txt is in the splits train and test' in record.getMessage()


@pytest.mark.parametrize('more', ['the cow\n', 'the cow\n' * 5000, ''])
def test_a_text_that_changes_while_it_is_converted(folder, monkeypatch, more):
    measure = _text_numbers.measure

    def changing(*args):
        size = measure(*args)
        with open(folder / 'a.txt', 'a' if more else 'w') as stream:
            stream.write(more)
        return size

    monkeypatch.setattr('fuel.converters.text.measure', changing)
    with pytest.raises(ConversionError, match="'train' had 2 lines"):
        convert(folder, 'a.txt')
    assert os.listdir(folder) == ['a.txt']


def test_a_file_that_is_there_is_kept(folder, capsys):
    (folder / 'text.hdf5').write_text('mine')
    assert '--force' in failing(folder, capsys, 'a.txt')
    assert (folder / 'text.hdf5').read_text() == 'mine'


def test_the_seed_and_the_inputs_are_noted(folder, capsys):
    (folder / 'words.json').write_text('{"<S>": 0, "</S>": 1, "<UNK>": 2}')
    main(['text', '-d', str(folder), '-o', str(folder), 'a.txt', '--valid-fraction', '0.5',
          '--seed', '9', '--vocabulary', 'words.json'])
    assert 'train: 1 line, 4 numbers, of which 2 for unknown tokens' in capsys.readouterr().out
    with h5py.File(folder / 'text.hdf5', 'r') as h5file:
        assert h5file.attrs['fuel_convert_seed'] == 9
        assert [row['name'] for row in h5file['fuel_provenance/inputs'][...]] == [
            b'a.txt', b'words.json']
