import h5py
import numpy
import pytest

from fuel.storage.memory import take_rows
from fuel.storage.readers import rows
from fuel.storage.readers.rows import LibraryRows

DTYPES = ['uint8', 'bool', '>i4', 'float16', 'S5', 'datetime', 'compound', 'complex64']


def some_rows(kind, shape):
    numbers = numpy.arange(numpy.prod(shape)).reshape(shape) * 7 % 251
    if kind == 'bool':
        return numbers % 2 == 0
    if kind == 'compound':
        both = numpy.zeros(shape, dtype=[('a', 'i2'), ('b', 'f8', (2,))])
        both['a'] = numbers
        both['b'] = numbers[..., None]
        return both
    if kind == 'datetime':
        return numbers.astype('u8')
    return numbers.astype(kind)


POSITIONS = {
    'one': 3, 'run': slice(2, 9, 1), 'strided': slice(1, 60, 7), 'dense strided': slice(0, 60, 2),
    'all': slice(0, 60, 1), 'none': numpy.array([], dtype=int),
    'sorted': numpy.array([0, 3, 17, 59]), 'dense': numpy.array([5, 6, 8, 9]),
    'contiguous': numpy.arange(4, 14), 'unsorted': numpy.array([31, 2, 59, 0], dtype='int32'),
    'duplicates': numpy.array([5, 5, 2, 31, 2]), 'backwards': numpy.arange(59, -1, -1),
    'sorted duplicates': numpy.array([5, 5, 6])}


@pytest.fixture(params=['contiguous', 'chunked', 'compressed'])
def layout(request):
    return {'contiguous': {}, 'chunked': {'chunks': True},
            'compressed': {'chunks': True, 'compression': 'gzip', 'shuffle': True}}[request.param]


@pytest.mark.parametrize('kind', DTYPES)
@pytest.mark.parametrize('shape', [(60,), (60, 2, 3), (60, 0)])
@pytest.mark.parametrize('piece', [None, 3])
def test_rows_are_those_of_numpy(tmp_path, monkeypatch, layout, kind, shape, piece):
    if piece is not None:
        monkeypatch.setattr(rows, '_PIECE_ROWS', piece)
    data = some_rows(kind, shape)
    with h5py.File(tmp_path / 'f.hdf5', 'w') as h5file:
        dataset = h5file.create_dataset('x', data=data, **({} if 0 in shape else layout))
        reader = LibraryRows(dataset)
        for name, positions in POSITIONS.items():
            read = reader.read(positions)
            wanted = data[positions]
            assert numpy.array_equal(read, wanted), name
            assert numpy.shape(read) == numpy.shape(wanted), name
            assert getattr(read, 'dtype', None) == wanted.dtype, name
            if isinstance(read, numpy.ndarray):
                assert read.flags.writeable
                assert read.flags.c_contiguous


def test_large_rows_are_read_in_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr(rows, '_PIECE_BYTES', 40)
    data = numpy.arange(600, dtype='uint8').reshape(60, 10)
    with h5py.File(tmp_path / 'f.hdf5', 'w') as h5file:
        reader = LibraryRows(h5file.create_dataset('x', data=data))
        for positions in POSITIONS.values():
            assert numpy.array_equal(reader.read(positions), data[positions])


def test_strings_and_variable_lengths(tmp_path):
    with h5py.File(tmp_path / 'f.hdf5', 'w') as h5file:
        h5file['words'] = [f'wörd {i}' for i in range(60)]
        ragged = h5file.create_dataset('ragged', (60,), dtype=h5py.vlen_dtype('i4'))
        for i in range(60):
            ragged[i] = numpy.arange(i % 4)
        for name, positions in POSITIONS.items():
            words = LibraryRows(h5file['words']).read(positions)
            wanted = numpy.array([f'wörd {i}'.encode() for i in range(60)], dtype=object)[positions]
            assert numpy.array_equal(words, wanted), name
            read = LibraryRows(ragged).read(positions)
            if name == 'one':
                assert read.tolist() == [0, 1, 2]
                continue
            assert read.dtype == object
            assert read.shape == numpy.arange(60)[positions].shape
            for values, number in zip(read, numpy.arange(60)[positions], strict=True):
                assert values.tolist() == list(range(number % 4))


def test_duplicates_of_variable_length_do_not_share_memory(tmp_path):
    with h5py.File(tmp_path / 'f.hdf5', 'w') as h5file:
        ragged = h5file.create_dataset('ragged', (3,), dtype=h5py.vlen_dtype('i4'))
        ragged[1] = [1, 2]
        read = LibraryRows(ragged).read(numpy.array([1, 1, 0]))
        read[0][0] = 9
        assert read[1].tolist() == [1, 2]


def test_many_rows_in_random_order(tmp_path):
    data = numpy.random.default_rng(0).integers(0, 256, size=(40000, 4), dtype=numpy.uint8)
    order = numpy.random.default_rng(1).permutation(40000)[:30000]
    with h5py.File(tmp_path / 'f.hdf5', 'w') as h5file:
        reader = LibraryRows(h5file.create_dataset('x', data=data))
        assert numpy.array_equal(reader.read(order), data[order])
        assert numpy.array_equal(reader.read(order[:500]), data[order[:500]])


@pytest.mark.parametrize('kind', DTYPES)
@pytest.mark.parametrize('shape', [(60,), (60, 2, 3)])
def test_rows_in_memory_are_copies(kind, shape):
    data = some_rows(kind, shape)
    data.flags.writeable = False
    for name, positions in POSITIONS.items():
        taken = take_rows(data, positions)
        assert numpy.array_equal(taken, data[positions]), name
        assert taken.dtype == data[positions].dtype
        if isinstance(taken, numpy.ndarray):
            assert taken.flags.writeable, name
            assert not numpy.shares_memory(taken, data)


def test_arrays_inside_of_rows_in_memory_are_copied_too():
    data = numpy.empty(60, dtype=object)
    for i in range(60):
        data[i] = numpy.arange(3)
    for name, positions in POSITIONS.items():
        taken = take_rows(data, positions)
        for array in ([taken] if name == 'one' else taken):
            array[:] = -1
    assert all(array.tolist() == [0, 1, 2] for array in data)


def test_a_row_of_several_fields_is_a_copy():
    data = numpy.zeros(3, dtype=[('a', 'i4'), ('b', 'i4')])
    row = take_rows(data, 1)
    row['a'] = 7
    assert data['a'].tolist() == [0, 0, 0]
