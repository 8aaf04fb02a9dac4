"""The contract of the library, over every transformer of images."""
import io

import numpy
import pytest

from fuel.datasets import IndexableDataset
from fuel.schemes import ConstantScheme
from fuel.testing import check_stream, check_transformer
from fuel.transformers import Batch, Unpack
from fuel.transformers.defaults import ToBytes
from fuel.transformers.image import (
    CenterCrop,
    FixedCrop,
    ImagesFromBytes,
    MinimumImageDimensions,
    Random2DRotation,
    RandomFixedSizeCrop,
    RandomHorizontalFlip,
    RandomResizedCrop,
    RandomResizedCropFromBytes,
    Resize,
)
from tests.contracts import chains
from tests.contracts.chains import COUNT, made, over

AXES = ('batch', 'channel', 'height', 'width')
LABELS = {'features': AXES, 'targets': ('batch', 'index')}


def ragged():
    return [numpy.random.RandomState(place).randint(
        256, size=(3, 5 + place % 3, 8 - place % 4)).astype('uint8') for place in range(COUNT)]


def regular():
    return numpy.random.RandomState(3).randint(256, size=(COUNT, 3, 6, 7)).astype('uint8')


def of(images):
    return IndexableDataset({'features': images, 'targets': numpy.arange(COUNT)[:, None]},
                            axis_labels=LABELS)


def as_array():
    return of(regular())


def as_floats():
    return of(regular()[:, :1].astype('float32'))


def as_list():
    return of(ragged())


def as_objects():
    images = numpy.empty(COUNT, dtype=object)
    images[:] = ragged()
    return of(images)


def as_files():
    from PIL import Image
    files = []
    for place, image in enumerate(ragged()):
        file = io.BytesIO()
        Image.fromarray(image.transpose(1, 2, 0)).save(file, ('PNG', 'JPEG')[place % 2])
        files.append(numpy.frombuffer(file.getvalue(), 'uint8').copy())
    return of(files)


WHICH = {'which_sources': ('features',)}
TRANSFORMERS = {
    'random crop': lambda stream: RandomFixedSizeCrop(stream, (4, 3), **WHICH),
    'random crop with rng': lambda stream: RandomFixedSizeCrop(
        stream, (4, 3), rng=numpy.random.RandomState(5), **WHICH),
    'center crop': lambda stream: CenterCrop(stream, (4, 3), **WHICH),
    'fixed crop': lambda stream: FixedCrop(stream, (4, 3), (-1, 1), **WHICH),
    'minimum': lambda stream: MinimumImageDimensions(stream, (7, 7), **WHICH),
    'resize': lambda stream: Resize(stream, (4, 9), **WHICH),
    'resize short side': lambda stream: Resize(stream, 4, 'lanczos', **WHICH),
    'rotation': lambda stream: Random2DRotation(stream, **WHICH),
    'rotation with rng': lambda stream: Random2DRotation(
        stream, 1.0, 'bilinear', rng=numpy.random.default_rng(1), **WHICH),
    'flip': lambda stream: RandomHorizontalFlip(stream, **WHICH),
    'random resized crop': lambda stream: RandomResizedCrop(stream, (5, 5), **WHICH),
}
DECODERS = {
    'to bytes': lambda stream: ToBytes(stream, **WHICH),
    'images from bytes': lambda stream: ImagesFromBytes(ToBytes(stream, **WHICH), **WHICH),
    'window from bytes': lambda stream: RandomResizedCropFromBytes(
        ToBytes(stream, **WHICH), (5, 5), **WHICH),
}
SCHEMES = [chains.shuffled, chains.single_shuffled]


def name_of(value):
    return getattr(value, '__name__', None)


@pytest.mark.parametrize('name', TRANSFORMERS)
@pytest.mark.parametrize('scheme', SCHEMES, ids=name_of)
@pytest.mark.parametrize('dataset', [as_array, as_floats, as_list, as_objects], ids=name_of)
def test_transformer(name, scheme, dataset):
    check_transformer(TRANSFORMERS[name], made(over, dataset, scheme),
                      remembers=name.endswith('with rng'))


@pytest.mark.parametrize('name', DECODERS)
@pytest.mark.parametrize('scheme', SCHEMES, ids=name_of)
def test_decoder(name, scheme):
    check_transformer(DECODERS[name], made(over, as_files, scheme))


def long_chain(dataset, scheme, *names):
    stream = over(dataset, scheme)
    if dataset is as_files:
        stream = DECODERS['images from bytes'](stream)
    for name in names:
        stream = TRANSFORMERS[name](stream)
    if stream.produces_examples:
        stream = Unpack(Batch(stream, ConstantScheme(3)))
    return stream


LONG = ('minimum', 'rotation', 'flip', 'random crop', 'resize', 'random resized crop',
        'fixed crop', 'random crop', 'flip', 'resize short side')


@pytest.mark.parametrize('scheme', SCHEMES, ids=name_of)
@pytest.mark.parametrize('dataset', [as_array, as_files], ids=name_of)
def test_long_chain_in_new_process(dataset, scheme):
    check_stream(made(long_chain, dataset, scheme, *LONG))


@pytest.mark.parametrize('scheme', SCHEMES, ids=name_of)
def test_long_chain_with_given_rng_in_new_process(scheme):
    check_stream(made(long_chain, as_objects, scheme, 'minimum', 'rotation with rng',
                      'random crop with rng'), remembers=True)
