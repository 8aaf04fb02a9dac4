"""Arrays of MATLAB files as a whole: numbers, text, and the cells and structures that hold them.

Everything is measured before room is made for it. A file of a few bytes cannot ask for more than
the limits below, and nesting has an end.
"""
from __future__ import annotations

import math
import struct
from typing import Any

import numpy

from fuel._types import AnyArray
from fuel.converters._formats.matlab_arrays import (
    CELLS,
    INT8,
    INT32,
    MATRIX,
    STRUCTURE,
    TAG_BYTES,
    TEXT,
    ArrayHeader,
    part,
)
from fuel.converters._formats.zlib_streams import Content

__all__ = ['ValueReader']

_MOST_DEPTH, _MOST_ARRAYS, _MOST_LETTERS = 16, 1 << 17, 1 << 22
_MOST_FIELDS, _LONGEST_FIELD = 1 << 10, 256
#: How letters are stored. Text of one byte a letter is ASCII, but for a few old files.
_CODECS = {1: 'latin-1', 2: 'latin-1', 4: 'utf-16', 16: 'utf-8', 17: 'utf-16', 18: 'utf-32'}
_WITH_ORDER = ('utf-16', 'utf-32')


class ValueReader:
    """Reads arrays, of a file in which there may be so much and no more.

    Parameters
    ----------
    byte_order : str
        The sign of struct for it.
    """

    def __init__(self, byte_order: str) -> None:
        self._order = byte_order
        self._arrays, self._letters = _MOST_ARRAYS, _MOST_LETTERS

    def read(self, content: Content, header: ArrayHeader, depth: int = 0) -> AnyArray:
        """Return the values of an array.

        Parameters
        ----------
        content : Content
            At the values.
        header : ArrayHeader
            What stood before them.
        depth : int, optional
            How many arrays it is in.

        Returns
        -------
        numpy.ndarray
            Numbers are of the type in which they are stored. Text has a string for each row; a
            cell array has arrays for its items, a structure has fields with arrays.

        Raises
        ------
        ConversionError
            The array is damaged, of another kind, or larger than what is read as a whole.
        """
        if header.kind == TEXT:
            return self._text(content, header)
        if header.kind in (CELLS, STRUCTURE):
            if depth == _MOST_DEPTH:
                raise content.error(f'expected arrays in each other to a depth of {_MOST_DEPTH}; '
                                    'there are more')
            return (self._cells if header.kind == CELLS else self._structure)(
                content, header, depth)
        header.dtype(content.where)             # or an error that says what it is
        kind, size, data = part(content, self._order, 'values')
        stored = header.stored(content, self._order, kind, size)
        values = numpy.frombuffer(content.read(size) if data is None else bytearray(data), stored)
        return values.astype(stored.newbyteorder('='), copy=False).reshape(header.shape, order='F')

    def _text(self, content: Content, header: ArrayHeader) -> AnyArray:
        """Return text, a string for each row."""
        count = math.prod(header.shape)
        self._letters -= count
        if self._letters < 0:
            raise content.error(f'expected texts of at most {_MOST_LETTERS} letters together; '
                                'there are more')
        kind, size, data = part(content, self._order, 'letters', most=4 * count)
        if kind not in _CODECS:
            raise content.error(f'expected letters; got the type {kind}')
        if not count:
            return numpy.zeros(0, 'U1')
        codec = _CODECS[kind]
        if codec in _WITH_ORDER:
            codec += '-le' if self._order == '<' else '-be'
        text = (data or b'').decode(codec, 'replace')
        rows = math.prod(header.shape[:-1])
        # A letter may be two of those that MATLAB counts; in a single row that does no harm.
        if len(text) != count and (rows != 1 or len(text) > count):
            raise content.error(f'expected {count} letters; got {len(text)} in {size} bytes')
        if rows == 1:
            return numpy.array([text]).reshape(header.shape[:-1])
        letters = numpy.array(list(text)).reshape(header.shape, order='F')
        joined = [''.join(row) for row in letters.reshape(rows, -1).tolist()]
        return numpy.array(joined).reshape(header.shape[:-1])

    def _cells(self, content: Content, header: ArrayHeader, depth: int) -> AnyArray:
        """Return the items of a cell array."""
        count = self._count(content, header.shape, 1)
        items = numpy.empty(count, dtype=object)
        for place in range(count):
            items[place] = self._inner(content, depth)
        return items.reshape(header.shape, order='F')

    def _structure(self, content: Content, header: ArrayHeader, depth: int) -> AnyArray:
        """Return the fields of a structure."""
        names = self._fields(content)
        count = self._count(content, header.shape, len(names))
        items = numpy.empty(count, dtype=[(name, object) for name in names])
        columns = [items[name] for name in names]
        for place in range(count):
            for column in columns:
                column[place] = self._inner(content, depth)
        return items.reshape(header.shape, order='F')

    def _count(self, content: Content, shape: tuple[int, ...], each: int) -> int:
        """Return how many items there are; room for them is there."""
        count = math.prod(shape)
        self._arrays -= count * max(1, each)
        if self._arrays < 0:
            raise content.error(f'expected at most {_MOST_ARRAYS} arrays in others; got more with '
                                f'the dimensions {shape}')
        return count

    def _fields(self, content: Content) -> list[str]:
        """Read the names of fields, each of which takes the same room."""
        kind, _, length = part(content, self._order, 'the length of names', most=8)
        room = struct.unpack(f'{self._order}i', length)[0] if length and len(length) == 4 else 0
        if kind != INT32 or not 0 < room <= _LONGEST_FIELD:
            raise content.error(f'expected names of fields of 1 to {_LONGEST_FIELD} bytes; got '
                                f'{room} of the type {kind}')
        kind, size, letters = part(content, self._order, 'names', most=_MOST_FIELDS * room)
        if kind != INT8 or letters is None or size % room:
            raise content.error(f'expected names of fields, of {room} bytes each; got {size} bytes '
                                f'of the type {kind}')
        names = [letters[start:start + room].partition(b'\0')[0].decode('latin-1')
                 for start in range(0, size, room)]
        if '' in names or len(set(names)) != len(names):
            raise content.error(f'expected fields of different names; got {names[:20]}')
        return names

    def _inner(self, content: Content, depth: int) -> Any:
        """Read an array in another one."""
        kind, size = struct.unpack(f'{self._order}II', content.read(TAG_BYTES))
        if kind != MATRIX or size > content.left:
            raise content.error(f'expected an array in another one, of at most {content.left} '
                                f'bytes; got {size} bytes of the type {kind}')
        if not size:                            # so MATLAB writes []
            return numpy.empty((0, 0))
        behind, content.left = content.left - size, size
        header = ArrayHeader.read(content, self._order)
        value = self.read(content, header, depth + 1)
        content.skip(content.left)
        content.left = behind
        return value
