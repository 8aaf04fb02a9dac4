"""Reads converted files with h5py alone, independently of the library."""
from __future__ import annotations

import h5py


def by_split(path):
    """Return the values of a file, by split and source."""
    with h5py.File(path, 'r') as h5file:
        found = {}
        for row in h5file.attrs['split']:
            if row['available']:
                source = row['source'].decode()
                values = (h5file[source][...][h5file[row['indices']][...]] if row['indices']
                          else h5file[source][row['start']:row['stop']])
                found.setdefault(row['split'].decode(), {})[source] = values
    return found


def axis_labels(path):
    """Return the labels of the axes of every source."""
    with h5py.File(path, 'r') as h5file:
        sources = {row['source'].decode() for row in h5file.attrs['split']}
        return {name: tuple(axis.label for axis in h5file[name].dims) for name in sources}


def storage(path, source):
    """Return dtype, shape, chunks and compression of a source."""
    with h5py.File(path, 'r') as h5file:
        dataset = h5file[source]
        return str(dataset.dtype), dataset.shape, dataset.chunks, dataset.compression
