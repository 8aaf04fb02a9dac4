"""Data of every kind go through a server as they are, or are refused by name."""
import numpy
import pytest

from fuel.datasets import IterableDataset
from fuel.streams import AbstractDataStream, DataStream

from ..wire.test_items import same
from .peers import Counting


class Given(AbstractDataStream):
    """Gives some things as they are."""

    sources = ('x',)
    produces_examples = True

    def __init__(self, items):
        super().__init__()
        self.items = items

    def get_epoch_iterator(self, as_dict=False):
        return iter([(item,) for item in self.items])


def test_data_of_every_kind_arrive_as_they_were(served):
    ragged = [numpy.arange(2), numpy.arange(5)]
    objects = numpy.empty(2, object)
    objects[:] = ragged
    data = [numpy.zeros((), '>f8'), numpy.zeros((0, 3), 'M8[s]'), numpy.asfortranarray(
        numpy.random.rand(100, 200)), numpy.zeros(2, [('a', 'S3'), ('b', '<f4', (2,))]), ragged,
        objects, b'\x89PNG\0', 'text', ['a', 'bc'], 5, None, numpy.float32(2), [ragged, []]]
    client = served(Given(data))
    received = [x for x, in client.get_epoch_iterator()]
    assert [type(item) for item in received] == [type(item) for item in data]
    for one, other in zip(received, data, strict=True):
        assert same(one, other)
    assert received[2].flags.f_contiguous


def test_what_cannot_be_sent_is_named_and_the_epoch_goes_on(served):
    client = served(DataStream(IterableDataset({'x': [numpy.arange(2), {1, 2}, numpy.arange(3)]})))
    iterator = client.get_epoch_iterator()
    next(iterator)
    with pytest.raises(RuntimeError, match=r"step 1 of epoch 0: TypeError: source 'x': a "
                                           r'builtins.set cannot be sent'):
        next(iterator)
    assert next(iterator)[0].tolist() == [0, 1, 2]
    with pytest.raises(StopIteration):
        next(iterator)


class Short(Counting):
    """Says that it has a source more than it has."""

    sources = ('x', 'y')


def test_the_wrong_number_of_items_is_named(served):
    client = served(Short())
    with pytest.raises(RuntimeError, match='expected a tuple of 2 items'):
        next(client.get_epoch_iterator())
