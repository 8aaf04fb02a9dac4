from __future__ import annotations

import json

import h5py
import numpy
import pytest

from fuel.bin.fuel_info import main
from fuel.converters.base import fill_hdf5_file
from fuel.datasets.hdf5 import H5PYDataset
from tests.bin import info_files
from tests.bin.commands import fails


def compare(capsys, first, second, code, *options):
    if code:
        with pytest.raises(SystemExit) as caught:
            main(['--compare', str(first), str(second), *options])
        assert caught.value.code == code
    else:
        assert main(['--compare', str(first), str(second), *options]) is None
    return capsys.readouterr().out


def pair(tmp_path, *, checksums=(True, True), change=lambda features, targets: None, **options):
    """Write two files, of which the second can have been made otherwise."""
    features, targets = info_files.arrays()
    first = info_files.write(tmp_path / 'first.hdf5', features, targets, checksums=checksums[0])
    change(features, targets)
    return first, info_files.write(tmp_path / 'second.hdf5', features, targets,
                                   checksums=checksums[1], **options)


BOTH = pytest.mark.parametrize('checksums', [(True, True), (True, False), (False, False)])


@BOTH
def test_same_data(tmp_path, capsys, checksums):
    first, second = pair(tmp_path, checksums=checksums)
    same = 'The data are the same, as their checksums tell; with --verify, all of them are read.'
    assert compare(capsys, first, second, 0) == (
        f'first:  {first}\nsecond: {second}\n\n'
        f'{same if all(checksums) else "The data are the same."}\n')
    assert compare(capsys, first, second, 0, '--verify') == (
        f'first:  {first}\nsecond: {second}\n\nThe data are the same.\n')


@BOTH
def test_other_layout_is_told_and_does_not_count(tmp_path, capsys, checksums):
    first, second = pair(tmp_path, checksums=checksums, compression='gzip', chunk_examples=7)
    out = compare(capsys, first, second, 0)
    assert '    Stored in another way\n' in out
    assert ('        features: layout contiguous in the first file, chunked in the second\n'
            '        features: chunks missing in the first file, 7 x 3 x 12 x 10 in the second\n'
            '        features: filters none in the first file, deflate in the second\n') in out
    assert out.splitlines()[-1].startswith('The data are the same')


@BOTH
def test_rows_that_differ(tmp_path, capsys, checksums):
    def change(features, targets):
        features[17, 1, 2, 3] = 9 if features[17, 1, 2, 3] != 9 else 8
        features[59] ^= 255
    first, second = pair(tmp_path, checksums=checksums, change=change)
    values = [int(h5py.File(path)['features'][17, 1, 2, 3]) for path in (first, second)]
    out = compare(capsys, first, second, 1)
    assert ('        features: 2 of 60 rows differ: 17, 59; row 17 has '
            f'{values[0]} at [1, 2, 3] in the first file, {values[1]} in the second\n') in out
    assert 'targets' not in out
    assert out.endswith('The data differ.\n')


def test_only_blocks_with_other_checksums_are_read(tmp_path, capsys, monkeypatch):
    """Checksums are believed; whether a file still fits its own is told by --verify."""
    first, second = pair(tmp_path)
    with h5py.File(first) as h5file:
        stops = h5file['fuel_provenance/checksums/features_stops'][...].tolist()
    assert len(stops) > 1
    with h5py.File(second, 'a') as h5file:
        h5file['features'][0] += 1
        h5file['features'][stops[0]] += 1
        h5file['fuel_provenance/checksums/features_sha256'][1] = 0
    out = compare(capsys, first, second, 1)
    assert f'features: 1 of 60 rows differ: {stops[0]};' in out
    out = compare(capsys, first, second, 1, '--verify')
    assert f'features: 2 of 60 rows differ: 0, {stops[0]};' in out


def test_more_rows_than_are_told(tmp_path, capsys):
    def change(features, targets):
        targets[::2] += 1
    out = compare(capsys, *pair(tmp_path, change=change), 1)
    assert ('targets: 30 of 60 rows differ: 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, ...; row 0 has 0 '
            'at [0] in the first file, 1 in the second') in out


@pytest.mark.parametrize('layouts', [('vlen', 'vlen'), ('vlen', 'ragged'), ('ragged', 'ragged')])
@BOTH
def test_examples_with_shapes_of_their_own(tmp_path, capsys, layouts, checksums):
    examples = info_files.own_shapes()
    first = info_files.write_variable(tmp_path / 'a', examples, layouts[0], checksums[0])
    second = info_files.write_variable(tmp_path / 'b', examples, layouts[1], checksums[1])
    out = compare(capsys, first, second, 0)
    assert ('x: layout vlen in the first file, ragged in the second' in out) == (
        layouts[0] != layouts[1])
    examples[4] = examples[4].reshape(-1)[:, None, None]
    examples[11] = examples[11] + 1
    third = info_files.write_variable(tmp_path / 'c', examples, layouts[1], checksums[1])
    out = compare(capsys, first, third, 1)
    assert 'x: 2 of 30 rows differ: 4, 11; row 4 has the shape (' in out


@BOTH
def test_nan_is_the_same_as_nan(tmp_path, capsys, checksums):
    values = numpy.array([[1., numpy.nan], [numpy.nan, numpy.nan], [0., 2.]])
    others = values.copy()
    others[1, 0] = 3
    paths = [info_files.write(tmp_path / name, array, numpy.zeros((3, 1)), 2, keep,
                              axis_labels=None)
             for name, array, keep in zip('abc', (values, values, others), (*checksums, True),
                                          strict=True)]
    compare(capsys, *paths[:2], 0)
    out = compare(capsys, paths[0], paths[2], 1)
    assert ('features: 1 of 3 rows differ: 1; row 1 has nan at [0] in the first file, 3.0 in the '
            'second') in out


def test_other_dtype_with_equal_values(tmp_path, capsys):
    features, targets = info_files.arrays()
    first = info_files.write(tmp_path / 'a', features, targets)
    second = info_files.write(tmp_path / 'b', features.astype('float32'), targets)
    out = compare(capsys, first, second, 1)
    assert 'features: dtype uint8 in the first file, float32 in the second' in out
    assert 'rows differ' not in out


def test_other_shape_and_labels(tmp_path, capsys):
    features, targets = info_files.arrays()
    first = info_files.write(tmp_path / 'a', features, targets)
    second = info_files.write(tmp_path / 'b', features.transpose(0, 2, 3, 1), targets,
                              axis_labels={'features': ('batch', 'height', 'width', 'channel')})
    out = compare(capsys, first, second, 1)
    assert ('features: shape 60 x 3 x 12 x 10 in the first file, 60 x 12 x 10 x 3 in the second'
            in out)
    assert "features: axis labels ['batch', 'channel', 'height', 'width'] in the first file" in out
    assert ("targets: axis labels ['batch', 'index'] in the first file, ['', ''] in the second"
            in out)


@BOTH
def test_file_with_more_rows(tmp_path, capsys, checksums):
    features, targets = info_files.arrays(count=300)
    first = info_files.write(tmp_path / 'a', features[:200], targets[:200], 150, checksums[0])
    second = info_files.write(tmp_path / 'b', features, targets, 150, checksums[1])
    out = compare(capsys, first, second, 1)
    assert 'test: examples of features 50 in the first file, 150 in the second' in out
    assert 'features: shape 200 x 3 x 12 x 10 in the first file, 300 x 3 x 12 x 10' in out
    assert 'rows differ' not in out
    changed = features.copy()
    changed[180] += 1
    third = info_files.write(tmp_path / 'c', changed, targets, 150, checksums[1])
    assert 'features: 1 of 200 rows differ: 180;' in compare(capsys, first, third, 1)


def test_splits_and_sources(tmp_path, capsys):
    zeros = numpy.zeros((10, 1))
    for name, data in (
            ('a', [('train', 'x', zeros), ('train', 'y', zeros), ('test', 'x', zeros)]),
            ('b', [('train', 'x', zeros), ('valid', 'x', zeros), ('valid', 'z', zeros)])):
        with h5py.File(tmp_path / name, 'w') as h5file:
            fill_hdf5_file(h5file, data)
    out = compare(capsys, tmp_path / 'a', tmp_path / 'b', 1)
    for line in ('train: has y only in the first file', 'test: only in the first file',
                 'valid: only in the second file', 'y: only in the first file',
                 'z: only in the second file'):
        assert f'        {line}\n' in out


def test_rows_of_splits(tmp_path, capsys):
    for name, rows in (('a', [1, 3, 5]), ('b', [1, 4, 5]), ('c', None)):
        with h5py.File(tmp_path / name, 'w') as h5file:
            h5file['x'] = numpy.zeros(9)
            h5file['rows'] = numpy.array(rows or [1, 3, 5], dtype='int32' if rows else 'uint8')
            h5file.attrs['split'] = H5PYDataset.create_split_array(
                {'train': {'x': (0, 0, h5file['rows'].ref)}})
    out = compare(capsys, tmp_path / 'a', tmp_path / 'b', 1)
    assert 'train: other rows of x: example 1 is row 3 in the first file, 4 in the second' in out
    compare(capsys, tmp_path / 'a', tmp_path / 'c', 0)


def test_names_of_classes_count(tmp_path, capsys):
    first, second = pair(tmp_path)
    for path, names in ((first, ['cat', 'dog']), (second, ['dog', 'cat'])):
        with h5py.File(path, 'a') as h5file:
            h5file['target_names'] = names
            h5file['targets'].attrs['units'] = names[0]
    with h5py.File(first, 'a') as h5file:
        h5file['more'] = 5
    out = compare(capsys, first, second, 1)
    assert 'target_names: differs' in out
    assert 'targets, attribute units: differs' in out
    assert 'more: only in the first file' in out


def test_provenance_is_told_and_does_not_count(tmp_path, capsys):
    first, second = pair(tmp_path)
    for path, size in ((first, 3), (second, 4)):
        with h5py.File(path, 'a') as h5file:
            inputs = numpy.zeros(1, [('name', 'S7'), ('size', '<i8'), ('sha256', 'S64')])
            inputs[0] = b'raw.bin', size, b'%d' % size * 64
            h5file['fuel_provenance/inputs'] = inputs
            h5file.attrs['fuel_convert_command'] = f'fuel-convert x -n {size}'
            h5file.attrs['fuel_convert_seed'] = size
    out = compare(capsys, first, second, 0)
    assert ('fuel_convert_command: fuel-convert x -n 3 in the first file, fuel-convert x -n 4 in '
            'the second') in out
    assert 'fuel_convert_seed: 3 in the first file, 4 in the second' in out
    assert f'raw.bin: an input of 3 bytes, sha256:{"3" * 64}, for the first file; of 4' in out
    assert out.splitlines()[-1].startswith('The data are the same')


def test_as_json(tmp_path, capsys):
    def change(features, targets):
        targets[3] += 1
    first, second = pair(tmp_path, change=change, compression='gzip')
    found = json.loads(compare(capsys, first, second, 1, '--json'))
    assert set(found) == {'schema', 'first', 'second', 'same_data', 'checksums_believed',
                          'differences'}
    assert (found['schema'], found['first'], found['second'], found['same_data']) == (
        1, first, second, False)
    assert all(set(difference) == {'about', 'name', 'what', 'first', 'second', 'text'}
               for difference in found['differences'])
    (rows,) = [entry for entry in found['differences'] if entry['about'] == 'data']
    assert (rows['name'], rows['what'], rows['first']) == ('targets', 'rows', [3])
    assert {entry['what'] for entry in found['differences'] if entry['about'] == 'storage'} == {
        'layout', 'chunks', 'filters'}


def test_other_kinds_of_files(tmp_path, capsys):
    first, _ = pair(tmp_path)
    h5py.File(tmp_path / 'other.h5', 'w').close()
    (tmp_path / 'text').write_text('text')
    assert 'other.h5 is not a data set of Fuel' in fails(
        'info', ['--compare', first, str(tmp_path / 'other.h5')], capsys)
    assert 'text is not an HDF5 file' in fails(
        'info', ['--compare', str(tmp_path / 'text'), first], capsys)
    assert 'nope: No such file' in fails('info', ['--compare', first, str(tmp_path / 'nope')],
                                         capsys)
