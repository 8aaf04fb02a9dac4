"""Sequences of unequal lengths, padded."""
import numpy
import pytest

from fuel import config
from fuel.datasets import IndexableDataset, IterableDataset
from fuel.schemes import SequentialExampleScheme, SequentialScheme
from fuel.streams import DataStream
from fuel.testing import assert_same
from fuel.transformers import Padding


def batch_stream(labels=None, **sources):
    """Return a stream of one batch."""
    count = len(next(iter(sources.values())))
    return DataStream(IndexableDataset(sources, axis_labels=labels),
                      iteration_scheme=SequentialScheme(count, count))


def given(**sources):
    """Return a stream that gives one batch as it is."""
    stream = DataStream(IterableDataset({name: [batch] for name, batch in sources.items()}))
    stream.produces_examples = False
    return stream


def only(stream):
    data, = stream.get_epoch_iterator()
    return data


def objects(*items):
    result = numpy.empty(len(items), dtype=object)
    for place, item in enumerate(items):
        result[place] = item
    return result


def test_sequences_and_masks():
    dense, mask = only(Padding(batch_stream(x=[[1, 2, 3], [4], []])))
    assert_same(dense, numpy.array([[1, 2, 3], [4, 0, 0], [0, 0, 0]]))
    assert_same(mask, numpy.array([[1., 1., 1.], [1., 0., 0.], [0., 0., 0.]]))


def test_sources_and_masks_come_in_turn():
    stream = Padding(batch_stream(x=[[1, 2], [3]], y=[[1], [2, 3]], z=[5, 6]),
                     mask_sources=('z', 'x')[1:])
    assert stream.sources == ('x', 'x_mask', 'y', 'z')
    assert Padding(batch_stream(x=[[1]], y=[[2]])).sources == ('x', 'x_mask', 'y', 'y_mask')
    data = next(stream.get_epoch_iterator(as_dict=True))
    assert list(data) == ['x', 'x_mask', 'y', 'z']
    assert_same(data['y'], [[1], [2, 3]])
    assert_same(data['z'], [5, 6])


@pytest.mark.parametrize('form', [list, tuple, lambda rows: objects(*rows)])
@pytest.mark.parametrize('entry', [list, tuple, numpy.array])
def test_forms_of_ragged_batches(form, entry):
    rows = form([entry([1, 2]), entry([3]), entry([4, 5])])
    dense, _ = only(Padding(given(x=rows)))
    assert_same(dense, numpy.array([[1, 2], [3, 0], [4, 5]]))


def test_sequences_of_one_length():
    rows = [numpy.array([1, 2]), numpy.array([3, 4])]
    for batch in (rows, objects(*rows), numpy.array(rows)):
        dense, mask = only(Padding(given(x=batch), mask_dtype='u1'))
        assert_same(dense, numpy.array(rows))
        assert_same(mask, numpy.ones((2, 2), 'u1'))


def test_array_of_three_axes():
    rows = numpy.arange(12.).reshape(2, 3, 2)
    dense, mask = only(Padding(given(x=rows), mask_dtype='bool'))
    assert_same(dense, rows)
    assert_same(mask, numpy.ones((2, 3), bool))


def test_sequences_of_vectors():
    rows = [numpy.arange(4).reshape(2, 2), numpy.arange(2).reshape(1, 2), numpy.empty((0, 2), int)]
    dense, mask = only(Padding(given(x=objects(*rows))))
    assert_same(dense, numpy.array([[[0, 1], [2, 3]], [[0, 1], [0, 0]], [[0, 0], [0, 0]]]))
    assert_same(mask, numpy.array([[1., 1.], [1., 0.], [0., 0.]]))


@pytest.mark.parametrize(('rows', 'dtype'), [
    # The old library took the dtype of the first, and 2.5 became 2.
    ([[1], [2.5, 3.]], 'f8'), ([numpy.array([1], 'i2'), numpy.array([2], 'f4')], 'f4'),
    ([numpy.array([1], 'u1'), numpy.array([300], 'u2')], 'u2'), ([[True], [2]], 'i8'),
    ([[], [1]], 'i8'), ([[1], ()], 'i8'), ([numpy.array([], 'f4'), numpy.array([1], 'i1')], 'f4'),
    ([['a'], ['bcd', 'e']], 'U3'), ([[2**70], [1]], object), ([[1j], [1]], 'c16'),
    ([[], []], 'f8'), ([[False], [True, True]], '?')])
def test_dtype_holds_every_value(rows, dtype):
    dense, _ = only(Padding(given(x=rows)))
    assert dense.dtype == dtype
    for row, padded in zip(rows, dense, strict=True):
        assert padded[:len(row)].tolist() == list(row)
        assert not padded[len(row):].any()


def test_dtype_of_masks():
    rows = [[1], [2, 3]]
    assert only(Padding(given(x=rows)))[1].dtype == 'f8'
    assert only(Padding(given(x=rows), mask_dtype=numpy.float16))[1].dtype == 'f2'
    config.floatX = 'float32'
    stream = Padding(given(x=rows))
    config.floatX = 'float64'
    assert only(stream)[1].dtype == 'f4'


def test_pad_values():
    rows = [[1, 2], [3]]
    assert only(Padding(given(x=rows), pad_value=-1))[0].tolist() == [[1, 2], [3, -1]]
    assert only(Padding(given(x=[[1.], [1., 2.]]), pad_value=numpy.nan))[0][0, 1] != 0
    both = only(Padding(given(x=rows, y=rows), pad_value={'y': 9}))
    assert both[0].tolist() == [[1, 2], [3, 0]] and both[2].tolist() == [[1, 2], [3, 9]]
    texts = only(Padding(given(x=[['ab'], ['c', 'd']]), pad_value='-'))[0]
    assert texts.tolist() == [['ab', '-'], ['c', 'd']]


@pytest.mark.parametrize(('rows', 'value'), [
    ([[1], [1, 2]], 0.5), ([[1], [1, 2]], numpy.nan), ([[1], [1, 2]], 'x'), ([[1], [1, 2]], [0]),
    ([numpy.array([1], 'u1')] * 2, 256), ([numpy.array([1], 'u1')] * 2, -1)])
def test_pad_value_that_does_not_fit(rows, value):
    with pytest.raises(ValueError, match="Padding, source 'x': expected a fill value that"):
        only(Padding(given(x=rows), pad_value=value))


def test_values_that_are_no_sequences_name_the_source():
    with pytest.raises(ValueError, match="Padding, source 'x': expected sequences; .*value 1"):
        only(Padding(given(x=[1, 2])))
    with pytest.raises(ValueError, match="Padding, source 'x': expected sequences"):
        only(Padding(given(x=numpy.arange(3))))


def test_unequal_axes_name_the_source_and_sizes():
    rows = objects(numpy.zeros((1, 2)), numpy.zeros((2, 3)))
    with pytest.raises(ValueError, match=r"source 'y': .* axes behind .*\(2,\) and \(3,\)"):
        only(Padding(given(x=[[1], [2]], y=rows)))
    with pytest.raises(ValueError, match="source 'x': .*same form"):
        only(Padding(given(x=[[[1, 2], [3]], [[1, 2]]])))


def test_examples_and_unknown_sources_are_refused():
    examples = DataStream(IndexableDataset([[1]]), iteration_scheme=SequentialExampleScheme(1))
    with pytest.raises(ValueError, match='wrapped DataStream produces single examples'):
        Padding(examples)
    with pytest.raises(ValueError, match="no source 'z' .*'x'"):
        Padding(given(x=[[1]]), mask_sources=('z',))
    with pytest.raises(ValueError, match="no source 'y'"):
        Padding(given(x=[[1]], y=[[2]]), mask_sources=('x',), pad_value={'y': 3})
    with pytest.raises(ValueError, match="'x_mask'.*exists already"):
        Padding(given(x=[[1]], x_mask=[[2]]))
    assert Padding(given(x=[[1]]), mask_sources='x').sources == ('x', 'x_mask')


def test_labels():
    labels = {'x': ('batch', 'time', 'feature'), 'y': ('batch',), 'z': None, 'w': ('batch', 'time')}
    rows = [[[1, 2]], [[3, 4]]]
    stream = Padding(batch_stream(labels, x=rows, y=rows, z=rows, w=rows),
                     mask_sources=('x', 'y', 'z'))
    assert stream.axis_labels == {
        'x': ('batch', 'time', 'feature'), 'x_mask': ('batch', 'time'), 'y': None, 'y_mask': None,
        'z': None, 'z_mask': None, 'w': ('batch', 'time')}
    assert Padding(batch_stream(x=rows)).axis_labels is None


def test_lengths_and_empty_batches():
    stream = Padding(batch_stream(x=[[1], [2]]))
    assert stream.num_examples == 2 and len(stream) == 1
    for batch in ([], numpy.empty(0, dtype=object)):
        dense, mask = only(Padding(given(x=batch)))
        assert dense.shape == mask.shape == (0, 0)


def test_input_is_left_alone():
    rows = objects(numpy.array([1, 2]), numpy.array([3]))
    stream = Padding(given(x=rows))
    dense, _ = only(stream)
    dense[...] = 9
    assert rows[0].tolist() == [1, 2]
    assert only(stream)[0].tolist() == [[1, 2], [3, 0]]
