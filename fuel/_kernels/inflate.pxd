# cython: language_level=3, cdivision=True
"""Filters of HDF5 that are undone by functions of libraries, which are called by address.

The functions here return as those of `unfilter` do. They pass on only what has been checked to lie
within the bytes given.
"""
from libc.stdint cimport uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from fuel._kernels.unfilter cimport (
    DAMAGED, LONGER, NO_MEMORY, big_endian, little_endian, unshuffle_bits)

# The largest size that functions take which count in an int.
cdef enum:
    LARGEST_INT = 0x7fffffff

ctypedef int (*libdeflate_t)(void *state, const void *source, size_t size, void *out, size_t room,
                             size_t *done) noexcept nogil
ctypedef int (*uncompress_t)(void *out, unsigned long *room, const void *source,
                             unsigned long size) noexcept nogil
ctypedef size_t (*zstd_t)(void *state, void *out, size_t room, const void *source,
                          size_t size) noexcept nogil
ctypedef int (*lz4_t)(const char *source, char *out, int size, int room) noexcept nogil
ctypedef int (*blosc_t)(const void *source, void *out, size_t room, int threads) noexcept nogil


cdef inline Py_ssize_t inflate_fast(void *function, void *state, const uint8_t *source,
                                    size_t size, uint8_t *out, size_t room) noexcept nogil:
    """Undo deflate with libdeflate."""
    cdef size_t done = 0
    cdef int result = (<libdeflate_t>function)(state, source, size, out, room, &done)
    if result == 0:
        return <Py_ssize_t>done
    return LONGER if result == 3 else DAMAGED


cdef inline Py_ssize_t inflate(void *function, const uint8_t *source, size_t size, uint8_t *out,
                               size_t room) noexcept nogil:
    """Undo deflate with zlib."""
    cdef unsigned long done = room
    cdef int result = (<uncompress_t>function)(out, &done, source, size)
    if result == 0:
        return <Py_ssize_t>done
    if result == -4:
        return NO_MEMORY
    # Z_BUF_ERROR: what it wrote tells a full buffer from a stream without an end.
    return LONGER if result == -5 and done >= room else DAMAGED


cdef inline Py_ssize_t unzstd(void *function, void *state, const uint8_t *source, size_t size,
                              uint8_t *out, size_t room) noexcept nogil:
    """Undo Zstandard."""
    cdef size_t done = (<zstd_t>function)(state, out, room, source, size)
    if done <= room:
        return <Py_ssize_t>done
    # Errors are small negative numbers; 70 stands for a buffer that is too small.
    return LONGER if done == <size_t>0 - 70 else DAMAGED


cdef inline Py_ssize_t unpack_block(void *function, void *state, const uint8_t *source,
                                    size_t size, uint8_t *out, size_t wanted) noexcept nogil:
    """Undo a block of LZ4, or of Zstandard if there is a state, of which the length is known."""
    cdef Py_ssize_t done
    if size > LARGEST_INT or wanted > LARGEST_INT:
        return DAMAGED
    if state != NULL:
        done = unzstd(function, state, source, size, out, wanted)
    else:
        done = (<lz4_t>function)(<const char *>source, <char *>out, <int>size, <int>wanted)
    return done if done == <Py_ssize_t>wanted else DAMAGED


cdef inline Py_ssize_t unlz4(void *function, const uint8_t *source, size_t size, uint8_t *out,
                             size_t room) noexcept nogil:
    """Undo the filter LZ4: a length, and blocks that are stored as they are if that is shorter."""
    cdef uint64_t total
    cdef size_t block, done = 0, packed
    if size < 12:
        return DAMAGED
    total = <uint64_t>big_endian(source) << 32 | big_endian(source + 4)
    block = big_endian(source + 8)
    if total > room:
        return LONGER
    source += 12
    size -= 12
    while done < total:
        if block > total - done:
            block = total - done
        if size < 4 or block == 0:
            return DAMAGED
        packed = big_endian(source)
        source += 4
        size -= 4
        if packed > size:
            return DAMAGED
        if packed == block:
            memcpy(out + done, source, block)
        elif unpack_block(function, NULL, source, packed, out + done, block) < 0:
            return DAMAGED
        source += packed
        size -= packed
        done += block
    return <Py_ssize_t>done


cdef inline Py_ssize_t unblosc(void *function, const uint8_t *source, size_t size, uint8_t *out,
                               size_t room) noexcept nogil:
    """Undo Blosc. The library takes the number of bytes it may read from the bytes themselves."""
    cdef size_t total, packed
    cdef int done
    if size < 16:
        return DAMAGED
    total = little_endian(source + 4)
    packed = little_endian(source + 12)
    if packed < 16 or packed > size or total > LARGEST_INT or source[3] == 0:
        return DAMAGED
    if total > room:
        return LONGER
    done = (<blosc_t>function)(source, out, total, 1)
    return done if done == <Py_ssize_t>total else DAMAGED


cdef inline Py_ssize_t unbitshuffle(void *function, void *state, const uint8_t *source, size_t size,
                                    uint8_t *out, size_t room, uint8_t *scratch, size_t item,
                                    size_t block) noexcept nogil:
    """Undo bitshuffle: blocks of items with their bits apart, compressed if there is a function.

    ``block`` is a number of items; compressed bytes begin with a length and a size of their own.
    ``scratch`` has as much room as ``out``.
    """
    cdef uint64_t total = size
    cdef size_t done = 0, packed, some, bytes_of_block
    if function != NULL:
        if size < 12:
            return DAMAGED
        total = <uint64_t>big_endian(source) << 32 | big_endian(source + 4)
        block = big_endian(source + 8) // item
        source += 12
        size -= 12
        if block == 0:
            return DAMAGED
    if block % 8:
        return DAMAGED
    if total > room:
        return LONGER
    while True:
        some = (total - done) // item
        some = block if some > block else some // 8 * 8
        bytes_of_block = some * item
        if some == 0:
            break
        if function == NULL:
            unshuffle_bits(source, out + done, some, item)
            packed = bytes_of_block
        else:
            if size < 4:
                return DAMAGED
            packed = big_endian(source)
            source += 4
            size -= 4
            if packed > size or unpack_block(function, state, source, packed, scratch,
                                             bytes_of_block) < 0:
                return DAMAGED
            unshuffle_bits(scratch, out + done, some, item)
        source += packed
        size -= packed
        done += bytes_of_block
    # Fewer than 8 items are left, and stand as they are.
    if size < total - done:
        return DAMAGED
    memcpy(out + done, source, total - done)
    return <Py_ssize_t>total
