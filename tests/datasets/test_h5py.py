"""What the documentation says about HDF5 data sets, and the rules of the constructor."""
import gc
import io
import pathlib

import h5py
import numpy
import pytest

from fuel.datasets.hdf5 import H5PYDataset
from fuel.schemes import SequentialScheme, ShuffledScheme
from fuel.storage.handles import open_handles
from fuel.streams import DataStream
from tests.storage.files import set_splits, some_images, write_file, write_ragged

IMAGES = numpy.random.RandomState(0).randint(256, size=(100, 3, 5, 5)).astype('uint8')
TARGETS = numpy.arange(100, dtype='uint8')[:, None]
VECTORS = numpy.random.RandomState(1).normal(size=(100, 10)).astype('float32')
SOURCES = {'vector_features': VECTORS, 'image_features': IMAGES, 'targets': TARGETS}
LABELS = {'vector_features': ('batch', 'feature'), 'targets': ('batch', 'index'),
          'image_features': ('batch', 'channel', 'height', 'width')}
SPLITS = {'train': dict.fromkeys(SOURCES, (0, 90)), 'test': dict.fromkeys(SOURCES, (90, 100))}


@pytest.fixture
def path(tmp_path):
    return write_file(tmp_path / 'dataset.hdf5', SOURCES, SPLITS, LABELS)


def everything(dataset):
    handle = dataset.open()
    data = dataset.get_data(handle, slice(0, dataset.num_examples))
    dataset.close(handle)
    return dict(zip(dataset.sources, data, strict=True))


@pytest.fixture(params=[False, True], ids=['file', 'memory'])
def in_memory(request):
    return request.param


def test_splits_are_read(path, in_memory):
    train = H5PYDataset(path, which_sets=('train',), load_in_memory=in_memory)
    test = H5PYDataset(path, which_sets=('test',), load_in_memory=in_memory)
    assert (train.num_examples, test.num_examples) == (90, 10)
    for dataset, rows in ((train, slice(0, 90)), (test, slice(90, 100))):
        for source, data in everything(dataset).items():
            assert numpy.array_equal(data, SOURCES[source][rows])
            assert data.dtype == SOURCES[source].dtype


def test_sources_and_labels_are_found_in_the_file(path):
    dataset = H5PYDataset(path, which_sets=('train',))
    assert dataset.provides_sources == ('image_features', 'targets', 'vector_features')
    assert dataset.sources == dataset.provides_sources
    assert dataset.axis_labels == dataset.default_axis_labels == LABELS
    assert dataset.which_sets == ('train',)
    assert dataset.vlen_sources == ()
    assert dataset.path == path


def test_several_splits_are_concatenated_in_the_order_of_the_file(path, in_memory):
    for names in (('train', 'test'), ('test', 'train'), ['test', 'train', 'test']):
        dataset = H5PYDataset(path, which_sets=names, load_in_memory=in_memory)
        assert dataset.num_examples == 100
        assert numpy.array_equal(everything(dataset)['targets'], TARGETS)


@pytest.mark.parametrize(('subset', 'rows'), [
    (slice(0, 80), range(80)), (slice(80, 90), range(80, 90)), (slice(None), range(90)),
    (None, range(90)), ([3, 1, 1, 60], [1, 3, 60]), ((5, 4), [4, 5]),
    (numpy.array([80, 2]), [2, 80]), (numpy.arange(90) % 30 == 7, [7, 37, 67]),
    (slice(0, 90, 20), range(0, 90, 20)), (slice(-10, None), range(80, 90)),
    (slice(None, -88), range(2)), (range(3, 9, 3), [3, 6]), ([True] + [False] * 89, [0])])
def test_a_subset_of_a_split(path, in_memory, subset, rows):
    dataset = H5PYDataset(path, which_sets=('train',), subset=subset, load_in_memory=in_memory)
    assert dataset.num_examples == len(rows)
    for source, data in everything(dataset).items():
        assert numpy.array_equal(data, SOURCES[source][list(rows)])


def test_a_subset_counts_within_the_split(path):
    dataset = H5PYDataset(path, which_sets=('test',), subset=[0, 9])
    assert everything(dataset)['targets'].tolist() == [[90], [99]]


@pytest.mark.parametrize('subset', [[], (), numpy.array([], dtype=int), slice(3, 3),
                                    numpy.zeros(10, dtype=bool)])
def test_an_empty_subset_is_refused(path, subset):
    with pytest.raises(ValueError, match='at least one'):
        H5PYDataset(path, which_sets=('test',), subset=subset)


@pytest.mark.parametrize('subset', [[10], [-1], slice(0, 11), slice(-11, None), 'abc', 3, {0: 1},
                                    slice(None, None, -1), numpy.ones(9, dtype=bool), [0.5]])
def test_a_subset_that_is_not_in_the_split_is_refused(path, subset):
    with pytest.raises(ValueError, match='expected|index'):
        H5PYDataset(path, which_sets=('test',), subset=subset)


def test_some_sources(path, in_memory):
    dataset = H5PYDataset(path, which_sets=('train',), subset=slice(0, 80),
                          sources=['vector_features'], load_in_memory=in_memory)
    assert dataset.sources == ('vector_features',)
    data, = dataset.get_data(dataset.open(), slice(0, 10))
    assert numpy.array_equal(data, VECTORS[:10])
    assert set(dataset.axis_labels) == set(SOURCES)
    dataset.close(None)


def test_sources_keep_the_order_given(path, in_memory):
    dataset = H5PYDataset(path, which_sets=('train',), sources=('targets', 'image_features'),
                          load_in_memory=in_memory)
    targets, images = dataset.get_data(None, [4, 2])
    assert targets.tolist() == [[4], [2]]
    assert numpy.array_equal(images, IMAGES[[4, 2]])
    assert [shape[0] for shape in dataset.source_shapes] == [90, 90]
    assert dataset.source_shapes[1] == (90, 3, 5, 5)


def test_sources_changed_later_are_followed(path, in_memory):
    dataset = H5PYDataset(path, which_sets=('train',), sources=('targets',),
                          load_in_memory=in_memory)
    dataset.sources = ('vector_features', 'targets')
    vectors, targets = dataset.get_data(None, [5])
    assert numpy.array_equal(vectors, VECTORS[[5]])
    assert targets.tolist() == [[5]]
    dataset.sources = ('image_features',)
    image, = dataset.get_data(None, 5)
    assert numpy.array_equal(image, IMAGES[5])


def test_only_what_was_requested_is_loaded(path):
    dataset = H5PYDataset(path, which_sets=('train',), subset=slice(0, 80),
                          sources=['vector_features'], load_in_memory=True)
    data, = dataset.data_sources
    assert type(data) is numpy.ndarray
    assert data.shape == (80, 10)
    assert H5PYDataset(path, which_sets=('train',)).data_sources is None


def test_data_in_memory_need_no_file(path):
    dataset = H5PYDataset(path, which_sets=('train',), load_in_memory=True)
    pathlib.Path(path).unlink()
    assert dataset.open() is None
    assert numpy.array_equal(dataset.get_data(None, [7])[0], IMAGES[[7]])
    dataset.close(None)


def test_the_sources_are_those_that_all_splits_have(tmp_path):
    path = write_file(tmp_path / 'f.hdf5', {'x': numpy.arange(6), 'y': numpy.arange(4)},
                      {'train': {'x': (0, 4), 'y': (0, 4)}, 'test': {'x': (4, 6)}})
    assert H5PYDataset(path, ('train',)).provides_sources == ('x', 'y')
    assert H5PYDataset(path, ('test',)).provides_sources == ('x',)
    both = H5PYDataset(path, ('train', 'test'))
    assert both.provides_sources == ('x',)
    assert both.num_examples == 6
    with pytest.raises(ValueError, match="does not provide 'y'"):
        H5PYDataset(path, ('test',), sources=('y',))


def test_axis_labels_can_be_given(path):
    assert H5PYDataset(path, ('train',), axis_labels=None).axis_labels is None
    labels = {'targets': ('batch', 'number')}
    dataset = H5PYDataset(path, ('train',), axis_labels=labels)
    assert dataset.axis_labels == labels
    assert dataset.default_axis_labels == LABELS


def test_splits_by_reference(path, in_memory):
    with h5py.File(path, 'a') as h5file:
        set_splits(h5file, {'even': dict.fromkeys(SOURCES, numpy.arange(0, 100, 2)),
                            'odd': dict.fromkeys(SOURCES, numpy.arange(1, 100, 2))})
    for name, start in (('even', 0), ('odd', 1)):
        dataset = H5PYDataset(path, (name,), load_in_memory=in_memory)
        assert dataset.num_examples == 50
        for source, data in everything(dataset).items():
            assert numpy.array_equal(data, SOURCES[source][start::2])
    assert H5PYDataset(path, ('odd', 'even')).num_examples == 100


def test_rows_of_different_sources_correspond(tmp_path, in_memory):
    path = write_file(tmp_path / 'f.hdf5', {'x': numpy.arange(10), 'y': numpy.arange(90)},
                      {'a': {'x': [7, 2, 5], 'y': [20, 70, 50]}})
    dataset = H5PYDataset(path, ('a',), load_in_memory=in_memory)
    x, y = dataset.get_data(None, slice(0, 3))
    assert list(zip(x, y, strict=True)) == [(2, 70), (5, 50), (7, 20)]
    x, y = dataset.get_data(None, [2, 0, 2])
    assert list(zip(x, y, strict=True)) == [(7, 20), (2, 70), (7, 20)]
    part = H5PYDataset(path, ('a',), subset=[2, 1], load_in_memory=in_memory)
    x, y = part.get_data(None, slice(0, 2))
    assert list(zip(x, y, strict=True)) == [(5, 50), (7, 20)]


def test_images_of_different_shapes(tmp_path, in_memory):
    images = some_images(20)
    path = write_ragged(tmp_path / 'f.hdf5', images)
    dataset = H5PYDataset(path, ('all',), load_in_memory=in_memory, sources=('images',))
    assert dataset.axis_labels['images'] == ('batch', 'channel', 'height', 'width')
    assert dataset.vlen_sources == ('images',)
    assert dataset.source_shapes == [(20, None, None, None)]
    assert dataset.source_dtypes == [numpy.uint8]
    data, = dataset.get_data(dataset.open(), slice(0, 10))
    assert (type(data), data.dtype, data.shape) == (numpy.ndarray, object, (10,))
    for read, image in zip(data, images, strict=False):
        assert numpy.array_equal(read, image)
    dataset.close(None)


def test_shapes_and_dtypes_are_known_without_reading(path, monkeypatch):
    dataset = H5PYDataset(path, ('train',), subset=slice(0, 30))

    def read(self, positions):
        raise AssertionError('no row is to be read')

    monkeypatch.setattr('fuel.storage.readers.rows.LibraryRows.read', read)
    dataset = H5PYDataset(path, ('train',), subset=slice(0, 30))
    assert dataset.source_shapes == [(30, 3, 5, 5), (30, 1), (30, 10)]
    assert dataset.source_dtypes == [numpy.uint8, numpy.uint8, numpy.float32]


def test_an_open_file_is_used_and_left_open(path, in_memory):
    with h5py.File(path) as h5file:
        dataset = H5PYDataset(h5file, ('test',), load_in_memory=in_memory)
        assert dataset.external_file_handle is h5file
        assert dataset._file_handle is h5file
        assert dataset.path == path
        dataset.open()
        assert numpy.array_equal(dataset.get_data(None, [1, 0])[1], [[91], [90]])
        dataset.close(None)
        dataset.close(None)
        assert h5file
        assert path not in open_handles()
    if in_memory:
        assert dataset.get_data(None, [3])[1].tolist() == [[93]]
    else:
        with pytest.raises(ValueError, match='to stay open; it has been closed'):
            dataset.get_data(None, [3])


def test_a_file_that_was_closed_is_refused(path):
    with h5py.File(path) as h5file:
        pass
    with pytest.raises(ValueError, match='one that is closed'):
        H5PYDataset(h5file, ('test',))


def test_a_file_that_is_only_in_memory(in_memory):
    with h5py.File(io.BytesIO(), 'w') as h5file:
        h5file['x'] = numpy.arange(5)
        set_splits(h5file, {'all': {'x': (0, 5)}})
        dataset = H5PYDataset(h5file, ('all',), load_in_memory=in_memory)
        assert dataset.get_data(None, [3, 1])[0].tolist() == [3, 1]


@pytest.mark.parametrize('driver', [None, 'sec2', 'stdio', 'core'])
def test_drivers(path, driver):
    dataset = H5PYDataset(path, ('test',), driver=driver)
    dataset.open()
    assert dataset.driver == driver
    if driver is not None:
        assert dataset._file_handle.driver == driver
    assert dataset.get_data(None, [1])[1].tolist() == [[91]]
    dataset.close(None)


def test_paths_of_every_kind(path, monkeypatch):
    for given in (pathlib.Path(path), path.encode()):
        assert H5PYDataset(given, ('test',)).path == path
    monkeypatch.chdir(pathlib.Path(path).parent)
    assert H5PYDataset('dataset.hdf5', ('test',)).get_data(None, 0)[1].tolist() == [90]


@pytest.mark.parametrize('which_sets', ['train', b'train', (), [], ('train', 3), None, 5])
def test_which_sets_are_several_names(path, which_sets):
    with pytest.raises(ValueError, match='which_sets'):
        H5PYDataset(path, which_sets)


def test_an_unknown_split_or_source_names_the_known(path):
    with pytest.raises(ValueError, match="no split 'valid'.*'train', 'test'"):
        H5PYDataset(path, ('valid',))
    with pytest.raises(ValueError, match="does not provide 'sound'.*'targets'"):
        H5PYDataset(path, ('train',), sources=('targets', 'sound'))


def test_an_empty_split_has_no_examples(tmp_path, in_memory):
    path = write_file(tmp_path / 'f.hdf5', {'x': numpy.arange(5)}, {'none': {'x': (2, 2)}})
    dataset = H5PYDataset(path, ('none',), load_in_memory=in_memory)
    assert dataset.num_examples == 0
    with pytest.raises(AttributeError, match='no example iteration scheme'):
        dataset.example_iteration_scheme
    with pytest.raises(ValueError, match='expected'):
        dataset.get_data(None, slice(0, 1))


def test_what_can_be_found_out_about_a_file(path):
    with h5py.File(path) as h5file:
        assert H5PYDataset.get_all_splits(h5file) == ('train', 'test')
        assert H5PYDataset.get_all_sources(h5file) == tuple(sorted(SOURCES))
        assert H5PYDataset.get_start_stop(h5file, 'test') == dict.fromkeys(SOURCES, (90, 100))
        assert H5PYDataset.get_indices(h5file, 'test') == dict.fromkeys(SOURCES)
        assert H5PYDataset.get_axis_labels(h5file) == LABELS
        assert H5PYDataset.get_vlen_sources(h5file) == ()
        subset, = H5PYDataset.get_subsets(h5file, ('test',), ('targets',))
        assert subset.get_list_representation() == list(range(90, 100))
        with pytest.raises(ValueError, match='sound'):
            H5PYDataset.get_subsets(h5file, ('test',), ('sound',))


def test_the_scheme_of_examples(path, in_memory):
    dataset = H5PYDataset(path, ('test',), load_in_memory=in_memory)
    targets = [target.tolist() for _, target, _ in
               dataset.get_example_stream().get_epoch_iterator()]
    assert targets == [[number] for number in range(90, 100)]


def test_streams_read_it(path, in_memory):
    dataset = H5PYDataset(path, ('train',), load_in_memory=in_memory)
    for scheme in (SequentialScheme(90, 32), ShuffledScheme(90, 32)):
        stream = DataStream(dataset, iteration_scheme=scheme)
        assert stream.axis_labels['targets'] == ('batch', 'index')
        for _ in range(2):
            batches = list(stream.get_epoch_iterator(as_dict=True))
            assert [len(batch['targets']) for batch in batches] == [32, 32, 26]
            seen = numpy.concatenate([batch['targets'] for batch in batches])
            assert sorted(seen.ravel()) == list(range(90))
            for batch in batches:
                assert numpy.array_equal(batch['image_features'],
                                         IMAGES[batch['targets'].ravel()])
        stream.close()


def test_two_epochs_side_by_side(path, in_memory):
    dataset = H5PYDataset(path, ('train',), load_in_memory=in_memory)
    stream = DataStream(dataset, iteration_scheme=SequentialScheme(90, 32))
    for (_, first, _), (_, second, _) in zip(stream.get_epoch_iterator(),
                                             stream.get_epoch_iterator(), strict=True):
        assert numpy.array_equal(first, second)
    stream.close()


def test_no_file_stays_open(path):
    dataset = H5PYDataset(path, ('train',))
    assert path not in open_handles()
    dataset.get_data(None, [0])
    assert open_handles()[path] == 1
    dataset.open()
    dataset.close(None)
    assert path not in open_handles()
    state = dataset.open()
    assert dataset.reset(state) is None
    assert dataset.next_epoch(None) is None
    assert open_handles()[path] == 1
    del dataset
    gc.collect()
    assert path not in open_handles()


def test_the_version_of_the_layout_is_known():
    assert H5PYDataset.interface_version == '0.3'
