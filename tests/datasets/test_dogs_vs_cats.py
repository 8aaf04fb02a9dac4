"""Dogs vs. Cats as a data set."""
from __future__ import annotations

import io
import zipfile

import numpy
import pytest
from PIL import Image

from fuel import config
from fuel.converters.dogs_vs_cats import convert_dogs_vs_cats
from fuel.datasets.dogs_vs_cats import DogsVsCats
from fuel.exceptions import DataFileNotFoundError
from fuel.schemes import (
    ConstantScheme,
    SequentialScheme,
    ShuffledExampleScheme,
    ShuffledScheme,
)
from fuel.streams import DataStream
from fuel.transformers import Batch
from fuel.transformers.image import RandomFixedSizeCrop
from tests.raw import dogs_vs_cats as raw


@pytest.fixture(scope='module', params=['vlen', 'ragged'])
def folder(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp('dogs')
    raw.write(folder, 24, 12)
    convert_dogs_vs_cats(str(folder), str(folder), layout=request.param)
    return folder


@pytest.fixture(autouse=True)
def _data_path(folder):
    config.data_path = (str(folder),)


def picture(folder, name):
    with zipfile.ZipFile(folder / f'dogs_vs_cats.{name.split("/")[0]}.zip') as archive:
        return numpy.asarray(Image.open(io.BytesIO(archive.read(name)))).transpose(2, 0, 1)


@pytest.mark.parametrize('options', [{}, {'load_in_memory': True}])
def test_the_test_set_is_ordered_by_number_and_has_no_targets(folder, options):
    dataset = DogsVsCats(('test',), **options)
    assert dataset.load_in_memory is bool(options)
    assert dataset.sources == ('image_features',)
    assert dataset.num_examples == 12
    images, = dataset.get_data(dataset.open(), slice(0, 12))
    for number, image in enumerate(images, start=1):
        assert numpy.array_equal(image, picture(folder, f'test1/{number}.jpg'))


def test_pictures_go_with_their_classes(folder):
    dataset = DogsVsCats(('train',))
    assert dataset.sources == ('image_features', 'targets')
    known = {picture(folder, f'train/{kind}.{number}.jpg').tobytes(): target
             for target, kind in enumerate(('cat', 'dog')) for number in range(12)}
    assert len(known) == 24
    stream = DataStream(dataset, iteration_scheme=ShuffledScheme(24, 5))
    seen = []
    for images, targets in stream.get_epoch_iterator():
        assert images.dtype == object and targets.shape == (len(images), 1)
        for image, target in zip(images, targets, strict=True):
            assert known[image.tobytes()] == target[0]
            seen.append(image.tobytes())
    assert sorted(seen) == sorted(known)


def test_both_sets_together_have_pictures_only():
    dataset = DogsVsCats(('train', 'test'))
    assert dataset.sources == ('image_features',)
    assert dataset.num_examples == 36


def test_axis_labels():
    assert DogsVsCats(('train',)).axis_labels == {
        'image_features': ('batch', 'channel', 'height', 'width'), 'targets': ('batch', 'index')}


def test_the_default_stream_scales_pictures_only(folder):
    dataset = DogsVsCats(('train',))
    scheme = SequentialScheme(24, 6)
    plain = DataStream(dataset, iteration_scheme=scheme)
    scaled = DataStream.default_stream(dataset, iteration_scheme=scheme)
    for (images, targets), (floats, same) in zip(plain.get_epoch_iterator(),
                                                 scaled.get_epoch_iterator(), strict=True):
        assert numpy.array_equal(targets, same) and same.dtype == 'uint8'
        for image, scaled_image in zip(images, floats, strict=True):
            assert scaled_image.dtype.kind == 'f'
            assert numpy.allclose(scaled_image, image / 255)


def test_a_batch_of_one_array():
    examples = DataStream(DogsVsCats(('train',)), iteration_scheme=ShuffledExampleScheme(24))
    crops = RandomFixedSizeCrop(examples, (50, 40), which_sources=('image_features',))
    stream = Batch(crops, iteration_scheme=ConstantScheme(8))
    images, targets = next(stream.get_epoch_iterator())
    assert images.shape == (8, 3, 50, 40) and images.dtype == 'uint8'
    assert targets.shape == (8, 1)


def test_a_string_is_no_tuple_of_sets():
    with pytest.raises(ValueError, match='which_sets'):
        DogsVsCats('train')


def test_no_file(tmp_path):
    config.data_path = (str(tmp_path),)
    with pytest.raises(DataFileNotFoundError, match='dogs_vs_cats.hdf5'):
        DogsVsCats(('train',))
