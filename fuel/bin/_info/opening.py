"""Opens the files that are looked at; what cannot be opened is told in one line."""
from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager

import h5py

from fuel.exceptions import DataFileError
from fuel.storage.handles import OpenFile, open_for_reading

__all__ = ['looking_into']


@contextmanager
def looking_into(path: str) -> Iterator[OpenFile]:
    """Open an HDF5 file for reading, while a ``with`` block runs.

    Parameters
    ----------
    path : str
        The file.

    Raises
    ------
    OSError
        There is no such file, it is a folder, or it may not be read.
    DataFileError
        It is not an HDF5 file, or it is truncated or damaged. An ``OSError``.
    """
    if not stat.S_ISREG(os.stat(path).st_mode) and not os.path.isdir(path):
        raise DataFileError(f'{path} is not an HDF5 file but a pipe or a device')
    with open(path, 'rb'):
        pass  # raises the proper error if there is no such file, or only a folder
    if not h5py.is_hdf5(path):
        raise DataFileError(f'{path} is not an HDF5 file')
    try:
        with open_for_reading(path) as h5file:
            opened = OpenFile(h5file, path, None)
            try:
                yield opened
            finally:
                opened.forget()
    except DataFileError:
        raise
    except (KeyError, OSError, RuntimeError, UnicodeDecodeError) as error:
        if isinstance(error, OSError) and error.filename is not None:
            raise           # of another file
        text = error.args[0] if isinstance(error, KeyError) and error.args else error
        raise DataFileError(f'{path} cannot be read; it may be truncated or damaged: '
                            f'{text}') from error
