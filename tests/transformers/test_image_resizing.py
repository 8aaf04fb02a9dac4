"""Resized and turned images, against Pillow called directly."""
import math

import numpy
import pytest
from PIL import Image

from fuel.exceptions import AxisLabelsMismatchError
from fuel.transformers.image import (
    MinimumImageDimensions,
    Random2DRotation,
    RandomHorizontalFlip,
    RandomResizedCrop,
    Resize,
)
from tests.transformers.pictures import LABELS, batches, every, examples, first, objects, pixels

FILTERS = ('nearest', 'box', 'bilinear', 'hamming', 'bicubic', 'lanczos')


def images_of(dtype, channels=3, count=3, height=17, width=23):
    """Return an array of images with the axes (batch, channel, height, width)."""
    images = numpy.stack([pixels(height, width, channels, seed).transpose(2, 0, 1)
                          for seed in range(count)])
    if dtype == '?':
        return images > 100
    return (images.astype('i4') * (1 if dtype in ('u1', 'i1') else 100)).astype(dtype)


def by_pillow(image, change):
    """Return what Pillow makes of an image, channel by channel, in its widest suitable mode."""
    dtype = image.dtype
    wide = {'f': 'f4', 'u': 'i4', 'i': 'i4', 'b': 'u1'}[dtype.kind]
    planes = [numpy.asarray(change(Image.fromarray(
        plane.astype('u1' if dtype == 'u1' else wide)))) for plane in image]
    result = numpy.stack(planes)
    if dtype.kind in 'iu' and dtype.itemsize < 4:
        result = result.clip(numpy.iinfo(dtype).min, numpy.iinfo(dtype).max)
    return result.astype(dtype)


@pytest.mark.parametrize('size', [(17, 23), (40, 50), (5, 6), (40, 6), (1, 1)])
@pytest.mark.parametrize('resample', FILTERS)
@pytest.mark.parametrize(('dtype', 'channels'), [
    ('u1', 3), ('u1', 1), ('u1', 4), ('u1', 2), ('f4', 3), ('f8', 1), ('f2', 2), ('>f4', 3),
    ('u2', 1), ('>u2', 3), ('i2', 3), ('i4', 1), ('i1', 1)])
def test_resize_as_pillow(size, resample, dtype, channels):
    images = images_of(dtype, channels)
    expected = [by_pillow(image, lambda plane: plane.resize(
        size[::-1], Image.Resampling[resample.upper()])) for image in images]
    level = 1 if dtype == 'u1' and resample == 'bilinear' else 0
    last = numpy.ascontiguousarray(images.transpose(0, 2, 3, 1)).transpose(0, 3, 1, 2)
    for form in (images, last, list(images), objects(list(images)), list(last)):
        result = first(Resize(batches(form), size, resample))
        assert type(result) is type(form)
        for image, other in zip(result, expected, strict=True):
            assert image.dtype == dtype
            assert image.shape == (channels, *size)
            assert numpy.abs(image.astype('f8') - other).max() <= level
    result = every(Resize(examples(images), size, resample))
    assert (numpy.stack(result) == numpy.stack(list(
        first(Resize(batches(images), size, resample))))).all()


@pytest.mark.parametrize(('size', 'short', 'result'), [
    ((100, 50), 25, (50, 25)), ((50, 100), 25, (25, 50)), ((10, 10), 3, (3, 3)),
    ((500, 375), 256, (341, 256)), ((7, 3), 5, (12, 5)), ((3, 1), 4, (12, 4))])
def test_short_side(size, short, result):
    image = numpy.zeros((1, *size), 'uint8')
    assert every(Resize(examples([image]), short))[0].shape == (1, *result)
    assert first(Resize(batches(image[None]), short)).shape == (1, 1, *result)


def test_other_dtypes_by_nearest_only():
    for dtype in ('?', 'i8', 'u4', 'c8', 'S3'):
        images = numpy.arange(3 * 4 * 5).reshape(1, 3, 4, 5).astype(dtype)
        result = first(Resize(batches(images), (8, 10), 'nearest'))
        assert result.dtype == dtype
        assert (result == images.repeat(2, axis=2).repeat(2, axis=3)).all()
        turned = first(Random2DRotation(batches(images), 1.0))
        assert turned.dtype == dtype
        with pytest.raises(TypeError, match=f'dtype {numpy.dtype(dtype)} cannot be resampled'
                           .replace('|', r'\|')):
            first(Resize(batches(images), (8, 10), 'bicubic'))


@pytest.mark.parametrize('resample', FILTERS)
@pytest.mark.parametrize(('size', 'minimum', 'wanted'), [
    ((10, 20), (15, 15), (15, 30)), ((20, 10), (15, 15), (30, 15)), ((10, 21), (15, 15), (15, 32)),
    ((3, 7), (5, 100), (43, 100)), ((49, 98), (50, 50), (50, 100)), ((1, 1), (3, 2), (3, 3))])
def test_minimum_image_dimensions(resample, size, minimum, wanted):
    for channels in (1, 3):
        image = pixels(*size, channels).transpose(2, 0, 1)
        expected = by_pillow(image, lambda plane: plane.resize(
            wanted[::-1], Image.Resampling[resample.upper()]))
        for result in (first(MinimumImageDimensions(examples([image]), minimum, resample)),
                       first(MinimumImageDimensions(batches(image[None]), minimum, resample))[0],
                       first(MinimumImageDimensions(batches([image]), minimum, resample))[0]):
            assert result.dtype == 'uint8'
            assert (result == expected).all()
            assert result.flags.writeable


def test_minimum_height_or_width_is_met_exactly():
    # In floats, 49 * (x / 49) may be a hair more than x.
    for side in range(1, 60):
        for wanted in range(side, 90):
            image = numpy.zeros((1, side, side), 'uint8')
            stream = MinimumImageDimensions(examples([image]), (wanted, wanted))
            assert stream.change(image, None).shape == (1, wanted, wanted)


def test_large_images_pass_through():
    image = pixels(30, 20).transpose(2, 0, 1)
    small = image[:, :10]
    stream = MinimumImageDimensions(batches([image, small]), (20, 20))
    images = [image, small]
    result = stream.transform_source_batch(images, 'image')
    assert result[0] is image
    assert result[1].shape == (3, 20, 40)
    array = image[None]
    assert stream.transform_source_batch(array, 'image') is array


def test_minimum_of_images_without_channel_axis():
    image = pixels(5, 6, 1)[:, :, 0]
    stream = MinimumImageDimensions(examples([image], ('batch', 'height', 'width')), (10, 10))
    assert (first(stream) == image.repeat(2, axis=0).repeat(2, axis=1)).all()
    stream = MinimumImageDimensions(batches([image], ('batch', 'height', 'width')), (10, 10))
    assert first(stream)[0].shape == (10, 12)
    for wrong in (numpy.zeros(3), numpy.zeros((1, 2, 3, 4))):
        with pytest.raises(NotImplementedError, match='expected images'):
            first(MinimumImageDimensions(examples([wrong], None), (10, 10)))
    with pytest.raises(ValueError, match='0 x 6 pixels cannot be made larger'):
        first(MinimumImageDimensions(examples([image[:0]], None), (10, 10)))


@pytest.mark.parametrize(('make', 'known'), [
    (lambda stream, name: MinimumImageDimensions(stream, (3, 3), name), FILTERS),
    (lambda stream, name: Resize(stream, (3, 3), name), FILTERS),
    (lambda stream, name: RandomResizedCrop(stream, (3, 3), resample=name), FILTERS),
    (lambda stream, name: Random2DRotation(stream, resample=name), FILTERS[::2])])
def test_filters_are_checked(make, known):
    stream = batches(images_of('u1'))
    for name in (*known, known[0].upper()):
        assert first(make(stream, name)).dtype == 'uint8'
    for wrong in ('nearst', '', None, 0, *set(FILTERS[:1] if known is FILTERS else ['lanczos'])):
        if wrong != 'nearest':
            with pytest.raises(ValueError, match='expected resample to be one of'):
                make(stream, wrong)


def test_old_name_of_lanczos():
    assert Resize(batches(images_of('u1')), 5, 'ANTIALIAS').resample == 'lanczos'


@pytest.mark.parametrize('resample', ['nearest', 'bilinear', 'bicubic'])
@pytest.mark.parametrize(('dtype', 'channels'), [('u1', 3), ('u1', 1), ('u1', 5), ('f4', 3),
                                                 ('f8', 1), ('>u2', 1), ('i4', 2)])
@pytest.mark.parametrize('shape', [(17, 23), (12, 12), (1, 9)])
def test_rotation_as_pillow(resample, dtype, channels, shape):
    images = images_of(dtype, channels, 3, *shape)
    rng = numpy.random.RandomState(4)
    angles = rng.uniform(-57.29577951308232, 57.29577951308232, 3)
    expected = numpy.stack([
        by_pillow(image, lambda plane, angle=angle: plane.rotate(
            angle, Image.Resampling[resample.upper()]))
        for image, angle in zip(images, angles, strict=True)])
    for form in (images, list(images), objects(list(images))):
        result = first(Random2DRotation(batches(form), 1.0, resample,
                                        rng=numpy.random.RandomState(4)))
        assert type(result) is type(form)
        assert all(image.dtype == dtype for image in result)
        assert (numpy.stack(list(result)) == expected).all()
        assert result[0].flags.writeable
    result = every(Random2DRotation(examples(images), 1.0, resample,
                                    rng=numpy.random.RandomState(4)))
    assert (numpy.stack(result) == expected).all()


def test_rotation_of_a_square_by_a_quarter():
    images = numpy.arange(2 * 25).reshape(1, 2, 5, 5)
    stream = Random2DRotation(batches(images))
    turned = stream.change(images[0], 90.0)
    assert (turned == numpy.rot90(images[0], axes=(1, 2))).all()
    assert (stream.change(images[0], 180.0) == images[0, :, ::-1, ::-1]).all()


def test_angles_are_the_same_in_every_form():
    images = images_of('u1', count=6)
    expected = first(Random2DRotation(batches(images), 0.5))
    assert len({image.tobytes() for image in expected}) == 6
    for form in (list(images), objects(list(images))):
        result = first(Random2DRotation(batches(form), 0.5))
        assert (numpy.stack(list(result)) == expected).all()
    angles = Random2DRotation(batches(images), math.pi)
    drawn = []
    angles.change = lambda image, plan: drawn.append(plan) or image
    for _ in range(200):
        first(angles)
    assert -180 <= min(drawn) < -170
    assert 170 < max(drawn) <= 180
    assert abs(numpy.mean(drawn)) < 15


@pytest.mark.parametrize('angle', [0, -1, 3.15, 180, math.nan])
def test_angle_is_checked(angle):
    with pytest.raises(ValueError, match='more than 0 and at most pi'):
        Random2DRotation(batches(images_of('u1')), angle)
    assert Random2DRotation(batches(images_of('u1'))).maximum_rotation == 180


def test_flip():
    images = images_of('u1', count=40)
    expected = first(RandomHorizontalFlip(batches(images)))
    flipped = [(one == other[..., ::-1]).all() for one, other in zip(expected, images, strict=True)]
    kept = [(one == other).all() for one, other in zip(expected, images, strict=True)]
    assert flipped == [not same for same in kept]
    assert 8 < sum(flipped) < 32
    for form in (list, objects):
        result = first(RandomHorizontalFlip(batches(form(list(images)))))
        assert (numpy.stack(list(result)) == expected).all()
    assert (first(RandomHorizontalFlip(batches(images), 0)) == images).all()
    assert (first(RandomHorizontalFlip(batches(images), 1)) == images[..., ::-1]).all()
    for image, other in zip(every(RandomHorizontalFlip(examples(images), 1)), images, strict=True):
        assert (image == other[..., ::-1]).all()
    for wrong in (-0.1, 1.1, math.nan):
        with pytest.raises(ValueError, match='a probability from 0 to 1'):
            RandomHorizontalFlip(batches(images), wrong)
    assert RandomHorizontalFlip(batches(images), rng=numpy.random.RandomState(0)).axis_labels == {
        'image': LABELS}


def windows_of(stream, count=500, size=(60, 100)):
    """Return the windows that a transformer draws."""
    image = numpy.zeros((1, *size), 'uint8')
    drawn = []
    stream.change = lambda image, plan: drawn.append(plan) or image
    while len(drawn) < count:
        first(stream)
    assert image.shape[1:] == size
    return numpy.array(drawn)


def test_random_windows():
    below = batches([numpy.zeros((1, 60, 100), 'uint8')] * 50)
    windows = windows_of(RandomResizedCrop(below, (8, 8)))
    top, left, height, width = windows.T
    assert (windows >= 0).all()
    assert (top + height <= 60).all()
    assert (left + width <= 100).all()
    ratio, area = width / height, width * height / 6000
    assert 0.7 < ratio.min() < 0.8
    assert 1.25 < ratio.max() < 1.4
    assert 0.07 < area.min() < 0.1
    assert area.max() > 0.7
    assert abs(numpy.log(ratio).mean()) < 0.05
    assert len(set(map(tuple, windows))) > 450


@pytest.mark.parametrize(('size', 'window'), [
    ((4, 400), (0, 197, 4, 5)), ((400, 4), (197, 0, 5, 4)), ((1, 1), (0, 0, 1, 1))])
def test_random_window_where_none_fits(size, window):
    stream = RandomResizedCrop(batches([numpy.zeros((1, *size), 'u1')]), (3, 3), scale=(0.9, 1.0))
    assert tuple(windows_of(stream, 3, size)[0]) == window


@pytest.mark.parametrize('resample', FILTERS)
@pytest.mark.parametrize('dtype', ['u1', 'f4'])
def test_random_resized_crop_as_pillow(resample, dtype):
    images = images_of(dtype, height=60, width=80)
    stream = RandomResizedCrop(batches(images), (12, 15), resample=resample,
                               rng=numpy.random.RandomState(0))
    chances = numpy.random.RandomState(0).random_sample((3, 22)).tolist()
    boxes = [stream.window_of(60, 80, row) for row in chances]
    expected = numpy.stack([
        by_pillow(image, lambda plane, box=(top, left, height, width): plane.crop(
            (box[1], box[0], box[1] + box[3], box[0] + box[2])).resize(
                (15, 12), Image.Resampling[resample.upper()]))
        for image, (top, left, height, width) in zip(images, boxes, strict=True)])
    result = first(stream)
    assert result.shape == (3, 3, 12, 15)
    level = 1 if dtype == 'u1' and resample == 'bilinear' else 0
    assert numpy.abs(result.astype('f8') - expected).max() <= level


def test_random_resized_crops_are_the_same_in_every_form():
    images = images_of('u1', height=60, width=80)
    expected = first(RandomResizedCrop(batches(images), (12, 15)))
    for form in (list, objects):
        result = first(RandomResizedCrop(batches(form(list(images))), (12, 15)))
        assert (numpy.stack(list(result)) == expected).all()
    assert [image.shape for image in every(RandomResizedCrop(examples(images), (12, 15)))] == [
        (3, 12, 15)] * 3


@pytest.mark.parametrize('arguments', [
    {'scale': (0, 1)}, {'scale': (0.5, 0.4)}, {'scale': (0.5, 1.1)}, {'ratio': (0, 1)},
    {'ratio': (2, 1)}, {'shape': (0, 3)}, {'shape': 3}])
def test_random_resized_crop_arguments(arguments):
    with pytest.raises(ValueError, match=f'expected {next(iter(arguments))} to be a pair'):
        RandomResizedCrop(batches(images_of('u1')), **{'shape': (3, 3), **arguments})


@pytest.mark.parametrize('make', [
    lambda stream: MinimumImageDimensions(stream, (3, 3)), lambda stream: Resize(stream, (3, 3)),
    Random2DRotation, RandomHorizontalFlip, lambda stream: RandomResizedCrop(stream, (3, 3))])
def test_labels_are_wanted(make):
    wrong = ('batch', 'height', 'width', 'channel')
    for below in (batches(images_of('u1'), wrong), batches(list(images_of('u1')), wrong),
                  examples(images_of('u1'), wrong)):
        with pytest.raises(AxisLabelsMismatchError):
            first(make(below))
    assert make(batches(images_of('u1'))).axis_labels == {'image': LABELS}


def test_images_without_pixels_cannot_be_resized():
    for transformer in (Resize, RandomResizedCrop):
        with pytest.raises(ValueError, match='an image of 0 x 5 pixels'):
            first(transformer(batches(numpy.zeros((1, 3, 0, 5), 'uint8')), (3, 3)))
