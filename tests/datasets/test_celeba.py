"""CelebA as a data set."""
from __future__ import annotations

import io
import zipfile

import numpy
import pytest
from PIL import Image

from fuel import config
from fuel.converters.celeba import convert_celeba
from fuel.datasets.celeba import CelebA
from fuel.exceptions import DataFileNotFoundError
from fuel.schemes import SequentialScheme, ShuffledScheme
from fuel.streams import DataStream
from tests.raw import celeba as raw


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp('celeba')
    values = raw.write(folder, 40)
    for which in ('64', 'aligned_cropped'):
        convert_celeba(which, str(folder), str(folder))
    return folder, values


@pytest.fixture(autouse=True)
def _data_path(folder):
    config.data_path = (str(folder[0]),)


def picture(folder, number):
    with zipfile.ZipFile(folder / 'img_align_celeba.zip') as archive:
        content = archive.read(f'img_align_celeba/{number:06d}.jpg')
    return numpy.asarray(Image.open(io.BytesIO(content))).transpose(2, 0, 1)


@pytest.mark.parametrize('options', [{}, {'load_in_memory': True}])
def test_examples_of_a_split(folder, options):
    folder, values = folder
    dataset = CelebA('aligned_cropped', ('valid',), **options)
    assert dataset.load_in_memory is bool(options)
    assert dataset.provides_sources == ('features', 'targets')
    assert dataset.num_examples == 4
    features, targets = dataset.get_data(dataset.open(), [1, 3])
    assert numpy.array_equal(features[0], picture(folder, 34))
    assert numpy.array_equal(features[1], picture(folder, 36))
    assert numpy.array_equal(targets, (values[[33, 35]] + 1) // 2)
    assert dataset.axis_labels == {'features': ('batch', 'channel', 'height', 'width'),
                                   'targets': ('batch', 'target')}


def test_splits_follow_each_other():
    together = CelebA('64', ('train', 'valid', 'test'))
    assert [CelebA('64', (split,)).num_examples for split in ('train', 'valid', 'test')] == [
        32, 4, 4]
    assert together.num_examples == 40


def test_the_stream_has_bytes_and_the_default_stream_floats():
    dataset = CelebA('64', ('train',))
    scheme = SequentialScheme(dataset.num_examples, 8)
    plain = [features for features, _ in DataStream(
        dataset, iteration_scheme=scheme).get_epoch_iterator()]
    assert plain[0].dtype == 'uint8' and plain[0].shape == (8, 3, 64, 64)
    config.floatX = 'float32'
    for features, (scaled, targets) in zip(plain, DataStream.default_stream(
            dataset, iteration_scheme=scheme).get_epoch_iterator(), strict=True):
        assert scaled.dtype == 'float32' and targets.dtype == 'uint8'
        assert 0 <= scaled.min() < scaled.max() <= 1
        assert numpy.allclose(scaled, features / 255, atol=1e-6)


def test_a_shuffled_epoch_has_every_example_once(folder):
    _, values = folder
    dataset = CelebA('64', ('train',))
    stream = DataStream(dataset, iteration_scheme=ShuffledScheme(dataset.num_examples, 5))
    targets = numpy.concatenate([targets for _, targets in stream.get_epoch_iterator()])
    expected = (values[:32] + 1) // 2
    assert sorted(map(bytes, targets)) == sorted(map(bytes, expected.astype('uint8')))


@pytest.mark.parametrize('which', ['128', 64, ('train',)])
def test_a_format_that_there_is_not(which):
    with pytest.raises(ValueError, match=r"expected which_format to be 'aligned_cropped' or '64'"):
        CelebA(which, ('train',))


def test_no_file(tmp_path):
    config.data_path = (str(tmp_path),)
    with pytest.raises(DataFileNotFoundError, match='celeba_64.hdf5'):
        CelebA('64', ('train',))
