import pickle
import subprocess
import sys

import h5py
import numpy
import pytest

from fuel.utils.subset import Subset, iterable_fancy_indexing


@pytest.mark.parametrize(('given', 'kept'), [
    ([3, 1, 1, 2], slice(1, 4, None)),
    ([5], slice(5, 6, None)),
    ([7, 0, 3, 0], [0, 3, 7]),
    ((7, 0), [0, 7]),
    (range(0, 6, 2), [0, 2, 4]),
    (range(2, 5), slice(2, 5, None)),
    (numpy.array([7, 0, 3]), [0, 3, 7]),
    (numpy.array([7, 0], dtype='uint8'), [0, 7]),
    (numpy.arange(10) % 3 == 0, [0, 3, 6, 9]),
    ([], []),
    (slice(None), slice(None)),
    (slice(2, None), slice(2, None)),
    (slice(2, 2), slice(2, 2)),
    (slice(1, 3, 1), slice(1, 3, 1)),
])
def test_lists_are_sorted_and_unique_and_become_slices(given, kept):
    subset = Subset(given, 10)
    assert subset.list_or_slice == kept
    assert type(subset.list_or_slice) is type(kept)
    assert subset.is_list == isinstance(kept, list)
    every = list(range(10))[kept] if isinstance(kept, slice) else kept
    assert subset.get_list_representation() == every
    assert subset.indices.tolist() == every
    assert subset.num_examples == len(every)
    assert subset.is_empty == (not every)
    assert subset.original_num_examples == 10


@pytest.mark.parametrize('given', [[-1], [0, 10], numpy.array([10]), (3, -2)])
def test_indices_outside_are_refused(given):
    with pytest.raises(ValueError, match='index -?[0-9]+ is'):
        Subset(given, 10)


@pytest.mark.parametrize('given', [
    slice(-1, None), slice(None, -1), slice(None, None, -1), slice(None, None, 0),
    slice(None, None, 2), slice(0, 11), slice(10, 10), slice(11, 12), slice(5, 3)])
def test_definitions_by_other_slices_are_refused(given):
    with pytest.raises(ValueError, match='expected a slice'):
        Subset(given, 10)


@pytest.mark.parametrize('given', [3, 'abc', None, [1.5], [[1]], {1, 2}])
def test_definitions_by_something_else_are_refused(given):
    with pytest.raises(ValueError, match='expected an|expected a request'):
        Subset(given, 10)


def test_a_mask_must_have_one_boolean_for_each_example():
    with pytest.raises(ValueError, match='each of the 10'):
        Subset(numpy.ones(9, dtype=bool), 10)


def test_subsets_of_nothing():
    assert Subset(slice(None), 0).is_empty
    assert Subset.empty_subset(0).is_empty
    with pytest.raises(ValueError, match='expected a slice'):
        Subset(slice(0, 0), 0)


def test_empty_subset():
    empty = Subset.empty_subset(5)
    assert empty.is_list
    assert empty.list_or_slice == []
    assert empty.original_num_examples == 5


@pytest.mark.parametrize(('left', 'right', 'union'), [
    ([2, 4], slice(3, 4), slice(2, 5, None)),
    (slice(3, 4), [2, 4], slice(2, 5, None)),
    ([2, 8], [4, 2], [2, 4, 8]),
    ([2, 9], [5, 7], [2, 5, 7, 9]),
    (slice(0, 4), slice(4, 7), slice(0, 7, 1)),
    (slice(4, 7), slice(0, 4), slice(0, 7, 1)),
    (slice(0, 5), slice(3, 7), slice(0, 7, 1)),
    (slice(0, 9), slice(3, 7), slice(0, 9, 1)),
    (slice(0, 4), slice(5, 7), [0, 1, 2, 3, 5, 6]),
    (slice(5, 7), slice(0, 4), [0, 1, 2, 3, 5, 6]),
    ([2, 4], slice(2, 2), [2, 4]),
    ([2, 4], slice(0, 0), [2, 4]),
    (slice(0, 0), [2, 4], [2, 4]),
    ([], slice(1, 3), slice(1, 3)),
    ([], [], []),
])
def test_unions(left, right, union):
    assert (Subset(left, 10) + Subset(right, 10)).list_or_slice == union


def test_union_with_an_empty_subset_is_the_other_one():
    some, none = Subset([1, 3], 5), Subset.empty_subset(5)
    assert none + some is some
    assert some + none is some


def test_unions_of_different_data_sets_are_refused():
    with pytest.raises(ValueError, match='of 5 examples and one of 6'):
        Subset([1], 5) + Subset([1], 6)
    with pytest.raises(TypeError):
        Subset([1], 5) + [1]


def test_a_union_with_a_gap_is_kept_in_four_bytes_an_example():
    union = Subset(slice(0, 10 ** 5), 10 ** 6) + Subset(slice(2 * 10 ** 5, 3 * 10 ** 5), 10 ** 6)
    assert union.num_examples == 2 * 10 ** 5
    assert union.indices.dtype == numpy.int32
    assert len(pickle.dumps(union)) < 8.1 * 10 ** 5


def test_large_lists_are_kept_in_eight_bytes_an_example_at_most():
    program = ('import tracemalloc, numpy; from fuel.utils.subset import Subset;'
               'given = numpy.arange(0, 2 * 10 ** 6, 2); tracemalloc.start();'
               'subset = Subset(given, 10 ** 12);'
               'print(tracemalloc.get_traced_memory()[0], type(subset.list_or_slice).__name__)')
    said = subprocess.run([sys.executable, '-c', program], capture_output=True, text=True,
                          check=True).stdout.split()
    assert int(said[0]) < 8.1 * 10 ** 6
    assert said[1] == 'list'


def test_the_array_given_is_neither_kept_nor_changed():
    given = numpy.array([4, 0, 2], dtype=numpy.int32)
    subset = Subset(given, 10)
    already_sorted = numpy.array([0, 2, 4], dtype=numpy.int32)
    other = Subset(already_sorted, 10)
    given[:] = already_sorted[:] = 9
    assert subset.list_or_slice == other.list_or_slice == [0, 2, 4]


def test_indices_cannot_be_written_to():
    for subset in (Subset([0, 2], 5), Subset(slice(0, 2), 5)):
        with pytest.raises(ValueError, match='read-only'):
            subset.indices[0] = 3


@pytest.mark.parametrize(('subset', 'request_', 'translated'), [
    (slice(2, 8), slice(None), slice(2, 8)),
    ([1, 3, 5], slice(None), [1, 3, 5]),
    (slice(2, 8), slice(1, 3), slice(3, 5, 1)),
    (slice(2, 8), slice(0, 6, 2), slice(2, 7, 2)),
    (slice(2, 8), [5, 0, 5], [7, 2, 7]),
    (slice(2, 8), (5, 0), [7, 2]),
    ([1, 3, 5, 7], slice(1, 3), [3, 5]),
    ([1, 3, 5, 7], slice(0, 4, 2), [1, 5]),
    ([1, 3, 5, 7], [3, 0, 0], [7, 1, 1]),
    (slice(2, 8), 3, 5),
    ([1, 3, 5], numpy.int64(2), 5),
])
def test_requests_are_translated(subset, request_, translated):
    result = Subset(subset, 10)[request_]
    assert type(result) is type(translated)
    if isinstance(translated, slice):
        everything = list(range(10))
        assert everything[result] == everything[translated]
        assert (result.step is None) == (request_ == slice(None))
    else:
        assert result == translated


def test_arrays_are_translated_to_arrays():
    for subset in (Subset(slice(2, 8), 10), Subset([2, 3, 4, 5, 6, 9], 10), Subset([0, 9], 10)):
        request_ = numpy.array([1, 0, 1], dtype='int32')
        result = subset[request_]
        assert isinstance(result, numpy.ndarray)
        assert result.tolist() == [subset.get_list_representation()[i] for i in (1, 0, 1)]


@pytest.mark.parametrize('request_', [
    [], [-1], [6], [0, 6], slice(-2, None), slice(0, 7), slice(6, 6), slice(3, 3), slice(4, 2),
    numpy.array([6]), numpy.array([-1])])
@pytest.mark.parametrize('subset', [slice(2, 8), [0, 2, 4, 6, 8, 9]])
def test_requests_outside_never_reach_other_examples(subset, request_):
    with pytest.raises(ValueError, match='expected|index'):
        Subset(subset, 10)[request_]


@pytest.mark.parametrize(('subset', 'request_', 'part'), [
    ([1, 3, 5, 7], slice(0, 4, 2), [1, 5]),
    ([1, 3, 5, 7], [2, 0, 2], [1, 5]),
    ([1, 3, 4, 7], [2, 1], slice(3, 5, None)),
    (slice(2, 8), slice(1, 3), slice(3, 5, 1)),
    (slice(2, 8), [4, 0], [2, 6]),
    (slice(2, 8), [1, 0], slice(2, 4, None)),
    (slice(2, 8), slice(None), slice(2, 8, 1)),
    (slice(2, 8), slice(-2, None), slice(6, 8, 1)),
    (slice(2, 8), slice(None, -4), slice(2, 4, 1)),
    ([1, 3, 5, 7], slice(-3, -1), [3, 5]),
    (slice(2, 8), numpy.arange(6) > 3, slice(6, 8, None)),
])
def test_parts_of_subsets(subset, request_, part):
    result = Subset.subset_of(Subset(subset, 10), request_)
    assert result.list_or_slice == part
    assert result.original_num_examples == 10


def test_a_stepped_part_of_a_slice_stays_a_slice():
    part = Subset.subset_of(Subset(slice(1, 10), 10), slice(0, None, 3))
    assert not part.is_list
    assert part.get_list_representation() == [1, 4, 7]
    assert part.num_examples == 3
    assert part[[2, 0]] == [7, 1]
    assert part[numpy.array([2, 0])].tolist() == [7, 1]
    assert part[1] == 4
    assert list(range(10))[part[slice(0, 3, 2)]] == [1, 7]
    assert Subset.subset_of(part, slice(1, None)).get_list_representation() == [4, 7]
    assert (part + Subset([2], 10)).list_or_slice == [1, 2, 4, 7]
    assert (part + Subset(slice(2, 4), 10)).list_or_slice == [1, 2, 3, 4, 7]


@pytest.mark.parametrize('request_', [[], slice(3, 3), [6], [-1], slice(0, 7), slice(-7, None),
                                      slice(None, None, -1), numpy.zeros(6, dtype=bool)])
def test_parts_that_are_not_there_are_refused(request_):
    with pytest.raises(ValueError, match='expected|index'):
        Subset.subset_of(Subset(slice(2, 8), 10), request_)


def test_an_order_of_its_own_is_kept():
    subset = Subset.in_order(numpy.array([7, 2, 2, 5]), 10)
    assert subset.list_or_slice == [7, 2, 2, 5]
    assert subset[[0, 3, 1]] == [7, 5, 2]
    assert Subset.subset_of(subset, [3, 0]).list_or_slice == [7, 5]
    assert Subset.subset_of(subset, slice(1, 3)).list_or_slice == [2, 2]


def test_positions_do_not_overflow_four_bytes():
    subset = Subset(slice(2 ** 31 - 2, 2 ** 32), 2 ** 32)
    request_ = numpy.array([2 ** 31 - 1, 0], dtype=numpy.int32)
    assert subset.positions(request_).tolist() == [2 ** 32 - 3, 2 ** 31 - 2]


def test_slice_to_numerical_args():
    assert Subset.slice_to_numerical_args(slice(None), 7) == (0, 7, 1)
    assert Subset.slice_to_numerical_args(slice(2, 5, 3), 7) == (2, 5, 3)


class OnlySorted:
    """Takes increasing arrays, as HDF5 data sets do."""

    def __init__(self, values):
        self.values = values

    def __getitem__(self, request_):
        assert (numpy.diff(request_) > 0).all()
        return self.values[request_]


def test_sorted_fancy_indexing():
    values = numpy.arange(10) * 10
    assert Subset.sorted_fancy_indexing(OnlySorted(values), [7, 2, 7, 0]).tolist() == [
        70, 20, 70, 0]


def test_iterable_fancy_indexing():
    assert iterable_fancy_indexing('abcdef', [3, 0, 3]) == ['d', 'a', 'd']


@pytest.mark.parametrize('subset', [slice(2, 8), [0, 2, 3, 5, 6, 9], slice(None)])
@pytest.mark.parametrize('request_', [
    3, numpy.int32(3), slice(1, 4), slice(0, 5, 2), [3, 1, 3], (0, 2), numpy.array([5, 0]), [4]])
@pytest.mark.parametrize('sort_indices', [False, True])
def test_indexing_arrays_and_sequences_within_a_subset(subset, request_, sort_indices):
    values = numpy.arange(20).reshape(10, 2) ** 2
    within = Subset(subset, 10)
    rows = [values[i] for i in within.get_list_representation()]
    wanted = numpy.array(rows)[list(request_) if isinstance(request_, tuple) else request_]
    result = within.index_within_subset(values, request_, sort_indices=sort_indices)
    assert numpy.array_equal(result, wanted)
    assert not numpy.shares_memory(result, values)
    of_list = within.index_within_subset(values.tolist(), request_, sort_indices=sort_indices)
    assert of_list == wanted.tolist()


def test_indexing_hdf5_within_a_subset(tmp_path):
    with h5py.File(tmp_path / 'f.hdf5', 'w') as h5file:
        h5file['x'] = values = numpy.arange(10) ** 2
        subset = Subset([0, 2, 5, 7, 9], 10)
        rows = values[[0, 2, 5, 7, 9]]
        for request_ in (2, slice(1, 4), slice(0, 5, 2), [0, 3], [1, 1, 3]):
            assert numpy.array_equal(subset.index_within_subset(h5file['x'], request_),
                                     rows[request_])
        for request_ in ([4, 0, 4], [3, 2], numpy.array([1, 0])):
            result = subset.index_within_subset(h5file['x'], request_, sort_indices=True)
            assert numpy.array_equal(result, rows[request_])
            with pytest.raises(TypeError, match='increasing order'):
                subset.index_within_subset(h5file['x'], request_)


def test_subsets_are_pickled():
    for subset in (Subset([1, 5], 10), Subset(slice(1, 3), 10), Subset(slice(None), 10)):
        copy = pickle.loads(pickle.dumps(subset))
        assert copy.list_or_slice == subset.list_or_slice
        assert copy.original_num_examples == 10
        assert copy.num_examples == subset.num_examples


def test_subsets_show_themselves():
    assert repr(Subset(slice(1, 3), 10)) == 'Subset(slice(1, 3, None), 10)'
    assert '2 examples out of 10' in repr(Subset([1, 5], 10))


def test_h5py_is_not_loaded():
    program = ("import sys; from fuel.utils.subset import Subset;"
               "Subset([1, 3], 5).index_within_subset('abcde', [0]);"
               "print('h5py' in sys.modules)")
    said = subprocess.run([sys.executable, '-c', program], capture_output=True, text=True,
                          check=True).stdout
    assert said == 'False\n'
