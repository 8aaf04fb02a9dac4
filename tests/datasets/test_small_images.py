"""The classes of CIFAR-10, CIFAR-100 and SVHN, made of raw files by the commands' converters."""
from __future__ import annotations

import os
import pickle

import numpy
import pytest

import fuel
from fuel.bin import fuel_convert
from fuel.datasets import CIFAR10, CIFAR100, SVHN
from fuel.exceptions import DataFileNotFoundError
from fuel.schemes import SequentialScheme, ShuffledScheme
from fuel.streams import DataStream
from tests.raw import cifar10, cifar100, svhn


@pytest.fixture(scope='module')
def made(tmp_path_factory):
    """Return the folder of the converted files, and what the raw ones were made of."""
    folder = tmp_path_factory.mktemp('small')
    contents = {'cifar10': cifar10.write(folder, 16, 24),
                'cifar100': cifar100.write(folder, 60, 20),
                1: svhn.write(folder, 1, 12), 2: svhn.write(folder, 2, 30)}
    for arguments in (['cifar10'], ['cifar100'], ['svhn', '1'], ['svhn', '2']):
        fuel_convert.main([*arguments, '-d', str(folder), '-o', str(folder)])
    return folder, contents


@pytest.fixture
def contents(made):
    folder, contents = made
    fuel.config.data_path = str(folder)
    return contents


def everything(dataset):
    state = dataset.open()
    try:
        return dict(zip(dataset.sources, dataset.get_data(state, slice(0, dataset.num_examples)),
                        strict=True))
    finally:
        dataset.close(state)


@pytest.mark.parametrize('load_in_memory', [True, False])
def test_cifar10(contents, load_in_memory):
    batches = contents['cifar10']
    for split, of_split in (('train', batches[:5]), ('test', batches[5:])):
        dataset = CIFAR10((split,), load_in_memory=load_in_memory)
        assert dataset.sources == ('features', 'targets')
        assert dataset.axis_labels == {'features': ('batch', 'channel', 'height', 'width'),
                                       'targets': ('batch', 'index')}
        data = everything(dataset)
        assert data['features'].dtype == data['targets'].dtype == 'uint8'
        assert numpy.array_equal(data['features'],
                                 numpy.concatenate([images for images, _ in of_split]))
        assert data['targets'].shape == (dataset.num_examples, 1)
        assert numpy.array_equal(data['targets'][:, 0],
                                 numpy.concatenate([labels for _, labels in of_split]))
    assert CIFAR10(('train', 'test')).num_examples == 104


@pytest.mark.parametrize('load_in_memory', [True, False])
def test_cifar100(contents, load_in_memory):
    for split, (images, fine) in contents['cifar100'].items():
        dataset = CIFAR100((split,), load_in_memory=load_in_memory)
        assert dataset.sources == ('coarse_labels', 'features', 'fine_labels')
        data = everything(dataset)
        assert numpy.array_equal(data['features'], images)
        assert numpy.array_equal(data['fine_labels'], fine[:, None])
        assert numpy.array_equal(data['coarse_labels'], fine[:, None] // 5)


@pytest.mark.parametrize('load_in_memory', [True, False])
def test_svhn_digits(contents, load_in_memory):
    for split, (images, labels) in contents[2].items():
        dataset = SVHN(2, (split,), load_in_memory=load_in_memory)
        data = everything(dataset)
        assert numpy.array_equal(data['features'], images.transpose(3, 2, 0, 1))
        assert numpy.array_equal(data['targets'], labels % 10)


@pytest.mark.parametrize('load_in_memory', [True, False])
def test_svhn_pictures(contents, load_in_memory):
    for split, houses in contents[1].items():
        dataset = SVHN(1, (split,), load_in_memory=load_in_memory)
        assert dataset.sources == ('bbox_heights', 'bbox_labels', 'bbox_lefts', 'bbox_tops',
                                   'bbox_widths', 'features')
        assert dataset.axis_labels['features'] == ('batch', 'channel', 'height', 'width')
        assert dataset.axis_labels['bbox_labels'] == ('batch', 'bounding_box', 'index')
        data = everything(dataset)
        for number, (picture, boxes) in enumerate(houses):
            assert numpy.array_equal(data['features'][number], picture.transpose(2, 0, 1))
            assert data['bbox_labels'][number].dtype == 'uint8'
            assert data['bbox_labels'][number].tolist() == [[label % 10]
                                                            for label in boxes['label']]
            for name in ('left', 'top', 'width', 'height'):
                assert data[f'bbox_{name}s'][number].dtype == 'uint16'
                assert data[f'bbox_{name}s'][number].tolist() == [[max(0, value)]
                                                                  for value in boxes[name]]


def test_in_memory_by_default_or_not(contents):
    assert CIFAR10(('test',)).load_in_memory
    assert CIFAR100(('test',)).load_in_memory
    assert not SVHN(1, ('test',)).load_in_memory
    assert not SVHN(2, ('test',)).load_in_memory


@pytest.mark.parametrize('make', [lambda: CIFAR10(('train',)), lambda: CIFAR100(('train',)),
                                  lambda: SVHN(2, ('train', 'extra'))])
@pytest.mark.parametrize('floatX', ['float32', 'float64'])
def test_default_streams_scale_pixels(contents, make, floatX):
    fuel.config.floatX = floatX
    dataset = make()
    plain, default = (form(dataset, iteration_scheme=ShuffledScheme(dataset.num_examples, 7))
                      for form in (DataStream, DataStream.default_stream))
    count = 0
    for one, other in zip(plain.get_epoch_iterator(as_dict=True),
                          default.get_epoch_iterator(as_dict=True), strict=True):
        assert other['features'].dtype == floatX
        assert numpy.allclose(other['features'], one['features'] / 255.)
        assert other['features'].max() <= 1
        for source in set(one) - {'features'}:
            assert other[source].dtype == 'uint8'
            assert numpy.array_equal(one[source], other[source])
        count += len(one['features'])
    assert count == dataset.num_examples


def test_default_stream_of_pictures_of_different_shapes(contents):
    fuel.config.floatX = 'float32'
    dataset = SVHN(1, ('test',))
    stream = DataStream.default_stream(dataset, iteration_scheme=SequentialScheme(12, 5))
    pictures = [picture for batch in stream.get_epoch_iterator(as_dict=True)
                for picture in batch['features']]
    for found, (picture, _) in zip(pictures, contents[1]['test'], strict=True):
        assert found.dtype == 'float32'
        assert numpy.allclose(found, picture.transpose(2, 0, 1) / 255.)


@pytest.mark.parametrize('make', [lambda: CIFAR10(('train',)), lambda: CIFAR100(('test',)),
                                  lambda: SVHN(1, ('extra',)), lambda: SVHN(2, ('test',))])
def test_pickling_in_the_middle_of_an_epoch(contents, make):
    dataset = make()
    stream = DataStream.default_stream(dataset, iteration_scheme=ShuffledScheme(
        dataset.num_examples, 5))
    epoch = stream.get_epoch_iterator(as_dict=True)
    next(epoch)
    pickled = pickle.dumps(epoch)
    assert len(pickled) < 20000
    for one, other in zip(epoch, pickle.loads(pickled), strict=True):
        for source, values in one.items():
            assert all(numpy.array_equal(value, same)
                       for value, same in zip(values, other[source], strict=True))


def test_arguments(contents):
    assert SVHN(which_format=2, which_sets=('test',)).which_format == 2
    assert CIFAR10(('train',), subset=slice(0, 9), sources=('targets',)).num_examples == 9
    for wrong in (3, '2', None, ('train',)):
        with pytest.raises(ValueError, match=r'1 or 2; got .*SVHN\(which_format, which_sets\)'):
            SVHN(wrong, 2)
    with pytest.raises(ValueError, match="no split 'extra'"):
        CIFAR10(('extra',)).num_examples


@pytest.mark.parametrize(('make', 'name'), [
    (lambda: CIFAR10(('train',)), 'cifar10.hdf5'), (lambda: CIFAR100(('train',)), 'cifar100.hdf5'),
    (lambda: SVHN(1, ('train',)), 'svhn_format_1.hdf5'),
    (lambda: SVHN(2, ('train',)), 'svhn_format_2.hdf5')])
def test_missing_files(tmp_path, monkeypatch, make, name):
    fuel.config.data_path = str(tmp_path)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataFileNotFoundError) as caught:
        make()
    assert name in str(caught.value)
    data_set = name.removesuffix('.hdf5')
    command = f'svhn {data_set[-1]}' if 'svhn' in name else data_set
    assert f'fuel-download {command} && fuel-convert {command}' in str(caught.value)
    assert os.listdir(tmp_path) == []
