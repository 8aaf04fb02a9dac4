"""Examples of variable length, and global heaps as HDF5 stores them, made by hand."""
import struct

import numpy

DTYPES = ['u1', '>i2', '<f4', 'c16', 'S3', 'V5', '?', [('a', 'u1'), ('b', '>f4')]]
# Shapes that five values do not fill.
UNFILLED = [(2, 3, 1), (-1, -5, 1), (-5, 1, 1), (0, 2**62, 2**62), (2**32, 2**32, 1), (5, 2**62, 4),
            (2**63 - 1, 3, 5), (0, 5, 1)]


def vector(*numbers):
    return numpy.array(numbers, dtype='i8')


def some_bytes(count, seed=0):
    return numpy.random.default_rng(seed).bytes(count)


def check_fresh(result, wanted, dtype, *sources):
    assert type(result) is numpy.ndarray
    assert result.dtype == object
    assert result.shape == (len(wanted),)
    for array, expected in zip(result, wanted, strict=True):
        assert type(array) is numpy.ndarray
        assert array.dtype == dtype
        assert array.shape == expected.shape
        assert array.tobytes() == expected.tobytes()
        assert array.flags.writeable
        assert not any(numpy.shares_memory(array, source) for source in sources)


def an_object(number, data, size=None):
    """Return an object of a collection; `size` is what its header says, if not the truth."""
    header = struct.pack('<HHIQ', number, 1, 0, len(data) if size is None else size)
    return header + data + b'\0' * (-len(data) % 8)


def free_space(size):
    return struct.pack('<HHIQ', 0, 0, 0, size) + b'\xaa' * max(size - 16, 0)


def a_collection(*objects, signature=b'GCOL', version=1, size=None):
    content = b''.join(objects)
    return signature + bytes([version, 0, 0, 0]) + struct.pack(
        '<Q', 16 + len(content) if size is None else size) + content


def a_reference(count, address, number):
    return struct.pack('<IQI', count, address, number)


def references(*parts):
    return numpy.frombuffer(b''.join(a_reference(*part) for part in parts), dtype='V16')


def as_file(*parts, base=0):
    """Return the bytes of a file, and the address of each part."""
    addresses, content = [], b'\x55' * base
    for part in parts:
        content += b'\x33' * (-(len(content) - base) % 8)
        addresses.append(len(content) - base)
        content += part
    return numpy.frombuffer(content, dtype='u1'), addresses
