"""Whether an HDF5 file has all of its data in itself."""
from __future__ import annotations

import os
from typing import Any

__all__ = ['why_not_alone']

_SIGNATURE = b'\x89HDF\r\n\x1a\n'
# A file may begin with something else, of 512 bytes or twice, four times, ... as many.
_LONGEST_PREFIX = 2 ** 20


def _is_hdf5(path: str) -> bool:
    with open(path, 'rb') as stream:
        size = os.fstat(stream.fileno()).st_size
        place = 0
        while place < min(size, _LONGEST_PREFIX + 1):
            stream.seek(place)
            if stream.read(len(_SIGNATURE)) == _SIGNATURE:
                return True
            place = 2 * place or 512
    return False


def why_not_alone(path: str) -> str:
    """Say why a file cannot be read in another folder.

    HDF5 files can refer to others by their paths, which count from the folder that they lie in:
    by external links, virtual data sets, and data stored outside of the file. HDF5 gives zeros
    where it does not find the data of a virtual data set.

    Parameters
    ----------
    path : str
        Any file.

    Returns
    -------
    str
        Empty if it can, and for files that are no HDF5 files.

    Raises
    ------
    OSError
        It cannot be opened, as when it is open for writing.
    """
    if not _is_hdf5(path):
        return ''
    import h5py

    def of_link(name: str, link: Any) -> str | None:
        if isinstance(link, h5py.ExternalLink):
            return f'{name!r} in it is a link to {link.filename}'
        return None

    def of_object(name: str, found: Any) -> str | None:
        if isinstance(found, h5py.Dataset) and (found.is_virtual or found.external):
            return f'the data of {name!r} in it are kept in other files'
        return None

    with h5py.File(path, 'r') as file:
        return file.visititems_links(of_link) or file.visititems(of_object) or ''
