"""Objects that travel through shared memory, with their arrays and buffers."""
import pickle
import types
import typing

import numpy
import pytest

from tests.engine.transport import Pair, same


@pytest.fixture
def pair():
    pair = Pair()
    pair.outbox.install(32768)
    yield pair
    pair.arena.uninstall()


class Something:
    """An object with arrays in it, of which one is its own."""

    def __init__(self):
        self.large = numpy.arange(100_000)
        self.small = numpy.arange(3)
        self.me = self

    def __eq__(self, other):
        return same(self.large, other.large) and same(self.small, other.small)


class Raw:
    """An object that hands out its buffer as such."""

    def __init__(self, content):
        self.content = content

    def __reduce_ex__(self, protocol):
        return Raw, (pickle.PickleBuffer(self.content),)


def test_objects(pair):
    steps = [{'a': Something(), 'b': Raw(bytearray(b'x' * 100_000)), 'c': Raw(b'y' * 5000),
              'd': Raw(bytearray(b'z'))}, (Something(), numpy.arange(50_000), 'word')]
    description = pair.outbox.pack(steps)
    assert len(description) < 5000
    first, second = pair.inbox.open(description).steps()
    assert first['a'] == steps[0]['a'] and first['a'].me is first['a']
    assert [bytes(first[name].content) for name in 'bcd'] == [b'x' * 100_000, b'y' * 5000, b'z']
    first['b'].content[:] = b'-' * 100_000
    assert second[0] == steps[1][0] and same(second[1:], steps[1][1:])
    del first, second, steps
    pair.check_empty()


def test_subclasses_of_arrays(pair):
    masked = numpy.ma.masked_less(numpy.arange(20_000), 50)
    matrix = numpy.ones((100, 100)).view(numpy.recarray)
    arrived, = pair.send([(masked, matrix)])
    assert type(arrived[0]) is numpy.ma.MaskedArray and type(arrived[1]) is numpy.recarray
    assert (arrived[0].mask == masked.mask).all() and (arrived[0].data == masked.data).all()


def test_named_tuples(pair):
    arrived, = pair.send([Point(numpy.arange(50_000), 2)])
    assert type(arrived) is Point and same(arrived.x, numpy.arange(50_000))


class Point(typing.NamedTuple):
    x: object
    y: object


def test_strings_of_any_length(pair):
    strings = numpy.array(['a', 'b' * 100, 'ccc'] * 2000, numpy.dtypes.StringDType())
    arrived, = pair.send([(strings,)])
    assert arrived[0].dtype == strings.dtype and (arrived[0] == strings).all()


def test_functions_and_classes_without_a_name(pair):
    script = types.ModuleType('script_of_the_user')
    exec('class Thing:\n    def __init__(self, x): self.x = x\n', vars(script))
    factor = 3
    thing = script.Thing(numpy.arange(50_000))
    arrived, = pair.send([(lambda x: factor * x, thing, numpy.arange(50_000))])
    assert arrived[0](5) == 15
    assert same(arrived[1].x, thing.x) and type(arrived[1]).__name__ == 'Thing'
    del arrived, thing
    pair.check_empty()


def test_what_cannot_be_pickled_is_named(pair):
    def endless():
        yield

    with pytest.raises(TypeError, match='a tuple, cannot be sent .*generator'):
        pair.outbox.pack([(numpy.arange(100_000), 3), (numpy.arange(100_000), [endless()])])
    pair.check_empty()


def test_errors_of_the_user_leave_nothing(pair):
    with pytest.raises(TypeError, match='no pickle of this'):
        pair.outbox.pack([(numpy.arange(100_000),), [numpy.arange(100_000), Stubborn()]])
    pair.check_empty()


class Stubborn:
    def __reduce__(self):
        raise ValueError('no pickle of this')


def test_errors_while_opening_leave_nothing(pair):
    steps = [(numpy.arange(100_000), [numpy.arange(100_000), Sour()])]
    parcel = pair.inbox.open(pair.outbox.pack(steps))
    del steps
    with pytest.raises(ValueError, match='cannot be made again'):
        parcel.steps()
    pair.check_empty()
    parcel = pair.inbox.open(pair.outbox.pack([(numpy.arange(100_000), [Sour()])]))
    with pytest.raises(ValueError, match='cannot be made again'):
        parcel.copied()
    pair.check_empty()


class Sour:
    def __reduce__(self):
        return _fail, ()


def _fail():
    raise ValueError('cannot be made again')
