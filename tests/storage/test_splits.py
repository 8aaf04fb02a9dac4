import h5py
import numpy
import pytest

from fuel.exceptions import DataLayoutError
from fuel.storage.splits import (
    FIELDS,
    create_split_array,
    entries_of,
    get_all_sources,
    get_all_splits,
    get_provided_sources,
    read_splits,
)


def stored(tmp_path, array):
    """Return the entries that are read after an array was stored."""
    with h5py.File(tmp_path / 'splits.hdf5', 'w') as h5file:
        h5file.attrs['split'] = array
        return read_splits(h5file)


def test_split_array_has_the_documented_fields_and_values():
    array = create_split_array({'train': {'x': (0, 80), 'y': (0, 80, None, 'all of it')},
                                'test': {'x': (80, 100)}})
    assert array.dtype.names == FIELDS
    assert [array.dtype[name].str for name in ('split', 'source', 'start', 'stop', 'comment')] == [
        '|S5', '|S1', '<i8', '<i8', '|S9']
    assert h5py.check_ref_dtype(array.dtype['indices']) is h5py.Reference
    assert array.dtype['available'] == numpy.bool_
    rows = [(row['split'], row['source'], row['start'], row['stop'], bool(row['indices']),
             row['available'], row['comment']) for row in array]
    assert rows == [(b'train', b'x', 0, 80, False, True, b'.'),
                    (b'train', b'y', 0, 80, False, True, b'all of it'),
                    (b'test', b'x', 80, 100, False, True, b'.'),
                    (b'test', b'y', 0, 0, False, False, b'.')]


def test_numbers_are_scalar_fields():
    array = create_split_array({'a': {'x': (0, 1)}})
    assert array.dtype['start'].shape == ()
    assert array['start'].shape == (1,)


def test_sources_come_in_alphabetical_order_and_splits_as_given():
    array = create_split_array({'z': {'b': (0, 1), 'a': (0, 1)}, 'a': {'c': (0, 1)}})
    assert array['split'].tolist() == [b'z'] * 3 + [b'a'] * 3
    assert array['source'].tolist() == [b'a', b'b', b'c'] * 2


def test_widths_count_bytes_of_utf8(tmp_path):
    entry, = stored(tmp_path, create_split_array({'übung': {'größe': (0, 1, None, 'naïve')}}))
    assert (entry.split, entry.source, entry.comment) == ('übung', 'größe', 'naïve')


def test_empty_comments_are_a_full_stop(tmp_path):
    array = create_split_array({'a': {'x': (0, 1, None, ''), 'y': (0, 1, None, None)}})
    assert array['comment'].tolist() == [b'.', b'.']
    assert [entry.comment for entry in stored(tmp_path, array)] == ['', '']


@pytest.mark.parametrize('splits', [{}, {'train': {}}, {'train': {}, 'test': {}}])
def test_splits_without_sources_are_refused(splits):
    with pytest.raises(ValueError, match='names no source'):
        create_split_array(splits)


@pytest.mark.parametrize('entry', [(0,), (0, 1, None, '', 5), 3, ('a', 'b'), (0.5, 1), None])
def test_entries_of_another_form_are_refused(entry):
    with pytest.raises(ValueError, match=r"split 'a', source 'x': expected \(start, stop\)"):
        create_split_array({'a': {'x': entry}})


@pytest.mark.parametrize('entry', [(-1, 3), (3, 2)])
def test_bounds_that_make_no_sense_are_refused(entry):
    with pytest.raises(ValueError, match='0 <= start <= stop'):
        create_split_array({'a': {'x': entry}})


def test_indices_must_be_a_reference():
    with pytest.raises(ValueError, match='None or a reference'):
        create_split_array({'a': {'x': (0, 3, [0, 1, 2])}})


@pytest.mark.parametrize('name', ['', 7])
def test_names_must_be_strings_with_letters(name):
    with pytest.raises(ValueError, match='name'):
        create_split_array({name: {'x': (0, 3)}})


def test_bytes_and_numpy_integers_are_taken(tmp_path):
    entry, = stored(tmp_path, create_split_array(
        {b'a': {b'x': [numpy.int32(1), numpy.uint8(3), None, b'c']}}))
    assert (entry.split, entry.source, entry.start, entry.stop, entry.comment) == (
        'a', 'x', 1, 3, 'c')


def old_layout(subarray, names, reference=None):
    """Return a split array as other versions of numpy and h5py wrote it."""
    shape = ((1,),) if subarray else ()
    text = h5py.string_dtype('utf-8') if names is str else 'S5'
    array = numpy.zeros(2, dtype=numpy.dtype([
        ('split', text), ('source', text), ('start', '<i8', *shape), ('stop', '<i8', *shape),
        ('indices', h5py.ref_dtype), ('available', '?', *shape), ('comment', 'S1')]))
    encode = (lambda name: name) if names is str else (lambda name: name.encode())
    array['split'] = [encode('train'), encode('test')]
    array['source'] = [encode('x'), encode('x')]
    array['start'].reshape(-1)[:] = [0, 6]
    array['stop'].reshape(-1)[:] = [6, 10]
    array['indices'] = [h5py.Reference(), h5py.Reference() if reference is None else reference]
    array['available'].reshape(-1)[:] = [True, reference is not None]
    array['comment'] = b'.'
    return array


@pytest.mark.parametrize('subarray', [False, True])
@pytest.mark.parametrize('names', [bytes, str])
@pytest.mark.parametrize('refer', [False, True])
def test_every_layout_that_was_ever_written_is_read(tmp_path, subarray, names, refer):
    with h5py.File(tmp_path / 'old.hdf5', 'w') as h5file:
        h5file['rows'] = numpy.arange(6, 10)
        reference = h5file['rows'].ref if refer else None
        h5file.attrs['split'] = old_layout(subarray, names, reference)
    with h5py.File(tmp_path / 'old.hdf5', 'r') as h5file:
        train, test = read_splits(h5file)
        assert (train.split, train.source, train.start, train.stop) == ('train', 'x', 0, 6)
        assert type(train.start) is int
        assert train.indices is None
        assert (train.available, test.available) == (True, refer)
        assert (test.start, test.stop) == (6, 10)
        if refer:
            assert h5file[test.indices].name == '/rows'


def test_names_that_old_writers_cut_within_a_letter_are_read(tmp_path):
    array = create_split_array({'größe': {'x': (0, 1)}}).copy()
    cut = array.astype([(name, 'S3' if name == 'split' else array.dtype[name])
                        for name in FIELDS])
    entry, = stored(tmp_path, cut)
    assert entry.split.startswith('gr')


def test_a_file_without_splits_says_what_to_do(tmp_path):
    with h5py.File(tmp_path / 'none.hdf5', 'w') as h5file, pytest.raises(
            DataLayoutError, match=r'none\.hdf5.*create_split_array'):
        read_splits(h5file)


@pytest.mark.parametrize('value', [
    3, 'train', numpy.arange(4),
    numpy.zeros(2, dtype=[('split', 'S3'), ('source', 'S3'), ('start', '<i8')])])
def test_another_attribute_of_that_name_is_refused(tmp_path, value):
    with pytest.raises(DataLayoutError, match='without .*stop'):
        stored(tmp_path, value)


def test_names_come_in_the_order_of_the_file(tmp_path):
    with h5py.File(tmp_path / 'f.hdf5', 'w') as h5file:
        h5file.attrs['split'] = create_split_array(
            {'valid': {'y': (0, 1)}, 'train': {'x': (0, 1)}, 'all': {'x': (0, 1)}})
        assert get_all_splits(h5file) == ('valid', 'train', 'all')
        assert get_all_sources(h5file) == ('x', 'y')


def test_only_available_entries_are_chosen(tmp_path):
    entries = stored(tmp_path, create_split_array(
        {'train': {'x': (0, 2), 'y': (0, 2)}, 'test': {'x': (2, 3)}}))
    chosen = entries_of(entries, ('test', 'train'), 'f')
    assert {split: set(of_split) for split, of_split in chosen.items()} == {
        'test': {'x'}, 'train': {'x', 'y'}}
    assert get_provided_sources(chosen, 'f') == ('x',)


def test_an_unknown_split_is_told_from_those_there(tmp_path):
    entries = stored(tmp_path, create_split_array({'train': {'x': (0, 2)}, 'test': {'x': (2, 3)}}))
    with pytest.raises(ValueError, match="no split 'valid'.*'train', 'test'"):
        entries_of(entries, ('train', 'valid'), 'f')


def test_splits_without_a_common_source_are_refused(tmp_path):
    entries = stored(tmp_path, create_split_array({'a': {'x': (0, 2)}, 'b': {'y': (2, 3)}}))
    with pytest.raises(ValueError, match="no source in common: 'a' has 'x'; 'b' has 'y'"):
        get_provided_sources(entries_of(entries, ('a', 'b'), 'f'), 'f')


def test_a_pair_that_is_listed_twice_is_refused(tmp_path):
    array = create_split_array({'a': {'x': (0, 2)}})
    entries = stored(tmp_path, numpy.concatenate([array, array]))
    with pytest.raises(DataLayoutError, match='listed twice'):
        entries_of(entries, ('a',), 'f')
