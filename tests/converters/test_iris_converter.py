from __future__ import annotations

import argparse
import os
from importlib import resources

import h5py
import numpy
import pytest

from fuel import config
from fuel.converters.iris import convert_iris, fill_subparser
from fuel.exceptions import ConversionError, MissingInputFiles

BUNDLED = resources.files('fuel.downloaders') / 'bundled' / 'iris.data'
LINES = BUNDLED.read_text().splitlines()


@pytest.fixture
def raw(tmp_path):
    (tmp_path / 'iris.data').write_bytes(BUNDLED.read_bytes())
    return tmp_path


def convert(folder, **kwargs):
    path, = convert_iris(str(folder), str(folder), **kwargs)
    return path


def independent():
    """Read the raw file by numpy."""
    names = {'Iris-setosa': 0, 'Iris-versicolor': 1, 'Iris-virginica': 2}
    table = numpy.loadtxt(LINES, delimiter=',', converters={4: lambda name: names[name]})
    return table[:, :4].astype('float32'), table[:, 4:].astype('uint8')


def indices(h5file, split):
    """Return the rows of a split, as each of its sources has them."""
    return {row['source'].decode(): h5file[row['indices']][...]
            for row in h5file.attrs['split']
            if row['split'].decode() == split and row['available']}


def test_all_examples_in_the_order_of_the_raw_file(raw):
    features, targets = independent()
    with h5py.File(convert(raw), 'r') as h5file:
        assert numpy.array_equal(h5file['features'][...], features)
        assert numpy.array_equal(h5file['targets'][...], targets)
        assert h5file['features'].dtype == 'float32'
        assert h5file['features'].shape == (150, 4)
        assert h5file['targets'].dtype == 'uint8'
        assert h5file['targets'].shape == (150, 1)
        for source in ('features', 'targets'):
            assert h5file[source].chunks is None
            assert h5file[source].compression is None
        assert [axis.label for axis in h5file['features'].dims] == ['batch', 'feature']
        assert [axis.label for axis in h5file['targets'].dims] == ['batch', 'index']
        rows = {(row['split'].decode(), row['source'].decode()): row
                for row in h5file.attrs['split']}
        for source in ('features', 'targets'):
            row = rows['all', source]
            assert (row['start'], row['stop'], bool(row['indices'])) == (0, 150, False)
        assert not rows['test', 'targets']['available']


def test_names_of_columns_and_species_are_kept(raw):
    with h5py.File(convert(raw), 'r') as h5file:
        assert h5file['features'].attrs['feature_names'].tolist() == [
            'sepal length', 'sepal width', 'petal length', 'petal width']
        names = h5file['targets'].attrs['target_names'].tolist()
        targets = h5file['targets'][:, 0]
    assert names == ['setosa', 'versicolor', 'virginica']
    assert [f'Iris-{names[target]}' for target in targets] == [
        line.rsplit(',', 1)[1] for line in LINES if line.strip()]


@pytest.mark.parametrize('seed', [1, 7])
def test_random_splits_follow_the_default_seed(raw, seed):
    config.default_seed = seed
    order = numpy.random.RandomState(seed).permutation(150)
    with h5py.File(convert(raw), 'r') as h5file:
        train, valid, test = (indices(h5file, split) for split in ('train', 'valid', 'test'))
    assert set(train) == set(valid) == {'features', 'targets'}
    assert set(test) == {'features'}
    for found, expected in ((train, order[:100]), (valid, order[100:120]), (test, order[120:])):
        for rows in found.values():
            assert sorted(rows.tolist()) == sorted(expected.tolist())
    assert numpy.array_equal(train['features'], train['targets'])
    assert numpy.array_equal(valid['features'], valid['targets'])


def test_same_input_gives_the_same_file(raw):
    first = convert(raw, output_filename='a.hdf5')
    second = convert(raw, output_filename='b.hdf5')
    with open(first, 'rb') as a, open(second, 'rb') as b:
        assert a.read() == b.read()


def test_file_name_and_what_is_left(raw, tmp_path):
    (tmp_path / 'out').mkdir()
    assert convert_iris(str(raw), str(tmp_path / 'out'), 'flowers.hdf5') == (
        str(tmp_path / 'out' / 'flowers.hdf5'),)
    assert os.listdir(tmp_path / 'out') == ['flowers.hdf5']


def test_windows_line_ends_and_blank_lines(raw):
    (raw / 'iris.data').write_bytes(BUNDLED.read_bytes().replace(b'\n', b'\r\n\r\n'))
    with h5py.File(convert(raw), 'r') as h5file:
        assert numpy.array_equal(h5file['features'][...], independent()[0])


@pytest.mark.parametrize('line', [
    '5.1,3.5,1.4,Iris-setosa', '5.1,3.5,1.4,0.2,0.2,Iris-setosa', '5.1,3.5,x,0.2,Iris-setosa',
    '5.1,3.5,nan,0.2,Iris-setosa', '5.1,3.5,1.4,0.2,Iris-germanica', '5.1;3.5;1.4;0.2;Iris-setosa',
    '5.1,3.5,1.4,1e39,Iris-setosa', '-1e300,3.5,1.4,0.2,Iris-setosa', '<html>', '5.1,3.5,1.4,0.2,',
    '\0', '\u00e9\u00e8'])
def test_malformed_line_is_named_and_leaves_no_file(raw, line):
    (raw / 'iris.data').write_text('\n'.join([*LINES[:6], line, *LINES[7:]]), encoding='latin-1')
    with pytest.raises(ConversionError, match=r'iris\.data, line 7: expected four numbers'):
        convert(raw)
    assert os.listdir(raw) == ['iris.data']


def test_a_byte_order_mark(raw):
    (raw / 'iris.data').write_bytes(b'\xef\xbb\xbf' + BUNDLED.read_bytes())
    with h5py.File(convert(raw), 'r') as h5file:
        assert numpy.array_equal(h5file['features'][...], independent()[0])


def test_truncated_in_the_middle_of_a_line(raw):
    (raw / 'iris.data').write_bytes(BUNDLED.read_bytes()[:2000])
    with pytest.raises(ConversionError, match='line 69'):
        convert(raw)


@pytest.mark.parametrize('content', ['', '\n\n'])
def test_empty_file(raw, content):
    (raw / 'iris.data').write_text(content)
    with pytest.raises(ConversionError, match='empty'):
        convert(raw)


def test_missing_file(tmp_path):
    with pytest.raises(MissingInputFiles) as caught:
        convert(tmp_path)
    assert caught.value.filenames == ['iris.data']
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(('count', 'sizes'), [(15, {'train': 10, 'valid': 2, 'test': 3}),
                                              (300, {'train': 200, 'valid': 40, 'test': 60}),
                                              (2, {'train': 1, 'test': 1})])
def test_other_numbers_of_examples_are_converted_with_a_warning(raw, caplog, count, sizes):
    (raw / 'iris.data').write_text('\n'.join((LINES[:150] * 2)[:count]))
    with h5py.File(convert(raw), 'r') as h5file:
        assert h5file['features'].shape == (count, 4)
        splits = dict.fromkeys(row['split'].decode() for row in h5file.attrs['split'])
        assert list(splits) == ['all', *sizes]
        found = {split: len(indices(h5file, split)['features']) for split in sizes}
    assert found == sizes
    record, = caplog.records
    assert record.levelname == 'WARNING'
    assert f'150 examples; this file has {count}' in record.getMessage()


def test_storage_options_and_the_splits_beside_them(raw):
    features, targets = independent()
    with h5py.File(convert(raw, compression='gzip', chunk_examples=25), 'r') as h5file:
        for source, values in (('features', features), ('targets', targets)):
            assert h5file[source].compression == 'gzip'
            assert h5file[source].chunks == (25, *values.shape[1:])
            assert numpy.array_equal(h5file[source][...], values)
        assert len(indices(h5file, 'valid')['targets']) == 20


def test_subparser():
    parser = argparse.ArgumentParser()
    assert fill_subparser(parser) is convert_iris
    assert vars(parser.parse_args([])) == {'compression': None, 'chunk_examples': None}
