"""Data sets whose chunks went through filters."""
import h5py
import hdf5plugin
import numpy

from tests.storage.layout_entry import SHAPE, Layout, created, stored
from tests.storage.layout_places import EARLIEST, LATEST

FILTERS = {
    'deflate': lambda properties: properties.set_deflate(4),
    'shuffle': lambda properties: properties.set_shuffle(),
    'fletcher32': lambda properties: properties.set_fletcher32(),
    'lzf': lambda properties: properties.set_filter(h5py.h5z.FILTER_LZF, h5py.h5z.FLAG_OPTIONAL),
    'nbit': lambda properties: properties.set_filter(h5py.h5z.FILTER_NBIT,
                                                     h5py.h5z.FLAG_OPTIONAL),
}
ORDERS = ['deflate', 'shuffle', 'fletcher32', 'lzf', 'shuffle deflate', 'shuffle lzf',
          'deflate shuffle', 'deflate fletcher32', 'fletcher32 deflate', 'shuffle fletcher32',
          'shuffle deflate fletcher32', 'fletcher32 shuffle deflate', 'lzf fletcher32',
          'shuffle lzf fletcher32', 'deflate deflate', 'lzf deflate', 'shuffle shuffle deflate']
PLUGINS = {
    'blosc lz4': hdf5plugin.Blosc('lz4'),
    'blosc zstd, bits': hdf5plugin.Blosc('zstd', shuffle=hdf5plugin.Blosc.BITSHUFFLE),
    'blosc zlib, no shuffle': hdf5plugin.Blosc('zlib', shuffle=hdf5plugin.Blosc.NOSHUFFLE),
    'blosc blosclz': hdf5plugin.Blosc('blosclz'),
    'blosc lz4hc': hdf5plugin.Blosc('lz4hc'),
    'blosc2 zstd': hdf5plugin.Blosc2('zstd'),
    'blosc2 lz4': hdf5plugin.Blosc2('lz4', filters=hdf5plugin.Blosc2.BITSHUFFLE),
    'zstd': hdf5plugin.Zstd(),
    'lz4': hdf5plugin.LZ4(),
    'lz4, blocks': hdf5plugin.LZ4(nbytes=64),
    'bitshuffle': hdf5plugin.Bitshuffle(),
    'bitshuffle, zstd': hdf5plugin.Bitshuffle(cname='zstd'),
    'bitshuffle, none': hdf5plugin.Bitshuffle(cname='none'),
}
UNKNOWN = {'bzip2': hdf5plugin.BZip2()}


def smooth(shape=SHAPE, dtype='int32'):
    """Return values that can be compressed."""
    count = int(numpy.prod(shape, dtype=int))
    return (numpy.arange(count) // 7 % 100).astype(dtype).reshape(shape)


def filtered(names, dtype='int32', chunks=(4, 3, 5)):
    """Write through filters in any order, one after another."""
    def write(h5file):
        rows = smooth(dtype=dtype)

        def edit(properties):
            for name in names.split():
                FILTERS[name](properties)
        created(h5file, rows, chunks, edit=edit)
        return rows
    return write


def plugged(compression, dtype='int32', **kwargs):
    def write(h5file):
        rows = smooth(dtype=dtype)
        h5file.create_dataset('x', data=rows, chunks=(6, 3, 5), compression=compression, **kwargs)
        return rows
    return write


def without_filters_here_and_there(filters):
    """Write chunks raw or with part of the filters, and say so in their masks."""
    def write(h5file):
        rows = smooth()
        rows[4:8] = 77
        dataset = h5file.create_dataset('x', SHAPE, 'int32', chunks=(4, 3, 5), **filters)
        dataset[...] = rows
        everything = (1 << sum(map(bool, filters.values()))) - 1
        for start in (0, 12, 36):
            chunk = numpy.zeros((4, 3, 5), 'int32')
            chunk[:len(rows[start:start + 4])] = rows[start:start + 4]
            dataset.id.write_direct_chunk((start, 0, 0), chunk.tobytes(), everything)
        return rows
    return write


def without_deflate(h5file):
    """Write chunks that are shuffled, but were not compressed."""
    rows = smooth()
    dataset = h5file.create_dataset('x', SHAPE, 'int32', chunks=(4, 3, 5), shuffle=True,
                                    compression='gzip')
    dataset[...] = rows
    chunk = numpy.ascontiguousarray(rows[8:12]).view('uint8').reshape(-1, 4).T.tobytes()
    dataset.id.write_direct_chunk((8, 0, 0), chunk, 2)
    return rows


def large(filters, shape=(600, 40, 40), chunks=(50, 40, 40)):
    """Write chunks that are larger than the buffers of most decoders."""
    def write(h5file):
        rows = smooth(shape, 'uint16')
        h5file.create_dataset('x', data=rows, chunks=chunks, **filters)
        return rows
    return write


def rounded(h5file):
    """Values that the filter scaleoffset keeps exactly."""
    rows = smooth()
    h5file.create_dataset('x', data=rows, chunks=(4, 3, 5), scaleoffset=0)
    return rows


def szip(h5file):
    rows = smooth()
    h5file.create_dataset('x', data=rows, chunks=(4, 3, 5), compression='szip')
    return rows


GZIP = {'compression': 'gzip'}
FILTERED = {
    **{f'filters {names}': Layout(filtered(names), 'decoded') for names in ORDERS},
    **{f'filters {names}, latest': Layout(filtered(names), 'decoded', LATEST)
       for names in ('deflate', 'shuffle deflate fletcher32')},
    **{f'filters {names}, oldest': Layout(filtered(names), 'decoded', EARLIEST)
       for names in ('deflate', 'shuffle deflate fletcher32')},
    **{f'{names} of {dtype}': Layout(filtered(names, dtype), 'decoded')
       for names in ('shuffle', 'shuffle lzf', 'fletcher32')
       for dtype in ('uint8', '>u2', 'float64', 'complex64')},
    **{f'{names} in odd chunks': Layout(filtered(names, 'uint8', (3, 2, 3)), 'decoded')
       for names in ('fletcher32', 'shuffle fletcher32 deflate', 'lzf')},
    **{f'gzip {level}': Layout(stored(chunks=(4, 3, 5), compression='gzip',
                                      compression_opts=level), 'decoded') for level in (0, 1, 9)},
    'gzip of noise': Layout(stored((64, 50), 'uint8', chunks=(1, 50), **GZIP), 'decoded'),
    'lzf of noise': Layout(stored((64, 50), 'uint8', chunks=(1, 50), compression='lzf'),
                           'decoded'),
    'gzip, one row a chunk': Layout(stored(chunks=(1, 3, 5), **GZIP), 'decoded'),
    'gzip, split rows': Layout(stored(chunks=(5, 2, 2), **GZIP), 'decoded'),
    'gzip, one chunk': Layout(stored(chunks=SHAPE, **GZIP), 'decoded'),
    'gzip, longer than the rows': Layout(stored(maxshape=(None, 8, 9), chunks=(64, 8, 9),
                                                **GZIP), 'decoded'),
    'gzip, large chunks': Layout(large(GZIP), 'decoded'),
    'lzf, large chunks': Layout(large({'compression': 'lzf'}), 'decoded'),
    'gzip, masks': Layout(without_filters_here_and_there(GZIP), 'decoded'),
    'gzip and shuffle, masks': Layout(
        without_filters_here_and_there({**GZIP, 'shuffle': True}), 'decoded'),
    'lzf and checksum, masks': Layout(
        without_filters_here_and_there({'compression': 'lzf', 'fletcher32': True}), 'decoded'),
    'shuffled, not deflated': Layout(without_deflate, 'decoded'),
    'scaleoffset': Layout(rounded, 'library'),
    'nbit': Layout(filtered('nbit'), 'library'),
    'szip': Layout(szip, 'library'),
    **{f'plugin {name}': Layout(plugged(compression), 'decoded')
       for name, compression in PLUGINS.items()},
    **{f'plugin {name} of bytes': Layout(plugged(PLUGINS[name], 'uint8'), 'decoded')
       for name in ('blosc lz4', 'blosc2 zstd', 'zstd', 'lz4')},
    'plugin zstd with shuffle and checksum': Layout(
        plugged(PLUGINS['zstd'], shuffle=True, fletcher32=True), 'decoded'),
    **{f'plugin {name}': Layout(plugged(compression), 'library')
       for name, compression in UNKNOWN.items()},
}
