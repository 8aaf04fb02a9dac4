"""The base of transformers that give more or fewer steps than the stream they wrap."""
import json
import pickle

import numpy
import pytest

from fuel import rng
from fuel.datasets import IndexableDataset, IterableDataset
from fuel.exceptions import SupersededIteratorError
from fuel.schemes import (
    ConstantScheme,
    SequentialExampleScheme,
    SequentialScheme,
    ShuffledExampleScheme,
    ShuffledScheme,
)
from fuel.streams import DataStream
from fuel.testing import assert_same, check_stream
from fuel.transformers import (
    AgnosticTransformer,
    Batch,
    Mapping,
    ShuffleBuffer,
    Unpack,
)
from fuel.transformers.regrouping import RegroupingTransformer


def examples_of(count=8):
    return DataStream(IndexableDataset({'x': numpy.arange(count)}),
                      iteration_scheme=SequentialExampleScheme(count))


class Sums(RegroupingTransformer):
    """Adds up two examples; a group is two of them, given in both orders."""

    def draw_group(self, groups):
        pair = groups.draw_up_to(2)
        if len(pair) < 2:
            raise StopIteration
        return [int(data[0]) for data in pair]

    def regroup(self, groups, request):
        one, other = groups.load()
        groups.used += 1
        if groups.used == 1:
            return (10 * one + other,)
        groups.drop()
        return (10 * other + one,)


def make_sums():
    return Sums(examples_of(5))


def values(stream):
    return [data[0] for data in stream.get_epoch_iterator()]


def test_transformer_of_ones_own():
    stream = make_sums()
    assert values(stream) == values(stream) == [1, 10, 23, 32]
    assert stream.num_examples is None
    check_stream(make_sums)


class Numbered(RegroupingTransformer):
    """Gives the random numbers of its steps and of its groups."""

    def regroup(self, groups, request):
        groups.load()
        data = (int(self.generator().integers(1 << 60)),
                int(self.group_generator(groups).integers(1 << 60)))
        groups.used += 1
        if groups.used == 2:
            groups.drop()
        return data


def make_numbered():
    stream = Numbered(examples_of(3))
    stream.sources = ('step', 'group')
    return stream


def test_random_numbers_of_steps_and_groups():
    steps, groups = zip(*make_numbered().get_epoch_iterator(), strict=True)
    assert len(set(steps)) == 6
    assert [groups.count(number) for number in groups] == [2] * 6
    name = f'{Numbered.__qualname__}:0'
    assert steps[3] == rng.generator(1, 0, 3, rng.key_of(name)).integers(1 << 60)
    assert groups[3] == rng.generator(1, 0, 1, rng.key_of(f'{name}:group')).integers(1 << 60)
    check_stream(make_numbered)


def test_random_numbers_of_an_older_iterator():
    stream = make_numbered()
    first, second = list(stream.get_epoch_iterator()), list(stream.get_epoch_iterator())
    fresh = make_numbered()
    older, newer = fresh.get_epoch_iterator(), fresh.get_epoch_iterator()
    assert list(zip(older, newer, strict=True)) == list(zip(first, second, strict=True))


class Noise(AgnosticTransformer):
    def transform_any(self, data):
        return tuple(item + int(self.generator().integers(1 << 40)) for item in data)


def test_random_numbers_below_and_above_are_those_of_their_own_steps():
    def make():
        return Noise(Batch(Noise(examples_of(6)), ConstantScheme(3)))
    plain = [data[0] for data in Noise(examples_of(6)).get_epoch_iterator()]
    name = f'{Noise.__qualname__}:1'
    for step, data in enumerate(make().get_epoch_iterator()):
        added = int(rng.generator(1, 0, step, rng.key_of(name)).integers(1 << 40))
        assert data[0].tolist() == [number + added for number in plain[3 * step:3 * step + 3]]
    stream = make()
    older, newer = stream.get_epoch_iterator(), stream.get_epoch_iterator()
    expected = make()
    pairs = list(zip(expected.get_epoch_iterator(), list(expected.get_epoch_iterator()),
                     strict=True))
    for (one, other), (first, second) in zip(zip(older, newer, strict=True), pairs, strict=True):
        assert one[0].tolist() == first[0].tolist() and other[0].tolist() == second[0].tolist()


class FailingOnce(Sums):
    """Fails after it has drawn."""

    error = None

    def regroup(self, groups, request):
        data = super().regroup(groups, request)
        if data[0] in (10, 23) and self.error is not None:
            error, self.error = self.error, None
            raise error
        return data


@pytest.mark.parametrize('error', [ArithmeticError(), KeyboardInterrupt()])
@pytest.mark.parametrize('make', [examples_of,
                                  lambda: DataStream(IterableDataset({'x': range(8)}))])
def test_failed_step_starts_anew(error, make):
    stream = FailingOnce(make())
    stream.error = error
    iterator = stream.get_epoch_iterator()
    found = [next(iterator)[0]]
    with pytest.raises(type(error)):
        next(iterator)
    assert iterator.step == 1
    _, moved = pickle.loads(pickle.dumps((stream, iterator)))
    for rest in (iterator, moved):
        assert found + [data[0] for data in rest] == [1, 10, 23, 32, 45, 54, 67, 76]


def test_one_epoch_at_a_time_where_there_is_but_one():
    class Single(Sums):
        independent_epochs = False

    stream = Single(examples_of())
    older, newer = stream.get_epoch_iterator(), stream.get_epoch_iterator()
    with pytest.raises(SupersededIteratorError, match='Single was broken off at step 0'):
        next(older)
    taken = []
    with pytest.raises(SupersededIteratorError):
        older.take_into(taken, 3)
    assert len(list(newer)) == 8 and not taken


def test_get_data_without_an_iterator():
    stream = make_sums()
    with pytest.raises(ValueError, match='before an epoch was started'):
        stream.get_data()
    stream.get_epoch_iterator()
    assert [stream.get_data()[0] for _ in range(3)] == [1, 10, 23]


class Halves(Batch):
    """Overrides get_data of a transformer that regroups, as programs of old do."""

    def get_data(self, request=None):
        return (super().get_data(request)[0] / 2,)

    def _state(self):
        return {'is': 'none'}

    def _load_state(self, state):
        assert state == {'is': 'none'}


def make_halves():
    return Halves(examples_of(), ConstantScheme(3))


def test_subclass_that_overrides_get_data():
    assert [list(data[0]) for data in make_halves().get_epoch_iterator()] == [
        [0, 0.5, 1], [1.5, 2, 2.5], [3, 3.5]]
    check_stream(make_halves)


@pytest.mark.parametrize('count', [100, 10_000])
def test_saved_states_are_small(count):
    stream = DataStream(IndexableDataset({'x': numpy.arange(count)}),
                        iteration_scheme=SequentialScheme(count, 50))
    stream = Batch(ShuffleBuffer(Unpack(stream), 40), ConstantScheme(7))
    iterator = stream.get_epoch_iterator()
    next(iterator)
    assert len(json.dumps(stream.state_dict())) < 1000


def test_groups_over_shuffled_batches_resume_with_the_order():
    def make():
        return Unpack(DataStream(IndexableDataset({'x': numpy.arange(30)}),
                                 iteration_scheme=ShuffledScheme(30, 7)))
    whole = values(make())
    stream = make()
    iterator = stream.get_epoch_iterator()
    for step in range(30):
        assert next(iterator)[0] == whole[step]
        other = make()
        other.load_state_dict(json.loads(json.dumps(iterator.state_dict())))
        assert values(other) == whole[step + 1:] or step == 29


# Several steps at once.

@pytest.mark.parametrize('make', [
    lambda: examples_of(20), lambda: Unpack(Batch(examples_of(20), ConstantScheme(6))),
    lambda: Noise(Noise(examples_of(20))), lambda: ShuffleBuffer(examples_of(20), 6),
    lambda: DataStream(IterableDataset({'x': range(20)})),
    lambda: Mapping(Unpack(Batch(Noise(examples_of(20)), ConstantScheme(6))), tuple)])
@pytest.mark.parametrize('counts', [[20], [1, 5, 2, 7], [21], [3, 0, 30]])
def test_several_steps_are_those_taken_one_by_one(make, counts):
    whole = [data[0] for data in make().get_epoch_iterator()]
    stream = make()
    iterator = stream.get_epoch_iterator()
    taken = []
    for count in counts:
        before = len(taken)
        iterator.take_into(taken, count)
        assert len(taken) == min(before + count, 20)
        assert iterator.step == len(taken) or iterator.cursor.finished
        other = make()
        state = json.loads(json.dumps(stream.state_dict()))
        other.load_state_dict(state)
        if not stream.epoch_cursor.finished:
            assert values(other) == whole[len(taken):]
        if len(taken) < 20:
            taken.append(next(iterator))
    assert [data[0] for data in taken + list(iterator)] == whole


def test_several_steps_as_dicts():
    taken = []
    Noise(examples_of()).get_epoch_iterator(as_dict=True).take_into(taken, 2)
    examples_of().get_epoch_iterator(as_dict=True).take_into(taken, 1)
    Sums(examples_of()).get_epoch_iterator(as_dict=True).take_into(taken, 1)
    assert [list(data) for data in taken] == [['x']] * 4


def test_program_that_puts_something_around_the_iterator_below():
    class Tens(AgnosticTransformer):
        def get_epoch_iterator(self, as_dict=False):
            iterator = super().get_epoch_iterator(as_dict=as_dict)
            below = self.child_epoch_iterator
            self.child_epoch_iterator = ((10 * data[0],) for data in below)
            return iterator

        def transform_any(self, data):
            return data

    expected = list(range(0, 200, 10))
    assert values(Tens(examples_of(20))) == expected
    assert values(Unpack(Batch(Tens(examples_of(20)), ConstantScheme(7)))) == expected
    assert len(values(Noise(Tens(examples_of(20))))) == 20


class Noiseless(AgnosticTransformer):
    """Does nothing, so that examples are given one by one."""

    def transform_any(self, data):
        return data


def test_example_streams_make_the_batches_that_their_examples_make():
    images = numpy.random.RandomState(0).randint(256, size=(50, 3, 4)).astype('u1')
    texts = numpy.array(['a', 'bcd'] * 25)
    dataset = IndexableDataset({'x': images, 'y': texts, 'z': texts.tolist(),
                                'big': numpy.arange(50, dtype='>f4')})
    several, single = (
        list(Batch(wrap(DataStream(dataset, iteration_scheme=ShuffledExampleScheme(50))),
                   ConstantScheme(8)).get_epoch_iterator())
        for wrap in (lambda stream: stream, Noiseless))
    assert_same(several, single)
    assert all(item.flags.writeable for data in several for item in data)
