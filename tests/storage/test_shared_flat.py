"""Examples of different lengths as flat arrays and back."""
import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from fuel.storage.sharing.flat import flatten, flatten_into, unflatten


def objects(values):
    array = numpy.empty(len(values), dtype=object)
    for position, value in enumerate(values):
        array[position] = value
    return array


def assert_same(read, examples):
    assert read.dtype == object and read.shape == (len(examples),)
    for one, other in zip(read, examples, strict=True):
        assert type(one) is type(other)
        if isinstance(other, numpy.ndarray):
            assert one.dtype == other.dtype and one.shape == other.shape
            assert one.tobytes() == other.tobytes()
        else:
            assert one == other


def round_trip(examples):
    flat = flatten(objects(examples))
    assert flat[0].ndim == 1 and flat[1].dtype == numpy.int64
    assert_same(unflatten(*flat), examples)
    return flat


@given(st.integers(0, 3).flatmap(lambda axes: st.tuples(
    st.sampled_from(['u1', '>f4', '<i8', '?', 'S3', '<U2', 'M8[s]', 'V16', 'S1', '<U1']),
    st.lists(st.tuples(*[st.integers(0, 4)] * axes), max_size=8))), st.data())
def test_arrays_come_back(case, data):
    dtype, shapes = case
    round_trip([data.draw(arrays.arrays(dtype, shape, elements=None if dtype != 'V16' else
                                        st.binary(min_size=16, max_size=16)))
                for shape in shapes])


@given(st.one_of(st.lists(st.binary()), st.lists(st.text())))
def test_bytes_and_strings_come_back(examples):
    _, _, shapes = round_trip(examples)
    assert shapes is None


def test_what_is_in_flat_arrays():
    values, offsets, shapes = flatten([numpy.array([1, 2]), numpy.array([], int), numpy.arange(3)])
    assert values.tolist() == [1, 2, 0, 1, 2] and offsets.tolist() == [0, 2, 2, 5]
    assert shapes is None
    values, offsets, shapes = flatten([numpy.arange(6).reshape(2, 3).T, numpy.zeros((1, 0), int)])
    assert values.tolist() == [0, 3, 1, 4, 2, 5] and offsets.tolist() == [0, 6, 6]
    assert shapes.tolist() == [[3, 2], [1, 0]]
    values, offsets, shapes = flatten([b'a\0', b'\0'])
    assert values.tobytes() == b'a\0\0' and offsets.tolist() == [0, 2, 3] and shapes is None


def test_a_string_may_have_letters_that_no_file_should_have():
    round_trip(['\ud83d', '\U0001f600\0', ''])


def test_no_examples():
    assert flatten([])[0].dtype == float
    values, offsets, shapes = flatten(objects([]), dtype='u1')
    assert values.dtype == 'u1' and offsets.tolist() == [0] and shapes is None
    assert_same(unflatten(values, offsets), [])


@pytest.mark.parametrize('examples', [
    [numpy.arange(n) for n in (3, 0, 2, 5)],
    [numpy.arange(3)] * 4,                          # not taken for two axes
    [numpy.full((n, 2), n) for n in (3, 0, 2, 5)],
    ['some', '', 'more', 'words']])
def test_chosen_examples_are_views(examples):
    values, offsets, shapes = flatten(examples)
    values.flags.writeable = False
    for positions in (slice(1, 3, 1), slice(0, 4, 2), slice(3, None, -1), numpy.array([3, 0, 3]),
                      numpy.array([], dtype=numpy.int32)):
        expected = objects(examples)[positions]
        read = unflatten(values, offsets, shapes, positions)
        assert_same(read, list(expected))
        for example in read:
            if isinstance(example, numpy.ndarray):
                assert not example.flags.writeable and not example.flags.owndata
    assert_same(objects([unflatten(values, offsets, shapes, 3)]), examples[3:])


def test_pieces_go_where_they_belong():
    examples = [numpy.full((n % 3, n), n) for n in range(10)]
    expected, offsets, expected_shapes = flatten(examples)
    values, shapes = numpy.empty_like(expected), numpy.empty_like(expected_shapes)
    for first in (6, 0, 3, 9):
        flatten_into(examples[first:first + 3], values, offsets, shapes, first)
    flatten_into([], values, offsets, shapes, 10)
    assert numpy.array_equal(values, expected) and numpy.array_equal(shapes, expected_shapes)


@pytest.mark.parametrize(('examples', 'message'), [
    ([numpy.zeros(2), numpy.zeros(2, 'f4')], 'example 1: expected an array of float64 with 1 axes;'
                                             ' got float32 with 1 axes'),
    ([numpy.zeros(2), numpy.zeros((2, 1))], 'example 1: .* got float64 with 2 axes'),
    ([numpy.zeros((2, 1)), numpy.zeros(2)], 'example 1: .* got float64 with 1 axes'),
    ([numpy.zeros(2), b'ab'], 'example 1: expected an array .* got bytes'),
    ([b'ab', 'ab'], 'example 1: expected bytes; got str'),
    (['ab', None], 'example 1: expected str; got NoneType'),
    ([b'ab', numpy.zeros(2, 'S1')], r'example 1: expected bytes; got \|S1 with 1 axes'),
    ([3], 'example 0: expected arrays, bytes or strings; got int'),
    ([objects([1])], 'without objects')])
def test_what_does_not_go_together(examples, message):
    with pytest.raises(TypeError, match=message):
        flatten(objects(examples))


def test_lengths_must_be_those_announced():
    values, offsets, _ = flatten([numpy.arange(3), numpy.arange(2)])
    with pytest.raises(ValueError, match='example 1: expected 2 values; got 3'):
        flatten_into([numpy.arange(3)], values, offsets, None, 1)
    with pytest.raises(ValueError, match='expected offsets of 3 examples; got those of 2'):
        flatten_into([numpy.arange(2), numpy.arange(2)], values, offsets, None, 1)
