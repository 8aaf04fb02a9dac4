"""Axis labels that a transformer relies on: checked once, and unknown ones warned about."""
import logging
import pickle

import numpy
import pytest

from fuel.datasets import IndexableDataset
from fuel.exceptions import AxisLabelsMismatchError
from fuel.schemes import SequentialExampleScheme, SequentialScheme
from fuel.streams import DataStream
from fuel.transformers import (
    AgnosticSourcewiseTransformer,
    ExpectsAxisLabels,
    Flatten,
    SourcewiseTransformer,
)

IMAGE = ('batch', 'channel', 'height', 'width')


class Upside(ExpectsAxisLabels, AgnosticSourcewiseTransformer):
    """Expects images."""

    def transform_any_source(self, source_data, source_name):
        self.expect_axis_labels(IMAGE, source_name)
        return source_data[:, :, ::-1]


class OldStyle(SourcewiseTransformer, ExpectsAxisLabels):
    """Looks up the labels by itself, as programs of old do."""

    def transform_source_batch(self, source_batch, source_name):
        self.verify_axis_labels(IMAGE, self.data_stream.axis_labels[source_name], source_name)
        return source_batch


def over(cls, labels, sources=('x',)):
    dataset = IndexableDataset({name: numpy.zeros((4, 1, 2, 3)) for name in sources},
                               axis_labels=labels)
    return cls(DataStream(dataset, iteration_scheme=SequentialScheme(4, 2)))


def warnings_of(caplog):
    return [record for record in caplog.records if record.levelno == logging.WARNING]


@pytest.mark.parametrize('cls', [Upside, OldStyle])
def test_right_labels(cls, caplog):
    assert len(list(over(cls, {'x': IMAGE}).get_epoch_iterator())) == 2
    assert len(list(over(cls, {'x': list(IMAGE)}).get_epoch_iterator())) == 2
    assert not caplog.records


@pytest.mark.parametrize('cls', [Upside, OldStyle])
@pytest.mark.parametrize('labels', [IMAGE[:3], (*IMAGE[:2], 'width', 'height'), ()])
def test_wrong_labels(cls, labels):
    stream = over(cls, {'x': labels})
    with pytest.raises(AxisLabelsMismatchError, match=f"{cls.__name__}: expected .* source 'x'"):
        next(stream.get_epoch_iterator())
    with pytest.raises(ValueError, match='Transpose'):  # and once more: it was not found right
        next(stream.get_epoch_iterator())


@pytest.mark.parametrize('labels', [None, {}, {'x': None}, {'y': IMAGE}, {'x': ('',) * 4}])
def test_unknown_labels_are_warned_about_once_for_each_source(labels, caplog):
    stream = over(Upside, labels, ('x', 'z'))
    for _ in range(2):
        assert len(list(stream.get_epoch_iterator())) == 2
    found = warnings_of(caplog)
    assert len(found) == 2
    assert "'x'" in found[0].getMessage()
    assert "'z'" in found[1].getMessage()


def test_unknown_labels_given_by_hand(caplog):
    stream = over(Upside, None)
    for _ in range(3):
        stream.verify_axis_labels(IMAGE, None, 'x')
    assert len(warnings_of(caplog)) == 1
    stream.verify_axis_labels(IMAGE, None, 'z')
    assert len(warnings_of(caplog)) == 2


def test_labels_are_looked_at_once_for_each_source():
    stream = over(Upside, {'x': IMAGE, 'z': IMAGE[::-1]}, ('x', 'z'))
    stream.verify_axis_labels(IMAGE, IMAGE, 'x')
    stream.verify_axis_labels(IMAGE, IMAGE[::-1], 'x')
    with pytest.raises(AxisLabelsMismatchError, match="'z'"):
        stream.verify_axis_labels(IMAGE, IMAGE[::-1], 'z')


def test_instances_do_not_share_what_they_checked():
    over(Upside, None).verify_axis_labels(IMAGE, IMAGE, 'x')
    with pytest.raises(AxisLabelsMismatchError):
        over(Upside, None).verify_axis_labels(IMAGE, IMAGE[:1], 'x')


def test_after_pickling(caplog):
    stream = over(Upside, None)
    iterator = stream.get_epoch_iterator()
    next(iterator)
    stream, iterator = pickle.loads(pickle.dumps((stream, iterator)))
    next(iterator)
    assert len(warnings_of(caplog)) == 1
    fresh = pickle.loads(pickle.dumps(over(Upside, {'x': IMAGE[::-1]})))
    with pytest.raises(AxisLabelsMismatchError):
        next(fresh.get_epoch_iterator())


def test_labels_are_those_of_the_wrapped_stream():
    stream = Upside(Flatten(over(OldStyle, {'x': IMAGE})))
    with pytest.raises(AxisLabelsMismatchError, match='feature'):
        next(stream.get_epoch_iterator())
    examples = DataStream(IndexableDataset({'x': numpy.zeros((4, 1, 2, 3))},
                                           axis_labels={'x': IMAGE}),
                          iteration_scheme=SequentialExampleScheme(4))
    with pytest.raises(AxisLabelsMismatchError, match="got .'channel'"):
        next(Upside(examples).get_epoch_iterator())
