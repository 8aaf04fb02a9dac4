from __future__ import annotations

import json
import re

import h5py
import numpy
import pytest

from fuel.bin.fuel_info import main
from fuel.storage.provenance.checksums import write_structure_checksum
from tests.bin import info_files
from tests.bin.commands import fails

ROW = 3 * 12 * 10


def verify(*arguments, code=0):
    if not code:
        assert main(['--verify', *arguments]) is None
        return
    with pytest.raises(SystemExit) as caught:
        main(['--verify', *arguments])
    assert caught.value.code == code


def test_sound_file(tmp_path, capsys):
    path = info_files.write(tmp_path / 'x.hdf5', *info_files.arrays())
    verify(path)
    assert capsys.readouterr() == (
        f'{path}\n    features: good\n    targets: good\nAll rows are as they were written.\n', '')


@pytest.mark.parametrize('row', [0, 44, 46, 59, 119])
def test_flipped_byte_is_found(tmp_path, capsys, row):
    path = info_files.write(tmp_path / 'x.hdf5', *info_files.arrays(count=120))
    info_files.flip(path, row)
    verify(path, code=1)
    out = capsys.readouterr().out
    first, last = map(int, re.search(r'features: BAD within rows (\d+) to (\d+)\n', out).groups())
    assert first <= row <= last
    # A block has 16 kB, and what its last row has more.
    assert (last - first) * ROW <= 16384
    assert '    targets: good\n' in out
    assert out.endswith('The file is damaged, or was changed after it had been written.\n')


@pytest.mark.parametrize('change', ['none', 'rows', 'label', 'other split'])
def test_splits_and_labels(tmp_path, capsys, change):
    path = info_files.write(tmp_path / 'x.hdf5', *info_files.arrays())
    with h5py.File(path, 'a') as h5file:
        write_structure_checksum(h5file)
        splits = h5file.attrs['split']
        if change == 'rows':
            splits['stop'][splits['split'] == b'train'] = 39
            h5file.attrs.modify('split', splits)
        elif change == 'other split':
            splits['split'][splits['split'] == b'test'] = b'tess'
            h5file.attrs.modify('split', splits)
        elif change == 'label':
            h5file['features'].dims[2].label = 'width'
            h5file['features'].dims[3].label = 'height'
    verify(path, code=int(change != 'none'))
    out = capsys.readouterr().out
    verify('--json', path, code=int(change != 'none'))
    (found,) = json.loads(capsys.readouterr().out)
    assert [source['name'] for source in found['sources']] == ['features', 'targets']
    if change == 'none':
        assert '    splits and labels: good\n' in out
        assert found['sound']
        assert found['structure'] == {'good': True, 'problem': None}
    else:
        assert '    splits and labels: they are not as they were written\n' in out
        assert not found['sound']
        assert found['structure'] == {'good': False, 'problem': 'they are not as they were written'}
    assert '    features: good\n' in out


def test_as_json(tmp_path, capsys):
    good = info_files.write(tmp_path / 'good.hdf5', *info_files.arrays(count=120))
    bad = info_files.write(tmp_path / 'bad.hdf5', *info_files.arrays(count=120))
    info_files.flip(bad, 50)
    verify('--json', good, bad, code=1)
    first, second = json.loads(capsys.readouterr().out)
    assert first['sound']
    assert first['structure'] is None       # written without fuel-convert
    assert not second['sound']
    assert [source['name'] for source in first['sources']] == ['features', 'targets']
    (features, targets) = second['sources']
    assert (targets['checked'], targets['good'], targets['bad_rows'], targets['problem']) == (
        True, True, [], None)
    ((start, stop),) = features['bad_rows']
    assert start <= 50 < stop


@pytest.mark.parametrize('layout', ['vlen', 'ragged'])
def test_examples_with_shapes_of_their_own(tmp_path, capsys, layout):
    path = info_files.write_variable(tmp_path / 'x.hdf5', info_files.own_shapes(), layout)
    verify(path)
    with h5py.File(path, 'a') as h5file:
        shapes = h5file['x'].dims[0]['shapes']
        row = shapes[9]
        shapes[9] = row[::-1]
        changed = not numpy.array_equal(row, row[::-1])
    assert changed
    verify(path, code=1)
    assert 'x: BAD within rows 0 to 29' in capsys.readouterr().out


def test_rows_that_cannot_be_read(tmp_path, capsys):
    path = info_files.write(tmp_path / 'x.hdf5', *info_files.arrays(count=120),
                            compression='gzip', chunk_examples=10)
    with h5py.File(path) as h5file:
        place = h5file['features'].id.get_chunk_info_by_coord((70, 0, 0, 0)).byte_offset
    with open(path, 'r+b') as stream:
        stream.seek(place)
        stream.write(b'\xff' * 200)
    verify(path, code=1)
    first, last = map(int, re.search(r'features: BAD within rows (\d+) to (\d+)',
                                     capsys.readouterr().out).groups())
    assert first <= 70 <= last


def test_file_without_checksums_is_not_called_good(tmp_path, capsys):
    path = info_files.write(tmp_path / 'x.hdf5', *info_files.arrays(), checksums=False)
    verify(path, code=1)
    assert capsys.readouterr().out == (
        f'{path}\n    features: the file has no checksums of it\n'
        '    targets: the file has no checksums of it\n'
        'Nothing tells whether all rows are as they were written.\n')


def test_source_that_is_missing_hides_no_other(tmp_path, capsys):
    path = info_files.write(tmp_path / 'x.hdf5', *info_files.arrays())
    with h5py.File(path, 'a') as h5file:
        del h5file['features']
    verify(path, code=1)
    out = capsys.readouterr().out
    assert 'features: ' in out
    assert 'no data set' in out
    assert '    targets: good\n' in out


def test_several_files(tmp_path, capsys):
    good = info_files.write(tmp_path / 'good.hdf5', *info_files.arrays())
    verify(good, str(tmp_path / 'nope'), good, code=2)
    captured = capsys.readouterr()
    assert captured.out.count('All rows are as they were written.') == 2
    assert captured.err == f'fuel-info: error: {tmp_path}/nope: No such file or directory\n'


def test_file_without_splits(tmp_path, capsys):
    h5py.File(tmp_path / 'x.h5', 'w').close()
    assert 'is not a data set of Fuel' in fails('info', ['--verify', str(tmp_path / 'x.h5')],
                                                capsys)
