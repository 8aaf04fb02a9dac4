"""Filters that are undone by Fuel, against the HDF5 library, on files that h5py wrote."""
import ctypes
import importlib
import itertools
import pickle
import zlib

import h5py
import hdf5plugin
import numpy
import pytest

from fuel.storage.readers import codecs
from fuel.storage.readers.filters import ChunkError, Undecodable, pipeline_of
from tests.storage.raw_chunks import check_dataset, decode, stored_chunks

DTYPES = ['u1', '<u2', '>u2', 'S3', 'f4', '>f8', 'c16', 'S17', 'V16',
          numpy.dtype([('a', 'u1'), ('b', 'f8'), ('c', 'i2')])]

BUILT_IN = {
    'nothing': {},
    'gzip': {'compression': 'gzip'},
    'gzip 9, shuffled': {'compression': 'gzip', 'compression_opts': 9, 'shuffle': True},
    'shuffled': {'shuffle': True},
    'lzf': {'compression': 'lzf'},
    'lzf, shuffled': {'compression': 'lzf', 'shuffle': True},
    'checksum': {'fletcher32': True},
    'gzip, shuffled, checksum': {'compression': 'gzip', 'shuffle': True, 'fletcher32': True},
    'lzf, checksum': {'compression': 'lzf', 'fletcher32': True},
}

PLUGINS = {
    'zstd': hdf5plugin.Zstd(), 'lz4': hdf5plugin.LZ4(), 'lz4 in blocks': hdf5plugin.LZ4(nbytes=64),
    **{f'bitshuffle {name}': hdf5plugin.Bitshuffle(cname=name) for name in ('none', 'lz4', 'zstd')},
    **{f'blosc {name} {shuffle}': hdf5plugin.Blosc(cname=name, shuffle=shuffle)
       for name in ('blosclz', 'lz4', 'lz4hc', 'zlib', 'zstd') for shuffle in (0, 1, 2)},
    **{f'blosc2 {name} {filters}': hdf5plugin.Blosc2(cname=name, filters=filters)
       for name in ('blosclz', 'lz4', 'lz4hc', 'zlib', 'zstd') for filters in (0, 1, 2, 3, 4)},
}


@pytest.fixture
def h5file():
    with h5py.File('memory', 'w', driver='core', backing_store=False) as h5file:
        yield h5file


def numbers(shape, dtype, kind='small', seed=0):
    """Return data that compress well, not at all, or are all the same."""
    dtype = numpy.dtype(dtype)
    count = int(numpy.prod(shape)) * dtype.itemsize
    random = numpy.random.RandomState(seed)
    data = {'small': lambda: random.randint(0, 4, count), 'zero': lambda: numpy.zeros(count),
            'noise': lambda: random.randint(0, 256, count),
            'one': lambda: numpy.ones(count)}[kind]().astype('u1')
    return data.view(dtype).reshape(shape)


def low_level(h5file, filters, data, chunks):
    """Make a data set with filters that are set one by one."""
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_chunk(chunks)
    for name in filters:
        if name == 'lzf':
            properties.set_filter(h5py.h5z.FILTER_LZF, h5py.h5z.FLAG_OPTIONAL)
        else:
            getattr(properties, f'set_{name}')(*[6] * (name == 'deflate'))
    dataset = h5py.Dataset(h5py.h5d.create(
        h5file.id, b'x', h5py.h5t.py_create(data.dtype), h5py.h5s.create_simple(data.shape),
        properties))
    dataset[...] = data
    return dataset


@pytest.mark.parametrize('dtype', DTYPES, ids=str)
@pytest.mark.parametrize('options', BUILT_IN.values(), ids=BUILT_IN)
def test_built_in_filters(h5file, options, dtype):
    for kind in ('small', 'noise', 'zero'):
        for shape, chunks in (((40,), (7,)), ((11, 5, 30), (3, 5, 13)), ((1, 1), (1, 1)),
                              ((300, 7), (300, 7))):
            dataset = h5file.create_dataset(None, data=numbers(shape, dtype, kind), chunks=chunks,
                                            **options)
            check_dataset(dataset, pipeline_of(dataset), threads=2)


@pytest.mark.parametrize('filters', list(itertools.chain.from_iterable(
    itertools.permutations(['shuffle', 'deflate', 'fletcher32', 'lzf'], count)
    for count in (1, 2, 3, 4))), ids='-'.join)
def test_any_order_of_filters(h5file, filters):
    for number, chunks in enumerate([(16,), (7,)]):
        group = h5file.create_group(f'{number}')
        dataset = low_level(group, filters, numbers((100,), 'i4'), chunks)
        pipeline = pipeline_of(dataset)
        assert pipeline.names == filters
        assert pipeline.chunk_bytes == 4 * chunks[0]
        check_dataset(dataset, pipeline)


@pytest.mark.parametrize('inflater', [codecs.inflater, codecs.inflater_of_zlib])
def test_each_inflater(h5file, monkeypatch, inflater):
    monkeypatch.setattr(codecs, 'inflater', inflater)
    assert inflater().library == {'inflater': 'deflate', 'inflater_of_zlib': 'zlib'}[
        inflater.__name__]
    dataset = h5file.create_dataset('x', data=numbers((100, 300), 'f4'), chunks=(7, 300),
                                    compression='gzip', shuffle=True)
    pipeline = pipeline_of(dataset)
    check_dataset(dataset, pipeline, threads=2)
    *_, stored = stored_chunks(dataset)[0]
    for wrong, message in (
            (stored[:-1], 'filter deflate: its bytes are damaged'),
            (stored[:len(stored) // 2], 'filter deflate'),
            (b'', 'filter deflate: its bytes are damaged'),
            (stored[:-1] + bytes([stored[-1] ^ 1]), 'filter deflate: its bytes are damaged'),
            (zlib.compress(bytes(8399)), 'filter deflate to give 8400 bytes; got 8399'),
            (zlib.compress(bytes(8401)), 'its bytes are damaged, or give more than 8400$')):
        with pytest.raises(ChunkError, match=message):
            decode(pipeline, [wrong])
    # HDF5 pays no attention to what follows.
    assert decode(pipeline, [stored + b'more']) == decode(pipeline, [stored])


def test_zlib_is_used_where_the_package_deflate_is_not_installed(monkeypatch):
    codecs.inflater.cache_clear()
    monkeypatch.setattr(codecs, 'find_spec', lambda name: None)
    try:
        assert codecs.inflater() == codecs.inflater_of_zlib()
    finally:
        codecs.inflater.cache_clear()


@pytest.mark.parametrize('option', PLUGINS.values(), ids=PLUGINS)
def test_filters_of_hdf5plugin(h5file, option):
    for kind in ('small', 'noise', 'zero', 'one'):
        for dtype in ('u1', '>u2', 'S3', 'f8'):
            for shape, chunks in (((100,), (64,)), ((11, 5, 30), (3, 5, 13))):
                dataset = h5file.create_dataset(None, data=numbers(shape, dtype, kind),
                                                chunks=chunks, **option)
                check_dataset(dataset, pipeline_of(dataset), threads=2)


def test_blosc2_with_blocks_that_split_every_axis(h5file):
    moved = 0
    for shape in ((90, 100, 70), (1000, 901), (25, 26, 27, 28)):
        dataset = h5file.create_dataset(None, data=numbers(shape, 'i4'), chunks=shape,
                                        **hdf5plugin.Blosc2())
        check_dataset(dataset, pipeline_of(dataset))
        frame = stored_chunks(dataset)[0][2]
        moved += int.from_bytes(frame[30:38], 'big') > dataset.nbytes
    assert moved


def test_filters_with_a_large_chunk(h5file):
    data = numpy.cumsum(numbers((400, 1000), 'u4') % 7, axis=1, dtype='u4')
    for name, option in (*BUILT_IN.items(), *PLUGINS.items()):
        dataset = h5file.create_dataset(name, data=data, chunks=(300, 1000), **option)
        check_dataset(dataset, pipeline_of(dataset))


def test_filters_left_out_for_single_chunks(h5file):
    dataset = low_level(h5file, ('shuffle', 'deflate', 'fletcher32'), numbers((32,), 'u4'), (8,))
    raw = numbers((8,), 'u4', seed=1)
    shuffled = raw.view('u1').reshape(8, 4).T.tobytes()
    dataset.id.write_direct_chunk((0,), raw.tobytes(), 0b111)
    dataset.id.write_direct_chunk((8,), shuffled, 0b110)
    dataset.id.write_direct_chunk((16,), zlib.compress(raw.tobytes()), 0b101)
    dataset.id.write_direct_chunk((24,), zlib.compress(shuffled), 0b100)
    assert (dataset[:] == numpy.tile(raw, 4)).all()
    check_dataset(dataset, pipeline_of(dataset))


def test_filters_that_hdf5_left_out_because_nothing_was_won(h5file):
    dataset = h5file.create_dataset('x', data=numbers((40, 100), 'u1', 'noise'), chunks=(1, 100),
                                    compression='lzf', shuffle=True)
    assert {mask for _, mask, _ in stored_chunks(dataset)} == {0b10}
    check_dataset(dataset, pipeline_of(dataset))


def test_checksum_that_differs(h5file):
    dataset = h5file.create_dataset('x', data=numbers((64,), 'u1'), chunks=(32,), fletcher32=True,
                                    compression='gzip')
    pipeline = pipeline_of(dataset)
    assert pipeline.names == ('deflate', 'fletcher32')
    stored = [data for _, _, data in stored_chunks(dataset)]
    stored[1] = bytes([stored[1][0] ^ 4]) + stored[1][1:]
    with pytest.raises(ChunkError, match=r'checksum \(fletcher32\) stored with it is 0x') as caught:
        decode(pipeline, stored)
    assert caught.value.place == 1
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.place, again.message) == (1, caught.value.message)


def test_wrong_length_without_filters(h5file):
    dataset = h5file.create_dataset('x', data=numbers((64,), 'u1'), chunks=(32,))
    with pytest.raises(ChunkError, match='expected 32 bytes; 31 are stored'):
        decode(pipeline_of(dataset), [bytes(31)])
    with pytest.raises(ChunkError, match='expected 32 bytes; 33 are stored'):
        decode(pipeline_of(dataset), [bytes(33)])


def test_references_of_variable_length_data(h5file):
    dataset = h5file.create_dataset('x', (10,), dtype=h5py.vlen_dtype('u1'), chunks=(4,),
                                    compression='gzip', shuffle=True)
    for place in range(10):
        dataset[place] = numpy.arange(place)
    pipeline = pipeline_of(dataset)
    assert pipeline.chunk_bytes == 4 * dataset.id.get_type().get_size() == 64
    _, masks, stored = zip(*stored_chunks(dataset), strict=True)
    references = numpy.frombuffer(b''.join(decode(pipeline, stored, masks)), 'u4').reshape(12, 4)
    assert references[:, 0].tolist() == [*range(10), 0, 0]
    # HDF5 does not shuffle them; were a chunk to say so, it would be wrong.
    assert set(masks) == {1}
    with pytest.raises(ChunkError, match='filter shuffle: its bytes are damaged'):
        decode(pipeline, stored)


def test_what_is_left_to_the_library(h5file):
    data = numbers((64,), 'u2')
    for options, reason in (
            ({}, 'it is not stored in chunks'),
            ({'scaleoffset': 4}, 'filter scaleoffset is left to the HDF5 library'),
            (hdf5plugin.BZip2(), 'filter bzip2 is left to the HDF5 library'),
            (hdf5plugin.Zfp(reversible=True), 'filter zfp is left to the HDF5 library')):
        dataset = h5file.create_dataset(None, data=data.astype('f4'), **options)
        with pytest.raises(Undecodable, match=f'^{reason}$') as caught:
            pipeline_of(dataset)
        assert caught.value.reason == str(caught.value)


def test_blosc2_with_a_codec_loaded_at_run_time_is_left_to_the_library(h5file):
    values = (1, 0, 2, 128, 5, 1, 35)
    dataset = h5file.create_dataset('x', (64,), dtype='u2', chunks=(64,), compression=32026,
                                    compression_opts=values)
    with pytest.raises(Undecodable, match=r'filter blosc2 with its settings .*35.* is left to'):
        pipeline_of(dataset)


@pytest.mark.parametrize('option', [hdf5plugin.Zstd(), hdf5plugin.LZ4(), hdf5plugin.Blosc(),
                                    hdf5plugin.Blosc2(), hdf5plugin.Bitshuffle()],
                         ids=['zstd', 'lz4', 'blosc', 'blosc2', 'bitshuffle'])
def test_without_the_package_hdf5plugin(h5file, monkeypatch, request, option):
    dataset = h5file.create_dataset('x', data=numbers((64,), 'u2'), **option)
    codecs.of_plugin.cache_clear()
    monkeypatch.setattr(codecs, 'find_spec', lambda name: None)
    name = request.node.callspec.id
    try:
        with pytest.raises(Undecodable, match=f'^filter {name} needs the package hdf5plugin$'):
            pipeline_of(dataset)
    finally:
        codecs.of_plugin.cache_clear()


def test_edges_stored_without_filters_are_left_to_the_library(h5file):
    properties = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    properties.set_chunk((16,))
    properties.set_deflate(4)
    library = ctypes.CDLL(h5py.h5z.__file__)
    library.H5Pset_chunk_opts.argtypes = [ctypes.c_int64, ctypes.c_uint]
    assert library.H5Pset_chunk_opts(properties.id, 2) >= 0
    dataset = h5py.Dataset(h5py.h5d.create(
        h5file.id, b'x', h5py.h5t.NATIVE_UINT8, h5py.h5s.create_simple((40,)), properties))
    with pytest.raises(Undecodable, match='over the edge are stored without filters'):
        pipeline_of(dataset)


def test_looking_up_functions_does_not_import_hdf5plugin():
    assert 'hdf5plugin' not in importlib.import_module('fuel.storage.readers.codecs').__dict__
    assert codecs.of_plugin('zstd').library == 'hdf5plugin'


def test_damaged_chunks_never_crash(h5file):
    """Flip, cut, insert and repeat bytes: an error, or some output of the right length."""
    random = numpy.random.RandomState(0)
    samples = []
    for option in (*BUILT_IN.values(), *PLUGINS.values()):
        for shape in ((150,), (6, 5, 5)):
            dataset = h5file.create_dataset(None, data=numbers(shape, 'u2'), chunks=shape,
                                            **option)
            samples.append((pipeline_of(dataset), stored_chunks(dataset)[0][2]))
    outcomes = {True: 0, False: 0}
    for _ in range(10_000):
        pipeline, data = samples[random.randint(len(samples))]
        outcomes[decodes_damaged(pipeline, bytearray(data), random)] += 1
    assert min(outcomes.values()) > 1000


def decodes_damaged(pipeline, data, random):
    """Damage stored bytes, and tell whether they can be decoded nevertheless."""
    place = random.randint(len(data))
    kind = random.randint(5)
    if kind == 0:
        del data[place:]
    elif kind == 1:
        data[place:place] = random.bytes(random.randint(1, 40))
    elif kind == 2:
        data[place:] = data[random.randint(len(data)):]
    else:
        for _ in range(random.randint(1, 4)):
            within = min(len(data), 48) if kind == 3 else len(data)
            data[random.randint(within)] = random.choice([0, 1, 127, 128, 255,
                                                          random.randint(256)])
    try:
        decode(pipeline, [bytes(data)])
    except ChunkError:
        return False
    return True
