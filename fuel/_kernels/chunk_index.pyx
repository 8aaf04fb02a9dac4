# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Where the chunks of an HDF5 data set lie; see `fuel._kernels.reference.chunk_index`."""
cimport numpy as cnp
from libc.stdint cimport int64_t, uint32_t, uint64_t, uintptr_t

import ctypes
import math

cnp.import_array()

# H5Dchunk_iter of HDF5 1.14 and later; the call-back gets the offset in elements.
ctypedef int (*chunk_op)(const uint64_t *offset, unsigned filter_mask, uint64_t address,
                         uint64_t size, void *data) noexcept nogil
ctypedef int (*chunk_iter)(int64_t dataset, int64_t transfer, chunk_op op,
                           void *data) noexcept nogil

cdef uintptr_t iterate = 0
cdef bint is_known = False


ctypedef struct Index:
    const int64_t *chunk
    const int64_t *grid
    int64_t *offsets
    int64_t *sizes
    uint32_t *masks
    int axes
    int64_t seen
    int64_t count


cdef int note_chunk(const uint64_t *offset, unsigned filter_mask, uint64_t address,
                    uint64_t size, void *data) noexcept nogil:
    """Enter one chunk; anything but 0 ends the walk."""
    cdef Index *index = <Index *>data
    cdef int64_t number = 0
    cdef uint64_t place
    cdef int axis
    for axis in range(index.axes):
        place = offset[axis] // <uint64_t>index.chunk[axis]
        if place >= <uint64_t>index.grid[axis] or offset[axis] % <uint64_t>index.chunk[axis]:
            return -1
        number = number * index.grid[axis] + <int64_t>place
    if number < 0 or number >= index.count or index.offsets[number]:
        return -1               # or two chunks for one place
    index.offsets[number] = <int64_t>address
    index.sizes[number] = <int64_t>size
    index.masks[number] = filter_mask
    index.seen += 1
    return 0


cdef uintptr_t address_of_iterate():
    """Return where the function of the HDF5 library that h5py uses is; 0 if it cannot be had."""
    global iterate, is_known
    if not is_known:
        import h5py
        if h5py.version.hdf5_version_tuple >= (1, 14, 0):
            try:
                # The library that a module is linked with is searched along with it.
                function = ctypes.CDLL(h5py.h5d.__file__).H5Dchunk_iter
                iterate = <uintptr_t>ctypes.cast(function, ctypes.c_void_p).value
            except (AttributeError, OSError):
                pass
        is_known = True
    return iterate


def chunk_index(dataset, cnp.ndarray chunk not None, cnp.ndarray grid not None,
                cnp.ndarray offsets not None, cnp.ndarray sizes not None,
                cnp.ndarray masks not None):
    """Fill in where chunks lie; see `fuel._kernels.reference.chunk_index`."""
    cdef Index index
    cdef int64_t identifier
    cdef int failed
    cdef uintptr_t function = address_of_iterate()
    if function == 0:
        return _chunk_index(dataset, chunk, grid, offsets, sizes, masks)
    for array in (chunk, grid, offsets, sizes):
        if array.dtype != 'int64' or not array.flags.c_contiguous or array.ndim != 1:
            raise TypeError('expected vectors of int64')
    if masks.dtype != 'uint32' or not masks.flags.c_contiguous or len(chunk) != len(grid):
        raise TypeError('expected masks of uint32, and as many axes of chunks as of the grid')
    total = math.prod(grid.tolist())            # numpy would wrap around
    if (chunk < 1).any() or not len(offsets) == len(sizes) == len(masks) == total:
        raise ValueError(f'expected {total} entries; got {len(offsets)}')
    index.count = total
    index.chunk = <const int64_t *>cnp.PyArray_DATA(chunk)
    index.grid = <const int64_t *>cnp.PyArray_DATA(grid)
    index.offsets = <int64_t *>cnp.PyArray_DATA(offsets)
    index.sizes = <int64_t *>cnp.PyArray_DATA(sizes)
    index.masks = <uint32_t *>cnp.PyArray_DATA(masks)
    index.axes = len(chunk)
    index.seen = 0
    identifier = dataset.id
    from h5py._objects import phil
    with phil:
        with nogil:
            failed = (<chunk_iter>function)(identifier, 0, note_chunk, &index)
    if failed < 0:
        raise OSError('the index of the chunks is damaged')
    return index.seen


from fuel._kernels.reference.chunk_index import chunk_index as _chunk_index  # noqa: E402
