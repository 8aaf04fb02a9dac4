"""Lines of text files, read one after the other, from any place on."""
from __future__ import annotations

import contextlib
import errno
import gzip
import io
import os
import stat
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

from fuel.exceptions import DataFileError, StateError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

__all__ = ['ENCODING_ADVICE', 'LineReader', 'PositionedFile', 'decompressed', 'missing_file']

_GZIP_MAGIC = b'\x1f\x8b\x08'
#: The end of messages about text that is not encoded as expected.
ENCODING_ADVICE = "name the encoding of the file, such as encoding='latin-1'"


class PositionedFile(io.RawIOBase):
    """A file opened for reading that keeps its offset itself.

    The offset of an ordinary file belongs to the operating system and is shared with forked
    processes, so that parent and child would each read part of the lines. This one is also
    closed without a warning when an epoch is abandoned and its reader is collected.
    """

    _descriptor = -1
    _offset = 0

    def __init__(self, path: str) -> None:
        super().__init__()
        # Without O_NONBLOCK to open a pipe would wait for somebody to write into it.
        self._descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        mode = os.fstat(self._descriptor).st_mode
        if not stat.S_ISREG(mode):
            self.close()
            if stat.S_ISDIR(mode):
                raise IsADirectoryError(errno.EISDIR, 'expected a text file; got a folder', path)
            raise OSError(errno.ESPIPE, 'expected a file in which any position can be gone to; '
                          'got a pipe or a device', path)

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        view = memoryview(buffer).cast('B')
        data = os.pread(self._descriptor, len(view), self._offset)
        view[:len(data)] = data
        self._offset += len(data)
        return len(data)

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        if whence == os.SEEK_CUR:
            offset += self._offset
        elif whence == os.SEEK_END:
            offset += self.size()
        self._offset = offset
        return offset

    def tell(self) -> int:
        return self._offset

    def size(self) -> int:
        """Return the present length of the file in bytes."""
        return os.fstat(self._descriptor).st_size

    def close(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
        super().close()


def decompressed(raw: PositionedFile,
                 path: str) -> io.BufferedReader[PositionedFile] | gzip.GzipFile:
    """Return the bytes of a file, after gzip where its name or its first bytes say so."""
    buffered = io.BufferedReader(raw, 1 << 16)
    if path.endswith('.gz') or buffered.peek(3)[:3] == _GZIP_MAGIC:
        return gzip.GzipFile(fileobj=buffered, mode='rb')
    return buffered


def missing_file(files: Sequence[str], index: int) -> FileNotFoundError:
    """Return the error that says which file of several does not exist."""
    return FileNotFoundError(errno.ENOENT, f'text file {index + 1} of {len(files)} does not exist',
                             files[index])


class LineReader:
    """A place in a sequence of text files, and the open file at that place.

    The file is opened when it is first read from. It is not part of pickles and copies, which
    open it again, at the same line, when they are first read from.

    Parameters
    ----------
    files : sequence of str
        Paths, read one after the other.
    encoding : str or None
        How the text is encoded; UTF-8, with or without a byte order mark, by default.
    index : int, optional
        Which of the files is read; their number at the end of all data.
    position : int, optional
        Where in that file, as a text file's ``tell()`` says. Nearly always an offset in bytes, it
        also holds what decoding depends on, such as the byte order of UTF-16.
    skip : int, optional
        How many lines after that position have been read. Not 0 only in the few encodings, such
        as ISO-2022-KR, where what decoding depends on does not fit into a position.
    line : int, optional
        How many lines of the file have been read, for messages.
    limit : int, optional
        How many characters a line has at most. By default there is no limit, and a file without
        line ends is taken into memory as a whole.

    Attributes
    ----------
    index, line : int
        As above.
    """

    def __init__(self, files: Sequence[str], encoding: str | None, index: int = 0,
                 position: int = 0, skip: int = 0, line: int = 0,
                 limit: int | None = None) -> None:
        self.files = files
        self.encoding = encoding
        self.index = index
        self.line = line
        self._limit = limit
        # A position and the lines read after it say together where the reader stands.
        self._position = position
        self._skip = skip
        self._behind = 0  # lines that the open file still has to go on to get there
        self._raw: PositionedFile | None = None
        self._text: io.TextIOWrapper[Any] | None = None
        self._failure: Exception | None = None

    @property
    def where(self) -> str:
        """The file and the line last read, for messages."""
        return f'{self.files[self.index]}, line {self.line}'

    def place(self) -> dict[str, int]:
        """Return `index`, `position`, `skip` and `line` as they are now."""
        if self._text is not None and not self._behind:
            # Else the old position and the lines after it serve as well.
            with contextlib.suppress(OSError, OverflowError, UnicodeError):
                self._position, self._skip = self._text.tell(), 0
        return {'index': self.index, 'position': self._position, 'skip': self._skip,
                'line': self.line}

    def read(self) -> str:
        """Return the next line, with its newline.

        Raises
        ------
        StopIteration
            All files have been read. Nothing is open any more.
        FileNotFoundError
            The file has vanished.
        DataFileError
            The file cannot be read, or is damaged, or the line is longer than the limit. The same
            error is raised again by later calls, since lines would be lost otherwise. An
            ``OSError``.
        UnicodeError
            The line is not encoded as expected. In most encodings the next call goes on with
            the line after it.
        StateError
            The file is shorter than it was when the position was saved.
        """
        while self.index < len(self.files):
            if self._failure is not None:
                raise self._failure
            text = self._text or self._open()
            try:
                if self._behind:
                    self._catch_up(text)
                line = text.readline(-1 if self._limit is None else self._limit + 1)
            except UnicodeDecodeError as error:
                raise self._failed(UnicodeError(
                    f'{self.files[self.index]}, after line {self.line}: the text is not valid '
                    f'{self._named} ({error.reason}); {ENCODING_ADVICE}')) from None
            except (OSError, EOFError, zlib.error) as error:
                raise self._failed(DataFileError(
                    f'{self.files[self.index]}, after line {self.line}: the file cannot be read '
                    f'({error}). Is it damaged, or was it cut short? Get it anew.')) from error
            if line:
                if self._limit is not None and len(line.removesuffix('\n')) > self._limit:
                    raise self._failed(DataFileError(
                        f'{self.files[self.index]}, line {self.line + 1}: expected lines of at '
                        f'most {self._limit} characters; this one has more. Is it a text file? If '
                        'so, divide the line.'))
                self.line += 1
                self._skip += 1
                if not line.isascii():
                    self._check(line)
                return line
            self._release()
            self.index += 1
            self.line = self._position = self._skip = 0
        raise StopIteration

    def close(self) -> None:
        """Close the file; a later `read` opens it again at the same place."""
        self.place()
        self._release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def _release(self) -> None:
        if self._text is not None and self._raw is not None:
            self._text.close()
            self._raw.close()
        self._text = self._raw = None
        self._behind = 0

    def _failed(self, error: Exception) -> Exception:
        """Remember an error after which the place in the file is lost."""
        self._failure = error
        self._release()
        return error

    def _open(self) -> io.TextIOWrapper[Any]:
        path = self.files[self.index]
        try:
            self._raw = PositionedFile(path)
        except FileNotFoundError:
            raise missing_file(self.files, self.index) from None
        # Undecodable bytes arrive as lone surrogates, so that they can be reported with their
        # line, and not with that up to which the file happened to be read ahead.
        self._text = io.TextIOWrapper(decompressed(self._raw, path), self.encoding or 'utf-8-sig',
                                      errors='surrogateescape')
        if self._position:
            try:
                self._text.seek(self._position)
                # A compressed file stops at its end, an ordinary one can be beyond it.
                found = (self._text.tell() == self._position
                         and self._raw.tell() <= self._raw.size())
            except (OSError, EOFError, zlib.error, UnicodeDecodeError):
                found = False
            if not found:
                raise self._lost()
        self._behind = self._skip
        return self._text

    def _catch_up(self, text: io.TextIOWrapper[Any]) -> None:
        """Read on from the position by the lines that had been read after it."""
        for _ in range(self._behind):
            if not text.readline():
                raise self._lost()
        self._behind = 0

    def _lost(self) -> StateError:
        self._release()
        return StateError(
            f'{self.files[self.index]}: cannot go back to the end of line {self.line}, where the '
            'saved state stands; the file is shorter than it was, or another one. Put the old '
            'file back, or start a new epoch.')

    @property
    def _named(self) -> str:
        """The encoding, for messages."""
        return self.encoding or 'utf-8'

    def _check(self, line: str) -> None:
        """Refuse a line with lone surrogates, which stand for undecodable bytes."""
        try:
            line.encode('utf-8')
        except UnicodeEncodeError as error:
            wrong = line[error.start]
            # Some encodings have half a surrogate pair for a character.
            what = (f'byte 0x{ord(wrong) & 0xff:02x}' if '\udc80' <= wrong <= '\udcff' else
                    f'the half of a surrogate pair {wrong!r}')
            raise UnicodeError(
                f'{self.where}: {what} after {line[:error.start][-20:]!r} is not valid '
                f'{self._named}; {ENCODING_ADVICE}') from None

    def __getstate__(self) -> dict[str, Any]:
        return {'files': self.files, 'encoding': self.encoding, 'limit': self._limit,
                **self.place()}

    def __setstate__(self, state: dict[str, Any]) -> None:
        LineReader.__init__(self, **state)
