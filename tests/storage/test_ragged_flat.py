"""The ragged layout: flat values with offsets, read by the way the values are stored."""
import io

import h5py
import numpy
import pytest

from fuel.config_parser import config
from fuel.exceptions import DataLayoutError
from fuel.storage.layout import (
    example_dtype,
    example_shape,
    get_axis_labels,
    get_vlen_sources,
    num_examples,
    row_reader,
)
from fuel.storage.readers.cache import CHUNKS
from fuel.storage.variable import value_ranges
from tests.storage.files import some_images
from tests.storage.ragged_files import as_opened, write_flat
from tests.storage.test_ragged_vlen import DTYPES, POSITIONS, check, some_arrays

STORAGE = {
    'contiguous': ('mapped', {}), 'chunks': ('mapped', {'chunks': (7,)}),
    'large chunks': ('mapped', {'chunks': (64,)}),
    'gzip': ('decoded', {'chunks': (7,), 'compression': 'gzip', 'shuffle': True}),
    'checksums': ('decoded', {'chunks': (50,), 'fletcher32': True}),
    'lzf': ('decoded', {'chunks': (300,), 'maxshape': (None,), 'compression': 'lzf'}),
    'library': ('library', {'chunks': (31,), 'scaleoffset': 0})}


@pytest.mark.parametrize('dtype', DTYPES, ids=str)
@pytest.mark.parametrize('storage', [name for name in STORAGE if name != 'library'])
def test_values_are_those_that_were_written(tmp_path, storage, dtype):
    arrays = some_arrays(dtype=dtype)
    way, options = STORAGE[storage]
    path = write_flat(tmp_path / 'f.hdf5', arrays, dtype, **options)
    with h5py.File(path) as h5file:
        reader = row_reader(as_opened(h5file), 'values')
        assert reader.way == way
        for _ in range(2):
            for positions in POSITIONS:
                check(reader.read(positions), arrays, positions)


@pytest.mark.parametrize('storage', STORAGE)
@pytest.mark.parametrize('piece', [1, 20, 2**24])
def test_shapes_are_given_back(tmp_path, monkeypatch, storage, piece):
    monkeypatch.setattr(value_ranges, '_PIECE_BYTES', piece)
    images = [*some_images(35), *[numpy.empty((3, 0, 2), 'u1')] * 3, *some_images(2, 1)]
    way, options = STORAGE[storage]
    with h5py.File(write_flat(tmp_path / 'f.hdf5', images, **options)) as h5file:
        reader = row_reader(as_opened(h5file), 'values')
        assert reader.way == way
        for positions in POSITIONS:
            check(reader.read(positions), images, positions)


@pytest.mark.parametrize('storage', [name for name in STORAGE if name != 'library'])
@pytest.mark.parametrize('how', ['writing', 'core', 'bytes', 'user block', 'threads'])
def test_any_file(tmp_path, monkeypatch, storage, how):
    arrays = some_arrays(longest=40)
    path = tmp_path / 'f.hdf5'
    way, options = STORAGE[storage]
    if how == 'user block':
        with h5py.File(path, 'w', userblock_size=512):
            pass
        # What `write_flat` makes, copied into a file that begins with something else.
        write_flat(tmp_path / 'plain.hdf5', arrays, **options)
        with h5py.File(tmp_path / 'plain.hdf5') as source, h5py.File(path, 'a') as h5file:
            for name in ('values', 'values_offsets'):
                h5file.create_dataset(name, data=source[name][...],
                                      **(options if name == 'values' else {}))
            h5file['values_offsets'].make_scale('offsets')
            h5file['values'].dims[0].attach_scale(h5file['values_offsets'])
    else:
        write_flat(path, arrays, **options)
    if how == 'threads':
        monkeypatch.setattr(type(config), 'num_threads', 3, raising=False)
    place = io.BytesIO(path.read_bytes()) if how == 'bytes' else path
    with h5py.File(place, 'a' if how == 'writing' else 'r',
                   driver='core' if how == 'core' else None) as h5file:
        reader = row_reader(as_opened(h5file), 'values')
        assert reader.way == (way if how in ('user block', 'threads') else 'library')
        for positions in POSITIONS:
            check(reader.read(positions), arrays, positions)


def test_long_examples_in_chunks_that_do_not_stay_in_the_cache(tmp_path, monkeypatch):
    monkeypatch.setattr(type(CHUNKS), 'limit', 30_000)
    arrays = some_arrays(longest=20_000)
    path = write_flat(tmp_path / 'f.hdf5', arrays, chunks=(1000,), compression='gzip')
    with h5py.File(path) as h5file:
        reader = row_reader(as_opened(h5file), 'values')
        for _ in range(3):
            for positions in POSITIONS:
                check(reader.read(positions), arrays, positions)
        assert CHUNKS.size <= 30_000


def test_chunks_that_were_never_written(tmp_path):
    lengths = [3, 0, 40, 9, 8]
    for number, options in enumerate([{}, {'chunks': (7,)},
                                      {'chunks': (7,), 'compression': 'gzip'}]):
        path = tmp_path / f'{number}.hdf5'
        with h5py.File(path, 'w') as h5file:
            values = h5file.create_dataset('values', (60,), 'i4', fillvalue=5, **options)
            if options:
                values[20:22] = 1
            h5file['offsets'] = numpy.cumsum([0, *lengths])
            h5file['offsets'].make_scale('offsets')
            values.dims[0].attach_scale(h5file['offsets'])
            flat = values[...]
        arrays = numpy.split(flat, numpy.cumsum(lengths)[:-1])
        with h5py.File(path) as h5file:
            reader = row_reader(as_opened(h5file), 'values')
            assert reader.way == ('decoded' if 'compression' in options else 'mapped')
            for positions in (2, slice(0, 5, 1), numpy.array([4, 2, 1, 2])):
                check(reader.read(positions), arrays, positions)


def test_values_that_are_strings(tmp_path):
    words = ['to', 'be', 'or', 'not', 'to', 'be']
    with h5py.File(tmp_path / 'f.hdf5', 'w') as h5file:
        h5file['x'] = words
        h5file['offsets'] = [0, 2, 2, 6]
        h5file['offsets'].make_scale('offsets')
        h5file['x'].dims[0].attach_scale(h5file['offsets'])
    with h5py.File(tmp_path / 'f.hdf5') as h5file:
        reader = row_reader(as_opened(h5file), 'x')
        assert [sentence.tolist() for sentence in reader.read(numpy.array([2, 0, 1]))] == [
            [b'or', b'not', b'to', b'be'], [b'to', b'be'], []]


def test_a_source_without_examples(tmp_path):
    with h5py.File(write_flat(tmp_path / 'f.hdf5', [])) as h5file:
        assert num_examples(h5file, 'values') == 0
        assert example_shape(h5file, 'values') == (None,)
        assert row_reader(as_opened(h5file), 'values').way == 'library'


def rewritten(path, arrays, name, data, **options):
    """Write arrays with other offsets or shapes, and open the file."""
    write_flat(path, arrays)
    h5file = h5py.File(path, 'a')
    key = f'values_{name}'
    if key in h5file:
        h5file['values'].dims[0].detach_scale(h5file[key])
        del h5file[key]
    h5file.create_dataset(key, data=data, **options)
    h5file[key].make_scale(name)
    h5file['values'].dims[0].attach_scale(h5file[key])
    h5file.close()
    return h5py.File(path)


@pytest.mark.parametrize('dtype', ['uint8', 'int16', '>u4', 'int64', '>i8', 'uint64'])
@pytest.mark.parametrize('options', [{}, {'chunks': (5,), 'compression': 'gzip'}], ids=str)
def test_offsets_may_be_integers_of_any_kind(tmp_path, dtype, options):
    arrays = some_arrays(longest=5)
    offsets = numpy.cumsum([0, *[len(array) for array in arrays]]).astype(dtype)
    with rewritten(tmp_path / 'f.hdf5', arrays, 'offsets', offsets, **options) as h5file:
        reader = row_reader(as_opened(h5file), 'values')
        for positions in POSITIONS:
            check(reader.read(positions), arrays, positions)


@pytest.mark.parametrize('dtype', ['uint8', 'uint16', '>i4', 'int64', 'uint64'])
@pytest.mark.parametrize('spare', [0, 2])
def test_shapes_may_be_integers_of_any_kind(tmp_path, dtype, spare):
    images = some_images(40)
    shapes = numpy.array([image.shape for image in images] + [(9, 9, 9)] * spare, dtype)
    with rewritten(tmp_path / 'f.hdf5', images, 'shapes', shapes) as h5file:
        check(row_reader(as_opened(h5file), 'values').read(slice(0, 40, 1)), images, slice(None))


THREE = [numpy.arange(4, dtype='u1'), numpy.arange(1, dtype='u1'), numpy.arange(7, dtype='u1')]


@pytest.mark.parametrize(('offsets', 'problem'), [
    ([0, 5, 4, 12], 'begins at value 5 and ends before it, at 4'),
    ([0, -1, -1, 12], 'begins at value 0 and ends before it, at -1'),
    ([0, 4, 99, 12], 'reaches from value 4 to 99, and there are 12 values'),
    ([0, 2**62, 2**63 - 1, 12], f'reaches from value 0 to {2**62}, and there are 12 values')])
@pytest.mark.parametrize('storage', ['contiguous', 'chunks', 'gzip', 'library'])
def test_offsets_that_cannot_be(tmp_path, offsets, problem, storage):
    path = tmp_path / 'f.hdf5'
    options = STORAGE[storage][1] if storage != 'library' else {}
    write_flat(path, THREE, **options)
    with h5py.File(path, 'a') as h5file:
        h5file['values_offsets'][...] = offsets
    with h5py.File(path, 'a' if storage == 'library' else 'r') as h5file:
        reader = row_reader(as_opened(h5file), 'values')
        assert reader.way == STORAGE[storage][0]
        wrong = 0 if 'from value 0' in problem or 'at value 0' in problem else 1
        for positions in (wrong, slice(0, 3, 1), numpy.array([wrong])):
            with pytest.raises(DataLayoutError) as error:
                reader.read(positions)
            assert str(error.value).startswith(f"{path}: source 'values': example {wrong} "
                                               f'{problem}')


@pytest.mark.parametrize(('offsets', 'problem'), [
    ([1, 4, 5, 12], "begin with 0 and to end with 12, the number of values; got 1 and 12"),
    ([0, 4, 5, 11], 'got 0 and 11'), ([0, 4, 5, 13], 'got 0 and 13'),
    ([[0], [12]], r'one more than there are examples; got int64 of shape \(2, 1\)'),
    ([0., 12.], 'to hold integers .* got float64'),
    (numpy.empty(0, 'i8'), r'got int64 of shape \(0,\)')])
def test_offsets_of_another_form(tmp_path, offsets, problem):
    with rewritten(tmp_path / 'f.hdf5', THREE, 'offsets', offsets) as h5file:
        for ask in (lambda: row_reader(as_opened(h5file), 'values'),
                    lambda: num_examples(h5file, 'values'),
                    lambda: example_shape(h5file, 'values')):
            with pytest.raises(DataLayoutError, match=rf"source 'values'.*'offsets'.*{problem}"):
                ask()


@pytest.mark.parametrize('storage', ['contiguous', 'gzip', 'library'])
@pytest.mark.parametrize('shape', [(2, 2), (-4, -1), (0, 4), (2**62, 4), (2**32, 2**32)])
def test_shapes_that_do_not_fit_the_offsets(tmp_path, storage, shape):
    path = tmp_path / 'f.hdf5'
    write_flat(path, THREE, **(STORAGE[storage][1] if storage != 'library' else {}))
    with h5py.File(path, 'a') as h5file:
        h5file['values_shapes'] = numpy.array([(4, 1), shape, (1, 7)])
        h5file['values_shapes'].make_scale('shapes')
        h5file['values'].dims[0].attach_scale(h5file['values_shapes'])
    with h5py.File(path, 'a' if storage == 'library' else 'r') as h5file:
        reader = row_reader(as_opened(h5file), 'values')
        check(reader.read(numpy.array([2, 0])), [THREE[2][None], THREE[0][:, None]], slice(None))
        for positions in (1, slice(0, 3, 1), numpy.array([2, 1])):
            with pytest.raises(DataLayoutError) as error:
                reader.read(positions)
            assert str(error.value) == (
                f"{path}: source 'values': example 1 has 1 values, which do not fill the shape "
                f'{shape} that is stored for it')


@pytest.mark.parametrize(('shapes', 'problem'), [
    ([(4,), (1,)], 'shorter than the data: expected 3 rows, one for each example; got 2'),
    ([4, 1, 7], r'one row for each example; got int64 of shape \(3,\)'),
    (numpy.ones((3, 65), 'i8'), r'got int64 of shape \(3, 65\)')])
def test_shapes_of_another_form(tmp_path, shapes, problem):
    with (rewritten(tmp_path / 'f.hdf5', THREE, 'shapes', shapes) as h5file,
          pytest.raises(DataLayoutError, match=rf"source 'values'.*'shapes'.*{problem}")):
        row_reader(as_opened(h5file), 'values')


@pytest.mark.parametrize(('shape', 'dtype', 'problem'), [
    ((3, 4), 'u1', r'a single axis.*got the shape \(3, 4\)'),
    ((12,), h5py.vlen_dtype('u1'), 'expected values of one size')])
def test_values_of_another_form(tmp_path, shape, dtype, problem):
    with h5py.File(tmp_path / 'f.hdf5', 'w') as h5file:
        h5file.create_dataset('x', shape, dtype)
        h5file['offsets'] = [0, shape[0]]
        h5file['offsets'].make_scale('offsets')
        h5file['x'].dims[0].attach_scale(h5file['offsets'])
        with pytest.raises(DataLayoutError, match=f"source 'x'.*{problem}"):
            row_reader(as_opened(h5file), 'x')


def test_what_is_told_about_sources(tmp_path):
    with h5py.File(write_flat(tmp_path / 'f.hdf5', some_arrays(dtype='>i2'), '>i2')) as h5file:
        assert get_axis_labels(h5file) == {'values': ('batch',), 'number': ('',)}
        assert get_vlen_sources(h5file) == ('values',)
        assert example_shape(h5file, 'values') == (None,)
        assert example_dtype(h5file, 'values') == numpy.dtype('>i2')
        assert num_examples(h5file, 'values') == num_examples(h5file, 'number') == 40
    labels = ('channel', 'height', 'width')
    with h5py.File(write_flat(tmp_path / 'g.hdf5', some_images(9), labels=labels), 'a') as h5file:
        assert get_axis_labels(h5file)['values'] == ('batch', *labels)
        assert example_shape(h5file, 'values') == (None, None, None)
        assert num_examples(h5file, 'values') == 9
        h5file['values'].dims[0].detach_scale(h5file['values_shape_labels'])
        assert get_axis_labels(h5file)['values'] is None
