"""Steps whose data could not be reached, are bad, or were interrupted."""
import pickle

import numpy
import pytest

from fuel._itertools import iter_
from fuel.datasets import IndexableDataset
from fuel.schemes import (
    ConcatenatedScheme,
    SequentialScheme,
    ShuffledScheme,
)
from fuel.streams import DataStream
from fuel.transformers import Cast, Mapping
from tests.streams.labelled import firsts, stream_of


class Unsteady(IndexableDataset):
    """Raises once for each error in a list."""

    errors = ()

    def get_data(self, state=None, request=None):
        if self.errors:
            raise self.errors.pop()
        return super().get_data(state, request)


@pytest.mark.parametrize('error', [FileNotFoundError, PermissionError, ConnectionError,
                                   TimeoutError, MemoryError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize('make_scheme', [
    lambda: ShuffledScheme(8, 4),
    lambda: ConcatenatedScheme([SequentialScheme(4, 4), SequentialScheme(4, 4)])])
def test_step_whose_data_could_not_be_reached_is_taken_again(error, make_scheme):
    def make():
        dataset = Unsteady({'x': numpy.arange(8)})
        return Cast(DataStream(dataset, iteration_scheme=make_scheme()), 'int64')

    expected = firsts(make().get_epoch_iterator())
    stream = make()
    iterator = stream.get_epoch_iterator()
    given = [next(iterator)[0].tolist()]
    stream.data_stream.dataset.errors = [error()]
    with pytest.raises(error):
        next(iterator)
    assert iterator.step == 1
    assert given + firsts(iterator) == expected


def test_step_with_bad_data_is_passed_over():
    dataset = Unsteady({'x': numpy.arange(8)})
    stream = DataStream(dataset, iteration_scheme=SequentialScheme(8, 2))
    iterator = stream.get_epoch_iterator()
    dataset.errors = [ValueError('bad')]
    with pytest.raises(ValueError, match='bad'):
        next(iterator)
    assert firsts(iterator) == [[2, 3], [4, 5], [6, 7]]


class Pairs(SequentialScheme):
    """A scheme with an iterator of somebody else."""

    def get_request_iterator(self):
        return iter_([[0, 1], [2, 3]])


def test_request_of_a_users_scheme_is_put_back():
    dataset = Unsteady({'x': numpy.arange(4)})
    iterator = DataStream(dataset, iteration_scheme=Pairs(4, 2)).get_epoch_iterator()
    dataset.errors = [KeyboardInterrupt(), TimeoutError()]
    for error in (TimeoutError, KeyboardInterrupt):
        with pytest.raises(error):
            next(iterator)
    assert firsts(pickle.loads(pickle.dumps(iterator))) == [[0, 1], [2, 3]]


def test_interrupted_transformer_loses_nothing():
    interrupts = [1, 4]

    def mapping(data):
        if interrupts and data[0][0] == interrupts[0] * 2:
            interrupts.pop(0)
            raise KeyboardInterrupt
        return data

    stream = stream_of(12, SequentialScheme(12, 2))
    chain = Cast(Mapping(Cast(stream, 'int32'), mapping), 'int64')
    iterator, given = chain.get_epoch_iterator(), []
    while len(given) < 6:
        try:
            given.append(next(iterator)[0].tolist())
        except KeyboardInterrupt:
            assert chain.state_dict()['data_stream']['data_stream']['data_stream']['step'] == len(
                given)
    assert given == [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9], [10, 11]]
    assert not interrupts
