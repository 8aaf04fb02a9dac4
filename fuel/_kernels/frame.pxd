# cython: language_level=3, cdivision=True
"""The filter Blosc2, which stores a frame around one compressed chunk, perhaps of several axes.

Only the chunk itself is given to the library; the frame is read here. Blosc2 can do much more than
HDF5 files make use of (files beside the frame, filters and codecs that are loaded at run time):
frames that ask for it count as damaged.
"""
from libc.stdint cimport int16_t, int32_t, uint8_t, uint32_t
from libc.string cimport memcmp, memcpy, memset

from fuel._kernels.unfilter cimport (
    DAMAGED, LONGER, NO_MEMORY, big_endian, little_endian, reserve, scratch_t)

cdef enum:
    AXES = 15           # of an array, at most
    FRAME = 87          # bytes of a frame before the list of its metadata
    HEADER = 32         # bytes of a chunk before its data

# How the library takes its settings: by value. The rest is room for settings to come.
ctypedef struct settings_t:
    int16_t threads
    void *frame
    void *filter
    void *of_filter
    int32_t item
    void *rest[8]

ctypedef void *(*blosc2_make_t)(settings_t) noexcept nogil
ctypedef int (*blosc2_t)(void *state, const void *source, int32_t size, void *out,
                         int32_t room) noexcept nogil

# A chunk of an array of several axes: blocks one after another, those at the ends filled up.
ctypedef struct blocks_t:
    int axes
    size_t chunk[AXES]
    size_t block[AXES]


cdef inline void *make_blosc2(void *function) noexcept nogil:
    cdef settings_t settings
    memset(&settings, 0, sizeof(settings))
    settings.threads = 1
    settings.item = 8
    return (<blosc2_make_t>function)(settings)


cdef inline bint read_blocks(const uint8_t *frame, size_t length, blocks_t *blocks) noexcept nogil:
    """Read the shapes of chunk and block from the head of a frame; return whether it is sound.

    A chunk of one axis, where no block is out of place, has 0 axes here.
    """
    cdef size_t at = FRAME + 7
    cdef int axis, axes
    blocks.axes = 0
    # A list of one entry: a map, with one name and the place where what it stands for begins.
    if length < FRAME + 7 or frame[FRAME] != 0x93 or frame[FRAME + 4] != 0xde:
        return False
    if frame[FRAME + 5] == 0 and frame[FRAME + 6] == 0:
        return True
    if (length < at + 10 or frame[FRAME + 5] != 0 or frame[FRAME + 6] != 1
            or memcmp(frame + at, b'\xa4b2nd\xd2', 6) != 0):
        return False
    at = big_endian(frame + at + 6)
    if at > length or length - at < 8 or frame[at] != 0xc6:
        return False
    axes = frame[at + 7]
    if axes < 1 or axes > AXES or length - at < 11 + <size_t>axes * 19:
        return False
    at += 8
    if frame[at] != 0x90 + axes:
        return False
    at += 1 + 9 * axes                  # over the shape: it is that of the chunk
    for axis in range(axes):
        blocks.chunk[axis] = big_endian(frame + at + 2 + 5 * axis)
        if big_endian(frame + at - 4 - 9 * (axes - 1 - axis)) != blocks.chunk[axis]:
            return False
    at += 1 + 5 * axes
    for axis in range(axes):
        blocks.block[axis] = big_endian(frame + at + 2 + 5 * axis)
        if blocks.block[axis] == 0 or blocks.block[axis] > blocks.chunk[axis]:
            return False
    blocks.axes = axes
    return True


cdef inline bint are_in_place(const blocks_t *blocks) noexcept nogil:
    """Tell whether the blocks, one after another, are the array already."""
    cdef int axis
    for axis in range(1, blocks.axes):
        if blocks.block[axis] != blocks.chunk[axis]:
            return False
    return blocks.axes == 0 or blocks.chunk[0] % blocks.block[0] == 0


cdef inline size_t filled_up(const blocks_t *blocks, size_t item) noexcept nogil:
    """Return how many bytes the blocks have."""
    cdef size_t total = item
    cdef int axis
    for axis in range(blocks.axes):
        total *= ((blocks.chunk[axis] + blocks.block[axis] - 1) // blocks.block[axis]
                  * blocks.block[axis])
    return total


cdef inline void arrange(const blocks_t *blocks, size_t item, const uint8_t *source,
                         uint8_t *out) noexcept nogil:
    """Write an array out of its blocks."""
    cdef size_t block[AXES]
    cdef size_t place[AXES]
    cdef size_t row = blocks.block[blocks.axes - 1], rows = 1, to, start, _row
    cdef int last = blocks.axes - 1, axis
    cdef bint inside
    memset(block, 0, sizeof(block))
    for axis in range(last):
        rows *= blocks.block[axis]
    while True:
        memset(place, 0, sizeof(place))
        for _row in range(rows):
            to = 0
            inside = True
            for axis in range(last):
                start = block[axis] * blocks.block[axis] + place[axis]
                inside = inside and start < blocks.chunk[axis]
                to = to * blocks.chunk[axis] + start
            if inside:
                start = block[last] * row
                to = to * blocks.chunk[last] + start
                if blocks.chunk[last] - start < row:
                    memcpy(out + to * item, source, (blocks.chunk[last] - start) * item)
                else:
                    memcpy(out + to * item, source, row * item)
            source += row * item
            axis = last - 1
            while axis >= 0:
                place[axis] += 1
                if place[axis] < blocks.block[axis]:
                    break
                place[axis] = 0
                axis -= 1
        axis = last
        while axis >= 0:
            block[axis] += 1
            if block[axis] * blocks.block[axis] < blocks.chunk[axis]:
                break
            block[axis] = 0
            axis -= 1
        if axis < 0:
            return


cdef inline bint is_plain(const uint8_t *chunk) noexcept nogil:
    """Tell whether a chunk asks for nothing but the codecs and filters that are always there."""
    cdef int i
    cdef uint8_t codec = chunk[2] >> 5
    if (chunk[2] & 5) != 5 or chunk[3] == 0 or chunk[30] or chunk[31] & 0x8e:
        return False                    # of an old form, or bytes of it lie elsewhere
    for i in range(16, 22):
        # Shuffled bytes or bits, differences, fewer digits; only the last has a parameter.
        if chunk[i] > 4 or (chunk[i] < 4 and chunk[i + 8]):
            return False
    return codec == 0 or codec == 1 or codec == 3 or codec == 4


cdef inline Py_ssize_t unblosc2(void *function, void *state, const uint8_t *source, size_t size,
                                uint8_t *out, size_t room, scratch_t *scratch) noexcept nogil:
    """Undo Blosc2."""
    cdef blocks_t blocks
    cdef size_t head, packed, total, filled, item
    cdef uint8_t *to = out
    cdef int axis
    cdef bint in_place
    if size < FRAME + HEADER or memcmp(source, b'\x9e\xa8b2frame\x00\xd2', 11) != 0:
        return DAMAGED
    head = big_endian(source + 11)
    if head > size - HEADER or source[26] & 15 or not read_blocks(source, head, &blocks):
        return DAMAGED
    total = big_endian(source + 34)
    packed = big_endian(source + 43)
    item = big_endian(source + 48)
    if packed == 0:
        # Nothing is stored but what all bytes are; in place of where the chunk is.
        if size - head < HEADER + 8 or source[head + HEADER + 7] != 0x81:
            return DAMAGED
        filled = total
    else:
        filled = little_endian(source + head + 4)
        if (packed < HEADER or packed > size - head or packed > 0x7fffffff
                or filled > 0x7fffffff or little_endian(source + head + 12) != packed
                or not is_plain(source + head)):
            return DAMAGED
        total = filled
    in_place = are_in_place(&blocks)
    if not in_place:
        total = item
        for axis in range(blocks.axes):
            if total and blocks.chunk[axis] > room // total:
                return LONGER
            total *= blocks.chunk[axis]
    if total > room:
        return LONGER
    if packed == 0:
        memset(out, 0, total)
        return <Py_ssize_t>total
    # Less than twice as long along each axis: neither this nor the product overflows.
    if not in_place and (filled_up(&blocks, item) != filled or filled == 0):
        return DAMAGED
    if not in_place or source[head + 3] == 12:
        # Blosc2 writes past the end of what it unshuffles where items have twelve bytes.
        to = reserve(scratch, filled + 16)
        if to == NULL:
            return NO_MEMORY
    if (<blosc2_t>function)(state, source + head, <int32_t>packed, to,
                            <int32_t>filled) != <int>filled:
        return DAMAGED
    if not in_place:
        arrange(&blocks, item, to, out)
    elif to != out:
        memcpy(out, to, filled)
    return <Py_ssize_t>total
