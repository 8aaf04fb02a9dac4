from __future__ import annotations

import os
import pickle
from importlib import resources

import numpy
import pytest

import fuel
from fuel.bin import fuel_convert, fuel_download
from fuel.datasets.iris import Iris
from fuel.exceptions import DataFileNotFoundError

RAW = (resources.files('fuel.downloaders') / 'bundled' / 'iris.data').read_text().splitlines()
NAMES = ['Iris-setosa', 'Iris-versicolor', 'Iris-virginica']
SIZES = {'train': 100, 'valid': 20, 'test': 30, 'all': 150}


@pytest.fixture(scope='module')
def folder(tmp_path_factory):
    """Return a folder with the converted file, made by the commands."""
    from tests.loopback import closed_port
    folder = tmp_path_factory.mktemp('iris')
    patch = pytest.MonkeyPatch()
    with patch.context() as context:
        # The public address is not asked for in tests.
        original = fuel_download.downloaders()['iris']

        def fill_subparser(subparser):
            function = original(subparser)
            subparser.set_defaults(urls=[closed_port()])
            return function

        context.setattr(fuel_download, 'downloaders', lambda: {'iris': fill_subparser})
        fuel_download.main(['iris', '-d', str(folder)])
    fuel_convert.main(['iris', '-d', str(folder), '-o', str(folder)])
    fuel_download.main(['iris', '-d', str(folder), '--clear'])
    assert os.listdir(folder) == ['iris.hdf5']
    return folder


@pytest.fixture
def data_path(folder):
    fuel.config.data_path = str(folder)


def independent():
    table = numpy.loadtxt(RAW, delimiter=',', converters={4: NAMES.index})
    return table[:, :4].astype('float32'), table[:, 4:].astype('uint8')


def everything(dataset):
    state = dataset.open()
    try:
        return dataset.get_data(state, slice(0, dataset.num_examples))
    finally:
        dataset.close(state)


def test_as_the_documentation_has_it(data_path):
    train_set = Iris(('train',))
    assert train_set.axis_labels['features'] == ('batch', 'feature')
    assert train_set.axis_labels['targets'] == ('batch', 'index')
    handle = train_set.open()
    data = train_set.get_data(handle, slice(0, 10))
    assert (data[0].shape, data[1].shape) == ((10, 4), (10, 1))
    train_set.close(handle)


@pytest.mark.parametrize('load_in_memory', [True, False])
@pytest.mark.parametrize('split', SIZES)
def test_every_split_has_its_rows(data_path, split, load_in_memory):
    features, targets = independent()
    order = numpy.random.RandomState(1).permutation(150)
    rows = {'train': order[:100], 'valid': order[100:120], 'test': order[120:],
            'all': order}[split]
    rows = numpy.sort(rows)
    dataset = Iris((split,), load_in_memory=load_in_memory)
    assert dataset.num_examples == SIZES[split]
    data = everything(dataset)
    assert dataset.sources == (('features',) if split == 'test' else ('features', 'targets'))
    assert data[0].dtype == 'float32'
    assert numpy.array_equal(data[0], features[rows])
    if split != 'test':
        assert data[1].dtype == 'uint8'
        assert numpy.array_equal(data[1], targets[rows])


def test_splits_divide_all_examples(data_path):
    parts = numpy.concatenate([everything(Iris((split,)))[0]
                               for split in ('train', 'valid', 'test')])
    assert sorted(parts.tolist()) == sorted(independent()[0].tolist())


def test_several_splits(data_path):
    features, targets = independent()
    order = numpy.random.RandomState(1).permutation(150)
    rows = numpy.sort(order[:120])
    found = everything(Iris(('train', 'valid')))
    assert numpy.array_equal(found[0], features[rows])
    assert numpy.array_equal(found[1], targets[rows])
    assert Iris(('train', 'test')).sources == ('features',)


def test_in_memory_by_default(data_path):
    assert Iris(('train',)).load_in_memory
    assert Iris(('train',), sources=('targets',), subset=slice(0, 7)).num_examples == 7


def test_unknown_split_is_named(data_path):
    with pytest.raises(ValueError, match='training'):
        Iris(('training',)).num_examples


def test_shuffled_batches_keep_rows_together(data_path):
    from fuel.schemes import ShuffledScheme
    from fuel.streams import DataStream
    features, targets = independent()
    pairs = {(tuple(row), int(target)) for row, target in zip(features.tolist(), targets[:, 0],
                                                              strict=True)}
    dataset = Iris(('train',))
    stream = DataStream.default_stream(
        dataset, iteration_scheme=ShuffledScheme(dataset.num_examples, 16))
    seen = [(tuple(row), int(target)) for batch in stream.get_epoch_iterator()
            for row, target in zip(batch[0].tolist(), batch[1][:, 0], strict=True)]
    assert len(seen) == 100
    assert set(seen) <= pairs


def test_pickles_without_its_data(data_path):
    pickled = pickle.dumps(Iris(('all',)))
    assert len(pickled) < 1500
    assert numpy.array_equal(everything(pickle.loads(pickled))[0], independent()[0])


def test_missing_file_says_how_to_make_it(tmp_path, monkeypatch):
    fuel.config.data_path = str(tmp_path)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DataFileNotFoundError, match='fuel-download iris && fuel-convert iris'):
        Iris(('train',))


def test_filename_can_be_changed_by_a_subclass(folder, data_path, tmp_path):
    class Flowers(Iris):
        filename = 'flowers.hdf5'

    with pytest.raises(DataFileNotFoundError, match=r'flowers\.hdf5'):
        Flowers(('train',))
