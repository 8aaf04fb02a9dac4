# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Rows gathered out of blocks that lie anywhere in memory; see `fuel._kernels.reference.blocks`."""
cimport cython
cimport numpy as cnp
from libc.stdint cimport int64_t, uintptr_t
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
    int64_t FUEL_LOAD_ADDRESS(const int64_t *place)

cnp.import_array()

ctypedef fused index_t:
    cnp.int32_t
    cnp.int64_t

cdef enum:
    # Rows this far ahead are fetched into the cache while the present one is copied.
    AHEAD = 3
    CACHE_LINE = 64
    PAGE = 4096
    PREFETCHED_BYTES = 512
    # What one thread copies before it looks for more, and what is worth a second thread.
    PIECE_BYTES = 32768
    # Copying less than this takes less time than another thread needs to take the lock.
    WORTH_RELEASING = 16384


ctypedef struct Run:
    int64_t column
    int64_t source
    int64_t target
    int64_t size


ctypedef struct Copying:
    const char **rows       # where each piece of each row begins; NULL where it is missing
    const int64_t *places   # which row of the output each is for; NULL: one after the other
    const Run *runs
    char *out
    Py_ssize_t count
    Py_ssize_t columns
    Py_ssize_t n_runs
    Py_ssize_t row_bytes
    Py_ssize_t rows_per_piece


cdef void copy_piece(void *arg, Py_ssize_t piece) noexcept nogil:
    """Copy some of the rows."""
    cdef const Copying *work = <const Copying *>arg
    cdef Py_ssize_t first = piece * work.rows_per_piece
    cdef Py_ssize_t last = first + work.rows_per_piece
    cdef Py_ssize_t i, k, offset, ahead
    cdef const char *source
    cdef char *target
    cdef const Run *run
    if last > work.count:
        last = work.count
    ahead = work.row_bytes if work.row_bytes < PREFETCHED_BYTES else PREFETCHED_BYTES
    for i in range(first, last):
        if work.columns == 1 and i + AHEAD < work.count:
            source = work.rows[i + AHEAD]
            if source != NULL:
                offset = 0
                while offset < ahead:
                    FUEL_PREFETCH(source + offset)
                    offset += CACHE_LINE
        if work.rows[i * work.columns] == NULL:
            continue
        target = work.out + (work.places[i] if work.places != NULL else i) * work.row_bytes
        if work.runs == NULL:
            memcpy(target, work.rows[i], work.row_bytes)
        else:
            for k in range(work.n_runs):
                run = work.runs + k
                memcpy(target + run.target, work.rows[i * work.columns + run.column] + run.source,
                       run.size)


cdef Py_ssize_t locate(const index_t *indices, Py_ssize_t count, Py_ssize_t rows,
                       const int64_t *addresses, unsigned char *used, Py_ssize_t rows_per_block,
                       Py_ssize_t columns, Py_ssize_t stride, const char **found,
                       Py_ssize_t *missing) noexcept nogil:
    """Find where the rows lie; return the place of an index out of range, or -1.

    A row that lacks a block is NULL throughout, and counted as missing.
    """
    cdef Py_ssize_t i, k, other, index, block, within
    cdef int64_t address
    cdef bint whole = rows_per_block >= rows and columns == 1
    missing[0] = 0
    for i in range(count):
        index = indices[i]
        if index < 0 or index >= rows:
            return i
        if whole:
            block = 0
            within = index * stride
        else:
            block = index // rows_per_block
            within = (index - block * rows_per_block) * stride
        for k in range(columns):
            address = FUEL_LOAD_ADDRESS(addresses + block * columns + k)
            if address == 0:
                missing[0] += 1
                for other in range(columns):
                    found[i * columns + other] = NULL
                break
            if used != NULL:
                used[block * columns + k] = 1
            found[i * columns + k] = <const char *><uintptr_t>address + within
    return -1


cdef list places_of_missing(const char **found, Py_ssize_t count, Py_ssize_t columns):
    cdef Py_ssize_t i
    return [i for i in range(count) if found[i * columns] == NULL]


@cython.auto_pickle(False)      # addresses mean nothing elsewhere
cdef class BlockTable:
    """Rows that lie in blocks anywhere in memory; see `fuel._kernels.reference.blocks`."""

    cdef readonly cnp.ndarray addresses
    cdef readonly cnp.ndarray used
    cdef cnp.ndarray runs
    cdef Py_ssize_t rows, rows_per_block, stride, columns
    cdef readonly Py_ssize_t row_bytes

    def __init__(self, cnp.ndarray addresses not None, Py_ssize_t rows, Py_ssize_t rows_per_block,
                 Py_ssize_t stride, Py_ssize_t row_bytes, cnp.ndarray runs=None,
                 cnp.ndarray used=None):
        if rows < 1 or rows_per_block < 1 or stride < 0 or row_bytes < 0:
            raise ValueError('expected at least one row, and one row in a block; got '
                             f'{rows} and {rows_per_block}')
        cdef Py_ssize_t blocks = -(-rows // rows_per_block)
        check_vector(addresses, 'addresses', 8, -1)
        self.columns = cnp.PyArray_SIZE(addresses) // blocks
        if self.columns < 1 or cnp.PyArray_SIZE(addresses) != blocks * self.columns:
            raise ValueError(f'expected the addresses of {blocks} blocks, or several for each; '
                             f'got {addresses.size}')
        if runs is not None:
            check_runs(runs, self.columns, row_bytes)
        elif self.columns != 1:
            raise ValueError('expected runs, for a row lies in several blocks')
        if used is not None:
            check_vector(used, 'used', 1, blocks * self.columns)
        self.addresses = addresses
        self.rows = rows
        self.rows_per_block = rows_per_block
        self.stride = stride
        self.row_bytes = row_bytes
        self.runs = runs
        self.used = used

    def gather(self, cnp.ndarray indices not None, cnp.ndarray out not None, int threads=1,
               cnp.ndarray places=None):
        """Copy rows; return the places in `indices` of those that are missing, or `None`."""
        cdef Py_ssize_t count = cnp.PyArray_SIZE(indices)
        cdef Py_ssize_t wrong, n_missing, out_rows
        cdef int width = cnp.PyArray_ITEMSIZE(indices)
        cdef Copying work
        check_vector(indices, 'indices', 4 if width == 4 else 8, -1)
        if (not cnp.PyArray_IS_C_CONTIGUOUS(out) or not cnp.PyArray_ISWRITEABLE(out)
                or cnp.PyArray_NDIM(out) < 1):
            raise TypeError('expected an output that can be written, in C order')
        out_rows = cnp.PyArray_DIM(out, 0)
        if cnp.PyArray_NBYTES(out) != out_rows * self.row_bytes:
            raise ValueError(f'expected an output with rows of {self.row_bytes} bytes; got '
                             f'{out.nbytes} bytes in {out_rows} rows')
        work.places = NULL
        if places is not None:
            check_vector(places, 'places', 8, count)
            work.places = <const int64_t *>cnp.PyArray_DATA(places)
            if count and (places.min() < 0 or places.max() >= out_rows):
                raise IndexError(f'a place is out of range for {out_rows} rows of output')
        elif out_rows != count:
            raise ValueError(f'expected {count} rows of output; got {out_rows}')
        if not count:
            return None
        work.runs = NULL
        work.n_runs = 1
        if self.runs is not None:
            work.runs = <const Run *>cnp.PyArray_DATA(self.runs)
            work.n_runs = cnp.PyArray_DIM(self.runs, 0)
        cdef unsigned char *flags = NULL
        if self.used is not None:
            flags = <unsigned char *>cnp.PyArray_DATA(self.used)
        work.out = cnp.PyArray_BYTES(out)
        work.count = count
        work.columns = self.columns
        work.row_bytes = self.row_bytes
        work.rows_per_piece = count
        if threads > 1:
            work.rows_per_piece = max(1, PIECE_BYTES // max(1, work.row_bytes))
        work.rows = <const char **>malloc(count * self.columns * sizeof(char *))
        if work.rows == NULL:
            raise MemoryError(f'no memory for the places of {count} rows')
        cdef const int64_t *table = <const int64_t *>cnp.PyArray_DATA(self.addresses)
        cdef void *chosen = cnp.PyArray_DATA(indices)
        cdef Py_ssize_t pieces = -(-count // work.rows_per_piece)
        try:
            if count * work.row_bytes < WORTH_RELEASING:
                wrong = self.locate_any(chosen, width, count, table, flags, work.rows, &n_missing)
                if wrong < 0:
                    run_team(copy_piece, &work, pieces, 1)
            else:
                with nogil:
                    wrong = self.locate_any(chosen, width, count, table, flags, work.rows,
                                            &n_missing)
                    if wrong < 0:
                        run_team(copy_piece, &work, pieces, threads)
            if wrong >= 0:
                raise IndexError(f'row {indices[wrong]} is out of range for {self.rows} rows')
            if not n_missing:
                return None
            return numpy.array(places_of_missing(work.rows, count, self.columns),
                               dtype=numpy.int64)
        finally:
            free(work.rows)

    cdef Py_ssize_t locate_any(self, void *chosen, int width, Py_ssize_t count,
                               const int64_t *table, unsigned char *flags, const char **found,
                               Py_ssize_t *n_missing) noexcept nogil:
        if width == 4:
            return locate[cnp.int32_t](<const cnp.int32_t *>chosen, count, self.rows, table, flags,
                                       self.rows_per_block, self.columns, self.stride, found,
                                       n_missing)
        return locate[cnp.int64_t](<const cnp.int64_t *>chosen, count, self.rows, table, flags,
                                   self.rows_per_block, self.columns, self.stride, found,
                                   n_missing)


ctypedef struct Plain:
    const char *source
    char *target
    Py_ssize_t size
    Py_ssize_t piece


cdef void copy_part(void *arg, Py_ssize_t number) noexcept nogil:
    """Copy one part of a stretch of memory."""
    cdef const Plain *work = <const Plain *>arg
    cdef Py_ssize_t first = number * work.piece
    memcpy(work.target + first, work.source + first, min(work.piece, work.size - first))


def copy_whole(cnp.ndarray source not None, int threads):
    """Return a copy of an array in one piece; see `fuel._kernels.reference.blocks`."""
    if not cnp.PyArray_IS_C_CONTIGUOUS(source) or source.dtype.hasobject:
        return source.copy()
    cdef cnp.ndarray result = numpy.empty((<object>source).shape, source.dtype)
    cdef Plain work
    work.source = cnp.PyArray_BYTES(source)
    work.target = cnp.PyArray_BYTES(result)
    work.size = cnp.PyArray_NBYTES(source)
    if not work.size:
        return result
    # Whole pages, and one part for each thread: long stretches are copied fastest.
    work.piece = work.size if threads < 2 else (work.size // threads + PAGE) // PAGE * PAGE
    with nogil:
        run_team(copy_part, &work, -(-work.size // work.piece), threads)
    return result


cdef check_vector(cnp.ndarray array, str name, Py_ssize_t width, Py_ssize_t length):
    if (array.ndim != 1 or array.dtype.kind not in 'iu' or cnp.PyArray_ITEMSIZE(array) != width
            or not cnp.PyArray_IS_C_CONTIGUOUS(array) or not cnp.PyArray_ISNOTSWAPPED(array)
            or not cnp.PyArray_ISALIGNED(array)
            or (length >= 0 and cnp.PyArray_SIZE(array) != length)):
        raise TypeError(f'expected {name} to be a vector of {width}-byte integers'
                        f'{"" if length < 0 else f" of length {length}"}; got {array.dtype} of '
                        f'shape {(<object>array).shape}')


cdef check_runs(cnp.ndarray runs, Py_ssize_t columns, Py_ssize_t row_bytes):
    if (runs.ndim != 2 or runs.shape[1] != 4 or runs.dtype != numpy.int64
            or not cnp.PyArray_IS_C_CONTIGUOUS(runs)):
        raise TypeError('expected runs to be int64 of shape (n, 4); got '
                        f'{runs.dtype} of shape {(<object>runs).shape}')
    table = numpy.asarray(runs)
    if ((table < 0).any() or (table[:, 0] >= columns).any()
            or (table[:, 2] + table[:, 3] > row_bytes).any()):
        raise ValueError('a run leaves its row')
