"""Files with examples of different lengths, written with h5py directly."""
import h5py
import numpy

from fuel.storage.handles import OpenFile
from fuel.storage.splits import create_split_array


def as_opened(h5file):
    """Return an open file as readers want it."""
    return OpenFile(h5file, h5file.filename, None)


def attach_scale(h5file, source, name, data):
    """Store data and attach them to the first axis of a source, as a scale with a name."""
    scale = h5file.create_dataset(f'{source}_{name}', data=data)
    scale.make_scale(name)
    h5file[source].dims[0].attach_scale(scale)


def _finish(h5file, source, arrays, labels):
    h5file[source].dims[0].label = 'batch'
    if len(arrays) and arrays[0].ndim > 1:
        attach_scale(h5file, source, 'shapes',
                     numpy.array([array.shape for array in arrays], 'int32'))
        attach_scale(h5file, source, 'shape_labels',
                     numpy.array([label.encode() for label in labels]))
    h5file['number'] = numpy.arange(len(arrays))
    h5file.attrs['split'] = create_split_array(
        {'all': {source: (0, len(arrays)), 'number': (0, len(arrays))}})


def write_flat(path, arrays, dtype='uint8', source='values', labels=('height', 'width'), **kwargs):
    """Write the values of arrays one after another, and the offsets where they begin.

    Parameters
    ----------
    path : path
        Of the file, with the source 'values' (or `source`), the source 'number' and the split
        'all'.
    arrays : list of ndarray
        The examples; those of more than one axis get shapes.
    dtype : numpy.dtype, optional
        Of the values.
    source : str, optional
        Its name.
    labels : tuple of str, optional
        Of the axes of an example.
    **kwargs
        For `create_dataset`, such as `chunks` and `compression`.
    """
    lengths = [array.size for array in arrays]
    with h5py.File(path, 'w') as h5file:
        flat = h5file.create_dataset(source, (sum(lengths),), dtype, **kwargs)
        if sum(lengths):
            flat[...] = numpy.concatenate([array.ravel() for array in arrays]).astype(dtype)
        offsets = numpy.concatenate([[0], numpy.cumsum(lengths)]).astype('int64')
        attach_scale(h5file, source, 'offsets', offsets)
        _finish(h5file, source, arrays, labels)
    return str(path)


def write_vlen(path, arrays, dtype='uint8', source='values', labels=('height', 'width'), **kwargs):
    """Write arrays with HDF5's own type of variable length; see `write_flat`."""
    with h5py.File(path, 'w') as h5file:
        rows = h5file.create_dataset(source, (len(arrays),), h5py.vlen_dtype(dtype), **kwargs)
        for place, array in enumerate(arrays):
            rows[place] = array.ravel().astype(dtype)
        _finish(h5file, source, arrays, labels)
    return str(path)
