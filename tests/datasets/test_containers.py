"""IterableDataset, IndexableDataset, and the base of all data sets."""
import pickle

import h5py
import numpy
import pytest

from fuel.datasets import Dataset, IndexableDataset, IterableDataset
from fuel.exceptions import StateError
from fuel.schemes import SequentialExampleScheme
from fuel.streams import DataStream
from fuel.testing import check_dataset, check_indexed_dataset


class Numbers(Dataset):
    """The least that a data set needs."""

    provides_sources = ('numbers', 'squares')

    def get_data(self, state=None, request=None):
        return self.filter_sources((request, request ** 2))


# The base.

def test_sources_keep_their_order_and_data_follow():
    assert Numbers().sources == ('numbers', 'squares')
    dataset = Numbers(sources=['squares', 'numbers'])
    assert dataset.sources == ('squares', 'numbers')
    assert dataset.get_data(request=3) == (9, 3)


@pytest.mark.parametrize(('sources', 'message'), [
    ((), 'at least one source'), ('numbers', r"such as \('numbers',\)"),
    (('numbers', 'cubes'), "does not provide 'cubes'; it provides 'numbers', 'squares'"),
    ((3,), 'names that are strings')])
def test_wrong_sources(sources, message):
    with pytest.raises(ValueError, match=message):
        Numbers(sources=sources)


def test_data_set_without_sources():
    class Nothing(Numbers):
        provides_sources = None
    with pytest.raises(ValueError, match='Nothing provides no sources'):
        Nothing()


def test_sources_set_by_old_programs():
    class Old(Numbers):
        example_iteration_scheme = None

        def __init__(self):
            self.provides_sources = ['a', 'b']
            super().__init__()

    assert Old().sources == ('a', 'b')
    assert Old().example_iteration_scheme is None
    assert Numbers(sources={'squares': 1}.keys()).sources == ('squares',)


def test_example_scheme_that_was_never_set():
    with pytest.raises(AttributeError, match='Numbers has no example iteration scheme'):
        _ = Numbers().example_iteration_scheme
    dataset = Numbers()
    dataset.example_iteration_scheme = SequentialExampleScheme(3)
    assert list(dataset.get_example_stream().get_epoch_iterator()) == [(0, 0), (1, 1), (2, 4)]


def test_overridden_get_data_is_given_lists():
    class Loud(IndexableDataset):
        def get_data(self, state=None, request=None):
            assert type(request) is list
            return super().get_data(state, request)

    assert IndexableDataset.takes_index_arrays
    assert not Loud.takes_index_arrays
    stream = DataStream(Loud(numpy.arange(4)), iteration_scheme=SequentialExampleScheme([[1, 2]]))
    assert [data.tolist() for data, in stream.get_epoch_iterator()] == [[1, 2]]


def test_state_of_data_set_that_keeps_more_than_a_position():
    class Walk(Numbers):
        def open(self):
            return [0]

        def next_epoch(self, state):
            return state

    with pytest.raises(StateError, match='Walk overrides next_epoch or reset'):
        Walk().state_to_plain([3], 3)


# IterableDataset.

def test_iterable_dataset_of_a_single_source():
    dataset = IterableDataset([1, 2, 3])
    assert dataset.sources == ('data',)
    assert dataset.num_examples == 3
    assert dataset.example_iteration_scheme is None
    assert list(dataset.get_example_stream().get_epoch_iterator()) == [(1,), (2,), (3,)]


def test_iterable_dataset_state_is_the_documented_one():
    dataset = IterableDataset({'a': [1, 2], 'b': 'xy'})
    state = dataset.open()
    assert type(state).__name__ == 'imap'
    assert [dataset.get_data(state), dataset.get_data(state)] == [(1, 'x'), (2, 'y')]
    with pytest.raises(StopIteration):
        dataset.get_data(state)


def test_iterable_dataset_length_is_nan_where_unknown():
    assert numpy.isnan(IterableDataset({'a': iter('ab'), 'b': [1, 2]}).num_examples)
    assert DataStream(IterableDataset({'a': iter('ab')})).num_examples is None


@pytest.mark.parametrize(('iterables', 'message'), [
    (3, "for the source 'data'; got 3"), ({'a': 1.5}, "for the source 'a'"),
    ({'a': [1], 'b': [1, 2]}, "1 in 'a', 2 in 'b'"), ({}, 'at least one source')])
def test_wrong_iterables(iterables, message):
    with pytest.raises(ValueError, match=message):
        IterableDataset(iterables)


def test_iterable_dataset_names_the_way_out_for_requests():
    dataset = IterableDataset([1, 2])
    with pytest.raises(ValueError, match='Use IndexableDataset'):
        dataset.get_data(dataset.open(), [0])
    with pytest.raises(ValueError, match='needs the state'):
        dataset.get_data()


def test_generators_cannot_be_pickled():
    stream = DataStream(IterableDataset(place for place in range(3)))
    with pytest.raises(TypeError, match='generator'):
        pickle.dumps(stream)


def test_generator_gives_one_epoch_and_says_so_then():
    stream = DataStream(IterableDataset({'a': (place for place in range(3))}))
    assert list(stream.get_epoch_iterator()) == [(0,), (1,), (2,)]
    with pytest.raises(ValueError, match="source 'a' is an iterator"):
        list(stream.get_epoch_iterator())


def test_endless_generator_runs_on_from_epoch_to_epoch():
    def numbers():
        place = 0
        while True:
            yield place
            place += 1
    stream = DataStream(IterableDataset({'a': numbers()}))
    assert next(stream.get_epoch_iterator()) == (0,)
    assert next(stream.get_epoch_iterator()) == (1,)


def test_iterable_dataset_gives_arrays_of_the_callers_own():
    rows = [numpy.zeros(2), numpy.zeros(2)]
    for data, in DataStream(IterableDataset(rows)).get_epoch_iterator():
        data += 1
    assert not numpy.any(rows)


# IndexableDataset.

def test_lists_come_out_as_lists_and_arrays_as_arrays():
    dataset = IndexableDataset({'a': [1, 2, 3], 'b': numpy.array([4, 5, 6])})
    for request, count in (([2, 0], 2), (slice(0, 2), 2), (numpy.array([1]), 1)):
        first, second = dataset.get_data(request=request)
        assert type(first) is list
        assert type(second) is numpy.ndarray
        assert len(first) == len(second) == count
    assert dataset.get_data(request=1) == (2, 5)


def test_sources_are_attributes():
    array = numpy.arange(3)
    dataset = IndexableDataset({'features': array, 'targets': [1, 2, 3]})
    assert dataset.features is array
    with pytest.raises(AttributeError, match="no attribute 'labels'; its sources are"):
        _ = dataset.labels
    assert pickle.loads(pickle.dumps(dataset)).targets == [1, 2, 3]


def test_start_and_stop_are_applied_once():
    dataset = IndexableDataset(numpy.arange(10), start=4)
    assert dataset.num_examples == 6
    assert dataset.get_data(request=[0, 5])[0].tolist() == [4, 9]
    assert dataset.example_iteration_scheme.indices == range(6)
    part = IndexableDataset(list(range(10)), start=2, stop=5)
    assert part.get_data(request=slice(None)) == ([2, 3, 4],)
    with pytest.raises(ValueError, match='index 3 is past'):
        part.get_data(request=[3])
    for wrong in ({'start': -1}, {'stop': 11}, {'start': 5, 'stop': 4}):
        with pytest.raises(ValueError, match='0 <= start <= stop <= 10'):
            IndexableDataset(numpy.arange(10), **wrong)


@pytest.mark.parametrize('lengths', [(3, 1, 4, 1), (2, 2)])
@pytest.mark.parametrize('kind', ['list', 'objects'])
def test_ragged_data_never_fail(lengths, kind):
    rows = [numpy.arange(length) + 10 * place for place, length in enumerate(lengths)]
    data = rows
    if kind == 'objects':
        data = numpy.empty(len(rows), dtype=object)
        for place, row in enumerate(rows):
            data[place] = row
    dataset = IndexableDataset(data)
    for request in ([1, 0, 1], slice(None), numpy.array([1]), list(range(len(rows)))):
        batch, = dataset.get_data(request=request)
        assert type(batch) is (list if kind == 'list' else numpy.ndarray)
        places = numpy.arange(len(rows))[request]
        assert [row.tolist() for row in batch] == [rows[place].tolist() for place in places]
        for row in batch:
            row += 100
    assert rows[0][0] == 0
    assert dataset.get_data(request=0)[0].tolist() == rows[0].tolist()


def test_h5py_data_sets_can_be_indexed_in_any_order(tmp_path):
    with h5py.File(tmp_path / 'data.hdf5', 'w') as file:
        file['rows'] = numpy.arange(20).reshape(10, 2)
        dataset = IndexableDataset({'rows': file['rows']})
        expected = numpy.arange(20).reshape(10, 2)
        for request in ([3, 0, 5], [3, 3, 1], slice(1, 9, 3), 4):
            assert numpy.array_equal(dataset.get_data(request=request)[0], expected[request])
        check_indexed_dataset(lambda: IndexableDataset({'rows': file['rows']}))


def test_memory_maps_and_masked_arrays(tmp_path):
    numpy.save(tmp_path / 'rows.npy', numpy.arange(12).reshape(6, 2))
    rows = numpy.load(tmp_path / 'rows.npy', mmap_mode='r')
    masked = numpy.ma.masked_equal(numpy.arange(6), 3)
    dataset = IndexableDataset({'mapped': rows, 'masked': masked})
    for request in ([3, 0, 3], slice(1, 5, 2), slice(None)):
        mapped, values = dataset.get_data(request=request)
        assert type(mapped) is numpy.ndarray
        assert numpy.array_equal(mapped, numpy.arange(12).reshape(6, 2)[request])
        assert type(values) is numpy.ma.MaskedArray
        assert numpy.array_equal(values.mask, numpy.arange(6)[request] == 3)
    with pytest.raises(ValueError, match='index 6 is past the end'):
        dataset.get_data(request=[6])


class Ticker:
    """Something that can be indexed, by a single place only."""

    def __len__(self):
        return 5

    def __getitem__(self, place):
        return place * 10


def test_anything_that_can_be_indexed():
    dataset = IndexableDataset(Ticker())
    assert dataset.get_data(request=[4, 0]) == ([40, 0],)
    assert dataset.get_data(request=2) == (20,)
    check_dataset(lambda: IndexableDataset(range(9)), [[8, 0], 3, slice(1, 8, 2)])


@pytest.mark.parametrize(('indexables', 'message'), [
    (3, "for the source 'data'; got int"), ({'a': iter([1])}, "for the source 'a'"),
    ({'a': [1], 'b': [1, 2]}, "1 in 'a', 2 in 'b'"), ({}, 'at least one source')])
def test_wrong_indexables(indexables, message):
    with pytest.raises(ValueError, match=message):
        IndexableDataset(indexables)


@pytest.mark.parametrize(('request_', 'message'), [
    (None, 'needs a request'), (5, 'index 5 is past the end'), (-1, 'index -1 is negative'),
    ([0, 7], 'index 7 is past the end'), ([-2], 'index -2 is negative'),
    (numpy.array([9]), 'index 9 is past the end'), (slice(0, 6), 'stops at 5, the number of'),
    (slice(-2, None), 'not negative'), (slice(4, 1), 'at least one of 5 examples'),
    (slice(None, None, -1), 'step is at least 1'),
    (numpy.ones(4, dtype=bool), 'one boolean for each of the 5'),
    ([], 'at least one index'), ([0.5], 'expected an index'), ('ab', 'expected an index'),
    (True, 'expected an index'), ([[1]], 'expected an index')])
@pytest.mark.parametrize('data', [numpy.arange(5), list(range(5))], ids=['array', 'list'])
def test_wrong_requests(data, request_, message):
    with pytest.raises(ValueError, match=message):
        IndexableDataset(data).get_data(request=request_)


def test_state_is_refused():
    with pytest.raises(ValueError, match='keeps no state'):
        IndexableDataset([1]).get_data('state', [0])


def test_example_scheme():
    dataset = IndexableDataset(numpy.arange(3))
    assert dataset.example_iteration_scheme.num_examples == 3
    assert [int(data) for data, in dataset.get_example_stream().get_epoch_iterator()] == [0, 1, 2]
