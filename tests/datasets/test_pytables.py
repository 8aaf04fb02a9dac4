"""Data sets in files that were written with PyTables: nodes of every kind."""
import h5py
import numpy
import pytest
import tables

from fuel.datasets.hdf5 import PytablesDataset
from fuel.schemes import ChunkShuffledScheme, SequentialExampleScheme, SequentialScheme
from fuel.streams import DataStream
from fuel.testing import check_dataset, check_indexed_dataset
from tests.datasets.pytables_files import (
    ROWS,
    assert_reads,
    one_source,
    read_by_tables,
    some_arrays,
    swapped,
    ways,
    write_arrays,
    write_ragged,
    write_tables,
)

ARRAYS = [*some_arrays(), 'as_int16_swapped', 'as_float64_swapped', 'as_uint64_swapped',
          'halves_swapped', 'waves_swapped']
COLUMNS = ['number', 'pixels', 'name', 'good', 'wave', 'point', 'point/x', 'point/inside']


@pytest.fixture(scope='module')
def arrays(tmp_path_factory):
    return write_arrays(tmp_path_factory.mktemp('arrays') / 'f.h5')


@pytest.fixture(scope='module', params=['little', 'big'])
def records(tmp_path_factory, request):
    return write_tables(tmp_path_factory.mktemp('tables') / 'f.h5', request.param)


@pytest.fixture(scope='module')
def ragged(tmp_path_factory):
    return write_ragged(tmp_path_factory.mktemp('ragged') / 'f.h5')


@pytest.mark.parametrize('name', ARRAYS)
def test_arrays(arrays, name):
    dataset = PytablesDataset(arrays, (name,))
    expected = read_by_tables(arrays, name)
    assert_reads(dataset, expected)
    assert dataset.source_shapes == [expected.shape]
    assert dataset.source_dtypes == [expected.dtype]
    assert ways(dataset) == {name: 'mapped'}


@pytest.mark.parametrize('filters', [
    None, tables.Filters(5, 'zlib'), tables.Filters(5, 'zlib', shuffle=True, fletcher32=True),
    tables.Filters(5, 'blosc'), tables.Filters(5, 'blosc:lz4', bitshuffle=True),
    tables.Filters(5, 'blosc2:zstd'), tables.Filters(5, 'bzip2'),
    tables.Filters(0, fletcher32=True)], ids=str)
def test_chunked_arrays(tmp_path, filters):
    path = write_arrays(tmp_path / 'f.h5', filters, chunked=True)
    for name in ARRAYS:
        dataset = PytablesDataset(path, (name,))
        assert_reads(dataset, read_by_tables(path, name))
        if filters is None:
            assert ways(dataset) == {name: 'mapped'}
        elif filters.complib == 'zlib':
            assert ways(dataset) == {name: 'decoded'}


@pytest.mark.parametrize('column', COLUMNS)
def test_columns_of_a_table(records, column):
    dataset = one_source(records, f'records/{column}')
    expected = read_by_tables(records, 'records')
    for name in column.split('/'):
        expected = expected[name]
    assert_reads(dataset, expected)
    assert dataset.source_shapes == [expected.shape]
    assert dataset.source_dtypes == [expected.dtype]
    assert ways(dataset) == {'x': 'mapped'}


def test_rows_of_a_table(records):
    expected = read_by_tables(records, 'records')
    assert_reads(one_source(records, 'records'), expected)
    row, = one_source(records, 'records').get_data(None, 7)
    assert row['number'] == 7 * 2 ** 40
    assert row['point']['x'] == numpy.float32(1)


def test_the_table_may_be_the_data_node(records):
    dataset = PytablesDataset(records, ('number', 'x'), data_node='Data/records',
                              sources_in_file=('number', 'point/x'))
    expected = read_by_tables(records, 'records')
    number, x = dataset.get_data(None, [30, 2, 2])
    assert numpy.array_equal(number, expected['number'][[30, 2, 2]])
    assert numpy.array_equal(x, expected['point']['x'][[30, 2, 2]])
    dataset.close()


def test_columns_beside_one_that_only_pytables_understands(records):
    expected = read_by_tables(records, 'timed')
    for column, way in (('before', 'mapped'), ('after', 'mapped'), ('when', 'library')):
        dataset = one_source(records, f'timed/{column}')
        assert_reads(dataset, expected[column])
        assert ways(dataset) == {'x': way}
    dataset = one_source(records, 'timed')
    assert_reads(dataset, expected)
    assert ways(dataset) == {'x': 'library'}


def test_compressed_tables(tmp_path):
    path = write_tables(tmp_path / 'f.h5', filters=tables.Filters(4, 'blosc'))
    expected = read_by_tables(path, 'records')
    for column in ('number', 'pixels', 'good'):
        assert_reads(one_source(path, f'records/{column}'), expected[column])
    assert_reads(one_source(path, 'records'), expected)


@pytest.mark.parametrize('name', ['integers', 'pairs', 'switches', 'names'])
def test_ragged_arrays(ragged, name):
    path, rows = ragged
    dataset = PytablesDataset(path, (name,))
    wanted = rows[name]
    assert dataset.source_shapes == [(ROWS, None, *wanted[0].shape[1:])]
    assert dataset.source_dtypes == [wanted[0].dtype]
    assert ways(dataset) == {name: 'mapped' if name == 'integers' else 'library'}
    for request in (slice(None), slice(1, ROWS, 7), [5, 5, 2], numpy.arange(ROWS)[::-1]):
        found, = dataset.get_data(None, request)
        assert found.dtype == object
        assert found.ndim == 1
        for array, place in zip(found, numpy.arange(ROWS)[request], strict=True):
            assert type(array) is numpy.ndarray
            assert array.dtype == wanted[place].dtype
            assert array.shape == wanted[place].shape
            assert numpy.array_equal(array, wanted[place])
    found[0][...] = 0
    assert numpy.array_equal(dataset.get_data(None, 7)[0], wanted[7])
    first, again = dataset.get_data(None, [6, 6])[0]
    assert not numpy.may_share_memory(first, again)
    dataset.close()


def test_ragged_arrays_in_the_other_byte_order_and_compressed(tmp_path):
    path = str(tmp_path / 'f.h5')
    rows = [numpy.arange(number % 6) * 1.5 for number in range(ROWS)]
    with tables.open_file(path, 'w') as h5file:
        swapped_ = h5file.create_vlarray('/Data', 'swapped', tables.Float64Atom(),
                                         byteorder='big', createparents=True)
        packed = h5file.create_vlarray('/Data', 'packed', tables.Float64Atom(),
                                       filters=tables.Filters(5, 'zlib', shuffle=False))
        for row in rows:
            swapped_.append(row)
            packed.append(row)
    dataset = PytablesDataset(path, ('swapped', 'packed'))
    assert ways(dataset) == {'swapped': 'library', 'packed': 'decoded'}
    for found in dataset.get_data(None, [5, 59, 5, 0]):
        assert [row.dtype for row in found] == [numpy.dtype(float)] * 4
        assert [row.tolist() for row in found] == [rows[n].tolist() for n in (5, 59, 5, 0)]
    dataset.close()


@pytest.mark.parametrize('name', ['objects', 'bytes', 'text'])
def test_ragged_arrays_of_objects_and_text(ragged, name):
    path, rows = ragged
    dataset = PytablesDataset(path, (name,))
    assert dataset.source_shapes == [(ROWS,)]
    assert dataset.source_dtypes == [numpy.dtype(object)]
    assert dataset.get_data(None, 3) == (rows[name][3],)
    found, = dataset.get_data(None, [9, 3, 3, 59])
    assert found.dtype == object
    assert found.tolist() == [rows[name][place] for place in (9, 3, 3, 59)]
    assert dataset.get_data(None, slice(50, 60, 4))[0].tolist() == rows[name][50::4]
    dataset.close()


def test_times_and_enumerations(tmp_path):
    path = str(tmp_path / 'f.h5')
    numbers = numpy.arange(ROWS)
    with tables.open_file(path, 'w') as h5file:
        for name, atom, values in (
                ('long', tables.Time64Atom(), numbers + .25),
                ('short', tables.Time32Atom(), numbers),
                ('choice', tables.EnumAtom(['red', 'blue'], 'red', 'int8'), numbers % 2)):
            node = h5file.create_earray('/Data', name, atom, (0,), createparents=True)
            node.append(values.astype(atom.dtype))
    for name in ('long', 'short', 'choice'):
        assert_reads(PytablesDataset(path, (name,)), read_by_tables(path, name))
    choices, = PytablesDataset(path, ('choice',)).get_data(None, slice(0, 3))
    assert choices.dtype.metadata is None


@pytest.mark.parametrize('order', ['little', 'big'])
def test_arrays_whose_numbers_have_a_shape(tmp_path, order):
    path = str(tmp_path / 'f.h5')
    rng = numpy.random.default_rng(3)
    with tables.open_file(path, 'w') as h5file:
        for name, shape in (('flat', (0,)), ('deep', (0, 3))):
            node = h5file.create_earray('/Data', name, tables.Float32Atom(shape=(2,)), shape,
                                        createparents=True, byteorder=order)
            node.append(rng.random((ROWS, *shape[1:], 2)).astype('f4'))
    for name in ('flat', 'deep'):
        assert_reads(PytablesDataset(path, (name,)), read_by_tables(path, name))


def test_examples_lie_along_the_first_axis_whichever_can_grow(tmp_path):
    path = str(tmp_path / 'f.h5')
    rows = numpy.arange(ROWS * 4).reshape(ROWS, 4)
    with tables.open_file(path, 'w') as h5file:
        for name, filters in (('x', None), ('packed', tables.Filters(5, 'bzip2'))):
            node = h5file.create_earray('/Data', name, tables.Int64Atom(), (ROWS, 0),
                                        createparents=True, filters=filters)
            node.append(rows)
    for name in ('x', 'packed'):
        dataset = PytablesDataset(path, (name,))
        assert dataset.num_examples == ROWS
        assert_reads(dataset, rows)


def test_arrays_marked_to_be_read_as_lists(tmp_path):
    path = str(tmp_path / 'f.h5')
    rows = numpy.arange(ROWS * 3).reshape(ROWS, 3)
    with tables.open_file(path, 'w') as h5file:
        h5file.create_array('/Data', 'x', rows.tolist(), createparents=True)
        packed = h5file.create_carray('/Data', 'packed', obj=rows,
                                      filters=tables.Filters(5, 'bzip2'))
        packed.flavor = 'python'
        table = h5file.create_table('/Data', 'table', {'when': tables.Time64Col()})
        table.append([(number,) for number in range(ROWS)])
        table.flavor = 'python'
        ragged = h5file.create_vlarray('/Data', 'ragged', tables.Int16Atom())
        for row in rows:
            ragged.append(row.astype('i2'))
        ragged.flavor = 'python'
    assert_reads(PytablesDataset(path, ('x',)), rows)
    assert_reads(PytablesDataset(path, ('packed',)), rows)
    assert_reads(one_source(path, 'table/when'), numpy.arange(ROWS) * 1.)
    first, second = PytablesDataset(path, ('ragged',)).get_data(None, [4, 0])[0]
    assert (first.dtype, first.tolist(), second.tolist()) == (numpy.int16, [12, 13, 14], [0, 1, 2])


def test_chunks_that_were_never_written(tmp_path):
    path = str(tmp_path / 'f.h5')
    with tables.open_file(path, 'w') as h5file:
        for name, atom in (('x', tables.Int32Atom(dflt=7)), ('good', tables.BoolAtom(dflt=True))):
            h5file.create_carray('/Data', name, atom, (ROWS, 2), chunkshape=(9, 2),
                                 createparents=True)[20:30] = 1
    for name in ('x', 'good'):
        assert_reads(PytablesDataset(path, (name,)), read_by_tables(path, name))


def test_groups_in_groups_the_root_and_soft_links(tmp_path):
    path = str(tmp_path / 'f.h5')
    with tables.open_file(path, 'w') as h5file:
        h5file.create_array('/Data/train', 'x', numpy.arange(9), createparents=True)
        h5file.create_array('/', 'top', numpy.arange(9) * 2)
        h5file.create_soft_link('/Data', 'linked', '/Data/train')
        h5file.create_soft_link('/Data/train', 'same', '/Data/linked/x')
    for name, node, factor in (('x', 'Data/train', 1), ('x', '/Data/train/', 1), ('top', '/', 2),
                               ('top', '', 2), ('train/x', 'Data', 1), ('Data/train/x', '/', 1),
                               ('x', 'Data/linked', 1), ('same', 'Data/train', 1),
                               ('linked/same', 'Data', 1)):
        dataset = PytablesDataset(path, (name,), data_node=node)
        assert dataset.get_data(None, [4, 2])[0].tolist() == [4 * factor, 2 * factor]
        dataset.close()


def test_names_need_not_be_those_in_the_file(arrays):
    dataset = PytablesDataset(arrays, ('features', 'targets'),
                              sources_in_file=('images', 'single'))
    assert dataset.sources == dataset.provides_sources == ('features', 'targets')
    assert dataset.sources_in_file == ('images', 'single')
    expected = some_arrays()
    features, targets = dataset.get_data(None, [3, 0])
    assert numpy.array_equal(features, expected['images'][[3, 0]])
    assert numpy.array_equal(targets, expected['single'][[3, 0]])
    dataset.sources = ('targets',)
    assert len(dataset.get_data(None, [3, 0])) == 1
    assert numpy.array_equal(dataset.get_data(None, [3, 0])[0], targets)
    assert dataset.source_shapes == [(ROWS,)]
    dataset.close()


def test_a_range_of_rows(arrays):
    expected = some_arrays()['as_int32']
    for start, stop in ((0, None), (10, None), (10, 30), (0, 30), (numpy.int64(5), numpy.int64(6))):
        dataset = PytablesDataset(arrays, ('as_int32',), start, stop)
        rows = expected[start:stop]
        assert dataset.num_examples == len(rows)
        assert (dataset.start, dataset.stop) == (start, stop or ROWS)
        assert numpy.array_equal(dataset.get_data(None, slice(None))[0], rows)
        last = len(rows) - 1
        assert numpy.array_equal(dataset.get_data(None, [0, last, 0])[0], rows[[0, last, 0]])
        for request in (last + 1, -1, [0, last + 1], slice(0, last + 2), [-1], None, [], 'a'):
            with pytest.raises(ValueError):
                dataset.get_data(None, request)
        dataset.close()


def test_sources_of_different_lengths_need_a_stop(tmp_path):
    path = str(tmp_path / 'f.h5')
    with tables.open_file(path, 'w') as h5file:
        h5file.create_array('/Data', 'x', numpy.arange(9), createparents=True)
        h5file.create_array('/Data', 'y', numpy.arange(12))
    with pytest.raises(ValueError, match=r"different lengths: 'x' has 9, 'y' has 12.*stop"):
        PytablesDataset(path, ('x', 'y'))
    assert PytablesDataset(path, ('x', 'y'), stop=9).num_examples == 9
    with pytest.raises(ValueError, match=r"stop=10 goes past the end of source 'x'.* 9 rows"):
        PytablesDataset(path, ('x', 'y'), stop=10)


def test_an_array_without_rows(tmp_path):
    path = str(tmp_path / 'f.h5')
    with tables.open_file(path, 'w') as h5file:
        h5file.create_earray('/Data', 'x', tables.Int8Atom(), (0, 2), createparents=True)
    dataset = PytablesDataset(path, ('x',))
    assert dataset.num_examples == 0
    assert dataset.source_shapes == [(0, 2)]
    with pytest.raises(AttributeError):
        dataset.example_iteration_scheme
    with pytest.raises(ValueError):
        dataset.get_data(None, slice(None))
    with pytest.raises(ValueError, match=r'start=3.*0'):
        PytablesDataset(path, ('x',), start=3)


@pytest.mark.parametrize('names', [('images', 'words', 'booleans'), ('waves', 'single')])
def test_the_contract_of_data_sets(arrays, names):
    check_dataset(lambda: PytablesDataset(arrays, names, 3, 50),
                  [0, [4, 2, 2], slice(0, 20, 3), numpy.arange(5)])
    check_indexed_dataset(lambda: PytablesDataset(arrays, names))


def test_the_contract_where_pytables_reads(records, ragged):
    check_dataset(lambda: one_source(records, 'timed/when'), [0, [4, 2, 2], slice(0, 20, 3)])
    check_indexed_dataset(lambda: one_source(records, 'timed/when'))
    check_dataset(lambda: PytablesDataset(ragged[0], ('pairs', 'text')), [0, [4, 2, 2]])
    check_indexed_dataset(lambda: PytablesDataset(ragged[0], ('pairs', 'text')))


def test_axis_labels_are_those_given(arrays):
    assert PytablesDataset(arrays, ('images',)).axis_labels is None
    labels = {'images': ('batch', 'channel', 'height', 'width')}
    assert PytablesDataset(arrays, ('images',), axis_labels=labels).axis_labels == labels


def test_streams(arrays):
    expected = some_arrays()['images']
    dataset = PytablesDataset(arrays, ('images',))
    stream = DataStream(dataset, iteration_scheme=SequentialScheme(ROWS, 16))
    batches = [images for images, in stream.get_epoch_iterator()]
    assert [len(images) for images in batches] == [16, 16, 16, 12]
    assert numpy.array_equal(numpy.concatenate(batches), expected)
    assert isinstance(dataset.example_iteration_scheme, SequentialExampleScheme)
    examples = [image for image, in dataset.get_example_stream().get_epoch_iterator()]
    assert numpy.array_equal(numpy.stack(examples), expected)
    stream.close()


def test_files_that_h5py_wrote(tmp_path):
    path = str(tmp_path / 'f.h5')
    rows = swapped(numpy.arange(90.).reshape(30, 3))
    with h5py.File(path, 'w') as h5file:
        h5file['Data/a-name with blanks'] = rows
        h5file['Data/packed'] = h5py.Empty('f4')
        h5file.create_dataset('Data/x', data=rows, compression='gzip', shuffle=True)
    for name in ('a-name with blanks', 'x'):
        assert_reads(PytablesDataset(path, (name,)), rows.astype(float))


def test_chunks_for_chunk_shuffling(tmp_path):
    path = str(tmp_path / 'f.h5')
    rows = numpy.arange(ROWS * 4).reshape(ROWS, 4)
    with tables.open_file(path, 'w') as h5file:
        h5file.create_carray('/Data', 'x', obj=rows, chunkshape=(7, 4), createparents=True)
        h5file.create_carray('/Data', 'small', obj=rows[:, 0].astype('i1'), chunkshape=(3,))
    dataset = PytablesDataset(path, ('small', 'x'), 10)
    assert dataset.example_chunks() == (7, 3)
    scheme = ChunkShuffledScheme(dataset.num_examples, 8, dataset=dataset, window=2)
    stream = DataStream(dataset, iteration_scheme=scheme)
    read = numpy.concatenate([x for _, x in stream.get_epoch_iterator()])
    assert read.tolist() != rows[10:].tolist()
    assert numpy.array_equal(read[read[:, 0].argsort()], rows[10:])
    stream.close()
