"""Small HDF5 files, written with h5py directly."""
import h5py
import numpy

from fuel.storage.splits import create_split_array


def write_file(path, sources, splits, labels=None, edit=None):
    """Write arrays as sources, and splits given as for `create_split_array`.

    Where a split gives an array in place of ``(start, stop)``, it is stored and referred to.
    """
    with h5py.File(path, 'w') as h5file:
        for name, data in sources.items():
            h5file[name] = data
            for axis, label in enumerate((labels or {}).get(name, ())):
                h5file[name].dims[axis].label = label
        set_splits(h5file, splits)
        if edit is not None:
            edit(h5file)
    return str(path)


def set_splits(h5file, splits):
    described = {}
    for split, of_split in splits.items():
        described[split] = {}
        for source, rows in of_split.items():
            if not isinstance(rows, tuple):
                name = f'{split}_{source}_rows'
                h5file[name] = numpy.asarray(rows)
                rows = (-1, -1, h5file[name].ref)
            described[split][source] = rows
    h5file.attrs['split'] = create_split_array(described)


def write_ragged(path, arrays, shape_labels=('channel', 'height', 'width'), shapes=None,
                 dtype='uint8', splits=None, edit=None):
    """Write arrays of different shapes as the source 'images', and their numbers as 'number'."""
    with h5py.File(path, 'w') as h5file:
        images = h5file.create_dataset('images', (len(arrays),), dtype=h5py.vlen_dtype(dtype))
        for position, array in enumerate(arrays):
            images[position] = array.ravel()
        images.dims[0].label = 'batch'
        stored = [array.shape for array in arrays] if shapes is None else shapes
        h5file['image_shapes'] = numpy.array(stored, dtype='int32')
        h5file['image_shapes'].make_scale('shapes')
        images.dims[0].attach_scale(h5file['image_shapes'])
        if shape_labels is not None:
            h5file['image_labels'] = numpy.array([label.encode() for label in shape_labels])
            h5file['image_labels'].make_scale('shape_labels')
            images.dims[0].attach_scale(h5file['image_labels'])
        h5file['number'] = numpy.arange(len(arrays))
        set_splits(h5file, splits or {'all': {'images': (0, len(arrays)),
                                              'number': (0, len(arrays))}})
        if edit is not None:
            edit(h5file)
    return str(path)


def some_images(count, seed=0):
    """Return arrays of shape (3, h, w) with different sizes."""
    rng = numpy.random.default_rng(seed)
    return [rng.integers(0, 256, size=(3, *rng.integers(1, 6, size=2)), dtype=numpy.uint8)
            for _ in range(count)]
