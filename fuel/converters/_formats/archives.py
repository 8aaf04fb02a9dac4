"""Archives as they come from elsewhere: read from front to back, and never trusted.

Nothing is ever unpacked to a name that an archive gives. What does not belong into the archive of
a data set (names that lead out of it, links, devices, more content than was announced) is an error
that names archive and member.
"""
from __future__ import annotations

import errno
import io
import os
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO, Self, cast

from fuel.converters._conversion.inputs import note_input, open_input
from fuel.converters._formats.compressed import open_gzip
from fuel.exceptions import ConversionError

if TYPE_CHECKING:
    import tarfile

__all__ = ['TarMember', 'Zip', 'check_name', 'tar_members']

_BUFFER = 1 << 18
#: Bytes of a header in a tar archive, and of the zeros at its end.
_BLOCK = 512


def check_name(archive: str, name: str) -> str:
    """Return the name of a member, which stays inside the archive.

    Raises
    ------
    ConversionError
        It is absolute, or leads out of the archive.
    """
    plain = name.replace('\\', '/')
    if (plain.startswith('/') or re.match(r'[A-Za-z]:', plain) or '\0' in name
            or '..' in plain.split('/')):
        raise ConversionError(f'{archive}: expected names that stay inside the archive; got the '
                              f'member {name!r}. Do not trust where it came from')
    return plain.removeprefix('./')


@dataclass(frozen=True, slots=True)
class TarMember:
    """A file in a tar archive.

    Attributes
    ----------
    archive, name : str
        Where it is, and what it is called there.
    size : int
        In bytes.
    stream : binary file
        Its content, until the next member is asked for.
    """

    archive: str
    name: str
    size: int
    stream: BinaryIO

    def read(self) -> bytes:
        """Return the content.

        Raises
        ------
        ConversionError
            The archive is cut off.
        """
        return self.stream.read()


class _TarContent(io.RawIOBase):
    """The content of a member of a tar archive, all of it or an error."""

    def __init__(self, archive: str, info: tarfile.TarInfo, stream: BinaryIO) -> None:
        self._archive, self.name, self._size, self._left = archive, info.name, info.size, info.size
        self._stream = stream

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        import tarfile

        try:
            count: int = self._stream.readinto(buffer)  # type: ignore[attr-defined]
        except tarfile.TarError as error:
            raise ConversionError(f'{self._archive}: the member {self.name!r} cannot be read: '
                                  f'{error}. Download the archive again') from error
        self._left -= count
        if not count and self._left and len(buffer):
            raise ConversionError(f'{self._archive}: expected {self._size} bytes of the member '
                                  f'{self.name!r}; the archive ends after '
                                  f'{self._size - self._left}. Download it again')
        return count


def tar_members(path: str | os.PathLike[str], *, limit: int = 1 << 31) -> Iterator[TarMember]:
    """Read a tar archive, plain or compressed by gzip, once from front to back.

    The archive is noted as an input of the conversion.

    Parameters
    ----------
    path : str or path
        The archive.
    limit : int, optional
        The most bytes that a member may have.

    Yields
    ------
    TarMember
        The files in it; folders are left out. The content of one is gone with the next.

    Raises
    ------
    ConversionError
        It is no tar archive, cut off or damaged, or has a member that is no file, leads out of
        the archive or is too large.
    """
    import tarfile

    path = os.fspath(path)
    with open(path, 'rb') as stream:
        packed = stream.read(2) == b'\x1f\x8b'
    with open_gzip(path) if packed else open_input(path) as content:
        found = False
        try:
            header = _headers()
            with tarfile.open(fileobj=content, mode='r|', bufsize=_BUFFER,
                              tarinfo=header) as archive:
                for info in archive:
                    found = True
                    if not archive.pax_headers.keys().isdisjoint(('path', 'linkpath', 'size')):
                        raise ConversionError(
                            f'{path}: expected names and sizes of single files; a header gives '
                            'one to all files that follow. Do not trust where it came from')
                    member = _checked(path, archive, info, limit)
                    if member is not None:
                        yield member
                    # Nothing is asked for twice, and there may be millions of them.
                    vars(archive)['members'] = []
                _check_end(path, archive, header.last)
        except ConversionError:
            raise
        except (tarfile.TarError, ValueError, ArithmeticError, LookupError) as error:
            what = 'is cut off or damaged' if found else 'is no tar archive'
            raise ConversionError(f'{path} {what}: {error}. Download it again') from error
        if not found:
            raise ConversionError(f'{path}: expected a tar archive with files; it has none')


def _headers() -> Any:
    """Return a class that reads headers, and knows the last block that it has seen.

    For tarfile the first block that is no header ends an archive, whatever it is.
    """
    import tarfile

    class Header(tarfile.TarInfo):
        last = b''

        @classmethod
        def frombuf(cls, buf: Any, encoding: Any, errors: Any) -> Any:
            Header.last = bytes(buf)
            return super().frombuf(buf, encoding, errors)

    return Header


def _check_end(path: str, archive: tarfile.TarFile, last: bytes) -> None:
    """Raise if what ended an archive is not its end, or something stands behind that."""
    stream: Any = archive.fileobj
    if len(last) < _BLOCK:
        raise ConversionError(f'{path} is cut off: expected blocks of zeros at its end; it ends '
                              f'after {archive.offset + len(last)} bytes. Download it again')
    # All of it is read: the checksum of gzip stands at the end.
    while not last.strip(b'\0'):
        last = stream.read(_BUFFER)
        if not last:
            return
    raise ConversionError(f'{path} is damaged: expected the header of a member, or the end, at '
                          f'byte {archive.offset} of the archive. Download it again')


def _checked(path: str, archive: tarfile.TarFile, info: tarfile.TarInfo,
             limit: int) -> TarMember | None:
    name = check_name(path, info.name)
    if info.isdir():
        return None
    if not info.isreg():
        raise ConversionError(f'{path}: expected files; the member {info.name!r} is a link or a '
                              'device. Do not trust where it came from')
    if info.size < 0:
        raise ConversionError(f'{path} is damaged: the member {info.name!r} has a size of '
                              f'{info.size} bytes. Download it again')
    if info.size > limit:
        raise ConversionError(f'{path}: expected members of at most {limit} bytes; {info.name!r} '
                              f'has {info.size}')
    stream = archive.extractfile(info)
    assert stream is not None  # noqa: S101 - it is a regular file
    content = _TarContent(path, info, cast(BinaryIO, stream))
    return TarMember(path, name, info.size, io.BufferedReader(content, _BUFFER))


class Zip:
    """A zip archive, as a context manager. It is noted as an input of the conversion.

    Parameters
    ----------
    path : str or path
        The archive.

    Attributes
    ----------
    names : list of str
        Those of the files in it, in the order of the archive.

    Raises
    ------
    ConversionError
        It is no zip archive, or has a member that leads out of it.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = os.fspath(path)
        self._stream = open_input(self.path)
        try:
            self._archive = zipfile.ZipFile(self._stream)
            self._infos = self._members()
        except Exception as error:
            self._stream.close()
            if isinstance(error, ConversionError) or _is_of_the_system(error):
                raise
            raise ConversionError(f'{self.path} is no zip archive, or is cut off: {error}. '
                                  'Download it again') from error
        self.names = list(self._infos)

    def _members(self) -> dict[str, zipfile.ZipInfo]:
        """Return the files in the archive by their names."""
        found: dict[str, zipfile.ZipInfo] = {}
        for info in self._archive.infolist():
            if not info.is_dir():
                name = check_name(self.path, info.filename)
                if name in found:
                    raise ConversionError(f'{self.path}: expected members of different names; '
                                          f'there are two of the name {name!r}')
                found[name] = info
        return found

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Close the archive."""
        self._archive.close()
        self._stream.close()
        note_input(self.path)

    def size(self, name: str) -> int:
        """Return the announced size of a member, in bytes."""
        return self._infos[name].file_size

    def read(self, name: str, limit: int = 1 << 28) -> bytes:
        """Return the content of a member.

        Parameters
        ----------
        name : str
            Of `names`.
        limit : int, optional
            The most bytes it may have.

        Raises
        ------
        ConversionError
            It is larger than it announces or than the limit, damaged, encrypted, or compressed in
            an unknown way.
        """
        with self.open(name, limit) as stream:
            return stream.read()

    def open(self, name: str, limit: int = 1 << 28) -> BinaryIO:
        """Return the content of a member as a file; parameters and errors are those of `read`."""
        info = self._infos[name]
        if info.file_size > limit:
            raise ConversionError(f'{self.path}: expected members of at most {limit} bytes; '
                                  f'{name!r} announces {info.file_size}')
        try:
            stream = self._archive.open(info)
        except Exception as error:
            if _is_of_the_system(error):
                raise
            raise self._problem(name, error) from error
        return io.BufferedReader(_Member(self, name, info.file_size, stream), 1 << 16)

    def _problem(self, name: str, error: Exception | str) -> ConversionError:
        return ConversionError(f'{self.path}: the member {name!r} cannot be read: {error}. '
                               'Download the archive again')


def _is_of_the_system(error: Exception) -> bool:
    """Tell errors of the machine from those of what was read, such as a place that cannot be."""
    return isinstance(error, MemoryError) or (
        isinstance(error, OSError) and error.errno not in (None, errno.EINVAL))


class _Member(io.RawIOBase):
    """The content of a member of a zip archive, no more than was announced."""

    def __init__(self, archive: Zip, name: str, size: int, stream: object) -> None:
        self._archive, self.name, self._left = archive, name, size
        self._stream: io.BufferedIOBase = stream  # type: ignore[assignment]

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        try:
            # zipfile itself stops at the announced size, and compares the checksum there.
            count = self._stream.readinto(buffer)
        except Exception as error:      # every way to compress has errors of its own
            if _is_of_the_system(error):
                raise
            raise self._archive._problem(self.name, error or 'it ends too early') from error
        self._left -= count
        if not count and self._left and len(buffer):
            raise self._archive._problem(self.name, f'{self._left} bytes are missing')
        return count

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
        super().close()
