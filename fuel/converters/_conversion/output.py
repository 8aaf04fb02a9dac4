"""The file that a converter writes."""
from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from fuel.converters._conversion.record import current_record
from fuel.exceptions import ConversionError
from fuel.storage.writing.space import writing
from fuel.utils.atomic import replacing

__all__ = ['new_file']


@contextmanager
def new_file(output_directory: str | os.PathLike[str],
             output_filename: str | os.PathLike[str]) -> Iterator[Any]:
    """Make an HDF5 file that has its name only when it is complete.

    Open it before the long work begins: what stands in its way shows at once.

    Parameters
    ----------
    output_directory : str or path
        An existing folder.
    output_filename : str or path
        What the file is to be called.

    Yields
    ------
    h5py.File
        Open for writing, under another name. The file gets its own name when the block ends; if
        it raises, what stood there before stands there still.

    Raises
    ------
    ConversionError
        The name leads out of the folder. A ``ValueError``.
    OutputExistsError
        ``fuel-convert`` is to make a file that is there already. A ``FileExistsError``.
    """
    import h5py

    target = os.path.join(output_directory, output_filename)
    record = current_record()
    if record is not None:
        inside(output_directory, output_filename)
        record.check_output(os.fspath(output_filename))
        # The command has made a temporary folder already.
        with _closing(h5py.File(target, mode='w')) as h5file:
            yield h5file
        return
    with replacing(target) as path, _closing(h5py.File(path, mode='w')) as h5file:
        yield h5file


@contextmanager
def _closing(h5file: Any) -> Iterator[Any]:
    """Close a file in the end; what HDF5 cannot write then hides no error from before."""
    try:
        yield h5file
    except BaseException:
        with suppress(Exception):
            h5file.close()
        raise
    with writing():
        try:
            h5file.close()
        except RuntimeError as error:       # of the same origin, but told in another way
            raise OSError(errno.EIO, f'HDF5 could not write all of the file: {error}',
                          h5file.filename if h5file else None) from error


def inside(directory: str | os.PathLike[str], name: str | os.PathLike[str]) -> None:
    """Raise if the name of a file leads out of the folder that it is to be written into.

    Raises
    ------
    ConversionError
        It does. A ``ValueError``.
    """
    root = os.path.abspath(directory)
    path = os.path.abspath(os.path.join(root, name))
    if os.path.commonpath([root, path]) != root or path == root:
        raise ConversionError(f'expected the name of a file that stays inside {root}; got '
                              f'{os.fspath(name)!r}')
