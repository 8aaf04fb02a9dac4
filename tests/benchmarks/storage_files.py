"""The files that bench_storage.py reads, made with h5py and nothing else."""
import os
import zlib
from concurrent.futures import ThreadPoolExecutor

import h5py
import numpy

from fuel.storage.splits import create_split_array

IMAGE = (3, 32, 32)
STRINGS = 2000
CHUNKS = 10 ** 6


def images(count):
    """Return smooth random fields with mild noise, which compress about as pictures do."""
    rng = numpy.random.default_rng(0)
    low = rng.normal(128, 40, (count * 3, 6, 6)).astype('float32')
    places = numpy.linspace(0, 5, 32)
    spread = numpy.maximum(0, 1 - abs(places[:, None] - numpy.arange(6))).astype('float32')
    fields = spread @ low @ spread.T
    noise = rng.normal(0, 0.4, 2 ** 20).astype('float32')
    flat = fields.reshape(-1)
    for start in range(0, flat.size, noise.size):
        flat[start:start + noise.size] += noise[:flat.size - start]
    return fields.clip(0, 255).astype('uint8').reshape(count, *IMAGE)


def labels(count):
    """Return classes, in an array with an axis of length 1, as the converters make them."""
    return numpy.random.default_rng(1).integers(0, 10, (count, 1)).astype('uint8')


def byte_strings():
    """Return what encoded pictures of about 100 kB look like to a reader."""
    rng = numpy.random.default_rng(2)
    return [rng.integers(0, 256, int(length), dtype='uint8')
            for length in rng.integers(80_000, 120_000, STRINGS)]


def _split(h5file, names, count):
    h5file.attrs['split'] = create_split_array({'train': dict.fromkeys(names, (0, count))})


def _compressed(dataset, data, rows):
    """Write a data set of gzip level 4 in several threads; shuffling does nothing to bytes."""
    def piece(start):
        chunk = data[start:start + rows]
        if len(chunk) < rows:
            chunk = numpy.concatenate([chunk, numpy.zeros((rows - len(chunk), *data.shape[1:]),
                                                          data.dtype)])
        return start, zlib.compress(chunk.tobytes(), 4)

    with ThreadPoolExecutor(2) as pool:
        stored = 0
        for start, content in pool.map(piece, range(0, len(data), rows), chunksize=64):
            dataset.id.write_direct_chunk((start, *(0,) * (data.ndim - 1)), content)
            stored += len(content)
    return stored


def image_file(path, count, rows=None, **filters):
    """Write images and labels, contiguous or in chunks of so many rows.

    Where a chunk is one image, the labels are in chunks of 1000.
    """
    sources = {'features': images(count), 'targets': labels(count)}
    with h5py.File(path, 'w') as h5file:
        for name, data in sources.items():
            here = rows if name == 'features' or rows is None else max(rows, 64) if (
                rows > 1) else 1000
            chunks = None if rows is None else (here, *data.shape[1:])
            dataset = h5file.create_dataset(name, data.shape, 'uint8', chunks=chunks, **filters)
            if filters:
                stored = _compressed(dataset, data, here)
                if name == 'features':
                    h5file.attrs['ratio'] = data.nbytes / stored
            else:
                dataset[...] = data
        _split(h5file, sources, count)


def flat_file(path):
    """Write byte strings one after another, and where they begin."""
    strings = byte_strings()
    with h5py.File(path, 'w') as h5file:
        h5file['encoded'] = numpy.concatenate(strings)
        offsets = numpy.concatenate([[0], numpy.cumsum([len(string) for string in strings])])
        h5file['encoded_offsets'] = offsets.astype('int64')
        h5file['encoded_offsets'].make_scale('offsets')
        h5file['encoded'].dims[0].attach_scale(h5file['encoded_offsets'])
        h5file['encoded'].dims[0].label = 'batch'
        h5file['targets'] = labels(STRINGS)
        _split(h5file, ('encoded', 'targets'), STRINGS)


def vlen_file(path):
    """Write byte strings with HDF5's own type of variable length."""
    with h5py.File(path, 'w') as h5file:
        rows = h5file.create_dataset('encoded', (STRINGS,), h5py.vlen_dtype('uint8'))
        for place, string in enumerate(byte_strings()):
            rows[place] = string
        h5file['targets'] = labels(STRINGS)
        _split(h5file, ('encoded', 'targets'), STRINGS)


def million_file(path):
    """Write 10^6 chunks of one row of eight bytes."""
    with h5py.File(path, 'w') as h5file:
        dataset = h5file.create_dataset('features', (CHUNKS, 8), 'uint8', chunks=(1, 8))
        write = dataset.id.write_direct_chunk
        for row, content in enumerate(numpy.arange(CHUNKS, dtype='uint64').view('S8').tolist()):
            write((row, 0), content.ljust(8, b'\0'))
        _split(h5file, ('features',), CHUNKS)


MAKERS = {
    'contiguous': lambda path, count: image_file(path, count),
    'chunks64': lambda path, count: image_file(path, count, 64),
    'chunks1000': lambda path, count: image_file(path, count, 1000),
    'chunks1': lambda path, count: image_file(path, count, 1),
    'gzip1': lambda path, count: image_file(path, count, 1, compression='gzip',
                                            compression_opts=4, shuffle=True),
    'gzip64': lambda path, count: image_file(path, count, 64, compression='gzip',
                                             compression_opts=4),
    'ragged': lambda path, count: flat_file(path),
    'vlen': lambda path, count: vlen_file(path),
    'million': lambda path, count: million_file(path),
}


class Files:
    """Files by name, made when they are first asked for.

    Parameters
    ----------
    folder : path
        Where they stand; those that are there already are used.
    count : int
        The number of images.
    """

    def __init__(self, folder, count):
        self.folder = folder
        self.count = count

    def __getitem__(self, name):
        path = os.path.join(self.folder, f'{name}_{self.count}.hdf5')
        if not os.path.exists(path):
            MAKERS[name](path + '.part', self.count)
            os.replace(path + '.part', path)
            warm(path)
        return path

    def mapped(self, source='features'):
        """Return the rows of the contiguous file, as an array over its bytes."""
        path = self['contiguous']
        with h5py.File(path) as h5file:
            return numpy.memmap(path, 'uint8', 'r', h5file[source].id.get_offset(),
                                h5file[source].shape)


def warm(path):
    """Have a file in the page cache."""
    with open(path, 'rb') as stream:
        while stream.read(2 ** 24):
            pass
