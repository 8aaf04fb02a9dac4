"""Interrupts, failures and unusual subclasses of transformers that regroup steps."""
import json

import numpy
import pytest

from fuel.datasets import IndexableDataset
from fuel.schemes import (
    ConstantScheme,
    SequentialExampleScheme,
    SequentialScheme,
    ShuffledExampleScheme,
)
from fuel.streams import DataStream
from fuel.transformers import (
    Batch,
    Cache,
    Filter,
    LengthBuckets,
    Mapping,
    Merge,
    ShuffleBuffer,
    SourceMapping,
    Take,
    Unpack,
)


class Once:
    """Raises KeyboardInterrupt at its n-th call."""

    def __init__(self, at, value=None):
        self.calls, self.at, self.value = 0, at, value

    def __call__(self, data):
        self.calls += 1
        if self.calls == self.at:
            raise KeyboardInterrupt
        return data if self.value is None else self.value


def drained(stream):
    """Return everything that an epoch gives, going on after each interrupt."""
    iterator, given = stream.get_epoch_iterator(), []
    while True:
        try:
            given.append([numpy.asarray(item).tolist() for item in next(iterator)])
        except KeyboardInterrupt:
            given.append('interrupted')
        except StopIteration:
            return given


def numbered(count=6, name='x', scheme=SequentialExampleScheme):
    return DataStream(IndexableDataset({name: numpy.arange(count)}),
                      iteration_scheme=scheme(count))


@pytest.mark.parametrize('below', [
    lambda: Filter(numbered(), lambda data: True),
    lambda: Unpack(Batch(numbered(), ConstantScheme(4))), numbered])
@pytest.mark.parametrize('first', [True, False])
def test_merged_streams_stay_in_step_after_an_interrupt(below, first):
    streams = [Mapping(below(), Once(3)), numbered(6, 'y')]
    merged = Merge(streams if first else streams[::-1], ('a', 'b'))
    assert [pair for pair in drained(merged) if pair != 'interrupted'] == [
        [place, place] for place in range(6)]


@pytest.mark.parametrize(('at', 'pool_size'), [(3, 1000), (6, 4), (2, 4)])
def test_pool_is_not_lost_to_an_interrupt(at, pool_size):
    stream = LengthBuckets(numbered(), batch_size=2, pool_size=pool_size, length=Once(at, 1))
    given = [batch[0] for batch in drained(stream) if batch != 'interrupted']
    assert sorted(sum(given, [])) == list(range(6))


@pytest.mark.parametrize('wrap', [
    lambda stream: ShuffleBuffer(stream, 4), lambda stream: Unpack(Batch(
        stream, ConstantScheme(3))), lambda stream: Filter(stream, lambda data: True),
    lambda stream: Unpack(Cache(Batch(stream, ConstantScheme(4)), ConstantScheme(3)))])
def test_state_knows_of_epochs_started_beside_it(wrap):
    def make():
        base = numbered(6, scheme=ShuffledExampleScheme)
        return wrap(base), Take(base, 2)

    def rest(iterator):
        return [int(data[0]) for data in iterator]

    training, monitoring = make()
    iterator = training.get_epoch_iterator()
    next(iterator)
    rest(monitoring.get_epoch_iterator())
    state = json.loads(json.dumps(training.state_dict()))
    left = rest(iterator), rest(training.get_epoch_iterator())
    resumed, _ = make()
    resumed.load_state_dict(state)
    assert (rest(resumed.get_epoch_iterator()), rest(resumed.get_epoch_iterator())) == left


def test_loop_that_skips_errors_ends():
    stream = LengthBuckets(DataStream(IndexableDataset({'x': [[1], [2] * 50, [3]]}),
                                      iteration_scheme=SequentialExampleScheme(3)),
                           max_tokens=10, pool_size=2)
    iterator, given, errors = stream.get_epoch_iterator(), [], 0
    while True:
        try:
            given.append(next(iterator)[0][0])
        except ValueError:
            errors += 1
        except StopIteration:
            break
    assert errors == 2
    assert given == [[3]]


@pytest.mark.parametrize('wrap', [
    lambda stream: Filter(stream, lambda data: next(iter(()))),
    lambda stream: SourceMapping(stream, lambda item: next(iter(()))),
    lambda stream: LengthBuckets(stream, batch_size=2, length=lambda data: next(iter(())))])
def test_stop_iteration_out_of_a_function_is_no_end(wrap):
    with pytest.raises(RuntimeError, match='StopIteration'):
        next(wrap(numbered()).get_epoch_iterator())


def test_overridden_hooks_are_called():
    class Negative(Merge):
        def get_data(self, request=None):
            return tuple(-item for item in super().get_data(request))

    assert [int(item) for item, in Negative((numbered(3),), ('a',)).get_epoch_iterator()] == [
        0, -1, -2]

    class Tenfold(Unpack):
        def get_epoch_iterator(self, **kwargs):
            iterator = super().get_epoch_iterator(**kwargs)
            self.child_epoch_iterator = ((batch * 10,) for batch, in self.child_epoch_iterator)
            return iterator

    batches = DataStream(IndexableDataset({'x': numpy.arange(3)}),
                         iteration_scheme=SequentialScheme(3, 2))
    assert [int(item) for item, in Tenfold(batches).get_epoch_iterator()] == [0, 10, 20]


@pytest.mark.parametrize(('wrap', 'kind'), [
    (lambda **kw: Batch(numbered(), ConstantScheme(2), **kw), False),
    (lambda **kw: Unpack(Batch(numbered(), ConstantScheme(2)), **kw), True),
    (lambda **kw: Cache(Batch(numbered(), ConstantScheme(2)), ConstantScheme(2), **kw), False),
    (lambda **kw: LengthBuckets(numbered(), batch_size=2, **kw), False)])
def test_kind_may_be_said(wrap, kind):
    assert wrap(produces_examples=kind).produces_examples is kind
    with pytest.raises(ValueError, match='got produces_examples='):
        wrap(produces_examples=not kind)


def test_parts_of_batches_do_not_keep_them():
    batches = DataStream(IndexableDataset({'x': numpy.zeros((100, 3))}),
                         iteration_scheme=SequentialScheme(100, 100))
    for stream in (Unpack(batches), Cache(batches, ConstantScheme(1))):
        iterator = stream.get_epoch_iterator()
        for _ in range(2):
            assert next(iterator)[0].base is None
