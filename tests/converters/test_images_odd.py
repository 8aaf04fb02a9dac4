"""Pictures that are odd in a way that once went unnoticed, and files that are no files."""
from __future__ import annotations

import io
import os

import h5py
import numpy
import pytest
from PIL import Image, ImageOps

from fuel.bin.fuel_convert import main
from fuel.converters.images import convert_images
from tests.bin.commands import fails, run
from tests.converters.reading import by_split
from tests.raw import images as raw


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / 'a').mkdir()
    return tmp_path


def message(capsys, *args):
    before = sorted(os.listdir())
    line = fails('convert', ['images', 'a', *args], capsys)
    assert sorted(os.listdir()) == before
    return line


def stored(**kwargs):
    """Convert the folder, and return its pictures."""
    path, = convert_images('.', '.', folder='a', **kwargs)
    with h5py.File(path, 'r') as h5file:
        return [flat.reshape(shape) for flat, shape in zip(
            h5file['image_features'], h5file['image_features_shapes'], strict=True)]


@pytest.mark.parametrize('kind', ['tiff', 'jpeg', 'png', 'webp'])
@pytest.mark.parametrize('orientation', range(1, 9))
def test_a_picture_is_turned_once_whatever_its_format(folder, kind, orientation):
    exif = Image.Exif()
    exif[0x0112] = orientation
    ramp = numpy.arange(20 * 31 * 3, dtype='uint16').reshape(20, 31, 3) % 251
    picture = Image.fromarray(ramp.astype('uint8'))
    picture.save(folder / 'a' / f'1.{kind}', exif=exif)
    with Image.open(folder / 'a' / f'1.{kind}') as opened:
        upright = numpy.asarray(ImageOps.exif_transpose(opened).convert('RGB')).transpose(2, 0, 1)
    found, = stored()
    assert numpy.array_equal(found, upright)
    assert found.shape == ((3, 31, 20) if orientation > 4 else (3, 20, 31))


@pytest.mark.parametrize(('values', 'words'), [
    (numpy.linspace(0, 1, 20, dtype='float32'), 'floats from 0.0 to 1.0'),
    (numpy.linspace(0, 255, 20, dtype='float32'), 'floats from 0.0 to 255.0'),
    (numpy.float32([0, 256] * 10), 'floats from 0.0 to 256.0'),
    (numpy.float32([0, -1] * 10), 'floats from -1.0 to 0.0'),
    (numpy.float32([3, numpy.nan] * 10), 'floats from nan'),
    (numpy.arange(20, dtype='int32') * 100, 'integers from 0 to 1900')])
def test_numbers_that_are_no_bytes_are_refused_and_not_made_black(capsys, folder, values, words):
    Image.fromarray(values.reshape(4, 5)).save(folder / 'a' / '1.tif')
    line = message(capsys)
    assert '1.tif: expected pixels that are whole numbers from 0 to 255' in line
    assert words in line
    assert 'as they are with --encoded' in line
    assert 'color_mode' not in line
    assert '1.tif' in message(capsys, '--size', '3')
    Image.new('RGB', (4, 4)).save(folder / 'a' / '2.png')
    main(['images', 'a', '--skip-bad'])
    assert 'left out 1 file that cannot be used: 1.tif' in capsys.readouterr().err
    with h5py.File('a.hdf5', 'r') as h5file:
        assert h5file['filenames'].asstr()[...].tolist() == ['2.png']


def test_floats_that_are_bytes(folder):
    values = numpy.arange(256, dtype='float32').reshape(16, 16)
    Image.fromarray(values).save(folder / 'a' / '1.tif')
    assert numpy.array_equal(stored(color='L')[0], values[None])


@pytest.mark.parametrize('mode', ['LAB', 'F', 'I', 'CMYK', 'I;16'])
def test_any_file_that_can_be_decoded_can_be_stored_as_it_is(folder, mode):
    if mode in ('F', 'I'):
        image = Image.fromarray(numpy.full((4, 5), 1000.5 if mode == 'F' else 70000,
                                           'float32' if mode == 'F' else 'int32'))
    else:
        image = Image.new(mode, (5, 4))
    image.save(folder / 'a' / '1.tif')
    path, = convert_images('.', '.', folder='a', encoded=True, skip_bad=True)
    with h5py.File(path, 'r') as h5file:
        assert bytes(h5file['encoded_images'][0]) == (folder / 'a' / '1.tif').read_bytes()


def test_an_encoded_file_is_decoded_once_to_the_end(capsys, folder):
    stream = io.BytesIO()
    Image.effect_noise((50, 50), 90).save(stream, 'TIFF')
    (folder / 'a' / '1.tif').write_bytes(stream.getvalue()[:-700])
    assert 'a/1.tif: expected a picture; it cannot be decoded' in message(capsys, '--encoded')


@pytest.mark.parametrize('kind', ['pipe', 'device'])
def test_what_has_the_name_of_a_picture_and_is_no_file(capsys, folder, kind):
    Image.new('RGB', (4, 4)).save(folder / 'a' / '1.png')
    if kind == 'pipe':
        os.mkfifo(folder / 'a' / '2.png')
    else:
        os.symlink('/dev/zero', folder / 'a' / '2.png')
    for options in ((), ('--encoded',)):
        line = message(capsys, *options)
        assert 'a/2.png: expected a picture; this is a pipe or a device' in line
        assert '--skip-bad' in line
    main(['images', 'a', '--skip-bad'])
    assert 'left out 1 file that cannot be used: 2.png' in capsys.readouterr().err


def test_lists_that_are_no_files(capsys, folder):
    Image.new('RGB', (4, 4)).save(folder / 'a' / '1.png')
    os.mkfifo('l.csv')
    for option in ('--labels', '--split-file'):
        assert 'l.csv: expected a file' in message(capsys, option, 'l.csv')
        line = message(capsys, option, 'm.csv')
        assert f'{folder}/m.csv: there is no such file' in line
        assert 'download' not in line
        assert 'expected a file; this is a folder' in message(capsys, option, 'a')
    line = fails('convert', ['images', 'nothing'], capsys)
    assert f'there is no folder {folder}/nothing' in line


@pytest.fixture
def deep(folder):
    """Make folders in folders; and remove them, for Python does it by recursion."""
    os.chdir('a')
    for _ in range(1200):
        os.mkdir('d')
        os.chdir('d')
    Image.new('RGB', (4, 4)).save('1.png')
    there = os.open('.', os.O_RDONLY)
    os.chdir(folder)
    yield 'd/' * 1200 + '1.png'
    os.chdir(there)
    os.close(there)
    os.remove('1.png')
    for _ in range(1200):
        os.chdir('..')
        os.rmdir('d')
    os.chdir(folder)


def test_folders_that_lie_in_each_other_more_deeply_than_python_calls(deep):
    path, = convert_images('.', '.', folder='a', size=(2, 2))
    with h5py.File(path, 'r') as h5file:
        assert h5file['filenames'].asstr()[0] == deep


def test_sizes_that_fill_the_memory(capsys, folder):
    Image.new('RGB', (4, 4)).save(folder / 'a' / '1.png')
    for size in ('100000x100000', '100000', '8193x8192'):
        assert 'expected a size of at most 67108864 pixels' in message(capsys, '--size', size)
    main(['images', 'a', '--size', '999999x1', '-r', 'tall'])
    assert by_split('tall.hdf5')['train']['features'].shape == (1, 3, 999999, 1)


@pytest.mark.parametrize('word', ['', '?', 'NA', 'N/A', 'NaN', 'nan', 'NULL', 'null'])
def test_missing_labels_do_not_make_numbers_classes(capsys, folder, word):
    raw.write(folder / 'a', classes=('',), count=3)
    (folder / 'l.csv').write_text(f'file,age\n0.jpg,3\n1.png,{word}\n2.JPEG,4\n')
    line = message(capsys, '--labels', 'l.csv')
    assert f"l.csv, line 3: the value of the column 'age' is missing: {word!r}" in line


def test_labels_that_are_large_numbers(capsys, folder):
    raw.write(folder / 'a', classes=('',), count=3)

    def converted(*values):
        names = ('0.jpg', '1.png', '2.JPEG')
        (folder / 'l.csv').write_text('file,id\n' + ''.join(
            f'{name},{value}\n' for name, value in zip(names, values, strict=True)))
        main(['images', 'a', '--labels', 'l.csv', '--no-shuffle', '--size', '2', '--force'])
        return by_split('a.hdf5')['train']['targets']

    found = converted(2 ** 64 - 1, 2 ** 53 + 1, 0)
    assert found.dtype == 'uint64'
    assert found.ravel().tolist() == [2 ** 64 - 1, 2 ** 53 + 1, 0]
    assert capsys.readouterr().err == ''
    assert converted(2 ** 53 + 1, 1, 2.5).dtype == 'float64'
    assert 'l.csv, line 2: the whole number 9007199254740993 of' in capsys.readouterr().err
    for value in ('1e999', '9' * 5000):
        (folder / 'l.csv').write_text(f'file,id\n0.jpg,1\n1.png,{value}\n')
        assert 'l.csv, line 3: the value ' in message(capsys, '--labels', 'l.csv', '--force')


def test_the_encoding_of_lists_is_an_option(capsys, folder):
    raw.write(folder / 'a', classes=('',), count=3)
    (folder / 'l.csv').write_bytes('file,kind\n0.jpg,gr\xfcn\n1.png,rot\n'.encode('latin-1'))
    assert '--encoding' in message(capsys, '--labels', 'l.csv')
    main(['images', 'a', '--labels', 'l.csv', '--encoding', 'latin-1'])
    with h5py.File('a.hdf5', 'r') as h5file:
        assert h5file['target_names'].asstr()[...].tolist() == ['gr\xfcn', 'rot']


def test_more_splits_than_a_file_can_hold(capsys, folder):
    for number in range(700):
        name = folder / 'a' / f'number {number:020d}' / 'c'
        name.mkdir(parents=True)
        (name / '1.png').write_bytes(b'not even looked at')
    line = message(capsys, '--splits', 'folders')
    assert '700 splits and 2 sources are too many' in line
    assert '64 kB' in line


@pytest.mark.parametrize('locale', [
    {'LC_ALL': 'C', 'PYTHONUTF8': '0', 'PYTHONCOERCECLOCALE': '0'}, {'PYTHONUTF8': '1'}])
def test_names_do_not_depend_on_the_locale(folder, locale):
    for name in ('d\xf6g/z.png', '\xe7at/\xe9.png', 'd\xf6g/\xfc.png', 'd\xf6g/\U0001f98a.png'):
        os.makedirs(os.path.dirname(f'a/{name}'), exist_ok=True)
        Image.new('RGB', (3, 3)).save(f'a/{name}')
    os.rename(b'a/d\xc3\xb6g/z.png', b'a/d\xc3\xb6g/\xff.png')
    (folder / 'l.csv').write_text('file,gr\xf6\xdfe\n\xe7at/\xe9.png,\xe4\n\xfc,\xf6\n', 'utf-8')
    (folder / 't.csv').write_text('gr\xf6\xdfe,kind\n\xe4,1\n\xf6,2\n', 'utf-8')
    for args in (('images', 'a', '--no-shuffle'), ('table', 't.csv', '--target', 'gr\xf6\xdfe'),
                 ('images', 'a', '--no-shuffle', '--labels', 'l.csv', '-r', 'listed'),
                 ('images', 'a', '--no-shuffle', '--splits', 'folders', '-r', 'divided')):
        result = run('convert', *args, cwd=folder, **locale)
        assert result.returncode == 0, result.stderr
    found = {}
    for name in ('a', 't', 'listed', 'divided'):
        with h5py.File(f'{name}.hdf5', 'r') as h5file:
            for key in ('filenames', 'target_names', 'target_columns'):
                if key in h5file:
                    found[name, key] = h5file[key].asstr()[...].tolist()
    names = ['d\xf6g/\\xff.png', 'd\xf6g/\xfc.png', 'd\xf6g/\U0001f98a.png', '\xe7at/\xe9.png']
    assert found == {
        ('a', 'filenames'): names, ('a', 'target_names'): ['d\xf6g', '\xe7at'],
        ('t', 'target_names'): ['\xe4', '\xf6'], ('t', 'target_columns'): ['gr\xf6\xdfe'],
        ('listed', 'filenames'): [names[1], names[3]],
        ('listed', 'target_names'): ['\xe4', '\xf6'], ('listed', 'target_columns'): ['gr\xf6\xdfe'],
        ('divided', 'filenames'): names}
    assert list(by_split('divided.hdf5')) == ['d\xf6g', '\xe7at']
