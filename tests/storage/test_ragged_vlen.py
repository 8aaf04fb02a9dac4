"""The vlen layout read out of the heap: the same as h5py reads."""
import io
import struct

import h5py
import numpy
import pytest

from fuel.exceptions import DataFileError, DataLayoutError
from fuel.storage.layout import row_reader
from fuel.storage.variable.ragged import variable_rows
from fuel.storage.variable.vlen import HeapRows, RaggedRows, vlen_library
from tests.storage.files import some_images, write_ragged
from tests.storage.ragged_files import as_opened, write_vlen

POSITIONS = [0, 39, slice(0, 40, 1), slice(3, 38, 7), numpy.array([39, 0, 0, 17]),
             numpy.array([5], dtype='i4'), numpy.arange(40)[::-1], numpy.arange(80)[::2] // 2]
DTYPES = ['u1', '<i2', '>i2', '<f4', '>f8', 'f2', 'bool', 'c8', 'S3',
          [('a', 'u1'), ('b', '>f4')], h5py.enum_dtype({'no': 0, 'yes': 1}, 'i2')]


def some_arrays(count=40, dtype='u1', longest=9, seed=0):
    rng = numpy.random.default_rng(seed)
    dtype = numpy.dtype(dtype)
    arrays = []
    for length in rng.integers(0, longest + 1, count):
        if dtype.names:
            array = numpy.zeros(length, dtype)
            for name in dtype.names:
                array[name] = rng.integers(0, 100, length)
        else:
            array = rng.integers(0, 2 if dtype.kind in 'bi' else 100, length).astype(dtype)
        arrays.append(array)
    return arrays


def check(read, wanted, positions):
    """Compare what was read with arrays, which nobody else may hold."""
    if isinstance(positions, int):
        read, wanted = [read], [wanted[positions]]
    else:
        assert read.dtype == object
        assert read.ndim == 1
        wanted = [wanted[number] for number in numpy.arange(len(wanted))[positions]]
    assert len(read) == len(wanted)
    for array, expected in zip(read, wanted, strict=True):
        assert type(array) is numpy.ndarray
        assert array.dtype == expected.dtype
        assert array.shape == expected.shape
        assert array.tobytes() == expected.tobytes()
        assert array.flags.writeable
        array[...] = numpy.zeros((), array.dtype)          # the caller may do so


@pytest.mark.parametrize('dtype', DTYPES, ids=str)
@pytest.mark.parametrize('positions', POSITIONS, ids=range(len(POSITIONS)))
def test_values_are_those_that_h5py_reads(tmp_path, dtype, positions):
    arrays = some_arrays(dtype=dtype)
    with h5py.File(write_vlen(tmp_path / 'f.hdf5', arrays, dtype)) as h5file:
        reader = variable_rows(h5file['values'], as_opened(h5file))
        assert (reader.way, reader.reason) == ('mapped', '')
        by_library = vlen_library(h5file['values'], None, '')
        for _ in range(2):
            check(reader.read(positions), arrays, positions)
            check(by_library.read(positions), arrays, positions)
        if numpy.dtype(dtype).isnative:
            check(reader.read(positions), h5file['values'][...], positions)


@pytest.mark.parametrize('positions', POSITIONS[:5], ids=range(5))
def test_shapes_are_given_back(tmp_path, positions):
    images = some_images(40)
    with h5py.File(write_vlen(tmp_path / 'f.hdf5', images)) as h5file:
        reader = row_reader(as_opened(h5file), 'values')
        assert type(reader) is HeapRows
        check(reader.read(positions), images, positions)
        by_library = RaggedRows(h5file['values'], h5file['values_shapes'])
        check(by_library.read(positions), images, positions)


@pytest.mark.parametrize('options', [
    {'userblock_size': 512}, {'userblock_size': 4096}, {'libver': 'latest'},
    {'libver': 'earliest'}, {'fs_strategy': 'page', 'fs_page_size': 4096}], ids=str)
@pytest.mark.parametrize('chunked', [{}, {'chunks': (7,)}, {'chunks': (7,), 'maxshape': (None,)},
                                     {'chunks': (64,), 'compression': 'gzip', 'shuffle': True}],
                         ids=str)
def test_any_place_of_the_references(tmp_path, options, chunked):
    arrays = some_arrays(300)
    with h5py.File(tmp_path / 'f.hdf5', 'w', **options) as h5file:
        rows = h5file.create_dataset('x', (300,), h5py.vlen_dtype('u1'), **chunked)
        for number in numpy.random.default_rng(0).permutation(300):
            rows[number] = arrays[number]
    with h5py.File(tmp_path / 'f.hdf5') as h5file:
        reader = row_reader(as_opened(h5file), 'x')
        assert reader.way == ('decoded' if 'compression' in chunked else 'mapped')
        for positions in (slice(0, 300, 1), numpy.random.default_rng(1).permutation(300)[:77]):
            check(reader.read(positions), arrays, positions)


def test_examples_that_were_written_again(tmp_path):
    rng = numpy.random.default_rng(0)
    arrays = some_arrays(500, longest=30)
    with h5py.File(tmp_path / 'f.hdf5', 'w') as h5file:
        rows = h5file.create_dataset('x', (500,), h5py.vlen_dtype('u1'))
        for number in range(500):
            rows[number] = arrays[number]
        for number in rng.permutation(500)[:200]:
            arrays[number] = rng.integers(0, 256, rng.integers(0, 60)).astype('u1')
            rows[number] = arrays[number]
    with h5py.File(tmp_path / 'f.hdf5') as h5file:
        reader = row_reader(as_opened(h5file), 'x')
        assert reader.way == 'mapped'
        check(reader.read(numpy.arange(499, -1, -1)), arrays[::-1], slice(None))


@pytest.mark.parametrize('options', [{}, {'chunks': (4,)}, {'chunks': (4,), 'compression': 'gzip'}],
                         ids=str)
def test_examples_that_were_never_written_are_empty(tmp_path, options):
    with h5py.File(tmp_path / 'f.hdf5', 'w') as h5file:
        h5file.create_dataset('x', (40,), h5py.vlen_dtype('>i2'), **options)
        h5file.create_dataset('y', (40,), h5py.vlen_dtype('>i2'), **options)[17] = [1, 2]
    with h5py.File(tmp_path / 'f.hdf5') as h5file:
        nothing = numpy.empty(0, '>i2')
        for source in 'xy':
            arrays = [nothing] * 40
            if source == 'y':
                arrays[17] = numpy.array([1, 2], '>i2')
            reader = row_reader(as_opened(h5file), source)
            for positions in POSITIONS:
                check(reader.read(positions), arrays, positions)


def test_many_small_and_some_large_examples(tmp_path):
    rng = numpy.random.default_rng(0)
    count = 70_000                      # a collection numbers at most 65535 of them
    lengths = rng.integers(0, 3, count)
    lengths[::1000] = rng.integers(50_000, 150_000, 70)
    arrays = [rng.integers(0, 256, length).astype('u1') for length in lengths]
    with h5py.File(tmp_path / 'f.hdf5', 'w') as h5file:
        values = numpy.empty(count, dtype=object)
        values[:] = arrays
        h5file.create_dataset('x', (count,), h5py.vlen_dtype('u1'))[...] = values
    with h5py.File(tmp_path / 'f.hdf5') as h5file:
        reader = row_reader(as_opened(h5file), 'x')
        order = rng.permutation(count)
        for start in range(0, count, 5000):
            read = reader.read(order[start:start + 5000])
            for array, number in zip(read, order[start:start + 5000].tolist(), strict=True):
                assert array.tobytes() == arrays[number].tobytes()


@pytest.mark.parametrize(('kind', 'reason'), [
    (h5py.string_dtype(), 'are not of one size'), (h5py.vlen_dtype('i4'), 'are not of one size'),
    (h5py.ref_dtype, 'are not of one size'), ('(2,)i4', 'are not of one size')], ids=str)
def test_values_without_a_size_of_their_own_are_left_to_the_library(tmp_path, kind, reason):
    with h5py.File(tmp_path / 'f.hdf5', 'w') as h5file:
        h5file.create_dataset('x', (3,), h5py.vlen_dtype(kind))
    with h5py.File(tmp_path / 'f.hdf5') as h5file:
        reader = row_reader(as_opened(h5file), 'x')
        assert reader.way == 'library'
        assert reason in reader.reason


def test_values_that_must_be_converted_are_left_to_the_library(tmp_path):
    odd = h5py.h5t.STD_I32LE.copy()
    odd.set_precision(24)
    with h5py.File(tmp_path / 'f.hdf5', 'w') as h5file:
        h5py.h5d.create(h5file.id, b'x', h5py.h5t.vlen_create(odd), h5py.h5s.create_simple((3,)))
        h5file['x'][1] = numpy.array([7, -7], 'i4')
    with h5py.File(tmp_path / 'f.hdf5') as h5file:
        reader = row_reader(as_opened(h5file), 'x')
        assert (reader.way, reader.reason) == (
            'library', 'its values are stored in a form that must be converted')
        assert reader.read(1).tolist() == [7, -7]


def test_files_with_short_addresses_are_left_to_the_library(tmp_path):
    creation = h5py.h5p.create(h5py.h5p.FILE_CREATE)
    creation.set_sizes(4, 8)
    h5py.h5f.create(bytes(tmp_path / 'f.hdf5'), fcpl=creation).close()
    arrays = some_arrays()
    with h5py.File(tmp_path / 'f.hdf5', 'a') as h5file:
        rows = h5file.create_dataset('x', (40,), h5py.vlen_dtype('u1'))
        for number, array in enumerate(arrays):
            rows[number] = array
    with h5py.File(tmp_path / 'f.hdf5') as h5file:
        reader = row_reader(as_opened(h5file), 'x')
        assert (reader.way, reader.reason) == (
            'library', 'the file has addresses and lengths of (4, 8) bytes')
        check(reader.read(slice(0, 40, 1)), arrays, slice(None))


@pytest.mark.parametrize('how', ['writing', 'core', 'bytes'])
def test_files_that_cannot_be_mapped(tmp_path, how):
    images = some_images(40)
    path = write_vlen(tmp_path / 'f.hdf5', images)
    if how == 'bytes':
        with open(path, 'rb') as stream:
            place = io.BytesIO(stream.read())
    else:
        place = path
    with h5py.File(place, 'a' if how == 'writing' else 'r',
                   driver='core' if how == 'core' else None) as h5file:
        reader = row_reader(as_opened(h5file), 'values')
        assert reader.way == 'library'
        assert {'writing': 'writing', 'core': 'core', 'bytes': 'fileobj'}[how] in reader.reason
        for positions in POSITIONS:
            check(reader.read(positions), images, positions)


def test_a_heap_in_a_file_open_for_writing_is_read_as_it_is_now(tmp_path):
    with h5py.File(write_vlen(tmp_path / 'f.hdf5', some_arrays()), 'a') as h5file:
        reader = row_reader(as_opened(h5file), 'values')
        h5file['values'][3] = numpy.array([1, 2, 3], 'u1')
        assert reader.read(3).tolist() == [1, 2, 3]


def damaged(path, arrays, damage):
    """Write arrays, and damage the heap at the collection of the last; return its address."""
    write_vlen(path, arrays)
    with h5py.File(path) as h5file:
        place = h5file['values'].id.get_offset() + 16 * (len(arrays) - 1)
    content = bytearray(path.read_bytes())
    address = struct.unpack_from('<IQI', content, place)[1]
    damage(content, place, address)
    path.write_bytes(content)
    return address


def write_at(content, place, data):
    content[place:place + len(data)] = data


DAMAGES = {
    'signature': lambda content, place, address: write_at(content, address, b'GOLD'),
    'collection size': lambda content, place, address: write_at(content, address + 8, b'\0' * 8),
    'object size': lambda content, place, address: write_at(content, address + 24, b'\xff' * 8),
    'object number': lambda content, place, address: write_at(content, address + 16, b'\x07'),
    'address': lambda content, place, address: write_at(content, place + 4, b'\xff' * 8),
    'number': lambda content, place, address: write_at(content, place + 12, b'\xff' * 4),
    'length': lambda content, place, address: write_at(content, place, b'\xff' * 4)}


@pytest.mark.parametrize('name', DAMAGES)
def test_damaged_heaps_are_told_by_file_source_and_example(tmp_path, name):
    path = tmp_path / 'f.hdf5'
    arrays = [numpy.arange(100_000).astype('u1')] * 3
    damaged(path, arrays, DAMAGES[name])
    with h5py.File(path) as h5file:
        reader = row_reader(as_opened(h5file), 'values')
        check(reader.read(numpy.array([1, 0])), arrays, slice(0, 2))
        for positions in (2, slice(0, 3, 1), numpy.array([0, 2, 1]), slice(2, 3, 1)):
            with pytest.raises(DataFileError, match=(
                    r"f\.hdf5: source 'values': example 2 cannot be read, for the file is "
                    'damaged: .*')):
                reader.read(positions)


def test_a_damaged_heap_of_small_examples(tmp_path):
    path = tmp_path / 'f.hdf5'
    arrays = [numpy.full(5, number, 'u1') for number in range(200)]

    def damage(content, place, address):
        numbers = [number for number in range(200) if struct.unpack_from(
            '<IQI', content, place - 16 * (199 - number))[1] == address]
        assert len(numbers) > 70
        # The size of an object in the middle, each of which has 24 bytes with its header.
        content[address + 16 + 24 * (len(numbers) - 3) + 8] = 77

    damaged(path, arrays, damage)
    with h5py.File(path) as h5file:
        reader = row_reader(as_opened(h5file), 'values')
        bad = 0
        for number in range(200):
            try:
                check(reader.read(number), arrays, number)
            except DataFileError as error:
                assert f'example {number} cannot be read' in str(error)
                bad += 1
        assert bad


@pytest.mark.parametrize('shape', [(1, 1, 99), (-1, 1, 1), (3, -1, -1), (3, 2**31 - 1, 0)])
@pytest.mark.parametrize('way', ['mapped', 'library'])
def test_shapes_that_do_not_fit(tmp_path, shape, way):
    images = [*some_images(5), numpy.ones((3, 1, 2), 'u1'), *some_images(3)]
    shapes = [image.shape for image in images]
    shapes[5] = shape
    path = write_ragged(tmp_path / 'f.hdf5', images, shapes=shapes)
    with h5py.File(path, 'r' if way == 'mapped' else 'a') as h5file:
        reader = row_reader(as_opened(h5file), 'images')
        assert reader.way == way
        check(reader.read(4), images, 4)
        for positions in (5, slice(3, 8, 2), numpy.array([7, 5])):
            with pytest.raises(DataLayoutError) as error:
                reader.read(positions)
            assert str(error.value) == (
                f"{path}: source 'images': example 5 has 6 values, which do not fill the shape "
                f'{shape} that is stored for it')


def test_scales_made_with_the_calls_of_old_writers(tmp_path):
    images = some_images(12)
    with h5py.File(tmp_path / 'f.hdf5', 'w') as h5file:
        rows = h5file.create_dataset('images', (12,), h5py.vlen_dtype('u1'))
        for number, image in enumerate(images):
            rows[number] = image.ravel()
        for name, data in [('shapes', numpy.array([image.shape for image in images], 'u2')),
                           ('shape_labels', numpy.array([b'channel', b'height', b'width']))]:
            h5file[f'images_{name}'] = data
            h5py.h5ds.set_scale(h5file[f'images_{name}'].id, name.encode())
            h5py.h5ds.attach_scale(rows.id, h5file[f'images_{name}'].id, 0)
    with h5py.File(tmp_path / 'f.hdf5') as h5file:
        check(row_reader(as_opened(h5file), 'images').read(slice(0, 12, 1)), images, slice(None))
