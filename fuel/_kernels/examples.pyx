# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Examples of variable length, each copied into an array of its own.

See `fuel._kernels.reference.examples`. What other kernels use stands in examples.pxd.
"""
cimport numpy as cnp
from cpython.ref cimport Py_INCREF, Py_XDECREF, PyObject
from libc.stdint cimport uint64_t, uintptr_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

from fuel._kernels.team cimport run_team

import numpy

cdef extern from * nogil:
    """
    #if defined(__GNUC__) || defined(__clang__)
    #define FUEL_PREFETCH(address) __builtin_prefetch((address), 0, 0)
    #define FUEL_LOAD_ADDRESS(place) __atomic_load_n((place), __ATOMIC_RELAXED)
    #else
    #define FUEL_PREFETCH(address) ((void)0)
    #define FUEL_LOAD_ADDRESS(place) (*(volatile const int64_t *)(place))
    #endif
    """
    void FUEL_PREFETCH(const void *address)
    cnp.int64_t FUEL_LOAD_ADDRESS(const cnp.int64_t *place)

cdef extern from "numpy/arrayobject.h":
    object PyArray_Empty(int axes, const cnp.npy_intp *dims, cnp.dtype dtype, int fortran)

cnp.import_array()

cdef enum:
    MAX_AXES = 64
    # Examples this far ahead are fetched into the cache while the present one is copied.
    AHEAD = 4
    CACHE_LINE = 64
    PREFETCHED_BYTES = 512
    # What one of several threads copies before it looks for more.
    PIECE_BYTES = 131072
    # Copying less than this takes less time than another thread needs to take the lock.
    WORTH_RELEASING = 16384


ctypedef struct Copying:
    const Example *examples
    Py_ssize_t count
    Py_ssize_t piece_bytes


cdef void copy_piece(void *arg, Py_ssize_t piece) noexcept nogil:
    """Copy some of the bytes that all examples have together."""
    cdef const Copying *work = <const Copying *>arg
    cdef const Example *examples = work.examples
    cdef Py_ssize_t first = piece * work.piece_bytes
    cdef Py_ssize_t last = first + work.piece_bytes
    cdef Py_ssize_t low = 0, high = work.count, middle, start, begin, stop, offset
    while low < high:
        middle = (low + high) // 2
        if examples[middle].end > first:
            high = middle
        else:
            low = middle + 1
    start = examples[low - 1].end if low else 0
    while low < work.count and start < last:
        if low + AHEAD < work.count:
            offset = 0
            while offset < PREFETCHED_BYTES:
                FUEL_PREFETCH(examples[low + AHEAD].source + offset)
                offset += CACHE_LINE
        begin = first if first > start else start
        stop = examples[low].end if examples[low].end < last else last
        if stop > begin:
            memcpy(examples[low].target + (begin - start), examples[low].source + (begin - start),
                   stop - begin)
        start = examples[low].end
        low += 1


cdef bint fills(const cnp.int64_t *shape, int axes, Py_ssize_t count,
                Py_ssize_t itemsize) noexcept nogil:
    """Tell whether so many values fill a shape, which an array can have."""
    cdef uint64_t size = 1, spread = itemsize, limit = <uint64_t>1 << 63
    cdef int axis
    for axis in range(axes):
        if shape[axis] < 0:
            return False
        if shape[axis] == 0:
            size = 0
        else:
            if <uint64_t>shape[axis] > (limit - 1) // spread:
                return False
            spread *= shape[axis]
            size *= shape[axis]
    return size == <uint64_t>count


cdef Py_ssize_t place_unfilled(const Example *examples, Py_ssize_t count,
                               const cnp.int64_t *shapes, int axes,
                               Py_ssize_t itemsize) noexcept nogil:
    """Return the place of the first example that does not fill its shape, or -1."""
    cdef Py_ssize_t i
    for i in range(count):
        if not fills(shapes + i * axes, axes, examples[i].count, itemsize):
            return i
    return -1


cdef cnp.ndarray new_arrays(Example *examples, Py_ssize_t count, cnp.dtype dtype,
                            const cnp.int64_t *shapes, int axes):
    """Return a fresh array for each example; what they say has been checked."""
    cdef cnp.ndarray result = numpy.empty(count, dtype=object)
    cdef PyObject **slots = <PyObject **>cnp.PyArray_DATA(result)
    cdef PyObject *before
    cdef object array
    cdef cnp.npy_intp dims[MAX_AXES]
    cdef Py_ssize_t i, total = 0, itemsize = cnp.PyDataType_ELSIZE(dtype)
    cdef int axis
    for i in range(count):
        if shapes == NULL:
            dims[0] = examples[i].count
        else:
            for axis in range(axes):
                dims[axis] = shapes[i * axes + axis]
        Py_INCREF(dtype)                # the call takes this reference
        array = PyArray_Empty(axes, dims, dtype, 0)
        examples[i].target = cnp.PyArray_BYTES(<cnp.ndarray>array)
        total += examples[i].count * itemsize
        examples[i].end = total
        Py_INCREF(array)
        before = slots[i]
        slots[i] = <PyObject *>array
        Py_XDECREF(before)
    return result


cdef void copy_all(const Example *pieces, Py_ssize_t count, int threads) noexcept:
    """Copy bytes to where they belong; `end` tells how many."""
    cdef Copying work
    cdef Py_ssize_t total = pieces[count - 1].end if count else 0
    work.examples = pieces
    work.count = count
    if total < WORTH_RELEASING:
        work.piece_bytes = total
        copy_piece(&work, 0)
        return
    with nogil:
        work.piece_bytes = total if threads <= 1 else PIECE_BYTES
        run_team(copy_piece, &work, (total + work.piece_bytes - 1) // work.piece_bytes, threads)


cdef Example *room_for(Py_ssize_t count) except NULL:
    cdef Example *examples = <Example *>malloc((count if count else 1) * sizeof(Example))
    if examples == NULL:
        raise MemoryError(f'no memory for the places of {count} examples')
    return examples


cdef cnp.ndarray checked_shapes(object shapes, Py_ssize_t count):
    """Return shapes in C order; any array of no columns if there are none."""
    if shapes is None:
        return numpy.empty((0, 0), numpy.int64)
    _check_shapes(shapes, count)
    return shapes if cnp.PyArray_ISCARRAY_RO(shapes) else numpy.array(shapes, order='C')


cdef Py_ssize_t set_ranges(Example *examples, const cnp.int64_t *starts, const cnp.int64_t *stops,
                           Py_ssize_t count, Py_ssize_t total, const unsigned char *values,
                           Py_ssize_t itemsize) noexcept nogil:
    """Return the place of the first range that is none, or -1."""
    cdef Py_ssize_t i
    for i in range(count):
        if starts[i] < 0 or stops[i] < starts[i] or stops[i] > total:
            return i
        examples[i].source = values + starts[i] * itemsize
        examples[i].count = stops[i] - starts[i]
    return -1


def range_arrays(cnp.ndarray values not None, cnp.ndarray starts not None,
                 cnp.ndarray stops not None, shapes=None, int threads=1):
    """Copy ranges of an array; see `fuel._kernels.reference.examples`."""
    cdef Py_ssize_t count = cnp.PyArray_SIZE(starts), itemsize = cnp.PyArray_ITEMSIZE(values)
    cdef cnp.dtype dtype = values.dtype
    if (cnp.PyArray_NDIM(values) != 1 or not cnp.PyArray_IS_C_CONTIGUOUS(values)
            or dtype.hasobject or not itemsize):
        return _ranges_slowly(values, starts, stops, shapes)
    _check_vector('starts', starts, count)
    _check_vector('stops', stops, count)
    if not cnp.PyArray_ISCARRAY_RO(starts):
        starts = numpy.array(starts, order='C')
    if not cnp.PyArray_ISCARRAY_RO(stops):
        stops = numpy.array(stops, order='C')
    cdef cnp.ndarray sizes = checked_shapes(shapes, count)
    cdef const cnp.int64_t *first_shape = NULL
    cdef int axes = 1
    if shapes is not None:
        first_shape = <const cnp.int64_t *>cnp.PyArray_DATA(sizes)
        axes = cnp.PyArray_DIM(sizes, 1)
    cdef Py_ssize_t wrong
    cdef cnp.ndarray result
    cdef Example *examples = room_for(count)
    try:
        wrong = set_ranges(examples, <const cnp.int64_t *>cnp.PyArray_DATA(starts),
                           <const cnp.int64_t *>cnp.PyArray_DATA(stops), count,
                           cnp.PyArray_DIM(values, 0),
                           <const unsigned char *>cnp.PyArray_DATA(values), itemsize)
        if wrong < 0 and shapes is not None:
            wrong = place_unfilled(examples, count, first_shape, axes, itemsize)
        if wrong >= 0:
            # The twin knows what to say.
            check_ranges(starts, stops, len(values), dtype, shapes)
        result = new_arrays(examples, count, dtype, first_shape, axes)
        copy_all(examples, count, threads)
        return result
    finally:
        free(examples)


cdef Py_ssize_t set_pieces(const Example *examples, Py_ssize_t count, const cnp.int64_t *starts,
                           const cnp.int64_t *addresses, Py_ssize_t values, Py_ssize_t itemsize,
                           unsigned char *used, Example *pieces, unsigned char *missing,
                           Py_ssize_t *n_missing) noexcept nogil:
    """Find what must be copied from which block; return how many pieces that are.

    Of an example that lacks a block nothing is copied. Without room for pieces they are counted.
    """
    cdef Py_ssize_t i, first, last, block, left, within, length, kept, total = 0, number = 0
    cdef cnp.int64_t address
    cdef char *target
    n_missing[0] = 0
    for i in range(count):
        left = examples[i].count
        if left == 0:
            continue
        first = starts[i] // values
        last = (starts[i] + left - 1) // values
        if pieces == NULL:
            number += last - first + 1
            continue
        within = starts[i] - first * values
        target = examples[i].target
        kept, length = number, total
        for block in range(first, last + 1):
            # It is looked at only once: another thread may throw the block out meanwhile.
            address = FUEL_LOAD_ADDRESS(addresses + block)
            if address == 0:
                break
            if used != NULL:
                used[block] = 1
            pieces[number].source = <const unsigned char *><uintptr_t>address + within * itemsize
            pieces[number].target = target
            within = values - within if values - within < left else left
            left -= within
            target += within * itemsize
            total += within * itemsize
            pieces[number].end = total
            within = 0
            number += 1
        if left:
            number, total = kept, length
            missing[i] = 1
            n_missing[0] += 1
    return number


def block_arrays(cnp.ndarray addresses not None, Py_ssize_t values, Py_ssize_t total,
                 cnp.ndarray starts not None, cnp.ndarray stops not None, dtype, shapes=None,
                 cnp.ndarray used=None, int threads=1):
    """Copy ranges of blocks; see `fuel._kernels.reference.examples`."""
    cdef Py_ssize_t count = cnp.PyArray_SIZE(starts), wrong, pieces, n_missing = 0
    cdef cnp.dtype of_values = numpy.dtype(dtype)
    cdef Py_ssize_t itemsize = cnp.PyDataType_ELSIZE(of_values)
    _check_blocks(addresses, values, total, of_values, used)
    _check_vector('starts', starts, count)
    _check_vector('stops', stops, count)
    if not cnp.PyArray_ISCARRAY_RO(starts):
        starts = numpy.array(starts, order='C')
    if not cnp.PyArray_ISCARRAY_RO(stops):
        stops = numpy.array(stops, order='C')
    cdef cnp.ndarray sizes = checked_shapes(shapes, count)
    cdef const cnp.int64_t *first_shape = NULL
    cdef const cnp.int64_t *first_start = <const cnp.int64_t *>cnp.PyArray_DATA(starts)
    cdef const cnp.int64_t *table = <const cnp.int64_t *>cnp.PyArray_DATA(addresses)
    cdef unsigned char *flags = NULL
    cdef int axes = 1
    if shapes is not None:
        first_shape = <const cnp.int64_t *>cnp.PyArray_DATA(sizes)
        axes = cnp.PyArray_DIM(sizes, 1)
    if used is not None:
        flags = <unsigned char *>cnp.PyArray_DATA(used)
    cdef cnp.ndarray result
    cdef cnp.ndarray missing = numpy.zeros(count, numpy.uint8)
    cdef unsigned char *lacking = <unsigned char *>cnp.PyArray_DATA(missing)
    cdef Example *copies = NULL
    cdef Example *examples = room_for(count)
    try:
        wrong = set_ranges(examples, first_start, <const cnp.int64_t *>cnp.PyArray_DATA(stops),
                           count, total, NULL, 0)
        if wrong < 0 and shapes is not None:
            wrong = place_unfilled(examples, count, first_shape, axes, itemsize)
        if wrong >= 0:
            # The twin knows what to say.
            check_ranges(starts, stops, total, of_values, shapes)
        result = new_arrays(examples, count, of_values, first_shape, axes)
        pieces = set_pieces(examples, count, first_start, table, values, itemsize, NULL, NULL,
                            NULL, &n_missing)
        copies = room_for(pieces)
        pieces = set_pieces(examples, count, first_start, table, values, itemsize, flags, copies,
                            lacking, &n_missing)
        copy_all(copies, pieces, threads)
        return result, numpy.flatnonzero(missing) if n_missing else None
    finally:
        free(copies)
        free(examples)


from fuel._kernels.reference.examples import (  # noqa: E402
    _check_blocks,
    _check_shapes,
    _check_vector,
    check_ranges,
)
from fuel._kernels.reference.examples import range_arrays as _ranges_slowly  # noqa: E402
