"""Flatten, ScaleAndShift, Cast, Mapping and the defaults, against plain numpy."""
import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import fuel
from fuel.datasets import IndexableDataset
from fuel.schemes import SequentialExampleScheme, SequentialScheme
from fuel.streams import DataStream
from fuel.testing import ReadOnly, assert_same
from fuel.transformers import Cast, Flatten, Mapping, ScaleAndShift
from fuel.transformers.defaults import uint8_pixels_to_floatX


def over(data, examples=False, **labels):
    dataset = IndexableDataset({'x': data}, axis_labels=labels or None)
    scheme = (SequentialExampleScheme(len(data)) if examples
              else SequentialScheme(len(data), len(data)))
    return ReadOnly(DataStream(dataset, iteration_scheme=scheme))


def first(stream):
    return next(stream.get_epoch_iterator())[0]


def objects(*rows):
    result = numpy.empty(len(rows), dtype=object)
    for place, row in enumerate(rows):
        result[place] = row
    return result


RAGGED = [numpy.arange(6, dtype='uint8').reshape(2, 3),
          numpy.arange(2, dtype='uint8').reshape(1, 2)]
EQUAL = [numpy.arange(6, dtype='uint8').reshape(2, 3)] * 2

numeric = arrays.arrays(
    st.sampled_from(['u1', 'i1', 'u2', 'i4', 'i8', 'u4', '?', 'f2', 'f4', 'f8', '>f4', '>i2']),
    arrays.array_shapes(min_dims=1, max_dims=4, max_side=4))


# Flatten.

@given(numeric)
def test_flatten_batches_and_examples(data):
    assert_same(first(Flatten(over(data))), data.reshape(len(data), -1))
    flat = [item for item, in Flatten(over(data, examples=True)).get_epoch_iterator()]
    for item, example in zip(flat, data, strict=True):
        assert_same(item, numpy.asarray(example).reshape(-1))


@pytest.mark.parametrize('rows', [RAGGED, EQUAL])
def test_flatten_ragged_batches(rows):
    expected = [row.reshape(-1) for row in rows]
    assert_same(first(Flatten(over(list(rows)))), expected)
    assert_same(first(Flatten(over(objects(*rows)))), objects(*expected))


def test_flatten_labels():
    batches = over(numpy.zeros((2, 3, 4)), x=('batch', 'height', 'width'), y=('batch',))
    assert Flatten(batches).axis_labels == {'x': ('batch', 'feature'), 'y': ('batch',)}
    examples = over(numpy.zeros((2, 3, 4)), True, x=('batch', 'height', 'width'))
    assert Flatten(examples).axis_labels == {'x': ('feature',)}
    assert Flatten(over(numpy.zeros((2, 3)))).axis_labels is None
    unknown = DataStream(IndexableDataset({'x': [1]}, axis_labels={'x': None}),
                         iteration_scheme=SequentialScheme(1, 1))
    assert Flatten(unknown).axis_labels == {'x': None}


# ScaleAndShift.

@given(numeric, st.integers(-300, 300), st.integers(-300, 300))
def test_integer_scale_and_shift_are_exact(data, scale, shift):
    stream = ScaleAndShift(over(data), scale, shift)
    if data.dtype.kind not in 'biu':
        with numpy.errstate(all='ignore'):
            assert_same(first(stream), data * scale + shift)
        return
    exact = [int(value) * scale + shift for value in data.flat]
    largest = max([abs(value) for value in exact] + [abs(int(data.max()) * scale),
                                                     abs(int(data.min()) * scale)])
    if largest < 2**63:
        result = first(stream)
        assert result.dtype == numpy.int64
        assert result.ravel().tolist() == exact
    else:
        with pytest.raises(OverflowError, match="cast to 'float64' first"):
            first(stream)


@given(numeric, st.floats(-10, 10), st.floats(-10, 10))
def test_float_scale_and_shift_promote_as_numpy_does(data, scale, shift):
    with numpy.errstate(all='ignore'):
        assert_same(first(ScaleAndShift(over(data), scale, shift)), data * scale + shift)


def test_uint8_does_not_wrap():
    data = numpy.array([200], dtype='uint8')
    assert first(ScaleAndShift(over(data), 2, 0)).tolist() == [400]
    assert first(ScaleAndShift(over(data), 1, 100)).tolist() == [300]
    assert first(ScaleAndShift(over(data), -1, 0)).tolist() == [-200]
    assert first(ScaleAndShift(over(data), 1 / 255, 0)).dtype == numpy.float64


def test_numpy_scalars_count_as_python_numbers():
    data = numpy.array([1.5, 2.5], dtype='float32')
    result = first(ScaleAndShift(over(data), numpy.float64(2), numpy.float64(1)))
    assert_same(result, numpy.array([4, 6], dtype='float32'))


def test_scale_and_shift_by_arrays():
    data = numpy.arange(6).reshape(2, 3)
    scale, shift = numpy.array([1, 2, 3]), numpy.array([[0.5], [1.5]])
    assert_same(first(ScaleAndShift(over(data), scale, shift)), data * scale + shift)


@pytest.mark.parametrize('rows', [RAGGED, EQUAL])
def test_scale_and_shift_ragged_batches(rows):
    expected = [row * 0.5 + 1 for row in rows]
    assert_same(first(ScaleAndShift(over(list(rows)), 0.5, 1)), expected)
    assert_same(first(ScaleAndShift(over(objects(*rows)), 0.5, 1)), objects(*expected))


def test_scale_and_shift_lists_of_numbers():
    assert_same(first(ScaleAndShift(over([1, 2]), 2, 1)), numpy.array([3, 5]))
    examples = ScaleAndShift(over([1, 2], True), 2, 1)
    assert [item for item, in examples.get_epoch_iterator()] == [3, 5]
    nested = first(ScaleAndShift(over([[1, 2], [3]]), 2, 1))
    assert_same(nested, [numpy.array([3, 5]), numpy.array([7])])


# Cast.

@given(numeric, st.sampled_from(['float32', 'float64', 'int16']))
def test_cast(data, dtype):
    with numpy.errstate(all='ignore'):
        assert_same(first(Cast(over(numpy.nan_to_num(data)), dtype)),
                    numpy.nan_to_num(data).astype(dtype))


@pytest.mark.parametrize('rows', [RAGGED, EQUAL])
def test_cast_ragged_batches(rows):
    expected = [row.astype('float32') for row in rows]
    assert_same(first(Cast(over(list(rows)), 'float32')), expected)
    assert_same(first(Cast(over(objects(*rows)), 'float32')), objects(*expected))


def test_cast_to_floatX_as_it_is_at_construction():
    fuel.config.floatX = 'float32'
    stream = Cast(over(numpy.arange(3)), 'floatX')
    fuel.config.floatX = 'float64'
    assert first(stream).dtype == numpy.float32
    assert first(Cast(over(numpy.arange(3)), 'floatX')).dtype == numpy.float64


def test_cast_to_an_unknown_dtype():
    with pytest.raises(TypeError):
        Cast(over(numpy.arange(3)), 'float33')


def test_default_pixels():
    fuel.config.floatX = 'float32'
    stream = over(numpy.array([[0, 51, 255]], dtype='uint8'), x=('batch', 'width'))
    for cls, args, kwargs in uint8_pixels_to_floatX(('x',)):
        stream = cls(stream, *args, **kwargs)
    assert_same(first(stream), numpy.array([[0, 0.2, 1]], dtype='float32'))
    assert stream.axis_labels == {'x': ('batch', 'width')}
    (scale, cast) = uint8_pixels_to_floatX('ab')
    assert scale == (ScaleAndShift, [1 / 255.0, 0], {'which_sources': ('a', 'b')})
    assert cast == (Cast, ['floatX'], {'which_sources': ('a', 'b')})


# Mapping.

def two(examples=False):
    dataset = IndexableDataset({'x': numpy.arange(4), 'y': numpy.arange(4) * 10},
                               axis_labels={'x': ('batch',), 'y': ('batch',)})
    return ReadOnly(DataStream(dataset, iteration_scheme=(
        SequentialExampleScheme(4) if examples else SequentialScheme(4, 2))))


@pytest.mark.parametrize('examples', [False, True])
@pytest.mark.parametrize('accepts', [list, dict])
@pytest.mark.parametrize('gives', [tuple, list, dict])
@pytest.mark.parametrize('adds', [False, True])
def test_mapping_in_every_combination(examples, accepts, gives, adds):
    def double(data):
        if accepts is dict:
            assert list(data) == ['x', 'y']
            data = tuple(data.values())
        else:
            assert type(data) is tuple
        image = tuple(item * 2 for item in data)
        names = ('p', 'q') if adds else ('x', 'y')
        return dict(zip(names, image, strict=True)) if gives is dict else gives(image)

    stream = Mapping(two(examples), double, add_sources=('p', 'q') if adds else None,
                     mapping_accepts=accepts)
    assert stream.sources == (('x', 'y', 'p', 'q') if adds else ('x', 'y'))
    assert stream.axis_labels == {'x': () if examples else ('batch',),
                                  'y': () if examples else ('batch',)}
    for data, before in zip(stream.get_epoch_iterator(), two(examples).get_epoch_iterator(),
                            strict=True):
        image = tuple(item * 2 for item in before)
        assert_same(data, before + image if adds else image)


def test_dicts_may_be_in_any_order():
    stream = Mapping(two(), lambda data: {'y': data['x'], 'x': data['y']}, mapping_accepts=dict)
    assert next(stream.get_epoch_iterator())[0].tolist() == [0, 10]


@pytest.mark.parametrize(('arguments', 'error', 'message'), [
    ((3,), TypeError, 'expected a function; got 3'),
    ((len, 'new'), ValueError, r"such as \('new',\)"),
    ((len, ('x',)), ValueError, "the source 'x', which is to be added, exists"),
    ((len, None, set), ValueError, 'mapping_accepts to be list or dict')])
def test_wrong_mappings(arguments, error, message):
    with pytest.raises(error, match=message):
        Mapping(two(), *arguments)


@pytest.mark.parametrize(('image', 'adds', 'message'), [
    (3, None, 'got int'), (None, None, 'got NoneType'), ((1, 2), ('z',), 'return 1 items'),
    ({'x': 1}, None, "lacks 'y'")])
def test_wrong_results(image, adds, message):
    stream = Mapping(two(), lambda data: image, add_sources=adds)
    with pytest.raises(ValueError, match=message):
        next(stream.get_epoch_iterator())
