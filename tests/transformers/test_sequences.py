"""Window and NGrams against the plain definition."""
import json
import pickle

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuel.collate import as_objects
from fuel.datasets import IndexableDataset, IterableDataset
from fuel.schemes import ConstantScheme, SequentialExampleScheme, SequentialScheme
from fuel.streams import DataStream
from fuel.testing import ReadOnly, assert_same
from fuel.transformers import Batch, FilterSources
from fuel.transformers.sequences import NGrams, Window


def over(sentences, **kwargs):
    return ReadOnly(DataStream(IndexableDataset({'words': sentences}, **kwargs),
                               iteration_scheme=SequentialExampleScheme(len(sentences))))


def drawn(stream):
    return list(stream.get_epoch_iterator())


def windows_of(sequence, offset, source, target, overlapping):
    """All pairs of windows, by looking at every place there is."""
    step = offset + (0 if overlapping else source)
    return [(sequence[place:place + source], sequence[place + step:place + step + target])
            for place in range(len(sequence))
            if place + source <= len(sequence) and place + step >= 0
            and place + step + target <= len(sequence)]


@pytest.mark.parametrize(('arguments', 'sequence', 'expected'), [
    ((0, 2, 1, False), [1, 2, 3, 4], [([1, 2], [3]), ([2, 3], [4])]),
    ((-2, 4, 4, False), list(range(7)), [([0, 1, 2, 3], [2, 3, 4, 5]),
                                         ([1, 2, 3, 4], [3, 4, 5, 6])]),
    ((-2, 2, 2, True), list(range(5)), [([2, 3], [0, 1]), ([3, 4], [1, 2])])])
def test_windows_known_to_be_right(arguments, sequence, expected):
    assert drawn(Window(*arguments, over([sequence]))) == expected


def test_ngrams_known_to_be_right():
    stream = NGrams(2, over([[1, 2, 3, 4], [9], [], [5, 6, 7]]))
    assert drawn(stream) == [([1, 2], 3), ([2, 3], 4), ([5, 6], 7)]
    assert stream.sources == ('words', 'targets')
    assert stream.produces_examples
    assert NGrams(2, over([[1]]), target_source='next').sources == ('words', 'next')


@pytest.mark.parametrize('kind', [list, numpy.array, tuple])
@given(st.lists(st.integers(0, 12), min_size=1, max_size=4), st.integers(-6, 6),
       st.integers(1, 4), st.integers(1, 4), st.booleans(), st.integers(1, 9))
def test_windows_are_all_that_fit(kind, lengths, offset, source, target, overlapping, size):
    sentences = as_objects([kind(list(range(10 * place, 10 * place + length)))
                            for place, length in enumerate(lengths)])
    arguments = offset, source, target, overlapping
    expected = [pair for sentence in sentences for pair in windows_of(sentence, *arguments)]
    assert_same(drawn(Window(*arguments, over(sentences))), expected)
    batches = drawn(Batch(Window(*arguments, over(sentences)), ConstantScheme(size)))
    assert sum(len(batch[0]) for batch in batches) == len(expected)
    assert_same([[list(map(int, item)) for item in column] for batch in batches
                 for column in zip(*batch, strict=True)],
                [[list(map(int, item)) for item in pair] for pair in expected])


@pytest.mark.parametrize('shape', [(9,), (9, 3), (9, 2, 0)])
def test_parts_of_arrays_belong_to_whoever_gets_them(shape):
    array = numpy.arange(numpy.prod(shape)).reshape(shape)
    for make in (lambda: NGrams(3, over([array, array])),
                 lambda: Window(-1, 3, 2, False, over([array, array]))):
        expected = [tuple(numpy.array(item) for item in pair) for pair in drawn(make())]
        for pair, wanted in zip(make().get_epoch_iterator(), expected, strict=True):
            assert_same(tuple(numpy.asarray(item) for item in pair), wanted)
            for item in pair:
                if isinstance(item, numpy.ndarray):
                    assert not numpy.shares_memory(item, array)
                    item[...] = -1
        taken = []
        make().get_epoch_iterator().take_into(taken, 100)
        for pair, wanted in zip(taken, expected, strict=True):
            assert_same(tuple(numpy.asarray(item) for item in pair), wanted)
            for item in pair:
                if isinstance(item, numpy.ndarray):
                    item[...] = -1


def test_an_epoch_that_is_broken_off_does_not_leak_into_the_next():
    sentences = DataStream(IterableDataset([[1, 2, 3, 4, 5]]))
    stream = NGrams(2, sentences)
    assert next(stream.get_epoch_iterator()) == ([1, 2], 3)
    assert drawn(stream) == [([1, 2], 3), ([2, 3], 4), ([3, 4], 5)]
    assert drawn(stream) == [([1, 2], 3), ([2, 3], 4), ([3, 4], 5)]


def test_iterators_side_by_side():
    stream = NGrams(2, over([[1, 2, 3, 4], [5, 6, 7]]))
    pairs = list(zip(stream.get_epoch_iterator(), stream.get_epoch_iterator(), strict=True))
    assert len(pairs) == 3
    assert all(one == other for one, other in pairs)


@pytest.mark.parametrize('step', range(7))
def test_resume_at_every_step_and_in_the_next_epoch(step):
    def made():
        return NGrams(2, over([[1, 2, 3, 4, 5], [6], [7, 8, 9], [1, 2, 3, 4]]))
    expected = drawn(made())
    stream = made()
    iterator = stream.get_epoch_iterator()
    taken = [next(iterator) for _ in range(step)]
    other = made()
    other.load_state_dict(json.loads(json.dumps(stream.state_dict())))
    assert taken + drawn(other) == expected
    stream, iterator = pickle.loads(pickle.dumps((stream, iterator)))
    assert taken + list(iterator) == expected
    assert drawn(other) == drawn(stream) == expected


def test_a_state_holds_positions_and_no_data():
    stream = NGrams(2, over([list(range(100_000))]))
    iterator = stream.get_epoch_iterator()
    for _ in range(50_000):
        next(iterator)
    assert len(json.dumps(stream.state_dict())) < 500


def test_as_dict_and_mixed_ways_of_drawing():
    stream = NGrams(1, over([[1, 2, 3, 4]]))
    iterator = stream.get_epoch_iterator(as_dict=True)
    assert next(iterator) == {'words': [1], 'targets': 2}
    taken = []
    iterator.take_into(taken, 2)
    assert taken == [{'words': [2], 'targets': 3}, {'words': [3], 'targets': 4}]
    assert iterator.step == 3
    iterator.take_into(taken, 5)
    assert len(taken) == 2
    iterator = stream.get_epoch_iterator()
    taken = [next(iterator)]
    iterator.take_into(taken, 1)
    assert iterator.step == 2
    assert [*taken, next(iterator)] == [([1], 2), ([2], 3), ([3], 4)]
    assert next(iterator, None) is None


def test_labels():
    labels = {'words': ('batch', 'time', 'feature'), 'other': ('batch',)}
    stream = over([numpy.zeros((4, 2))], axis_labels=labels)
    assert Window(0, 2, 1, False, stream).axis_labels == {
        'words': ('time', 'feature'), 'targets': ('time', 'feature')}
    assert NGrams(2, stream).axis_labels == {'words': ('time', 'feature'),
                                             'targets': ('feature',)}
    assert NGrams(2, over([[1]])).axis_labels is None


def test_the_length_is_not_known():
    stream = NGrams(2, over([[1, 2, 3]]))
    assert stream.num_examples is None
    with pytest.raises(TypeError):
        len(stream)


def test_wrong_streams_and_windows():
    batches = DataStream(IndexableDataset({'words': [[1]]}),
                         iteration_scheme=SequentialScheme(1, 1))
    with pytest.raises(ValueError, match='NGrams.*DataStream produces batches'):
        NGrams(2, batches)
    two = DataStream(IndexableDataset({'a': [[1]], 'b': [[1]]}),
                     iteration_scheme=SequentialExampleScheme(1))
    with pytest.raises(ValueError, match="one source; got .'a', 'b'"):
        Window(0, 1, 1, False, two)
    assert NGrams(2, FilterSources(two, ('a',))).sources == ('a', 'targets')
    with pytest.raises(ValueError, match="'words' has the name of the source"):
        NGrams(2, over([[1]]), target_source='words')
    for order in (0, -1, 2.0):
        with pytest.raises(ValueError, match='windows of positive length'):
            NGrams(order, over([[1]]))
    stream = NGrams(2, over([[1, 2, 3]]))
    stream.get_epoch_iterator()
    with pytest.raises(ValueError, match='takes no requests; got 3'):
        stream.get_data(3)
    assert stream.get_data() == ([1, 2], 3)
