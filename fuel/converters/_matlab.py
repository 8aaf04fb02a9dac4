"""Reading of MATLAB files, of the format that MATLAB calls version 5 (also 6 and 7).

Such a file has a header of 128 bytes, and then an *element* for each variable: a tag of eight
bytes with the type and the number of bytes, and the content. That of a variable is an array, which
is made of elements itself: flags, dimensions, name, values. A variable can be compressed by zlib
as a whole. MathWorks describes the format in "MAT-File Format".

`read_mat` leaves the reading to scipy, and is for small files. `stream_mat` gives one array piece
by piece, so that it need not be in memory as a whole.
"""
from __future__ import annotations

import math
import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy

from fuel._types import AnyArray
from fuel.converters._inputs import open_input
from fuel.exceptions import ConversionError

__all__ = ['read_mat', 'stream_mat']

_HEADER_BYTES, _TAG_BYTES = 128, 8
_INT8, _INT32, _UINT32, _MATRIX, _COMPRESSED = 1, 5, 6, 14, 15
#: Types of stored values.
_STORED = {1: 'i1', 2: 'u1', 3: 'i2', 4: 'u2', 5: 'i4', 6: 'u4', 7: 'f4', 9: 'f8', 12: 'i8',
           13: 'u8'}
#: Classes of arrays of numbers. MATLAB stores them as a smaller type where all values fit.
_NUMERIC = {6: 'f8', 7: 'f4', 8: 'i1', 9: 'u1', 10: 'i2', 11: 'u2', 12: 'i4', 13: 'u4', 14: 'i8',
            15: 'u8'}
_OTHER = {1: 'a cell array', 2: 'a structure', 3: 'an object', 4: 'text', 5: 'a sparse matrix',
          16: 'a function', 17: 'an object'}
_COMPLEX, _LOGICAL = 0x08, 0x02
# A name in MATLAB has 63 letters at most, an array of numpy 64 axes.
_LONGEST_NAME, _MOST_AXES = 256, 64
_PIECE_BYTES, _BLOCK_BYTES = 1 << 17, 2 << 20
_HDF5_MAGIC = b'\x89HDF\r\n\x1a\n'


def read_mat(path: str | os.PathLike[str]) -> dict[str, AnyArray]:
    """Read all variables of a small MATLAB file, by scipy.

    The file is noted as an input of the conversion.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    dict
        Maps names to arrays, of the type in which their values are stored.

    Raises
    ------
    ConversionError
        It is no MATLAB file, one of version 7.3, cut off or damaged.
    """
    path = os.fspath(path)
    with open_input(path) as stream:
        _read_header(path, stream, old=True)
        stream.seek(0)
        import scipy.io
        try:
            variables = scipy.io.loadmat(stream)
        except OSError as error:
            if error.errno is not None:
                raise
            raise _unreadable(path, error) from error
        # scipy raises whatever comes up where a file is damaged: errors of zlib and struct,
        # MemoryError, KeyError and others.
        except Exception as error:
            raise _unreadable(path, error) from error
    return {name: value for name, value in variables.items() if not name.startswith('__')}


def _unreadable(path: str, error: Exception) -> ConversionError:
    return ConversionError(f'{path}: expected a MATLAB file; it is cut off or damaged '
                           f'({type(error).__name__}: {error}). Download it again')


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
            content = _Content(path, stream, element)
            array = _Array.read(content, byte_order)
            if array.name == name:
                return array.shape, array.dtype(path), _blocks(path, byte_order, element)
            names.append(array.name)
    raise ConversionError(f'{path}: expected a variable {name!r}; the file has '
                          f'{", ".join(map(repr, names)) or "none"}')


def _read_header(path: str, stream: BinaryIO, *, old: bool = False) -> str:
    """Return the sign of struct for the byte order, and leave the stream behind the header."""
    header = stream.read(_HEADER_BYTES)
    if header.startswith(_HDF5_MAGIC) or (len(header) == _HEADER_BYTES
                                          and header[124:] in (b'\0\2IM', b'\2\0MI')):
        raise ConversionError(f'{path} is a MATLAB file of version 7.3, which is an HDF5 file; '
                              'expected one of version 5. Save it in MATLAB with '
                              "save(name, ..., '-v7')")
    byte_order = {b'IM': '<', b'MI': '>'}.get(header[126:])
    if byte_order is None or struct.unpack(f'{byte_order}H', header[124:126])[0] != 0x0100:
        # Version 4 has no header: it begins with a number below 5000, in either byte order.
        if old and len(header) >= 20 and 0 in header[:4]:
            return '<'
        raise ConversionError(
            f'{path}: expected a MATLAB file of version 5, with the version and the byte order '
            f'at byte 124; got {header[124:]!r}, the file begins with {header[:20]!r}. '
            'Download it again')
    return byte_order


@dataclass(frozen=True, slots=True)
class _Element:
    """Where the content of a variable stands in a file."""

    start: int
    size: int
    compressed: bool


def _elements(path: str, stream: BinaryIO, byte_order: str) -> Iterator[_Element]:
    """Yield where the variables of a file are."""
    end = os.path.getsize(path)
    start = _HEADER_BYTES
    while start < end:
        stream.seek(start)
        tag = stream.read(_TAG_BYTES)
        kind, size = struct.unpack(f'{byte_order}II', tag) if len(tag) == _TAG_BYTES else (0, 0)
        if kind not in (_MATRIX, _COMPRESSED):
            raise ConversionError(f'{path}: expected a variable at byte {start} of {end}; got '
                                  f'{tag!r}. The file is damaged: download it again')
        start += _TAG_BYTES
        yield _Element(start, size, kind == _COMPRESSED)
        start += size if kind == _COMPRESSED else _padded(size)


def _padded(size: int) -> int:
    return -(-size // 8) * 8


class _Content:
    """The content of a variable, read from its beginning to its end.

    Parameters
    ----------
    path : str
        The file, for messages.
    stream : binary file
        The same, open.
    element : _Element
        Where the variable is in it.

    Attributes
    ----------
    left : int
        How many bytes are known to be left.
    """

    def __init__(self, path: str, stream: BinaryIO, element: _Element) -> None:
        self.path = path
        self._stream = stream
        self._end = element.start + element.size
        self._position = 0
        stream.seek(element.start)
        self._inflater = _inflater() if element.compressed else None
        # A compressed variable tells its size itself, in its first bytes.
        self.left = _TAG_BYTES if element.compressed else element.size

    def error(self, problem: str, advice: str = 'Download it again') -> ConversionError:
        """Return an error that says where in the file something is wrong."""
        place = f'at byte {self._stream.tell()}'
        if self._inflater is not None:
            place += f', after {self._position} bytes of a compressed variable'
        return ConversionError(f'{self.path}, {place}: {problem}. {advice}')

    @property
    def compressed(self) -> bool:
        """Whether what is read is decompressed on the way."""
        return self._inflater is not None

    def read(self, size: int) -> bytearray:
        """Return exactly so many bytes."""
        if size > self.left:
            raise self.error(f'expected {size} more bytes of the variable; it is said to have '
                             f'{self.left}')
        content = bytearray(size)
        view = memoryview(content)
        while view:
            count = self._read_into(view)
            if not count:
                raise self.error(f'the variable is cut off: {len(view)} bytes of it are missing')
            view = view[count:]
            self._position += count
        self.left -= size
        return content

    def _read_into(self, view: memoryview) -> int:
        piece = (self._stream.read(min(_PIECE_BYTES, len(view))) if self._inflater is None
                 else self._inflate(len(view)))
        view[:len(piece)] = piece
        return len(piece)

    def _inflate(self, most: int) -> bytes:
        """Return at least one and at most so many bytes; none at the end."""
        inflater = self._inflater
        while inflater is not None and not inflater.eof:
            packed = inflater.unconsumed_tail
            if not packed:
                packed = self._stream.read(min(_PIECE_BYTES, self._end - self._stream.tell()))
            try:
                piece: bytes = inflater.decompress(packed, most)
            except Exception as error:          # isal and zlib have errors of their own
                raise self.error(f'the compressed variable is damaged: {error}') from error
            if piece or not packed:
                return piece
        return b''

    def finish(self) -> None:
        """Read what is left of a compressed variable: the checksum of zlib stands at its end."""
        while self._inflater is not None and self._inflate(_PIECE_BYTES):
            pass
        if self._inflater is not None and not self._inflater.eof:
            raise self.error('the compressed variable is cut off before its end')


def _inflater() -> Any:
    """Return what undoes zlib, by isal if it is installed."""
    try:
        from isal import isal_zlib
    except ImportError:
        import zlib
        return zlib.decompressobj()
    return isal_zlib.decompressobj()


def _part(content: _Content, byte_order: str, what: str, *, most: int | None = None
          ) -> tuple[int, int, bytes | None]:
    """Read the tag of a part of an array, and its content unless it may be a large one.

    Returns
    -------
    kind, size : int
        Its type, and how many bytes it has.
    data : bytes or None
        The content; `None` if it follows in the stream.
    """
    tag = content.read(_TAG_BYTES)
    first, size = struct.unpack(f'{byte_order}II', tag)
    if first >> 16:                     # up to four bytes stand in the tag itself
        kind, size = first & 0xffff, first >> 16
        if size > 4:
            raise content.error(f'expected {what} of at most 4 bytes in a short element; got '
                                f'{size}')
        return kind, size, bytes(tag[4:4 + size])
    if most is None:
        return first, size, None
    if size > most:
        raise content.error(f'expected {what} of at most {most} bytes; got {size}')
    return first, size, bytes(content.read(_padded(size))[:size])


@dataclass(frozen=True, slots=True)
class _Array:
    """What stands before the values of an array."""

    name: str
    shape: tuple[int, ...]
    kind: int
    flags: int

    @classmethod
    def read(cls, content: _Content, byte_order: str) -> _Array:
        """Read it, and leave the stream at the values."""
        if content.compressed:
            kind, size = struct.unpack(f'{byte_order}II', content.read(_TAG_BYTES))
            if kind != _MATRIX:
                raise content.error(f'expected an array, which has the type {_MATRIX}; got the '
                                    f'type {kind}')
            content.left = size
        kind, _, flags = _part(content, byte_order, 'flags', most=8)
        if kind != _UINT32 or flags is None or len(flags) != 8:
            raise content.error(f'expected the flags of an array; got the type {kind}')
        word = struct.unpack(f'{byte_order}II', flags)[0]
        kind, _, sizes = _part(content, byte_order, 'dimensions', most=4 * _MOST_AXES)
        shape = (struct.unpack(f'{byte_order}{len(sizes) // 4}i', sizes)
                 if sizes is not None and not len(sizes) % 4 else ())
        if kind != _INT32 or len(shape) < 2 or min(shape) < 0:
            raise content.error(f'expected two or more dimensions; got {shape} of the type {kind}')
        kind, _, letters = _part(content, byte_order, 'a name', most=_LONGEST_NAME)
        if kind != _INT8 or letters is None:
            raise content.error(f'expected the name of a variable; got the type {kind}')
        return cls(letters.decode('latin-1'), shape, word & 0xff, word >> 8 & 0xff)

    def dtype(self, path: str) -> numpy.dtype[Any]:
        """Return that of the array in MATLAB."""
        if self.kind not in _NUMERIC or self.flags & _COMPLEX:
            what = ('complex numbers' if self.kind in _NUMERIC
                    else _OTHER.get(self.kind, f'something of class {self.kind}'))
            raise ConversionError(f'{path}: expected the variable {self.name!r} to be an array of '
                                  f'real numbers; got {what}')
        return numpy.dtype(bool if self.flags & _LOGICAL else _NUMERIC[self.kind])


def _blocks(path: str, byte_order: str, element: _Element) -> Iterator[AnyArray]:
    """Yield the values of an array."""
    with open_input(path) as stream:
        content = _Content(path, stream, element)
        array = _Array.read(content, byte_order)
        kind, size, data = _part(content, byte_order, 'values')
        if kind not in _STORED:
            raise content.error(f'expected numbers for the values of {array.name!r}; got the type '
                                f'{kind}')
        stored = numpy.dtype(f'{byte_order}{_STORED[kind]}')
        if size != math.prod(array.shape) * stored.itemsize:
            raise content.error(f'expected {math.prod(array.shape)} values of {array.name!r}, for '
                                f'its shape {array.shape}; got {size} bytes of {stored}')
        dtype = array.dtype(path)
        *row, length = array.shape
        row_bytes = math.prod(row) * stored.itemsize
        rows = max(1, _BLOCK_BYTES // max(1, row_bytes))
        for start in range(0, length, rows):
            count = min(rows, length - start)
            piece = (content.read(count * row_bytes) if data is None
                     else data[start * row_bytes:(start + count) * row_bytes])
            values = numpy.frombuffer(piece, stored).reshape((*row, count), order='F')
            # Which leaves memory and order alone where the type is that already.
            yield values.astype(dtype, order='K', copy=False)
        content.finish()
