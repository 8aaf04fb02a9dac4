"""Part of a file, read from its beginning to its end, and decompressed by zlib on the way."""
from __future__ import annotations

from typing import Any, BinaryIO

from fuel.exceptions import ConversionError

__all__ = ['Content']

_PIECE_BYTES, _MOST_AT_ONCE = 1 << 17, 1 << 20
# More than this behind what was announced is there to keep the reader busy.
_MOST_BEHIND = 1 << 16


class Content:
    """Part of a file, which may be compressed by zlib.

    Parameters
    ----------
    where : str
        What to call the file in messages.
    stream : binary file
        The file.
    start, size : int
        Where the part begins, and how many bytes it has in the file.
    compressed : bool
        Whether it is compressed.
    known : int
        How many of the bytes that are read are known to be there, where it is compressed.

    Attributes
    ----------
    left : int
        How many bytes are known to be left; nothing beyond them is ever read. It may be set.
    """

    def __init__(self, where: str, stream: BinaryIO, start: int, size: int, *, compressed: bool,
                 known: int) -> None:
        self.where = where
        self.compressed = compressed
        self.left = known if compressed else size
        self._stream = stream
        self._end = start + size
        self._position = 0
        self._inflater: Any = _inflater() if compressed else None
        # What was decompressed ahead: to ask for a few bytes at a time would take very long.
        self._ahead, self._next = b'', 0
        stream.seek(start)

    def error(self, problem: str, advice: str = 'Download it again') -> ConversionError:
        """Return an error that says where in the file something is wrong."""
        place = f'at byte {self._stream.tell()}'
        if self.compressed:
            place += f', after {self._position} bytes of a compressed variable'
        return ConversionError(f'{self.where}, {place}: {problem}. {advice}')

    def read(self, size: int) -> bytearray:
        """Return exactly so many bytes.

        Raises
        ------
        ConversionError
            There are less of them.
        """
        self._expect(size)
        # The system gives memory only for what is written into it.
        content = bytearray(size)
        view, filled = memoryview(content), 0
        while filled < size:
            piece = self._more(size - filled)
            view[filled:filled + len(piece)] = piece
            filled += len(piece)
        return content

    def skip(self, size: int) -> None:
        """Leave so many bytes out.

        Raises
        ------
        ConversionError
            There are less of them.
        """
        self._expect(size)
        if self._inflater is None:
            self._stream.seek(size, 1)
            return
        while size:
            size -= len(self._more(size))

    def finish(self) -> None:
        """Read to the end: what is left, and the checksum of zlib behind it.

        Raises
        ------
        ConversionError
            The part is cut off or damaged, or has much more than was announced.
        """
        self.skip(self.left)
        if self._inflater is None:
            return
        behind = len(self._ahead) - self._next
        while behind <= _MOST_BEHIND and (piece := self._inflate(_PIECE_BYTES)):
            behind += len(piece)
        if behind > _MOST_BEHIND:
            raise self.error('the compressed variable has more bytes than it announces')
        if not self._inflater.eof:
            raise self.error('the compressed variable is cut off before its end')

    def _expect(self, size: int) -> None:
        if size > self.left:
            raise self.error(f'expected {size} more bytes of the variable; it is said to have '
                             f'{self.left}')
        self.left -= size

    def _more(self, most: int) -> bytes:
        """Return at least one and at most so many bytes."""
        if self._inflater is None:
            piece = self._stream.read(min(_MOST_AT_ONCE, most))
        elif self._next == len(self._ahead) and most >= _PIECE_BYTES:
            piece = self._inflate(min(_MOST_AT_ONCE, most))
        else:
            if self._next == len(self._ahead):
                self._ahead, self._next = self._inflate(_PIECE_BYTES), 0
            piece = self._ahead[self._next:self._next + most]
            self._next += len(piece)
        if not piece:
            raise self.error(f'the variable is cut off: {most} bytes of it are missing')
        self._position += len(piece)
        return piece

    def _inflate(self, most: int) -> bytes:
        """Return at least one and at most so many bytes; none at the end."""
        inflater = self._inflater
        while not inflater.eof:
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


def _inflater() -> Any:
    """Return what undoes zlib, by isal if it is installed."""
    try:
        from isal import isal_zlib
    except ImportError:
        import zlib
        return zlib.decompressobj()
    return isal_zlib.decompressobj()
