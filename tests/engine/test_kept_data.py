"""Data that are kept while others are made: buffers that are used again, and lent memory."""
from __future__ import annotations

import contextlib

import numpy
import pytest

from fuel.engine.owning import owned
from fuel.engine.parcels import Parcel
from fuel.schemes import ConstantScheme
from fuel.testing.comparing import assert_same, drawn
from fuel.transformers import (
    Batch,
    Cache,
    Filter,
    Mapping,
    MultiProcessing,
    MultiThreading,
    ShuffleBuffer,
)
from tests.engine.chains import examples, is_even, numbers


class SameBuffer:
    """A function that puts all its results into one array."""

    def __init__(self, as_view):
        self.buffer = numpy.zeros(5, int)
        self.as_view = as_view

    def __call__(self, data):
        """Return twice the numbers."""
        number = numpy.atleast_1d(data[0])
        numpy.multiply(number, 2, out=self.buffer[:len(number)])
        return (self.buffer[:len(number)] if self.as_view or len(number) < 5 else self.buffer,)


@pytest.mark.parametrize('size', [None, 5])
@pytest.mark.parametrize('as_view', [False, True])
@pytest.mark.parametrize(('engine', 'options'), [
    (MultiProcessing, {}), (MultiProcessing, {'whole_chain': True}), (MultiThreading, {}),
    (MultiThreading, {'whole_chain': True})])
def test_a_transformer_may_use_one_buffer_for_all_steps(engine, options, as_view, size):
    expected = drawn(Mapping(numbers(300, size), SameBuffer(as_view)))
    stream = engine(Mapping(numbers(300, size), SameBuffer(as_view)), **options)
    with contextlib.closing(stream):
        assert_same(drawn(stream), expected)


def test_fresh_data_are_not_copied():
    fresh = (numpy.zeros(3), 1, numpy.ones((2, 2)).reshape(4))
    places = [item.__array_interface__['data'] for item in (fresh[0], fresh[2])]
    data = owned(fresh)
    assert [item.__array_interface__['data'] for item in (data[0], data[2])] == places


def test_data_that_others_refer_to_are_copied():
    kept = numpy.zeros(6)
    view = kept[2:]
    data = owned((kept, kept[:2], numpy.frombuffer(bytearray(8)), view))
    for item in data:
        assert not numpy.shares_memory(item, kept)
    assert_same([item.tolist() for item in data], [[0.] * 6, [0.] * 2, [0.], [0.] * 4])
    assert owned([kept])[0] is kept


@pytest.mark.parametrize('around', [
    lambda stream: Batch(stream, ConstantScheme(5)), lambda stream: ShuffleBuffer(stream, 8),
    lambda stream: Cache(Batch(stream, ConstantScheme(5)), ConstantScheme(3)),
    lambda stream: Filter(stream, is_even)], ids=['Batch', 'ShuffleBuffer', 'Cache', 'Filter'])
def test_lent_data_are_not_for_transformers_that_look_at_several_steps(around):
    expected = drawn(around(examples()))
    for options in ({'num_workers': 2}, {'whole_chain': False}, {}):
        with MultiProcessing(around(examples()), hand_out='borrow', **options) as stream:
            assert_same(drawn(stream), expected)
    with (MultiProcessing(examples(), num_workers=2, hand_out='borrow') as inner,
          pytest.raises(ValueError, match="hand_out='borrow' are valid")):
        around(inner).get_epoch_iterator()


@pytest.mark.parametrize('options', [{'num_workers': 1}, {'num_workers': 2},
                                     {'whole_chain': True}], ids=str)
def test_steps_that_came_together_are_lent_until_each_was_used(monkeypatch, options):
    # Memory that is given back is written to at once.
    release = Parcel.release

    def overwritten(parcel):
        for data in given.pop(id(parcel), ()):
            data[0][...] = 0
        release(parcel)

    given = {}
    steps = Parcel.steps

    def noted(parcel):
        given[id(parcel)] = steps(parcel)
        return list(given[id(parcel)])

    expected = drawn(examples())
    monkeypatch.setattr(Parcel, 'steps', noted)
    monkeypatch.setattr(Parcel, 'release', overwritten)
    with MultiProcessing(examples(), hand_out='borrow', **options) as stream:
        assert_same(drawn(stream), expected)


def test_the_state_of_a_whole_chain_needs_no_work_here(monkeypatch):
    here = []

    def noted(data):
        here.append(1)
        return data

    stream = MultiProcessing(Batch(Mapping(numbers(60), noted), ConstantScheme(3)))
    with contextlib.closing(stream):
        iterator = stream.get_epoch_iterator()
        states = []
        for _ in range(12):
            next(iterator)
            states.append(stream.state_dict())
        assert not here
    bare = Batch(Mapping(numbers(60), noted), ConstantScheme(3))
    other = bare.get_epoch_iterator()
    for state in states:
        next(other)
        assert state == bare.state_dict()
