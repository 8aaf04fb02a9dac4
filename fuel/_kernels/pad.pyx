# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Sequences of unequal lengths made into one array, with a mask, in one pass."""
cimport numpy as cnp
from cpython.long cimport PyLong_CheckExact
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from libc.string cimport memcpy, memset

import numpy

cdef extern from "Python.h":
    long long PyLong_AsLongLongAndOverflow(object number, int *overflow) except? -1

cnp.import_array()

# Copying less than this takes less time than another thread needs to take the lock.
cdef enum:
    WORTH_RELEASING = 16384


cdef struct Row:
    const char *start
    Py_ssize_t length


cdef void copy_rows(const Row *rows, Py_ssize_t count, Py_ssize_t width, Py_ssize_t item,
                    const char *fill, char *out) noexcept nogil:
    """Copy the bytes of each row, and fill up behind them; zeros where `fill` is NULL."""
    cdef Py_ssize_t i, used, size = width * item
    for i in range(count):
        used = rows[i].length * item
        memcpy(out, rows[i].start, used)
        if fill == NULL:
            memset(out + used, 0, size - used)
        else:
            memcpy(out + used, fill, size - used)
        out += size


cdef void write_mask(const Row *rows, Py_ssize_t count, Py_ssize_t width, Py_ssize_t item,
                     const char *ones, char *out) noexcept nogil:
    cdef Py_ssize_t i, used, size = width * item
    for i in range(count):
        used = rows[i].length * item
        memcpy(out, ones, used)
        memset(out + used, 0, size - used)
        out += size


cdef bint is_plain(cnp.ndarray array) noexcept:
    """Tell whether the bytes of an array, in order, are those of its entries."""
    return cnp.PyArray_ISCARRAY_RO(array) and cnp.PyArray_NDIM(array) >= 1


cdef bint are_alike(cnp.ndarray array, cnp.ndarray other):
    """Tell whether two arrays have one dtype, and the same axes behind the first."""
    cdef int axis
    if cnp.PyArray_NDIM(array) != cnp.PyArray_NDIM(other):
        return False
    for axis in range(1, cnp.PyArray_NDIM(array)):
        if cnp.PyArray_DIM(array, axis) != cnp.PyArray_DIM(other, axis):
            return False
    if cnp.PyArray_DESCR(array) is cnp.PyArray_DESCR(other):
        return True
    return array.dtype == other.dtype


cdef object pad_arrays(tuple rows, object fill, object mask_dtype):
    """Pad arrays that are alike, or return `None`."""
    cdef Py_ssize_t count = len(rows), i, width = 0, item
    cdef cnp.ndarray first, array, dense, mask, ones, filling
    cdef int axis
    for i in range(count):
        if not cnp.PyArray_CheckExact(rows[i]):
            return None
    first = rows[0]
    if first.dtype.hasobject or not first.dtype.isnative:
        return None
    for i in range(count):
        array = <cnp.ndarray>rows[i]
        if not is_plain(array) or not are_alike(array, first):
            return None
        width = max(width, cnp.PyArray_DIM(array, 0))
    item = cnp.PyArray_ITEMSIZE(first)
    for axis in range(1, cnp.PyArray_NDIM(first)):
        item *= cnp.PyArray_DIM(first, axis)
    dense = numpy.empty((count, width, *(<object>first).shape[1:]), first.dtype)
    mask = numpy.empty((count, width), mask_dtype)
    ones = numpy.ones(width, mask_dtype)
    cdef const char *fill_bytes = NULL
    if fill is not None:
        filling = numpy.full((width, *(<object>first).shape[1:]), fill_item(fill, first.dtype))
        fill_bytes = cnp.PyArray_BYTES(filling)
    cdef Row *starts = <Row *>PyMem_Malloc(count * sizeof(Row))
    if starts == NULL:
        raise MemoryError()
    for i in range(count):
        array = <cnp.ndarray>rows[i]
        starts[i].start = cnp.PyArray_BYTES(array)
        starts[i].length = cnp.PyArray_DIM(array, 0)
    cdef Py_ssize_t mask_item = cnp.PyArray_ITEMSIZE(mask)
    cdef char *out = cnp.PyArray_BYTES(dense)
    cdef char *mask_out = cnp.PyArray_BYTES(mask)
    cdef const char *one_bytes = cnp.PyArray_BYTES(ones)
    if count * width * item >= WORTH_RELEASING:
        with nogil:
            copy_rows(starts, count, width, item, fill_bytes, out)
            write_mask(starts, count, width, mask_item, one_bytes, mask_out)
    else:
        copy_rows(starts, count, width, item, fill_bytes, out)
        write_mask(starts, count, width, mask_item, one_bytes, mask_out)
    PyMem_Free(starts)
    return dense, mask


cdef object pad_integers(tuple rows, object fill, object mask_dtype):
    """Pad lists of Python's integers, or return `None`."""
    cdef Py_ssize_t count = len(rows), i, j, length, width = 0
    cdef cnp.ndarray dense, mask, ones
    cdef list row
    cdef object number
    cdef int overflow = 0
    for i in range(count):
        if type(rows[i]) is not list:
            return None
        width = max(width, len(<list>rows[i]))
    if not width:
        return None
    dense = numpy.empty((count, width), numpy.int64)
    mask = numpy.empty((count, width), mask_dtype)
    ones = numpy.ones(width, mask_dtype)
    cdef cnp.int64_t *out = <cnp.int64_t *>cnp.PyArray_DATA(dense)
    cdef char *mask_out = cnp.PyArray_BYTES(mask)
    cdef const char *one_bytes = cnp.PyArray_BYTES(ones)
    cdef Py_ssize_t item = cnp.PyArray_ITEMSIZE(mask)
    for i in range(count):
        row = <list>rows[i]
        # Another thread may have changed it.
        length = min(len(row), width)
        for j in range(length):
            number = row[j]
            if not PyLong_CheckExact(number):
                return None
            out[j] = PyLong_AsLongLongAndOverflow(number, &overflow)
            if overflow:
                return None
        memset(out + length, 0, (width - length) * sizeof(cnp.int64_t))
        memcpy(mask_out, one_bytes, length * item)
        memset(mask_out + length * item, 0, (width - length) * item)
        out += width
        mask_out += width * item
    # Only now is it certain that the result is of this dtype.
    cdef cnp.int64_t filler
    if fill is not None:
        filler = fill_item(fill, numpy.int64)
        out = <cnp.int64_t *>cnp.PyArray_DATA(dense)
        for i in range(count):
            for j in range(min(len(<list>rows[i]), width), width):
                out[i * width + j] = filler
    return dense, mask


def pad_rows(rows not None, fill, mask_dtype):
    """Return sequences as one array, and a mask; see `fuel._kernels.reference.pad`."""
    # A tuple keeps the rows alive while the lock is released.
    cdef tuple kept = tuple(rows)
    cdef object dtype = numpy.dtype(mask_dtype)
    cdef object padded = None
    if len(kept) and not dtype.hasobject:
        if type(kept[0]) is list:
            padded = pad_integers(kept, fill, dtype)
        else:
            padded = pad_arrays(kept, fill, dtype)
    return _pad_slowly(kept, fill, dtype) if padded is None else padded


from fuel._kernels.reference.pad import fill_item  # noqa: E402
from fuel._kernels.reference.pad import pad_rows as _pad_slowly  # noqa: E402
