# cython: language_level=3
"""How kernels make an array of its own for each of many examples; see examples.pyx."""
cimport numpy as cnp

ctypedef struct Example:
    const unsigned char *source
    char *target
    Py_ssize_t count        # values
    Py_ssize_t end          # bytes of all examples up to and with this one

cdef Example *room_for(Py_ssize_t count) except NULL

cdef cnp.ndarray checked_shapes(object shapes, Py_ssize_t count)

cdef Py_ssize_t place_unfilled(const Example *examples, Py_ssize_t count,
                               const cnp.int64_t *shapes, int axes,
                               Py_ssize_t itemsize) noexcept nogil

cdef cnp.ndarray new_arrays(Example *examples, Py_ssize_t count, cnp.dtype dtype,
                            const cnp.int64_t *shapes, int axes)

cdef void copy_all(const Example *pieces, Py_ssize_t count, int threads) noexcept
