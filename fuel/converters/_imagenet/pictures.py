"""Whether files are pictures."""
from __future__ import annotations

import struct

__all__ = ['CHECKS', 'BadPicture', 'check_decodes', 'check_picture', 'checked_check',
           'is_whole_jpeg']

#: How pictures can be checked; the first is the default.
CHECKS = ('header', 'decode', 'none')

# Markers of a JPEG: the start of a frame in its kinds, of a scan, and those without a length.
_FRAMES = frozenset({*range(0xc0, 0xd0)} - {0xc4, 0xc8, 0xcc})
_SCAN, _END = 0xda, b'\xff\xd9'
_BARE = frozenset({0x01, *range(0xd0, 0xd8)})
_length, _frame = struct.Struct('>H'), struct.Struct('>HH')


class BadPicture(Exception):
    """A picture cannot be used: its archive, which example it was to be, and what is wrong."""


def checked_check(value: object) -> str:
    """Return the name of a check.

    Raises
    ------
    ValueError
        There is no such check.
    """
    if not isinstance(value, str) or value not in CHECKS:
        raise ValueError(f'expected check to be one of {", ".join(CHECKS)}; got {value!r}')
    return value


def is_whole_jpeg(content: bytes) -> bool:
    """Tell whether bytes are a JPEG from its beginning to its end, without decoding it.

    The segments are gone through up to the picture itself; one of them must say how large it is.
    Behind it there must be the mark of the end, which cannot occur inside a picture. Some cameras
    and programs write more behind that.

    Parameters
    ----------
    content : bytes
        The file.
    """
    if content[:3] != b'\xff\xd8\xff':
        return False
    place, limit, has_size = 2, len(content) - 9, False
    while place < limit and content[place] == 0xff:
        marker = content[place + 1]
        if marker == 0xff:                          # any number of them may go before
            place += 1
        elif marker in _BARE:
            place += 2
        elif marker == _SCAN:
            return has_size and content.rfind(_END, place) > 0
        else:
            if marker in _FRAMES:
                height, width = _frame.unpack_from(content, place + 5)
                has_size = height > 0 and width > 0
            place += 2 + _length.unpack_from(content, place + 2)[0]
    return False


def check_picture(picture: tuple[str, int, bytes]) -> None:
    """Check that a file begins and ends as a picture does.

    What is no JPEG from its beginning to its end is decoded: a few files of ImageNet are PNG.

    Parameters
    ----------
    picture : tuple
        The archive it is from, the example it is to be, and its content.

    Raises
    ------
    BadPicture
        It is none, or cut short.
    """
    if not is_whole_jpeg(picture[2]):
        check_decodes(picture)


def check_decodes(picture: tuple[str, int, bytes]) -> None:
    """Check that a picture can be decoded.

    Parameters
    ----------
    picture : tuple
        The archive it is from, the example it is to be, and its content.

    Raises
    ------
    BadPicture
        It cannot.
    """
    from fuel.transformers._decoding import BadImage, decoded

    archive, row, content = picture
    try:
        decoded(content, None)
    except BadImage as error:
        raise BadPicture(archive, row, f'{error}. It has {len(content)} bytes and begins with '
                         f'{content[:16]!r}') from error
