"""Reads IDX files of unsigned bytes, the format of MNIST and its relatives, block by block.

A file begins with big-endian numbers of four bytes: the magic number, which is 2048 plus the
number of axes for unsigned bytes, and the length of each axis. The values follow, the last axis
fastest. Source: "The MNIST database of handwritten digits", LeCun, Cortes and Burges.
"""
from __future__ import annotations

import io
import math
import os
import struct
from collections.abc import Iterator
from types import TracebackType
from typing import Self, cast

import numpy
import numpy.typing as npt

from fuel.converters._formats.compressed import open_gzip
from fuel.exceptions import ConversionError

__all__ = ['IMAGES', 'LABELS', 'IdxFile']

#: Magic numbers.
LABELS, IMAGES = 2049, 2051

_NAMES = {LABELS: 'labels', IMAGES: 'images'}
_UNSIGNED_BYTES = 2048
# No deflated data give more than this many bytes for one of theirs.
_HIGHEST_RATIO = 1032


class IdxFile:
    """An IDX file of unsigned bytes, compressed with gzip.

    Parameters
    ----------
    path : str
        The file.
    magic : int
        The magic number that it should have: `IMAGES` or `LABELS`.

    Attributes
    ----------
    path : str
        The file.
    shape : tuple of int
        The lengths of the axes, as the file declares them.

    Raises
    ------
    ConversionError
        It is not compressed with gzip, has another magic number, ends within the header, or
        declares nothing, or more than a file of its size can have.
    """

    def __init__(self, path: str, magic: int) -> None:
        self.path = path
        self._what = _NAMES[magic]
        # Its method readinto fills the buffer unless the file ends.
        self._stream = cast(io.BufferedReader, open_gzip(path))
        try:
            self.shape = self._header(magic)
        except BaseException:
            self._stream.close()
            raise
        self._start = 4 + 4 * len(self.shape)

    def _header(self, magic: int) -> tuple[int, ...]:
        """Read magic number and shape."""
        found, = self._numbers(1, 0)
        if found != magic:
            other = f', that of a file of {_NAMES[found]}' if found in _NAMES else ''
            raise ConversionError(f'{self.path}: expected the magic number {magic} of a file of '
                                  f'{self._what} at byte 0; got {found}{other}')
        shape = self._numbers(magic - _UNSIGNED_BYTES, 4)
        size = math.prod(shape)
        if not size:
            raise ConversionError(f'{self.path}: expected at least one of the {self._what}; the '
                                  f'header, from byte 4 on, says {_times(shape)}')
        on_disk = os.path.getsize(self.path)
        if size > on_disk * _HIGHEST_RATIO:
            raise ConversionError(f'{self.path}: the header, from byte 4 on, says '
                                  f'{_times(shape)} {self._what}, which a compressed file of '
                                  f'{on_disk} bytes cannot have')
        return shape

    def _numbers(self, count: int, position: int) -> tuple[int, ...]:
        content = self._stream.read(4 * count)
        if len(content) < 4 * count:
            raise ConversionError(f'{self.path}: the header should have bytes {position} to '
                                  f'{position + 4 * count - 1}; the file ends at byte '
                                  f'{position + len(content)}')
        return struct.unpack(f'>{count}I', content)

    def blocks(self, rows: int) -> Iterator[npt.NDArray[numpy.uint8]]:
        """Yield the content, along the first axis.

        Parameters
        ----------
        rows : int
            How many rows a block has; the last may have fewer.

        Yields
        ------
        numpy.ndarray
            A new array each time, uint8, with all the axes of the file.

        Raises
        ------
        ConversionError
            The file is cut off or damaged, or has more or less than its header says.
        """
        count, *row = self.shape
        row_bytes = math.prod(row)
        for start in range(0, count, rows):
            block = numpy.empty((min(rows, count - start), *row), dtype=numpy.uint8)
            filled = self._stream.readinto(block.data)
            if filled < block.nbytes:
                whole = start + filled // row_bytes
                raise ConversionError(
                    f'{self.path}: the header says {count} {self._what}; the file ends after '
                    f'{whole}, at byte {self._start + start * row_bytes + filled} of its content')
            if start + rows >= count:
                self._check_end()
            yield block

    def _check_end(self) -> None:
        # The checksum of the compressed data is compared here, too.
        if self._stream.read(1):
            raise ConversionError(
                f'{self.path}: the header says {self.shape[0]} {self._what}; there is more behind '
                f'them, from byte {self._start + math.prod(self.shape)} of the content on')

    def read(self) -> npt.NDArray[numpy.uint8]:
        """Return the whole content; see `blocks`."""
        content, = self.blocks(self.shape[0])
        return content

    def close(self) -> None:
        """Close the file."""
        self._stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        self.close()


def _times(shape: tuple[int, ...]) -> str:
    """Return lengths of axes as text."""
    return ' x '.join(map(str, shape))
