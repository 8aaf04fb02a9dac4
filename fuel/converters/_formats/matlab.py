"""Reading of MATLAB files, of the format that MATLAB calls version 5 (also 6 and 7).

Such a file has a header of 128 bytes, and then an *element* for each variable: a tag of eight
bytes with the type and the number of bytes, and the content. That of a variable is an array, which
is made of elements itself: flags, dimensions, name, values. A variable can be compressed by zlib
as a whole. MathWorks describes the format in "MAT-File Format".

`read_mat` gives variables as a whole, and is for small files. `stream_mat` gives one array piece
by piece, so that it need not be in memory as a whole. Nothing is left to scipy: a single byte that
is wrong can end its reader, and with it the process, without a word.
"""
from __future__ import annotations

import math
import os
import struct
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy

from fuel._types import AnyArray
from fuel.converters._conversion.inputs import open_input
from fuel.converters._formats.matlab_arrays import (
    COMPRESSED,
    MATRIX,
    TAG_BYTES,
    ArrayHeader,
    padded,
    part,
)
from fuel.converters._formats.matlab_values import ValueReader
from fuel.converters._formats.zlib_streams import Content
from fuel.exceptions import ConversionError

__all__ = ['read_mat', 'read_mat_stream', 'stream_mat']

_HEADER_BYTES = 128
_BLOCK_BYTES = 2 << 20
# All variables of a small file together, and the part of an array that is read at once.
_MOST_BYTES, _MOST_ROW_BYTES = 1 << 27, 1 << 28
_HDF5_MAGIC = b'\x89HDF\r\n\x1a\n'


def read_mat(path: str | os.PathLike[str], names: Collection[str] | None = None
             ) -> dict[str, AnyArray]:
    """Read variables of a small MATLAB file.

    The file is noted as an input of the conversion.

    Parameters
    ----------
    path : str or path
        The file.
    names : collection of str, optional
        Which variables to read; by default all of them. Others may be of any kind.

    Returns
    -------
    dict
        Maps names to arrays, in the order of the file. Numbers are of the type in which their
        values are stored. Text has a string for each row, cell arrays and structures have arrays
        in them.

    Raises
    ------
    ConversionError
        It is no MATLAB file of version 5, cut off or damaged, or has more than 128 MB; or a
        variable is missing, or of another kind than those.
    """
    path = os.fspath(path)
    with open_input(path) as stream:
        return read_mat_stream(stream, path, names)


def read_mat_stream(stream: BinaryIO, where: str, names: Collection[str] | None = None, *,
                    most: int = _MOST_BYTES) -> dict[str, AnyArray]:
    """Read variables of a small MATLAB file that is open.

    Parameters
    ----------
    stream : binary file
        The file, which must be seekable.
    where : str
        What to call it in messages.
    names : collection of str, optional
        As for `read_mat`, which says what is returned and raised too.
    most : int, optional
        The most bytes that the variables may have together, decompressed.
    """
    byte_order = _read_header(where, stream)
    reader = ValueReader(byte_order)
    size = 0
    seen: list[str] = []
    found: dict[str, AnyArray] = {}
    for element in _elements(where, stream, byte_order):
        content = _content(where, stream, element, byte_order)
        size += content.left
        if size > most:
            raise content.error(f'expected variables of at most {most} bytes together; got {size} '
                                'or more', 'This is not the file that it should be')
        header = ArrayHeader.read(content, byte_order)
        if names is None or header.name in names:
            if header.name in found:
                raise content.error(f'expected the variable {header.name!r} once; it is there '
                                    'twice')
            found[header.name] = reader.read(content, header)
        content.finish()
        seen.append(header.name)
    for name in names or ():
        if name not in found:
            raise _missing(where, name, sorted(seen))
    return found


def stream_mat(path: str | os.PathLike[str], name: str
               ) -> tuple[tuple[int, ...], numpy.dtype[Any], Iterator[AnyArray]]:
    """Read one array of numbers of a MATLAB file piece by piece.

    The file is noted as an input of the conversion.

    Parameters
    ----------
    path : str or path
        The file.
    name : str
        The variable.

    Returns
    -------
    shape : tuple of int
        That of the array.
    dtype : numpy.dtype
        That of the array in MATLAB, bool for logical arrays, in the byte order of this machine.
    blocks : iterator of numpy.ndarray
        About 2 MB each. Joined along their *last* axis they are the array: there, in the order in
        which MATLAB stores arrays, examples follow each other. The axes of a block lie in memory
        in the order of Fortran.

    Raises
    ------
    ConversionError
        It is no MATLAB file of version 5, cut off or damaged; there is no such variable, or it is
        none of real numbers. What comes up while blocks are read is raised there.
    """
    path = os.fspath(path)
    with open_input(path) as stream:
        byte_order = _read_header(path, stream)
        names = []
        for element in _elements(path, stream, byte_order):
            content = _content(path, stream, element, byte_order)
            header = ArrayHeader.read(content, byte_order)
            if header.name == name:
                return header.shape, header.dtype(path), _blocks(path, byte_order, element)
            names.append(header.name)
    raise _missing(path, name, names)


def _missing(where: str, name: str, names: Collection[str]) -> ConversionError:
    return ConversionError(f'{where}: expected a variable {name!r}; the file has '
                           f'{", ".join(map(repr, names)) or "none"}')


def _read_header(where: str, stream: BinaryIO) -> str:
    """Return the sign of struct for the byte order, and leave the stream behind the header."""
    header = stream.read(_HEADER_BYTES)
    if header.startswith(_HDF5_MAGIC) or (len(header) == _HEADER_BYTES
                                          and header[124:] in (b'\0\2IM', b'\2\0MI')):
        raise ConversionError(f'{where} is a MATLAB file of version 7.3, which is an HDF5 file; '
                              'expected one of version 5. Save it in MATLAB with '
                              "save(name, ..., '-v7')")
    byte_order = {b'IM': '<', b'MI': '>'}.get(header[126:])
    if byte_order is None or struct.unpack(f'{byte_order}H', header[124:126])[0] != 0x0100:
        # Version 4 has no header: it begins with a number below 5000, in either byte order.
        advice = ('Download it again' if len(header) < 20 or 0 not in header[:4] else
                  "If it is one of version 4, save it anew in MATLAB with save(name, ..., '-v7')")
        raise ConversionError(
            f'{where}: expected a MATLAB file of version 5, with the version and the byte order '
            f'at byte 124; got {header[124:]!r}, the file begins with {header[:20]!r}. {advice}')
    return byte_order


@dataclass(frozen=True, slots=True)
class _Element:
    """Where the content of a variable stands in a file."""

    start: int
    size: int
    compressed: bool


def _elements(where: str, stream: BinaryIO, byte_order: str) -> Iterator[_Element]:
    """Yield where the variables of a file are."""
    end = stream.seek(0, os.SEEK_END)
    start = _HEADER_BYTES
    while start < end:
        stream.seek(start)
        tag = stream.read(TAG_BYTES)
        kind, size = struct.unpack(f'{byte_order}II', tag) if len(tag) == TAG_BYTES else (0, 0)
        if kind not in (MATRIX, COMPRESSED):
            raise ConversionError(f'{where}: expected a variable at byte {start} of {end}; got '
                                  f'{tag!r}. The file is damaged: download it again')
        start += TAG_BYTES
        if size > end - start:
            raise ConversionError(f'{where} is cut off or damaged: expected {size} bytes of a '
                                  f'variable at byte {start}; the file ends after {end - start}. '
                                  'Download it again')
        yield _Element(start, size, kind == COMPRESSED)
        start += size if kind == COMPRESSED else padded(size)


def _content(where: str, stream: BinaryIO, element: _Element, byte_order: str) -> Content:
    """Return the content of a variable, at the parts of the array."""
    # A compressed variable tells its size itself, in its first bytes.
    content = Content(where, stream, element.start, element.size, compressed=element.compressed,
                      known=TAG_BYTES)
    if element.compressed:
        kind, size = struct.unpack(f'{byte_order}II', content.read(TAG_BYTES))
        if kind != MATRIX:
            raise content.error(f'expected an array, which has the type {MATRIX}; got the type '
                                f'{kind}')
        content.left = size
    return content


def _blocks(path: str, byte_order: str, element: _Element) -> Iterator[AnyArray]:
    """Yield the values of an array."""
    with open_input(path) as stream:
        content = _content(path, stream, element, byte_order)
        header = ArrayHeader.read(content, byte_order)
        kind, size, data = part(content, byte_order, 'values')
        stored = header.stored(content, byte_order, kind, size)
        dtype = header.dtype(path)
        *row, length = header.shape
        row_bytes = math.prod(row) * stored.itemsize
        if row_bytes > _MOST_ROW_BYTES:
            raise content.error(f'expected parts of at most {_MOST_ROW_BYTES} bytes along the last '
                                f'axis of {header.name!r}; got the shape {header.shape}')
        rows = max(1, _BLOCK_BYTES // max(1, row_bytes))
        for start in range(0, length, rows):
            count = min(rows, length - start)
            piece = (content.read(count * row_bytes) if data is None
                     else data[start * row_bytes:(start + count) * row_bytes])
            values = numpy.frombuffer(piece, stored).reshape((*row, count), order='F')
            # Which leaves memory and order alone where the type is that already.
            yield values.astype(dtype, order='K', copy=False)
        content.finish()
