# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
"""Windows of a batch of images, copied with one memcpy for each row of pixels."""
cimport numpy as cnp

from fuel._kernels.reference.crop import checked_windows
from fuel._kernels.reference.crop import window_batch_bchw as _window_slowly

cnp.import_array()

cdef extern from *:
    """
    #include <string.h>
    /* Copies rows of `size` bytes. A copy of known length is a few instructions, where a call of
       memcpy takes longer than the rows of small images do; and two blocks that may overlap
       cover every length from one to two of them. */
    #define FUEL_ROWS(copy) \
        for (; rows > 0; rows--, out += out_step, from += from_step) { copy; }
    #define FUEL_TWO(block) FUEL_ROWS( \
        memcpy(out, from, block); memcpy(out + size - block, from + size - block, block))
    static void fuel_copy_rows(char *out, ptrdiff_t out_step, const char *from,
                               ptrdiff_t from_step, ptrdiff_t rows, size_t size) {
        if (size > 128) FUEL_ROWS(memcpy(out, from, size))
        else if (size >= 64) FUEL_TWO(64)
        else if (size > 32) FUEL_TWO(32)
        else if (size == 32) FUEL_ROWS(memcpy(out, from, 32))
        else if (size >= 16) FUEL_TWO(16)
        else if (size >= 8) FUEL_TWO(8)
        else if (size >= 4) FUEL_TWO(4)
        else FUEL_ROWS(for (size_t x = 0; x < size; x++) out[x] = from[x])
    }
    """
    void fuel_copy_rows(char *out, Py_ssize_t out_step, const char *source, Py_ssize_t from_step,
                        Py_ssize_t rows, size_t size) noexcept nogil

# Copying less than this takes less time than another thread needs to take the lock.
cdef enum:
    WORTH_RELEASING = 16384


cdef struct Layout:
    # Where rows lie: steps in bytes from image to image, channel to channel and row to row.
    char *first
    Py_ssize_t image
    Py_ssize_t channel
    Py_ssize_t row


cdef Layout layout_of(cnp.ndarray array) noexcept:
    cdef Layout layout
    layout.first = cnp.PyArray_BYTES(array)
    layout.image = cnp.PyArray_STRIDE(array, 0)
    layout.channel = cnp.PyArray_STRIDE(array, 1)
    layout.row = cnp.PyArray_STRIDE(array, 2)
    return layout


cdef void copy_windows(Layout source, Layout out, const cnp.int64_t *tops,
                       const cnp.int64_t *lefts, Py_ssize_t images, Py_ssize_t channels,
                       Py_ssize_t rows, Py_ssize_t width, Py_ssize_t item) noexcept nogil:
    cdef Py_ssize_t i, c
    cdef const char *window
    for i in range(images):
        window = source.first + i * source.image + tops[i] * source.row + lefts[i] * item
        for c in range(channels):
            fuel_copy_rows(out.first + i * out.image + c * out.channel, out.row,
                           window + c * source.channel, source.row, rows, width)


cdef bint has_whole_rows(cnp.ndarray array) noexcept:
    """Tell whether the pixels of each row lie side by side."""
    return (cnp.PyArray_STRIDE(array, 3) == cnp.PyArray_ITEMSIZE(array)
            or cnp.PyArray_DIM(array, 3) == 1)


cdef bint is_right(cnp.ndarray offsets, Py_ssize_t count, Py_ssize_t slack) noexcept:
    """Tell whether offsets are int64, in one piece, and in range."""
    cdef Py_ssize_t i
    cdef const cnp.int64_t *values
    if (cnp.PyArray_NDIM(offsets) != 1 or cnp.PyArray_DIM(offsets, 0) != count
            or offsets.descr.kind != b'i' or cnp.PyArray_ITEMSIZE(offsets) != 8
            or not cnp.PyArray_ISCARRAY_RO(offsets)):
        return False
    values = <const cnp.int64_t *>cnp.PyArray_DATA(offsets)
    for i in range(count):
        if values[i] < 0 or values[i] > slack:
            return False
    return True


cdef bint are_right(batch, tops, lefts, out):
    """Tell whether arguments are right as they are; if not, Python code finds out why."""
    cdef cnp.ndarray source, target
    if not (isinstance(batch, cnp.ndarray) and isinstance(out, cnp.ndarray)
            and isinstance(tops, cnp.ndarray) and isinstance(lefts, cnp.ndarray)):
        return False
    source, target = batch, out
    if (cnp.PyArray_NDIM(source) != 4 or cnp.PyArray_NDIM(target) != 4
            or source.dtype is not target.dtype or not cnp.PyArray_ISWRITEABLE(target)
            or cnp.PyArray_DIM(source, 0) != cnp.PyArray_DIM(target, 0)
            or cnp.PyArray_DIM(source, 1) != cnp.PyArray_DIM(target, 1)):
        return False
    return (is_right(tops, cnp.PyArray_DIM(source, 0),
                     cnp.PyArray_DIM(source, 2) - cnp.PyArray_DIM(target, 2))
            and is_right(lefts, cnp.PyArray_DIM(source, 0),
                         cnp.PyArray_DIM(source, 3) - cnp.PyArray_DIM(target, 3)))


def window_batch_bchw(batch, height_offsets, width_offsets, out):
    """Copy a window of each image; see `fuel._kernels.reference.crop`."""
    if not are_right(batch, height_offsets, width_offsets, out):
        height_offsets, width_offsets = checked_windows(batch, height_offsets, width_offsets, out)
    cdef cnp.ndarray tops = height_offsets, lefts = width_offsets
    if (batch.dtype.hasobject or not has_whole_rows(batch) or not has_whole_rows(out)):
        _window_slowly(batch, tops, lefts, out)
        return
    cdef Layout source = layout_of(batch), target = layout_of(out)
    cdef Py_ssize_t images = cnp.PyArray_DIM(out, 0), channels = cnp.PyArray_DIM(out, 1)
    cdef Py_ssize_t rows = cnp.PyArray_DIM(out, 2), item = cnp.PyArray_ITEMSIZE(out)
    cdef Py_ssize_t width = cnp.PyArray_DIM(out, 3) * item
    cdef const cnp.int64_t *first_top = <const cnp.int64_t *>cnp.PyArray_DATA(tops)
    cdef const cnp.int64_t *first_left = <const cnp.int64_t *>cnp.PyArray_DATA(lefts)
    if images * channels * rows * width >= WORTH_RELEASING:
        with nogil:
            copy_windows(source, target, first_top, first_left, images, channels, rows, width,
                         item)
    else:
        copy_windows(source, target, first_top, first_left, images, channels, rows, width, item)
