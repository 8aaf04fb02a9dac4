"""Where chunks lie, compiled and in Python, against what HDF5 reads there."""
import h5py
import numpy
import pytest
from numpy.testing import assert_array_equal

from fuel._kernels import chunk_index
from fuel._kernels.reference.chunk_index import chunk_index as slow_chunk_index

BOTH = pytest.mark.parametrize('index', [chunk_index, slow_chunk_index])


def places(index, dataset):
    chunk = numpy.array(dataset.chunks, dtype=numpy.int64)
    grid = -(-numpy.array(dataset.shape, dtype=numpy.int64) // chunk)
    count = int(grid.prod())
    offsets, sizes = numpy.zeros(count, dtype=numpy.int64), numpy.zeros(count, dtype=numpy.int64)
    masks = numpy.full(count, 77, dtype=numpy.uint32)
    seen = index(dataset.id, chunk, grid, offsets, sizes, masks)
    return seen, offsets, sizes, masks, grid, chunk


@BOTH
@pytest.mark.parametrize('libver', ['earliest', 'latest'])
@pytest.mark.parametrize(('shape', 'chunks', 'maxshape'), [
    ((10, 4), (3, 4), None), ((10, 4), (3, 3), None), ((10, 4), (20, 4), (None, 4)),
    ((7,), (2,), (None,)), ((6, 5, 4), (2, 5, 3), (None, None, 4)), ((3, 2), (3, 2), None)])
def test_bytes_of_every_chunk_are_where_it_says(index, libver, shape, chunks, maxshape, tmp_path):
    path = tmp_path / 'chunks.hdf5'
    values = numpy.arange(numpy.prod(shape), dtype='<i4').reshape(shape)
    with h5py.File(path, 'w', libver=libver) as file:
        file.create_dataset('x', data=values, chunks=chunks, maxshape=maxshape, shuffle=True)
    content = path.read_bytes()
    with h5py.File(path, 'r') as file:
        dataset = file['x']
        seen, offsets, sizes, masks, grid, chunk = places(index, dataset)
        assert seen == len(offsets) == dataset.id.get_num_chunks()
        for number in range(seen):
            corner = numpy.array(numpy.unravel_index(number, grid)) * chunk
            mask, raw = dataset.id.read_direct_chunk(tuple(corner.tolist()))
            assert masks[number] == mask
            assert content[offsets[number]:offsets[number] + sizes[number]] == raw


@BOTH
def test_chunks_that_were_never_written_stay_0(index, tmp_path):
    with h5py.File(tmp_path / 'holes.hdf5', 'w') as file:
        dataset = file.create_dataset('x', (10, 3), dtype='u1', chunks=(2, 3))
        dataset[4:6] = 7
        file.flush()
        seen, offsets, sizes, masks, *_ = places(index, dataset)
        assert seen == 1
        assert_array_equal(numpy.flatnonzero(offsets), [2])
        assert sizes.tolist() == [0, 0, 6, 0, 0]
        assert masks.tolist() == [77, 77, 0, 77, 77]


@BOTH
def test_wrong_lengths_are_refused(index, tmp_path):
    with h5py.File(tmp_path / 'few.hdf5', 'w') as file:
        dataset = file.create_dataset('x', (10,), dtype='u1', chunks=(2,))
        two = numpy.zeros(2, dtype=numpy.int64)
        with pytest.raises(ValueError, match='expected 5 entries; got 2'):
            index(dataset.id, numpy.array([2]), numpy.array([5]), two, two,
                  numpy.zeros(2, dtype=numpy.uint32))


@BOTH
def test_numbers_that_wrap_around_are_refused(index, tmp_path):
    with h5py.File(tmp_path / 'many.hdf5', 'w') as file:
        dataset = file.create_dataset('x', (2 ** 62 + 1, 4), dtype='u1', chunks=(1, 1))
        dataset[10 ** 8] = 1
        four = numpy.zeros(4, dtype=numpy.int64)
        with pytest.raises(ValueError, match=f'expected {(2 ** 62 + 1) * 4} entries; got 4'):
            index(dataset.id, numpy.array([1, 1]), numpy.array([2 ** 62 + 1, 4]), four,
                  four.copy(), numpy.zeros(4, dtype=numpy.uint32))
