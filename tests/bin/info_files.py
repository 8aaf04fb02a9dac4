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
