"""What may be wrong with the raw files of CelebA: an error that says where."""
from __future__ import annotations

import io
import os
import re
import shutil
import zipfile

import h5py
import pytest
from PIL import Image

from fuel.converters._pictures import zipped as _zipped_pictures
from fuel.converters.celeba import convert_celeba
from fuel.exceptions import ConversionError, MissingInputFiles
from tests.bin.commands import fails
from tests.raw import celeba as raw
from tests.raw.zips import jpeg, write_zip

LIST, ARCHIVE = 'list_attr_celeba.txt', 'img_align_celeba.zip'


@pytest.fixture(scope='module')
def sound(tmp_path_factory):
    folder = tmp_path_factory.mktemp('sound')
    raw.write(folder, 12)
    return folder


@pytest.fixture
def folder(sound, tmp_path):
    for name in (LIST, ARCHIVE):
        shutil.copy(sound / name, tmp_path)
    return tmp_path


def problem(folder, which='64'):
    """Convert, and return the message of the error; nothing may be left of the file."""
    before = sorted(os.listdir(folder))
    with pytest.raises(ConversionError) as caught:
        convert_celeba(which, str(folder), str(folder))
    assert sorted(os.listdir(folder)) == before
    assert '\n' not in str(caught.value)
    return str(caught.value).replace(f'{folder}{os.sep}', '')


def edit(folder, number, change):
    """Change a line of the list, which are numbered from 1."""
    lines = (folder / LIST).read_text().splitlines(keepends=True)
    lines[number - 1] = change(lines[number - 1])
    (folder / LIST).write_text(''.join(lines))


LINES = [
    (1, lambda line: 'many\n', r"line 1: expected the number of pictures; got 'many'"),
    (1, lambda line: '12 13\n', r"line 1: expected the number of pictures; got '12 13'"),
    (1, lambda line: '202599\n', 'line 1: the file announces 202599 pictures, and has lines for '
                                 '12. Download it again'),
    (1, lambda line: '<!DOCTYPE html>\n', 'line 1: expected the number'),
    (1, lambda line: '1' * 5000 + '\n', 'line 1: expected the number of pictures; got .1111'),
    (2, lambda line: line.replace('Bald', ''), 'line 2: expected the names of 40 attributes; got '
                                               '39: '),
    (2, lambda line: line.replace('Bald', 'Male'), "line 2: .*; got 'Male' more than once"),
    (2, lambda line: '', 'line 2: expected the names of 40 attributes'),
    (7, lambda line: line.replace('-1', '0', 1), 'line 7: expected the name of a picture and 40 '
                                                 "values of 1 or -1; got the value '0' behind "
                                                 "'000005.jpg'"),
    (7, lambda line: line.rstrip()[:-3] + '\n', "line 7: .*got 39 values behind '000005.jpg'"),
    (7, lambda line: line.rstrip() + ' 1\n', "line 7: .*got 41 values behind '000005.jpg'"),
    (9, lambda line: '000005.jpg' + line[10:], "line 9: the picture '000005.jpg' has a line "
                                               'already'),
    (9, lambda line: '123456.jpg' + line[10:], "line 9: there is no picture '123456.jpg' in "
                                               'img_align_celeba.zip'),
    (14, lambda line: '', 'line 1: the file announces 12 pictures, and has lines for 11'),
    (14, lambda line: line[:50], "line 14: .*values? .*behind '000012.jpg'"),
]


@pytest.mark.parametrize(('number', 'change', 'message'), LINES)
def test_a_line_of_the_list(folder, number, change, message):
    edit(folder, number, change)
    assert re.match(f'{LIST}, {message}', problem(folder))


@pytest.mark.parametrize(('content', 'message'), [
    (b'', "line 1: expected the number of pictures; got ''"),
    (b'3\n', 'line 2: expected the names'),
    (b'\xff\xfe\x00', 'line 1: expected the number')])
def test_a_list_that_is_none(folder, content, message):
    (folder / LIST).write_bytes(content)
    assert problem(folder).startswith(f'{LIST}, {message}')


def test_a_byte_order_mark(folder):
    edit(folder, 1, lambda line: '\ufeff' + line)
    path, = convert_celeba('64', str(folder), str(folder))
    with h5py.File(path, 'r') as h5file:
        assert len(h5file['targets']) == 12


def test_a_list_of_nobody(folder):
    (folder / LIST).write_text('0\n' + ' '.join(raw.NAMES) + '\n')
    assert problem(folder) == f'{LIST}: expected a line for each picture; it has none'


def replaced(folder, number, content):
    """Put something in the place of a picture."""
    with zipfile.ZipFile(folder / ARCHIVE) as archive:
        members = [(name, archive.read(name)) for name in archive.namelist()]
    members = [(name, content if name.endswith(f'{number:06d}.jpg') else old)
               for name, old in members]
    write_zip(folder / ARCHIVE, members)


def picture(size):
    return jpeg(Image.new('RGB', size, 'red'))


def bomb():
    stream = io.BytesIO()
    Image.new('1', (20000, 10000)).save(stream, 'PNG')
    return stream.getvalue()


@pytest.mark.parametrize(('content', 'message'), [
    (b'no picture', 'expected a picture; not an image in a format'),
    (b'', 'expected a picture; not an image in a format'),
    (picture(raw.SIZE)[:-100], 'expected a picture; it cannot be decoded .*truncated'),
    (picture((178, 217)), r'expected a picture of 178 x 218 pixels \(width x height\); got '
                          '178 x 217'),
    (bomb(), 'expected a picture; .*made to exhaust the memory')])
@pytest.mark.parametrize('which', ['64', 'aligned_cropped'])
def test_a_picture_that_is_none(folder, content, message, which):
    replaced(folder, 7, content)
    assert re.match(f"{ARCHIVE}, member 'img_align_celeba/000007.jpg': {message}",
                    problem(folder, which))


def test_a_member_that_is_too_large(folder, monkeypatch):
    monkeypatch.setattr(_zipped_pictures, '_LIMIT', 100)
    assert "expected members of at most 100 bytes; 'img_align_celeba/000001.jpg'" in problem(folder)


def test_a_member_that_leads_out(folder):
    write_zip(folder / ARCHIVE, [('img_align_celeba/../../000001.jpg', b'')])
    assert "'img_align_celeba/../../000001.jpg'" in problem(folder)


def test_two_pictures_of_one_name(folder):
    write_zip(folder / ARCHIVE, [('a/000001.jpg', b''), ('b/000001.jpg', b'')])
    assert problem(folder) == (f"{ARCHIVE}: expected one picture '000001.jpg'; got "
                               "'a/000001.jpg' and 'b/000001.jpg'")


def test_a_damaged_member(folder):
    content = bytearray((folder / ARCHIVE).read_bytes())
    place = content.index(b'000003.jpg') + 200
    content[place] ^= 1
    (folder / ARCHIVE).write_bytes(content)
    assert problem(folder).startswith(
        f"{ARCHIVE}: the member 'img_align_celeba/000003.jpg' cannot be read")


@pytest.mark.parametrize('content', [b'', b'<html>', b'PK\x03\x04 and more'])
def test_an_archive_that_is_none(folder, content):
    (folder / ARCHIVE).write_bytes(content)
    assert problem(folder).startswith(f'{ARCHIVE} is no zip archive, or is cut off')


def test_an_archive_that_is_cut_off(folder):
    content = (folder / ARCHIVE).read_bytes()
    (folder / ARCHIVE).write_bytes(content[:len(content) // 2])
    assert problem(folder).startswith(f'{ARCHIVE} is no zip archive, or is cut off')


def test_a_format_that_there_is_not(folder):
    assert problem(folder, '128') == ("expected which_format to be 'aligned_cropped' or '64'; got "
                                      "'128'")


@pytest.mark.parametrize('name', [LIST, ARCHIVE])
def test_a_missing_file(folder, name):
    (folder / name).unlink()
    with pytest.raises(MissingInputFiles) as caught:
        convert_celeba('64', str(folder), str(folder))
    assert caught.value.filenames == [name]


def test_the_command_says_it_in_one_line(folder, capsys, monkeypatch):
    edit(folder, 7, lambda line: line.replace('-1', 'x', 1))
    line = fails('convert', ['celeba', '64', '-d', str(folder), '-o', str(folder)], capsys)
    assert f"{folder / LIST}, line 7: expected the name of a picture" in line
    assert sorted(os.listdir(folder)) == [ARCHIVE, LIST]
