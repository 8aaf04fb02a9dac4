"""The kernel that crops, against its numpy twin and against slices."""
import hypothesis.extra.numpy as arrays
import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuel import _kernels
from fuel._kernels.reference import crop as reference
from fuel.transformers import _image

KERNELS = [_kernels.window_batch_bchw, reference.window_batch_bchw]

LAYOUTS = {
    'c': lambda source: source,
    'fortran': numpy.asfortranarray,
    'channels last': lambda source: numpy.ascontiguousarray(
        source.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2),
    'strided': lambda source: numpy.repeat(source, 2, axis=3)[..., ::2],
    'part': lambda source: numpy.repeat(source, 2, axis=1)[:, ::2],
    'backwards': lambda source: numpy.ascontiguousarray(source[..., ::-1])[..., ::-1],
    'upside down': lambda source: numpy.ascontiguousarray(source[:, :, ::-1])[:, :, ::-1],
}


def sliced(batch, tops, lefts, height, width):
    """Return windows, one by one."""
    return [image[:, top:top + height, left:left + width]
            for image, top, left in zip(batch, tops, lefts, strict=True)]


def test_old_name_is_the_kernel():
    assert _image.window_batch_bchw is _kernels.window_batch_bchw


@given(st.data())
@pytest.mark.parametrize('crop', KERNELS)
def test_windows_are_slices(crop, data):
    dtype = data.draw(st.one_of(
        arrays.scalar_dtypes(), arrays.byte_string_dtypes(max_len=5),
        st.sampled_from([numpy.dtype([('a', 'u1'), ('b', '>f4')]), numpy.dtype('>u2')])))
    shape = data.draw(arrays.array_shapes(min_dims=4, max_dims=4, min_side=1, max_side=7))
    size = numpy.prod(shape) * dtype.itemsize
    source = numpy.frombuffer(numpy.random.RandomState(0).bytes(size), dtype).reshape(shape)
    source = LAYOUTS[data.draw(st.sampled_from(list(LAYOUTS)))](source)
    source.flags.writeable = False
    height, width = (data.draw(st.integers(1, side)) for side in shape[2:])
    kind = data.draw(st.sampled_from(['i8', 'i4', 'u2', '>i8']))
    tops, lefts = (
        data.draw(arrays.arrays(kind, shape[0], elements=st.integers(0, image - window)))
        for image, window in zip(shape[2:], (height, width), strict=True))
    room = numpy.zeros((*shape[:2], height, width * 2), dtype)
    out = data.draw(st.sampled_from([room[..., ::2], room[..., :width]]))
    assert crop(source, tops, lefts, out) is None
    expected = sliced(source, tops, lefts, height, width)
    assert out.tobytes() == b''.join(window.tobytes() for window in expected)


@pytest.mark.parametrize('crop', KERNELS)
@pytest.mark.parametrize('width', [*range(1, 70), 127, 128, 129, 130, 255, 300])
def test_rows_of_every_length(crop, width):
    random = numpy.random.RandomState(width)
    batch = random.randint(256, size=(3, 2, 5, width + 3)).astype('uint8')
    room = numpy.full((3, 2, 4, width + 2), 77, 'uint8')
    tops, lefts = random.randint(2, size=3), random.randint(4, size=3)
    crop(batch, tops, lefts, room[..., 1:-1])
    assert (room[..., 1:-1] == numpy.stack(sliced(batch, tops, lefts, 4, width))).all()
    assert (room[..., [0, -1]] == 77).all()


@pytest.mark.parametrize('crop', KERNELS)
def test_objects(crop):
    batch = numpy.empty((1, 1, 2, 2), dtype=object)
    batch[0, 0] = [['a', []], [{}, 3]]
    out = numpy.empty((1, 1, 2, 1), dtype=object)
    crop(batch, numpy.array([0]), numpy.array([1]), out)
    assert out[0, 0].tolist() == [[[]], [3]]
    assert out[0, 0, 0, 0] is batch[0, 0, 0, 1]


@pytest.mark.parametrize('crop', KERNELS)
def test_lists_of_offsets_and_batches_without_images(crop):
    out = numpy.zeros((2, 1, 1, 1))
    crop(numpy.arange(8.).reshape(2, 1, 2, 2), [0, 1], [1, 0], out)
    assert out.ravel().tolist() == [1, 6]
    crop(numpy.zeros((0, 1, 2, 2)), [], [], numpy.zeros((0, 1, 1, 1)))


@pytest.mark.parametrize('crop', KERNELS)
def test_large_batch(crop):
    batch = numpy.random.RandomState(0).randint(256, size=(16, 3, 90, 100)).astype('uint8')
    tops, lefts = numpy.arange(16) % 10, numpy.arange(16)
    out = numpy.empty((16, 3, 80, 84), 'uint8')
    crop(batch, tops, lefts, out)
    assert (out == numpy.stack(sliced(batch, tops, lefts, 80, 84))).all()


BATCH, OUT, ZEROS = numpy.zeros((2, 3, 5, 6)), numpy.zeros((2, 3, 4, 4)), numpy.zeros(2, int)


def read_only():
    out = OUT.copy()
    out.flags.writeable = False
    return out


@pytest.mark.parametrize('crop', KERNELS)
@pytest.mark.parametrize(('arguments', 'error', 'message'), [
    ((BATCH[0], ZEROS, ZEROS, OUT), TypeError, r'expected batch to be an array of four axes \(bat'
     r'ch, channel, height, width\); got an array of shape \(3, 5, 6\) and dtype float64'),
    (([], ZEROS, ZEROS, OUT), TypeError, 'expected batch .* got a list'),
    ((BATCH, ZEROS, ZEROS, OUT[0]), TypeError, 'expected out to be an array of four axes'),
    ((BATCH, ZEROS, ZEROS, OUT.astype('f4')), TypeError, 'dtype float64 of the batch; got float32'),
    ((BATCH, ZEROS, ZEROS, read_only()), ValueError, 'can be written into; got a read-only array'),
    ((BATCH, ZEROS, ZEROS, OUT[:1]), ValueError, 'expected out to hold 2 images of 3 channels'),
    ((BATCH, ZEROS, ZEROS, OUT[:, :2]), ValueError, 'expected out to hold 2 images of 3 channels'),
    ((BATCH, ZEROS, ZEROS, numpy.zeros((2, 3, 6, 4))), ValueError,
     'a window of height 6 does not fit into images of height 5'),
    ((BATCH, ZEROS, ZEROS, numpy.zeros((2, 3, 4, 7))), ValueError,
     'a window of width 7 does not fit into images of width 6'),
    ((BATCH, ZEROS[:1], ZEROS, OUT), ValueError, 'expected 2 integers as height offsets'),
    ((BATCH, ZEROS, ZEROS.astype(float), OUT), ValueError, 'width offsets.*dtype float64'),
    ((BATCH, ZEROS, None, OUT), ValueError, 'expected 2 integers as width offsets'),
    ((BATCH, numpy.array([0, 2]), ZEROS, OUT), ValueError, 'expected height offsets from 0 to 1, '
     'so that windows of height 4 lie in images of height 5; got 2 for image 1'),
    ((BATCH, ZEROS, numpy.array([-1, 0]), OUT), ValueError, 'offsets from 0 to 2.*got -1 for ima'),
])
def test_wrong_arguments(crop, arguments, error, message):
    with pytest.raises(error, match=message):
        crop(*arguments)
