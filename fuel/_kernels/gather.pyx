# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Rows of an array, gathered with one memcpy each."""
cimport numpy as cnp
from libc.string cimport memcpy

import numpy

cdef extern from * nogil:
    """
    #if defined(__GNUC__) || defined(__clang__)
    #define FUEL_PREFETCH(address) __builtin_prefetch((address), 0, 0)
    #else
    #define FUEL_PREFETCH(address) ((void)0)
    #endif
    """
    void FUEL_PREFETCH(const void *address)

cnp.import_array()

ctypedef fused index_t:
    cnp.int32_t
    cnp.int64_t

ctypedef fused item_t:
    cnp.uint8_t
    cnp.uint16_t
    cnp.uint32_t
    cnp.uint64_t

# Rows this far ahead are fetched into the cache while the present one is copied: the processor
# guesses the next address of a walk in order, but not of a shuffled one.
cdef enum:
    AHEAD = 4
    CACHE_LINE = 64
    PREFETCHED_BYTES = 1024
    # Copying less than this takes less time than another thread needs to take the lock.
    WORTH_RELEASING = 16384


cdef Py_ssize_t first_outside(const index_t *indices, Py_ssize_t count,
                              Py_ssize_t rows) noexcept nogil:
    """Return the place of the first index out of range, or -1."""
    cdef Py_ssize_t i
    for i in range(count):
        if indices[i] < 0 or indices[i] >= rows:
            return i
    return -1


cdef void copy_items(const char *source, Py_ssize_t stride, const index_t *indices,
                     Py_ssize_t count, item_t *out) noexcept nogil:
    """Copy rows that are a single number."""
    cdef Py_ssize_t i
    for i in range(count):
        out[i] = (<const item_t *>(source + indices[i] * stride))[0]


cdef void copy_rows(const char *source, Py_ssize_t stride, const index_t *indices,
                    Py_ssize_t count, Py_ssize_t size, char *out) noexcept nogil:
    """Copy rows of `size` bytes each."""
    cdef Py_ssize_t i, offset
    cdef Py_ssize_t ahead = size if size < PREFETCHED_BYTES else PREFETCHED_BYTES
    cdef const char *coming
    for i in range(count):
        if i + AHEAD < count:
            coming = source + indices[i + AHEAD] * stride
            offset = 0
            while offset < ahead:
                FUEL_PREFETCH(coming + offset)
                offset += CACHE_LINE
        memcpy(out + i * size, source + indices[i] * stride, size)


cdef void copy_any(const char *source, Py_ssize_t stride, const index_t *indices,
                   Py_ssize_t count, Py_ssize_t size, char *out) noexcept nogil:
    cdef bint aligned = ((<size_t>source | <size_t>stride) % size) == 0 if size else False
    if aligned and size == 1:
        copy_items[index_t, cnp.uint8_t](source, stride, indices, count, <cnp.uint8_t *>out)
    elif aligned and size == 2:
        copy_items[index_t, cnp.uint16_t](source, stride, indices, count, <cnp.uint16_t *>out)
    elif aligned and size == 4:
        copy_items[index_t, cnp.uint32_t](source, stride, indices, count, <cnp.uint32_t *>out)
    elif aligned and size == 8:
        copy_items[index_t, cnp.uint64_t](source, stride, indices, count, <cnp.uint64_t *>out)
    else:
        copy_rows(source, stride, indices, count, size, out)


cdef gather(cnp.ndarray source, const index_t *indices, Py_ssize_t count, Py_ssize_t size):
    cdef Py_ssize_t rows = cnp.PyArray_DIM(source, 0)
    cdef Py_ssize_t stride = cnp.PyArray_STRIDE(source, 0)
    cdef Py_ssize_t wrong = first_outside(indices, count, rows)
    if wrong >= 0:
        raise IndexError(f'row {indices[wrong]} is out of range for {rows} rows')
    cdef cnp.ndarray result = numpy.empty((count, *(<object>source).shape[1:]), source.dtype)
    cdef const char *first = cnp.PyArray_BYTES(source)
    cdef char *out = cnp.PyArray_BYTES(result)
    if count * size >= WORTH_RELEASING:
        with nogil:
            copy_any(first, stride, indices, count, size, out)
    else:
        copy_any(first, stride, indices, count, size, out)
    return result


cdef cnp.ndarray checked_indices(cnp.ndarray indices):
    """Return indices in one piece, after checking that they are a vector of integers."""
    cdef int kind = cnp.PyArray_TYPE(indices)
    if (cnp.PyArray_NDIM(indices) != 1
            or kind not in (cnp.NPY_INT, cnp.NPY_LONG, cnp.NPY_LONGLONG)
            or not cnp.PyArray_ISNOTSWAPPED(indices)):
        raise TypeError('expected a vector of int32 or int64 indices; got '
                        f'{indices.ndim} axes of {indices.dtype}')
    if not cnp.PyArray_IS_C_CONTIGUOUS(indices) or not cnp.PyArray_ISALIGNED(indices):
        indices = indices.copy()
    return indices


def gather_rows(cnp.ndarray source not None, cnp.ndarray indices not None):
    """Return chosen rows of an array; see `fuel._kernels.reference.gather`."""
    if cnp.PyArray_NDIM(source) < 1:
        raise TypeError('expected a source of at least one axis; got a scalar')
    indices = checked_indices(indices)
    cdef Py_ssize_t width = cnp.PyArray_ITEMSIZE(indices)
    # Rows must each lie in one piece, and hold no references that would have to be counted.
    cdef Py_ssize_t size = cnp.PyArray_ITEMSIZE(source)
    cdef int axis
    cdef bint whole = not source.dtype.hasobject
    for axis in range(cnp.PyArray_NDIM(source) - 1, 0, -1):
        if cnp.PyArray_DIM(source, axis) != 1 and cnp.PyArray_STRIDE(source, axis) != size:
            whole = False
        size *= cnp.PyArray_DIM(source, axis)
    cdef Py_ssize_t count = cnp.PyArray_DIM(indices, 0)
    if not whole:
        return _gather_slowly(source, indices)
    if width == 4:
        return gather[cnp.int32_t](source, <const cnp.int32_t *>cnp.PyArray_DATA(indices),
                                   count, size)
    return gather[cnp.int64_t](source, <const cnp.int64_t *>cnp.PyArray_DATA(indices),
                               count, size)


def first_outside_range(cnp.ndarray indices not None, Py_ssize_t rows):
    """Return the place of an index out of range, or -1; see `fuel._kernels.reference.gather`."""
    indices = checked_indices(indices)
    cdef Py_ssize_t count = cnp.PyArray_DIM(indices, 0)
    if cnp.PyArray_ITEMSIZE(indices) == 4:
        return first_outside(<const cnp.int32_t *>cnp.PyArray_DATA(indices), count, rows)
    return first_outside(<const cnp.int64_t *>cnp.PyArray_DATA(indices), count, rows)


from fuel._kernels.reference.gather import gather_rows as _gather_slowly  # noqa: E402
