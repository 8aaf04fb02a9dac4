"""Arrays that are written into HDF5 files, and how they are stored."""
from __future__ import annotations

import os
import subprocess
import sys
import zlib

import h5py
import numpy
import pytest
import tables
from hypothesis import given
from hypothesis import strategies as st

from fuel.converters.base import SourceOptions, Streamed, create_source, fill_hdf5_file
from fuel.storage.writing import rows as writing_rows
from fuel.storage.writing.rows import chunk_shape

DTYPES = ['uint8', '>i2', '<i4', 'int64', '>u8', 'float16', '>f4', 'float64', 'complex64', 'bool',
          'S5']


def rows(*shape, dtype='int32', seed=0):
    rng = numpy.random.default_rng(seed)
    return rng.integers(0, 100, shape).astype(dtype)


def filters_of(dataset):
    """Return the filters of a data set in the order in which they are applied."""
    plist = dataset.id.get_create_plist()
    return [plist.get_filter(number)[0] for number in range(plist.get_nfilters())]


@pytest.fixture
def h5file(tmp_path):
    with h5py.File(tmp_path / 'x.hdf5', 'w') as h5file:
        yield h5file


def written(path, data, **options):
    """Write a file, and return its bytes."""
    with h5py.File(path, 'w') as h5file:
        fill_hdf5_file(h5file, data, **options)
    return path.read_bytes()


@pytest.mark.parametrize('options', [
    {}, {'compression': 'gzip', 'checksum': True}, {'compression': 'lzf'}, {'chunk_examples': 7}])
@pytest.mark.parametrize('dtype', DTYPES)
def test_values_and_dtypes_come_back(h5file, dtype, options):
    train, test = rows(50, 2, 3, dtype=dtype), rows(11, 2, 3, dtype=dtype, seed=1)
    fill_hdf5_file(h5file, [('train', 'x', train), ('test', 'x', test)], **options)
    assert h5file['x'].dtype == numpy.dtype(dtype)
    assert numpy.array_equal(h5file['x'][...], numpy.concatenate([train, test]))


def test_structured_and_string_arrays(h5file):
    table = numpy.array([(1, 2.5, b'a'), (3, 4.5, b'bc')], dtype='u1,f8,S3')
    texts = numpy.array(['ä', 'long'], dtype=h5py.string_dtype())
    fill_hdf5_file(h5file, [('a', 'table', table), ('a', 'texts', texts)])
    assert h5file['table'][...].tolist() == table.tolist()
    assert h5file['texts'].asstr()[...].tolist() == ['ä', 'long']


def test_nothing_is_asked_for_and_nothing_is_done(h5file):
    fill_hdf5_file(h5file, [('train', 'x', rows(10, 4))])
    assert h5file['x'].chunks is None
    assert h5file['x'].maxshape == (10, 4)
    assert filters_of(h5file['x']) == []


@pytest.mark.parametrize(('compression', 'expected'), [
    ('gzip', ('gzip', 4)), (('gzip', 9), ('gzip', 9)), (('gzip', 0), ('gzip', 0)),
    (['gzip', numpy.int64(1)], ('gzip', 1)), (('gzip', None), ('gzip', 4)), ('lzf', ('lzf', None)),
    ({'compression': 'gzip', 'compression_opts': 2}, ('gzip', 2)),
    ({'compression': 'lzf'}, ('lzf', None)), ((1, (7,)), ('gzip', 7)),
    (32000, ('lzf', None)), (None, (None, None))])
def test_compression_is_written_in_many_ways(h5file, compression, expected):
    array = rows(100, 8)
    fill_hdf5_file(h5file, [('a', 'x', array)], compression=compression)
    assert (h5file['x'].compression, h5file['x'].compression_opts) == expected
    assert numpy.array_equal(h5file['x'][...], array)


def test_filters_of_hdf5plugin(h5file):
    import hdf5plugin as plugin
    array = rows(100, 8)
    fill_hdf5_file(h5file, [('a', name, array) for name in ('zstd', 'blosc', 'number', 'plain')],
                   compression={'zstd': plugin.Zstd(clevel=5), 'blosc': plugin.Blosc(),
                                'number': (32015, (2,))})
    shuffle = h5py.h5z.FILTER_SHUFFLE
    assert filters_of(h5file['zstd']) == [shuffle, 32015]
    assert filters_of(h5file['blosc']) == [32001]          # which shuffles by itself
    assert filters_of(h5file['number']) == [shuffle, 32015]
    assert filters_of(h5file['plain']) == []
    assert h5file['zstd'].id.get_create_plist().get_filter(1)[2] == (5,)
    for name in ('zstd', 'blosc', 'number'):
        assert numpy.array_equal(h5file[name][...], array)


def test_a_filter_for_all_sources_is_no_mapping_of_sources(h5file):
    fill_hdf5_file(h5file, [('a', 'x', rows(9)), ('a', 'compression', rows(9))],
                   compression={'compression': 'lzf'})
    assert h5file['compression'].compression == 'lzf'
    assert h5file['x'].compression is None
    del h5file.attrs['split']
    fill_hdf5_file(h5file, [('a', 'y', rows(9))],
                   compression={'compression': 'gzip', 'compression_opts': 1})
    assert h5file['y'].compression == 'gzip'


@pytest.mark.parametrize(('dtype', 'options', 'expected'), [
    ('uint8', {'compression': 'gzip'}, False), ('uint16', {'compression': 'gzip'}, True),
    ('float64', {'compression': 'lzf'}, True), ('float64', {'checksum': True}, False),
    ('float64', {'compression': 'gzip', 'shuffle': False}, False),
    ('uint8', {'compression': 'gzip', 'shuffle': True}, False),
    ('float64', {'shuffle': True}, True)])
def test_shuffle(h5file, dtype, options, expected):
    fill_hdf5_file(h5file, [('a', 'x', rows(10, 4, dtype=dtype))], **options)
    assert h5file['x'].shuffle is expected


def test_filters_stand_in_the_order_that_readers_expect(h5file):
    fill_hdf5_file(h5file, [('a', 'x', rows(10, 4))], compression='gzip', checksum=True)
    assert filters_of(h5file['x']) == [h5py.h5z.FILTER_SHUFFLE, h5py.h5z.FILTER_DEFLATE,
                                       h5py.h5z.FILTER_FLETCHER32]


def test_checksum_notices_damage(tmp_path):
    path = tmp_path / 'x.hdf5'
    written(path, [('a', 'x', rows(10, 4))], checksum=True)
    with h5py.File(path) as h5file:
        assert h5file['x'].fletcher32
        place = h5file['x'].id.get_chunk_info(0).byte_offset
    with open(path, 'r+b') as stream:
        stream.seek(place + 3)
        stream.write(b'\xff')
    with h5py.File(path) as h5file, pytest.raises(OSError, match='filter returned failure'):
        h5file['x'][...]


def test_chunks_hold_what_zlib_makes_of_the_rows(h5file):
    array = rows(100, 4)
    fill_hdf5_file(h5file, [('a', 'x', array)], compression=('gzip', 6), chunk_examples=64)
    _, raw = h5file['x'].id.read_direct_chunk((0, 0))
    shuffled = numpy.frombuffer(zlib.decompress(raw), 'uint8').reshape(4, -1)
    assert numpy.array_equal(numpy.ascontiguousarray(shuffled.T).view('int32').reshape(64, 4),
                             array[:64])


@pytest.mark.parametrize(('shape', 'options', 'expected'), [
    ((1000, 28, 28), {'compression': 'gzip'}, (83, 28, 28)),
    ((10, 28, 28), {'compression': 'gzip'}, (10, 28, 28)),
    ((4, 300, 300), {'compression': 'gzip'}, (1, 300, 300)),
    ((100_000, 1), {'checksum': True}, (65536, 1)), ((1000,), {'compression': 'lzf'}, (1000,)),
    ((100, 3), {'chunk_examples': 12}, (12, 3)), ((100, 3), {'chunk_examples': 1000}, (100, 3))])
def test_chunks_are_whole_rows(h5file, shape, options, expected):
    fill_hdf5_file(h5file, [('a', 'x', numpy.zeros(shape, 'uint8'))], **options)
    assert h5file['x'].chunks == expected


@pytest.mark.parametrize('shape', [(0, 3), (4, 0), (0,), (3, 0, 2)])
@pytest.mark.parametrize('options', [{}, {'compression': 'gzip', 'checksum': True}])
def test_arrays_without_values(h5file, shape, options):
    fill_hdf5_file(h5file, [('a', 'x', numpy.zeros(shape)), ('b', 'x', numpy.zeros(shape))],
                   **options)
    assert h5file['x'].shape == (2 * shape[0], *shape[1:])
    assert h5file['x'][...].size == 0


def test_a_row_that_is_too_large_for_a_chunk_is_divided():
    gigabyte = 2 ** 30
    assert chunk_shape('x', (gigabyte,), 4, 10) == (1, 2 ** 29)
    assert chunk_shape('x', (5, gigabyte), 1, 10) == (1, 3, gigabyte)
    assert chunk_shape('x', (7, 3, 2 * gigabyte), 4, None) == (1, 1, 1, 2 ** 30 * 2 // 3 + 1)
    assert chunk_shape('x', (gigabyte,), 1, 10) == (1, gigabyte)
    assert chunk_shape('x', (gigabyte,), 1, 10, 3) == (3, gigabyte)
    with pytest.raises(ValueError, match='x: 4 examples of 1073741824 bytes .* at most 3'):
        chunk_shape('x', (gigabyte,), 1, 10, 4)


def test_options_by_source(h5file):
    data = [('a', name, rows(20, 3)) for name in ('x', 'y', 'z')]
    fill_hdf5_file(h5file, data, compression={'x': 'gzip', 'y': 'lzf', 'z': None},
                   checksum={'y': True}, chunk_examples={'z': 5}, shuffle={'x': False})
    assert [h5file[name].compression for name in 'xyz'] == ['gzip', 'lzf', None]
    assert [h5file[name].fletcher32 for name in 'xyz'] == [False, True, False]
    assert [h5file[name].shuffle for name in 'xyz'] == [False, True, False]
    assert h5file['z'].chunks == (5, 3)


def test_axis_labels(h5file):
    fill_hdf5_file(h5file, [('a', 'x', rows(20, 3)), ('a', 'y', rows(20)), ('a', 'z', rows(20))],
                   axis_labels={'x': ('batch', 'größe'), 'y': ['batch'], 'z': None})
    assert [axis.label for axis in h5file['x'].dims] == ['batch', 'größe']
    assert h5file['y'].dims[0].label == 'batch'
    assert 'DIMENSION_LABELS' not in h5file['z'].attrs


@pytest.mark.parametrize(('options', 'message'), [
    ({'compression': 'zip'}, "'gzip'.*got 'zip'"), ({'compression': True}, 'got True'),
    ({'compression': 4}, r"got 4\. For a level of gzip write \('gzip', 4\)"),
    ({'compression': ('gzip', 10)}, 'from 0 to 9; got 10'),
    ({'compression': ('gzip', '4')}, "got '4'"), ({'compression': ('gzip', 4, 1)}, 'expected'),
    ({'compression': ('lzf', 1)}, 'lzf without options'), ({'compression': 3.5}, 'got 3.5'),
    ({'compression': 31999}, r"no filter of number 31999.*pip install 'fuel\[filters\]'"),
    ({'compression': {'y': 'gzip'}}, "compression names the sources 'y'.*are 'x'"),
    ({'compression': {'x': {'y': 1}}}, 'expected compression'),
    ({'compression': {'x': {'compression': 'gzip', 'level': 1}}}, 'expected compression'),
    ({'shuffle': 'yes'}, "shuffle to be True or False; got 'yes'"), ({'checksum': 1}, 'got 1'),
    ({'chunk_examples': 0}, 'at least 1; got 0'), ({'chunk_examples': 2.5}, 'got 2.5'),
    ({'chunk_examples': True}, 'got True'), ({'layout': 'flat'}, "'vlen', 'ragged'; got 'flat'"),
    ({'layout': {'y': 'vlen'}}, 'layout names'), ({'checksum': {'y': True}}, 'checksum names'),
    ({'axis_labels': ('batch',)}, 'mapping'), ({'axis_labels': {'x': 'batch'}}, "got 'batch'"),
    ({'axis_labels': {'x': ('batch', 1)}}, 'got'), ({'axis_labels': {'y': ()}}, "names .* 'y'"),
    ({'axis_labels': {'x': ('batch',)}}, '2 axis labels')])
def test_options_that_there_are_not(h5file, options, message):
    with pytest.raises(ValueError, match=message):
        fill_hdf5_file(h5file, [('a', 'x', rows(10, 4))], **options)
    assert not list(h5file)
    assert not list(h5file.attrs)


def test_filter_that_is_not_there_says_what_to_install(h5file, monkeypatch):
    monkeypatch.setitem(sys.modules, 'hdf5plugin', None)
    monkeypatch.setattr(h5py.h5z, 'filter_avail', lambda code: False)
    with pytest.raises(ValueError,
                       match=r"no filter of number 32015 .*pip install 'fuel\[filters\]'"):
        SourceOptions(compression=(32015, (3,)))


def test_data_of_variable_length_are_not_compressed_silently(h5file):
    texts = numpy.array(['a', 'bc'], dtype=h5py.string_dtype())
    with pytest.raises(ValueError, match='texts: HDF5 neither compresses nor checks'):
        fill_hdf5_file(h5file, [('a', 'texts', texts)], compression='gzip')


def test_vlen_data_of_different_kinds_are_not_joined(h5file, tmp_path):
    with h5py.File(tmp_path / 'other.hdf5', 'w') as other:
        for name in ('u1', 'f4'):
            other.create_dataset(name, (2,), dtype=h5py.vlen_dtype(numpy.dtype(name)))
        with pytest.raises(ValueError, match='expected dtype'):
            fill_hdf5_file(h5file, [('a', 'x', other['u1']), ('b', 'x', other['f4'])])


def test_vlen_data_whose_examples_are_as_long_as_each_other(h5file, tmp_path):
    with h5py.File(tmp_path / 'other.hdf5', 'w') as other:
        same = other.create_dataset('x', (600,), dtype=h5py.vlen_dtype('int16'))
        for number in range(600):
            same[number] = [number, number + 1]
        fill_hdf5_file(h5file, [('a', 'x', same)])
    assert [array.tolist() for array in h5file['x'][::599]] == [[0, 1], [599, 600]]


@given(st.data())
def test_the_file_does_not_depend_on_how_the_rows_come(tmp_path, data):
    length = data.draw(st.integers(0, 60))
    array = rows(length, 3)
    cuts = sorted(data.draw(st.lists(st.integers(0, length), max_size=6)))
    pieces = [array[start:stop] for start, stop in zip([0, *cuts], [*cuts, length], strict=True)]
    options = data.draw(st.sampled_from([{}, {'compression': 'gzip'}, {'chunk_examples': 7}]))
    block_bytes = data.draw(st.sampled_from([24, 100, 1 << 20]))
    whole = written(tmp_path / 'whole.hdf5', [('a', 'x', array)], **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writing_rows, 'BLOCK_BYTES', block_bytes)
        parts = written(tmp_path / 'parts.hdf5', [('a', 'x', piece) for piece in pieces], **options)
        stream = written(tmp_path / 'stream.hdf5', [('a', 'x', Streamed(iter(pieces), length))],
                         **options)
    with h5py.File(tmp_path / 'whole.hdf5') as h5file:
        assert numpy.array_equal(h5file['x'][...], array)
    assert parts == whole
    assert stream == whole


def test_lists_of_arrays_of_one_shape_are_stacked(h5file):
    arrays = [rows(2, 3, seed=seed) for seed in range(5)]
    fill_hdf5_file(h5file, [('a', 'x', arrays), ('b', 'x', tuple(arrays))])
    assert numpy.array_equal(h5file['x'][...], numpy.stack(arrays * 2))


def test_list_of_arrays_of_several_dtypes_becomes_what_numpy_makes_of_it(h5file):
    fill_hdf5_file(h5file, [('a', 'x', [numpy.ones(2, 'int32'), numpy.full(2, 0.5)])])
    assert h5file['x'][...].tolist() == [[1, 1], [0.5, 0.5]]


def test_files_have_the_oldest_format_and_scalar_fields(tmp_path):
    content = written(tmp_path / 'x.hdf5', [('train', 'x', rows(10, 4), 'ten')], compression='gzip')
    assert content[8] == 0                          # version of the superblock
    with h5py.File(tmp_path / 'x.hdf5') as h5file:
        dtype = h5file.attrs['split'].dtype
    assert [dtype[name].str for name in ('start', 'stop')] == ['<i8', '<i8']
    assert all(dtype[name].shape == () for name in dtype.names)


# PyTables does what NumPy 2.5 warns of.
@pytest.mark.filterwarnings('ignore:Setting the shape on a NumPy array:DeprecationWarning')
def test_pytables_reads_the_arrays(tmp_path):
    path = tmp_path / 'x.hdf5'
    array, mask = rows(100, 4, dtype='>f4'), rows(100) > 50
    with h5py.File(path, 'w') as h5file:
        fill_hdf5_file(h5file, [('a', 'plain', array), ('a', 'gzip', array), ('a', 'mask', mask),
                                ('a', 'stream', iter([array]))],
                       compression={'gzip': 'gzip'}, checksum={'gzip': True},
                       axis_labels={'plain': ('batch', 'feature')})
        # PyTables fails on references in attributes, and so on this one, which always had them.
        del h5file.attrs['split']
    with tables.open_file(str(path)) as file:
        for name in ('plain', 'gzip', 'stream'):
            assert numpy.array_equal(file.root[name].read(), array)
        assert file.root['mask'].read().tolist() == mask.tolist()


def test_source_writer_takes_blocks_of_several_sources_in_turn(h5file):
    array, targets = rows(100, 4), rows(100, 1, dtype='uint8')
    options = SourceOptions(compression='gzip', chunk_examples=8)
    with (create_source(h5file, 'x', (4,), 'int32', num_examples=100, options=options,
                        axis_labels=('batch', 'feature')) as features,
          create_source(h5file, 'y', (1,), 'uint8') as labels):
        for start in range(0, 100, 7):
            features.append(array[start:start + 7])
            labels.append(targets[start:start + 7])
            assert features.num_examples == labels.num_examples == min(100, start + 7)
    assert numpy.array_equal(h5file['x'][...], array)
    assert numpy.array_equal(h5file['y'][...], targets)
    assert h5file['x'].chunks == (8, 4)
    assert h5file['x'].maxshape == (100, 4)
    assert h5file['y'].maxshape == (None, 1)
    assert h5file['x'].dims[1].label == 'feature'
    assert features.dataset.name == '/x'


def test_source_writer_takes_data_that_are_not_in_memory(h5file, tmp_path):
    array = rows(100, 4)
    numpy.save(tmp_path / 'x.npy', array)
    with h5py.File(tmp_path / 'other.hdf5', 'w') as other:
        other['x'] = array
        with create_source(h5file, 'x', (4,), 'int32', num_examples=200) as writer:
            writer.append(other['x'])
            writer.append(numpy.load(tmp_path / 'x.npy', mmap_mode='r'))
    assert numpy.array_equal(h5file['x'][...], numpy.concatenate([array, array]))


@pytest.mark.parametrize(('block', 'message'), [
    (rows(2, 5), r'x: expected examples of shape \(4,\), as before; got \(5,\), from example 3'),
    (rows(2, 4, dtype='int64'), 'x: expected dtype int32, as before; got int64, from example 3'),
    (rows(8, 4), 'x: expected 10 examples, as declared; got at least 11'),
    (numpy.int32(3), 'x: expected an array with a first axis')])
def test_source_writer_refuses_what_was_not_declared(h5file, block, message):
    writer = create_source(h5file, 'x', (4,), 'int32', num_examples=10)
    writer.append(rows(3, 4))
    with pytest.raises(ValueError, match=message):
        writer.append(block)
    assert writer.num_examples == 3


def test_source_writer_that_is_given_too_little(h5file):
    writer = create_source(h5file, 'x', (4,), 'int32', num_examples=10)
    writer.append(rows(3, 4))
    with pytest.raises(ValueError, match='x: expected 10 examples, as declared; got 3'):
        writer.close()


def test_source_writer_is_not_closed_after_an_error(h5file):
    with (pytest.raises(RuntimeError, match='mine'),
          create_source(h5file, 'x', (4,), 'int32', num_examples=10)):
        raise RuntimeError('mine')


@pytest.mark.parametrize(('arguments', 'message'), [
    (((4,), 'U3'), 'string_dtype'), (((4,), object), 'HDF5 cannot store'),
    (((4,), 'datetime64[s]'), 'HDF5 cannot store')])
def test_source_of_a_dtype_that_hdf5_has_not(h5file, arguments, message):
    with pytest.raises(ValueError, match=message):
        create_source(h5file, 'x', *arguments)
    with pytest.raises(ValueError, match='at least 0; got -1'):
        create_source(h5file, 'x', (4,), 'int32', num_examples=-1)
    assert not list(h5file)


def test_import_of_the_converters_loads_no_h5py():
    program = 'import sys, fuel.converters.base, fuel.converters; print("h5py" in sys.modules)'
    done = subprocess.run([sys.executable, '-W', 'error', '-c', program], capture_output=True,
                          text=True, check=True, cwd=os.getcwd())
    assert done.stdout == 'False\n'
