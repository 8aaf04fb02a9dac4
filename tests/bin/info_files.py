"""Files for the tests of fuel-info."""
from __future__ import annotations

import h5py
import numpy

from fuel.converters.base import fill_hdf5_file
from fuel.storage.provenance.checksums import keeping_checksums

LABELS = {'features': ('batch', 'channel', 'height', 'width'), 'targets': ('batch', 'index')}


def arrays(seed=0, count=60):
    random = numpy.random.default_rng(seed)
    return (random.integers(0, 255, (count, 3, 12, 10)).astype('uint8'),
            (numpy.arange(count) % 4).astype('uint8')[:, None])


def write(path, features, targets, split=40, checksums=True, **options):
    """Write two sources in two splits, and keep their checksums as fuel-convert does."""
    options.setdefault('axis_labels', LABELS)
    with h5py.File(path, 'w') as h5file:
        if checksums:
            with keeping_checksums():
                _fill(h5file, features, targets, split, options)
        else:
            _fill(h5file, features, targets, split, options)
    return str(path)


def _fill(h5file, features, targets, split, options):
    fill_hdf5_file(h5file, [
        ('train', 'features', features[:split]), ('train', 'targets', targets[:split]),
        ('test', 'features', features[split:]), ('test', 'targets', targets[split:])], **options)


def fill(path, data, **options):
    """Write sources as `fill_hdf5_file` does, and return the path."""
    with h5py.File(path, 'w') as h5file:
        fill_hdf5_file(h5file, data, **options)
    return path


def note_inputs(path, sizes):
    """Have a file tell of raw files of some sizes, as fuel-convert does; return their names."""
    names = [f'pictures/{number:05d}.png' for number in range(len(sizes))]
    inputs = numpy.zeros(len(sizes), [('name', 'S18'), ('size', '<i8'), ('sha256', 'S64')])
    for row, name, size in zip(inputs, names, sizes, strict=True):
        row['name'], row['size'], row['sha256'] = name, size, f'{size:064x}'
    with h5py.File(path, 'a') as h5file:
        h5file['fuel_provenance/inputs'] = inputs
    return names


def own_shapes(count=30, axes=3):
    random = numpy.random.default_rng(1)
    return [random.integers(0, 9, tuple(random.integers(1, 6, axes))).astype('int16')
            for _ in range(count)]


def write_variable(path, examples, layout='vlen', checksums=True):
    with h5py.File(path, 'w') as h5file:
        if checksums:
            with keeping_checksums():
                fill_hdf5_file(h5file, [('train', 'x', examples)], layout=layout)
        else:
            fill_hdf5_file(h5file, [('train', 'x', examples)], layout=layout)
    return str(path)


def flip(path, row, source='features'):
    """Change a byte of a row of a source that is stored contiguously, behind the back of HDF5."""
    with h5py.File(path, 'r') as h5file:
        dataset = h5file[source]
        place = dataset.id.get_offset() + row * (dataset.nbytes // len(dataset))
    with open(path, 'r+b') as stream:
        stream.seek(place)
        byte = stream.read(1)[0]
        stream.seek(place)
        stream.write(bytes([byte ^ 255]))
