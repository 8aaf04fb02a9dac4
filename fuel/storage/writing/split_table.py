"""The attribute ``split`` of a file that is being written."""
from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from fuel.storage.writing.space import writing

__all__ = ['check_split', 'write_split']

# Up to this size it goes into the header of the root group in any file. The rest of what an
# attribute may have there, 64 kB, is for the description of the table.
_SURELY_FITS = 60_000


def check_split(h5file: Any, comments: Mapping[str, Mapping[str, str]]) -> None:
    """Check that the file can take the attribute, before the data are written.

    Parameters
    ----------
    h5file : h5py.File
        Open for writing.
    comments : mapping
        Maps splits to mappings from their sources to comments.

    Raises
    ------
    ValueError
        The file has splits already, or the table is too large for it.
    """
    from fuel.storage.splits import create_split_array

    if 'split' in h5file.attrs:
        raise ValueError(
            f'{h5file.filename}: the file has splits already, in its attribute split, which would '
            'be lost. Give all data in one call, or write a new file. To give up those splits, '
            "first call del h5file.attrs['split']")
    table = create_split_array({split: {name: (0, 0, None, comment)
                                        for name, comment in of_split.items()}
                                for split, of_split in comments.items()})
    if table.nbytes <= _SURELY_FITS:
        return
    # Only HDF5 can tell: large attributes need a root group of a newer format than the oldest.
    try:
        h5file.attrs['split'] = table
    except OSError as error:
        raise ValueError(
            f'{h5file.filename}: the table of the splits would have {table.nbytes} bytes, of which '
            f'{table.dtype["comment"].itemsize} for the comment in each of its {len(table)} rows; '
            'this file can hold 64 kB. Shorten the comments, or make the file with '
            "h5py.File(path, 'w', libver='v108'), which has no such limit") from error
    finally:
        with suppress(KeyError):
            del h5file.attrs['split']


def write_split(h5file: Any, where: Mapping[str, Mapping[str, tuple[Any, ...]]]) -> None:
    """Write the attribute, when all data are on the disk.

    Parameters
    ----------
    h5file : h5py.File
        Open for writing.
    where : mapping
        What `create_split_array` takes.
    """
    from fuel.storage.splits import create_split_array

    with writing():
        # What does not get to the disk must be known before the file claims to be whole.
        h5file.flush()
        h5file.attrs['split'] = create_split_array(where)
