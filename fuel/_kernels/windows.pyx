# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Windows that slide along an array, copied with one memcpy each."""
cimport numpy as cnp
from libc.string cimport memcpy

import numpy

cnp.import_array()

cdef enum:
    # Copying less than this takes less time than another thread needs to take the lock.
    WORTH_RELEASING = 16384


cdef void copy(const char *source, char *out, Py_ssize_t row, Py_ssize_t count,
               Py_ssize_t size) noexcept nogil:
    """Copy windows of `size` bytes, each `row` bytes further on."""
    cdef Py_ssize_t i
    for i in range(count):
        memcpy(out + i * size, source + i * row, size)


def sliding_windows(cnp.ndarray source not None, Py_ssize_t start, Py_ssize_t count,
                    Py_ssize_t width):
    """Return windows into an array; see `fuel._kernels.reference.windows`."""
    cdef cnp.dtype dtype = source.dtype
    if (cnp.PyArray_NDIM(source) < 1 or start < 0 or count < 0 or width < 0
            or count and (width > cnp.PyArray_DIM(source, 0)
                          or start > cnp.PyArray_DIM(source, 0) - width
                          or count - 1 > cnp.PyArray_DIM(source, 0) - width - start)):
        _check(source, start, count, width)
    if dtype.hasobject or not cnp.PyArray_IS_C_CONTIGUOUS(source):
        return _copy_slowly(source, start, count, width)
    cdef cnp.ndarray result = numpy.empty(
        (count, width) if cnp.PyArray_NDIM(source) == 1
        else (count, width, *(<object>source).shape[1:]), dtype)
    if not count or not cnp.PyArray_SIZE(result):
        return result
    cdef Py_ssize_t row = cnp.PyArray_NBYTES(source) // cnp.PyArray_DIM(source, 0)
    cdef const char *first = cnp.PyArray_BYTES(source) + start * row
    cdef char *out = cnp.PyArray_BYTES(result)
    if cnp.PyArray_NBYTES(result) >= WORTH_RELEASING:
        with nogil:
            copy(first, out, row, count, width * row)
    else:
        copy(first, out, row, count, width * row)
    return result


from fuel._kernels.reference.windows import check as _check  # noqa: E402
from fuel._kernels.reference.windows import sliding_windows as _copy_slowly  # noqa: E402
