from __future__ import annotations

import argparse
import hashlib
import importlib

import h5py
import numpy
import pytest

from fuel.converters import ilsvrc2010, ilsvrc2012
from fuel.exceptions import ConversionError
from fuel.storage.provenance.checksums import keeping_checksums
from fuel.storage.provenance.verifying import verify_source
from tests.bin.commands import fails, run
from tests.converters.imagenet_expected import expected, stored
from tests.raw import ilsvrc2010 as raw2010
from tests.raw import ilsvrc2012 as raw2012
from tests.raw import imagenet

CONVERT = {2010: ilsvrc2010.convert_ilsvrc2010, 2012: ilsvrc2012.convert_ilsvrc2012}
WRITE = {2010: raw2010.write, 2012: raw2012.write}
STORAGE = [{}, {'layout': 'ragged'}, {'layout': 'ragged', 'compression': 'gzip'},
           {'chunk_examples': 4}, {'layout': 'vlen', 'check': 'none'}, {'check': 'decode'}]


@pytest.fixture(scope='module', params=[2010, 2012])
def raw(request, tmp_path_factory):
    """The year, a folder with raw files, and what is in them."""
    folder = tmp_path_factory.mktemp(f'raw{request.param}')
    return request.param, folder, WRITE[request.param](folder, classes=4, images=9)


def convert(raw, tmp_path, name='out.hdf5', **options):
    year, folder, _ = raw
    path, = CONVERT[year](str(folder), str(tmp_path), name, **options)
    assert path == str(tmp_path / name)
    return path


@pytest.mark.parametrize('options', STORAGE, ids=str)
def test_every_picture_has_its_place_its_name_and_its_label(raw, tmp_path, options):
    path = convert(raw, tmp_path, **options)
    known = expected(raw[1], raw[0])
    found = stored(path)
    assert list(found) == ['train', 'valid', 'test']
    assert {split: len(pictures) for split, pictures in found.items()} == {
        'train': 36, 'valid': 7, 'test': 5}
    assert found == known
    # The maker tells the same.
    contents = {content for pictures in raw[2].train.values() for content in pictures.values()}
    patches = {content for part in raw[2].patches.values() for content in part.values()}
    assert len({content for _, content, _ in found['train']} - contents - patches) == 0


def test_the_file_is_as_documented(raw, tmp_path):
    year = raw[0]
    with h5py.File(convert(raw, tmp_path), 'r') as h5file:
        images = h5file['encoded_images']
        assert images.shape == (48,)
        assert h5py.check_vlen_dtype(images.dtype) == numpy.uint8
        assert images.chunks is None
        assert images.dims[0].label == 'batch'
        assert h5file['encoded_images_shape_labels'][...].tolist() == [b'bytes']
        assert h5file['targets'].dtype == numpy.int16
        assert h5file['targets'].shape == (48 if year == 2010 else 43, 1)
        assert h5file['filenames'].dtype == 'S32'
        assert h5file['filenames'].shape == (48, 1)
        for name in ('targets', 'filenames'):
            assert [axis.label for axis in h5file[name].dims] == ['batch', 'index']
        available = {(row['split'], row['source']): bool(row['available'])
                     for row in h5file.attrs['split']}
        assert available[b'test', b'targets'] == (year == 2010)
        assert h5file['wnids'][...].tolist() == [imagenet.wnid(number).encode()
                                                 for number in range(4)]
        assert h5file['class_names'].asstr()[3] == 'banana'


def test_compression_and_chunks_are_those_asked_for(raw, tmp_path):
    with h5py.File(convert(raw, tmp_path, layout='ragged', compression=('gzip', 9)),
                   'r') as h5file:
        assert h5file['encoded_images'].compression == 'gzip'
        assert h5file['filenames'].compression_opts == 9
    with h5py.File(convert(raw, tmp_path, chunk_examples=5), 'r') as h5file:
        assert h5file['encoded_images'].chunks == (5,)
        assert h5file['targets'].chunks == (5, 1)


@pytest.mark.parametrize(('options', 'words'), [
    ({'compression': 'gzip'}, 'take --layout ragged'),
    ({'layout': 'ragged', 'chunk_examples': 3}, 'leave --chunk-examples out')])
def test_options_that_do_not_go_together(raw, tmp_path, options, words):
    with pytest.raises(ConversionError, match=words):
        convert(raw, tmp_path, **options)
    assert list(tmp_path.iterdir()) == []


def test_the_seed_gives_the_order(raw, tmp_path, monkeypatch):
    year, folder, _ = raw
    other = stored(convert(raw, tmp_path, shuffle_seed=3))
    assert other == expected(folder, year, seed=3)
    first = stored(convert(raw, tmp_path, 'default.hdf5'))
    assert first['train'] != other['train']
    assert sorted(first['train']) == sorted(other['train'])
    assert first['valid'] == other['valid']
    monkeypatch.setenv('FUEL_DEFAULT_SEED', '3')
    assert stored(convert(raw, tmp_path, 'configured.hdf5')) == other


@pytest.mark.parametrize('options', STORAGE[:4], ids=str)
def test_the_same_input_gives_the_same_bytes(raw, tmp_path, options):
    with keeping_checksums():
        once = convert(raw, tmp_path, 'once.hdf5', **options)
        again = convert(raw, tmp_path, 'again.hdf5', **options)
    with open(once, 'rb') as one, open(again, 'rb') as other:
        assert one.read() == other.read()


@pytest.mark.parametrize('options', STORAGE[:3], ids=str)
def test_checksums_are_those_of_what_is_stored(raw, tmp_path, options):
    with keeping_checksums():
        path = convert(raw, tmp_path, **options)
    with h5py.File(path, 'r') as h5file:
        for source in ('encoded_images', 'targets', 'filenames'):
            verdict = verify_source(h5file, source)
            assert verdict.checked
            assert verdict.good, verdict


def test_pictures_are_kept_as_they_are(tmp_path):
    """Real ones are PNG under the name of a JPEG, grey, CMYK, or have more behind their end."""
    odd = {'a': imagenet.jpeg(0, form='PNG'), 'b': imagenet.jpeg(1, mode='L'),
           'c': imagenet.jpeg(2, mode='CMYK'), 'd': imagenet.jpeg(3) + b'\0\0more'}
    raw2012.write(tmp_path)
    imagenet.write_tar(tmp_path / 'ILSVRC2012_img_test.tar',
                       [(f'{name}.JPEG', content) for name, content in odd.items()])
    for check in ('header', 'decode'):
        path, = CONVERT[2012](str(tmp_path), str(tmp_path), check=check)
        assert [content for _, content, _ in stored(path)['test']] == list(odd.values())


def test_long_names_are_kept_whole(tmp_path):
    raw2012.write(tmp_path)
    name = 'x' * 150 + '.JPEG'
    imagenet.write_tar(tmp_path / 'ILSVRC2012_img_test.tar', [(name, imagenet.jpeg(0))])
    path, = CONVERT[2012](str(tmp_path), str(tmp_path))
    assert stored(path)['test'] == [(name, imagenet.jpeg(0), None)]


@pytest.mark.parametrize('year', [2010, 2012])
def test_the_command(tmp_path, year):
    WRITE[year](tmp_path)
    done = run('convert', f'ilsvrc{year}', '--shuffle-seed', '7', '--layout', 'ragged',
               cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == f'wrote {tmp_path / f"ilsvrc{year}.hdf5"}'
    path = tmp_path / f'ilsvrc{year}.hdf5'
    assert stored(path) == expected(tmp_path, year, seed=7)
    module = importlib.import_module(f'fuel.converters.ilsvrc{year}')
    with h5py.File(path, 'r') as h5file:
        assert h5file.attrs['fuel_convert_seed'] == 7
        inputs = h5file['fuel_provenance/inputs']
        assert sorted(name.decode() for name in inputs['name']) == sorted(module.ALL_FILES)
        for row in inputs[...]:
            content = (tmp_path / row['name'].decode()).read_bytes()
            assert row['sha256'].decode() == hashlib.sha256(content).hexdigest()


@pytest.mark.parametrize('year', [2010, 2012])
def test_all_missing_files_are_told(tmp_path, capsys, year):
    from fuel.bin.fuel_convert import main
    module = importlib.import_module(f'fuel.converters.ilsvrc{year}')
    (tmp_path / module.TRAIN_IMAGES_TAR).write_bytes(b'')
    with pytest.raises(SystemExit) as caught:
        main([f'ilsvrc{year}', '-d', str(tmp_path), '-o', str(tmp_path)])
    assert caught.value.code == 2
    printed = capsys.readouterr().err
    assert [line.strip(' *') for line in printed.splitlines() if line.startswith('   *')] == [
        name for name in module.ALL_FILES if name != module.TRAIN_IMAGES_TAR]


@pytest.mark.parametrize('arguments', [['--shuffle-seed', '-1'], ['--shuffle-seed', '4294967296'],
                                       ['--check', 'some']])
def test_wrong_arguments(arguments, tmp_path, capsys):
    parser = argparse.ArgumentParser()
    assert ilsvrc2012.fill_subparser(parser) is ilsvrc2012.convert_ilsvrc2012
    with pytest.raises(SystemExit):
        parser.parse_args(arguments)
    with pytest.raises(ValueError, match='header, decode, none'):
        ilsvrc2012.convert_ilsvrc2012(_full(tmp_path), str(tmp_path), check='some')
    capsys.readouterr()


def _full(folder):
    raw2012.write(folder)
    return str(folder)


def test_a_bad_picture_is_one_line_and_leaves_nothing(tmp_path, capsys):
    raw2012.write(tmp_path)
    imagenet.write_tar(tmp_path / 'ILSVRC2012_img_test.tar', [('a.JPEG', b'no picture')])
    (tmp_path / 'out').mkdir()
    line = fails('convert', ['ilsvrc2012', '-d', str(tmp_path), '-o', str(tmp_path / 'out')],
                 _Quiet(capsys))
    assert "ILSVRC2012_img_test.tar: the member 'a.JPEG' is no picture" in line
    assert list((tmp_path / 'out').iterdir()) == []


class _Quiet:
    """Leaves out warnings, which small raw files give."""

    def __init__(self, capsys):
        self._capsys = capsys

    def readouterr(self):
        captured = self._capsys.readouterr()
        return captured._replace(err=''.join(
            line for line in captured.err.splitlines(True) if not line.startswith('warning: ')))
