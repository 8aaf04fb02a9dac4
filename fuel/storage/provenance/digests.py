"""Checksums of the rows of a source, block by block.

The rows of a source are divided into blocks of consecutive rows. A block ends with the row that
makes it reach 16 kB. Its checksum is the SHA-256 of its rows, one after the other. The checksum of
the source is the SHA-256 of a text that tells its dtype and the shape of its rows, and of the
checksums of its blocks, one after the other.

The bytes of a row are its values in C order, in little-endian byte order. Those of an example that
has a shape of its own begin with the sizes of its axes, as little-endian 64-bit integers. A string
of variable length begins with the number of its bytes, as such an integer, and is in UTF-8. So the
checksum is one of the data, whatever the layout, the chunks and the filters are.
"""
from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy
import numpy.typing as npt

from fuel._types import AnyArray

__all__ = ['BLOCK_BYTES', 'BlockDigests', 'RowDigests', 'can_be_digested', 'example_bytes',
           'rows_bytes']

#: A block of rows ends when it has this many bytes.
BLOCK_BYTES = 16 << 10
_SIZE = numpy.dtype('<i8')
_DIGEST_BYTES = hashlib.sha256().digest_size


def can_be_digested(dtype: numpy.dtype[Any]) -> bool:
    """Tell whether there is a checksum for values: numbers, strings, and arrays of numbers."""
    if not dtype.hasobject:
        return True
    held = _held_in(dtype)
    if isinstance(held, numpy.dtype):
        return not held.hasobject
    return held in (str, bytes)


def _held_in(dtype: numpy.dtype[Any]) -> Any:
    """Return what h5py notes of values of variable length: a dtype, `str` or `bytes`."""
    return None if dtype.metadata is None else dict(dtype.metadata).get('vlen')


def _little(rows: AnyArray) -> AnyArray:
    """Return an array in C order and little-endian byte order."""
    return numpy.ascontiguousarray(rows, dtype=rows.dtype.newbyteorder('<'))


def example_bytes(example: AnyArray) -> bytes:
    """Return what is digested of an example that has a shape of its own."""
    return numpy.array(example.shape, _SIZE).tobytes() + _little(example).tobytes()


def _text_bytes(value: Any) -> bytes:
    encoded = value.encode('utf-8', 'surrogateescape') if isinstance(value, str) else bytes(value)
    return len(encoded).to_bytes(8, 'little') + encoded


def rows_bytes(rows: Any) -> list[bytes] | AnyArray:
    """Return what is digested of rows: bytes for each, or one array for rows of one size."""
    if isinstance(rows, list):
        return [example_bytes(row) for row in rows]
    if not rows.dtype.hasobject:
        return _little(rows)
    if isinstance(_held_in(rows.dtype), numpy.dtype):
        return [example_bytes(row) for row in rows]
    return [b''.join(map(_text_bytes, row.ravel().tolist())) if isinstance(row, numpy.ndarray)
            else _text_bytes(row) for row in rows]


class BlockDigests:
    """Digests rows that come in the order of the source.

    Attributes
    ----------
    num_rows : int
        How many there were so far.
    """

    def __init__(self) -> None:
        self.num_rows = 0
        self._hash = hashlib.sha256()
        self._held = 0          # bytes of the block that has not ended
        self._digests = bytearray()
        self._stops: list[int] = []

    def add(self, rows: Any) -> None:
        """Take the next rows.

        Parameters
        ----------
        rows : ndarray or list of ndarray
            An array whose first axis is that of the rows, or examples with shapes of their own.
        """
        content = rows_bytes(rows)
        if isinstance(content, list):
            for row in content:
                self._take(row, 1)
                if self._held >= BLOCK_BYTES:
                    self._end()
        else:
            self._add_fixed(content)

    def _add_fixed(self, rows: AnyArray) -> None:
        count = len(rows)
        row_bytes = rows.nbytes // count if count else 0
        if not row_bytes:
            self.num_rows += count
            return
        view: Any = memoryview(rows.reshape(-1).view('u1'))  # type: ignore[arg-type]
        start = 0
        while start < count:
            missing = -(-(BLOCK_BYTES - self._held) // row_bytes)
            stop = min(count, start + missing)
            self._take(view[start * row_bytes:stop * row_bytes], stop - start)
            if self._held >= BLOCK_BYTES:
                self._end()
            start = stop

    def _take(self, content: bytes | memoryview, count: int) -> None:
        self._hash.update(content)
        self._held += len(content)
        self.num_rows += count

    def _end(self) -> None:
        self._digests += self._hash.digest()
        self._stops.append(self.num_rows)
        self._hash = hashlib.sha256()
        self._held = 0

    def finish(self) -> tuple[npt.NDArray[numpy.int64], npt.NDArray[numpy.uint8]]:
        """Return where each block stops, and its digest, shape (number of blocks, 32)."""
        if self.num_rows > (self._stops[-1] if self._stops else 0):
            self._end()
        return (numpy.array(self._stops, dtype='int64'),
                numpy.frombuffer(bytes(self._digests), dtype='uint8').reshape(-1, _DIGEST_BYTES))


class RowDigests:
    """Digests examples of shapes of their own, each as a block; they may come in any order.

    Parameters
    ----------
    count : int
        The number of examples.
    """

    def __init__(self, count: int) -> None:
        self._digests = numpy.zeros((count, _DIGEST_BYTES), dtype='uint8')
        self._next = 0

    def add(self, examples: Iterable[AnyArray]) -> None:
        """Take the next examples, where they come in order."""
        for example in examples:
            self.set(self._next, example)
            self._next += 1

    def set(self, row: int, example: AnyArray) -> None:
        """Take the example of a row."""
        self._digests[row] = numpy.frombuffer(
            hashlib.sha256(example_bytes(example)).digest(), dtype='uint8')

    def finish(self) -> tuple[npt.NDArray[numpy.int64], npt.NDArray[numpy.uint8]]:
        """Return where each block stops, and its digest; see `BlockDigests.finish`."""
        return numpy.arange(1, len(self._digests) + 1, dtype='int64'), self._digests
