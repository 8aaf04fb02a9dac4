"""Bad examples are left out, counted, and told about; None is one of them."""
import json
import logging
import pickle

import numpy
import pytest

from fuel.datasets import IndexableDataset, IterableDataset
from fuel.exceptions import TooManyFailuresError
from fuel.failures import FailurePolicy
from fuel.schemes import ConstantScheme, SequentialExampleScheme, SequentialScheme
from fuel.streams import DataStream
from fuel.testing import assert_same
from fuel.transformers import (
    AgnosticTransformer,
    Batch,
    Cast,
    Mapping,
    ScaleAndShift,
    SourceMapping,
    Tolerant,
    Transformer,
    Unpack,
)

COUNT = 10
BAD = (1, 4, 5)


def even_or_fail(number):
    if int(number) in BAD:
        raise ValueError(f'{number} is bad')
    return number * 2


def examples(count=COUNT):
    return DataStream(IndexableDataset({'x': numpy.arange(count), 'y': numpy.arange(count)}),
                      iteration_scheme=SequentialExampleScheme(count))


def failing():
    return SourceMapping(examples(), even_or_fail, which_sources=('x',))


def left(stream):
    return [int(data[0]) for data in stream.get_epoch_iterator()]


GOOD = [2 * number for number in range(COUNT) if number not in BAD]


@pytest.mark.parametrize('action', ['skip', 'log'])
@pytest.mark.parametrize('wrap', [
    lambda stream: stream, lambda stream: Cast(stream, 'int64'),
    lambda stream: Cast(ScaleAndShift(stream, 1, 0), 'int64')])
def test_bad_examples_are_left_out_wherever_in_the_chain(action, wrap):
    stream = Tolerant(wrap(failing()), action)
    assert left(stream) == GOOD
    assert stream.num_skipped == 3
    assert left(stream) == GOOD
    assert stream.num_skipped == 6
    assert stream.produces_examples
    assert stream.sources == ('x', 'y')
    assert stream.num_examples is None


def test_one_pass_over_scale_and_cast_fails_the_same_way(caplog):
    class Odd:
        """Stands where numbers should."""
    data = [numpy.zeros(2, dtype='uint8'), Odd(), numpy.ones(2, dtype='uint8')]
    stream = DataStream(IndexableDataset({'x': data}), iteration_scheme=SequentialExampleScheme(3))
    stream = Tolerant(Cast(ScaleAndShift(stream, 0.5, 0), 'float32'), 'log')
    assert len(list(stream.get_epoch_iterator())) == 2
    assert "step 1, source 'x': TypeError" in caplog.text


def test_what_is_left_out_is_logged_with_its_place(caplog):
    stream = Tolerant(failing(), on_error='log')
    left(stream), left(stream)
    messages = [record.getMessage() for record in caplog.records
                if record.levelno == logging.WARNING]
    assert len(messages) == 6
    assert messages[0] == "left out: epoch 0, step 1, source 'x': ValueError: 1 is bad"
    assert messages[5] == "left out: epoch 1, step 5, source 'x': ValueError: 5 is bad"


def test_skip_is_silent(caplog):
    left(Tolerant(failing()))
    assert not [record for record in caplog.records if record.levelno >= logging.INFO]


def test_raise_notes_the_place_on_the_error():
    stream = Tolerant(failing(), 'raise')
    assert len(stream) == COUNT
    iterator = stream.get_epoch_iterator()
    next(iterator)
    with pytest.raises(ValueError, match='1 is bad') as caught:
        next(iterator)
    assert caught.value.__notes__ == ["Tolerant: epoch 0, step 1, source 'x'"]


def test_ceiling_as_a_count():
    assert left(Tolerant(failing(), ceiling=3)) == GOOD
    stream = Tolerant(failing(), ceiling=2)
    iterator = stream.get_epoch_iterator()
    assert [int(next(iterator)[0]) for _ in range(3)] == [0, 4, 6]
    with pytest.raises(TooManyFailuresError, match=(
            'of the steps of epoch 0, 3, more than the ceiling of 2 allows, failed; the last one: '
            'ValueError: 5 is bad')) as caught:
        next(iterator)
    assert isinstance(caught.value.__cause__, ValueError)


def test_ceiling_is_that_of_an_epoch():
    stream = Tolerant(failing(), ceiling=3)
    for _ in range(3):
        assert left(stream) == GOOD


def test_ceiling_as_a_fraction():
    assert left(Tolerant(failing(), ceiling=0.3)) == GOOD
    with pytest.raises(TooManyFailuresError, match='more than the ceiling of 0.2'):
        left(Tolerant(failing(), ceiling=0.2))
    with pytest.raises(TooManyFailuresError):
        left(Tolerant(failing(), FailurePolicy('skip', 0.2)))


def test_an_epoch_without_a_good_example():
    stream = Tolerant(Mapping(examples(), lambda data: 1 / 0))
    for _ in range(2):
        with pytest.raises(TooManyFailuresError, match='10, that is all, failed'):
            next(stream.get_epoch_iterator())


def test_an_empty_epoch_is_no_failure():
    empty = DataStream(IterableDataset([]))
    assert list(Tolerant(empty).get_epoch_iterator()) == []


@pytest.mark.parametrize('arguments', [('ignore',), ('skip', -1), ('skip', 1.5)])
def test_wrong_policies(arguments):
    with pytest.raises(ValueError, match='expected'):
        Tolerant(examples(), *arguments)


# None.

class Forgot(AgnosticTransformer):
    def transform_any(self, data):
        pass


def forgot(data):
    pass


def forgetful():
    return {'last': Forgot(examples()), 'in the middle': Cast(Forgot(examples()), 'f4'),
            'before a function': Mapping(Forgot(examples()), tuple),
            'mapping': Mapping(examples(), forgot), 'source': SourceMapping(examples(), forgot)}


@pytest.mark.parametrize('name', ['last', 'in the middle', 'before a function', 'mapping',
                                  'source'])
def test_none_is_a_clear_error(name):
    with pytest.raises(ValueError, match='None'):
        next(forgetful()[name].get_epoch_iterator())
    with pytest.raises(TooManyFailuresError, match='None'):
        left(Tolerant(forgetful()[name], ceiling=2))


@pytest.mark.parametrize('name', ['last', 'in the middle', 'before a function', 'mapping',
                                  'source'])
def test_none_is_a_clear_error_where_many_steps_are_taken_at_once(name):
    with pytest.raises(ValueError, match='None'):
        next(Batch(forgetful()[name], ConstantScheme(3)).get_epoch_iterator())


def test_none_is_told_with_its_place():
    class Second(Transformer):
        def transform_example(self, example):
            return example if example[0] != 2 else None
    iterator = Second(examples()).get_epoch_iterator()
    next(iterator), next(iterator)
    with pytest.raises(ValueError, match='Second.transform_example returned None for step 2 of '
                                         'epoch 0; .*return statement'):
        next(iterator)
    iterator = Cast(Second(examples()), 'f4').get_epoch_iterator()
    next(iterator), next(iterator)
    with pytest.raises(ValueError, match='Second.* None'):
        next(iterator)
    assert left(Tolerant(Second(examples()))) == [0, 1, 3, 4, 5, 6, 7, 8, 9]


# With transformers that regroup steps.

def test_before_batches():
    stream = Batch(Tolerant(failing()), ConstantScheme(4))
    assert [list(map(int, data[0])) for data in stream.get_epoch_iterator()] == [
        GOOD[:4], GOOD[4:]]


def test_around_batches_that_lose_single_examples():
    stream = Tolerant(Batch(failing(), ConstantScheme(4)))
    assert [list(map(int, data[0])) for data in stream.get_epoch_iterator()] == [
        GOOD[:4], GOOD[4:]]
    assert stream.num_skipped == 3


def test_bad_batches_are_left_out_as_a_whole():
    batches = DataStream(IndexableDataset({'x': numpy.arange(COUNT)}),
                         iteration_scheme=SequentialScheme(COUNT, 2))

    def check(batch):
        return numpy.array([even_or_fail(number) for number in batch])
    stream = Tolerant(SourceMapping(batches, check))
    assert [data[0].tolist() for data in stream.get_epoch_iterator()] == [[4, 6], [12, 14],
                                                                         [16, 18]]
    assert not stream.produces_examples
    assert left(Unpack(stream)) == [4, 6, 12, 14, 16, 18]


def test_what_a_stream_below_fails_over_twice_is_left_out():
    batches = DataStream(IterableDataset({'x': [[1, 2], [3]], 'y': [[1], [2]]}))
    batches.produces_examples = False
    stream = Tolerant(Unpack(batches))
    assert list(stream.get_epoch_iterator()) == [(3, 2)]
    assert stream.num_skipped == 1


class Unreachable(IndexableDataset):
    """Has two bad examples, and two that can be had at the second try only."""

    seen = frozenset()

    def get_data(self, state=None, request=None):
        data = super().get_data(state, request)
        if int(data[0]) in (0, 2):
            raise ValueError('bad')
        if int(data[0]) in (1, 3) and int(data[0]) not in self.seen:
            self.seen |= {int(data[0])}
            raise ConnectionError
        return data


def test_failures_are_counted_also_where_another_error_follows():
    def drained(stream):
        given, iterator = [], stream.get_epoch_iterator()
        while True:
            try:
                given.append(int(next(iterator)[0]))
            except ConnectionError:
                given.append('again')
            except StopIteration:
                return given

    def make(**kwargs):
        return Tolerant(DataStream(Unreachable({'x': numpy.arange(6)}),
                                   iteration_scheme=SequentialExampleScheme(6)), **kwargs)
    stream = make()
    assert drained(stream) == ['again', 1, 'again', 3, 4, 5]
    assert stream.num_skipped == 2
    with pytest.raises(TooManyFailuresError, match='2, more than the ceiling of 1'):
        drained(make(ceiling=1))


def test_endless_failures_end():
    class Broken:
        def __iter__(self):
            return self

        def __next__(self):
            raise ValueError('always')
    stream = Tolerant(DataStream(IterableDataset(Broken())))
    with pytest.raises(TooManyFailuresError, match='in a row'):
        next(stream.get_epoch_iterator())


def test_errors_of_the_data_set_are_left_out_too():
    class Torn(IndexableDataset):
        def get_data(self, state=None, request=None):
            if request == 2:
                raise OSError('bad sector')
            return super().get_data(state, request)
    stream = DataStream(Torn({'x': numpy.arange(4)}), iteration_scheme=SequentialExampleScheme(4))
    assert left(Tolerant(stream)) == [0, 1, 3]


@pytest.mark.parametrize('error', [MemoryError, ConnectionError, KeyboardInterrupt,
                                   NotImplementedError])
def test_other_errors_are_raised(error):
    def fail(data):
        raise error('no')
    with pytest.raises(error):
        left(Tolerant(Mapping(examples(), fail)))


# Where it stands.

@pytest.mark.parametrize('step', range(len(GOOD) + 1))
def test_resume_at_every_step_with_its_counts(step):
    ahead = Tolerant(failing(), ceiling=3)
    left(ahead)
    stream = Tolerant(failing(), ceiling=3)
    iterator = stream.get_epoch_iterator()
    for _ in range(step):
        next(iterator)
    counted = stream.num_skipped
    state = json.loads(json.dumps(stream.state_dict()))
    fresh = Tolerant(failing(), ceiling=3)
    fresh.load_state_dict(state)
    assert fresh.num_skipped == counted
    assert left(fresh) == GOOD[step:]
    assert fresh.num_skipped == 3
    stream, iterator = pickle.loads(pickle.dumps((stream, iterator)))
    assert [int(data[0]) for data in iterator] == GOOD[step:]
    assert stream.num_skipped == 3
    assert left(stream) == left(fresh) == GOOD
    assert_same(json.dumps(stream.state_dict()), json.dumps(fresh.state_dict()))


def test_the_ceiling_counts_on_after_a_resume():
    stream = Tolerant(failing(), ceiling=2)
    iterator = stream.get_epoch_iterator()
    for _ in range(3):
        next(iterator)
    fresh = Tolerant(failing(), ceiling=2)
    fresh.load_state_dict(stream.state_dict())
    with pytest.raises(TooManyFailuresError):
        left(fresh)
