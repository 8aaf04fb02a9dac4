"""What stands before the values of an array in a MATLAB file, and the parts that it is made of."""
from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import Any

import numpy

from fuel.converters._formats.zlib_streams import Content
from fuel.exceptions import ConversionError

__all__ = ['CELLS', 'COMPRESSED', 'INT8', 'INT32', 'MATRIX', 'STORED', 'STRUCTURE', 'TAG_BYTES',
           'TEXT', 'ArrayHeader', 'padded', 'part']

TAG_BYTES = 8
#: Types of parts.
INT8, INT32, UINT32, MATRIX, COMPRESSED, _UTF8 = 1, 5, 6, 14, 15, 16
#: Types of stored values.
STORED = {1: 'i1', 2: 'u1', 3: 'i2', 4: 'u2', 5: 'i4', 6: 'u4', 7: 'f4', 9: 'f8', 12: 'i8',
          13: 'u8'}
#: Classes of arrays of numbers. MATLAB stores them as a smaller type where all values fit.
_NUMERIC = {6: 'f8', 7: 'f4', 8: 'i1', 9: 'u1', 10: 'i2', 11: 'u2', 12: 'i4', 13: 'u4', 14: 'i8',
            15: 'u8'}
#: Other classes.
CELLS, STRUCTURE, TEXT = 1, 2, 4
_OTHER = {CELLS: 'a cell array', STRUCTURE: 'a structure', 3: 'an object', TEXT: 'text',
          5: 'a sparse matrix', 16: 'a function', 17: 'an object'}
_COMPLEX, _LOGICAL = 0x08, 0x02
# A name in MATLAB has 63 letters at most, an array of numpy 64 axes.
_LONGEST_NAME, _MOST_AXES = 256, 64
# numpy multiplies all lengths but those of 0, and can count no further than 2 ** 63.
_MOST_VALUES = 1 << 48


def padded(size: int) -> int:
    """Return how many bytes a part takes: parts begin at multiples of 8 bytes."""
    return -(-size // 8) * 8


def part(content: Content, byte_order: str, what: str, *, most: int | None = None
         ) -> tuple[int, int, bytes | None]:
    """Read the tag of a part of an array, and its content unless it may be a large one.

    Parameters
    ----------
    content : Content
        Where it is read from.
    byte_order : str
        The sign of struct for it.
    what : str
        What it has, for messages.
    most : int, optional
        The most bytes it may have. If it is given the content is read in any case.

    Returns
    -------
    kind, size : int
        Its type, and how many bytes it has.
    data : bytes or None
        The content; `None` if it follows in the stream.

    Raises
    ------
    ConversionError
        It is larger, or cut off.
    """
    tag = content.read(TAG_BYTES)
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
    return first, size, bytes(content.read(padded(size))[:size])


@dataclass(frozen=True, slots=True)
class ArrayHeader:
    """What stands before the values of an array.

    Attributes
    ----------
    name : str
        Of the variable; none for arrays in others.
    shape : tuple of int
        Two or more lengths, the product of which is no more than memory could ever hold.
    kind, flags : int
        The class of MATLAB, and what is said about it.
    """

    name: str
    shape: tuple[int, ...]
    kind: int
    flags: int

    @classmethod
    def read(cls, content: Content, byte_order: str) -> ArrayHeader:
        """Read it, and leave the stream at the values.

        Raises
        ------
        ConversionError
            It is damaged.
        """
        kind, _, flags = part(content, byte_order, 'flags', most=8)
        if kind != UINT32 or flags is None or len(flags) != 8:
            raise content.error(f'expected the flags of an array; got the type {kind}')
        word = struct.unpack(f'{byte_order}II', flags)[0]
        kind, _, sizes = part(content, byte_order, 'dimensions', most=4 * _MOST_AXES)
        shape = (struct.unpack(f'{byte_order}{len(sizes) // 4}i', sizes)
                 if sizes is not None and not len(sizes) % 4 else ())
        # Other programs than MATLAB write these two in types that come to the same.
        if kind not in (INT32, UINT32) or len(shape) < 2 or min(shape) < 0:
            raise content.error(f'expected two or more dimensions; got {shape} of the type {kind}')
        if math.prod(length or 1 for length in shape) > _MOST_VALUES:
            raise content.error(f'expected values that memory can hold; got the dimensions {shape}')
        kind, _, letters = part(content, byte_order, 'a name', most=_LONGEST_NAME)
        if kind not in (INT8, _UTF8) or letters is None:
            raise content.error(f'expected the name of a variable; got the type {kind}')
        return cls(letters.decode('utf-8', 'replace'), shape, word & 0xff, word >> 8 & 0xff)

    def dtype(self, where: str) -> numpy.dtype[Any]:
        """Return that of the array in MATLAB.

        Raises
        ------
        ConversionError
            It has other values than real numbers.
        """
        if self.kind not in _NUMERIC or self.flags & _COMPLEX:
            what = ('complex numbers' if self.kind in _NUMERIC
                    else _OTHER.get(self.kind, f'something of class {self.kind}'))
            # Arrays in others have no name.
            which = f'the variable {self.name!r}' if self.name else 'an array in another one'
            raise ConversionError(f'{where}: expected {which} to be an array of real numbers; got '
                                  f'{what}')
        return numpy.dtype(bool if self.flags & _LOGICAL else _NUMERIC[self.kind])

    def stored(self, content: Content, byte_order: str, kind: int, size: int
               ) -> numpy.dtype[Any]:
        """Return the dtype of the stored values.

        Parameters
        ----------
        content : Content
            Where they are read from.
        byte_order : str
            The sign of struct for it.
        kind, size : int
            Type and bytes of the part that has them.

        Raises
        ------
        ConversionError
            They are no numbers, or not as many as the shape has.
        """
        if kind not in STORED:
            raise content.error(f'expected numbers for the values of {self.name!r}; got the type '
                                f'{kind}')
        stored = numpy.dtype(f'{byte_order}{STORED[kind]}')
        if size != math.prod(self.shape) * stored.itemsize:
            raise content.error(f'expected {math.prod(self.shape)} values of {self.name!r}, for '
                                f'its shape {self.shape}; got {size} bytes of {stored}')
        return stored
