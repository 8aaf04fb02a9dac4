"""Finds the pictures in somebody's folder."""
from __future__ import annotations

import logging
import os
from collections import Counter
from collections.abc import Iterator

from fuel.converters._names import shown
from fuel.exceptions import ConversionError, MissingInputFiles

__all__ = ['ENDINGS', 'find_pictures']

logger = logging.getLogger(__name__)

#: Endings that files of pictures have, in small letters; capital ones are the same.
ENDINGS = frozenset({'.bmp', '.gif', '.jpe', '.jpeg', '.jpg', '.pbm', '.pgm', '.png', '.pnm',
                     '.ppm', '.tif', '.tiff', '.webp'})


def find_pictures(folder: str) -> list[str]:
    """Find all pictures in a folder and the folders in it.

    Parameters
    ----------
    folder : str
        The folder. Links are followed. Files and folders whose names begin with a full stop are
        left out, and so are files without one of `ENDINGS`, whose number is logged.

    Returns
    -------
    list of str
        Their paths from the folder on, divided by slashes: folder by folder, in the order of the
        codes of the letters.

    Raises
    ------
    MissingInputFiles
        There is no such folder.
    ConversionError
        It is no folder, has no pictures, or has a link to one of the folders that it lies in.
    """
    if not os.path.isdir(folder):
        if os.path.exists(folder):
            raise ConversionError(f'{folder}: expected a folder with pictures; this is a file. If '
                                  'it is an archive, unpack it first')
        raise MissingInputFiles(f'there is no folder {folder}', [folder])
    others: Counter[str] = Counter()
    pictures = sorted(_walk(folder, '', (), others), key=lambda path: path.split('/'))
    if others:
        endings = [f'{number} {ending}' for ending, number in sorted(others.items())]
        logger.warning('%s: %d files were left out that have no ending of a picture: %s', folder,
                       others.total(), shown(endings, 10))
    if not pictures:
        raise ConversionError(f'{folder}: expected pictures, files with an ending such as .jpg or '
                              '.png; there are none')
    return pictures


def _walk(folder: str, prefix: str, above: tuple[tuple[int, int], ...],
          others: Counter[str]) -> Iterator[str]:
    status = os.stat(folder)
    place = status.st_dev, status.st_ino
    if place in above:
        raise ConversionError(f'{folder}: expected folders that end somewhere; this is a link to '
                              'a folder that it lies in. Remove it')
    with os.scandir(folder) as entries:
        found = sorted(entries, key=lambda entry: entry.name)
    for entry in found:
        if entry.name.startswith('.'):
            continue
        if entry.is_dir():
            yield from _walk(entry.path, f'{prefix}{entry.name}/', (*above, place), others)
        elif os.path.splitext(entry.name)[1].lower() in ENDINGS:
            yield prefix + entry.name
        else:
            others[os.path.splitext(entry.name)[1] or 'without any'] += 1
