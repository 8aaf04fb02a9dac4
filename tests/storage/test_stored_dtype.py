"""Which dtype describes the bytes of an HDF5 type."""
import h5py
import numpy
import pytest
from h5py import h5t

from fuel.storage.tables.stored_dtype import stored_dtype

ALIKE = ['<i1', '<u1', '<i2', '>i2', '<u4', '>u4', '<i8', '>u8', '<f2', '>f2', '<f4', '>f8', '<c8',
         '>c16', 'S1', 'S7', ('<i4', (2, 3)), ('>f8', (4,)),
         [('a', '<i4'), ('b', '>f8', (2,)), ('c', [('d', 'S3'), ('e', '<c8')])],
         numpy.dtype({'names': ['x', 'y'], 'formats': ['u1', '<f8'], 'offsets': [3, 8],
                      'itemsize': 24})]


@pytest.mark.parametrize('dtype', ALIKE, ids=str)
def test_types_that_numpy_has(dtype):
    dtype = numpy.dtype(dtype)
    assert stored_dtype(h5t.py_create(dtype)) == dtype


def test_types_of_one_byte_have_no_order():
    for stored, dtype in ((h5t.STD_U8BE, 'u1'), (h5t.STD_I8BE, 'i1'), (h5t.STD_I8LE, 'i1')):
        assert stored_dtype(stored) == numpy.dtype(dtype)


def test_booleans_and_enumerations():
    assert stored_dtype(h5t.STD_B8LE) == numpy.dtype(bool)
    assert stored_dtype(h5t.STD_B16LE) is None
    colours = h5py.enum_dtype({'red': 1, 'blue': 2}, '>i2')
    assert stored_dtype(h5t.py_create(colours, logical=True)) == numpy.dtype('>i2')
    assert stored_dtype(h5t.py_create(colours, logical=True)).metadata is None


def test_types_that_must_be_converted():
    short = h5t.STD_I32LE.copy()
    short.set_precision(17)
    assert stored_dtype(short) is None
    other = h5t.IEEE_F32LE.copy()
    other.set_ebias(100)
    assert stored_dtype(other) is None
    assert stored_dtype(h5t.UNIX_D64LE) is None
    assert stored_dtype(h5t.py_create(h5py.string_dtype(), logical=True)) is None
    assert stored_dtype(h5t.py_create(h5py.vlen_dtype('i4'), logical=True)) is None
    assert stored_dtype(h5t.array_create(h5t.UNIX_D64LE, (3,))) is None


def test_fields_that_must_be_converted_are_plain_bytes():
    record = h5t.create(h5t.COMPOUND, 24)
    record.insert(b'before', 0, h5t.STD_I32LE)
    record.insert(b'when', 4, h5t.UNIX_D64LE)
    record.insert(b'after', 16, h5t.IEEE_F64BE)
    assert stored_dtype(record) == numpy.dtype({
        'names': ['before', 'when', 'after'], 'formats': ['<i4', 'V8', '>f8'],
        'offsets': [0, 4, 16], 'itemsize': 24})


def test_pairs_of_floats_are_complex_only_if_they_are_called_so():
    for first, second, offset, size, wanted in (
            (b'r', b'i', 8, 16, '<c16'), (b'x', b'y', 8, 16, None), (b'r', b'i', 16, 24, None)):
        pair = h5t.create(h5t.COMPOUND, size)
        pair.insert(first, 0, h5t.IEEE_F64LE)
        pair.insert(second, offset, h5t.IEEE_F64LE)
        found = stored_dtype(pair)
        assert found == numpy.dtype(wanted) if wanted else found.names == (
            first.decode(), second.decode())
