# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False
# distutils: extra_compile_args = -O3 -ffp-contract=off
"""Numbers scaled, shifted and cast in one pass, by channel, with or without a change of layout.

All is computed in float64 and rounded once. For integers of one byte the same numbers can mostly
be had out of float32 alone, twice as fast: scale and shift are taken apart into a coarse part,
whose products and sums are exact, and a fine one. As there are only 256 integers, this is tried
on all of them first, and done only where all come out right to the bit.
"""
cimport numpy as cnp
from libc.math cimport fabs, frexp, isfinite, ldexp, rint
from libc.stdint cimport uint8_t, uint16_t, uint32_t
from libc.string cimport memcmp

import numpy

cdef extern from * nogil:
    """
    #include <stdint.h>

    #if (defined(__GNUC__) || defined(__clang__)) && defined(__x86_64__)
    #define FUEL_AVX2 __attribute__((target("avx2")))
    #define FUEL_HAS_AVX2 __builtin_cpu_supports("avx2")
    #else
    #define FUEL_AVX2
    #define FUEL_HAS_AVX2 0
    #endif

    typedef float fuel_f4;
    typedef double fuel_f8;
    typedef uint8_t fuel_u1;
    typedef int8_t fuel_i1;
    typedef uint16_t fuel_u2;
    typedef int16_t fuel_i2;

    typedef struct {
        /* With one number to scale and to shift by. */
        void (*line)(const char *, char *, Py_ssize_t, double, double);
        /* With numbers that come again after a period. */
        void (*cycle)(const char *, char *, Py_ssize_t, const double *, const double *,
                      Py_ssize_t);
        /* In float32 alone: with coarse and fine scale, coarse and fine shift. */
        void (*quick)(const char *, char *, Py_ssize_t, const float *);
        /* Three interleaved channels of bytes taken apart. */
        void (*apart)(const uint8_t *, uint8_t *, uint8_t *, uint8_t *, Py_ssize_t);
    } fuel_loops;

    #define FUEL_LOOPS(IN, OUT, NAME, TARGET) \\
    TARGET static void fuel_line_##IN##_##OUT##NAME( \\
            const char *source, char *result, Py_ssize_t count, double scale, double shift) { \\
        const fuel_##IN *in = (const fuel_##IN *)source; \\
        fuel_##OUT *out = (fuel_##OUT *)result; \\
        for (Py_ssize_t i = 0; i < count; i++) \\
            out[i] = (fuel_##OUT)((double)in[i] * scale + shift); \\
    } \\
    TARGET static void fuel_cycle_##IN##_##OUT##NAME( \\
            const char *source, char *result, Py_ssize_t count, const double *scale, \\
            const double *shift, Py_ssize_t period) { \\
        const fuel_##IN *in = (const fuel_##IN *)source; \\
        fuel_##OUT *out = (fuel_##OUT *)result; \\
        for (; count > 0; count -= period, in += period, out += period) { \\
            Py_ssize_t some = count < period ? count : period; \\
            for (Py_ssize_t i = 0; i < some; i++) \\
                out[i] = (fuel_##OUT)((double)in[i] * scale[i] + shift[i]); \\
        } \\
    }
    #define FUEL_QUICK(IN, NAME, TARGET) \\
    TARGET static void fuel_quick_##IN##NAME( \\
            const char *source, char *result, Py_ssize_t count, const float *parts) { \\
        const fuel_##IN *in = (const fuel_##IN *)source; \\
        float *out = (float *)result; \\
        const float scale = parts[0], finer = parts[1], shift = parts[2], rest = parts[3]; \\
        for (Py_ssize_t i = 0; i < count; i++) { \\
            const float number = (float)(int)in[i]; \\
            out[i] = (number * scale + shift) + (number * finer + rest); \\
        } \\
    }
    #define FUEL_APART(NAME, TARGET) \\
    TARGET static void fuel_apart##NAME( \\
            const uint8_t *in, uint8_t *a, uint8_t *b, uint8_t *c, Py_ssize_t count) { \\
        for (Py_ssize_t i = 0; i < count; i++) { \\
            a[i] = in[3 * i]; b[i] = in[3 * i + 1]; c[i] = in[3 * i + 2]; \\
        } \\
    }
    #define FUEL_ALL(NAME, TARGET) \\
    FUEL_LOOPS(u1, f4, NAME, TARGET) FUEL_LOOPS(i1, f4, NAME, TARGET) \\
    FUEL_LOOPS(u2, f4, NAME, TARGET) FUEL_LOOPS(i2, f4, NAME, TARGET) \\
    FUEL_LOOPS(f4, f4, NAME, TARGET) FUEL_LOOPS(u1, f8, NAME, TARGET) \\
    FUEL_LOOPS(i1, f8, NAME, TARGET) FUEL_LOOPS(u2, f8, NAME, TARGET) \\
    FUEL_LOOPS(i2, f8, NAME, TARGET) FUEL_LOOPS(f4, f8, NAME, TARGET) \\
    FUEL_QUICK(u1, NAME, TARGET) FUEL_QUICK(i1, NAME, TARGET) FUEL_APART(NAME, TARGET) \\
    static int fuel_find##NAME(char kind, int size, int wide, fuel_loops *loops) { \\
        loops->quick = 0; loops->apart = fuel_apart##NAME; \\
        if (kind == 'u' && size == 1) FUEL_SET(u1, NAME) \\
        else if (kind == 'i' && size == 1) FUEL_SET(i1, NAME) \\
        else if (kind == 'u' && size == 2) FUEL_SET(u2, NAME) \\
        else if (kind == 'i' && size == 2) FUEL_SET(i2, NAME) \\
        else if (kind == 'f' && size == 4) FUEL_SET(f4, NAME) \\
        else return 0; \\
        if (size == 1 && !wide) \\
            loops->quick = kind == 'u' ? fuel_quick_u1##NAME : fuel_quick_i1##NAME; \\
        return 1; \\
    }
    #define FUEL_SET(IN, NAME) { \\
        loops->line = wide ? fuel_line_##IN##_f8##NAME : fuel_line_##IN##_f4##NAME; \\
        loops->cycle = wide ? fuel_cycle_##IN##_f8##NAME : fuel_cycle_##IN##_f4##NAME; }

    FUEL_ALL(_plain, )
    FUEL_ALL(_avx2, FUEL_AVX2)

    /* Fill in the loops for a dtype; return 0 if there are none. */
    static int fuel_find(char kind, int size, int wide, fuel_loops *loops) {
        return FUEL_HAS_AVX2 ? fuel_find_avx2(kind, size, wide, loops)
                             : fuel_find_plain(kind, size, wide, loops);
    }
    """
    ctypedef struct fuel_loops:
        void (*line)(const char *, char *, Py_ssize_t, double, double) noexcept nogil
        void (*cycle)(const char *, char *, Py_ssize_t, const double *, const double *,
                      Py_ssize_t) noexcept nogil
        void (*quick)(const char *, char *, Py_ssize_t, const float *) noexcept nogil
        void (*apart)(const uint8_t *, uint8_t *, uint8_t *, uint8_t *,
                      Py_ssize_t) noexcept nogil
    int fuel_find(char kind, int size, int wide, fuel_loops *loops)

cnp.import_array()

cdef enum:
    # Fewer numbers than this are computed before the quick way would have been tried.
    WORTH_TRYING = 2048
    # Writing less than this takes less time than another thread needs to take the lock.
    WORTH_RELEASING = 16384
    PIXELS = 1024  # taken apart at a time
    PERIOD = 1024  # at most, of numbers to scale by that come again

# Every integer of one byte, in the order of its bits.
cdef uint8_t[256] BYTES
cdef int _byte
for _byte in range(256):
    BYTES[_byte] = <uint8_t>_byte


cdef struct Channel:
    double scale
    double shift
    bint quick
    float[4] parts


cdef void try_quick(const fuel_loops *loops, Channel *channel) noexcept nogil:
    """Find out whether a channel can be computed in float32 with the same results."""
    cdef float[256] exact
    cdef float[256] result
    cdef int exponent, less
    cdef double unit = 0
    channel.quick = False
    if not (isfinite(channel.scale) and isfinite(channel.shift)):
        return
    loops.line(<const char *>BYTES, <char *>exact, 256, channel.scale, channel.shift)
    frexp(255 * fabs(channel.scale) + fabs(channel.shift), &exponent)
    for less in range(24, 27):
        if not -100 < exponent - less < 100:
            return
        # Sums of products of numbers that are multiples of this are exact.
        unit = ldexp(1, exponent - less)
        channel.parts[0] = <float>(rint(channel.scale / unit) * unit)
        channel.parts[1] = <float>(channel.scale - channel.parts[0])
        channel.parts[2] = <float>(rint(channel.shift / unit) * unit)
        channel.parts[3] = <float>(channel.shift - channel.parts[2])
        loops.quick(<const char *>BYTES, <char *>result, 256, channel.parts)
        if not memcmp(exact, result, sizeof(exact)):
            channel.quick = True
            return


cdef inline void run(const fuel_loops *loops, const char *source, char *out, Py_ssize_t count,
                     const Channel *channel) noexcept nogil:
    if channel.quick:
        loops.quick(source, out, count, channel.parts)
    else:
        loops.line(source, out, count, channel.scale, channel.shift)


cdef void in_planes(const fuel_loops *loops, const char *source, char *out, Py_ssize_t outer,
                    Py_ssize_t channels, Py_ssize_t inner, int size, int width,
                    const Channel *each) noexcept nogil:
    """Take (outer, channels, inner) to the same shape."""
    cdef Py_ssize_t place
    for place in range(outer * channels):
        run(loops, source + place * inner * size, out + place * inner * width, inner,
            &each[place % channels])


cdef void in_turn(const fuel_loops *loops, const char *source, char *out, Py_ssize_t count,
                  Py_ssize_t channels, const Channel *each) noexcept nogil:
    """Take (..., channels) to the same shape; there are at most PERIOD channels."""
    cdef double[PERIOD] scale
    cdef double[PERIOD] shift
    cdef Py_ssize_t i
    cdef Py_ssize_t period = PERIOD // channels * channels
    for i in range(period):
        scale[i] = each[i % channels].scale
        shift[i] = each[i % channels].shift
    loops.cycle(source, out, count, scale, shift, period)


cdef void to_planes(const fuel_loops *loops, const char *source, char *out, Py_ssize_t outer,
                    Py_ssize_t pixels, Py_ssize_t channels, int size, int width,
                    const Channel *each) noexcept nogil:
    """Take (outer, pixels, channels) to (outer, channels, pixels)."""
    cdef uint32_t[3 * PIXELS] apart
    cdef uint8_t *ones = <uint8_t *>apart
    cdef uint16_t *twos = <uint16_t *>apart
    cdef Py_ssize_t place, first, count, channel, i
    cdef const char *start
    for place in range(outer):
        first = 0
        while first < pixels:
            count = pixels - first if pixels - first < PIXELS else PIXELS
            start = source + (place * pixels + first) * channels * size
            if size == 1 and channels == 3:
                loops.apart(<const uint8_t *>start, ones, ones + PIXELS, ones + 2 * PIXELS, count)
            for channel in range(channels):
                if size == 1 and channels == 3:
                    ones = <uint8_t *>apart + channel * PIXELS
                elif size == 1:
                    for i in range(count):
                        ones[i] = (<const uint8_t *>start)[i * channels + channel]
                elif size == 2:
                    for i in range(count):
                        twos[i] = (<const uint16_t *>start)[i * channels + channel]
                else:
                    for i in range(count):
                        apart[i] = (<const uint32_t *>start)[i * channels + channel]
                run(loops, <const char *>ones,
                    out + ((place * channels + channel) * pixels + first) * width, count,
                    &each[channel])
            ones = <uint8_t *>apart
            first += count


cdef void compute(const fuel_loops *loops, const char *source, char *out, Py_ssize_t outer,
                  Py_ssize_t channels, Py_ssize_t inner, bint moves, int size, int width,
                  Channel *each) noexcept nogil:
    cdef Py_ssize_t channel
    # One number after another of each channel can be done only in float64.
    if loops.quick and outer * inner >= WORTH_TRYING and (moves or inner > 1 or channels == 1):
        for channel in range(channels):
            try_quick(loops, &each[channel])
    if moves:
        to_planes(loops, source, out, outer, inner, channels, size, width, each)
    elif inner == 1 and 1 < channels <= PERIOD:
        in_turn(loops, source, out, outer * channels, channels, each)
    else:
        in_planes(loops, source, out, outer, channels, inner, size, width, each)


def scale_cast(cnp.ndarray source not None, cnp.ndarray scale not None,
               cnp.ndarray shift not None, dtype, channel_axis=None, channel_to=None):
    """Return ``source * scale + shift`` cast; see `fuel._kernels.reference.scale_cast`."""
    cdef cnp.dtype target = numpy.dtype(dtype)
    cdef int axes = cnp.PyArray_NDIM(source)
    cdef fuel_loops loops
    _check(source, scale, shift, target, channel_axis, channel_to)
    cdef int size = cnp.PyArray_ITEMSIZE(source)
    cdef int width = target.itemsize
    cdef bint single = cnp.PyArray_DIM(scale, 0) == 1 and cnp.PyArray_DIM(shift, 0) == 1
    cdef char kind = source.descr.kind
    if kind == b'b':
        kind = b'u'  # a byte of 0 or 1
    if (target.byteorder == b'>' or width not in (4, 8)
            or not fuel_find(kind, size, width == 8, &loops)):
        return _compute_slowly(source, scale, shift, target, channel_axis, channel_to)
    cdef int axis = -1
    cdef int to = -1
    if channel_axis is not None:
        axis = channel_axis if channel_axis >= 0 else channel_axis + axes
        to = axis if channel_to is None else channel_to if channel_to >= 0 else channel_to + axes
    if to < axis < axes - 1 or to > axis:
        source = numpy.moveaxis(source, axis, to)
        axis = to
    # Native, aligned and in C order; mostly it is all that already.
    if not cnp.PyArray_ISCARRAY_RO(source):
        source = source.astype(source.dtype.newbyteorder('='), order='C')
    cdef Py_ssize_t outer = 1, channels = 1, inner = 1
    cdef int i
    shape = list((<object>source).shape)
    for i in range(axes):
        if single and to == axis:
            inner *= shape[i]
        elif i == axis:
            channels = shape[i]
        elif i < to:
            outer *= shape[i]
        else:
            inner *= shape[i]
    if axis >= 0:
        shape.insert(to, shape.pop(axis))
    cdef cnp.ndarray result = numpy.empty(shape, target)
    cdef cnp.ndarray table = numpy.empty(max(channels, 1) * sizeof(Channel), numpy.uint8)
    cdef Channel *each = <Channel *>cnp.PyArray_DATA(table)
    for i in range(channels):
        each[i].scale = (<double *>cnp.PyArray_GETPTR1(
            scale, i if cnp.PyArray_DIM(scale, 0) > 1 else 0))[0]
        each[i].shift = (<double *>cnp.PyArray_GETPTR1(
            shift, i if cnp.PyArray_DIM(shift, 0) > 1 else 0))[0]
        each[i].quick = False
    cdef const char *first = cnp.PyArray_BYTES(source)
    cdef char *out = cnp.PyArray_BYTES(result)
    cdef bint moves = to != axis
    if cnp.PyArray_NBYTES(result) >= WORTH_RELEASING:
        with nogil:
            compute(&loops, first, out, outer, channels, inner, moves, size, width, each)
    else:
        compute(&loops, first, out, outer, channels, inner, moves, size, width, each)
    return result


from fuel._kernels.reference.scale_cast import check as _check  # noqa: E402
from fuel._kernels.reference.scale_cast import scale_cast as _compute_slowly  # noqa: E402
