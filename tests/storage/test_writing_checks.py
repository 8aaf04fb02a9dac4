"""What is refused before anything is written, and what is said then."""
from __future__ import annotations

import datetime

import h5py
import numpy
import pytest

from fuel.converters.base import SourceOptions, Streamed, create_source, fill_hdf5_file
from fuel.datasets.hdf5 import H5PYDataset

A = numpy.arange(40., dtype='f4').reshape(20, 2)
TEXTS = numpy.array(['a', 'b'], dtype=h5py.string_dtype())


@pytest.fixture
def h5file(tmp_path):
    with h5py.File(tmp_path / 'x.hdf5', 'w') as h5file:
        yield h5file


def masked(mask):
    return numpy.ma.MaskedArray(numpy.zeros(3), mask)


@pytest.mark.parametrize(('data', 'message'), [
    ([None], r'expected tuples \(split, source, array\).*got None'),
    ([5], 'expected tuples .* got 5 of type int'),
    (['abc'], "expected tuples .* got 'abc' of type str"),
    ([('a', 'x')], 'got one of 2 entries'),
    ([('a', '', A)], "name of a source to have at least one character; got ''"),
    ([('', 'x', A)], "name of a split to have at least one"),
    ([('a', 'x/y', A)], "source to be that of a data set in the root group.*got 'x/y'"),
    ([('a', '.', A)], "source to be that of a data set in the root group"),
    ([('a', 'x\0y', A)], 'source without the character NUL'),
    ([('a\0', 'x', A)], 'split without the character NUL'),
    ([('a', 'x', A, 5)], 'a/x: expected a comment that is a string; got 5'),
    ([('a', 'x', A, b'abc')], "a comment that is a string; got b'abc'"),
    ([('a', 'x', h5py.Empty('f4'))], 'a/x: expected an array; got .*Empty.*no values'),
    ([('a', 'x', iter([h5py.Empty('f4')]))], 'x: expected .*Empty'),
    ([('a', 'x', masked([True, False, False]))], r'a/x: .* without a mask.*array\.filled'),
    ([('a', 'x', masked(False))], 'without a mask'),
    ([('a', 'x', [numpy.zeros(3), masked(True)])], 'a/x: .* without a mask'),
    ([('a', 'x', iter([masked(True)]))], 'x: .* without a mask'),
    ([('a', 'x', numpy.zeros(2, [('a', 'f4', (0,))]))], 'x: HDF5 cannot store .*ero-sized'),
    ([('a', 'x', numpy.array(['2020-01-01'], 'M8[s]'))], r"cannot store .* array\.view\('i8'\)"),
    ([('a', 'x', numpy.zeros(2, 'm8[s]'))], r"array\.view\('i8'\)"),
    ([('a', 'x', [datetime.date(2020, 1, 1)])], 'example 0: expected an array'),
    ([('a', 'x', numpy.array(['a', 'b'], object))], r'h5py\.string_dtype\(\).*without asstr'),
    ([('a', 'x', numpy.array([['a', 'b']], object))], r'texts as an array of dtype h5py\.str')])
def test_data_that_cannot_be_written(h5file, data, message):
    with pytest.raises(ValueError, match=message):
        fill_hdf5_file(h5file, data)
    assert not list(h5file)
    assert not list(h5file.attrs)


@pytest.mark.parametrize(('options', 'message'), [
    ({'axis_labels': {'x': 5}}, r"x: expected axis labels such as .* got 5"),
    ({'compression': ('gzip', numpy.arange(3))}, 'level of gzip'),
    ({'compression': ('gzip', 2.5)}, 'got 2.5'),
    ({'compression': (numpy.arange(2), 1)}, 'expected compression'),
    ({'compression': numpy.arange(2)}, 'expected compression'),
    ({'compression': (32015, 3)}, 'expected compression .*with its options'),
    ({'layout': ['ragged']}, 'expected layout'), ({'layout': numpy.arange(2)}, 'expected layout')])
def test_options_that_there_are_not(h5file, options, message):
    with pytest.raises(ValueError, match=message):
        fill_hdf5_file(h5file, [('a', 'x', A)], **options)
    assert not list(h5file)


def test_files_that_are_none(h5file, tmp_path):
    with h5py.File(tmp_path / 'closed.hdf5', 'w') as closed:
        pass
    for file, message in ((str(tmp_path / 'x'), r"h5py\.File\('data\.hdf5', 'w'\); got '.* str"),
                          (h5file.create_group('g'), 'of type Group; .* root group'),
                          (None, 'got None'), (closed, 'closed')):
        for write in (lambda file: fill_hdf5_file(file, [('a', 'x', A)]),
                      lambda file: create_source(file, 'x', (2,), 'f4')):
            with pytest.raises(ValueError, match=message):
                write(file)
    with (h5py.File(tmp_path / 'closed.hdf5') as reading,
          pytest.raises(ValueError, match=r'closed\.hdf5 is open for reading only')):
        fill_hdf5_file(reading, [('a', 'x', A)])


@pytest.mark.parametrize(('arguments', 'keywords', 'message'), [
    (('x', (-1,), 'f4'), {}, 'x: sizes of axes, or None, to be an integer of at least 0; got -1'),
    (('x', (1.5,), 'f4'), {}, 'x: sizes .* got 1.5'), (('x', 'ab', 'f4'), {}, "got 'ab'"),
    (('x', 4, 'f4'), {}, r'shape of one example, such as \(3, None\).*got 4'),
    (('x', (True,), 'f4'), {}, 'got True'), (('x', (2,), 'no'), {}, "expected a dtype.*got 'no'"),
    (('x', (2,), 'f4'), {'num_examples': True}, 'x: num_examples to be an integer .*got True'),
    (('x', (2,), 'f4'), {'num_examples': 2.5}, 'num_examples'),
    (('x', (2,), 'f4'), {'axis_labels': 'ab'}, "axis labels such as .*got 'ab'"),
    (('x', (2,), 'f4'), {'axis_labels': 5}, 'got 5'),
    (('x', (2,), 'f4'), {'options': {'compression': 'gzip'}},
     r"expected options such as SourceOptions\(compression='gzip'\); got \{'compression'"),
    (('x', (2,), 'f4'), {'num_values': 3}, r"num_values is for the layout 'ragged' only.*\(2,\)"),
    (('x', (None,), 'f4'), {'num_values': 3}, "num_values .* for the layout 'vlen'"),
    (('x', (None,), 'f4'), {'num_values': True, 'options': SourceOptions(layout='ragged')},
     'num_values to be'),
    (('x/y', (2,), 'f4'), {}, 'root group'), (('', (2,), 'f4'), {}, 'at least one character'),
    ((5, (2,), 'f4'), {}, 'to be a string; got 5')])
def test_sources_that_cannot_be_created(h5file, arguments, keywords, message):
    with pytest.raises(ValueError, match=message):
        create_source(h5file, *arguments, **keywords)
    assert not list(h5file)


def test_a_declared_number_is_no_truth():
    with pytest.raises(ValueError, match='num_examples to be an integer of at least 0; got True'):
        Streamed([], True)


@pytest.mark.parametrize('shape', [(2,), (None,)])
def test_nothing_is_appended_behind_the_end(h5file, shape):
    with create_source(h5file, 'x', shape, 'f4') as writer:
        writer.append(A if shape == (2,) else list(A))
        with pytest.raises(ValueError, match='x: .* without a mask'):
            writer.append(numpy.ma.masked_less(A, 3))
    with pytest.raises(ValueError, match='x: expected examples before the writer .* 20'):
        writer.append(A)
    writer.close()
    assert len(h5file['x']) == 20


def test_arrays_of_variable_length_in_several_axes(h5file, tmp_path):
    with h5py.File(tmp_path / 'other.hdf5', 'w') as other:
        table = other.create_dataset('x', (2, 2), dtype=h5py.vlen_dtype('u1'))
        for data in (table, table[...].astype(table.dtype)):
            with pytest.raises(ValueError, match='single axis, that of the examples; got'):
                fill_hdf5_file(h5file, [('a', 'w', A[:2]), ('a', 'x', data)])
    assert not list(h5file)


def test_splits_are_not_lost(h5file):
    fill_hdf5_file(h5file, [('train', 'x', A)])
    table = h5file.attrs['split']
    with pytest.raises(ValueError, match=r'x\.hdf5: the file has splits already.*in one call'):
        fill_hdf5_file(h5file, [('test', 'y', A)])
    assert list(h5file) == ['x']
    assert h5file.attrs['split']['stop'].tolist() == table['stop'].tolist() == [20]


def many_comments():
    return [(f'split{number}', name, A, 'why ' * 175) for number in range(50) for name in 'xy']


def test_a_table_of_splits_that_is_too_large_is_noticed_before_the_data_are_written(h5file):
    with pytest.raises(ValueError, match=r"73300 bytes, of which 700 for the comment .* 100 rows; "
                       r".*libver='v108'"):
        fill_hdf5_file(h5file, many_comments())
    assert not list(h5file)
    assert not list(h5file.attrs)


def test_a_large_table_of_splits_in_a_file_of_a_newer_format(tmp_path):
    path = str(tmp_path / 'x.hdf5')
    with h5py.File(path, 'w', libver='v108') as h5file:
        fill_hdf5_file(h5file, many_comments())
    dataset = H5PYDataset(path, which_sets=('split49',))
    assert dataset.num_examples == 20
    assert numpy.array_equal(dataset.get_data(None, slice(0, 20))[1], A)
    dataset.close(None)


@pytest.mark.parametrize('first', [[], ()])
@pytest.mark.parametrize('others', [lambda: A, lambda: iter([A]), lambda: Streamed([A], 20)])
def test_an_empty_list_goes_with_everything(h5file, first, others):
    fill_hdf5_file(h5file, [('train', 'x', first), ('test', 'x', others()), ('valid', 'x', [])])
    assert h5file['x'].dtype == 'f4'
    assert numpy.array_equal(h5file['x'][...], A)
    assert [(row['start'], row['stop']) for row in h5file.attrs['split']] == [
        (0, 0), (0, 20), (20, 20)]


def test_nothing_but_empty_lists(h5file):
    fill_hdf5_file(h5file, [('train', 'x', []), ('test', 'x', [])])
    assert h5file['x'].shape == (0,)


def test_a_stream_of_examples_without_values(h5file):
    fill_hdf5_file(h5file, [('a', 'x', iter([numpy.zeros((5, 0, 3), 'f4')] * 2))],
                   compression='gzip')
    assert h5file['x'].shape == (10, 0, 3)
    assert h5file['x'].dtype == 'f4'
    assert h5file['x'][...].shape == (10, 0, 3)


PADDED = numpy.dtype([('a', 'u1'), ('b', 'f8'), ('c', [('d', 'u1'), ('e', 'i4')], (2,))],
                     align=True)


def dirty(count):
    """Return structures with something in those bytes that belong to no field."""
    array = numpy.frombuffer(bytearray(b'\xab' * (PADDED.itemsize * count)), PADDED)
    array['a'], array['b'], array['c']['d'], array['c']['e'] = 1, 2, 3, 4
    return array


@pytest.mark.parametrize('make', [
    lambda: dirty(50), lambda: iter([dirty(20), dirty(30)]), lambda: Streamed([dirty(1)] * 50, 50),
    lambda: [dirty(size) for size in (3, 40, 7)]])
@pytest.mark.parametrize('layout', ['vlen', 'ragged'])
def test_no_memory_leaks_into_the_file_between_fields(tmp_path, make, layout):
    with h5py.File(tmp_path / 'x.hdf5', 'w') as h5file:
        data = make()
        options = {'layout': layout} if isinstance(data, list) else {}
        fill_hdf5_file(h5file, [('a', 'x', data)], **options)
        values = numpy.concatenate(h5file['x'][...].tolist()) if (
            h5file['x'].dtype.hasobject) else h5file['x'][...]
    assert len(values) == 50
    assert values['c']['e'].tolist() == [[4, 4]] * 50
    assert values['b'].tolist() == [2] * 50
    assert b'\xab\xab\xab' not in (tmp_path / 'x.hdf5').read_bytes()
