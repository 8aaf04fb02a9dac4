from __future__ import annotations

import tracemalloc

import h5py
import numpy
import pytest

from fuel.converters import all_converters
from fuel.converters.base import MissingInputFiles, check_exists, fill_hdf5_file, progress_bar
from fuel.exceptions import MissingInputFiles as MissingInputFilesOfFuel
from fuel.storage.writing import rows as writing_rows


@pytest.fixture
def h5file(tmp_path):
    with h5py.File(tmp_path / 'x.hdf5', 'w') as h5file:
        yield h5file


def table(h5file):
    """Return the split attribute as a dict from (split, source) to (start, stop, comment)."""
    return {(row['split'].decode(), row['source'].decode()):
            (int(row['start']), int(row['stop']), row['comment'].decode())
            for row in h5file.attrs['split'] if row['available']}


def rows(*shape, start=0, dtype='int32'):
    return (numpy.arange(numpy.prod(shape)) + start).reshape(shape).astype(dtype)


def test_sources_are_written_one_after_the_other(h5file):
    train, test = rows(4, 2, 3), rows(3, 2, 3, start=100)
    targets = rows(4, 1, dtype='uint8')
    fill_hdf5_file(h5file, (('train', 'features', train), ('train', 'targets', targets, 'drawn'),
                            ('test', 'features', test)))
    assert numpy.array_equal(h5file['features'][...], numpy.concatenate([train, test]))
    assert numpy.array_equal(h5file['targets'][...], targets)
    assert h5file['features'].dtype == 'int32'
    assert h5file['targets'].dtype == 'uint8'
    assert h5file['features'].chunks is None
    assert table(h5file) == {('train', 'features'): (0, 4, '.'),
                             ('train', 'targets'): (0, 4, 'drawn'),
                             ('test', 'features'): (4, 7, '.')}


def test_splits_stand_in_the_order_given(tmp_path):
    names = ['valid', 'train', 'extra', 'test']
    contents = set()
    for number in range(2):
        path = tmp_path / f'{number}.hdf5'
        with h5py.File(path, 'w') as h5file:
            fill_hdf5_file(h5file, [(name, 'x', rows(2, start=number))
                                    for number, name in enumerate(names)])
            found = h5file.attrs['split']['split'].tolist()
            assert [name.decode() for name in found] == names
        contents.add(path.read_bytes())
    assert len(contents) == 1


def test_parts_of_one_split_and_source_are_joined(h5file):
    first, second, other = rows(2, 3), rows(4, 3, start=50), rows(1, 3, start=90)
    fill_hdf5_file(h5file, (('train', 'x', first, 'one'), ('test', 'x', other),
                            ('train', 'x', second, 'two')))
    assert table(h5file) == {('train', 'x'): (0, 6, 'one; two'), ('test', 'x'): (6, 7, '.')}
    assert numpy.array_equal(h5file['x'][...], numpy.concatenate([first, second, other]))


def test_rows_of_two_sources_belong_together_whatever_the_order_given(h5file):
    fill_hdf5_file(h5file, (('train', 'x', [0, 1]), ('test', 'x', [2, 3, 4]),
                            ('test', 'y', [2, 3, 4]), ('train', 'y', [0, 1])))
    assert numpy.array_equal(h5file['x'][...], h5file['y'][...])


def test_anything_that_can_be_sliced(h5file, tmp_path):
    content = rows(5, 2, dtype='float64')
    numpy.save(tmp_path / 'x.npy', content)
    with h5py.File(tmp_path / 'other.hdf5', 'w') as other:
        other['x'] = content
        fill_hdf5_file(h5file, (('a', 'x', numpy.load(tmp_path / 'x.npy', mmap_mode='r')),
                                ('b', 'x', other['x']), ('c', 'x', content.tolist())))
    assert numpy.array_equal(h5file['x'][...], numpy.concatenate([content] * 3))


def test_read_only_arrays_and_the_data_are_left_as_they_were(h5file):
    array = rows(3, 2)
    array.flags.writeable = False
    data = [['train', 'x', array]]
    fill_hdf5_file(h5file, data)
    assert data == [['train', 'x', array]]


def test_blocks_give_the_same_as_the_whole(h5file, monkeypatch):
    monkeypatch.setattr(writing_rows, 'BLOCK_BYTES', 100)
    parts = [rows(length, 3, start=7 * length) for length in (1, 17, 40, 0, 5)]
    fill_hdf5_file(h5file, [('train', 'x', part) for part in parts])
    assert numpy.array_equal(h5file['x'][...], numpy.concatenate(parts))


def test_no_whole_copy_in_memory(h5file):
    class Endless:
        """Rows that are made when they are asked for."""
        shape, dtype = (60_000, 1024), numpy.dtype('uint8')

        def __getitem__(self, request):
            return numpy.ones((request.stop - request.start, 1024), 'uint8')[
                :max(0, min(request.stop, 60_000) - request.start)]

    tracemalloc.start()
    try:
        fill_hdf5_file(h5file, [('a', 'x', Endless()), ('b', 'x', Endless())])
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert h5file['x'].shape == (120_000, 1024)
    assert peak < 50e6  # of 123 MB


def test_ragged_data_of_another_file(h5file, tmp_path):
    with h5py.File(tmp_path / 'other.hdf5', 'w') as other:
        ragged = other.create_dataset('x', (2,), dtype=h5py.vlen_dtype('uint8'))
        ragged[0], ragged[1] = [1, 2], [3]
        fill_hdf5_file(h5file, [('train', 'x', ragged)])
    assert [row.tolist() for row in h5file['x'][...]] == [[1, 2], [3]]


@pytest.mark.parametrize(('data', 'message'), [
    ([('train', 'x', rows(3)), ('train', 'y', rows(4))], 'x has 3, y has 4'),
    ([('train', 'x', rows(3)), ('test', 'x', rows(3, dtype='int64'))], 'expected dtype int32'),
    ([('train', 'x', rows(3, 2)), ('test', 'x', rows(3, 1))], r'shape \(2,\)'),
    ([('train', 'x', rows(3)), ('train', 'x', rows(3, 1))], r'shape \(\)'),
    ([('train', 'x', 3)], 'single value'),
    ([('train', 'x', ['a', 'b'])], 'string_dtype'),
    ([('train', 'x', numpy.array([[1], [2, 3]], dtype=object))], 'example 0: expected an array'),
    ([('train', 'x')], 'expected tuples'), ([('train', 'x', rows(1), '', '')], 'expected tuples'),
    ([(0, 'x', rows(1))], 'expected tuples'), ([], 'got none')])
def test_inconsistent_data_are_refused_before_anything_is_written(h5file, data, message):
    with pytest.raises(ValueError, match=message):
        fill_hdf5_file(h5file, data)
    assert not list(h5file)
    assert not list(h5file.attrs)


def test_name_that_is_taken(h5file):
    h5file['x'] = 1
    with pytest.raises(ValueError, match='already'):
        fill_hdf5_file(h5file, [('train', 'w', rows(2)), ('train', 'x', rows(2))])
    assert list(h5file) == ['x']


def test_check_exists(tmp_path):
    required = ['a.bin']

    @check_exists(required_files=required)
    def convert(directory, output_directory, number=1):
        """Convert something."""
        return directory, output_directory, number

    with pytest.raises(MissingInputFiles) as caught:
        convert(str(tmp_path), 'out')
    assert caught.value.filenames == ['a.bin']
    assert isinstance(caught.value, IOError)
    (tmp_path / 'a.bin').touch()
    assert convert(str(tmp_path), 'out', number=2) == (str(tmp_path), 'out', 2)
    assert convert(directory=str(tmp_path), output_directory='o') == (str(tmp_path), 'o', 1)
    required += ['b.bin', 'c.bin']  # a list that grows after the decoration
    (tmp_path / 'b.bin').mkdir()
    with pytest.raises(MissingInputFiles, match=r'b\.bin, c\.bin'):
        convert(str(tmp_path), 'out')
    assert convert.__name__ == 'convert'
    assert convert.__doc__ == 'Convert something.'


def test_old_names_are_here():
    assert MissingInputFiles is MissingInputFilesOfFuel
    with progress_bar('x', 2) as bar:
        bar.update(2)


def test_every_converter_fills_a_subparser():
    import argparse
    names = [name for name, _ in all_converters]
    assert len(set(names)) == len(names)
    for _, fill_subparser in all_converters:
        assert callable(fill_subparser(argparse.ArgumentParser()))
