# cython: language_level=3, cdivision=True
"""Filters of HDF5 that are undone without any library.

All functions read ``size`` bytes at ``source`` and write at most ``room`` bytes at ``out``,
whatever the bytes are. They return how many they wrote, or one of the negative numbers below.
"""
from libc.stdint cimport uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

cdef enum:
    DAMAGED = -1        # these bytes are nothing that the filter could have written
    LONGER = -2         # there is more than fits
    NO_MEMORY = -3
    CHECKSUM = -4       # the checksum is not that of the bytes

cdef extern from * nogil:
    """
    #include <stdint.h>
    #include <stddef.h>
    /* The streams of bytes are read side by side, which compilers turn into vector code as long as
       the size of an item is a constant. */
    #define FUEL_UNSHUFFLE(SIZE) \\
    static void fuel_unshuffle##SIZE( \\
            const uint8_t *source, uint8_t *restrict out, size_t count) { \\
        for (size_t i = 0; i < count; i++) \\
            for (size_t j = 0; j < SIZE; j++) \\
                out[SIZE * i + j] = source[count * j + i]; \\
    }
    FUEL_UNSHUFFLE(2)
    FUEL_UNSHUFFLE(4)
    FUEL_UNSHUFFLE(8)
    /* The sums of Fletcher over at most 360 words, which keeps them from overflowing. */
    static inline void fuel_fletcher(const uint8_t *data, size_t words,
                                     uint32_t *first, uint32_t *second) {
        uint32_t a = *first, b = *second;
        for (size_t i = 0; i < words; i++) {
            a += (uint32_t)data[2 * i] << 8 | data[2 * i + 1];
            b += a;
        }
        *first = (a & 0xffff) + (a >> 16);
        *second = (b & 0xffff) + (b >> 16);
    }
    """
    void fuel_unshuffle2(const uint8_t *source, uint8_t *out, size_t count) noexcept
    void fuel_unshuffle4(const uint8_t *source, uint8_t *out, size_t count) noexcept
    void fuel_unshuffle8(const uint8_t *source, uint8_t *out, size_t count) noexcept
    void fuel_fletcher(const uint8_t *data, size_t words, uint32_t *first,
                       uint32_t *second) noexcept


# Memory that grows when more is wanted, and then holds nothing of what it held.
ctypedef struct scratch_t:
    uint8_t *bytes
    size_t room


cdef inline uint8_t *reserve(scratch_t *scratch, size_t room) noexcept nogil:
    """Return memory of at least this size, or NULL."""
    if scratch.room < room:
        free(scratch.bytes)
        scratch.bytes = <uint8_t *>malloc(room)
        scratch.room = room if scratch.bytes != NULL else 0
    return scratch.bytes


cdef inline uint32_t big_endian(const uint8_t *data) noexcept nogil:
    """Read four bytes, the highest first."""
    return (<uint32_t>data[0] << 24 | <uint32_t>data[1] << 16 | <uint32_t>data[2] << 8
            | <uint32_t>data[3])


cdef inline uint32_t little_endian(const uint8_t *data) noexcept nogil:
    """Read four bytes, the lowest first."""
    return (<uint32_t>data[3] << 24 | <uint32_t>data[2] << 16 | <uint32_t>data[1] << 8
            | <uint32_t>data[0])


cdef inline Py_ssize_t unshuffle(const uint8_t *source, size_t size, uint8_t *out, size_t room,
                                 size_t item) noexcept nogil:
    """Put together the bytes of items; those left over at the end were never apart."""
    cdef size_t count = size // item, start, end, i, j
    if size > room:
        return LONGER
    if item == 2:
        fuel_unshuffle2(source, out, count)
    elif item == 4:
        fuel_unshuffle4(source, out, count)
    elif item == 8:
        fuel_unshuffle8(source, out, count)
    else:
        # Some items at a time, so that what is written stays in the nearest cache.
        start = 0
        while start < count:
            end = start + 256 if count - start > 256 else count
            for j in range(item):
                for i in range(start, end):
                    out[i * item + j] = source[j * count + i]
            start = end
    memcpy(out + count * item, source + count * item, size - count * item)
    return <Py_ssize_t>size


cdef inline uint32_t fletcher32(const uint8_t *data, size_t size) noexcept nogil:
    """Return the checksum of HDF5: of Fletcher, over big-endian words."""
    cdef uint32_t first = 0, second = 0
    cdef size_t words = size // 2, some
    cdef uint8_t last[2]
    while words:
        some = words if words < 360 else 360
        fuel_fletcher(data, some, &first, &second)
        data += 2 * some
        words -= some
    if size % 2:
        last[0] = data[0]
        last[1] = 0
        fuel_fletcher(last, 1, &first, &second)
    first = (first & 0xffff) + (first >> 16)
    second = (second & 0xffff) + (second >> 16)
    return second << 16 | first


cdef inline Py_ssize_t unlzf(const uint8_t *source, size_t size, uint8_t *out,
                             size_t room) noexcept nogil:
    """Undo LZF: runs of bytes as they are, and repetitions of what came before."""
    cdef const uint8_t *end = source + size
    cdef size_t done = 0, length, back, control, i
    while source < end:
        control = source[0]
        source += 1
        if control < 32:
            length = control + 1
            if <size_t>(end - source) < length:
                return DAMAGED
            if room - done < length:
                return LONGER
            if end - source >= 32 and room - done >= 32:
                memcpy(out + done, source, 32)      # one fixed size is faster than the right one
            else:
                memcpy(out + done, source, length)
            source += length
        else:
            length = (control >> 5) + 2
            if length == 9:
                if source >= end:
                    return DAMAGED
                length += source[0]
                source += 1
            if source >= end:
                return DAMAGED
            back = ((control & 31) << 8) + source[0] + 1
            source += 1
            if back > done:
                return DAMAGED
            if room - done < length:
                return LONGER
            if back == 1:
                memset(out + done, out[done - 1], length)
            elif back >= 8 and room - done >= length + 8:
                i = 0
                while i < length:
                    memcpy(out + done + i, out + done + i - back, 8)
                    i += 8
            else:
                for i in range(length):
                    out[done + i] = out[done + i - back]
        done += length
    return <Py_ssize_t>done


cdef inline void unshuffle_bits(const uint8_t *source, uint8_t *out, size_t count,
                                size_t item) noexcept nogil:
    """Put together the bits of items, the number of which is a multiple of 8."""
    cdef size_t row = count // 8, i, j, k
    cdef uint64_t bits, swap
    for i in range(row):
        for j in range(item):
            bits = 0
            for k in range(8):
                bits |= <uint64_t>source[(8 * j + k) * row + i] << (8 * k)
            # A square of 8 x 8 bits is transposed: 1 x 1, 2 x 2 and 4 x 4 at a time.
            swap = (bits ^ (bits >> 7)) & <uint64_t>0x00aa00aa00aa00aa
            bits ^= swap ^ (swap << 7)
            swap = (bits ^ (bits >> 14)) & <uint64_t>0x0000cccc0000cccc
            bits ^= swap ^ (swap << 14)
            swap = (bits ^ (bits >> 28)) & <uint64_t>0x00000000f0f0f0f0
            bits ^= swap ^ (swap << 28)
            for k in range(8):
                out[(8 * i + k) * item + j] = <uint8_t>(bits >> (8 * k))
