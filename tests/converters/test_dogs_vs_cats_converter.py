"""Dogs vs. Cats, against an independent reading of the raw files."""
from __future__ import annotations

import argparse
import io
import os
import re
import shutil
import zipfile

import h5py
import numpy
import pytest
from PIL import Image

from fuel.converters._conversion import workers as _workers
from fuel.converters._pictures import zipped as _zipped_pictures
from fuel.converters.dogs_vs_cats import convert_dogs_vs_cats, fill_subparser
from fuel.exceptions import ConversionError, MissingInputFiles
from tests.bin.commands import fails, run
from tests.converters.reading import axis_labels
from tests.raw import dogs_vs_cats as raw
from tests.raw.zips import jpeg, write_zip

TRAIN, TEST = raw.TRAIN_FILE, raw.TEST_FILE


@pytest.fixture(scope='module')
def sound(tmp_path_factory):
    folder = tmp_path_factory.mktemp('dogs')
    raw.write(folder, 25, 12)
    return folder


@pytest.fixture
def folder(sound, tmp_path):
    for name in (TRAIN, TEST):
        shutil.copy(sound / name, tmp_path)
    return tmp_path


def contents(path):
    """Return the names and the pixels of the pictures of an archive, in its order."""
    with zipfile.ZipFile(path) as archive:
        return [(name, numpy.asarray(Image.open(io.BytesIO(archive.read(name)))).transpose(2, 0, 1))
                for name in archive.namelist() if name.endswith('.jpg')]


def expected(folder):
    """Return pictures and classes in the order in which the old library wrote them."""
    train = contents(folder / TRAIN)
    order = list(range(len(train)))
    numpy.random.RandomState(123522).shuffle(order)
    test = sorted(contents(folder / TEST), key=lambda entry: int(re.findall(r'(\d+)\.jpg',
                                                                            entry[0])[0]))
    return ([train[number][1] for number in order] + [pixels for _, pixels in test],
            [[0 if 'cat' in train[number][0] else 1] for number in order])


def stored(path):
    """Return the pictures of a file in the layout of the old library."""
    with h5py.File(path, 'r') as h5file:
        features = h5file['image_features']
        shapes, labels = (scale for _, scale in features.dims[0].items())
        assert (shapes.name, labels.name) == ('/image_features_shapes',
                                              '/image_features_shapes_labels')
        assert (shapes.dtype, labels.dtype) == ('int32', 'S7')
        assert labels[...].tolist() == [b'channel', b'height', b'width']
        assert h5py.check_vlen_dtype(features.dtype) == 'uint8'
        assert features.dims[0].label == 'batch'
        return [values.reshape(shape) for values, shape in zip(features[...], shapes[...],
                                                               strict=True)]


def splits(path):
    with h5py.File(path, 'r') as h5file:
        return {(row['split'].decode(), row['source'].decode()):
                (int(row['start']), int(row['stop']), bool(row['available']))
                for row in h5file.attrs['split']}


def same(found, pictures):
    return len(found) == len(pictures) and all(map(numpy.array_equal, found, pictures))


def test_pictures_classes_and_splits(folder):
    path, = convert_dogs_vs_cats(str(folder), str(folder))
    assert path == str(folder / 'dogs_vs_cats.hdf5')
    pictures, classes = expected(folder)
    assert len({picture.shape for picture in pictures}) > 20
    assert same(stored(path), pictures)
    with h5py.File(path, 'r') as h5file:
        assert h5file['targets'].dtype == 'uint8'
        assert h5file['targets'][...].tolist() == classes
        assert h5file['targets'].attrs['target_names'].tolist() == ['cat', 'dog']
    assert sum(number for number, in classes) == 12
    assert splits(path) == {
        ('train', 'image_features'): (0, 25, True), ('train', 'targets'): (0, 25, True),
        ('test', 'image_features'): (25, 37, True), ('test', 'targets'): (0, 0, False)}
    assert axis_labels(path)['targets'] == ('batch', 'index')


def test_test_pictures_are_ordered_by_number_and_have_no_targets(folder):
    names = [name for name, _ in contents(folder / TEST)]
    assert names[:4] == ['test1/1.jpg', 'test1/10.jpg', 'test1/11.jpg', 'test1/12.jpg']
    path, = convert_dogs_vs_cats(str(folder), str(folder), 'other.hdf5')
    by_name = dict(contents(folder / TEST))
    assert same(stored(path)[25:], [by_name[f'test1/{number}.jpg'] for number in range(1, 13)])
    with h5py.File(path, 'r') as h5file:
        assert h5file['targets'].shape == (25, 1)


def test_sizes_are_those_of_the_archives(tmp_path, caplog):
    raw.write(tmp_path, 3, 1)
    path, = convert_dogs_vs_cats(str(tmp_path), str(tmp_path))
    assert len(stored(path)) == 4
    assert 'the data set has 25000 training pictures; this file has 3' in caplog.text
    assert 'the data set has 12500 test pictures; this file has 1' in caplog.text


def test_layout_ragged(folder):
    path, = convert_dogs_vs_cats(str(folder), str(folder), layout='ragged', compression='gzip')
    pictures, classes = expected(folder)
    with h5py.File(path, 'r') as h5file:
        values, offsets = h5file['image_features'], h5file['image_features_offsets'][...]
        assert values.compression == 'gzip' and values.dtype == 'uint8'
        assert h5file['targets'].compression == 'gzip'
        assert h5file['targets'][...].tolist() == classes
        shapes = h5file['image_features_shapes'][...]
        flat = values[...]
    assert same([flat[start:stop].reshape(shape) for start, stop, shape
                 in zip(offsets[:-1], offsets[1:], shapes, strict=True)], pictures)


def test_the_same_with_and_without_processes(tmp_path, monkeypatch):
    raw.write(tmp_path, 100, 80)
    files = []
    for processors in (1, 2, 2):
        monkeypatch.setattr(_workers, 'usable_cpus', lambda count=processors: count)
        path, = convert_dogs_vs_cats(str(tmp_path), str(tmp_path))
        with open(path, 'rb') as stream:
            files.append(stream.read())
    assert files[0] == files[1] == files[2]
    assert same(stored(path), expected(tmp_path)[0])


def test_pictures_of_other_kinds_become_colour(folder):
    grey, sideways = Image.new('L', (40, 30), 77), Image.new('RGB', (40, 30), 'red')
    exif = Image.Exif()
    exif[0x0112] = 6
    stream = io.BytesIO()
    sideways.save(stream, 'JPEG', exif=exif)
    write_zip(folder / TRAIN, [('train/cat.0.jpg', jpeg(grey))])
    write_zip(folder / TEST, [('1.JPG', stream.getvalue())])
    path, = convert_dogs_vs_cats(str(folder), str(folder))
    found = stored(path)
    assert (found[0] == 77).all() and found[0].shape == (3, 30, 40)
    assert found[1].shape == (3, 30, 40)


# Mistakes.

def problem(folder, **options):
    """Convert, and return the message of the error; nothing may be left of the file."""
    before = sorted(os.listdir(folder))
    with pytest.raises(ConversionError) as caught:
        convert_dogs_vs_cats(str(folder), str(folder), **options)
    assert sorted(os.listdir(folder)) == before
    assert '\n' not in str(caught.value)
    return str(caught.value).replace(f'{folder}{os.sep}', '')


PICTURE = jpeg(Image.linear_gradient('L').convert('RGB'))


@pytest.mark.parametrize('name', [TRAIN, TEST])
@pytest.mark.parametrize(('members', 'message'), [
    ([], ': expected pictures, with names that end in .jpg; it has none among its 0 files'),
    ([('train/', b'')], ': expected pictures, with names that end in .jpg; it has none'),
    ([('read.me', b'')], ': expected pictures, with names that end in .jpg; it has none among its '
                         '1 files'),
    ([('../1.jpg', PICTURE)], ": expected names that stay inside the archive; got the member "
                              "'../1.jpg'")])
def test_an_archive_without_pictures(folder, name, members, message):
    write_zip(folder / name, members)
    assert problem(folder).startswith(name + message)


@pytest.mark.parametrize(('name', 'members', 'message'), [
    (TRAIN, ['train/cat.0.jpg', 'train/horse.0.jpg'],
     "expected training pictures with names like cat.0.jpg and dog.0.jpg; got 'train/horse.0.jpg'"),
    (TRAIN, ['cat/0.jpg'], "expected training pictures with names like cat.0.jpg"),
    (TEST, ['test1/1.jpg', 'test1/one.jpg'],
     "expected test pictures with names like 1.jpg; got 'test1/one.jpg'"),
    (TEST, ['test1/' + '1' * 5000 + '.jpg'], 'expected test pictures with names like 1.jpg; got '),
    (TEST, ['test1/1.jpg', 'test1/01.jpg'],
     "expected one test picture of number 1; got 'test1/1.jpg' and 'test1/01.jpg'")])
def test_names_that_tell_nothing(folder, name, members, message):
    write_zip(folder / name, [(member, PICTURE) for member in members])
    assert problem(folder).startswith(f'{name}: {message}')


@pytest.mark.parametrize(('content', 'message'), [
    (b'none', 'not an image'), (PICTURE[:-30], 'truncated')])
def test_a_picture_that_is_none(folder, content, message):
    write_zip(folder / TEST, [('test1/1.jpg', PICTURE), ('test1/2.jpg', content)])
    found = problem(folder)
    assert found.startswith(f"{TEST}, member 'test1/2.jpg': expected a picture; ")
    assert message in found


def test_a_member_that_is_too_large(folder, monkeypatch):
    monkeypatch.setattr(_zipped_pictures, '_LIMIT', 100)
    assert 'expected members of at most 100 bytes' in problem(folder)


@pytest.mark.parametrize('name', [TRAIN, TEST])
def test_an_archive_that_is_none(folder, name):
    (folder / name).write_bytes(b'<html>registration needed</html>')
    assert problem(folder).startswith(f'{name} is no zip archive')


@pytest.mark.parametrize('options', [{}, {'layout': 'vlen'}])
def test_pictures_of_variable_length_are_not_compressed(folder, options):
    assert '--layout ragged' in problem(folder, compression='gzip', **options)


def test_missing_files(folder):
    (folder / TEST).unlink()
    with pytest.raises(MissingInputFiles) as caught:
        convert_dogs_vs_cats(str(folder), str(folder))
    assert caught.value.filenames == [TEST]


# The command.

def test_the_command(folder):
    result = run('convert', 'dogs_vs_cats', '--layout', 'ragged', '-r', 'pets', cwd=folder)
    assert result.returncode == 0, result.stderr
    with h5py.File(folder / 'pets.hdf5', 'r') as h5file:
        assert 'image_features_offsets' in h5file


def test_the_command_says_it_in_one_line(folder, capsys):
    line = fails('convert', ['dogs_vs_cats', '-d', str(folder), '-o', str(folder),
                             '--compression', 'gzip'], capsys)
    assert '--layout ragged' in line
    assert sorted(os.listdir(folder)) == [TEST, TRAIN]


def test_arguments():
    parser = argparse.ArgumentParser()
    assert fill_subparser(parser) is convert_dogs_vs_cats
    assert parser.parse_args([]).layout == 'vlen'
