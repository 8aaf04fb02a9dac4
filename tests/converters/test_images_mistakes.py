"""What is wrong with a folder of pictures is told in one line, and nothing is left behind."""
from __future__ import annotations

import os
import warnings

import h5py
import pytest
from PIL import Image

from fuel.bin.fuel_convert import main
from tests.bin.commands import fails
from tests.raw import images as raw


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    raw.write(tmp_path / 'a', count=3)
    return tmp_path


def message(capsys, *args):
    before = sorted(os.listdir())
    line = fails('convert', ['images', 'a', *args], capsys)
    assert sorted(os.listdir()) == before
    return line


@pytest.mark.parametrize('content', [b'', b'no picture at all', b'cut'])
@pytest.mark.parametrize('options', [(), ('--encoded',), ('--size', '8')])
def test_a_file_that_is_no_picture(capsys, folder, content, options):
    if content == b'cut':
        content = (folder / 'a' / 'cat' / '0.jpg').read_bytes()[:-300]
    (folder / 'a' / 'dog' / 'bad one.jpg').write_bytes(content)
    line = message(capsys, *options)
    assert os.path.join('a', 'dog', 'bad one.jpg') in line
    assert 'expected a picture' in line
    main(['images', 'a', *options, '--skip-bad'])
    captured = capsys.readouterr()
    assert 'left out 1 file that cannot be used: dog/bad one.jpg' in captured.err
    with h5py.File('a.hdf5', 'r') as h5file:
        assert len(h5file['filenames']) == len(h5file['targets']) == 6


def test_a_picture_that_would_fill_the_memory(capsys, folder, monkeypatch):
    monkeypatch.setattr(Image, 'MAX_IMAGE_PIXELS', 10000)
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        Image.new('1', (300, 300)).save(folder / 'a' / 'cat' / 'bomb.png')
    line = message(capsys)
    assert 'bomb.png' in line
    assert 'MAX_IMAGE_PIXELS' in line


def test_only_bad_pictures(capsys, folder):
    for name in ('cat', 'dog'):
        for file in os.listdir(folder / 'a' / name):
            (folder / 'a' / name / file).write_bytes(b'bad')
    assert 'all files with the ending of one are broken' in fails_last(capsys)


def fails_last(capsys):
    """Return the last line of what a command that skips bad pictures prints."""
    with pytest.raises(SystemExit) as caught:
        main(['images', 'a', '--skip-bad'])
    assert caught.value.code == 2
    return capsys.readouterr().err.splitlines()[-1]


def test_other_and_hidden_files_are_left_out(capsys, folder):
    for name in ('notes.txt', 'Thumbs.db', 'README', '.DS_Store', '._1.jpg'):
        (folder / 'a' / 'cat' / name).write_bytes(b'x')
    (folder / 'a' / '.cache').mkdir()
    (folder / 'a' / '.cache' / '1.jpg').write_bytes(b'x')
    (folder / 'a' / 'empty').mkdir()
    main(['images', 'a'])
    captured = capsys.readouterr()
    assert ('left out 3 files without the ending of a picture: 1 .db, 1 .txt, 1 without '
            'any') in captured.err
    assert '2 classes: cat, dog' in captured.out


def test_links(capsys, folder):
    os.symlink(folder / 'a' / 'dog', folder / 'a' / 'wolf')
    main(['images', 'a'])
    assert 'train 9 pictures; 3 classes: cat, dog, wolf' in capsys.readouterr().out
    os.symlink(folder / 'a', folder / 'a' / 'cat' / 'again')
    assert 'a link to a folder that it lies in' in message(capsys, '--force')
    os.remove(folder / 'a' / 'cat' / 'again')
    os.symlink(folder / 'nothing.jpg', folder / 'a' / 'cat' / 'gone.jpg')
    assert os.path.join('cat', 'gone.jpg') in message(capsys, '--force')


def test_folders_that_are_not_as_expected(capsys, folder):
    os.rename(folder / 'a' / 'cat' / '0.jpg', folder / 'a' / '0.jpg')
    line = message(capsys)
    assert 'in the folder of its class' in line
    assert '0.jpg does not' in line
    assert '0.jpg lies in none' in message(capsys, '--splits', 'folders')
    (folder / 'b').mkdir()
    (folder / 'c.zip').write_bytes(b'x')
    for name, words in (('b', 'there are none'), ('c.zip', 'unpack it first')):
        assert words in fails('convert', ['images', name], capsys)
    with pytest.raises(SystemExit):
        main(['images', 'nothing'])
    assert 'nothing' in capsys.readouterr().err


@pytest.mark.parametrize(('content', 'words'), [
    ('', 'l.csv, line 1: expected at least two columns'),
    ('file\ncat/0.jpg\n', 'l.csv, line 1: expected at least two columns'),
    ('cat/0.jpg,cat\n', "l.csv, line 1: expected the names of the columns, such as file,label"),
    ('file,label\n', 'expected the names of pictures; there are none'),
    ('file,label\ncat/0.jpg,x\nmouse.jpg,y\n', "l.csv, line 3: expected the name of a picture in "),
    ('file,label\n0.jpg,x\n', "l.csv, line 2: expected the name of a picture in "),
    ('file,label\ncat/0.jpg,x\ncat/0,y\n', "l.csv, line 3: expected each picture once; 'cat/0' is "
                                           'in line 2 too'),
    ('file,label\ncat/0.jpg,\n', "l.csv, line 2: the value of the column 'label' is missing: ''"),
    ('file,label\ncat/0.jpg,x,y\n', 'l.csv, line 2: expected 2 values'),
    ('file,label,label\ncat/0.jpg,x,y\n', "got 'label' more than once")])
def test_bad_lists(capsys, folder, content, words):
    (folder / 'l.csv').write_text(content)
    assert words in message(capsys, '--labels', 'l.csv')
    assert 'l.csv' in message(capsys, '--split-file', 'l.csv')


def test_names_that_can_be_several(capsys, folder):
    (folder / 'l.csv').write_text('file,label\n0.jpg,x\n')
    assert "'0.jpg' can be several" in message(capsys, '--labels', 'l.csv')
    (folder / 'l.csv').write_text('file,label,more\ncat/0.jpg,x,y\n')
    assert 'expected two columns' in message(capsys, '--split-file', 'l.csv')
    with pytest.raises(SystemExit):
        main(['images', 'a', '--labels', 'nothing.csv'])
    assert 'nothing.csv' in capsys.readouterr().err


@pytest.mark.parametrize(('options', 'words'), [
    (('--encoded', '--size', '8'), 'does not go together with --size'),
    (('--encoded', '--color', 'L'), 'does not go together with --color'),
    (('--no-stratify',), 'expected --valid-fraction or --test-fraction with --no-stratify'),
    (('--resize', 'pad'), 'expected --size with --resize'),
    (('--compression', 'gzip'), '--layout ragged'),
    (('--layout', 'ragged', '--chunk-examples', '3'), 'leave --chunk-examples out'),
    (('--splits', 'folders', '--test-fraction', '0.1'), 'expected one way'),
    (('--test-fraction', '0.01'), 'none would be in test')])
def test_options_that_do_not_go_together(capsys, options, words):
    assert words in message(capsys, *options)


def test_a_class_of_one_picture(capsys, folder):
    raw.write(folder / 'a', classes=('rare',), count=1)
    main(['images', 'a', '--test-fraction', '0.3'])
    captured = capsys.readouterr()
    assert 'train 5, test 2 pictures; 3 classes: cat, dog, rare' in captured.out


def test_a_single_class(capsys, folder):
    raw.write(folder / 'b', classes=('cat',), count=5)
    main(['images', 'b', '--test-fraction', '0.2', '--layout', 'ragged', '--compression', 'gzip'])
    assert 'train 4, test 1 pictures; 1 classes: cat' in capsys.readouterr().out


def test_names_that_are_no_text(capsys, folder):
    odd = os.path.join(os.fsencode(folder), b'a', b'cat', b'\xff.png')
    Image.new('RGB', (4, 4)).save(folder / 'x.png')
    os.rename(folder / 'x.png', odd)
    main(['images', 'a', '--encoded'])
    with h5py.File('a.hdf5', 'r') as h5file:
        assert 'cat/\\xff.png' in h5file['filenames'].asstr()[...].tolist()
