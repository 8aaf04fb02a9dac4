# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# cython: cdivision=True
"""A window of a decoded picture, resized, with its channels put first, in one pass over it."""
cimport numpy as cnp
from libc.math cimport ceil, fabs, floor
from libc.stdlib cimport free, malloc

from fuel._kernels.reference.resize import checked_resize

cnp.import_array()

cdef extern from *:
    """
    #include <stdint.h>
    /* Plain loops with restrict, which compilers turn into vector instructions. */
    static void fuel_first_row(float *restrict sum, const uint8_t *restrict row, float weight,
                               long count) {
        for (long x = 0; x < count; x++) sum[x] = weight * (float)row[x];
    }
    static void fuel_add_row(float *restrict sum, const uint8_t *restrict row, float weight,
                             long count) {
        for (long x = 0; x < count; x++) sum[x] += weight * (float)row[x];
    }
    /* Sums start at a half, so that cutting off the fraction rounds. Where the number of taps is
       a constant, the compiler writes the inner loop out. */
    static inline void fuel_across(const float *restrict pixels, const int32_t *restrict starts,
                                   const float *restrict weights, const long taps, long width,
                                   const long channels, uint8_t *restrict out, long plane) {
        for (long x = 0; x < width; x++)
            for (long c = 0; c < channels; c++) {
                const float *pixel = pixels + channels * (long)starts[x] + c;
                float sum = 0.5f;
                for (long k = 0; k < taps; k++) sum += weights[x * taps + k] * pixel[k * channels];
                out[c * plane + x] = (uint8_t)(int)sum;
            }
    }
    static void fuel_columns(const float *pixels, const int32_t *starts, const float *weights,
                             long taps, long width, long channels, uint8_t *out, long plane) {
        if (channels == 3 && taps == 2)
            fuel_across(pixels, starts, weights, 2, width, 3, out, plane);
        else if (channels == 3 && taps == 3)
            fuel_across(pixels, starts, weights, 3, width, 3, out, plane);
        else if (channels == 3 && taps == 4)
            fuel_across(pixels, starts, weights, 4, width, 3, out, plane);
        else
            fuel_across(pixels, starts, weights, taps, width, channels, out, plane);
    }
    """
    void fuel_first_row(float *total, const cnp.uint8_t *row, float weight,
                        long count) noexcept nogil
    void fuel_add_row(float *total, const cnp.uint8_t *row, float weight,
                      long count) noexcept nogil
    void fuel_columns(const float *pixels, const cnp.int32_t *starts, const float *weights,
                      long taps, long width, long channels, cnp.uint8_t *out,
                      long plane) noexcept nogil


cdef double reach(Py_ssize_t size, Py_ssize_t wanted) noexcept nogil:
    """Return how far the pixels lie, at most, that go into one of the result."""
    cdef double scale = <double>size / wanted
    return scale if scale > 1 else 1.0


cdef Py_ssize_t taps_of(Py_ssize_t size, Py_ssize_t wanted) noexcept nogil:
    """Return how many pixels go into one of the result."""
    cdef Py_ssize_t taps = <Py_ssize_t>ceil(2 * reach(size, wanted))
    return taps if taps < size else size


cdef void fill_taps(Py_ssize_t size, Py_ssize_t wanted, Py_ssize_t taps, cnp.int32_t *starts,
                    float *weights) noexcept nogil:
    """Work out which pixels go into each one of the result, and with which weight.

    The weights are those of a triangle, as wide as the distance of two pixels of the result
    where that is more than one of the picture: then nothing of the picture is skipped.
    """
    cdef double scale = <double>size / wanted, width = reach(size, wanted)
    cdef double centre, total
    cdef Py_ssize_t i, k, first
    for i in range(wanted):
        centre = (i + 0.5) * scale
        first = <Py_ssize_t>floor(centre - width - 0.5) + 1
        if first < 0:
            first = 0
        if first > size - taps:
            first = size - taps
        total = 0
        for k in range(taps):
            total += weight_at(first + k, centre, width)
        for k in range(taps):
            weights[i * taps + k] = <float>(weight_at(first + k, centre, width) / total)
        starts[i] = <cnp.int32_t>first


cdef inline double weight_at(Py_ssize_t place, double centre, double width) noexcept nogil:
    cdef double weight = 1 - fabs(place + 0.5 - centre) / width
    return weight if weight > 0 else 0.0


cdef int resize(const cnp.uint8_t *corner, Py_ssize_t row, Py_ssize_t height, Py_ssize_t width,
                Py_ssize_t channels, cnp.uint8_t *out, Py_ssize_t out_height,
                Py_ssize_t out_width) noexcept nogil:
    """Return 0, or -1 where there is no memory."""
    cdef Py_ssize_t tall = taps_of(height, out_height), wide = taps_of(width, out_width)
    cdef Py_ssize_t line = width * channels, plane = out_height * out_width, y, k
    # All in one block, in pieces of four bytes each.
    cdef size_t pieces = out_height * (tall + 1) + out_width * (wide + 1) + line
    cdef float *tall_weights = <float *>malloc(4 * pieces)
    if tall_weights == NULL:
        return -1
    cdef float *wide_weights = tall_weights + out_height * tall
    cdef float *total = wide_weights + out_width * wide
    cdef cnp.int32_t *tops = <cnp.int32_t *>(total + line)
    cdef cnp.int32_t *lefts = tops + out_height
    cdef const cnp.uint8_t *source
    fill_taps(height, out_height, tall, tops, tall_weights)
    fill_taps(width, out_width, wide, lefts, wide_weights)
    for y in range(out_height):
        source = corner + tops[y] * row
        fuel_first_row(total, source, tall_weights[y * tall], line)
        for k in range(1, tall):
            if tall_weights[y * tall + k] != 0:
                fuel_add_row(total, source + k * row, tall_weights[y * tall + k], line)
        fuel_columns(total, lefts, wide_weights, wide, out_width, channels, out + y * out_width,
                     plane)
    free(tall_weights)
    return 0


def resize_window(image, box, out):
    """Resize a window of a picture; see `fuel._kernels.reference.resize`."""
    cdef cnp.ndarray source
    cdef Py_ssize_t top, left, height, width
    source, (top, left, height, width) = checked_resize(image, box, out)
    cdef cnp.ndarray target = out
    cdef Py_ssize_t row = cnp.PyArray_STRIDE(source, 0), channels = cnp.PyArray_DIM(source, 2)
    cdef Py_ssize_t out_height = cnp.PyArray_DIM(target, 1)
    cdef Py_ssize_t out_width = cnp.PyArray_DIM(target, 2)
    cdef const cnp.uint8_t *corner = (<const cnp.uint8_t *>cnp.PyArray_DATA(source) + top * row
                                      + left * channels)
    cdef cnp.uint8_t *first = <cnp.uint8_t *>cnp.PyArray_DATA(target)
    cdef int failed
    with nogil:
        failed = resize(corner, row, height, width, channels, first, out_height, out_width)
    if failed:
        raise MemoryError(f'no memory to resize a window of {height} x {width} pixels')
