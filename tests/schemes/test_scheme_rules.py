"""What schemes refuse, what they cost, what they tell."""
import pickle
import sys
import time
import tracemalloc

import numpy
import pytest

from fuel._itertools import imap, iter_, partition_all
from fuel.exceptions import StateError
from fuel.schemes import (
    BatchScheme,
    BatchSizeScheme,
    ConcatenatedScheme,
    ConstantScheme,
    IndexScheme,
    IterationScheme,
    SequentialExampleScheme,
    SequentialScheme,
    ShuffledExampleScheme,
    ShuffledScheme,
    cross_validation,
)
from fuel.testing import check_scheme


@pytest.mark.parametrize('base', [IterationScheme, BatchScheme, BatchSizeScheme, IndexScheme])
def test_bases_cannot_be_instantiated(base):
    with pytest.raises(TypeError):
        base(3, 2) if base is BatchScheme else base()


@pytest.mark.parametrize('scheme_class', [SequentialScheme, ShuffledScheme])
@pytest.mark.parametrize(('batch_size', 'error'), [(0, ValueError), (-3, ValueError),
                                                   (2.5, TypeError), (True, TypeError),
                                                   ('3', TypeError), (None, TypeError)])
def test_wrong_batch_sizes(scheme_class, batch_size, error):
    with pytest.raises(error, match=f'{scheme_class.__name__}: expected batch_size to be a posi'):
        scheme_class(8, batch_size)


@pytest.mark.parametrize(('examples', 'error'), [
    (0, ValueError), (-1, ValueError), ([], ValueError), (range(0), ValueError),
    (numpy.arange(0), ValueError), (iter([]), ValueError), (2.5, TypeError),
    (float('nan'), TypeError), (None, TypeError), ('abc', TypeError), (True, TypeError)])
@pytest.mark.parametrize('make', [
    SequentialExampleScheme, ShuffledExampleScheme, lambda n: SequentialScheme(n, 2),
    lambda n: ShuffledScheme(n, 2)])
def test_wrong_examples(make, examples, error):
    with pytest.raises(error, match='Scheme: expected'):
        make(examples)


@pytest.mark.parametrize('kwargs', [
    {'num_examples': 0}, {'times': 0}, {'num_examples': -1}, {'num_examples': 3, 'times': 2}])
def test_wrong_constant_schemes(kwargs):
    with pytest.raises(ValueError, match='ConstantScheme: expected'):
        ConstantScheme(3, **kwargs)


def test_wrong_concatenations():
    with pytest.raises(ValueError, match='at least one scheme'):
        ConcatenatedScheme([])
    with pytest.raises(ValueError, match=r'SequentialScheme \(batches\)'):
        ConcatenatedScheme([SequentialScheme(4, 2), SequentialExampleScheme(4)])


@pytest.mark.parametrize('folds', [1, 11])
def test_wrong_numbers_of_folds(folds):
    with pytest.raises(ValueError, match='folds'):
        next(cross_validation(SequentialExampleScheme, 10, folds, strict=False))


def test_wrong_state():
    state = ShuffledScheme(8, 4).start_epoch().start_state()
    with pytest.raises(StateError, match='batch_size 4; this ShuffledScheme has 2'):
        ShuffledScheme(8, 2).resume_epoch(state, 1)
    with pytest.raises(StateError, match='examples 8; this ShuffledScheme has 9'):
        ShuffledScheme(9, 4).resume_epoch(state, 1)
    with pytest.raises(StateError, match='has no rng'):
        SequentialScheme(8, 4).resume_epoch(state, 1)


def test_iterator_as_examples_lasts_more_than_one_epoch():
    scheme = SequentialScheme((place for place in range(4)), 2)
    for _ in range(2):
        assert list(scheme.get_request_iterator()) == [[0, 1], [2, 3]]
    assert list(SequentialScheme({3, 4}, 1).get_request_iterator()) == [[3], [4]]


@pytest.mark.parametrize(('scheme', 'requests', 'examples'), [
    (SequentialScheme(10, 4), 3, 10), (ShuffledScheme(8, 4), 2, 8),
    (SequentialExampleScheme([4, 5]), 2, 2), (ShuffledExampleScheme(9), 9, 9),
    (ConstantScheme(3, num_examples=7), 3, 7), (ConstantScheme(3, times=4), 4, None)])
def test_lengths(scheme, requests, examples):
    assert len(scheme) == scheme.num_requests == requests
    assert scheme.num_examples == examples


def test_unknown_lengths():
    class Even(IndexScheme):
        def get_request_iterator(self):
            return iter_(list(self.indices)[::2])

    class EverySecond(SequentialScheme):
        def get_request_iterator(self):
            return imap(list, partition_all(self.batch_size, list(self.indices)[::2]))

    for scheme in (ConstantScheme(3), Even(10), EverySecond(10, 2)):
        assert scheme.num_requests is None
        assert scheme  # len() raises, and the truth of a scheme must not
        with pytest.raises(TypeError, match='not known'):
            len(scheme)


class Halves(IndexScheme):
    """A scheme as users write it, with a generator of its own."""

    def __init__(self, examples):
        super().__init__(examples)
        self.rng = numpy.random.RandomState(4)

    def get_request_iterator(self):
        return iter_(self.rng.permutation(list(self.indices))[::2].tolist())


def test_scheme_of_a_user_resumes():
    check_scheme(lambda: Halves(9))


class Endless(BatchSizeScheme):
    """Its own iterator, without the constructor of its base, as a published program has it."""

    def __init__(self):
        self.position = 0

    def get_request_iterator(self):
        return self

    def __next__(self):
        self.position += 1
        return numpy.arange(self.position % 3 + 1)

    def __iter__(self):
        return self


def test_scheme_that_is_its_own_iterator():
    scheme = Endless()
    requests = scheme.start_epoch()
    assert [len(next(requests)) for _ in range(3)] == [2, 3, 1]
    scheme, requests = pickle.loads(pickle.dumps((scheme, requests)))
    assert len(next(requests)) == 2
    assert requests.iterator is scheme


def test_sequential_scheme_over_a_billion_examples_costs_nothing():
    tracemalloc.start()
    scheme = SequentialScheme(10**9, 128)
    requests = scheme.get_request_iterator()
    next(requests)
    requests.skip(10**6)
    assert next(requests)[0] == 128 * (10**6 + 1)
    assert tracemalloc.get_traced_memory()[1] < 100_000
    tracemalloc.stop()
    assert len(pickle.dumps((scheme, requests))) < 500
    assert type(scheme.indices) is range


def test_shuffled_scheme_over_ten_million_examples_holds_one_array():
    tracemalloc.start()
    scheme = ShuffledScheme(10**7, 128)
    requests = scheme.get_request_iterator()
    first = next(requests)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4.1 * 10**7
    payload = pickle.dumps(requests)
    assert len(payload) < 5000
    start = time.perf_counter()
    resumed = pickle.loads(payload)
    assert next(resumed) == next(requests)
    assert time.perf_counter() - start < 10  # a second; generous for a loaded machine
    assert len(first) == 128
    assert sys.getsizeof(scheme.__dict__) < 1000


def test_generator_whose_state_cannot_be_read():
    class Backwards:
        def shuffle(self, items):
            items.reverse()

    scheme = ShuffledScheme(5, 2, rng=Backwards())
    with pytest.raises(StateError, match='the state of the Backwards'):
        scheme.state_dict()


class Rotating:
    """Shuffles by turning the list, one place further each time."""

    def __init__(self):
        self.turns = 0

    def shuffle(self, items):
        self.turns += 1
        items[:] = items[self.turns:] + items[:self.turns]


def test_generator_whose_state_cannot_be_read_can_be_pickled():
    scheme = ShuffledScheme(5, 2, rng=Rotating())
    scheme.start_epoch()
    requests = scheme.start_epoch()
    assert next(requests) == [2, 3]
    scheme, requests = pickle.loads(pickle.dumps((scheme, requests)))
    assert list(requests) == [[4, 0], [1]]
    assert list(scheme.get_request_iterator()) == [[3, 4], [0, 1], [2]]
