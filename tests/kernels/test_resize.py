"""The kernel that resizes, against its numpy twin and against Pillow."""
import hypothesis.extra.numpy as arrays
import numpy
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from fuel import _kernels
from fuel._kernels.reference import resize as reference

KERNELS = [_kernels.resize_window, reference.resize_window]


def by_pillow(image, box, shape):
    """Return what Pillow makes of a window, channels first."""
    top, left, height, width = box
    planes = [numpy.asarray(Image.fromarray(plane).resize(shape[::-1], Image.Resampling.BILINEAR))
              for plane in image[top:top + height, left:left + width].transpose(2, 0, 1).copy()]
    return numpy.stack(planes)


@settings(deadline=None)
@given(st.data())
@pytest.mark.parametrize('resize', KERNELS)
def test_as_pillow_within_one_level(resize, data):
    shape = data.draw(st.tuples(*[st.integers(1, 40)] * 2, st.integers(1, 5)))
    image = data.draw(arrays.arrays('u1', shape, elements=st.integers(0, 255), fill=st.nothing())
                      if data.draw(st.booleans()) else st.just(
        numpy.random.RandomState(3).randint(256, size=shape).astype('uint8')))
    if data.draw(st.booleans()):
        image = numpy.repeat(image, 2, axis=data.draw(st.integers(0, 2)))[:shape[0], :shape[1]]
    image.flags.writeable = False
    top, left = (data.draw(st.integers(0, side - 1)) for side in shape[:2])
    height, width = (data.draw(st.integers(1, side - first))
                     for side, first in zip(shape[:2], (top, left), strict=True))
    wanted = data.draw(st.tuples(*[st.integers(1, 30)] * 2))
    out = numpy.empty((image.shape[2], *wanted), 'uint8')
    resize(image, (top, left, height, width), out)
    expected = by_pillow(image, (top, left, height, width), wanted)
    assert numpy.abs(out.astype(int) - expected).max() <= 1


@pytest.mark.parametrize('resize', KERNELS)
def test_plain_colours_stay(resize):
    for level in (0, 1, 127, 254, 255):
        for size in ((300, 5), (7, 200), (64, 64)):
            out = numpy.empty((3, 37, 41), 'uint8')
            resize(numpy.full((*size, 3), level, 'uint8'), (0, 0, *size), out)
            assert (out == level).all()


@pytest.mark.parametrize('resize', KERNELS)
def test_nothing_outside_of_the_window_has_a_part(resize):
    image = numpy.full((20, 20, 3), 255, 'uint8')
    image[5:15, 6:16] = 10
    out = numpy.empty((3, 3, 33), 'uint8')
    resize(image, (5, 6, 10, 10), out)
    assert (out == 10).all()


IMAGE, OUT = numpy.zeros((5, 6, 3), 'u1'), numpy.zeros((3, 4, 4), 'u1')


def read_only():
    out = OUT.copy()
    out.flags.writeable = False
    return out


@pytest.mark.parametrize('resize', KERNELS)
@pytest.mark.parametrize(('arguments', 'error', 'message'), [
    ((IMAGE[0], (0, 0, 1, 1), OUT), TypeError, 'expected image .* got 2 axes of uint8'),
    ((IMAGE.astype(float), (0, 0, 1, 1), OUT), TypeError, 'expected image .* 3 axes of float64'),
    ((IMAGE, (0, 0, 1, 1), None), TypeError, 'expected out .* got a NoneType'),
    ((IMAGE, (0, 0, 1, 1), OUT[:, :, ::2]), ValueError, 'expected an out in one piece'),
    ((IMAGE, (0, 0, 1, 1), read_only()), ValueError, 'that can be written into'),
    ((IMAGE, (0, 0, 1, 1), OUT[:2]), ValueError, 'expected an out of 3 channels'),
    ((IMAGE, (0, 0, 1, 1), OUT[:, :0]), ValueError, 'expected an out of 3 channels with pixels'),
    ((IMAGE, (0, 0, 6, 1), OUT), ValueError, 'window of 6 x 1 pixels at row 0, column 0 does not '
     'lie in the picture of 5 x 6'),
    ((IMAGE, (-1, 0, 1, 1), OUT), ValueError, 'does not lie in'),
    ((IMAGE, (0, 0, 0, 1), OUT), ValueError, 'does not lie in'),
    ((IMAGE, (0, 5, 1, 2), OUT), ValueError, 'does not lie in'),
])
def test_wrong_arguments(resize, arguments, error, message):
    with pytest.raises(error, match=message):
        resize(*arguments)
