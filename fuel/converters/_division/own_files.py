"""Somebody's own files: where they are, and whether they are files at all."""
from __future__ import annotations

import os
import stat

from fuel.exceptions import ConversionError, DataFileNotFoundError

__all__ = ['content_of', 'own_file']


def own_file(directory: str, name: str) -> str:
    """Return the path of a file that was named by somebody.

    Parameters
    ----------
    directory : str
        Where the name begins, if it is a relative one.
    name : str
        The name.

    Raises
    ------
    DataFileNotFoundError
        There is no such file. A ``FileNotFoundError``.
    ConversionError
        It is a folder, a pipe or a device.
    """
    path = os.path.join(directory, name)
    if os.path.isfile(path):
        return path
    if os.path.isdir(path):
        raise ConversionError(f'{path}: expected a file; this is a folder')
    if os.path.exists(path):
        raise ConversionError(f'{path}: expected a file, which can be read more than once; this '
                              'is a pipe or a device')
    raise DataFileNotFoundError(f'{path}: there is no such file' + (
        '' if os.path.isabs(name) else f'. {name} was looked for in the folder {directory}; -d '
                                       'names another one'))


def content_of(path: str) -> bytes:
    """Return the bytes of a file.

    Raises
    ------
    ConversionError
        It cannot be read, or is no file: a pipe would be waited for, and some devices never end.
    """
    try:
        # Without O_NONBLOCK to open a pipe would wait for somebody to write into it.
        with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK), 'rb') as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                raise ConversionError(f'{path}: expected a file; this is a pipe or a device')
            return stream.read()
    except OSError as error:
        raise ConversionError(f'{path} cannot be read: {error.strerror}') from error
