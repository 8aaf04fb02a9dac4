from __future__ import annotations

import argparse
import os
import re

import numpy
import pytest

from fuel.bin import fuel_convert
from fuel.converters import binarized_mnist as converter
from fuel.converters.binarized_mnist import convert_binarized_mnist, fill_subparser
from fuel.exceptions import ConversionError, MissingInputFiles
from tests.converters.reading import axis_labels, by_split, storage
from tests.raw import binarized_mnist

TRAIN = 'binarized_mnist_train.amat'


@pytest.fixture
def folder(tmp_path):
    binarized_mnist.write(tmp_path)
    return tmp_path


def convert(folder, **kwargs):
    path, = convert_binarized_mnist(str(folder), str(folder), **kwargs)
    return path


def independent(folder):
    """Read the raw files by numpy's reader of tables."""
    return {split: numpy.loadtxt(folder / f'binarized_mnist_{split}.amat', ndmin=2)
            .reshape(-1, 1, 28, 28).astype('uint8') for split in ('train', 'valid', 'test')}


def test_pixels_are_those_of_the_raw_files(folder):
    path = convert(folder)
    assert path == str(folder / 'binarized_mnist.hdf5')
    found, expected = by_split(path), independent(folder)
    assert list(found) == list(expected)
    for split, images in expected.items():
        assert list(found[split]) == ['features']
        assert found[split]['features'].dtype == 'uint8'
        assert numpy.array_equal(found[split]['features'], images)
    assert expected['train'].mean() > .05
    assert axis_labels(path) == {'features': ('batch', 'channel', 'height', 'width')}
    assert storage(path, 'features') == ('uint8', (70, 1, 28, 28), None, None)


def test_same_input_gives_the_same_file(folder):
    first, second = (convert(folder, output_filename=name) for name in ('a.h5', 'b.h5'))
    with open(first, 'rb') as a, open(second, 'rb') as b:
        assert a.read() == b.read()


def test_more_images_than_are_read_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr(converter, '_ROWS', 64)
    written = binarized_mnist.write(tmp_path, train=64 * 3 + 1, valid=64, test=1)
    found = by_split(convert(tmp_path))
    for split, images in written.items():
        assert numpy.array_equal(found[split]['features'][:, 0], images)


@pytest.mark.parametrize('change', [
    lambda lines: lines.replace(b'\n', b'\r\n'),
    lambda lines: lines.replace(b'\n', b' \n'),
    lambda lines: lines.replace(b' ', b'  '),
    lambda lines: lines.replace(b' ', b'\t'),
    lambda lines: lines.replace(b'\n', b'\n\n'),
    lambda lines: b'\n \n' + lines.rstrip(b'\n'),
    lambda lines: lines.rstrip(b'\n') + b'\n\n\n',
    lambda lines: lines.replace(b'1', b'1.0'),
    lambda lines: re.sub(rb'[01]', rb'\g<0>.000000000000000000e+00', lines),
], ids=['windows', 'space at the end', 'wide', 'tabs', 'empty lines', 'no end', 'several ends',
        'points', 'as numpy writes'])
def test_other_ways_to_write_the_same(folder, change):
    expected = independent(folder)
    path = folder / TRAIN
    path.write_bytes(change(path.read_bytes()))
    found = by_split(convert(folder))
    for split, images in expected.items():
        assert numpy.array_equal(found[split]['features'], images)


@pytest.mark.parametrize(('line', 'message'), [
    ('0 1', 'expected 784 pixels, divided by spaces; got 2'),
    (' '.join(['0'] * 785), 'got 785'), (' '.join(['0'] * 783), 'got 783'),
    ('0' * 1567, 'got 1'), (','.join(['0'] * 784), 'got 1'), ('<html>', 'got 1'),
    (' '.join(['0'] * 700 + ['2'] + ['0'] * 83), "0 or 1; pixel 700 is '2'"),
    (' '.join(['0'] * 783 + ['/']), "pixel 783 is '/'"),
    (' '.join(['0'] * 783 + ['nan']), "pixel 783 is 'nan'"),
    (' '.join(['.5'] + ['0'] * 783), "pixel 0 is '.5'"),
    (' '.join(['-1'] * 784), "pixel 0 is '-1'"),
    (' '.join(['\x00'] * 784), r"pixel 0 is '\\x00'"),
    (' '.join(['\u00e9'] * 784), "pixel 0 is '\u00e9'"),
    ('0 ' * 40000, 'got a line of more than 50175 characters')])
def test_malformed_line_is_named_and_leaves_no_file(folder, line, message):
    path = folder / TRAIN
    lines = path.read_bytes().split(b'\n')
    path.write_bytes(b'\n'.join([*lines[:6], line.encode('latin-1'), *lines[7:]]))
    before = sorted(os.listdir(folder))
    with pytest.raises(ConversionError, match=f'^{re.escape(str(path))}, line 7: .*{message}'):
        convert(folder)
    assert sorted(os.listdir(folder)) == before


def test_truncated_in_the_middle_of_a_line(folder):
    path = folder / 'binarized_mnist_valid.amat'
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(ConversionError, match=r'valid\.amat, line 4: expected 784 .* got 148'):
        convert(folder)


@pytest.mark.parametrize('content', [b'', b'\n \n'])
def test_empty_file(folder, content):
    (folder / TRAIN).write_bytes(content)
    with pytest.raises(ConversionError, match=r'train\.amat: .* the file is empty'):
        convert(folder)


def test_missing_files(folder):
    os.remove(folder / TRAIN)
    with pytest.raises(MissingInputFiles) as caught:
        convert(folder)
    assert caught.value.filenames == [TRAIN]


def test_numbers_other_than_the_public_ones_are_said(folder, caplog):
    convert(folder)
    assert [record.getMessage().partition(': ')[2] for record in caplog.records
            if record.levelname == 'WARNING'] == [
        f"the data set has {known} images for split '{split}'; this file has {count}"
        for split, known, count in (('train', 50000, 50), ('valid', 10000, 10),
                                    ('test', 10000, 10))]


def test_command_with_options(folder, tmp_path):
    fuel_convert.main(['binarized_mnist', '--compression', 'lzf', '--chunk-examples', '7', '-d',
                       str(folder), '-o', str(tmp_path), '-r', 'digits.h5'])
    path = tmp_path / 'digits.h5'
    assert storage(path, 'features') == ('uint8', (70, 1, 28, 28), (7, 1, 28, 28), 'lzf')
    assert numpy.array_equal(by_split(path)['test']['features'], independent(folder)['test'])


def test_subparser():
    assert fill_subparser(argparse.ArgumentParser()) is convert_binarized_mnist
