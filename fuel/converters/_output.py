"""The file that a converter writes."""
from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fuel.converters._record import current_record
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
    OutputExistsError
        ``fuel-convert`` is to make a file that is there already. A ``FileExistsError``.
    """
    import h5py

    target = os.path.join(output_directory, output_filename)
    record = current_record()
    if record is not None:
        record.check_output(os.fspath(output_filename))
        # The command has made a temporary folder already.
        with h5py.File(target, mode='w') as h5file:
            yield h5file
        return
    with replacing(target) as path, h5py.File(path, mode='w') as h5file:
        yield h5file
