"""MNIST, binarized MNIST and CalTech 101 Silhouettes, from their raw files to streams."""
from __future__ import annotations

import os
import pickle

import h5py
import numpy
import pytest

import fuel
import fuel.datasets
from fuel.converters.binarized_mnist import convert_binarized_mnist
from fuel.converters.caltech101_silhouettes import convert_silhouettes
from fuel.converters.mnist import convert_mnist
from fuel.datasets.binarized_mnist import BinarizedMNIST
from fuel.datasets.caltech101_silhouettes import CalTech101Silhouettes
from fuel.datasets.mnist import MNIST
from fuel.exceptions import DataFileNotFoundError
from fuel.schemes import SequentialScheme, ShuffledScheme
from fuel.streams import DataStream
from fuel.transformers.defaults import uint8_pixels_to_floatX
from tests.raw import binarized_mnist, caltech101_silhouettes, mnist

IMAGES = ('batch', 'channel', 'height', 'width')


@pytest.fixture(scope='module')
def written(tmp_path_factory):
    """Return what the raw files have; `folder` has what was made of them."""
    raw = str(tmp_path_factory.mktemp('raw'))
    folder = str(tmp_path_factory.mktemp('data'))
    arrays = {'folder': folder, 'mnist': mnist.write(raw),
              'binarized_mnist': binarized_mnist.write(raw)}
    convert_mnist(raw, folder)
    convert_mnist(raw, folder, dtype='float32')
    convert_binarized_mnist(raw, folder)
    for size in (16, 28):
        arrays[size] = caltech101_silhouettes.write(raw, size)
        convert_silhouettes(size, raw, folder)
    return arrays


@pytest.fixture(autouse=True)
def _data_path(written):
    fuel.config.data_path = written['folder']


def batches(stream):
    return list(stream.get_epoch_iterator())


def joined(stream, source):
    """Return the values of one source of a whole epoch."""
    place = stream.sources.index(source)
    return numpy.concatenate([batch[place] for batch in batches(stream)])


def in_order(dataset, make=DataStream, size=7):
    return make(dataset, iteration_scheme=SequentialScheme(dataset.num_examples, size))


@pytest.mark.parametrize('load_in_memory', [True, False])
@pytest.mark.parametrize('split', ['train', 'test'])
def test_mnist(written, split, load_in_memory):
    images, labels = written['mnist'][split]
    dataset = MNIST((split,), load_in_memory=load_in_memory)
    assert dataset.num_examples == len(images)
    assert dataset.provides_sources == ('features', 'targets')
    assert dataset.axis_labels == {'features': IMAGES, 'targets': ('batch', 'index')}
    stream = in_order(dataset)
    assert numpy.array_equal(joined(stream, 'features'), images[:, None])
    assert numpy.array_equal(joined(stream, 'targets'), labels[:, None])
    assert [batch[0].dtype for batch in batches(stream)] == ['uint8'] * -(-len(images) // 7)


@pytest.mark.parametrize('dtype', ['float32', 'float64'])
@pytest.mark.parametrize('load_in_memory', [True, False])
def test_plain_streams_of_mnist_give_bytes_and_default_streams_floats(
        written, dtype, load_in_memory):
    # Programs that went from one to the other without a word lost most of their accuracy.
    fuel.config.floatX = dtype
    images, labels = written['mnist']['train']
    dataset = MNIST(('train',), load_in_memory=load_in_memory)
    plain = joined(in_order(dataset), 'features')
    assert plain.dtype == 'uint8'
    assert (plain.min(), plain.max()) == (0, images.max())
    assert images.max() > 200
    stream = in_order(dataset, DataStream.default_stream)
    scaled = joined(stream, 'features')
    assert scaled.dtype == dtype
    assert scaled.min() == 0
    assert .8 < scaled.max() <= 1
    assert numpy.allclose(scaled, images[:, None] / 255., rtol=1e-6)
    targets = joined(stream, 'targets')
    assert targets.dtype == 'uint8'
    assert numpy.array_equal(targets, labels[:, None])
    assert stream.axis_labels['features'] == IMAGES


def test_mnist_of_floats_needs_no_scaling(written):
    class Floats(MNIST):
        filename = 'mnist_float32.hdf5'
        default_transformers = ()

    images, _ = written['mnist']['test']
    for make in (DataStream, DataStream.default_stream):
        found = joined(in_order(Floats(('test',)), make), 'features')
        assert found.dtype == 'float32'
        assert numpy.allclose(found, images[:, None] / 255.)


@pytest.mark.parametrize('dtype', [None, 'float32', 'float64', 'bool'])
@pytest.mark.parametrize('wanted', ['float32', 'float64'])
def test_default_streams_scale_only_bytes(tmp_path, dtype, wanted):
    images, labels = mnist.write(tmp_path)['train']
    path, = convert_mnist(str(tmp_path), str(tmp_path), 'mnist.hdf5', dtype=dtype)
    fuel.config.data_path, fuel.config.floatX = str(tmp_path), wanted
    expected = images[:, None] >= 128 if dtype == 'bool' else images[:, None] / 255
    named = str(tmp_path / 'other.hdf5')
    os.link(path, named)
    with h5py.File(named, 'r+') as h5file:
        h5file.attrs['fuel_convert_command'] = f'fuel-convert mnist --dtype {dtype}'
    made = [MNIST(('train',)), MNIST(('train',), load_in_memory=False),
            fuel.datasets.open(named, which_sets=('train',))]
    for dataset in [*made, *(pickle.loads(pickle.dumps(dataset)) for dataset in made)]:
        assert type(dataset) is MNIST
        stream = in_order(dataset, DataStream.default_stream)
        for found in (stream, pickle.loads(pickle.dumps(stream))):
            features = joined(found, 'features')
            assert features.dtype == wanted
            assert numpy.allclose(features, expected, rtol=1e-6)
            assert features.max() > .8
            assert numpy.array_equal(joined(found, 'targets')[:, 0], labels)
        assert joined(in_order(dataset), 'features').dtype == (dtype or 'uint8')
    assert 'default_transformers' not in vars(made[0])


def test_default_transformers_of_mnist_can_be_seen_and_set(written):
    scaling = uint8_pixels_to_floatX(('features',))
    assert MNIST.default_transformers == scaling
    dataset = MNIST(('test',))
    assert dataset.default_transformers == scaling
    assert MNIST(('test',), sources=('targets',)).default_transformers == scaling
    dataset.default_transformers = ()
    assert joined(in_order(dataset, DataStream.default_stream), 'features').dtype == 'uint8'


def test_both_splits_of_mnist(written):
    dataset = MNIST(('train', 'test'), sources=('targets',))
    assert dataset.num_examples == 80
    expected = numpy.concatenate([labels for _, labels in written['mnist'].values()])
    assert numpy.array_equal(joined(in_order(dataset), 'targets')[:, 0], expected)


def test_shuffled_batches_of_mnist_keep_images_and_labels_together(written):
    images, labels = written['mnist']['train']
    label_of = {image.tobytes(): label for image, label in zip(images, labels, strict=True)}
    dataset = MNIST(('train',))
    stream = DataStream(dataset, iteration_scheme=ShuffledScheme(dataset.num_examples, 16))
    for features, targets in batches(stream):
        assert [label_of[image.tobytes()] for image in features] == targets[:, 0].tolist()


@pytest.mark.parametrize('load_in_memory', [True, False])
@pytest.mark.parametrize('split', ['train', 'valid', 'test'])
@pytest.mark.parametrize('make', [DataStream, DataStream.default_stream])
def test_binarized_mnist(written, make, split, load_in_memory):
    images = written['binarized_mnist'][split]
    dataset = BinarizedMNIST((split,), load_in_memory=load_in_memory)
    assert dataset.provides_sources == ('features',)
    assert dataset.axis_labels == {'features': IMAGES}
    found = joined(in_order(dataset, make), 'features')
    assert found.dtype == 'uint8'
    assert numpy.array_equal(found, images[:, None])


@pytest.mark.parametrize('load_in_memory', [True, False])
@pytest.mark.parametrize('split', ['train', 'valid', 'test'])
@pytest.mark.parametrize('size', [16, 28])
@pytest.mark.parametrize('make', [DataStream, DataStream.default_stream])
def test_silhouettes(written, make, size, split, load_in_memory):
    prefix = caltech101_silhouettes.PREFIXES[split]
    dataset = CalTech101Silhouettes((split,), size=size, load_in_memory=load_in_memory)
    assert dataset.provides_sources == ('features', 'targets')
    assert dataset.axis_labels == {'features': IMAGES, 'targets': ('batch', 'index')}
    stream = in_order(dataset, make)
    features = joined(stream, 'features')
    assert features.dtype == 'uint8'
    assert numpy.array_equal(features, written[size][f'{prefix}_data'].reshape(-1, 1, size, size))
    assert numpy.array_equal(joined(stream, 'targets'), written[size][f'{prefix}_labels'])


def test_silhouettes_have_28_pixels_unless_told_otherwise():
    assert joined(in_order(CalTech101Silhouettes(('valid',))), 'features').shape[2:] == (28, 28)
    assert joined(in_order(CalTech101Silhouettes(('valid',), 16)), 'features').shape[2:] == (16, 16)


@pytest.mark.parametrize('size', [0, 20, '28', None])
def test_silhouettes_of_other_sizes_are_refused(size):
    with pytest.raises(ValueError, match=f'expected a size of 16 or 28; got {size!r}'):
        CalTech101Silhouettes(('train',), size=size)


SETS = [MNIST, BinarizedMNIST, CalTech101Silhouettes]


@pytest.mark.parametrize('kind', SETS)
def test_in_memory_by_default(kind):
    assert kind(('train',)).load_in_memory
    assert not kind(('train',), load_in_memory=False).load_in_memory
    assert kind(('train',), subset=slice(0, 7)).num_examples == 7


@pytest.mark.parametrize('kind', SETS)
def test_pickles_without_its_data(kind):
    dataset = kind(('train',))
    expected = joined(in_order(dataset), 'features')
    pickled = pickle.dumps(dataset)
    assert len(pickled) < 1500
    assert numpy.array_equal(joined(in_order(pickle.loads(pickled)), 'features'), expected)


@pytest.mark.parametrize('kind', SETS)
def test_unknown_split_is_named(kind):
    with pytest.raises(ValueError, match='training'):
        kind(('training',)).num_examples


@pytest.mark.parametrize(('make', 'name', 'converter'), [
    (MNIST, 'mnist.hdf5', 'mnist'), (BinarizedMNIST, 'binarized_mnist.hdf5', 'binarized_mnist'),
    (CalTech101Silhouettes, 'caltech101_silhouettes28.hdf5', 'caltech101_silhouettes')])
def test_missing_file_says_how_to_make_it(make, name, converter, tmp_path, monkeypatch):
    fuel.config.data_path = str(tmp_path)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataFileNotFoundError, match=f'fuel-convert {converter}') as caught:
        make(('train',))
    assert str(caught.value).startswith(f"{name} not found in Fuel's data path")
