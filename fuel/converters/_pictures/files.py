"""Finds the pictures in somebody's folder."""
from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Iterator
from typing import TypeAlias

from fuel.converters._division.names import plural, shown, stored_text
from fuel.exceptions import ConversionError, DataFileNotFoundError

__all__ = ['ENDINGS', 'find_pictures']

#: The numbers of a folder and of those that it lies in, by device and node.
_Places: TypeAlias = 'tuple[tuple[int, int], _Places] | None'

logger = logging.getLogger(__name__)

#: Endings that files of pictures have, in small letters; capital ones are the same.
ENDINGS = frozenset({'.bmp', '.gif', '.jpe', '.jpeg', '.jpg', '.pbm', '.pgm', '.png', '.pnm',
                     '.ppm', '.tif', '.tiff', '.webp'})


def find_pictures(folder: str, *, strict: bool = True) -> list[str]:
    """Find all pictures in a folder and the folders in it.

    Parameters
    ----------
    folder : str
        The folder. Links are followed. Files and folders whose names begin with a full stop are
        left out, and so are files without one of `ENDINGS`, whose number is logged.
    strict : bool, optional
        Whether a pipe or a device with such an ending is an error, which is so by default. It is
        taken for a picture otherwise; to read it would never end.

    Returns
    -------
    list of str
        Their paths from the folder on, divided by slashes: folder by folder, in the order of the
        codes of the letters, as `stored_text` returns them.

    Raises
    ------
    DataFileNotFoundError
        There is no such folder. A ``FileNotFoundError``.
    ConversionError
        It is no folder, has no pictures, or has a link to one of the folders that it lies in.
    """
    if not os.path.isdir(folder):
        if os.path.exists(folder):
            raise ConversionError(f'{folder}: expected a folder with pictures; this is a file. If '
                                  'it is an archive, unpack it first')
        raise DataFileNotFoundError(f'there is no folder {folder}')
    others: Counter[str] = Counter()
    pictures = sorted(_walk(folder, others, strict=strict),
                      key=lambda path: stored_text(path).split('/'))
    if others:
        endings = [f'{number} {ending}' for ending, number in sorted(others.items())]
        logger.warning('%s: left out %s without the ending of a picture: %s', folder,
                       plural(others.total(), 'file'), shown(endings, 10))
    if not pictures:
        raise ConversionError(f'{folder}: expected pictures, files with an ending such as .jpg or '
                              '.png; there are none')
    return pictures


def _walk(folder: str, others: Counter[str], *, strict: bool) -> Iterator[str]:
    """Yield the pictures of a folder and the folders in it, in any order."""
    # Not by recursion: folders may lie in each other more deeply than Python can call itself.
    waiting: list[tuple[str, str, _Places]] = [(folder, '', None)]
    while waiting:
        folder, prefix, above = waiting.pop()
        status = os.stat(folder)
        place = status.st_dev, status.st_ino
        if _is_among(place, above):
            raise ConversionError(f'{folder}: expected folders that end somewhere; this is a link '
                                  'to a folder that it lies in. Remove it')
        with os.scandir(folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
        for entry in found:
            if entry.name.startswith('.'):
                continue
            ending = os.path.splitext(entry.name)[1]
            if entry.is_dir():
                waiting.append((entry.path, f'{prefix}{entry.name}/', (place, above)))
            elif ending.lower() not in ENDINGS:
                others[ending or 'without any'] += 1
            elif strict and not entry.is_file() and os.path.exists(entry.path):
                raise ConversionError(f'{entry.path}: expected a picture; this is a pipe or a '
                                      'device. Remove it, or give --skip-bad')
            else:
                yield prefix + entry.name


def _is_among(place: tuple[int, int], places: _Places) -> bool:
    while places is not None:
        if places[0] == place:
            return True
        places = places[1]
    return False
