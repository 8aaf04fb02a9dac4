from __future__ import annotations

import json

import h5py
import numpy
import pytest

from fuel.bin.fuel_info import main
from fuel.datasets.hdf5 import H5PYDataset
from tests.bin import info_files

KEYS = {'schema', 'path', 'error', 'bytes', 'is_data_set', 'problem', 'command',
        'interface_version', 'converters_version', 'fuel_version', 'h5py_version', 'hdf5_version',
        'numpy_version', 'date', 'seed', 'inputs', 'splits', 'sources', 'others'}
SOURCE_KEYS = {'name', 'problem', 'examples', 'shape', 'dtype', 'axis_labels', 'layout', 'chunks',
               'filters', 'bytes_on_disk', 'bytes_in_memory', 'read', 'reason', 'checksum'}


def facts(capsys, *arguments, code=0):
    if code:
        with pytest.raises(SystemExit) as caught:
            main(['--json', *arguments])
        assert caught.value.code == code
    else:
        assert main(['--json', *arguments]) is None
    return json.loads(capsys.readouterr().out)


def test_keys_and_values(tmp_path, capsys):
    path = info_files.write(tmp_path / 'x.hdf5', *info_files.arrays(), compression='gzip',
                            chunk_examples=7)
    (entry,) = facts(capsys, path)
    assert set(entry) == KEYS
    assert entry['schema'] == 1
    assert entry['path'] == path
    assert entry['bytes'] == (tmp_path / 'x.hdf5').stat().st_size
    assert (entry['is_data_set'], entry['problem'], entry['error']) == (True, None, None)
    assert entry['command'] is None
    part = {'indices': None, 'comment': None, 'problem': None}
    assert entry['splits'] == [
        {'name': name, 'examples': stop - start, 'sources': [
            {'name': source, 'examples': stop - start, 'start': start, 'stop': stop, **part}
            for source in ('features', 'targets')]}
        for name, start, stop in (('train', 0, 40), ('test', 40, 60))]
    features, targets = entry['sources']
    assert set(features) == set(targets) == SOURCE_KEYS
    with h5py.File(path) as h5file:
        assert features['checksum'] == h5file['features'].attrs['fuel_checksum']
        assert features['bytes_on_disk'] == h5file['features'].id.get_storage_size()
    assert (features['name'], features['shape'], features['dtype'], features['examples']) == (
        'features', [60, 3, 12, 10], 'uint8', 60)
    assert features['axis_labels'] == ['batch', 'channel', 'height', 'width']
    assert (features['layout'], features['chunks'], features['filters']) == (
        'chunked', [7, 3, 12, 10], ['deflate'])
    assert features['bytes_in_memory'] == 60 * 3 * 12 * 10
    assert features['read'] == 'decoded'
    assert 'deflate' in features['reason']


@pytest.mark.parametrize('layout', ['vlen', 'ragged'])
def test_examples_with_shapes_of_their_own(tmp_path, capsys, layout):
    examples = info_files.own_shapes()
    path = info_files.write_variable(tmp_path / 'x.hdf5', examples, layout)
    (entry,) = facts(capsys, path)
    (source,) = entry['sources']
    assert source['shape'] == [30, None, None, None]
    assert source['layout'] == layout
    assert source['bytes_in_memory'] == sum(example.nbytes for example in examples)


def test_provenance(tmp_path, capsys, monkeypatch):
    monkeypatch.setenv('SOURCE_DATE_EPOCH', '86400')
    path = info_files.write(tmp_path / 'x.hdf5', *info_files.arrays())
    _tag(path)
    (entry,) = facts(capsys, path)
    assert entry['date'] == '1970-01-02T00:00:00Z'
    assert entry['seed'] == 7
    assert entry['inputs'] == [{'name': 'raw.bin', 'bytes': 12, 'sha256': 'a' * 64}]
    assert entry['h5py_version'] == h5py.__version__
    assert entry['numpy_version'] == numpy.__version__
    main([path])
    printed = capsys.readouterr().out
    assert f'        from raw.bin: 12 bytes, sha256:{"a" * 64}\n' in printed
    assert '        with the seed 7\n' in printed


def _tag(path):
    """Put into a file what fuel-convert does, in the form that is documented."""
    with h5py.File(path, 'a') as h5file:
        inputs = numpy.zeros(1, [('name', 'S7'), ('size', '<i8'), ('sha256', 'S64')])
        inputs[0] = b'raw.bin', 12, b'a' * 64
        h5file['fuel_provenance/inputs'] = inputs
        h5file.attrs['fuel_convert_seed'] = numpy.int64(7)
        h5file.attrs['fuel_convert_date'] = '1970-01-02T00:00:00Z'
        h5file.attrs['h5py_version'] = h5py.__version__
        h5file.attrs['numpy_version'] = numpy.__version__


def test_several_files_of_which_some_cannot_be_read(tmp_path, capsys):
    path = info_files.write(tmp_path / 'x.hdf5', *info_files.arrays())
    (tmp_path / 'text').write_text('text')
    entries = facts(capsys, path, str(tmp_path / 'text'), code=2)
    assert len(entries) == 2
    assert set(entries[0]) == KEYS
    assert entries[1] == {'schema': 1, 'path': str(tmp_path / 'text'),
                          'error': f'{tmp_path}/text is not an HDF5 file'}


def test_file_without_splits(tmp_path, capsys):
    with h5py.File(tmp_path / 'x.h5', 'w') as h5file:
        h5file['a/b'] = numpy.zeros((3, 4), 'float32')
    (entry,) = facts(capsys, str(tmp_path / 'x.h5'))
    assert not entry['is_data_set']
    assert "no attribute 'split'" in entry['problem']
    assert entry['others'] == [{'name': 'a/b', 'shape': [3, 4], 'dtype': 'float32'}]
    assert entry['splits'] == entry['sources'] == []


def test_source_that_is_not_as_it_should_be(tmp_path, capsys):
    with h5py.File(tmp_path / 'x.h5', 'w') as h5file:
        h5file['x'] = numpy.zeros((3, 4), 'float32')
        h5file.attrs['split'] = H5PYDataset.create_split_array(
            {'all': {'lost': (0, 3), 'x': (0, 3)}})
    (entry,) = facts(capsys, str(tmp_path / 'x.h5'))
    lost, found = entry['sources']
    assert 'no data set of this name' in lost['problem']
    assert (lost['shape'], lost['bytes_on_disk']) == (None, None)
    assert set(lost) == SOURCE_KEYS
    assert found['shape'] == [3, 4]
    assert found['axis_labels'] == [None, None]
