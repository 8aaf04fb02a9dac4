"""Reading of MATLAB files piece by piece, against scipy."""
from __future__ import annotations

import os
import struct
import subprocess
import sys
import zlib

import numpy
import pytest
import scipy.io
import scipy.sparse

from fuel.converters._formats import matlab as _matlab
from fuel.converters._formats import zlib_streams as _zlib_streams
from fuel.converters._formats.matlab import read_mat, stream_mat
from fuel.exceptions import ConversionError
from tests.bin.commands import environment

DTYPES = ['u1', 'i1', 'u2', 'i2', 'u4', 'i4', 'u8', 'i8', 'f4', 'f8']


def variables():
    rng = numpy.random.default_rng(0)
    made = {f'v_{dtype}': rng.integers(0, 100, (3, 4, 5)).astype(dtype) for dtype in DTYPES}
    return {'X': rng.integers(0, 256, (4, 4, 3, 50)).astype('uint8'), **made,
            'column': numpy.arange(7.)[:, None], 'row': numpy.arange(7, dtype='uint8')[None],
            'one': numpy.array([[7]], dtype='uint8'), 'true': numpy.eye(3) > 0,
            'empty': numpy.zeros((0, 3)), 'nothing': numpy.zeros((3, 0)),
            'a_name_longer_than_what_fits': numpy.ones((2, 2)) / 3}


@pytest.fixture(params=[False, True], ids=['plain', 'compressed'])
def path(request, tmp_path):
    path = str(tmp_path / 'file.mat')
    scipy.io.savemat(path, variables(), do_compression=request.param)
    return path


def joined(path, name):
    shape, dtype, blocks = stream_mat(path, name)
    found = list(blocks)
    assert all(block.dtype == dtype and block.shape[:-1] == shape[:-1] for block in found)
    return numpy.concatenate([numpy.empty((*shape[:-1], 0), dtype), *found], axis=-1)


def test_arrays_are_those_that_scipy_reads(path):
    expected = scipy.io.loadmat(path, mat_dtype=True)
    for name in variables():
        shape, dtype, _ = stream_mat(path, name)
        assert shape == expected[name].shape
        assert dtype == (bool if name == 'true' else expected[name].dtype)
        assert numpy.array_equal(joined(path, name), expected[name])


def test_all_is_the_same_in_small_blocks(path, monkeypatch):
    monkeypatch.setattr(_matlab, '_BLOCK_BYTES', 100)
    monkeypatch.setattr(_zlib_streams, '_PIECE_BYTES', 7)
    assert len(list(stream_mat(path, 'X')[2])) == 25
    for name, array in variables().items():
        assert numpy.array_equal(joined(path, name), array)


def test_blocks_are_in_the_order_of_fortran(path):
    _, _, blocks = stream_mat(path, 'X')
    assert next(blocks).flags.f_contiguous


def test_read_mat_is_what_scipy_reads(path):
    expected = scipy.io.loadmat(path)
    found = read_mat(path)
    assert list(found) == list(variables())
    for name, array in found.items():
        assert array.dtype == expected[name].dtype
        assert numpy.array_equal(array, expected[name])


def element(order, kind, content):
    """Return an element of a MATLAB file; a short one where the content is short."""
    if len(content) <= 4:
        return struct.pack(f'{order}I', len(content) << 16 | kind) + content.ljust(4, b'\0')
    return struct.pack(f'{order}II', kind, len(content)) + content.ljust(-(-len(content) // 8) * 8,
                                                                         b'\0')


def made_by_hand(order='<', name=b'X', flags=9, sizes=(2, 3), kind=2, content=bytes(range(6)),
                 compress=False, version=0x0100):
    """Return the content of a MATLAB file with one variable, of which everything can be set."""
    header = (b'MATLAB 5.0 MAT-file'.ljust(124) + struct.pack(f'{order}H', version)
              + {'<': b'IM', '>': b'MI'}[order])
    array = (element(order, 6, struct.pack(f'{order}II', flags, 0))
             + element(order, 5, struct.pack(f'{order}{len(sizes)}i', *sizes))
             + element(order, 1, name) + element(order, kind, content))
    whole = struct.pack(f'{order}II', 14, len(array)) + array
    if compress:
        packed = zlib.compress(whole)
        whole = struct.pack(f'{order}II', 15, len(packed)) + packed
    return header + whole


@pytest.fixture
def write(tmp_path):
    def write(content):
        (tmp_path / 'hand.mat').write_bytes(content)
        return str(tmp_path / 'hand.mat')
    return write


@pytest.mark.parametrize('compress', [False, True])
@pytest.mark.parametrize('order', '<>')
def test_both_byte_orders_and_values_stored_in_a_smaller_type(write, order, compress):
    values = numpy.array([[1, 2, 300], [4, 5, 6]])
    content = values.T.astype(f'{order}u2').tobytes()
    path = write(made_by_hand(order, flags=6, kind=4, content=content, compress=compress))
    shape, dtype, _ = stream_mat(path, 'X')
    assert (shape, dtype) == ((2, 3), numpy.dtype('f8'))
    assert joined(path, 'X').dtype.isnative
    assert numpy.array_equal(joined(path, 'X'), values)
    assert numpy.array_equal(scipy.io.loadmat(path)['X'], values)


def test_missing_variable_and_those_that_are_there(path):
    with pytest.raises(ConversionError, match=r"file\.mat: expected a variable 'Y'.*'X', 'v_u1'"):
        stream_mat(path, 'Y')


@pytest.mark.parametrize(('value', 'what'), [
    ('words', 'text'), (numpy.eye(2) * 1j, 'complex numbers'), ({'a': 1}, 'a structure'),
    (numpy.array([[1, 'x']], dtype=object), 'a cell array'),
    (scipy.sparse.csc_array(numpy.eye(3)), 'a sparse matrix')])
def test_what_is_no_array_of_real_numbers(tmp_path, value, what):
    path = str(tmp_path / 'file.mat')
    scipy.io.savemat(path, {'first': numpy.ones(3), 'X': value})
    with pytest.raises(ConversionError, match=rf"file\.mat: expected the variable 'X'.*got {what}"):
        stream_mat(path, 'X')
    assert numpy.array_equal(joined(path, 'first'), numpy.ones((1, 3)))


@pytest.mark.parametrize('read', [read_mat, lambda path: joined(path, 'X')],
                         ids=['whole', 'streamed'])
@pytest.mark.parametrize('content', [
    b'', b'\x89PNG\r\n' + bytes(200), b'<!DOCTYPE html>' + b' ' * 300, b'\xff' * 200,
    b'MATLAB 5.0 MAT-file'], ids=['empty', 'png', 'html', 'noise', 'cut'])
def test_not_a_matlab_file(write, content, read):
    with pytest.raises(ConversionError, match=r'hand\.mat: expected a MATLAB file'):
        read(write(content))


@pytest.mark.parametrize('read', [read_mat, lambda path: joined(path, 'X')],
                         ids=['whole', 'streamed'])
def test_files_of_version_7_3_are_named(tmp_path, write, read):
    import h5py
    with pytest.raises(ConversionError, match=r'version 7\.3, which is an HDF5 file.*-v7'):
        read(write(made_by_hand(version=0x0200)))
    with h5py.File(tmp_path / 'plain.mat', 'w') as h5file:
        h5file['X'] = 1
    with pytest.raises(ConversionError, match=r'version 7\.3'):
        read(str(tmp_path / 'plain.mat'))


def test_cut_off_anywhere(path):
    with open(path, 'rb') as stream:
        content = stream.read()
    size = len(content)
    found = 0
    for length in range(0, size, 41):
        with open(path, 'wb') as stream:
            stream.write(content[:length])
        try:
            array = joined(path, 'X')
        except ConversionError as error:
            assert str(error).startswith(path)
            found += 1
        else:                               # cut off behind the first variable
            assert numpy.array_equal(array, variables()['X'])
    assert found > 3


def test_place_of_damage_in_a_compressed_variable(write):
    content = bytearray(made_by_hand(sizes=(2, 2000), content=os.urandom(4000), compress=True))
    content[-2] ^= 1                        # in the checksum at the end
    path = write(content)
    with pytest.raises(ConversionError, match=r'hand\.mat, at byte \d+, after \d+ bytes of a com'):
        joined(path, 'X')


@pytest.mark.parametrize(('change', 'message'), [
    ({'sizes': (2, 4)}, 'expected 8 values'), ({'sizes': (-2, 3)}, 'dimensions'),
    ({'sizes': (6,)}, 'dimensions'), ({'kind': 14}, 'expected numbers'),
    ({'sizes': (2 ** 31 - 1, 2 ** 31 - 1)}, 'expected values that memory can hold'),
    ({'sizes': (2 ** 31 - 1, 0, 2 ** 31 - 1, 2 ** 31 - 1)}, 'that memory can hold'),
    ({'name': b'n' * 300}, 'expected a name'), ({'flags': 9 | 8 << 8}, 'complex')])
@pytest.mark.parametrize('compress', [False, True])
def test_parts_of_a_variable_that_do_not_fit(write, change, message, compress):
    path = write(made_by_hand(**change, compress=compress))
    with pytest.raises(ConversionError, match=message):
        joined(path, 'X')


def test_any_changed_byte_is_an_error_or_other_data(write):
    """Nothing else is raised, and nothing hangs or takes much memory."""
    rng = numpy.random.default_rng(1)
    for compress in (False, True):
        content = made_by_hand(compress=compress)
        for _ in range(400):
            broken = bytearray(content)
            broken[rng.integers(100, len(content))] = rng.integers(0, 256)
            path = write(broken)
            try:
                joined(path, 'X')
            except ConversionError as error:
                assert 'hand.mat' in str(error)


def test_memory_does_not_grow_with_the_file(tmp_path):
    path = tmp_path / 'large.mat'
    rng = numpy.random.default_rng(0)
    images = rng.integers(0, 256, (32, 32, 3, 20000), dtype='uint8')        # 61 MB
    scipy.io.savemat(path, {'X': images})
    code = ('import resource, sys\n'
            'from fuel.converters._formats.matlab import stream_mat\n'
            'def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024\n'
            'before = peak()\n'
            'total = sum(int(block.sum()) for block in stream_mat(sys.argv[1], "X")[2])\n'
            'print(total, peak() - before)\n')
    done = subprocess.run([sys.executable, '-c', code, path], capture_output=True, text=True,
                          check=True, env=environment())
    total, grown = done.stdout.split()
    assert int(total) == int(images.sum())
    assert float(grown) < 20
