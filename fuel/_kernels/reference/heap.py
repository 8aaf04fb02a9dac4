"""Objects of the global heap of an HDF5 file, each copied into an array of its own, in numpy.

The heap consists of collections. The header of a collection (``GCOL``, a version, its size in
bytes) is followed by numbered objects, each with a header of its own (number, count of references,
size in bytes) and padded to a multiple of 8 bytes. Object 0 stands for free space. A reference to
an object tells how many values it has, where its collection begins, and its number.
"""
from __future__ import annotations

import struct
from typing import Any

import numpy

from fuel._kernels.reference.examples import ExampleError, _check_shape, _check_shapes
from fuel._types import AnyArray

__all__ = ['DamagedHeapError', 'heap_arrays']

_COLLECTION, _OBJECT = struct.Struct('<4sB3xQ'), struct.Struct('<HHIQ')
_REFERENCE = numpy.dtype([('count', '<u4'), ('address', '<u8'), ('number', '<u4')])
_LARGEST_TABLE = 2 ** 32 - 1


class DamagedHeapError(ExampleError):
    """What the heap holds for an example makes no sense, so that the file must be damaged."""


def heap_arrays(file: AnyArray, base: int, references: AnyArray, dtype: Any,
                shapes: AnyArray | None = None, tables: dict[int, AnyArray] | None = None,
                threads: int = 1) -> AnyArray:
    """Copy objects of the global heap of an HDF5 file into arrays of their own.

    Parameters
    ----------
    file : ndarray of uint8, shape (bytes,)
        The whole file.
    base : int
        Where addresses are counted from: the length of the user block.
    references : ndarray, shape (m,)
        As they are stored, in 16 bytes each: the number of values, the address of the collection
        and the number of the object, as little-endian integers of 4, 8 and 4 bytes.
    dtype : dtype
        That of the values.
    shapes : ndarray of int64, shape (m, axes), optional
        The shape of each example. By default they have one axis.
    tables : dict, optional
        Keeps where the objects of large collections lie, from call to call. It belongs to one
        file. Maps the address of a collection to an array of uint32, which has the size of the
        collection first, and for each number where in the collection its object begins; 0 if
        there is none.
    threads : int, optional
        How many threads copy, at most. By default 1.

    Returns
    -------
    ndarray of object, shape (m,)
        A fresh array for each reference. One without values refers to nothing.

    Raises
    ------
    ExampleError
        An example does not fill its shape.
    DamagedHeapError
        A reference leads to something that is no object of as many values.
    TypeError
        An argument has another dtype or other axes, or `dtype` holds references or nothing.
    """
    dtype = numpy.dtype(dtype)
    _check_heap_arguments(file, base, references, dtype)
    _check_shapes(shapes, len(references))
    tables = {} if tables is None else tables
    parsed = numpy.frombuffer(references.tobytes(), dtype=_REFERENCE)
    result = numpy.empty(len(references), dtype=object)
    for place, (count, address, number) in enumerate(parsed.tolist()):
        size = count * dtype.itemsize
        try:
            start = _find(file, base, address, number, size, tables) if count else 0
        except LookupError as error:
            raise DamagedHeapError(place, f'cannot be read, for the file is damaged: {error}'
                                   ) from None
        result[place] = file[start:start + size].copy().view(dtype)
    if shapes is not None:
        for place, shape in enumerate(shapes.tolist()):
            _check_shape(place, shape, len(result[place]), dtype.itemsize)
            result[place] = result[place].reshape(shape)
    return result


def _check_heap_arguments(file: AnyArray, base: int, references: AnyArray,
                          dtype: numpy.dtype[Any]) -> None:
    if file.ndim != 1 or file.dtype != numpy.uint8 or not file.flags.c_contiguous or base < 0:
        raise TypeError('expected the file as a vector of uint8 and a base that is not negative; '
                        f'got {file.dtype} of shape {file.shape}, and {base}')
    if references.ndim != 1 or references.dtype.itemsize != 16 or references.dtype.hasobject:
        raise TypeError('expected a vector of references of 16 bytes; got '
                        f'{references.dtype} of shape {references.shape}')
    if dtype.hasobject or not dtype.itemsize or dtype.subdtype is not None:
        raise TypeError(f'expected a dtype of plain values; got {dtype}')


def _find(file: AnyArray, base: int, address: int, number: int, size: int,
          tables: dict[int, AnyArray]) -> int:
    """Return where in the file the bytes of an object begin."""
    begin, length = _collection(file, base, address)
    table = tables.get(address)
    if table is None:
        table = _table(file, begin, length)
        if length <= _LARGEST_TABLE:
            tables[address] = table
    offset = int(table[number]) if 0 < number < len(table) else 0
    if not offset:
        raise LookupError(f'the collection at byte {begin} has no object {number}')
    found, _, _, stored = _OBJECT.unpack_from(file.data, begin + offset)
    if found != number or stored > length - offset - _OBJECT.size:
        raise LookupError(f'object {number} of the collection at byte {begin} has changed')
    if stored != size:
        raise LookupError(f'object {number} of the collection at byte {begin} has {stored} bytes '
                          f'where {size} are expected')
    return begin + offset + _OBJECT.size


def _collection(file: AnyArray, base: int, address: int) -> tuple[int, int]:
    """Return where a collection begins, and its size in bytes."""
    begin = base + address
    if begin > len(file) - _COLLECTION.size:
        raise LookupError(f'its values are said to be at byte {begin}, and the file has '
                          f'{len(file)} bytes')
    signature, version, length = _COLLECTION.unpack_from(file.data, begin)
    if signature != b'GCOL' or version != 1:
        raise LookupError(f'at byte {begin} there is no collection of values')
    if not _COLLECTION.size <= length <= len(file) - begin:
        raise LookupError(f'the collection at byte {begin} is said to have {length} bytes, and '
                          f'the file has {len(file)}')
    return begin, length


def _table(file: AnyArray, begin: int, length: int) -> AnyArray:
    """Return the size of a collection and where in it each object begins.

    What follows an object that cannot be is not looked at.
    """
    content = file.data
    places: dict[int, int] = {}
    offset = _COLLECTION.size
    while length - offset >= _OBJECT.size:
        number, _, _, size = _OBJECT.unpack_from(content, begin + offset)
        if number == 0:
            if not _OBJECT.size <= size <= length - offset or size % 8:
                break
            offset += size
            continue
        if size > length - offset - _OBJECT.size:
            break
        places.setdefault(number, offset)
        offset += _OBJECT.size + (size + 7) // 8 * 8
    table = numpy.zeros(max(places, default=0) + 1,
                        dtype=numpy.uint32 if length <= _LARGEST_TABLE else numpy.uint64)
    for number, offset in places.items():
        table[number] = offset
    table[0] = length
    return table
