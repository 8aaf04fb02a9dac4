"""Format 2 of SVHN, pictures of digits, against an independent reading of the raw files."""
from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys

import h5py
import numpy
import pytest
import scipy.io

from fuel.converters._formats import matlab as _matlab
from fuel.converters.svhn import convert_svhn, fill_subparser
from fuel.exceptions import ConversionError, MissingInputFiles
from tests.bin.commands import environment, fails, run
from tests.converters.reading import axis_labels, by_split, storage
from tests.raw import svhn as raw

FILES = ['train_32x32.mat', 'test_32x32.mat', 'extra_32x32.mat']


@pytest.fixture(params=[True, False], ids=['compressed', 'plain'])
def folder(request, tmp_path):
    (tmp_path / 'in').mkdir()
    (tmp_path / 'out').mkdir()
    raw.write(tmp_path / 'in', 2, 23, compressed=request.param)
    return tmp_path


def convert(folder, **storage_options):
    path, = convert_svhn(2, str(folder / 'in'), str(folder / 'out'), **storage_options)
    return path


def expected(folder):
    """Read the raw files by scipy."""
    result = {}
    for name in FILES:
        content = scipy.io.loadmat(folder / 'in' / name)
        labels = content['y'].copy()
        labels[labels == 10] = 0
        result[name.partition('_')[0]] = content['X'].transpose(3, 2, 0, 1), labels
    return result


def test_digits(folder, monkeypatch):
    monkeypatch.setattr(_matlab, '_BLOCK_BYTES', 10000)
    path = convert(folder)
    assert path == str(folder / 'out' / 'svhn_format_2.hdf5')
    assert os.listdir(folder / 'out') == ['svhn_format_2.hdf5']
    found = by_split(path)
    assert list(found) == ['train', 'test', 'extra']
    for split, (images, labels) in expected(folder).items():
        assert numpy.array_equal(found[split]['features'], images)
        assert numpy.array_equal(found[split]['targets'], labels)
    assert storage(path, 'features') == ('uint8', (69, 3, 32, 32), None, None)
    assert storage(path, 'targets') == ('uint8', (69, 1), None, None)
    assert axis_labels(path) == {'features': ('batch', 'channel', 'height', 'width'),
                                 'targets': ('batch', 'index')}


def test_labels_are_the_digits(folder):
    """In the raw files 10 stands for 0."""
    targets = numpy.concatenate([sources['targets']
                                 for sources in by_split(convert(folder)).values()])
    assert set(targets.ravel().tolist()) == set(range(10))
    assert 10 in numpy.concatenate([scipy.io.loadmat(folder / 'in' / name)['y']
                                    for name in FILES])


@pytest.mark.parametrize('labels', [numpy.arange(1., 6.)[:, None], numpy.arange(1, 6)[None]])
def test_labels_of_other_types_and_in_a_row(folder, labels):
    scipy.io.savemat(folder / 'in' / FILES[1], {'y': labels,
                                                'X': numpy.zeros((32, 32, 3, 5), 'uint8')})
    found = by_split(convert(folder))['test']['targets']
    assert found.dtype == 'uint8'
    assert found.tolist() == [[1], [2], [3], [4], [5]]


def test_storage_options(folder, caplog):
    path = convert(folder, compression='gzip', chunk_examples=4, layout='ragged')
    assert storage(path, 'features')[2:] == ((4, 3, 32, 32), 'gzip')
    assert 'the layout has no effect' in caplog.text
    for split, (images, _) in expected(folder).items():
        assert numpy.array_equal(by_split(path)[split]['features'], images)


def test_the_same_input_gives_the_same_bytes(folder):
    with open(convert(folder), 'rb') as one:
        first = one.read()
    with open(convert(folder), 'rb') as other:
        assert other.read() == first


def mat(folder, name=FILES[2], **variables):
    """Change variables of a raw file."""
    path = folder / 'in' / name
    content = {key: value for key, value in scipy.io.loadmat(path).items() if key in 'Xy'}
    content.update(variables)
    scipy.io.savemat(path, {key: value for key, value in content.items() if value is not None})
    return path


@pytest.mark.parametrize(('changes', 'message'), [
    ({'X': None}, "variable 'X'; the file has 'y'"),
    ({'y': None}, "variable 'y'; the file has 'X'"),
    ({'X': numpy.zeros((32, 32, 23), 'uint8')}, r'got uint8 of shape \(32, 32, 23\)'),
    ({'X': numpy.zeros((23, 3, 32, 32), 'uint8')}, r'shape \(23, 3, 32, 32\)'),
    ({'X': numpy.zeros((32, 32, 3, 23))}, 'got float64'), ({'X': 'words'}, 'got text'),
    ({'y': numpy.ones((22, 1), 'uint8')}, r'23 labels.*shape \(22, 1\)'),
    ({'y': numpy.full((23, 1), 11)}, 'label 0 is 11'),
    ({'y': numpy.full((23, 1), -1)}, 'label 0 is -1'),
    ({'y': numpy.zeros((23, 1), 'uint8')}, 'label 0 is 0'),
    ({'y': numpy.full((23, 1), numpy.nan)}, 'label 0 is nan'),
    ({'y': numpy.full((23, 1), 1.5)}, 'label 0 is 1.5')])
def test_variables_that_are_not_as_expected(folder, changes, message):
    path = mat(folder, **changes)
    with pytest.raises(ConversionError, match=message) as caught:
        convert(folder)
    assert str(path) in str(caught.value)
    assert os.listdir(folder / 'out') == []


def test_files_cut_off(folder):
    path = folder / 'in' / FILES[0]
    content = path.read_bytes()
    for length in range(0, len(content) - 1, len(content) // 12):
        path.write_bytes(content[:length])
        with pytest.raises(ConversionError, match=FILES[0]):
            convert(folder)
    assert os.listdir(folder / 'out') == []


def test_missing_files(folder):
    os.remove(folder / 'in' / FILES[1])
    with pytest.raises(MissingInputFiles) as caught:
        convert(folder)
    assert caught.value.filenames == [FILES[1]]
    with pytest.raises(ConversionError, match='1 or 2; got 3'):
        convert_svhn(3, str(folder), str(folder))


def test_command(folder, capsys, monkeypatch):
    monkeypatch.chdir(folder)
    done = run('convert', 'svhn', '2', '-d', 'in', '-o', 'out', '--compression', 'gzip', cwd=folder)
    assert done.returncode == 0, done.stderr
    with h5py.File(folder / 'out' / 'svhn_format_2.hdf5', 'r') as h5file:
        assert h5file['features'].shape == (69, 3, 32, 32)
        assert sorted(row['name'].decode() for row in h5file['fuel_provenance/inputs']) == sorted(
            FILES)
    shutil.copy(folder / 'in' / FILES[0], folder / 'in' / FILES[1])
    (folder / 'in' / FILES[2]).write_bytes(b'no')
    line = fails('convert', ['svhn', '2', '-d', 'in', '-r', 'new'], capsys)
    assert 'extra_32x32.mat: expected a MATLAB file' in line
    assert sorted(os.listdir(folder)) == ['in', 'out']


def test_subparser():
    parser = argparse.ArgumentParser()
    assert fill_subparser(parser) is convert_svhn
    arguments = vars(parser.parse_args(['1', '--layout', 'ragged']))
    assert arguments == {'which_format': 1, 'layout': 'ragged', 'compression': None,
                         'chunk_examples': None}


def test_peak_memory(tmp_path):
    """The file has 61 MB of pictures."""
    raw.write(tmp_path, 2, 5)
    images = numpy.random.default_rng(0).integers(0, 256, (32, 32, 3, 20000), dtype='uint8')
    scipy.io.savemat(tmp_path / FILES[2], {'X': images, 'y': numpy.ones((20000, 1), 'uint8')})
    code = ('import resource, h5py, numpy\n'
            'from fuel.converters.svhn import convert_svhn_format_2\n'
            'def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024\n'
            'before = peak()\n'
            'convert_svhn_format_2(".", ".")\n'
            'print(peak() - before)\n')
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True,
                          cwd=tmp_path, env=environment())
    assert float(done.stdout) < 30


def test_labels_of_more_pictures_than_there_can_be(folder, monkeypatch):
    monkeypatch.setattr('fuel.converters.svhn.MOST_DIGITS', 22)
    with pytest.raises(ConversionError, match="at most 22 pictures in 'X'; got 23"):
        convert(folder)
