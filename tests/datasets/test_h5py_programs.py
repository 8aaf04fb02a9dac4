"""HDF5 data sets as published programs subclass and call them."""
import pickle

import numpy
import pytest

from fuel.datasets import H5PYDataset
from fuel.schemes import SequentialScheme, ShuffledScheme
from fuel.storage.handles import open_handles
from fuel.streams import DataStream
from fuel.utils.pickling import do_not_pickle_attributes
from tests.storage.files import write_file

X = numpy.arange(40).reshape(20, 2)


@pytest.fixture
def path(tmp_path):
    def annotate(h5file):
        h5file['vocabulary'] = [b'a', b'b']
        h5file['y'].attrs['value_map'] = [(0, 5), (1, 6)]

    return write_file(tmp_path / 'speech.hdf5', {'x': X, 'y': numpy.arange(20)},
                      {'train': {'x': (0, 15), 'y': (0, 15)}}, edit=annotate)


@pytest.fixture(params=[False, True], ids=['file', 'memory'])
def in_memory(request):
    return request.param


class Opened(H5PYDataset):
    """Opens itself in the constructor and looks into the file."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.open()
        self.value_map = dict(self._file_handle['y'].attrs['value_map'].tolist())
        self.vocabulary = self._file_handle['vocabulary'][...].tolist()


def test_a_data_set_that_opens_itself(path, in_memory):
    dataset = Opened(file_or_path=path, which_sets=('train',), load_in_memory=in_memory)
    assert dataset.value_map == {0: 5, 1: 6}
    assert dataset.vocabulary == [b'a', b'b']
    copy = pickle.loads(pickle.dumps(dataset))
    assert copy.vocabulary == [b'a', b'b']
    assert copy.get_data(None, [3])[1].tolist() == [3]
    dataset.close(None)
    copy.close(None)


@do_not_pickle_attributes('text')
class WithText(H5PYDataset):
    """Loads more than the base class does."""

    filename = 'speech.hdf5'

    def load(self):
        super().load()
        self._out_of_memory_open()
        handle = self._file_handle
        self.text = handle['vocabulary'][...].tolist()
        self._out_of_memory_close()


def test_load_is_extended(path, in_memory):
    dataset = WithText(path, ('train',), load_in_memory=in_memory)
    assert dataset.text == [b'a', b'b']
    assert path not in open_handles()
    copy = pickle.loads(pickle.dumps(dataset))
    assert '_text' not in copy.__dict__
    assert copy.text == [b'a', b'b']
    assert copy.get_data(None, [3])[1].tolist() == [3]
    copy.close(None)


@do_not_pickle_attributes('data_sources', 'external_file_handle', 'source_shapes', 'subsets')
class WithTheNamesOfTheBase(H5PYDataset):
    """Repeats the decoration of the base class."""


def test_names_of_the_base_class_may_be_repeated(path, in_memory):
    dataset = WithTheNamesOfTheBase(path, ('train',), load_in_memory=in_memory)
    copy = pickle.loads(pickle.dumps(dataset))
    assert copy.external_file_handle is None
    assert copy.num_examples == 15
    assert copy.get_data(None, [3])[1].tolist() == [3]
    copy.close(None)


class WithDataPath(H5PYDataset):
    """Takes its file from a property that others replace."""

    filename = 'nowhere.hdf5'

    def __init__(self, which_sets, **kwargs):
        super().__init__(self.data_path, which_sets, **kwargs)

    @property
    def data_path(self):
        return self.filename


def test_the_file_name_may_become_a_property(path, monkeypatch):
    monkeypatch.setattr(WithDataPath, 'filename', property(lambda self: path))
    dataset = WithDataPath(('train',))
    assert dataset.data_path == path
    assert dataset.num_examples == 15
    copy = pickle.loads(pickle.dumps(dataset))
    assert copy.get_data(None, 4)[1].tolist() == 4
    copy.close(None)


class Doubled(H5PYDataset):
    """Overrides get_data and passes on what it is given."""

    requests = ()

    def get_data(self, state=None, request=None):
        self.requests = (*self.requests, request)
        x, y = super().get_data(state, request)
        return 2 * x, y


def test_an_overridden_get_data_is_given_lists(path):
    dataset = Doubled(path, ('train',), load_in_memory=True)
    assert not Doubled.takes_index_arrays
    assert H5PYDataset.takes_index_arrays
    stream = DataStream(dataset, iteration_scheme=ShuffledScheme(15, 5))
    for x, y in stream.get_epoch_iterator():
        assert numpy.array_equal(x, 2 * X[y])
    assert all(type(request) is list for request in dataset.requests)


class Normalized(H5PYDataset):
    """Changes the data in memory after loading them."""

    def load(self):
        super().load()
        if self.load_in_memory:
            x, y = self.data_sources
            self.data_sources = [x - x[0], y]


def test_data_in_memory_may_be_changed_by_load(path):
    dataset = Normalized(path, ('train',), subset=slice(5, 10), load_in_memory=True)
    assert dataset.get_data(None, [0, 1])[0].tolist() == [[0, 0], [2, 2]]
    copy = pickle.loads(pickle.dumps(dataset))
    assert copy.get_data(None, [0, 1])[0].tolist() == [[0, 0], [2, 2]]


class Renamed(H5PYDataset):
    """Makes sources a property that cannot be set."""

    @property
    def sources(self):
        return ('y',)


def test_sources_may_be_overridden(path, in_memory):
    dataset = Renamed(path, ('train',), load_in_memory=in_memory)
    assert [data.tolist() for data in dataset.get_data(None, [4, 1])] == [[4, 1]]
    dataset.close(None)


class OwnState(H5PYDataset):
    """Has a state, which it uses itself."""

    def open(self):
        super().open()
        return ['state']

    def close(self, state):
        super().close(None)

    def get_data(self, state=None, request=None):
        assert state == ['state']
        return super().get_data(None, request)


def test_a_subclass_may_have_a_state(path, in_memory):
    dataset = OwnState(path, ('train',), load_in_memory=in_memory)
    stream = DataStream(dataset, iteration_scheme=SequentialScheme(15, 10))
    for _ in range(2):
        assert [len(y) for _, y in stream.get_epoch_iterator()] == [10, 5]
    stream.close()


def test_the_request_of_another_program(path, in_memory):
    """A transformer that whitens reads everything of the stream's data set at once."""
    stream = DataStream(H5PYDataset(path, ('train',), load_in_memory=in_memory),
                        iteration_scheme=SequentialScheme(15, 5))
    x, y = stream.get_data(slice(0, stream.dataset.num_examples))
    assert numpy.array_equal(x, X[:15])
    assert y.tolist() == list(range(15))
    stream.close()
