"""Rename, FilterSources, SourceMapping and OneHot."""
import logging

import numpy
import pytest

import fuel
from fuel.datasets import IndexableDataset
from fuel.schemes import SequentialExampleScheme, SequentialScheme
from fuel.streams import DataStream
from fuel.testing import ReadOnly, assert_same
from fuel.transformers import FilterSources, Mapping, OneHot, Rename, SourceMapping
from fuel.transformers.sequences import NGrams

LABELS = {'x': ('batch', 'feature'), 'y': ('batch',), 'other': ('batch', 'time')}


def over(examples=False, **sources):
    sources = sources or {'x': numpy.arange(8).reshape(4, 2), 'y': numpy.arange(4) * 10}
    count = len(next(iter(sources.values())))
    dataset = IndexableDataset(sources, axis_labels=LABELS)
    return ReadOnly(DataStream(dataset, iteration_scheme=(
        SequentialExampleScheme(count) if examples else SequentialScheme(count, 2))))


def drawn(stream):
    return list(stream.get_epoch_iterator())


# Rename.

@pytest.mark.parametrize('examples', [False, True])
@pytest.mark.parametrize(('names', 'expected'), [
    ({'x': 'a'}, ('a', 'y')), ({'x': 'y', 'y': 'x'}, ('y', 'x')), ({}, ('x', 'y')),
    ({'x': 'x'}, ('x', 'y')), ({'y': 'other'}, ('x', 'other'))])
def test_rename(examples, names, expected):
    stream = Rename(over(examples), names)
    assert stream.sources == expected
    assert_same(drawn(stream), drawn(over(examples)))
    before = over(examples).axis_labels
    for old, new in zip(('x', 'y'), expected, strict=True):
        assert stream.axis_labels[new] == before[old]
    assert len(stream) == len(over(examples))
    first = next(stream.get_epoch_iterator(as_dict=True))
    assert tuple(first) == expected
    assert stream.produces_examples is examples


@pytest.mark.parametrize(('names', 'message'), [
    ({'z': 'a'}, "no source 'z'"), ({'x': 'y'}, "'x' and 'y' would both be named 'y'"),
    ({'x': 'a', 'y': 'a'}, "would both be named 'a'"), ({'x': 'a', 'z': 'a'}, "no source 'z'")])
def test_wrong_names(names, message):
    with pytest.raises(KeyError, match=message):
        Rename(over(), names)


@pytest.mark.parametrize(('what', 'level'), [('ignore', logging.DEBUG), ('warn', logging.WARNING)])
def test_names_that_do_not_exist(what, level, caplog):
    caplog.set_level(logging.DEBUG)
    stream = Rename(over(), {'z': 'y', 'x': 'a'}, on_non_existent=what)
    assert stream.sources == ('a', 'y')
    record, = [record for record in caplog.records if 'z' in record.getMessage()]
    assert record.levelno == level
    with pytest.raises(KeyError):  # two that do exist still must not have one name
        Rename(over(), {'z': 'b', 'x': 'y'}, on_non_existent=what)


def test_rename_wants_to_know_what_to_do():
    with pytest.raises(ValueError, match="'raise', 'ignore' or 'warn'; got 'crash'"):
        Rename(over(), {'x': 'a'}, on_non_existent='crash')


def test_rename_keeps_the_names_it_was_given():
    names = {'x': 'a'}
    stream = Rename(over(), names)
    names['y'] = 'b'
    assert stream.sources == ('a', 'y')


# FilterSources.

@pytest.mark.parametrize('examples', [False, True])
@pytest.mark.parametrize('wanted', [('y',), ['y', 'x'], {'x': 0}.keys(), {'y'}])
def test_filter_sources(examples, wanted):
    chosen = list(wanted)
    stream = FilterSources(over(examples), sources=iter(chosen))
    expected = tuple(name for name in ('x', 'y') if name in chosen)
    assert type(stream.sources) is tuple
    assert stream.sources == expected
    for data, before in zip(drawn(stream), over(examples).get_epoch_iterator(as_dict=True),
                            strict=True):
        assert_same(data, tuple(before[name] for name in expected))
    assert set(stream.axis_labels) == set(expected)


def test_result_can_be_put_together_with_other_tuples():
    stream = Mapping(FilterSources(over(), ('x',)), lambda data: (len(data[0]),), ('count',))
    assert drawn(stream)[0][1] == 2


@pytest.mark.parametrize(('wanted', 'message'), [
    (('z',), "no source 'z'; it has 'x', 'y'"), ('x', r"such as \('x',\)"), ((), 'at least one')])
def test_wrong_sources(wanted, message):
    with pytest.raises(ValueError, match=message):
        FilterSources(over(), wanted)


def test_filter_of_a_stream_whose_data_do_not_fit():
    stream = FilterSources(Mapping(over(), lambda data: data[:1]), ('x',))
    with pytest.raises(ValueError, match='return 2 items'):
        next(stream.get_epoch_iterator())


# SourceMapping.

def doubled(data):
    return data * 2


@pytest.mark.parametrize('examples', [False, True])
def test_source_mapping(examples):
    stream = SourceMapping(over(examples), doubled, which_sources=('y',))
    for (x, y), (old_x, old_y) in zip(drawn(stream), drawn(over(examples)), strict=True):
        assert_same(x, old_x)
        assert_same(y, old_y * 2)
    everything = SourceMapping(over(examples), doubled)
    assert_same(drawn(everything)[0], tuple(item * 2 for item in drawn(over(examples))[0]))
    assert stream.axis_labels == over(examples).axis_labels


def test_source_mapping_of_what_is_no_array():
    stream = SourceMapping(over(True, x=['a b', 'c'], y=[1, 2]), str.split, which_sources=('x',))
    assert drawn(stream) == [(['a', 'b'], 1), (['c'], 2)]


def test_source_mapping_that_returns_nothing():
    stream = SourceMapping(over(), lambda data: None, which_sources=('y',))
    with pytest.raises(ValueError, match="None for source 'y'.*return statement"):
        next(stream.get_epoch_iterator())
    with pytest.raises(TypeError, match='expected a function; got 3'):
        SourceMapping(over(), 3)
    with pytest.raises(ValueError, match="no source 'z'"):
        SourceMapping(over(), doubled, which_sources=('z',))


# OneHot.

@pytest.mark.parametrize('shape', [(4,), (4, 1)])
@pytest.mark.parametrize('dtype', ['uint8', 'int64', 'int32', '>i2', 'bool'])
def test_one_hot(shape, dtype):
    labels = numpy.array([1, 0, 1, 1]).astype(dtype).reshape(shape)
    for examples in (False, True):
        stream = OneHot(over(examples, y=labels), 3, dtype='int8')
        expected = numpy.eye(3, dtype='int8')[labels.astype(int).ravel()]
        rows = [data for data, in drawn(stream)]
        assert all(data.dtype == numpy.int8 for data in rows)
        assert_same(numpy.stack(rows) if examples else numpy.concatenate(rows), expected)
        assert stream.axis_labels['y'] == (('class',) if examples else ('batch', 'class'))


@pytest.mark.parametrize('labels', [[2, 0], [[2], [0]], numpy.array([2, 0], dtype=object)])
def test_one_hot_of_lists(labels):
    assert_same(drawn(OneHot(over(y=labels), 3, 'float32'))[0][0],
                numpy.eye(3, dtype='float32')[[2, 0]])


def test_one_hot_of_chosen_sources_in_floatX():
    fuel.config.floatX = 'float32'
    stream = OneHot(over(), 40, which_sources=('y',))
    fuel.config.floatX = 'float64'
    x, y = drawn(stream)[1]
    assert_same(x, numpy.array([[4, 5], [6, 7]]))
    assert_same(y, numpy.eye(40, dtype='float32')[[20, 30]])


@pytest.mark.parametrize(('labels', 'examples', 'error', 'message'), [
    ([0, 7], False, ValueError, "labels from 0 to 2 in source 'y'; got 7 at place 1 of 2"),
    ([0, -1], False, ValueError, 'got -1 at place 1'),
    ([5], True, ValueError, 'got 5'),
    (numpy.array([2**63], dtype='uint64'), False, ValueError, str(2**63)),
    ([0.0, 1.0], False, TypeError, "expected integers in source 'y'; got float64"),
    (['a', 'b'], False, TypeError, 'expected integers'),
    ([[0, 1], [1, 2]], False, ValueError, r'a label for each example.*\(2, 2\)'),
    ([[0, 1], [1, 2]], True, ValueError, r'a single label.*\(2,\)')])
def test_wrong_labels(labels, examples, error, message):
    with pytest.raises(error, match=message):
        drawn(OneHot(over(examples, y=labels), 3))


@pytest.mark.parametrize('classes', [0, -1, 2.5, True, None])
def test_wrong_number_of_classes(classes):
    with pytest.raises(ValueError, match='positive number of classes'):
        OneHot(over(), classes)


def test_they_go_together():
    words = over(True, y=[[1, 2, 3, 4], [5, 6, 7]])
    stream = Rename(FilterSources(OneHot(NGrams(2, words), 8, 'uint8',
                                         which_sources=('targets',)), ['targets']),
                    {'targets': 'next'})
    assert stream.sources == ('next',)
    assert [data.argmax() for data, in drawn(stream)] == [3, 4, 7]
