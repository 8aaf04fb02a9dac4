"""Crops against slices, in every form, and by the draws of old."""
import json
import logging

import numpy
import pytest

from fuel.datasets import IndexableDataset
from fuel.exceptions import AxisLabelsMismatchError
from fuel.schemes import SequentialScheme
from fuel.streams import DataStream
from fuel.transformers.image import CenterCrop, FixedCrop, RandomFixedSizeCrop
from tests.transformers.pictures import LABELS, batches, every, examples, first, objects


def numbered(count=5, channels=3, height=9, width=11, dtype='int64'):
    """Return images in which every pixel is another number, as far as the dtype goes."""
    shape = (count, channels, height, width)
    return numpy.arange(numpy.prod(shape)).reshape(shape).astype(dtype)


def place_of(window, image):
    """Return where a window was cut out of a numbered image."""
    top, left = numpy.argwhere(image[0] == window[0, 0, 0])[0]
    assert (window == image[:, top:top + window.shape[1], left:left + window.shape[2]]).all()
    return int(top), int(left)


FORMS = {'array': lambda images: images, 'list': list, 'tuple': tuple,
         'objects': lambda images: objects(list(images)),
         'objects of four axes': lambda images: images.astype(object)}


@pytest.mark.parametrize('form', FORMS)
def test_random_crops_are_the_same_in_every_form(form):
    images = numbered()
    expected = first(RandomFixedSizeCrop(batches(images), (4, 6)))
    places = [place_of(window, image) for window, image in zip(expected, images, strict=True)]
    assert len(set(places)) > 1
    result = first(RandomFixedSizeCrop(batches(FORMS[form](images)), (4, 6)))
    if form == 'array':
        assert result.shape == (5, 3, 4, 6)
        assert result.flags.c_contiguous
    elif form.startswith('objects'):
        assert (result.dtype, result.shape) == (object, (5,))
    else:
        assert type(result) is list
    assert all((one == other).all() for one, other in zip(result, expected, strict=True))


def test_random_crops_of_ragged_images():
    images = [numbered(1, 3, 4 + number, 6 + 2 * number)[0] for number in range(4)]
    for form in (list, objects):
        result = first(RandomFixedSizeCrop(batches(form(images)), (4, 6)))
        assert all(window.shape == (3, 4, 6) for window in result)
        places = [place_of(*pair) for pair in zip(result, images, strict=True)]
        assert places[0] == (0, 0)
        assert not any(numpy.shares_memory(*pair) for pair in zip(result, images, strict=True))


def test_every_place_is_as_likely():
    images = numbered(4000, 1, 3, 4, 'int32')
    windows = first(RandomFixedSizeCrop(batches(images), (2, 2)))
    offsets = windows[:, 0, 0, 0] - images[:, 0, 0, 0]
    counts = numpy.bincount(offsets)[[0, 1, 2, 4, 5, 6]]
    assert counts.sum() == 4000
    assert abs(counts - 4000 / 6).max() < 120


def test_places_change_with_epoch_step_and_seed():
    stream = RandomFixedSizeCrop(batches(numpy.repeat(numbered(1), 20, axis=0), size=10), (2, 2))
    drawn = [numpy.concatenate(every(stream)).tobytes() for _ in range(2)]
    drawn += [batch.tobytes() for batch in every(RandomFixedSizeCrop(
        batches(numpy.repeat(numbered(1), 20, axis=0), size=10), (2, 2)))]
    other = RandomFixedSizeCrop(batches(numpy.repeat(numbered(1), 20, axis=0)), (2, 2))
    other.seed = 7
    drawn.append(numpy.concatenate(every(other)).tobytes())
    assert len(set(drawn)) == len(drawn)


def test_image_and_mask_stay_together():
    dataset = IndexableDataset({'image': numbered(), 'mask': list(numbered() * 2)},
                               axis_labels=dict.fromkeys(('image', 'mask'), LABELS))
    stream = RandomFixedSizeCrop(DataStream(dataset, iteration_scheme=SequentialScheme(5, 5)),
                                 (3, 3))
    image, mask = next(stream.get_epoch_iterator())
    assert (image * 2 == numpy.stack(mask)).all()


def test_given_rng_draws_as_of_old_for_arrays():
    images, rng = numbered(), numpy.random.RandomState(5)
    stream = RandomFixedSizeCrop(batches(images), (4, 6), rng=numpy.random.RandomState(5))
    for _ in range(3):
        lefts = rng.randint(0, 11 - 6 + 1, size=5)
        tops = rng.randint(0, 9 - 4 + 1, size=5)
        expected = numpy.stack([image[:, top:top + 4, left:left + 6]
                                for image, top, left in zip(images, tops, lefts, strict=True)])
        assert (first(stream) == expected).all()


@pytest.mark.parametrize('form', [list, objects, examples])
def test_given_rng_draws_as_of_old_for_images_one_by_one(form):
    images = [numbered(1, 3, *size)[0] for size in ((9, 11), (4, 11), (4, 6), (9, 6), (7, 7))]
    below = examples(images) if form is examples else batches(form(images))
    stream = RandomFixedSizeCrop(below, (4, 6), rng=numpy.random.RandomState(5))
    result = every(stream) if form is examples else first(stream)
    rng = numpy.random.RandomState(5)
    for window, image in zip(result, images, strict=True):
        top = rng.randint(0, image.shape[1] - 3) if image.shape[1] > 4 else 0
        left = rng.randint(0, image.shape[2] - 5) if image.shape[2] > 6 else 0
        assert place_of(window, image) == (top, left)


def test_given_rng_is_saved_as_plain_data():
    for make in (numpy.random.RandomState, numpy.random.default_rng):
        stream = RandomFixedSizeCrop(batches(numbered(), size=1), (2, 2), rng=make(3))
        iterator = stream.get_epoch_iterator()
        next(iterator), next(iterator)
        state = json.dumps(stream.state_dict())
        left = list(iterator)
        other = RandomFixedSizeCrop(batches(numbered(), size=1), (2, 2), rng=make(9))
        other.load_state_dict(json.loads(state))
        assert all((one[0] == another[0]).all()
                   for one, another in zip(other.get_epoch_iterator(), left, strict=True))
        without = RandomFixedSizeCrop(batches(numbered(), size=1), (2, 2))
        with pytest.raises(ValueError, match='one with an rng, and this one was made without'):
            without.load_state_dict(json.loads(state))


@pytest.mark.parametrize('dtype', ['?', 'u1', 'i2', '>u2', 'f2', '>f4', 'f8', 'c8', 'S3', 'O'])
@pytest.mark.parametrize('form', ['array', 'list'])
def test_every_dtype_and_read_only(dtype, form):
    images = numbered(dtype=dtype)
    for array in (images, numpy.asfortranarray(images), images[:, :, ::-1], images[..., ::2]):
        array.flags.writeable = False
        for crop, top, left in ((CenterCrop, (9 - 4) // 2, (array.shape[3] - 5) // 2),
                                (FixedCrop, 0, 0)):
            result = first(crop(batches(FORMS[form](array)), (4, 5)))
            expected = array[:, :, top:top + 4, left:left + 5]
            assert all(window.dtype == dtype for window in result)
            assert (numpy.array(list(result)) == expected).all()
            assert all(window.flags.writeable for window in result)


@pytest.mark.parametrize(('offset', 'place'), [((0, 0), (0, 0)), ((2, 3), (2, 3)),
                                               ((-1, -1), (5, 5)), ((0, -6), (0, 0))])
def test_fixed_crop(offset, place):
    images = numbered()
    for form in FORMS.values():
        result = first(FixedCrop(batches(form(images)), (4, 6), offset))
        assert {place_of(*pair) for pair in zip(result, images, strict=True)} == {place}
    windows = every(FixedCrop(examples(images), (4, 6), offset))
    assert {place_of(*pair) for pair in zip(windows, images, strict=True)} == {place}


@pytest.mark.parametrize('offset', [(6, 0), (0, 6), (-7, 0)])
def test_fixed_crop_outside(offset):
    with pytest.raises(ValueError, match=f'4 x 6 pixels at row {offset[0]}, column {offset[1]} '
                                         'does not lie in an image of 9 x 11'):
        first(FixedCrop(batches(numbered()), (4, 6), offset))


@pytest.mark.parametrize('crop', [RandomFixedSizeCrop, CenterCrop, FixedCrop])
def test_window_that_does_not_fit(crop):
    for window in ((10, 3), (3, 12)):
        for below in (batches(numbered()), batches(list(numbered())), examples(numbered())):
            with pytest.raises(ValueError, match=f'window of {window[0]} x {window[1]} pixels .* '
                                                 'not fit into an image of 9 x 11. Minimum'):
                first(crop(below, window))
    whole = first(crop(batches(numbered()), (9, 11)))
    assert (whole == numbered()).all()


@pytest.mark.parametrize('window', [(3,), 4, (0, 2), (2, -1), (1.5, 2), 'ab', None])
def test_window_shape_is_checked(window):
    with pytest.raises(ValueError, match=r'window_shape to be a pair \(height, width\)'):
        RandomFixedSizeCrop(batches(numbered()), window)


@pytest.mark.parametrize('images', [numbered()[:, 0], [numbered()[0, 0]], ['text'], [[1, 2]]])
def test_what_is_no_image(images):
    with pytest.raises(ValueError, match="expected images in source 'image'"):
        first(RandomFixedSizeCrop(batches(images, None), (2, 2)))
    with pytest.raises(ValueError, match="expected images in source 'image'"):
        first(RandomFixedSizeCrop(examples(images, None), (2, 2)))


def test_labels_are_wanted(caplog):
    wrong = ('batch', 'height', 'width', 'channel')
    for below in (batches(numbered(), wrong), examples(numbered(), wrong)):
        with pytest.raises(AxisLabelsMismatchError, match='height'):
            first(RandomFixedSizeCrop(below, (2, 2)))
    for form in (batches, examples):
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            stream = RandomFixedSizeCrop(form(numbered(), None), (2, 2))
            assert len(every(stream)) + len(every(stream)) > 1
        assert len(caplog.records) == 1
        assert "source 'image' are not known" in caplog.text
    stream = RandomFixedSizeCrop(batches(numbered()), (2, 2))
    assert stream.axis_labels == {'image': LABELS}


def test_batches_without_images():
    for form in ('array', 'list', 'objects'):
        below = batches(FORMS[form](numbered()))
        stream = CenterCrop(below, (2, 2))
        assert len(stream.transform_source_batch(FORMS[form](numbered()[:0]), 'image')) == 0
