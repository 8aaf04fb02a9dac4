import numpy
import pytest

from fuel.utils.indices import as_index_array, checked_request, compact, is_increasing


@pytest.mark.parametrize('request_', [
    [3, 0, 3], (3, 0, 3), numpy.array([3, 0, 3]), numpy.array([3, 0, 3], dtype='int8'),
    numpy.array([3, 0, 3], dtype='uint64'), numpy.array([3, 0, 3], dtype='>i4'),
    [numpy.int64(3), 0, numpy.uint8(3)]])
def test_sequences_become_integer_arrays(request_):
    indices = checked_request(request_, 5)
    assert indices.dtype in (numpy.int32, numpy.int64)
    assert indices.tolist() == [3, 0, 3]


def test_integer_arrays_are_not_copied():
    for dtype in (numpy.int32, numpy.int64):
        request_ = numpy.array([1, 2], dtype=dtype)
        assert checked_request(request_, 5) is request_


def test_ranges_and_masks_become_indices():
    assert checked_request(range(4, 0, -2), 5).tolist() == [4, 2]
    mask = [False, True, False, True, True]
    assert checked_request(numpy.array(mask), 5).tolist() == [1, 3, 4]
    assert checked_request(mask, 5).tolist() == [1, 3, 4]


@pytest.mark.parametrize('mask', [numpy.ones(4, dtype=bool), [True] * 6])
def test_masks_must_have_one_boolean_for_each_example(mask):
    with pytest.raises(ValueError, match='one boolean for each of the 5'):
        checked_request(mask, 5)


@pytest.mark.parametrize('index', [3, numpy.int8(3), numpy.uint64(3), numpy.array(3)])
def test_integers_of_every_kind(index):
    checked = checked_request(index, 5)
    assert type(checked) is int
    assert checked == 3


@pytest.mark.parametrize(('request_', 'wrong'), [
    (5, 5), (-1, -1), ([1, 7, 9], 7), ([0, -2], -2), (numpy.array([4, 5], dtype='int32'), 5),
    (numpy.array([255], dtype='uint8'), 255)])
def test_an_index_that_is_no_example_is_named(request_, wrong):
    with pytest.raises(ValueError, match=f'index {wrong} is .*from 0 to 4.* 5 examples'):
        checked_request(request_, 5)


def test_slices_get_three_numbers():
    assert checked_request(slice(None), 5) == slice(0, 5, 1)
    assert checked_request(slice(1, None, 3), 5) == slice(1, 5, 3)
    assert checked_request(slice(numpy.int64(1), numpy.int64(3)), 5) == slice(1, 3, 1)


@pytest.mark.parametrize('request_', [
    slice(-1, None), slice(0, -1), slice(None, None, -1), slice(None, None, 0), slice(0, 6),
    slice(5, None), slice(2, 2), slice(3, 1), slice(0.0, 2), slice('a', 'b')])
def test_slices_outside_of_the_examples_are_refused(request_):
    with pytest.raises(ValueError, match='expected a slice'):
        checked_request(request_, 5)


@pytest.mark.parametrize('request_', [[], (), numpy.array([], dtype=int), numpy.zeros(5, bool),
                                      numpy.array([]), range(0)])
def test_empty_requests_are_refused(request_):
    with pytest.raises(ValueError, match='at least one'):
        checked_request(request_, 5)


@pytest.mark.parametrize('request_', [
    'abc', b'abc', 1.0, [1.5], [[0, 1]], [[0], [1, 2]], numpy.zeros((2, 2), int), {1: 2}, {1},
    True, numpy.bool_(False), ['0'], [None], [2 ** 70], numpy.array([2 ** 63], dtype='uint64'),
    object()])
def test_other_requests_are_refused_with_what_came(request_):
    with pytest.raises(ValueError, match=r'expected an index, a slice.*; got '):
        checked_request(request_, 5)


def test_no_request_points_at_the_iteration_scheme():
    with pytest.raises(ValueError, match='iteration scheme'):
        checked_request(None, 5)


def test_a_long_request_is_not_quoted_in_full():
    with pytest.raises(ValueError, match='expected') as caught:
        checked_request(['x'] * 10000, 5)
    assert len(str(caught.value)) < 600


def test_compact_arrays_are_copies_of_four_or_eight_bytes():
    indices = numpy.arange(3)
    assert compact(indices, 2 ** 31).dtype == numpy.int32
    assert compact(indices, 2 ** 31 + 1).dtype == numpy.int64
    assert not numpy.shares_memory(compact(indices, 2 ** 40), indices)


def test_is_increasing():
    assert is_increasing(numpy.array([], dtype=int))
    assert is_increasing(numpy.array([1, 2, 5]))
    assert not is_increasing(numpy.array([1, 1]))
    assert is_increasing(numpy.array([1, 1]), strictly=False)
    assert not is_increasing(numpy.array([1, 0]), strictly=False)


def test_requests_are_not_changed():
    request_ = numpy.array([3, 1, 2])
    request_.flags.writeable = False
    checked_request(request_, 5)
    as_index_array(request_)
    assert request_.tolist() == [3, 1, 2]
