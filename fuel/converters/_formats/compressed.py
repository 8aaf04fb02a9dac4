"""Files compressed by gzip, decompressed on the way, fast, with errors that say where."""
from __future__ import annotations

import gzip
import io
import os
import zlib
from typing import Any, BinaryIO, cast

from fuel.converters._conversion.inputs import open_input
from fuel.exceptions import ConversionError

__all__ = ['open_gzip']

_BUFFER = 1 << 18


def _decompressing(stream: BinaryIO) -> tuple[Any, tuple[type[Exception], ...]]:
    """Return a file of the decompressed content, and what it raises for content that is damaged.

    It is by isal, which is twice as fast and works in a thread of its own, or else by zlib.
    """
    raised: tuple[type[Exception], ...] = (EOFError, OSError, zlib.error)
    try:
        from isal import igzip_lib, igzip_threaded
    except ImportError:
        return gzip.GzipFile(fileobj=stream, mode='rb'), raised
    opened: Any = igzip_threaded.open
    damaged: Any = igzip_lib.error
    return opened(stream, 'rb', threads=1, block_size=_BUFFER), (*raised, damaged)


class _Gzip(io.RawIOBase):
    """The content of a gzip file, for reading from its beginning to its end."""

    def __init__(self, path: str) -> None:
        self.name = path
        self._raw = open_input(path)
        self._stream, self._raised = _decompressing(self._raw)
        self._position = 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            count: int = self._stream.readinto(buffer)
            if not count and not self._position and not os.fstat(self._raw.fileno()).st_size:
                raise EOFError
        except self._raised as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise self._problem(error) from error
        self._position += count
        return count

    def tell(self) -> int:
        return self._position

    def _problem(self, error: Exception) -> ConversionError:
        size = os.fstat(self._raw.fileno()).st_size
        if not self._position and not size:
            return ConversionError(f'{self.name}: expected a file compressed by gzip; the file is '
                                   'empty. Download it again')
        if not self._position and _magic(self.name) != b'\x1f\x8b':
            return ConversionError(f'{self.name}: expected a file compressed by gzip; it begins '
                                   f'with {_magic(self.name)!r}. Download it again')
        return ConversionError(
            f'{self.name}: the compressed file is cut off or damaged, behind {self._position} '
            f'bytes of its content; it has {size} bytes: {error}. Download it again')

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
            self._raw.close()
        super().close()


def _magic(path: str) -> bytes:
    with open(path, 'rb') as stream:
        return stream.read(2)


def open_gzip(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a file compressed by gzip for reading from its beginning to its end.

    It is noted as an input of the conversion, and its compressed bytes are hashed on the way.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    binary file
        Buffered. Reading it raises `ConversionError`, with the name of the file and the place, if
        it is cut off, damaged, or not compressed by gzip.
    """
    return cast(BinaryIO, io.BufferedReader(_Gzip(os.fspath(path)), _BUFFER))
