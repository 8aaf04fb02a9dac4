"""The exact orders that old programs rely on."""
import hashlib
import itertools
import random

import numpy
import pytest

import fuel
from fuel.schemes import (
    ConcatenatedScheme,
    ConstantScheme,
    SequentialExampleScheme,
    SequentialScheme,
    ShuffledExampleScheme,
    ShuffledScheme,
    cross_validation,
)


def epoch(scheme):
    return list(scheme.get_request_iterator())


def test_sequential_orders():
    assert epoch(SequentialScheme(8, 4)) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert epoch(SequentialScheme(5, 2)) == [[0, 1], [2, 3], [4]]
    assert epoch(SequentialScheme([5, 3, 1], 2)) == [[5, 3], [1]]
    assert epoch(SequentialExampleScheme(3)) == [0, 1, 2]
    assert epoch(SequentialExampleScheme(range(4, 10, 3))) == [4, 7]


@pytest.mark.parametrize(('examples', 'batch_size', 'kwargs', 'first', 'second'), [
    (8, 4, {}, [[7, 2, 1, 6], [0, 4, 3, 5]], [[2, 3, 4, 7], [1, 6, 0, 5]]),
    (range(8), 4, {}, [[7, 2, 1, 6], [0, 4, 3, 5]], [[2, 3, 4, 7], [1, 6, 0, 5]]),
    (8, 4, {'rng': None}, [[7, 2, 1, 6], [0, 4, 3, 5]], [[2, 3, 4, 7], [1, 6, 0, 5]]),
    (8, 4, {'sorted_indices': True}, [[1, 2, 6, 7], [0, 3, 4, 5]], [[2, 3, 4, 7], [0, 1, 5, 6]]),
    (10, 4, {}, [[2, 9, 6, 4], [0, 3, 1, 7], [8, 5]], [[9, 5, 3, 0], [8, 4, 2, 1], [6, 7]]),
    (range(10, 18), 4, {}, [[17, 12, 11, 16], [10, 14, 13, 15]], None),
    (list(range(10, 18)), 4, {}, [[17, 12, 11, 16], [10, 14, 13, 15]], None),
    (numpy.arange(10, 18), 4, {}, [[17, 12, 11, 16], [10, 14, 13, 15]], None),
    (range(7, -1, -1), 3, {'sorted_indices': True}, [[0, 5, 6], [1, 3, 7], [2, 4]], None),
])
def test_shuffled_orders(examples, batch_size, kwargs, first, second):
    scheme = ShuffledScheme(examples, batch_size, **kwargs)
    assert epoch(scheme) == first
    if second:
        assert epoch(scheme) == second


def test_shuffled_orders_of_given_generators():
    assert epoch(ShuffledScheme(8, 4, rng=numpy.random.RandomState(1234))) == [
        [2, 1, 6, 0], [4, 5, 3, 7]]
    assert epoch(ShuffledScheme(8, 4, rng=numpy.random.default_rng(0))) == [
        [2, 4, 3, 6], [5, 0, 1, 7]]


@pytest.mark.parametrize(('count', 'start', 'digest'), [
    (100, [80, 84, 33, 81, 93, 17, 36, 82, 69, 65], 'a217e05f2305f286e3da7f816d806549d94f24e3'),
    (1000, [507, 818, 452, 368, 242, 929, 262, 810, 318, 49],
     'a99211b45eab3195ca3569d429ab82f304e91990'),
    (100_000, [43660, 87278, 14317, 81932, 95321], 'f9c26eb3efcc3c23b2e051b63d78f8059ebb4903'),
])
def test_long_shuffled_orders(count, start, digest):
    order = epoch(ShuffledExampleScheme(count))
    assert order[:len(start)] == start
    assert hashlib.sha1(repr(order).encode()).hexdigest() == digest
    batches = epoch(ShuffledScheme(count, 7))
    assert list(itertools.chain(*batches)) == order


def test_second_epoch_of_a_hundred():
    scheme = ShuffledExampleScheme(100)
    epoch(scheme)
    assert epoch(scheme)[:10] == [44, 96, 1, 35, 26, 11, 38, 82, 87, 3]


def test_examplewise_order_is_the_batchwise_order():
    scheme = ShuffledExampleScheme(8)
    assert epoch(scheme) == [7, 2, 1, 6, 0, 4, 3, 5]
    assert epoch(scheme) == [2, 3, 4, 7, 1, 6, 0, 5]


def test_order_agrees_with_a_list_shuffled_by_numpy():
    expected = list(range(57))
    numpy.random.RandomState(9).shuffle(expected)
    assert epoch(ShuffledExampleScheme(57, rng=numpy.random.RandomState(9))) == expected


def test_any_object_that_shuffles_lists_will_do():
    class Backwards:
        def shuffle(self, items):
            assert isinstance(items, list)
            items.reverse()

    assert epoch(ShuffledScheme(5, 2, rng=Backwards())) == [[4, 3], [2, 1], [0]]
    expected = list(range(20))
    random.Random(4).shuffle(expected)
    assert epoch(ShuffledExampleScheme(20, rng=random.Random(4))) == expected


def test_examples_need_not_be_integers():
    names = ['a', 'b', 'c', 'd']
    assert epoch(SequentialScheme(names, 3)) == [['a', 'b', 'c'], ['d']]
    assert sorted(epoch(ShuffledExampleScheme(names))) == names
    assert epoch(ShuffledScheme(names, 4, sorted_indices=True)) == [names]


def test_default_seed_is_read_when_the_scheme_is_made():
    fuel.config.default_seed = 1234
    assert epoch(ShuffledScheme(8, 4)) == [[2, 1, 6, 0], [4, 5, 3, 7]]


def test_generator_is_the_given_one_and_runs_on():
    rng = numpy.random.RandomState(1)
    first, second = ShuffledScheme(8, 8, rng=rng), ShuffledScheme(8, 8, rng=rng)
    assert first.rng is rng is second.rng
    assert epoch(first) == [[7, 2, 1, 6, 0, 4, 3, 5]]
    assert epoch(second) == [[2, 3, 4, 7, 1, 6, 0, 5]]


@pytest.mark.parametrize('examples', [9, [1, 2, 3], numpy.arange(3), numpy.arange(3, dtype='u1')])
@pytest.mark.parametrize('scheme_class', [SequentialScheme, ShuffledScheme])
def test_requests_are_lists_of_python_integers(scheme_class, examples):
    for request in epoch(scheme_class(examples, 2)):
        assert type(request) is list
        assert {type(index) for index in request} == {int}


@pytest.mark.parametrize('scheme_class', [SequentialExampleScheme, ShuffledExampleScheme])
def test_single_requests_are_python_integers(scheme_class):
    assert {type(index) for index in epoch(scheme_class(numpy.arange(4)))} == {int}


def test_global_random_state_is_left_alone():
    numpy.random.seed(3)
    before = numpy.random.get_state()[1].tobytes()
    epoch(ShuffledScheme(100, 7))
    assert numpy.random.get_state()[1].tobytes() == before


def test_constant_scheme():
    assert epoch(ConstantScheme(3, num_examples=7)) == [3, 3, 1]
    assert epoch(ConstantScheme(3, num_examples=6)) == [3, 3]
    assert epoch(ConstantScheme(3, num_examples=2)) == [2]
    assert epoch(ConstantScheme(3, times=2)) == [3, 3]
    endless = ConstantScheme(3).get_request_iterator()
    assert list(itertools.islice(endless, 1000)) == [3] * 1000


def test_concatenated_scheme():
    scheme = ConcatenatedScheme(iter([SequentialScheme(4, 2), ShuffledScheme(8, 4)]))
    assert epoch(scheme) == [[0, 1], [2, 3], [7, 2, 1, 6], [0, 4, 3, 5]]
    assert epoch(scheme) == [[0, 1], [2, 3], [2, 3, 4, 7], [1, 6, 0, 5]]
    assert scheme.num_examples == 12
    assert len(scheme) == 4


def test_concatenated_scheme_with_one_generator_for_all_parts():
    def make():
        rng = numpy.random.RandomState(1)
        return ConcatenatedScheme([ShuffledScheme(4, 3, rng=rng), ShuffledScheme(5, 3, rng=rng)])

    straight = make()
    first, second = epoch(straight), epoch(straight)
    requests = make().start_epoch()
    next(requests)
    fresh = make()
    assert list(fresh.resume_epoch(requests.start_state(), 1)) == first[1:]
    assert epoch(fresh) == second


@pytest.mark.parametrize('scheme_class', [SequentialExampleScheme, SequentialScheme])
def test_cross_validation_folds(scheme_class):
    kwargs = {'batch_size': 100} if scheme_class is SequentialScheme else {}

    def visited(scheme):
        requests = epoch(scheme)
        return requests[0] if kwargs else requests

    folds = list(cross_validation(scheme_class, 10, 5, **kwargs))
    assert len(folds) == 5
    for fold, (train, valid) in enumerate(folds):
        for _ in range(2):  # the second epoch is like the first
            assert visited(valid) == [2 * fold, 2 * fold + 1]
            assert visited(train) == [i for i in range(10) if i not in visited(valid)]
        assert type(train.indices) is list
        assert type(valid.indices) is range


def test_cross_validation_with_unequal_folds():
    folds = list(cross_validation(SequentialExampleScheme, 10, 3, strict=False))
    assert [size for _, _, size in folds] == [3, 3, 4]
    assert [epoch(valid) for _, valid, _ in folds] == [[0, 1, 2], [3, 4, 5], [6, 7, 8, 9]]
    with pytest.raises(ValueError, match='10 examples cannot be divided into 3 equal folds'):
        next(cross_validation(SequentialExampleScheme, 10, 3))
