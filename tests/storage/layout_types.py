"""The types that the values of a data set can have in a file."""
import enum

import h5py
import numpy

from tests.storage.layout_entry import SHAPE, Layout, created, stored, values

PLAIN = ('bool', 'int8', 'uint8', '<i2', '>i2', '<u2', '>u2', '<i4', '>i4', '<u4', '>u4', '<i8',
         '>i8', '<u8', '>u8', '<f2', '>f2', '<f4', '>f4', '<f8', '>f8', '<c8', '>c8', '<c16')
PAIR = numpy.dtype([('a', '<i2'), ('b', '>f4')])
APART = numpy.dtype({'names': ['a', 'b'], 'formats': ['u1', '<f8'], 'offsets': [0, 8],
                     'itemsize': 24})
DEEP = numpy.dtype([('pair', PAIR), ('list', '<u2', (2, 3)), ('name', 'S3'), ('flag', '?')])


class Colour(enum.IntEnum):
    """A type of named numbers."""

    RED = 0
    GREEN = 1
    BLUE = 200


def enumerated(h5file):
    rows = numpy.random.default_rng(0).choice(numpy.array([0, 1, 200], 'uint8'), SHAPE)
    names = {member.name: int(member) for member in Colour}
    h5file.create_dataset('x', data=rows, dtype=h5py.enum_dtype(names, basetype='u1'))
    return rows


def opaque(dtype):
    def write(h5file):
        rows = values(dtype=dtype)
        h5file.create_dataset('x', data=rows.astype(h5py.opaque_dtype(rows.dtype)),
                              chunks=(4, 3, 5))
        return rows
    return write


def ended(padding, mark):
    """Write strings whose ends are marked in another way than numpy does it."""
    def write(h5file):
        kind = h5py.h5t.C_S1.copy()
        kind.set_size(6)
        kind.set_strpad(padding)
        words = [b'ab', b'c d', b'', b'five5'] * 5
        raw = numpy.array([word.ljust(6, mark) for word in words], 'S6')
        dataset = created(h5file, raw[:0], file_type=kind, maxshape=(20,), chunks=(3,))
        dataset.resize(20, axis=0)
        # Bytes as they are, without conversion from one kind of string to another.
        dataset.id.write(h5py.h5s.ALL, h5py.h5s.ALL, raw, kind)
        return numpy.array(words, 'S6')
    return write


def behind_the_end(h5file):
    """Write strings with other bytes behind the byte 0 that ends them."""
    kind = h5py.h5t.C_S1.copy()
    kind.set_size(6)
    rows = numpy.array([b'ab', b'c', b'', b'five5'], dtype='S6')
    raw = numpy.array([b'ab\0xyz', b'c\0\0q\0\0', b'\0!!!!!', b'five5\0'], dtype='S6')
    dataset = created(h5file, rows, file_type=kind)
    dataset.id.write(h5py.h5s.ALL, h5py.h5s.ALL, raw, kind)
    return rows


def short_numbers(h5file):
    """Integers of 12 bits in 16."""
    kind = h5py.h5t.STD_I16LE.copy()
    kind.set_precision(12)
    rows = numpy.random.default_rng(0).integers(-2048, 2048, SHAPE).astype('int16')
    created(h5file, rows, file_type=kind)
    return rows


def shifted_numbers(h5file):
    """Integers of 12 bits that do not begin at the first bit."""
    kind = h5py.h5t.STD_U16LE.copy()
    kind.set_precision(12)
    kind.set_offset(4)
    rows = numpy.random.default_rng(0).integers(0, 4096, SHAPE).astype('uint16')
    created(h5file, rows, file_type=kind)
    return rows


def short_floats(h5file):
    """The first two bytes of float32, in two bytes."""
    kind = h5py.h5t.IEEE_F32LE.copy()
    kind.set_fields(15, 7, 8, 0, 7)
    kind.set_size(2)
    kind.set_ebias(127)
    rows = numpy.random.default_rng(0).integers(-128, 128, SHAPE).astype('float32')
    created(h5file, rows, file_type=kind)
    return rows


def strings(h5file):
    rows = numpy.array([b'', b'a', 'å'.encode(), b'word ' * 30] * 5, dtype=object)
    h5file.create_dataset('x', data=rows, dtype=h5py.string_dtype())
    return rows


def with_strings(h5file):
    """Structures that have strings of any length in them."""
    rows = numpy.zeros(20, [('number', 'i4'), ('word', object)])
    rows['number'] = values((20,))
    rows['word'] = [b'x' * length for length in range(20)]
    kind = numpy.dtype([('number', 'i4'), ('word', h5py.string_dtype('ascii'))])
    h5file.create_dataset('x', data=rows.astype(kind), dtype=kind)
    return rows


def lists(h5file):
    rows = values((37,), ('<i4', (3,)))
    h5file.create_dataset('x', (37,), dtype=numpy.dtype(('<i4', (3,))))[...] = rows
    return rows


def half_pair(h5file):
    """Structures with fields of a type that must be converted."""
    kind = h5py.h5t.create(h5py.h5t.COMPOUND, 6)
    short = h5py.h5t.STD_I16LE.copy()
    short.set_precision(9)
    kind.insert(b'a', 0, short)
    kind.insert(b'b', 2, h5py.h5t.IEEE_F32BE)
    rows = numpy.zeros((20,), [('a', '<i2'), ('b', '>f4')])
    rows['a'] = numpy.random.default_rng(0).integers(-256, 256, 20)
    rows['b'] = values((20,), 'float32')
    created(h5file, rows, file_type=kind)
    return rows


TYPES = {
    **{f'contiguous {dtype}': Layout(stored(dtype=dtype), 'mapped') for dtype in PLAIN},
    **{f'chunks of {dtype}': Layout(stored(dtype=dtype, chunks=(4, 2, 5)), 'mapped')
       for dtype in ('bool', '>i2', '<f2', '>f8', '<c8')},
    **{f'gzip of {dtype}': Layout(stored(dtype=dtype, chunks=(4, 3, 5), compression='gzip',
                                         shuffle=True), 'decoded')
       for dtype in ('bool', '>i2', '<f2', '>f8', '<c8', 'int8')},
    'enumeration': Layout(enumerated, 'mapped'),
    'strings of 7 bytes': Layout(stored(dtype='S7'), 'mapped'),
    'strings of 7 bytes, gzip': Layout(stored(dtype='S7', chunks=(4, 3, 5), shuffle=True,
                                              compression='gzip'), 'decoded'),
    'structures': Layout(stored(dtype=PAIR), 'mapped'),
    'structures, chunks': Layout(stored(dtype=PAIR, chunks=(4, 2, 5)), 'mapped'),
    'structures with gaps': Layout(stored(dtype=APART), 'mapped'),
    'structures in structures': Layout(stored((37,), DEEP), 'mapped'),
    'structures, gzip': Layout(stored((37,), DEEP, chunks=(5,), compression='gzip',
                                      shuffle=True), 'decoded'),
    'lists': Layout(lists, None),
    'opaque bytes': Layout(stored(dtype='V5'), 'mapped'),
    'dates': Layout(opaque('M8[us]'), 'mapped'),
    'durations': Layout(opaque('m8[s]'), 'mapped'),
    'long floats': Layout(stored(dtype='longdouble'), None),
    'strings that end with 0': Layout(ended(h5py.h5t.STR_NULLTERM, b'\0'), None),
    'strings that end with blanks': Layout(ended(h5py.h5t.STR_SPACEPAD, b' '), 'library'),
    'strings with bytes behind their end': Layout(behind_the_end, 'library'),
    'integers of 12 bits': Layout(short_numbers, 'library'),
    'integers of 12 bits, shifted': Layout(shifted_numbers, 'library'),
    'floats of two bytes': Layout(short_floats, 'library'),
    'structures to be converted': Layout(half_pair, 'library'),
    'strings of any length': Layout(strings, 'library'),
    'structures with strings of any length': Layout(with_strings, 'library'),
}
