# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""A permutation that is computed place by place; see `fuel._kernels.reference.permute`."""
cimport numpy as cnp
from libc.stdint cimport int64_t, uint64_t

import numpy

cnp.import_array()

cdef enum:
    ROUNDS = 8
    # Computing fewer takes less time than another thread needs to take the lock.
    WORTH_RELEASING = 512


cdef inline uint64_t mixed(uint64_t number) noexcept nogil:
    """Mix the bits of a number: the last steps of the SplitMix64 generator."""
    number = (number ^ (number >> 30)) * <uint64_t>0xBF58476D1CE4E5B9
    number = (number ^ (number >> 27)) * <uint64_t>0x94D049BB133111EB
    return number ^ (number >> 31)


cdef Py_ssize_t permute(const int64_t *indices, int64_t *out, Py_ssize_t count, uint64_t n,
                        uint64_t key) noexcept nogil:
    """Compute the images; return the place of the first index out of range, or -1."""
    cdef uint64_t[ROUNDS] keys
    cdef uint64_t number, left, right, low_mask, high_mask
    cdef int bits = 2, low, high, turn
    cdef Py_ssize_t i
    while bits < 63 and <uint64_t>1 << bits < n:
        bits += 1
    low = bits // 2
    high = bits - low
    low_mask = (<uint64_t>1 << low) - 1
    high_mask = (<uint64_t>1 << high) - 1
    for turn in range(ROUNDS):
        keys[turn] = mixed(key + <uint64_t>(turn + 1) * <uint64_t>0x9E3779B97F4A7C15)
    for i in range(count):
        if indices[i] < 0 or <uint64_t>indices[i] >= n:
            return i
        number = <uint64_t>indices[i]
        while True:
            left = number >> low
            right = number & low_mask
            for turn in range(0, ROUNDS, 2):
                left ^= mixed(right + keys[turn]) & high_mask
                right ^= mixed(left + keys[turn + 1]) & low_mask
            number = left << low | right
            if number < n:
                break
        out[i] = <int64_t>number
    return -1


def permuted(cnp.ndarray indices not None, n, key):
    """Return where a permutation takes indices; see `fuel._kernels.reference.permute`."""
    cdef uint64_t length, secret
    cdef Py_ssize_t wrong, count
    if cnp.PyArray_NDIM(indices) != 1 or not (0 <= n < 2 ** 63 and 0 <= key < 2 ** 64):
        _check(indices, n, key)
    if cnp.PyArray_TYPE(indices) != cnp.NPY_INT64 or not cnp.PyArray_ISCARRAY_RO(indices):
        _check(indices, n, key)
        indices = numpy.ascontiguousarray(indices, numpy.int64)
        if not cnp.PyArray_ISCARRAY_RO(indices):
            indices = indices.copy()
    length, secret = n, key
    count = cnp.PyArray_DIM(indices, 0)
    cdef cnp.ndarray result = numpy.empty(count, numpy.int64)
    cdef const int64_t *given = <const int64_t *>cnp.PyArray_DATA(indices)
    cdef int64_t *out = <int64_t *>cnp.PyArray_DATA(result)
    if count >= WORTH_RELEASING:
        with nogil:
            wrong = permute(given, out, count, length, secret)
    else:
        wrong = permute(given, out, count, length, secret)
    if wrong >= 0:
        raise IndexError(f'index {given[wrong]} is out of range for {n} places')
    return result


from fuel._kernels.reference.permute import check as _check  # noqa: E402
