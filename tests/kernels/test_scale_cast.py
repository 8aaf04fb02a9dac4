"""The kernel that scales, shifts and casts, against its twin and against plain numpy."""
import hypothesis.extra.numpy as arrays
import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuel import _kernels
from fuel._kernels.reference import scale_cast as reference

KERNELS = [_kernels.scale_cast, reference.scale_cast]
DTYPES = ['u1', 'i1', 'u2', 'i2', 'f4', 'f8', 'f2', 'i4', 'u8', '?', '>i2', '>f4']

numbers = st.one_of(st.floats(-1e3, 1e3), st.sampled_from([0.0, -0.0, 1 / 255, 1.0, 1e300]))


def expected(source, scale, shift, dtype, axis=None, to=None):
    """All in float64, one channel after the other."""
    with numpy.errstate(all='ignore'):
        if axis is None:
            return (source.astype('f8') * scale[0] + shift[0]).astype(dtype)
        channels = source.shape[axis]
        planes = [source.take(place, axis=axis).astype('f8') * scale[place % len(scale)]
                  + shift[place % len(shift)] for place in range(channels)]
        axis = axis % source.ndim
        to = axis if to is None else to % source.ndim
        if not planes:
            shape = list(source.shape)
            shape.insert(to, shape.pop(axis))
            return numpy.empty(shape, dtype)
        return numpy.stack(planes, axis=to).astype(dtype)


def same(one, other):
    assert one.dtype == other.dtype
    assert one.shape == other.shape
    native = one.dtype.newbyteorder('=')
    one, other = one.astype(native), other.astype(native)
    # There are many bit patterns that are not a number.
    assert (numpy.isnan(one) == numpy.isnan(other)).all()
    assert numpy.nan_to_num(one).tobytes() == numpy.nan_to_num(other).tobytes()


@pytest.mark.parametrize('kernel', KERNELS)
@given(st.data())
def test_any_array(kernel, data):
    source = data.draw(arrays.arrays(data.draw(st.sampled_from(DTYPES)),
                                     arrays.array_shapes(min_dims=1, max_dims=4, min_side=0,
                                                         max_side=6)))
    layout = data.draw(st.sampled_from(['c', 'fortran', 'strided', 'transposed', 'backwards']))
    source = {'c': lambda: source, 'fortran': lambda: numpy.asfortranarray(source),
              'strided': lambda: numpy.repeat(source, 2, axis=-1)[..., ::2],
              'transposed': lambda: source.T, 'backwards': lambda: source[::-1]}[layout]()
    axis = data.draw(st.one_of(st.none(), st.integers(-source.ndim, source.ndim - 1)))
    to = None if axis is None else data.draw(
        st.one_of(st.none(), st.integers(-source.ndim, source.ndim - 1)))
    channels = 1 if axis is None else source.shape[axis]
    scale, shift = (numpy.array(data.draw(st.lists(numbers, min_size=size, max_size=size)))
                    for size in (data.draw(st.sampled_from([1, channels])),
                                 data.draw(st.sampled_from([1, channels]))))
    scale, shift = scale.astype('f8'), shift.astype('f8')
    dtype = data.draw(st.sampled_from(['f4', 'f8', 'f2', '>f4']))
    for array in (source, scale, shift):
        array.flags.writeable = False
    result = kernel(source, scale, shift, dtype, axis, to)
    same(result, expected(source, scale, shift, dtype, axis, to))
    assert result.flags.c_contiguous
    assert result.flags.writeable
    assert not numpy.shares_memory(result, source)


@pytest.mark.parametrize('dtype', ['u1', 'i1'])
@given(st.floats(-1e9, 1e9), st.floats(-1e9, 1e9))
def test_every_byte_is_right_to_the_bit(dtype, scale, shift):
    source = numpy.tile(numpy.arange(256).astype('u1').view(dtype), 16)
    result = _kernels.scale_cast(source, numpy.array([scale]), numpy.array([shift]), 'f4')
    same(result, (source.astype('f8') * scale + shift).astype('f4'))


@pytest.mark.parametrize('scale', [1 / 255, 1.0, 0.0, -0.0, 1e-310, 1e-45, 1e38, 1e300, numpy.inf,
                                   -numpy.inf, numpy.nan, 2.0**-149, 1 / 3])
@pytest.mark.parametrize('shift', [0.0, -0.0, 1e-310, 1e38, -1e38, 1e300, numpy.inf, numpy.nan,
                                   -0.5])
@pytest.mark.parametrize('dtype', ['u1', 'i1'])
def test_extreme_numbers(scale, shift, dtype):
    source = numpy.tile(numpy.arange(256).astype('u1').view(dtype), 16)
    with numpy.errstate(all='ignore'):
        wanted = (source.astype('f8') * scale + shift).astype('f4')
    for kernel in KERNELS:
        same(kernel(source, numpy.array([scale]), numpy.array([shift]), 'f4'), wanted)


@pytest.mark.parametrize('channels', [1, 2, 3, 4, 5, 700, 1023, 1024, 1025])
@pytest.mark.parametrize('dtype', ['u1', 'i1', 'u2', 'i2', 'f4', '?'])
@pytest.mark.parametrize('to', [None, 0, 1])
def test_many_sizes(channels, dtype, to):
    rng = numpy.random.RandomState(channels)
    for pixels in (1, 7, 1023, 1025) if channels < 9 else (3,):
        source = rng.randint(256, size=(3, pixels, channels)).astype(dtype)
        scale, shift = rng.uniform(-1, 1, size=(2, channels))
        same(_kernels.scale_cast(source, scale, shift, 'f4', -1, to),
             expected(source, scale, shift, 'f4', 2, to))
        same(_kernels.scale_cast(source.transpose(0, 2, 1), scale, shift, 'f4', 1, to),
             expected(source.transpose(0, 2, 1), scale, shift, 'f4', 1, to))


@pytest.mark.parametrize('kernel', KERNELS)
def test_arrays_without_numbers_and_single_ones(kernel):
    one = numpy.ones(1)
    assert kernel(numpy.empty((0, 3), 'u1'), one, one, 'f4').shape == (0, 3)
    assert kernel(numpy.empty((2, 0, 3), 'u1'), one, one, 'f4', -1, 1).shape == (2, 3, 0)
    assert kernel(numpy.empty((2, 5, 0), 'u1'), one, one, 'f4', -1, 1).shape == (2, 0, 5)
    single = kernel(numpy.array(3, 'u1'), one, one, 'f4')
    assert single.shape == ()
    assert single == 4


def test_arrays_that_are_not_aligned():
    source = numpy.frombuffer(bytes(range(41)), 'u1')[1:].view('u2')
    numbers = numpy.frombuffer(b'\0' + numpy.array([0.5, 1]).tobytes(), 'u1')[1:].view('f8')
    same(_kernels.scale_cast(source, numbers[:1], numbers[1:], 'f4'),
         (source * 0.5 + 1).astype('f4'))


@pytest.mark.parametrize('kernel', KERNELS)
@pytest.mark.parametrize(('arguments', 'error', 'message'), [
    (('U3', 1, 1, 'f4'), TypeError, 'expected real numbers'),
    (('c8', 1, 1, 'f4'), TypeError, 'complex64'), (('O', 1, 1, 'f4'), TypeError, 'object'),
    (('u1', 1, 1, 'i4'), TypeError, 'to be cast into int32'),
    (('u1', 2, 1, 'f4'), ValueError, 'each of 1 channels, or one for all; got 2'),
    (('u1', 1, 2, 'f4', 1), ValueError, 'each of 3 channels, or one for all; got 2'),
    (('u1', 3, 3, 'f4', 2), ValueError, 'an array with 2 axes; got 2'),
    (('u1', 3, 3, 'f4', -3), ValueError, 'got -3'),
    (('u1', 3, 3, 'f4', 1, 2), ValueError, 'got 2'),
    (('u1', 1, 1, 'f4', None, 0), ValueError, 'only together with channel_axis')])
def test_wrong_arguments(kernel, arguments, error, message):
    dtype, scales, shifts, *rest = arguments
    with pytest.raises(error, match=message):
        kernel(numpy.zeros((2, 3), dtype), numpy.ones(scales), numpy.ones(shifts), *rest)


@pytest.mark.parametrize('kernel', KERNELS)
@pytest.mark.parametrize('wrong', [numpy.ones(1, 'f4'), numpy.ones((1, 1)), numpy.ones(1, '>f8')])
def test_wrong_vectors(kernel, wrong):
    with pytest.raises(TypeError, match='vectors of float64'):
        kernel(numpy.zeros(2), wrong, numpy.ones(1), 'f4')
