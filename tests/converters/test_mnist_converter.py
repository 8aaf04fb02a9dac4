from __future__ import annotations

import argparse
import gzip
import os
import struct

import numpy
import pytest

from fuel.bin import fuel_convert
from fuel.converters.mnist import (
    convert_mnist,
    fill_subparser,
    read_mnist_images,
    read_mnist_labels,
)
from fuel.exceptions import ConversionError, MissingInputFiles
from tests.converters.reading import axis_labels, by_split, storage
from tests.raw import mnist

TRUE_SIZES = {'train': 60000, 'test': 10000}


@pytest.fixture(scope='module')
def raw(tmp_path_factory):
    folder = tmp_path_factory.mktemp('mnist')
    mnist.write(folder)
    return folder


def convert(folder, target, **kwargs):
    path, = convert_mnist(str(folder), str(target), **kwargs)
    return path


def independent(folder):
    """Read the raw files by struct and numpy."""
    found = {}
    for split, names in mnist.NAMES.items():
        arrays = []
        for name, axes in zip(names, (3, 1), strict=True):
            with gzip.open(os.path.join(folder, name)) as stream:
                content = stream.read()
            magic, *shape = struct.unpack_from(f'>{1 + axes}i', content)
            assert magic == 2048 + axes
            arrays.append(numpy.frombuffer(content, 'uint8', offset=4 + 4 * axes).reshape(shape))
        found[split] = {'features': arrays[0][:, None], 'targets': arrays[1][:, None]}
    return found


def same(found, expected):
    assert found.keys() == expected.keys()
    for split, sources in expected.items():
        assert found[split].keys() == sources.keys()
        for source, values in sources.items():
            assert found[split][source].dtype == values.dtype
            assert numpy.array_equal(found[split][source], values)


def test_pixels_and_labels_are_those_of_the_raw_files(raw, tmp_path):
    path = convert(raw, tmp_path)
    assert path == str(tmp_path / 'mnist.hdf5')
    found = by_split(path)
    assert list(found) == ['train', 'test']
    same(found, independent(raw))
    assert len(found['train']['features']) == 60
    assert found['train']['features'].max() > 200
    assert axis_labels(path) == {'features': ('batch', 'channel', 'height', 'width'),
                                 'targets': ('batch', 'index')}
    assert storage(path, 'features') == ('uint8', (80, 1, 28, 28), None, None)
    assert storage(path, 'targets') == ('uint8', (80, 1), None, None)


def test_true_size_streamed_over_several_blocks(tmp_path, caplog):
    written = mnist.write(tmp_path, **TRUE_SIZES, level=1)
    path = convert(tmp_path, tmp_path)
    assert not caplog.records or all('data set has' not in record.getMessage()
                                     for record in caplog.records)
    same(by_split(path), {split: {'features': images[:, None], 'targets': labels[:, None]}
                          for split, (images, labels) in written.items()})


@pytest.mark.parametrize('dtype', ['float32', 'float64'])
def test_floats_from_0_to_1(raw, tmp_path, dtype):
    path = convert(raw, tmp_path, dtype=dtype)
    assert path == str(tmp_path / f'mnist_{dtype}.hdf5')
    expected = independent(raw)
    for sources in expected.values():
        sources['features'] = sources['features'].astype(dtype) / numpy.dtype(dtype).type(255)
    same(by_split(path), expected)


def test_booleans_from_the_middle_on(raw, tmp_path):
    path = convert(raw, tmp_path, dtype=bool)
    assert path == str(tmp_path / 'mnist_bool.hdf5')
    expected = independent(raw)
    for sources in expected.values():
        sources['features'] = sources['features'] > 127
    same(by_split(path), expected)


@pytest.mark.parametrize('dtype', ['uint8', 'int16', 'float16', 'pixels', object])
def test_other_dtypes_are_refused(raw, tmp_path, dtype):
    with pytest.raises(ConversionError, match='expected one of the dtypes float32, float64, bool'):
        convert(raw, tmp_path, dtype=dtype)
    with pytest.raises(ValueError, match='dtypes'):
        read_mnist_images(str(raw / mnist.NAMES['test'][0]), dtype)
    assert os.listdir(tmp_path) == []


def test_single_files_can_be_read(raw):
    expected = independent(raw)['test']
    images, labels = (str(raw / name) for name in mnist.NAMES['test'])
    assert numpy.array_equal(read_mnist_images(images), expected['features'])
    assert numpy.array_equal(read_mnist_images(images, 'bool'), expected['features'] >= 128)
    assert numpy.array_equal(read_mnist_labels(labels), expected['targets'])
    read_mnist_images(images)[...] = 0      # they are the caller's
    read_mnist_labels(labels)[...] = 0


def test_same_input_gives_the_same_file(raw, tmp_path):
    first, second = (convert(raw, tmp_path, output_filename=name) for name in ('a.h5', 'b.h5'))
    with open(first, 'rb') as a, open(second, 'rb') as b:
        assert a.read() == b.read()


def test_command_with_options(raw, tmp_path):
    fuel_convert.main(['mnist', '--dtype', 'bool', '--compression', 'gzip:9', '--chunk-examples',
                       '16', '-d', str(raw), '-o', str(tmp_path)])
    assert os.listdir(tmp_path) == ['mnist_bool.hdf5']
    path = tmp_path / 'mnist_bool.hdf5'
    assert storage(path, 'features') == ('bool', (80, 1, 28, 28), (16, 1, 28, 28), 'gzip')
    expected = independent(raw)
    for sources in expected.values():
        sources['features'] = sources['features'] >= 128
    same(by_split(path), expected)


def test_numbers_other_than_the_public_ones_are_said(raw, tmp_path, caplog):
    convert(raw, tmp_path)
    messages = [record.getMessage() for record in caplog.records
                if record.levelname == 'WARNING']
    assert [message.partition(': ')[2] for message in messages] == [
        'the data set has 60000 train images; this file has 60',
        'the data set has 10000 test images; this file has 20']


def test_images_of_another_size_and_other_labels_are_converted_with_a_warning(tmp_path, caplog):
    images = numpy.arange(2 * 5 * 7).reshape(2, 5, 7)
    for names in mnist.NAMES.values():
        for name, array in zip(names, (images, numpy.array([3, 26])), strict=True):
            (tmp_path / name).write_bytes(gzip.compress(mnist.idx(array)))
    path = convert(tmp_path, tmp_path)
    assert numpy.array_equal(by_split(path)['test']['features'][:, 0], images)
    assert 'images of 28 x 28 pixels; this file has 5 x 7' in caplog.text
    assert 'this file has label 26, first for image 1' in caplog.text


def test_missing_files(tmp_path):
    mnist.write(tmp_path)
    os.remove(tmp_path / mnist.NAMES['train'][1])
    with pytest.raises(MissingInputFiles) as caught:
        convert(tmp_path, tmp_path)
    assert caught.value.filenames == ['train-labels-idx1-ubyte.gz']


def test_subparser(capsys):
    parser = argparse.ArgumentParser()
    assert fill_subparser(parser) is convert_mnist
    arguments = vars(parser.parse_args([]))
    assert arguments['dtype'] is None
    assert parser.parse_args(['--dtype', 'float32']).dtype == 'float32'
    with pytest.raises(SystemExit):
        parser.parse_args(['--dtype', 'int8'])
    assert "'float32'" in capsys.readouterr().err
