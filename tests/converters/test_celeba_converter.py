"""CelebA, against an independent reading of the raw files."""
from __future__ import annotations

import argparse
import io
import zipfile

import h5py
import numpy
import pytest
from PIL import Image

from fuel.converters import celeba
from fuel.converters._conversion import workers as _workers
from fuel.converters.celeba import convert_celeba, fill_subparser, split_bounds
from tests.bin.commands import run
from tests.converters.reading import axis_labels, by_split, storage
from tests.raw import celeba as raw

FORMATS = ('aligned_cropped', '64')


def pictures(folder, which_format):
    """Return the pictures of the archive, by Pillow."""
    found = []
    with zipfile.ZipFile(folder / 'img_align_celeba.zip') as archive:
        for name in sorted(archive.namelist()):
            if name.endswith('.jpg'):
                image = Image.open(io.BytesIO(archive.read(name)))
                if which_format == '64':
                    image = image.resize((64, 78), Image.Resampling.LANCZOS).crop((0, 7, 64, 71))
                found.append(numpy.asarray(image).transpose(2, 0, 1))
    return numpy.stack(found)


def attributes(folder):
    """Return the list of attributes as numpy reads it."""
    values = numpy.loadtxt(folder / 'list_attr_celeba.txt', dtype=str, skiprows=2)[:, 1:]
    return (values.astype(int) + 1) // 2


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp('celeba')
    raw.write(folder, 40)
    return folder


@pytest.fixture(scope='module')
def converted(folder):
    return {which: convert_celeba(which, str(folder), str(folder))[0] for which in FORMATS}


@pytest.mark.parametrize(('which', 'shape'), [('aligned_cropped', (3, 218, 178)),
                                              ('64', (3, 64, 64))])
def test_pictures_attributes_and_splits(folder, converted, which, shape):
    path = converted[which]
    assert path == str(folder / f'celeba_{which}.hdf5')
    features, targets = pictures(folder, which), attributes(folder)
    found = by_split(path)
    # 162770 and 182637 of 202599, of 40.
    assert list(found) == ['train', 'valid', 'test']
    for split, rows in (('train', slice(0, 32)), ('valid', slice(32, 36)), ('test', slice(36, 40))):
        assert numpy.array_equal(found[split]['features'], features[rows])
        assert numpy.array_equal(found[split]['targets'], targets[rows])
    assert storage(path, 'features') == ('uint8', (40, *shape), None, None)
    assert storage(path, 'targets') == ('uint8', (40, 40), None, None)
    assert axis_labels(path) == {'features': ('batch', 'channel', 'height', 'width'),
                                 'targets': ('batch', 'target')}
    assert set(targets.ravel()) == {0, 1}


def test_names_of_attributes_are_kept(converted):
    with h5py.File(converted['64'], 'r') as h5file:
        names = h5file['targets'].attrs['target_names'].tolist()
        has = dict(zip(names, h5file['targets'][0].tolist(), strict=True))
    assert names == raw.NAMES and len(names) == 40
    assert has['Wearing_Hat'] == 1 and has['Male'] == 0


def test_the_public_data_set_is_divided_as_by_its_authors():
    assert split_bounds(202599) == {'train': (0, 162770), 'valid': (162770, 182637),
                                    'test': (182637, 202599)}


@pytest.mark.parametrize(('count', 'expected'), [
    (1, {'train': (0, 1)}), (2, {'train': (0, 2)}),
    (5, {'train': (0, 4), 'valid': (4, 5)}),
    (10, {'train': (0, 8), 'valid': (8, 9), 'test': (9, 10)}),
    (1000, {'train': (0, 803), 'valid': (803, 901), 'test': (901, 1000)})])
def test_fewer_pictures_are_divided_in_proportion(count, expected):
    assert split_bounds(count) == expected


def test_fewer_pictures_are_warned_about(folder, tmp_path, caplog):
    convert_celeba('64', str(folder), str(tmp_path))
    assert 'the data set has 202599 images; this file has 40' in caplog.text


def test_a_single_picture(tmp_path):
    raw.write(tmp_path, 1)
    path, = convert_celeba('64', str(tmp_path), str(tmp_path), 'one.hdf5')
    assert path == str(tmp_path / 'one.hdf5')
    assert {split: list(sources) for split, sources in by_split(path).items()} == {
        'train': ['features', 'targets']}


def test_the_same_with_and_without_processes(tmp_path, monkeypatch):
    raw.write(tmp_path, 150)
    contents = []
    for processors in (1, 2, 2):
        monkeypatch.setattr(_workers, 'usable_cpus', lambda count=processors: count)
        path, = convert_celeba('64', str(tmp_path), str(tmp_path))
        with open(path, 'rb') as stream:
            contents.append(stream.read())
    assert contents[0] == contents[1] == contents[2]
    found = numpy.concatenate([of['features'] for of in by_split(path).values()])
    assert numpy.array_equal(found, pictures(tmp_path, '64'))


def test_blocks_end_with_the_splits(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(celeba, '_BLOCK_BYTES', 3 * 64 * 64 * 5 + 1)
    path, = convert_celeba('64', str(folder), str(tmp_path))
    found = by_split(path)
    assert [len(found[split]['features']) for split in ('train', 'valid', 'test')] == [32, 4, 4]
    assert numpy.array_equal(found['test']['features'], pictures(folder, '64')[36:])


def test_other_folders_line_ends_and_files_beside_the_pictures(folder, tmp_path, caplog):
    text = (folder / 'list_attr_celeba.txt').read_text()
    (tmp_path / 'list_attr_celeba.txt').write_bytes(text.replace('\n', '\r\n').encode() + b'\r\n')
    with (zipfile.ZipFile(folder / 'img_align_celeba.zip') as source,
          zipfile.ZipFile(tmp_path / 'img_align_celeba.zip', 'w') as archive):
        archive.writestr('__MACOSX/img_align_celeba/._000001.jpg', b'nothing')
        archive.writestr('readme.txt', b'nothing')
        for name in reversed(source.namelist()):
            archive.writestr(f'deeper/{name}', source.read(name))
        archive.writestr('deeper/img_align_celeba/000041.jpg', b'not in the list')
    path, = convert_celeba('64', str(tmp_path), str(tmp_path))
    found = by_split(path)
    assert numpy.array_equal(found['train']['features'], pictures(folder, '64')[:32])
    assert numpy.array_equal(found['train']['targets'], attributes(folder)[:32])
    assert 'left out 1 pictures' in caplog.text


def test_compression_and_chunks(folder, tmp_path):
    path, = convert_celeba('64', str(folder), str(tmp_path), compression='gzip', chunk_examples=6)
    assert storage(path, 'features')[2:] == ((6, 3, 64, 64), 'gzip')
    assert storage(path, 'targets')[2:] == ((6, 40), 'gzip')
    assert numpy.array_equal(by_split(path)['train']['features'], pictures(folder, '64')[:32])


def test_the_command(folder, tmp_path):
    result = run('convert', 'celeba', '64', '-d', str(folder), '-o', str(tmp_path),
                 '--compression', 'lzf', cwd=tmp_path)
    assert result.returncode == 0, result.stderr
    path = tmp_path / 'celeba_64.hdf5'
    assert storage(path, 'features')[3] == 'lzf'
    with h5py.File(path, 'r') as h5file:
        assert h5file.attrs['fuel_convert_command'].endswith('celeba 64 -d '
                                                             f'{folder} -o {tmp_path} '
                                                             '--compression lzf')


def test_arguments():
    parser = argparse.ArgumentParser()
    assert fill_subparser(parser) is convert_celeba
    assert parser.parse_args(['aligned_cropped']).which_format == 'aligned_cropped'
    with pytest.raises(SystemExit):
        parser.parse_args([])
