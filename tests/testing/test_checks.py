"""The checks of fuel.testing find what they are made to find."""
import copy

import numpy
import pytest

from fuel.datasets import Dataset, IndexableDataset
from fuel.schemes import IndexScheme, SequentialExampleScheme, SequentialScheme, ShuffledScheme
from fuel.streams import DataStream
from fuel.testing import (
    assert_same,
    check_dataset,
    check_indexed_dataset,
    check_resume,
    check_scheme,
    check_stream,
    check_transformer,
)
from fuel.transformers import AgnosticTransformer


def stream_of(array=None, scheme=None, dataset_class=IndexableDataset, **kwargs):
    array = numpy.arange(12).reshape(6, 2) if array is None else array
    return DataStream(dataset_class({'x': array}, **kwargs),
                      iteration_scheme=scheme or ShuffledScheme(len(array), 2))


def test_sound_stream_passes():
    check_stream(stream_of, new_process=False)


class Views(IndexableDataset):
    def get_data(self, state=None, request=None):
        return (self.indexables[0],)


class Unseeded(AgnosticTransformer):
    drawn = numpy.random.RandomState(3)

    def transform_any(self, data):
        return (data[0] + self.drawn.randint(100),)


class Forgetful(AgnosticTransformer):
    count = 0

    def transform_any(self, data):
        self.count += 1
        return (data[0] + self.count,)

    def __getstate__(self):
        return {**self.__dict__, 'count': 0}


class Longer(AgnosticTransformer):
    num_batches = 7

    def transform_any(self, data):
        return data


class Lists(AgnosticTransformer):
    def transform_any(self, data):
        return list(data)


class Unchanged(AgnosticTransformer):
    def transform_any(self, data):
        return data


class Mislabelled(AgnosticTransformer):
    def output_axis_labels(self, labels):
        return {'x': ('batch',)}

    def transform_any(self, data):
        return data


@pytest.mark.parametrize(('make', 'message'), [
    (lambda: stream_of(dataset_class=Views), 'written into'),
    (lambda: Unseeded(stream_of()), 'made in the same way'),
    (lambda: Longer(stream_of()), 'tells a length of 7'),
    (lambda: Lists(stream_of()), 'expected a tuple of 1 items'),
    (lambda: Mislabelled(stream_of(axis_labels={'x': ('batch', 'y')})),
     'has 2 axes and the labels'),
])
def test_faulty_streams_are_found(make, message):
    with pytest.raises(AssertionError, match=message):
        check_stream(make, new_process=False)


class Careless(AgnosticTransformer):
    def transform_any(self, data):
        data[0][...] *= 2
        return data


class Relabelling(AgnosticTransformer):
    def output_axis_labels(self, labels):
        self.data_stream.dataset.axis_labels['x'] = ('batch', 'z')
        return labels

    def transform_any(self, data):
        return data


@pytest.mark.parametrize(('wrap', 'message'), [(Careless, 'writes into its input'),
                                               (Relabelling, 'labels or sources')])
def test_faulty_transformers_are_found(wrap, message):
    check_transformer(Unchanged, lambda: stream_of(axis_labels={'x': ('batch', 'y')}))
    with pytest.raises(AssertionError, match=message):
        check_transformer(wrap, lambda: stream_of(axis_labels={'x': ('batch', 'y')}))


def test_forgetful_stream_is_found():
    with pytest.raises(AssertionError, match='by pickle'):
        check_resume(lambda: Forgetful(stream_of()), by_state=False, new_process=False)
    with pytest.raises(AssertionError, match='resumed twice|by state'):
        check_resume(lambda: Forgetful(stream_of()), new_process=False)


class Unlike(IndexScheme):
    made = 0

    def __init__(self):
        super().__init__(4)
        type(self).made += 1
        self.first = type(self).made

    def get_request_iterator(self):
        return SequentialExampleScheme(range(self.first, self.first + 3)).get_request_iterator()


class Miscounted(SequentialScheme):
    num_requests = 9


@pytest.mark.parametrize('make', [Unlike, lambda: Miscounted(4, 2)])
def test_faulty_schemes_are_found(make):
    with pytest.raises(AssertionError):
        check_scheme(make)


class Negative(IndexableDataset):
    def get_data(self, state=None, request=None):
        return (numpy.array(self.indexables[0])[
            list(request) if type(request) is tuple else request],)


class Shared(Dataset):
    provides_sources = ('x',)
    left = list(range(9))

    def get_data(self, state=None, request=None):
        return (self.left.pop(),)


def test_faulty_data_sets_are_found():
    with pytest.raises(AssertionError, match='out of range'):
        check_indexed_dataset(lambda: Negative(numpy.arange(4.0)))
    with pytest.raises((AssertionError, IndexError)):
        check_dataset(Shared, [None] * 3)


@pytest.mark.parametrize(('one', 'other'), [
    (1, 1.0), (numpy.zeros(2), numpy.zeros(2, 'f4')), (numpy.zeros(2), numpy.zeros((2, 1))),
    (numpy.zeros(2), numpy.array([0, -0.0])), ([1], (1,)), ([1], [1, 2]), ({'a': 1}, {'b': 1}),
    ('a', 'b'), (numpy.array(['a'], object), numpy.array(['b'], object))])
def test_differences_are_found(one, other):
    assert_same(one, copy.deepcopy(one))
    with pytest.raises(AssertionError, match='data'):
        assert_same(one, other)


def test_nan_is_nan():
    assert_same([float('nan'), numpy.array([numpy.nan])], [float('nan'), numpy.array([numpy.nan])])
