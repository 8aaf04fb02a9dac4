"""Single examples that are read several at a time."""
import pickle

import numpy
import pytest

from fuel.datasets import IndexableDataset
from fuel.schemes import (
    ConcatenatedScheme,
    IndexScheme,
    SequentialExampleScheme,
    ShuffledExampleScheme,
)
from fuel.streams import DataStream
from fuel.streams.blocks import EXAMPLES, ROOM, bytes_of, rows_of
from fuel.testing import assert_same
from fuel.testing.comparing import copied

COUNT = 200


def objects(items):
    result = numpy.empty(len(items), dtype=object)
    for place, item in enumerate(items):
        result[place] = item
    return result


SOURCES = {
    'numbers': numpy.arange(COUNT, dtype='u1'),
    'rows': numpy.random.RandomState(0).rand(COUNT, 3),
    'fields': numpy.zeros(COUNT, [('a', 'u1'), ('b', 'f4', (2,))]),
    'texts': numpy.array([f't{place}' for place in range(COUNT)]),
    'ragged': objects([numpy.arange(place % 5) for place in range(COUNT)]),
    'rows of objects': objects([str(place) for place in range(2 * COUNT)]).reshape(COUNT, 2),
    'lists': [[place] * (place % 4) for place in range(COUNT)],
    'arrays in a list': [numpy.arange(place % 3) for place in range(COUNT)],
    'masked': numpy.ma.masked_array(numpy.arange(COUNT), numpy.arange(COUNT) % 3 == 0),
    'text': 'ab' * (COUNT // 2),
}


def dataset_of(*names):
    return IndexableDataset({name: SOURCES[name] for name in names})


@pytest.mark.parametrize('make_scheme', [
    lambda: SequentialExampleScheme(COUNT),
    lambda: SequentialExampleScheme(range(COUNT - 1, -1, -1)),
    lambda: SequentialExampleScheme(list(range(0, COUNT, 3))),
    lambda: ShuffledExampleScheme(COUNT), lambda: ShuffledExampleScheme(numpy.arange(5, 150)),
    lambda: ConcatenatedScheme([SequentialExampleScheme(30), ShuffledExampleScheme(50)])])
@pytest.mark.parametrize('name', SOURCES)
def test_examples_are_those_asked_for_one_by_one(name, make_scheme):
    dataset = dataset_of(name, 'numbers')
    expected = [dataset.get_data(None, request)
                for request in make_scheme().get_request_iterator()]
    stream = DataStream(dataset, iteration_scheme=make_scheme())
    given = list(stream.get_epoch_iterator())
    assert [int(data[-1]) for data in given] == [int(data[-1]) for data in expected]
    for one, other in zip(given, expected, strict=True):
        if name == 'masked':  # does not compare
            assert str(one) == str(other)
        else:
            assert_same(one, other)


def test_examples_share_no_memory():
    dataset = dataset_of('rows', 'fields', 'ragged', 'arrays in a list', 'rows of objects')
    for example in rows_of(dataset, slice(0, 20)).examples():
        for item in example:
            if isinstance(item, numpy.ndarray):
                assert item.base is None and item.flags.writeable


def test_a_data_set_that_is_asked_for_few_reads_few():
    asked = []

    class Told(IndexableDataset):
        takes_index_arrays = True

        def get_data(self, state=None, request=None):
            data = super().get_data(state, request)
            asked.append(1 if numpy.ndim(data[0]) == 0 else len(data[0]))
            return data

    stream = DataStream(Told(numpy.arange(1000)), iteration_scheme=SequentialExampleScheme(1000))
    iterator = stream.get_epoch_iterator()
    next(iterator)
    assert asked == [1]
    next(iterator)
    assert asked == [1, 2]
    assert len(list(iterator)) == 998
    assert max(asked) == EXAMPLES and sum(asked) == 1000 and len(asked) < 25


def test_large_examples_are_read_one_by_one():
    data = numpy.zeros((10, ROOM), dtype='u1')
    stream = DataStream(IndexableDataset(data), iteration_scheme=SequentialExampleScheme(10))
    iterator = stream.get_epoch_iterator()
    for _ in range(5):
        next(iterator)
        assert not iterator.cursor.ahead
    assert bytes_of(next(iterator)) == ROOM


def test_requests_that_are_no_places():
    class Spans(IndexScheme):
        def get_request_iterator(self):
            return iter([slice(0, 2), slice(3, 4)])

    stream = DataStream(IndexableDataset(list(range(5))), iteration_scheme=Spans(2))
    assert list(stream.get_epoch_iterator()) == [([0, 1],), ([3],)]
    spans = SequentialExampleScheme([[0, 1], [2], [3, 4], [0]])
    stream = DataStream(IndexableDataset(list(range(5))), iteration_scheme=spans)
    assert list(stream.get_epoch_iterator()) == [([0, 1],), ([2],), ([3, 4],), ([0],)]


def test_bad_example_fails_at_its_own_step():
    class Broken(IndexableDataset):
        takes_index_arrays = True

        def get_data(self, state=None, request=None):
            places = numpy.arange(COUNT)[request]
            if numpy.any(places == 100):
                raise OSError('example 100 cannot be read')
            return super().get_data(state, request)

    stream = DataStream(Broken(numpy.arange(COUNT)),
                        iteration_scheme=SequentialExampleScheme(COUNT))
    iterator = stream.get_epoch_iterator()
    found = []
    for _ in range(COUNT):
        try:
            found.append(int(next(iterator)[0]))
        except OSError as error:
            assert str(error) == 'example 100 cannot be read' and found[-1] == 99
        except StopIteration:
            break
    assert found == [place for place in range(COUNT) if place != 100]


def test_what_was_read_ahead_is_not_saved():
    stream = DataStream(dataset_of('rows'), iteration_scheme=ShuffledExampleScheme(COUNT))
    iterator = stream.get_epoch_iterator()
    for _ in range(70):
        next(iterator)
    assert iterator.cursor.ahead
    payload = pickle.dumps((stream, iterator))
    _, moved = pickle.loads(payload)
    assert not moved.cursor.ahead
    assert_same(list(moved), list(iterator))


def test_steps_that_are_taken_back_are_read_again():
    stream = DataStream(dataset_of('rows'), iteration_scheme=SequentialExampleScheme(COUNT))
    iterator = stream.get_epoch_iterator()
    taken = [next(iterator) for _ in range(20)]
    kept = copied(taken)
    for data, in taken:
        data[...] = 0
    assert iterator.cursor.take_back() and iterator.rewind(4)
    assert iterator.step == 15
    assert_same([next(iterator) for _ in range(5)], kept[15:])
    older = stream.get_epoch_iterator()
    assert_same(next(older), kept[0])
