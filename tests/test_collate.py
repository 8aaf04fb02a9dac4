"""How examples become batches."""
import numpy
import pytest

from fuel.collate import as_objects, batch_of, joined, stacked
from fuel.testing import assert_same


def objects(*items):
    result = numpy.empty(len(items), dtype=object)
    for place, item in enumerate(items):
        result[place] = item
    return result


@pytest.mark.parametrize('items', [[numpy.arange(2), numpy.arange(2)], [[1], [2]], [1, 'a'], [],
                                   [numpy.zeros((2, 3)), numpy.zeros((2, 3))]])
def test_as_objects(items):
    result = as_objects(items)
    assert result.shape == (len(items),) and result.dtype == object
    assert all(one is other for one, other in zip(result, items, strict=True))


@pytest.mark.parametrize('dtype', ['u1', '>f4', 'i8', 'M8[s]', 'U3', 'S2', [('a', 'u1')]])
@pytest.mark.parametrize('shape', [(1,), (3,), (2, 3), (0,), (2, 0), ()])
def test_arrays_of_one_shape(dtype, shape):
    items = [numpy.frombuffer(numpy.random.RandomState(place).bytes(6 * 16), 'u1')[
        :int(numpy.prod(shape))].astype('u1').astype(dtype).reshape(shape) for place in range(3)]
    assert_same(stacked(items), numpy.stack(items))
    assert not any(numpy.shares_memory(stacked(items), item) for item in items if item.size)


def test_arrays_of_different_dtypes():
    assert_same(stacked([numpy.array([1], 'i4'), numpy.array([0.5], 'f4')]),
                numpy.array([[1], [0.5]], 'f8'))


def test_ragged_arrays():
    items = [numpy.arange(3), numpy.arange(1), numpy.arange(3)]
    assert_same(stacked(items), objects(*items))
    items = [numpy.arange(3), 1]
    assert_same(stacked(items), objects(*items))
    items = [numpy.zeros((2, 2)), numpy.zeros((2, 3))]
    assert_same(stacked(items), objects(*items))


@pytest.mark.parametrize('items', [
    [[1, 2], [3]], [[1, 2], [3, 4]], [(1,), (2,)], [{'a': 1}, {'a': 2}], [[], []],
    [b'ab', b'c\0'], [objects(1, 2), objects(3, 4)]])
def test_what_becomes_objects_whatever_its_length(items):
    assert_same(stacked(items), objects(*items))


@pytest.mark.parametrize(('items', 'expected'), [
    ([1, 2], numpy.array([1, 2])), ([1, 0.5], numpy.array([1, 0.5])),
    (['a', 'bc'], numpy.array(['a', 'bc'])), ([True, False], numpy.array([True, False])),
    ([None, None], numpy.array([None, None])),
    ([numpy.uint8(3), numpy.uint8(4)], numpy.array([3, 4], 'u1'))])
def test_scalars(items, expected):
    assert_same(stacked(items), expected)


def test_batch_of_examples():
    batch = batch_of([(1, [1, 2]), (2, [3])])
    assert_same(batch, (numpy.array([1, 2]), objects([1, 2], [3])))


def test_joined_parts():
    whole = numpy.arange(12).reshape(6, 2)
    assert_same(joined([whole[:2], whole[2:3], whole[3:]]), whole)
    assert joined([whole]) is whole
    assert_same(joined([[1, 2], [[3]]]), [1, 2, [3]])
    assert_same(joined([(1,), (2, 3)]), (1, 2, 3))
    ragged = objects(numpy.arange(2), numpy.arange(3))
    assert_same(joined([ragged[:1], ragged[1:]]), ragged)
    # An array of objects holds the ragged batches, one of numbers those that happen to be regular.
    assert_same(joined([ragged, numpy.zeros((1, 2))]), objects(*ragged, numpy.zeros(2)))
    assert_same(joined([numpy.zeros((1, 2)), numpy.zeros((1, 3))]),
                objects(numpy.zeros(2), numpy.zeros(3)))
    assert_same(joined([[1], (2,)]), objects(1, 2))
    assert_same(joined([numpy.array(['a']), numpy.array(['bc'])]), numpy.array(['a', 'bc']))
