"""Small files of every layout that HDF5 has, with the rows that must be read from them."""
from __future__ import annotations

import h5py

from fuel.storage.splits import create_split_array
from tests.storage.layout_filters import FILTERED
from tests.storage.layout_places import PLACES
from tests.storage.layout_types import TYPES

LAYOUTS = {**PLACES, **TYPES, **FILTERED}


def write_layout(folder, name):
    """Write the file of a layout.

    Parameters
    ----------
    folder : pathlib.Path
        Where to put it.
    name : str
        One of `LAYOUTS`.

    Returns
    -------
    path : str
        The file, with the source 'x' and the split 'all'.
    rows : ndarray
        What the source holds, from before it was written.
    """
    layout = LAYOUTS[name]
    path = folder / 'layout.hdf5'
    with h5py.File(path, 'w', **layout.file) as h5file:
        if name == 'while others read':
            # Attributes cannot be made any more when others may read.
            h5file.attrs['split'] = create_split_array({'all': {'x': (0, 60)}})
        rows = layout.write(h5file)
        if name != 'while others read':
            h5file.attrs['split'] = create_split_array({'all': {'x': (0, len(rows))}})
    return str(path), rows
