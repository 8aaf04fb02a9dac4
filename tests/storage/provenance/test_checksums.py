"""Checksums of sources: what they are of, in every layout, and what they find."""
from __future__ import annotations

import hashlib

import h5py
import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuel.converters.base import create_source, fill_hdf5_file
from fuel.storage.provenance.checksums import (
    add_missing_checksums,
    keeping_checksums,
    stored_checksum,
    stored_digests,
    write_digests,
    write_structure_checksum,
)
from fuel.storage.provenance.digests import BlockDigests, RowDigests
from fuel.storage.provenance.verifying import verify_source, verify_structure
from fuel.storage.splits import create_split_array

RNG = numpy.random.RandomState(0)
PIXELS = RNG.randint(0, 256, (1000, 3, 16, 16)).astype('uint8')
RAGGED = [numpy.arange(number % 9, dtype='float32') for number in range(2000)]
PICTURES = [numpy.full((3, number % 5 + 1, 2), number, dtype='uint16') for number in range(300)]
WORDS = numpy.array(['\u00e4' * (number % 40) for number in range(900)],
                    dtype=h5py.string_dtype())
SOURCES = {'pixels': PIXELS, 'ragged': RAGGED, 'pictures': PICTURES, 'words': WORDS,
           'big': numpy.arange(5000, dtype='>i4').reshape(50, 100),
           'nothing': numpy.zeros((5, 0)), 'flag': RNG.rand(40000) > 0.5}


FORMS = {'pixels': '|u1 3 16 16', 'ragged': '<f4 ?', 'pictures': '<u2 ? ? ?', 'words': 'text',
         'big': '<i4 100', 'nothing': '<f8 0', 'flag': '|b1'}


def blocks_by_hand(rows, form):
    """The definition, with bytes for each row: where blocks stop, and the checksum of all."""
    stops, digests, block = [], [f'{form}\n'.encode()], b''
    for number, row in enumerate(rows, start=1):
        block += row
        if len(block) >= 16384 or number == len(rows):
            stops.append(number)
            digests.append(hashlib.sha256(block).digest())
            block = b''
    return stops, 'sha256:' + hashlib.sha256(b''.join(digests)).hexdigest()


def checksum_by_hand(name):
    return blocks_by_hand(bytes_by_hand(name), FORMS[name])[1]


def bytes_by_hand(name):
    rows = SOURCES[name]
    if name == 'words':
        return [len(word.encode()).to_bytes(8, 'little') + word.encode() for word in rows]
    if name in ('ragged', 'pictures'):
        return [b''.join(size.to_bytes(8, 'little') for size in row.shape) + row.tobytes()
                for row in rows]
    if name == 'big':
        rows = rows.astype('<i4')
    return [row.tobytes() for row in rows]


def write(path, *, kept=True, **options):
    data = [('all', name, rows) if name == 'pixels' else (name, name, rows)
            for name, rows in SOURCES.items()]
    with h5py.File(path, 'w') as h5file:
        if kept:
            with keeping_checksums():
                fill_hdf5_file(h5file, data, **options)
        else:
            fill_hdf5_file(h5file, data, **options)
    return path


@pytest.mark.parametrize('options', [
    {}, {'layout': 'ragged'}, {'compression': 'gzip', 'layout': 'ragged'}, {'chunk_examples': 7}])
def test_checksum_is_that_of_the_definition_in_every_layout(tmp_path, options):
    if 'compression' in options:
        options['compression'] = dict.fromkeys(('pixels', 'ragged', 'big'), 'gzip')
    with h5py.File(write(tmp_path / 'x.hdf5', **options), 'r') as h5file:
        for name in SOURCES:
            stops, checksum = blocks_by_hand(bytes_by_hand(name), FORMS[name])
            assert stored_checksum(h5file[name]) == checksum, name
            assert stored_digests(h5file, name)[0].tolist() == stops, name
            assert verify_source(h5file, name).good, name


def test_checksums_are_written_on_demand_only(tmp_path):
    with h5py.File(write(tmp_path / 'x.hdf5', kept=False), 'r') as h5file:
        assert 'fuel_provenance' not in h5file
        for name in SOURCES:
            assert stored_checksum(h5file[name]) == ''
            verdict = verify_source(h5file, name)
            assert not verdict.checked
            assert verdict.good


def test_checksums_can_be_added(tmp_path):
    with h5py.File(write(tmp_path / 'x.hdf5', kept=False, layout='ragged'), 'a') as h5file:
        add_missing_checksums(h5file)
        for name in SOURCES:
            assert stored_checksum(h5file[name]) == checksum_by_hand(name)


def test_same_checksums_however_the_rows_came(tmp_path):
    for number, sizes in enumerate(([1000], [1, 999], [333, 333, 334], [17] * 58 + [14])):
        with h5py.File(tmp_path / f'{number}.hdf5', 'w') as h5file, keeping_checksums():
            start = 0
            with create_source(h5file, 'x', (3, 16, 16), 'uint8') as writer:
                for size in sizes:
                    writer.append(PIXELS[start:start + size])
                    start += size
            assert stored_checksum(h5file['x']) == checksum_by_hand('pixels')


@pytest.mark.parametrize('layout', ['vlen', 'ragged'])
def test_changed_rows_are_found(tmp_path, layout):
    path = write(tmp_path / 'x.hdf5', layout=layout)
    with h5py.File(path, 'a') as h5file:
        for row in (0, 500, 999):
            h5file['pixels'][row, 1, 2, 3] ^= 1
        h5file['words'][899] = 'other'
        if layout == 'ragged':
            h5file['pictures'][4] += 1
            h5file['ragged_offsets'][1000] += 1
        else:
            h5file['pictures'][1] = h5file['pictures'][1] + numpy.uint16(1)
    with h5py.File(path, 'r') as h5file:
        found = {name: verify_source(h5file, name) for name in SOURCES}
    for row in (0, 500, 999):       # 22 rows have 16 kB
        assert (row // 22 * 22, min(1000, row // 22 * 22 + 22)) in found['pixels'].bad
    assert len(found['pixels'].bad) == 3
    assert found['words'].bad[-1][1] == 900
    (start, stop), = found['pictures'].bad
    assert start <= 1 < stop
    assert found['big'].good
    if layout == 'ragged':
        assert any(start <= 999 < stop for start, stop in found['ragged'].bad)


def test_damaged_chunk_is_told_by_its_rows(tmp_path):
    path = tmp_path / 'x.hdf5'
    with h5py.File(path, 'w') as h5file, keeping_checksums():
        fill_hdf5_file(h5file, [('all', 'x', PIXELS)], compression='gzip', chunk_examples=100)
        chunk = h5file['x'].id.get_chunk_info(3)
    with open(path, 'r+b') as stream:
        stream.seek(chunk.byte_offset + chunk.size // 2)
        stream.write(b'\xff' * 50)
    told = []
    with h5py.File(path, 'r') as h5file:
        verdict = verify_source(h5file, 'x', told.append)
    (start, stop), = verdict.bad
    assert start <= 300
    assert 400 <= stop < 450
    assert start >= 300 - 22
    assert told == sorted(told)
    assert told[-1] == 1000


def test_rows_that_are_missing_or_too_many(tmp_path):
    path = tmp_path / 'x.hdf5'
    with h5py.File(path, 'w') as h5file, keeping_checksums():
        with create_source(h5file, 'x', (16,), 'uint8') as writer:
            writer.append(numpy.ones((5000, 16), dtype='uint8'))
        h5file['x'].resize(4000, axis=0)
        assert 'for 5000 rows; the source has 4000' in verify_source(h5file, 'x').problem
        h5file['x'].resize(6000, axis=0)
        assert 'for 5000 rows; the source has 6000' in verify_source(h5file, 'x').problem
        assert verify_source(h5file, 'y').problem


def test_checksums_that_are_damaged_themselves(tmp_path):
    path = write(tmp_path / 'x.hdf5')
    with h5py.File(path, 'a') as h5file:
        h5file['fuel_provenance/checksums/pixels_sha256'][0, 0] ^= 1
        del h5file['fuel_provenance/checksums/big_sha256']
        h5file['fuel_provenance/checksums/flag_stops'][0] = 10 ** 6
        pixels, big, flag = (verify_source(h5file, name) for name in ('pixels', 'big', 'flag'))
    assert 'checksums of its blocks do not fit the checksum' in pixels.problem
    assert pixels.bad == ((0, 22),)
    assert 'missing' in big.problem
    assert 'damaged' in flag.problem


def test_rows_in_any_order(tmp_path):
    digests = RowDigests(len(PICTURES))
    for row in RNG.permutation(len(PICTURES)):
        digests.set(int(row), PICTURES[row])
    with h5py.File(write(tmp_path / 'x.hdf5', kept=False), 'a') as h5file:
        write_digests(h5file['pictures'], digests)
        assert verify_source(h5file, 'pictures').good
        h5file['pictures'][7] = h5file['pictures'][7] + numpy.uint16(1)
        assert verify_source(h5file, 'pictures').bad == ((7, 8),)


@given(st.lists(st.integers(0, 40), max_size=30), st.integers(0, 700))
def test_blocks_do_not_depend_on_how_rows_come(sizes, width):
    rows = RNG.randint(0, 256, (sum(sizes), width)).astype('uint8')
    digests = BlockDigests()
    start = 0
    for size in sizes:
        digests.add(rows[start:start + size])
        start += size
    stops, checksum = blocks_by_hand([row.tobytes() for row in rows], 'x')
    found = digests.finish()
    assert found[0].tolist() == stops
    assert 'sha256:' + hashlib.sha256(b'x\n' + found[1].tobytes()).hexdigest() == checksum


def test_structures_and_references(tmp_path):
    rows = numpy.zeros(100, dtype=[('a', '>i4'), ('b', 'f8', (3,))])
    rows['a'] = numpy.arange(100)
    with h5py.File(tmp_path / 'x.hdf5', 'w') as h5file, keeping_checksums():
        fill_hdf5_file(h5file, [('all', 'x', rows)])
        little = rows.astype([('a', '<i4'), ('b', 'f8', (3,))])
        assert stored_checksum(h5file['x']) == blocks_by_hand(
            [row.tobytes() for row in little], '{a:<i4,b:<f8[3]}')[1]
        with create_source(h5file, 'references', (), h5py.ref_dtype, num_examples=2) as writer:
            writer.append(numpy.array([h5file['x'].ref] * 2, dtype=h5py.ref_dtype))
        assert not verify_source(h5file, 'references').checked


@pytest.mark.parametrize(('name', 'dtype'), [('ragged', '<u4'), ('flag', 'i1'), ('pixels', 'i1')])
def test_values_of_another_dtype_are_found(tmp_path, name, dtype):
    with h5py.File(write(tmp_path / 'x.hdf5', layout='ragged'), 'a') as h5file:
        old = h5file[name]
        values, checksum, scales = old[...], old.attrs['fuel_checksum'], list(old.dims[0].values())
        del h5file[name]
        h5file[name] = values.view(dtype)
        h5file[name].attrs['fuel_checksum'] = checksum
        for scale in scales:
            h5file[name].dims[0].attach_scale(scale)
        verdict = verify_source(h5file, name)
        assert 'its dtype' in verdict.problem
        assert not verdict.bad          # the bytes are the same


def test_rows_of_another_shape_are_found(tmp_path):
    with h5py.File(write(tmp_path / 'x.hdf5'), 'a') as h5file:
        checksum = h5file['pixels'].attrs['fuel_checksum']
        del h5file['pixels']
        h5file['pixels'] = PIXELS.reshape(1000, 16, 16, 3)
        h5file['pixels'].attrs['fuel_checksum'] = checksum
        verdict = verify_source(h5file, 'pixels')
        assert 'the shape of its rows' in verdict.problem
        assert not verdict.bad


@pytest.fixture
def divided(tmp_path):
    """A file with splits of both kinds and labels, and the checksum of these."""
    with h5py.File(tmp_path / 'x.hdf5', 'w') as h5file:
        fill_hdf5_file(h5file, [('train', 'x', PIXELS[:60]), ('test', 'x', PIXELS[60:90])],
                       axis_labels={'x': ('batch', 'channel', 'height', 'width')})
        h5file['rows'] = numpy.array([3, 5, 80])
        h5file.attrs['split'] = create_split_array({
            'train': {'x': (0, 60)}, 'test': {'x': (60, 90)},
            'some': {'x': (-1, -1, h5file['rows'].ref)}})
        write_structure_checksum(h5file)
    return tmp_path / 'x.hdf5'


def change_rows(h5file):
    h5file['rows'][1] = 6


def change_bounds(h5file):
    h5file.attrs['split'] = create_split_array({
        'train': {'x': (0, 59)}, 'test': {'x': (60, 90)},
        'some': {'x': (-1, -1, h5file['rows'].ref)}})


def change_name(h5file):
    h5file.attrs['split'] = create_split_array({
        'train': {'x': (0, 60)}, 'valid': {'x': (60, 90)},
        'some': {'x': (-1, -1, h5file['rows'].ref)}})


def change_label(h5file):
    h5file['x'].dims[2].label = 'width'


def change_to_what_is_not_there(h5file):
    h5file['rows'][2] = 90


@pytest.mark.parametrize('change', [change_rows, change_bounds, change_name, change_label,
                                    change_to_what_is_not_there])
def test_changed_splits_and_labels_are_found(divided, change):
    with h5py.File(divided, 'a') as h5file:
        verdict = verify_structure(h5file)
        assert verdict.checked
        assert verdict.good
        change(h5file)
        assert not verify_structure(h5file).good
        del h5file.attrs['fuel_structure_checksum']
        # Without a checksum, splits must still be such as can be read.
        verdict = verify_structure(h5file)
        assert verdict.good == (change is not change_to_what_is_not_there)


def test_what_is_damaged_ends_in_a_verdict(tmp_path, monkeypatch):
    from fuel.storage.provenance import verifying

    def fail(*args):
        raise TypeError("'Datatype' object is not subscriptable")

    monkeypatch.setattr(verifying, 'stored_digests', fail)
    with h5py.File(write(tmp_path / 'x.hdf5'), 'r') as h5file:
        assert 'not subscriptable' in verify_source(h5file, 'big').problem


def test_texts_of_one_length(tmp_path):
    names = numpy.array(['\u00e4'.encode(), b'bb'], dtype=h5py.string_dtype('utf-8', 5))
    with h5py.File(tmp_path / 'x.hdf5', 'w') as h5file, keeping_checksums():
        fill_hdf5_file(h5file, [('all', 'x', names)])
        assert stored_checksum(h5file['x']) == blocks_by_hand(
            [b'\xc3\xa4\0\0\0', b'bb\0\0\0'], '|S5')[1]
        assert verify_source(h5file, 'x').good
