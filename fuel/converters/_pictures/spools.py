"""Pictures of a tar archive put one after the other into a file, where they can be had by name."""
from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO

from fuel._types import AnyArray
from fuel.converters._formats.archives import TarMember, tar_members
from fuel.converters._pictures.pixels import decoded
from fuel.converters.base import progress_bar
from fuel.exceptions import ConversionError

__all__ = ['PictureSpool', 'SpooledPicture', 'decode', 'spool_pictures']

_PIECE_BYTES = 1 << 18
_LARGEST_PICTURE = 1 << 26
_SIZE_BITS = _LARGEST_PICTURE.bit_length()
# In the place of the place of a picture.
_TAKEN = -1


@dataclass(frozen=True, slots=True)
class SpooledPicture:
    """Where the content of a picture is.

    Parameters
    ----------
    path : str
        The file.
    offset, size : int
        Where the picture is in it.
    where : str
        What to call it in messages.
    """

    path: str
    offset: int
    size: int
    where: str


@dataclass(frozen=True, slots=True)
class PictureSpool:
    """The pictures of an archive.

    Attributes
    ----------
    archive : str
        The archive.
    path : str
        The file in which they are.
    described : str
        The path of the member that describes them.
    """

    archive: str
    path: str
    described: str
    # Offset and size in one number: there can be hundreds of thousands.
    _places: dict[str, int]

    def __len__(self) -> int:
        return len(self._places)

    def take(self, name: str) -> SpooledPicture:
        """Return where a picture is, once.

        Raises
        ------
        ConversionError
            The archive has none of that name, or it was taken before.
        """
        place = self._places.get(name)
        if place is None or place == _TAKEN:
            raise ConversionError(f'{self.archive}: {os.path.basename(self.described)} tells of '
                                  f'the picture {name[:80]!r}'
                                  + (' twice; expected each picture once' if place == _TAKEN else
                                     ', which the archive does not have'))
        self._places[name] = _TAKEN
        return SpooledPicture(self.path, place >> _SIZE_BITS, place & (1 << _SIZE_BITS) - 1,
                              f'{self.archive}: {name}')


def spool_pictures(archive: str, folder: str, description: str) -> PictureSpool:
    """Read an archive once, and keep its pictures and the file that describes them.

    No member decides where it is written: pictures go into one file, known by the last part of
    their names.

    Parameters
    ----------
    archive : str
        The archive.
    folder : str
        An empty folder for what is kept.
    description : str
        The name of the member that describes the pictures.

    Raises
    ------
    ConversionError
        The archive is cut off or damaged, has a picture twice, or lacks the description.
    """
    path, described = os.path.join(folder, 'pictures'), os.path.join(folder, description)
    places: dict[str, int] = {}
    found = False
    with (open(path, 'wb') as pictures,
          progress_bar(os.path.basename(archive), prefix='Reading', unit='pictures') as progress):
        for member in tar_members(archive):
            name = member.name.rpartition('/')[2]
            if name == description:
                with open(described, 'wb') as stream:
                    _copy(member, stream)
                found = True
            elif name.lower().endswith('.png'):
                if name in places or member.size > _LARGEST_PICTURE:
                    raise ConversionError(
                        f'{archive}: expected pictures of different names, of at most '
                        f'{_LARGEST_PICTURE} bytes; {member.name!r}, of {member.size} bytes, '
                        + ('is there twice' if name in places else 'is larger'))
                places[name] = pictures.tell() << _SIZE_BITS | member.size
                _copy(member, pictures)
                progress.update(len(places))
    if not found:
        raise ConversionError(f'{archive}: expected the member {description!r}, which describes '
                              f'the pictures; the archive has {len(places)} pictures without it')
    return PictureSpool(archive, path, described, places)


def _copy(member: TarMember, stream: BinaryIO) -> None:
    for piece in _pieces(member):
        stream.write(piece)


def _pieces(member: TarMember) -> Iterator[bytes]:
    """Yield the content of a member."""
    while piece := member.stream.read(_PIECE_BYTES):
        yield piece


def decode(picture: SpooledPicture) -> AnyArray:
    """Decode a picture; in a worker process.

    Returns
    -------
    numpy.ndarray, shape (3, height, width), uint8
        Its red, green and blue values.

    Raises
    ------
    ConversionError
        It is none.
    """
    with open(picture.path, 'rb', buffering=0) as stream:
        stream.seek(picture.offset)
        return decoded(stream.read(picture.size), picture.where)
