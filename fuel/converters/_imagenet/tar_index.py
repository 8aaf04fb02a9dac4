"""Where the files of a tar archive lie, found without reading them.

Only headers are read: blocks of 512 bytes in front of each file, as POSIX (ustar, pax), GNU tar
and the tar of old Unix write them. Unlike ``tarfile``, a header in the middle that is none is not
taken for the end of the archive, and a million files need no million objects.
"""
from __future__ import annotations

import re
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from fuel.converters._formats.archives import check_name
from fuel.exceptions import ConversionError

__all__ = ['Entry', 'entries']

_BLOCK = 512
_NOTHING = bytes(_BLOCK)
_FILES, _FOLDER = b'\x0007', 0x35
# What goes before the header of a file: a long name, a long target of a link, extended headers.
_LONG_NAME, _LONG_LINK, _EXTENDED, _GLOBAL, _LABEL = 0x4c, 0x4b, 0x78, 0x67, 0x56
# Headers of those kinds that are longer would be there to fill the memory.
_LONGEST_EXTRA = 1 << 20
# No number needs more digits; Python makes an error of those with very many.
_PAX_RECORD = re.compile(rb'([0-9]{1,9}) ([^=]+)=')
_PAX_SIZE, _OCTAL = re.compile(rb'[0-9]{1,19}'), re.compile(rb'[0-7]*')
# A global header that says this would say it of all that follow, which means nothing.
_OF_ONE_FILE = ('path', 'linkpath', 'size')


class Entry(NamedTuple):
    """A file in an archive.

    Attributes
    ----------
    name : str
        With its folders.
    offset, size : int
        Where its content lies in the archive, in bytes.
    """

    name: str
    offset: int
    size: int


def entries(stream: BinaryIO, archive: str, start: int, stop: int) -> Iterator[Entry]:
    """Find the files of a tar archive.

    Parameters
    ----------
    stream : binary file
        Best without a buffer, for it is read in pieces that lie far from each other.
    archive : str
        What to call the archive in messages.
    start, stop : int
        The part of the file that is the archive: it may be a member of another one.

    Yields
    ------
    Entry
        The files, in the order of the archive; folders are left out.

    Raises
    ------
    ConversionError
        It is no tar archive, cut off or damaged, or has something that is no file, or a name that
        leads out of it or is said of all files.
    """
    offset, first = start, True
    name: str | None = None
    size: int | None = None
    while True:
        header = _read(stream, offset, min(_BLOCK, stop - offset))
        if header == _NOTHING and not first:
            return
        if len(header) < _BLOCK:
            raise _no_tar(archive, header) if first else ConversionError(
                f'{archive} is cut off: expected another member or the end mark at byte '
                f'{offset - start}; the archive ends. Download it again')
        if not _is_header(header):
            raise _no_tar(archive, header) if first else ConversionError(
                f'{archive} is damaged: expected the header of a member at byte '
                f'{offset - start}; got {header[:16]!r}. Download it again')
        kind, length = header[156], _number(header[124:136])
        place, first = offset + _BLOCK, False
        if length is None:
            raise ConversionError(f'{archive}: the size of the member {_name(header)!r} is no '
                                  'number. Download the archive again')
        if kind in (_LONG_NAME, _LONG_LINK, _EXTENDED, _GLOBAL, _LABEL):
            content = _extra(stream, archive, place, length, stop)
            if kind == _LONG_NAME:
                name = _text(content.partition(b'\0')[0])
            elif kind in (_EXTENDED, _GLOBAL):
                said = _pax(content, archive, place - start)
                if any(key.startswith('GNU.sparse.') for key in said):
                    raise ConversionError(f'{archive}: expected files without holes; the extended '
                                          f'header at byte {place - start} tells of one with them')
                if kind == _GLOBAL and any(key in said for key in _OF_ONE_FILE):
                    raise ConversionError(f'{archive}: expected names and sizes of single files; '
                                          f'the header at byte {place - start} gives one to all '
                                          'files that follow. Do not trust where it came from')
                name = _text(said['path']) if 'path' in said else name
                size = _size(said['size'], archive) if 'size' in said else size
        else:
            length = length if size is None else size
            own = check_name(archive, _name(header) if name is None else name)
            name = size = None
            if kind in _FILES and not own.endswith('/'):
                if place + length > stop:
                    raise ConversionError(
                        f'{archive} is cut off: expected {length} bytes of the member {own!r}; the '
                        f'archive ends after {max(0, stop - place)}. Download it again')
                yield Entry(own, place, length)
            elif kind in _FILES or kind == _FOLDER:
                length = 0
            else:
                raise ConversionError(f'{archive}: expected files; the member {own!r} is a link, a '
                                      'device or a file with holes. Do not trust where it came '
                                      'from')
        offset = place + -(-length // _BLOCK) * _BLOCK


def _read(stream: BinaryIO, offset: int, count: int) -> bytes:
    if count <= 0:
        return b''
    stream.seek(offset)
    return stream.read(count)


def _no_tar(archive: str, start: bytes) -> ConversionError:
    what = f'it begins with {start[:24]!r}' if start.strip(b'\0') else 'it is empty'
    return ConversionError(f'{archive} is no tar archive: {what}. Download it again')


def _is_header(header: bytes) -> bool:
    """Tell whether the checksum is right, which is made with blanks in its place."""
    stored = _number(header[148:156])
    return stored == sum(header) - sum(header[148:156]) + 8 * 0x20


def _number(field: bytes) -> int | None:
    """Return a number in octal digits, or in the way of GNU tar for those that need more."""
    if field[0] == 0x80:
        return int.from_bytes(field[1:], 'big')
    digits = field.strip(b' \0')
    # Python also takes a sign, with which the next member would be before this one.
    return int(digits or b'0', 8) if _OCTAL.fullmatch(digits) else None


def _name(header: bytes) -> str:
    name = header[:100].partition(b'\0')[0]
    # GNU tar has other things where ustar has the first part of a name.
    if header[257:263] == b'ustar\0' and header[345]:
        name = header[345:500].partition(b'\0')[0] + b'/' + name
    return _text(name)


def _text(name: bytes) -> str:
    return name.decode('utf-8', 'surrogateescape')


def _extra(stream: BinaryIO, archive: str, offset: int, length: int, stop: int) -> bytes:
    if length > _LONGEST_EXTRA or offset + length > stop:
        raise ConversionError(f'{archive} is cut off or damaged: expected a long name or an '
                              f'extended header at byte {offset}; got one of {length} bytes. '
                              'Download it again')
    return _read(stream, offset, length)


def _pax(content: bytes, archive: str, offset: int) -> dict[str, bytes]:
    """Return what an extended header says: records such as ``28 path=some/long/name``."""
    position = 0
    said: dict[str, bytes] = {}
    while (record := _PAX_RECORD.match(content, position)) is not None:
        end = position + int(record[1])
        if not record.end() < end <= len(content) or content[end - 1:end] != b'\n':
            break
        said[record[2].decode('utf-8', 'replace')] = content[record.end():end - 1]
        position = end
    # Some fill the last block by zeros, and count them.
    if content[position:].strip(b'\0'):
        raise ConversionError(f'{archive} is damaged: expected records such as "12 path=name" in '
                              f'the extended header at byte {offset}; got '
                              f'{content[position:position + 24]!r}. Download it again')
    return said


def _size(value: bytes, archive: str) -> int:
    if not _PAX_SIZE.fullmatch(value):
        raise ConversionError(f'{archive} is damaged: expected the size of a member; an extended '
                              f'header has {value[:24]!r}. Download it again')
    return int(value)
