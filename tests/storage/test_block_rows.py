"""Rows in the file's map: small ones in chunks, and that a map locks nothing."""
import h5py
import numpy
import pytest
from numpy.testing import assert_array_equal

from fuel.storage.handles import OpenFile
from fuel.storage.readers.reading import fixed_rows


@pytest.mark.parametrize('shape', [(), (1,), (3, 5), (600,)])
def test_slices_of_small_rows_in_chunks(tmp_path, shape):
    rows = numpy.random.default_rng(0).integers(0, 99, (107, *shape)).astype('int8')
    with h5py.File(tmp_path / 'small.hdf5', 'w') as file:
        dataset = file.create_dataset('x', rows.shape, 'int8', chunks=(10, *shape), fillvalue=9)
        dataset[:50], dataset[60:] = rows[:50], rows[60:]
        rows[50:60] = 9
    with h5py.File(tmp_path / 'small.hdf5', 'r') as file:
        opened = OpenFile(file, file.filename, None)
        reader = fixed_rows(file['x'], opened)
        assert reader.way == 'mapped'
        for start in (0, 1, 9, 10, 11, 55, 95, 101, 106):
            for stop in (start, start + 1, 20, 60, 99, 100, 107):
                for step in (1, 2, 10):
                    if start <= stop <= 107:
                        assert_array_equal(reader.read(slice(start, stop, step)),
                                           rows[start:stop:step])
        opened.forget()


def test_a_file_can_be_written_as_soon_as_it_is_closed(tmp_path):
    path = tmp_path / 'locked.hdf5'
    with h5py.File(path, 'w') as file:
        file['x'] = numpy.arange(10)
    with h5py.File(path, 'r') as file:
        opened = OpenFile(file, str(path), None)
        file_map = opened.file_map()
        reader = fixed_rows(file['x'], opened)
    with h5py.File(path, 'r+') as file:        # the map is still there
        file['y'] = 1
    assert reader.read(3) == 3
    assert file_map.size == file_map.array.size
    opened.forget()
