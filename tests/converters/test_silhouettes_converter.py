from __future__ import annotations

import argparse
import os
import re

import numpy
import pytest
import scipy.io

from fuel.bin import fuel_convert
from fuel.converters.caltech101_silhouettes import convert_silhouettes, fill_subparser
from fuel.exceptions import ConversionError, MissingInputFiles
from tests.converters.reading import axis_labels, by_split, storage
from tests.raw import caltech101_silhouettes as silhouettes

SIZES = [16, 28]
RAW = 'caltech101_silhouettes_{}_split1.mat'


@pytest.fixture
def folder(tmp_path):
    for size in SIZES:
        silhouettes.write(tmp_path, size)
    return tmp_path


def convert(folder, size=28, **kwargs):
    path, = convert_silhouettes(size, str(folder), str(folder), **kwargs)
    return path


def independent(folder, size):
    """Read the raw file by scipy."""
    variables = scipy.io.loadmat(folder / RAW.format(size))
    return {split: {'features': variables[f'{prefix}_data'].reshape(-1, 1, size, size),
                    'targets': variables[f'{prefix}_labels']}
            for split, prefix in silhouettes.PREFIXES.items()}


def same(found, expected):
    assert list(found) == list(expected)
    for split, sources in expected.items():
        for source, values in sources.items():
            assert found[split][source].dtype == values.dtype
            assert numpy.array_equal(found[split][source], values)


@pytest.mark.parametrize('compressed', [True, False])
@pytest.mark.parametrize('size', SIZES)
def test_silhouettes_and_labels_are_those_of_the_raw_file(tmp_path, size, compressed):
    written = silhouettes.write(tmp_path, size, compressed=compressed)
    path = convert(tmp_path, size)
    assert path == str(tmp_path / f'caltech101_silhouettes{size}.hdf5')
    same(by_split(path), independent(tmp_path, size))
    assert axis_labels(path) == {'features': ('batch', 'channel', 'height', 'width'),
                                 'targets': ('batch', 'index')}
    assert storage(path, 'features') == ('uint8', (80, 1, size, size), None, None)
    assert storage(path, 'targets') == ('uint8', (80, 1), None, None)
    # In the order of the raw file: the first row has the first pixels of it.
    assert numpy.array_equal(by_split(path)['valid']['features'][3, 0, 0],
                             written['val_data'][3, :size])


@pytest.mark.parametrize('dtypes', [('float64', 'float64'), ('bool', 'int16'), ('int8', 'uint8')])
def test_dtypes_of_the_raw_file_are_kept(folder, dtypes):
    variables = silhouettes.write(folder)
    for name, value in variables.items():
        variables[name] = value.astype(dtypes[name.endswith('labels')])
    silhouettes.save(folder / RAW.format(28), variables)
    path = convert(folder)
    expected = independent(folder, 28)
    same(by_split(path), expected)
    assert by_split(path)['test']['targets'].dtype == dtypes[1]


def test_labels_in_a_row(folder):
    variables = silhouettes.write(folder)
    silhouettes.save(folder / RAW.format(28), {
        name: value.T if name.endswith('labels') else value for name, value in variables.items()})
    found = by_split(convert(folder))
    assert numpy.array_equal(found['train']['targets'], variables['train_labels'])


def test_same_input_gives_the_same_file(folder):
    first, second = (convert(folder, output_filename=name) for name in ('a.h5', 'b.h5'))
    with open(first, 'rb') as a, open(second, 'rb') as b:
        assert a.read() == b.read()


@pytest.mark.parametrize('size', [0, 27, '28', None])
def test_other_sizes_are_refused(folder, size):
    with pytest.raises(ValueError, match=f'expected a size of 16 or 28; got {size!r}'):
        convert(folder, size)


@pytest.mark.parametrize('size', SIZES)
def test_missing_file(tmp_path, size):
    with pytest.raises(MissingInputFiles) as caught:
        convert(tmp_path, size)
    assert caught.value.filenames == [RAW.format(size)]
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(('changes', 'message'), [
    ({'val_data': None}, "expected a variable 'val_data'; the file has 'test_data', "),
    ({'test_labels': None}, "expected a variable 'test_labels'"),
    ({'val_data': numpy.zeros((20, 256))}, r'a row of 784 pixels .* its shape is \(20, 256\)'),
    ({'val_data': numpy.zeros((0, 784))}, r'its shape is \(0, 784\)'),
    ({'val_data': numpy.zeros((20, 28, 28))}, r'its shape is \(20, 28, 28\)'),
    ({'val_labels': numpy.zeros((19, 1))}, r'a label for each of the 20 rows of val_data; its '
                                           r'shape is \(19, 1\)'),
    ({'val_labels': numpy.zeros((20, 2))}, r'its shape is \(20, 2\)'),
    ({'val_labels': 'text'}, "'val_labels' to be an array of numbers; got a ndarray of dtype <U4"),
    ({'val_data': {'a': 1}}, "'val_data' to be an array of numbers"),
    ({'val_data': numpy.zeros((20, 784))},
     'variables of one type; got uint8 for train_data, float64 for val_data'),
    ({'test_labels': numpy.zeros((20, 1))}, 'float64 for test_labels')])
def test_variables_that_do_not_fit(folder, changes, message):
    variables = {**silhouettes.write(folder), **changes}
    path = folder / RAW.format(28)
    silhouettes.save(path, {name: value for name, value in variables.items()
                            if value is not None})
    before = sorted(os.listdir(folder))
    with pytest.raises(ConversionError, match=f'^{re.escape(str(path))}: .*{message}'):
        convert(folder)
    assert sorted(os.listdir(folder)) == before


def test_labels_that_are_no_numbers(folder):
    variables = {name: value.astype('float64') if name.endswith('labels') else value
                 for name, value in silhouettes.write(folder).items()}
    variables['test_labels'][3, 0] = numpy.nan
    silhouettes.save(folder / RAW.format(28), variables)
    with pytest.raises(ConversionError, match='test_labels to have numbers; the one of silhouette '
                                              '3 is nan'):
        convert(folder)


@pytest.mark.parametrize('label', [0, 102, 2.5])
def test_labels_that_the_public_file_has_not_are_said(folder, label, caplog):
    variables = {name: value.astype('float64') if name.endswith('labels') else value
                 for name, value in silhouettes.write(folder).items()}
    variables['val_labels'][5, 0] = label
    silhouettes.save(folder / RAW.format(28), variables)
    assert by_split(convert(folder))['valid']['targets'][5] == label
    assert (f'the data set has labels from 1 to 101; val_labels has label {float(label)}, first '
            'for silhouette 5') in caplog.text


def test_file_of_the_other_size(folder):
    os.replace(folder / RAW.format(16), folder / RAW.format(28))
    with pytest.raises(ConversionError, match=r'a row of 784 pixels .* \(40, 256\)'):
        convert(folder)


@pytest.mark.parametrize('content', [b'', b'<html>', b'MATLAB 5.0 MAT-file'])
def test_something_else(folder, content):
    path = folder / RAW.format(28)
    path.write_bytes(content)
    before = sorted(os.listdir(folder))
    with pytest.raises(ConversionError, match=re.escape(str(path))):
        convert(folder)
    assert sorted(os.listdir(folder)) == before


@pytest.mark.parametrize('share', [.1, .5, .99])
@pytest.mark.parametrize('compressed', [True, False])
def test_cut_off(tmp_path, share, compressed):
    silhouettes.write(tmp_path, compressed=compressed)
    path = tmp_path / RAW.format(28)
    content = path.read_bytes()
    path.write_bytes(content[:int(len(content) * share)])
    with pytest.raises(ConversionError, match=re.escape(str(path))):
        convert(tmp_path)
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize(('size', 'known'), [(16, (4082, 2257, 2302)), (28, (4100, 2264, 2307))])
def test_numbers_other_than_the_public_ones_are_said(folder, size, known, caplog):
    convert(folder, size)
    messages = [record.getMessage() for record in caplog.records
                if record.levelname == 'WARNING']
    assert [f'the data set has {count} silhouettes' in message
            for count, message in zip(known, messages, strict=True)] == [True] * 3


def test_command_with_options(folder, tmp_path):
    fuel_convert.main(['caltech101_silhouettes', '16', '--compression', 'gzip', '-d', str(folder),
                       '-o', str(tmp_path)])
    path = tmp_path / 'caltech101_silhouettes16.hdf5'
    assert storage(path, 'features')[2:] == ((80, 1, 16, 16), 'gzip')
    same(by_split(path), independent(folder, 16))


def test_subparser(capsys):
    parser = argparse.ArgumentParser()
    assert fill_subparser(parser) is convert_silhouettes
    assert parser.parse_args(['16']).size == 16
    for arguments in ([], ['20']):
        with pytest.raises(SystemExit):
            parser.parse_args(arguments)
    assert '16, 28' in capsys.readouterr().err


def test_one_wrong_byte(folder):
    """A type of values that there is not ended the process."""
    path = folder / RAW.format(28)
    silhouettes.write(folder, compressed=False)
    content = bytearray(path.read_bytes())
    place = content.index(b'\2\0\0\0' + (40 * 784).to_bytes(4, 'little'))
    content[place] = 0
    path.write_bytes(content)
    with pytest.raises(ConversionError, match=f"{re.escape(str(path))}, at byte .* 'train_data'"):
        convert(folder)


def test_other_variables_may_be_of_any_kind(folder):
    variables = {**silhouettes.write(folder), 'classnames': numpy.array([['a', 'b']], object),
                 'waves': numpy.eye(2) * 1j}
    expected = independent(folder, 28)
    silhouettes.save(folder / RAW.format(28), variables)
    same(by_split(convert(folder)), expected)
