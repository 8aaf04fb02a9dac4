"""CIFAR-10 and CIFAR-100, against an independent reading of their archives."""
from __future__ import annotations

import argparse
import hashlib
import os
import pickle
import subprocess
import sys
import tarfile

import h5py
import numpy
import pytest

from fuel.converters import cifar10, cifar100
from fuel.converters.cifar10 import convert_cifar10
from fuel.converters.cifar100 import convert_cifar100
from tests.bin.commands import environment, run
from tests.converters.reading import axis_labels, by_split, storage
from tests.raw import cifar10 as raw10
from tests.raw import cifar100 as raw100
from tests.raw.python2 import pickled, write_archive

BATCHES = [*(f'data_batch_{number}' for number in range(1, 6)), 'test_batch']
LABELS = {'features': ('batch', 'channel', 'height', 'width')}


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp('cifar')
    raw10.write(folder, 20, 30)
    raw100.write(folder, 120, 40)
    return folder


def batches(path):
    """Read the pickles by the pickle module, as the page of the data sets says."""
    with tarfile.open(path) as archive:
        return {member.name.rpartition('/')[2]:
                pickle.loads(archive.extractfile(member).read(), encoding='bytes')
                for member in archive if member.isfile() and not member.name.endswith(
                    ('.html', '~', 'meta'))}


def test_cifar10(folder, tmp_path):
    path, = convert_cifar10(str(folder), str(tmp_path))
    assert path == str(tmp_path / 'cifar10.hdf5')
    assert os.listdir(tmp_path) == ['cifar10.hdf5']
    raw = batches(folder / 'cifar-10-python.tar.gz')
    found = by_split(path)
    assert list(found) == ['train', 'test']
    for split, names in (('train', BATCHES[:5]), ('test', BATCHES[5:])):
        pixels = numpy.concatenate([raw[name][b'data'] for name in names])
        labels = [label for name in names for label in raw[name][b'labels']]
        assert numpy.array_equal(found[split]['features'], pixels.reshape(-1, 3, 32, 32))
        assert found[split]['targets'].tolist() == [[label] for label in labels]
    assert storage(path, 'features') == ('uint8', (130, 3, 32, 32), None, None)
    assert storage(path, 'targets') == ('uint8', (130, 1), None, None)
    assert axis_labels(path) == {**LABELS, 'targets': ('batch', 'index')}


def test_pixels_are_where_the_page_of_the_data_set_says(folder, tmp_path):
    """1024 red values, then green, then blue; the first 32 are the uppermost row."""
    path, = convert_cifar10(str(folder), str(tmp_path))
    row = batches(folder / 'cifar-10-python.tar.gz')['test_batch'][b'data'][7]
    image = by_split(path)['test']['features'][7]
    assert image[0, 0].tolist() == row[:32].tolist()
    assert image[1, 2, 3] == row[1024 + 2 * 32 + 3]
    assert image[2, 31, 31] == row[3071]


def test_cifar100(folder, tmp_path):
    path, = convert_cifar100(str(folder), str(tmp_path), 'things.hdf5')
    assert path == str(tmp_path / 'things.hdf5')
    raw = batches(folder / 'cifar-100-python.tar.gz')
    found = by_split(path)
    assert list(found) == ['train', 'test']
    for split, sources in found.items():
        assert numpy.array_equal(sources['features'],
                                 raw[split][b'data'].reshape(-1, 3, 32, 32))
        for source in ('coarse_labels', 'fine_labels'):
            assert sources[source].tolist() == [[label] for label in raw[split][source.encode()]]
            assert storage(path, source) == ('uint8', (160, 1), None, None)
    assert storage(path, 'features') == ('uint8', (160, 3, 32, 32), None, None)
    assert axis_labels(path) == {**LABELS, 'coarse_labels': ('batch', 'index'),
                                 'fine_labels': ('batch', 'index')}


def test_names_of_classes(folder, tmp_path):
    for convert, names in ((convert_cifar10, {'targets': raw10.CLASSES}),
                           (convert_cifar100, {'coarse_labels': raw100.GROUPS,
                                               'fine_labels': raw100.CLASSES})):
        path, = convert(str(folder), str(tmp_path))
        with h5py.File(path, 'r') as h5file:
            for source, of_classes in names.items():
                assert h5file[source].attrs['target_names'].tolist() == of_classes


def test_archives_without_names(tmp_path):
    made = raw10.data(12, 7)
    write_archive(tmp_path / raw10.ARCHIVE, [
        (f'{raw10.FOLDER}/{BATCHES[number]}', pickled(raw10.batch(number, *content)))
        for number, content in enumerate(made)])
    path, = convert_cifar10(str(tmp_path), str(tmp_path))
    with h5py.File(path, 'r') as h5file:
        assert 'target_names' not in h5file['targets'].attrs


def test_order_does_not_depend_on_that_of_the_archive(tmp_path):
    made = raw10.data(12, 7)
    pickles = [pickled(raw10.batch(number, *content)) for number, content in enumerate(made)]
    contents = []
    for order in ([0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0], [2, 5, 0, 4, 1, 3]):
        write_archive(tmp_path / raw10.ARCHIVE, [
            (f'{raw10.FOLDER}/{BATCHES[number]}', pickles[number]) for number in order])
        path, = convert_cifar10(str(tmp_path), str(tmp_path))
        with open(path, 'rb') as stream:
            contents.append(stream.read())
    assert contents[0] == contents[1] == contents[2]


@pytest.mark.parametrize('protocol', [2, 3, 4, 5])
def test_archives_made_again_with_python_3(tmp_path, protocol):
    made = raw100.data(30, 10)
    write_archive(tmp_path / raw100.ARCHIVE, [
        (f'{raw100.FOLDER}/{split}', pickle.dumps(raw100.batch(split, *content), protocol))
        for split, content in made.items()])
    path, = convert_cifar100(str(tmp_path), str(tmp_path))
    for split, (images, fine) in made.items():
        found = by_split(path)[split]
        assert numpy.array_equal(found['features'], images)
        assert numpy.array_equal(found['fine_labels'][:, 0], fine)
        assert numpy.array_equal(found['coarse_labels'][:, 0], fine // 5)


def test_large_batches_wait_in_a_file_of_which_nothing_is_left(tmp_path):
    made = raw10.write(tmp_path, 500, 400, level=1)             # 1.5 MB each
    (tmp_path / 'out').mkdir()
    path, = convert_cifar10(str(tmp_path), str(tmp_path / 'out'))
    assert os.listdir(tmp_path / 'out') == ['cifar10.hdf5']
    found = by_split(path)
    assert numpy.array_equal(found['train']['features'],
                             numpy.concatenate([images for images, _ in made[:5]]))
    assert numpy.array_equal(found['test']['features'], made[5][0])


def test_peak_memory(tmp_path):
    """Less than half of the data, which have 61 MB, are ever in memory."""
    raw100.write(tmp_path, 20000, 10, level=1)
    code = ('import resource, h5py, numpy\n'
            'from fuel.converters.cifar100 import convert_cifar100\n'
            'def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024\n'
            'before = peak()\n'
            'convert_cifar100(".", ".")\n'
            'print(peak() - before)\n')
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True,
                          cwd=tmp_path, env=environment())
    assert float(done.stdout) < 30


def test_storage_options(folder, tmp_path):
    plain, = convert_cifar10(str(folder), str(tmp_path))
    packed, = convert_cifar10(str(folder), str(tmp_path), 'packed.hdf5', compression=('gzip', 1),
                              chunk_examples=9)
    assert storage(packed, 'features')[2:] == ((9, 3, 32, 32), 'gzip')
    assert storage(packed, 'targets')[2:] == ((9, 1), 'gzip')
    assert os.path.getsize(packed) < os.path.getsize(plain)
    expected = by_split(plain)
    for split, sources in by_split(packed).items():
        for source, values in sources.items():
            assert numpy.array_equal(values, expected[split][source])


def test_sizes_other_than_the_public_ones_are_told(folder, tmp_path, caplog):
    convert_cifar10(str(folder), str(tmp_path))
    messages = [record.getMessage() for record in caplog.records if record.levelname == 'WARNING']
    assert messages == [
        f'{folder}/cifar-10-python.tar.gz: the data set has 50000 train examples; this file has '
        '100',
        f'{folder}/cifar-10-python.tar.gz: the data set has 10000 test examples; this file has 30']


@pytest.mark.parametrize('module', [cifar10, cifar100])
def test_subparsers(module):
    parser = argparse.ArgumentParser()
    convert = module.fill_subparser(parser)
    assert convert.__name__ == f'convert_{module.__name__.rpartition(".")[2]}'
    arguments = vars(parser.parse_args(['--compression', 'gzip', '--chunk-examples', '5']))
    assert arguments == {'compression': 'gzip', 'chunk_examples': 5}


def test_commands(folder, tmp_path):
    for data_set, archive in (('cifar10', raw10.ARCHIVE), ('cifar100', raw100.ARCHIVE)):
        done = run('convert', data_set, '-d', str(folder), cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        with h5py.File(tmp_path / f'{data_set}.hdf5', 'r') as h5file:
            assert h5file.attrs['fuel_convert_command'].split()[:2] == ['fuel-convert', data_set]
            name, size, digest = h5file['fuel_provenance/inputs'][0]
        content = (folder / archive).read_bytes()
        assert (name, size) == (archive.encode(), len(content))
        assert digest == hashlib.sha256(content).hexdigest().encode()
        done = run('convert', data_set, '-d', str(folder), cwd=tmp_path)
        assert done.returncode == 2
        assert '--force' in done.stderr
