"""The bytes of pictures, in the order in which they lie in an archive or in another one."""
from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple

import numpy
import numpy.typing as npt

from fuel.converters._conversion.inputs import note_input, open_input
from fuel.exceptions import ConversionError

__all__ = ['Content', 'Places', 'in_rows', 'in_sequence']

_PIECE = 1 << 20
# What the system is told of before it is read, in pictures and in bytes. Left alone it reads so
# little ahead that an archive on a solid-state disk takes twice as long.
_AHEAD, _AHEAD_BYTES = 64, 8 << 20


@dataclass(frozen=True, slots=True)
class Places:
    """Where the pictures of an archive lie, and where they are to go.

    Attributes
    ----------
    archive : str
        The path of the archive.
    offsets, sizes : ndarray of int64, shape (n,)
        Where their bytes are, in the order of the archive.
    rows : ndarray of int64, shape (n,)
        Which example of the file each is to be.
    patches : mapping
        Pictures whose bytes are elsewhere: maps places in the arrays to offsets there.
    patch_archive : str
        Where that is.
    """

    archive: str
    offsets: npt.NDArray[numpy.int64]
    sizes: npt.NDArray[numpy.int64]
    rows: npt.NDArray[numpy.int64]
    patches: Mapping[int, int]
    patch_archive: str

    def __len__(self) -> int:
        return len(self.rows)


class Content(NamedTuple):
    """A picture.

    Attributes
    ----------
    archive : str
        Where it comes from, for messages.
    row : int
        Which example it is to be.
    data : bytes
        The file.
    """

    archive: str
    row: int
    data: bytes


def in_sequence(places: Places) -> Iterator[Content]:
    """Read the pictures of an archive from front to back.

    Everything in between is read as well: then the checksum of the archive is made on the way, and
    it is read only once.

    Parameters
    ----------
    places : Places
        The pictures.

    Raises
    ------
    ConversionError
        The archive has become shorter.
    """
    with ExitStack() as stack:
        stream = stack.enter_context(open_input(places.archive))
        patches = _patches(places, stack)
        position = announced = 0
        for place, row in enumerate(map(int, places.rows)):
            size = int(places.sizes[place])
            if patches is not None and place in places.patches:
                yield _patch(patches, places, place)
                continue
            offset = int(places.offsets[place])
            while announced < offset + size + _AHEAD_BYTES:
                _will_need(stream, announced, _AHEAD_BYTES)
                announced += _AHEAD_BYTES
            while position < offset:
                position += len(_exactly(stream, min(_PIECE, offset - position), places.archive))
            data = _exactly(stream, size, places.archive)
            position += size
            yield Content(places.archive, row, data)


def in_rows(places: Places) -> Iterator[Content]:
    """Read the pictures of an archive in the order of their rows, which is any order in there.

    The system is told beforehand what will be wanted.

    Parameters
    ----------
    places : Places
        The pictures.

    Raises
    ------
    ConversionError
        The archive has become shorter.
    """
    # Read in this order, the archive can only be hashed by reading it once more.
    note_input(places.archive)
    order = numpy.argsort(places.rows)
    with ExitStack() as stack:
        stream = stack.enter_context(open(places.archive, 'rb', buffering=0))
        patches = _patches(places, stack)
        for number, place in enumerate(map(int, order)):
            if number % _AHEAD == 0:
                for later in map(int, order[number:number + 2 * _AHEAD]):
                    _will_need(stream, int(places.offsets[later]), int(places.sizes[later]))
            if patches is not None and place in places.patches:
                yield _patch(patches, places, place)
            else:
                stream.seek(int(places.offsets[place]))
                yield Content(places.archive, int(places.rows[place]),
                              _exactly(stream, int(places.sizes[place]), places.archive))


def _patches(places: Places, stack: ExitStack) -> BinaryIO | None:
    return stack.enter_context(open_input(places.patch_archive)) if places.patches else None


def _patch(stream: BinaryIO, places: Places, place: int) -> Content:
    """Read a picture from the archive of patches."""
    stream.seek(places.patches[place])
    return Content(places.patch_archive, int(places.rows[place]),
                   _exactly(stream, int(places.sizes[place]), places.patch_archive))


def _will_need(stream: BinaryIO, offset: int, size: int) -> None:
    if hasattr(os, 'posix_fadvise'):
        os.posix_fadvise(stream.fileno(), offset, size, os.POSIX_FADV_WILLNEED)


def _exactly(stream: BinaryIO, size: int, archive: str) -> bytes:
    data = stream.read(size)
    while len(data) < size:             # without a buffer a read may give less
        more = stream.read(size - len(data))
        if not more:
            raise ConversionError(f'{archive}: expected {size} more bytes; the archive has become '
                                  'shorter while it was read')
        data += more
    return data
