"""Normalize, ForceFloatX, and ScaleAndShift and Cast in one pass, against plain numpy."""
import pickle

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import fuel
from fuel.collate import as_objects
from fuel.datasets import IndexableDataset
from fuel.schemes import SequentialExampleScheme, SequentialScheme
from fuel.streams import DataStream
from fuel.testing import ReadOnly, assert_same
from fuel.transformers import Cast, ForceFloatX, Normalize, ScaleAndShift
from fuel.transformers.defaults import uint8_pixels_to_floatX

MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


def over(data, examples=False, labels=None, **more):
    dataset = IndexableDataset({'x': data, **more}, axis_labels=labels)
    scheme = (SequentialExampleScheme(len(data)) if examples
              else SequentialScheme(len(data), len(data)))
    return ReadOnly(DataStream(dataset, iteration_scheme=scheme))


def first(stream):
    return next(stream.get_epoch_iterator())[0]


# ScaleAndShift and Cast in one pass: the same to the bit as one after the other.

def all_of(dtype):
    if dtype == '?':
        return numpy.array([False, True])
    info = numpy.iinfo(dtype)
    return numpy.arange(info.min, info.max + 1).astype(dtype)


SCALES = [1 / 255, 1, -1, 0.0, -0.0, 2, 2 / 255, 1 / 3, -1e-3, 1e30, 1e-310, 1 / 256, 0.1, 10**6]
SHIFTS = [0, -0.0, -1, 0.5, -0.5, 1 / 3, -127.5, -10**7, 1e-30]


@pytest.mark.parametrize('dtype', ['uint8', 'int8', 'uint16', 'int16', '?'])
@pytest.mark.parametrize('target', ['float32', 'float64'])
def test_one_pass_is_the_same_to_the_bit_for_every_number(dtype, target):
    data = all_of(dtype)
    for scale in SCALES:
        for shift in SHIFTS:
            if isinstance(scale, int) and isinstance(shift, int):
                expected = (data.astype('int64') * scale + shift).astype(target)
            else:
                expected = (data.astype('float64') * scale + shift).astype(target)
            stream = Cast(ScaleAndShift(over(data), scale, shift), target)
            assert_same(first(stream), expected, f'{scale} {shift}')
            if target == 'float64':
                alone = first(ScaleAndShift(over(data), scale, shift))
                assert_same(alone.astype(target), expected, f'{scale} {shift}')


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.sampled_from(['u1', 'i1']))
def test_one_pass_for_any_scale_and_shift(scale, shift, dtype):
    # Long enough for the quick way of the kernel.
    data = numpy.tile(all_of(dtype), 16)
    assert_same(first(Cast(ScaleAndShift(over(data), scale, shift), 'float32')),
                (data.astype('float64') * scale + shift).astype('float32'))


@given(st.data())
def test_any_two_give_what_one_after_the_other_gives(data):
    dtype = data.draw(st.sampled_from(['u1', 'i2', 'u4', 'i8', '?', 'f2', 'f4', 'f8', '>i2']))
    array = data.draw(arrays.arrays(dtype, arrays.array_shapes(max_dims=3, max_side=4)))
    array = numpy.clip(numpy.nan_to_num(array.astype('f8')), -1e4, 1e4).astype(dtype)
    scale = data.draw(st.one_of(st.integers(-9, 9), st.floats(-9, 9), st.just(
        numpy.arange(array.shape[-1]) * 0.5)))
    shift = data.draw(st.one_of(st.integers(-9, 9), st.floats(-9, 9)))
    target = data.draw(st.sampled_from(['f4', 'f8', 'f2', 'i4', '>f4']))
    with numpy.errstate(all='ignore'):
        scaled = first(ScaleAndShift(over(array), scale, shift))
        assert_same(first(Cast(ScaleAndShift(over(array), scale, shift), target)),
                    numpy.asarray(scaled).astype(target))


@pytest.mark.parametrize(('scaled', 'cast'), [
    (('x',), ('x',)), (('x',), ('y',)), (None, ('y',)), (('x', 'y'), None), ((), ('x',)),
    (('y',), ())])
def test_each_of_the_two_keeps_to_its_sources(scaled, cast):
    x, y = numpy.arange(3, dtype='uint8'), numpy.arange(3, dtype='int16')
    expected = []
    for name, data in (('x', x), ('y', y)):
        if scaled is None or name in scaled:
            data = data * 0.5 + 1
        if cast is None or name in cast:
            data = data.astype('float32')
        expected.append(data)
    stream = Cast(ScaleAndShift(over(x, y=y), 0.5, 1, which_sources=scaled), 'float32',
                  which_sources=cast)
    assert_same(next(stream.get_epoch_iterator()), tuple(expected))


@pytest.mark.parametrize('rows', [[[1, 2, 3], [4]], [[1, 2], [3, 4]]])
def test_one_pass_over_ragged_batches(rows):
    rows = [numpy.array(row, dtype='uint8') for row in rows]
    expected = [(row * 0.5 + 1).astype('float32') for row in rows]
    for data, wanted in ((list(rows), expected), (as_objects(rows), as_objects(expected))):
        assert_same(first(Cast(ScaleAndShift(over(data), 0.5, 1), 'float32')), wanted)
        examples = Cast(ScaleAndShift(over(data, True), 0.5, 1), 'float32')
        assert_same([item for item, in examples.get_epoch_iterator()], expected)


def test_single_numbers():
    stream = Cast(ScaleAndShift(over(numpy.arange(3, dtype='uint8'), True), 0.5, 1), 'float32')
    assert [(float(item), item.dtype.name) for item, in stream.get_epoch_iterator()] == [
        (1.0, 'float32'), (1.5, 'float32'), (2.0, 'float32')]


def test_subclasses_and_streams_in_between_are_asked():
    class Doubled(ScaleAndShift):
        def transform_any_source(self, source_data, source_name):
            return super().transform_any_source(source_data, source_name) * 2

    class Rounded(Cast):
        def transform_any_source(self, source_data, source_name):
            return super().transform_any_source(numpy.round(source_data), source_name)
    data = numpy.arange(5, dtype='uint8')
    assert first(Cast(Doubled(over(data), 0.5, 1), 'f4')).tolist() == [2, 3, 4, 5, 6]
    assert first(Rounded(ScaleAndShift(over(data), 0.4, 0), 'f4')).tolist() == [0, 0, 1, 1, 2]


def test_what_is_assigned_in_the_middle_of_an_epoch_holds():
    data = numpy.arange(4, dtype='uint8')
    scaling = ScaleAndShift(over(data, True), 0.5, 0)
    stream = Cast(scaling, 'float32')
    iterator = stream.get_epoch_iterator()
    taken = [float(next(iterator)[0]), float(next(iterator)[0])]
    scaling.scale = 2.0
    stream, iterator = pickle.loads(pickle.dumps((stream, iterator)))
    assert [*taken, *[float(item) for item, in iterator]] == [0, 0.5, 4, 6]


@pytest.mark.parametrize(('scale', 'shift'), [(numpy.inf, 0), (1, numpy.nan), (1e38, 1e38)])
def test_warnings_of_numpy_are_not_lost(scale, shift):
    stream = Cast(ScaleAndShift(over(numpy.array([0, 200], dtype='uint8')), scale, shift), 'f4')
    if shift == shift:
        with pytest.raises(RuntimeWarning):
            first(stream)
    else:
        assert numpy.isnan(first(stream)).all()


def test_integer_scale_and_fractional_shift_do_not_wrap():
    data = numpy.array([200], dtype='uint8')
    assert first(ScaleAndShift(over(data), 2, 0.5)).tolist() == [400.5]
    assert first(ScaleAndShift(over(data), numpy.array([2]), 0.5)).tolist() == [400.5]
    assert first(ScaleAndShift(over(data), 1000, numpy.array([0.5]))).tolist() == [200000.5]


def test_default_pixels_are_done_in_one_pass():
    fuel.config.floatX = 'float32'
    data = numpy.arange(256, dtype='uint8').reshape(4, 64)
    stream = over(data)
    for cls, args, kwargs in uint8_pixels_to_floatX(('x',)):
        stream = cls(stream, *args, **kwargs)
    assert_same(first(stream), (data * (1 / 255.0) + 0).astype('float32'))


# ForceFloatX.

def test_force_floatX_leaves_everything_else():
    fuel.config.floatX = 'float32'
    integers, words = numpy.arange(3), ['a', 'b', 'c']
    stream = ForceFloatX(over(numpy.arange(3.0), y=integers, z=words, w=[1.5, 2.5, 3.5]))
    x, y, z, w = next(stream.get_epoch_iterator())
    assert_same(x, numpy.arange(3, dtype='float32'))
    assert_same((y, z, w), (integers, words, [1.5, 2.5, 3.5]))


@pytest.mark.parametrize('dtype', ['f2', 'f4', 'f8', 'g', '>f8', 'i4', 'c16', '?', 'U3'])
def test_force_floatX_by_dtype(dtype):
    for floatX in ('float32', 'float64'):
        fuel.config.floatX = floatX
        data = numpy.zeros(3, dtype=dtype)
        assert_same(first(ForceFloatX(over(data))),
                    data.astype(floatX) if data.dtype.kind == 'f' else data)


def test_force_floatX_of_ragged_data():
    fuel.config.floatX = 'float32'
    rows = [numpy.arange(2.0), numpy.arange(3), numpy.arange(1, dtype='f2')]
    expected = [rows[0].astype('float32'), rows[1], rows[2].astype('float32')]
    assert_same(first(ForceFloatX(over(list(rows)))), expected)
    assert_same(first(ForceFloatX(over(as_objects(rows)))), as_objects(expected))
    assert_same([item for item, in ForceFloatX(over(list(rows), True)).get_epoch_iterator()],
                expected)


def test_force_floatX_keeps_to_its_sources_and_labels():
    fuel.config.floatX = 'float32'
    stream = ForceFloatX(over(numpy.zeros(2), y=numpy.zeros(2), labels={'x': ('batch',)}),
                         which_sources=('y',))
    assert [item.dtype.name for item in next(stream.get_epoch_iterator())] == [
        'float64', 'float32']
    assert stream.axis_labels == {'x': ('batch',)}


# Normalize.

def normalized(data, mean, std, scale=1 / 255, axis=-3):
    mean, std = numpy.array(mean), numpy.array(std)
    moved = numpy.moveaxis(data.astype('float64'), axis, -1)
    return numpy.moveaxis(moved * (scale / std) + -mean / std, -1, axis)


@pytest.mark.parametrize('dtype', ['uint8', 'int16', 'uint16', 'float32', 'float64', 'int64', '?'])
@pytest.mark.parametrize('target', ['float32', 'float64', 'float16'])
def test_normalize_both_layouts(dtype, target):
    rng = numpy.random.RandomState(0)
    data = rng.randint(256, size=(5, 3, 20, 30)).astype(dtype)
    last = numpy.ascontiguousarray(data.transpose(0, 2, 3, 1))
    expected = normalized(data, MEAN, STD).astype(target)
    assert_same(first(Normalize(over(data), MEAN, STD, dtype=target)), expected)
    assert_same(first(Normalize(over(last), MEAN, STD, dtype=target, to_channel_first=True)),
                expected)
    assert_same(first(Normalize(over(last), MEAN, STD, dtype=target, channel_axis=-1)),
                expected.transpose(0, 2, 3, 1))
    plain = (data.astype('f8') / 255 - numpy.reshape(MEAN, (3, 1, 1))) / numpy.reshape(
        STD, (3, 1, 1))
    assert numpy.allclose(expected, plain, rtol=1e-2 if target == 'float16' else 1e-5, atol=1e-2
                          if target == 'float16' else 1e-5)


def test_normalize_examples_and_ragged_batches():
    rng = numpy.random.RandomState(0)
    images = [rng.randint(256, size=(*size, 3)).astype('uint8') for size in ((4, 5), (2, 7))]
    expected = [normalized(image, MEAN, STD, axis=-1).transpose(2, 0, 1).astype('float32')
                for image in images]

    def stream(data, examples=False):
        return Normalize(over(data, examples), MEAN, STD, to_channel_first=True)
    assert_same(first(stream(images)), expected)
    assert_same(first(stream(as_objects(images))), as_objects(expected))
    assert_same([item for item, in stream(images, True).get_epoch_iterator()], expected)


def test_normalize_labels():
    data = numpy.zeros((2, 4, 5, 3), dtype='uint8')
    labels = {'x': ('batch', 'height', 'width', 'channel'), 'y': ('batch', 'index')}
    stream = Normalize(over(data, labels=labels), MEAN, STD, to_channel_first=True)
    assert stream.axis_labels == {'x': ('batch', 'channel', 'height', 'width'),
                                  'y': ('batch', 'index')}
    assert first(stream).shape == (2, 3, 4, 5)
    examples = Normalize(over(data, True, labels), MEAN, STD, to_channel_first=True)
    assert examples.axis_labels['x'] == ('channel', 'height', 'width')
    assert first(examples).shape == (3, 4, 5)
    stays = Normalize(over(data, labels=labels), MEAN, STD)
    assert stays.axis_labels['x'] == labels['x']
    assert first(stays).shape == (2, 4, 5, 3)  # the axis was found by its label
    unknown = Normalize(over(data, labels={'x': None}), MEAN, STD, to_channel_first=True)
    assert unknown.axis_labels == {'x': None}
    assert Normalize(over(data), 0, 1).axis_labels is None


def test_normalize_with_one_number_for_all():
    data = numpy.arange(12, dtype='uint8').reshape(3, 4)
    assert_same(first(Normalize(over(data), 0.5, 0.25)),
                (data * (1 / 255 / 0.25) + -0.5 / 0.25).astype('float32'))
    floats = numpy.arange(6.0).reshape(2, 3, 1, 1)
    assert_same(first(Normalize(over(floats), [1, 2, 3], 2, scale=1, dtype='float64')),
                (floats - numpy.reshape([1, 2, 3], (3, 1, 1))) / 2)
    fuel.config.floatX = 'float32'
    assert first(Normalize(over(data), 0, 1, dtype='floatX')).dtype == numpy.float32


@pytest.mark.parametrize(('arguments', 'error', 'message'), [
    (([0.5, 0.5], [1, 0]), ValueError, 'std without zeros'),
    (([0.5, 0.5], [1, 1, 1]), ValueError, 'as many channels; got 2 and 3'),
    (([[0.5]], 1), ValueError, 'expected the mean'), ((0, []), ValueError, 'expected the std'),
    ((float('nan'), 1), ValueError, 'a finite number')])
def test_normalize_wrong_numbers(arguments, error, message):
    with pytest.raises(error, match=message):
        Normalize(over(numpy.zeros((1, 2))), *arguments)


@pytest.mark.parametrize(('kwargs', 'error', 'message'), [
    ({'scale': float('inf')}, ValueError, 'finite scale'), ({'dtype': 'int8'}, TypeError, 'int8'),
    ({'channel_axis': 1}, ValueError, 'counted from the end'),
    ({'channel_axis': 0}, ValueError, 'counted from the end')])
def test_normalize_wrong_settings(kwargs, error, message):
    with pytest.raises(error, match=message):
        Normalize(over(numpy.zeros((1, 2))), 0, 1, **kwargs)


@pytest.mark.parametrize(('shape', 'kwargs'), [
    ((2, 4, 5, 5), {}), ((2, 5), {}), ((3, 5, 5), {}), ((2, 5, 5, 4), {'to_channel_first': True}),
    ((2, 3), {'channel_axis': -2})])
def test_normalize_wrong_data(shape, kwargs):
    stream = Normalize(over(numpy.zeros(shape)), MEAN, STD, **kwargs)
    with pytest.raises(ValueError, match=r"expected 3 channels on axis -\d of source 'x'; got an"):
        first(stream)


def test_normalize_words():
    with pytest.raises(TypeError, match='expected real numbers'):
        first(Normalize(over(['a', 'b']), 0, 1))
