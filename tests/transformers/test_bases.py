"""The bases of transformers: what they call, refuse, and tell."""
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy
import pytest

from fuel import rng
from fuel.datasets import IndexableDataset
from fuel.schemes import SequentialExampleScheme, SequentialScheme, ShuffledScheme
from fuel.streams import DataStream
from fuel.transformers import (
    AgnosticSourcewiseTransformer,
    AgnosticTransformer,
    Cast,
    Flatten,
    Mapping,
    ScaleAndShift,
    SourcewiseTransformer,
    Transformer,
)


def stream_of(examples=False, **kwargs):
    dataset = IndexableDataset({'a': numpy.arange(6).reshape(3, 2), 'b': numpy.arange(3)},
                               axis_labels={'a': ('batch', 'x'), 'b': ('batch',)})
    scheme = SequentialExampleScheme(3) if examples else SequentialScheme(3, 2)
    return DataStream(dataset, iteration_scheme=scheme, **kwargs)


class OnlyBatches(Transformer):
    def __init__(self, data_stream, **kwargs):
        super().__init__(data_stream, produces_examples=False, **kwargs)

    def transform_batch(self, batch):
        return batch


class Doubler(AgnosticSourcewiseTransformer):
    def transform_any_source(self, source_data, source_name):
        return source_data * 2


def test_wrong_kind_names_both():
    stream = OnlyBatches(stream_of(examples=True))
    with pytest.raises(NotImplementedError,
                       match='DataStream, produces examples while OnlyBatches produces batches'):
        next(stream.get_epoch_iterator())


@pytest.mark.parametrize(('base', 'hooks'), [
    (Transformer, ('transform_example', 'transform_batch')),
    (AgnosticTransformer, ('transform_any',) * 2),
    (SourcewiseTransformer, ('transform_source_example', 'transform_source_batch')),
    (AgnosticSourcewiseTransformer, ('transform_any_source',) * 2)])
def test_missing_hooks_are_named(base, hooks):
    for examples, hook in ((True, hooks[0]), (False, hooks[1])):
        stream = base(stream_of(examples), produces_examples=examples)
        with pytest.raises(NotImplementedError, match=f'{base.__name__} does.* {hook}'):
            next(stream.get_epoch_iterator())


@pytest.mark.parametrize('make', [
    OnlyBatches, lambda s, **kw: Mapping(s, lambda data: data, **kw), Flatten, Doubler,
    lambda s, **kw: ScaleAndShift(s, 1, 0, **kw), lambda s, **kw: Cast(s, 'int8', **kw)])
def test_every_transformer_takes_axis_labels(make):
    labels = {'a': ('q', 'r')}
    assert make(stream_of(), axis_labels=labels).axis_labels == labels


def test_something_else_than_a_stream():
    with pytest.raises(TypeError, match=r'Cast: expected a data stream to wrap; got \[1\]'):
        Cast([1], 'int8')


def test_requests_are_refused():
    stream = Doubler(stream_of())
    with pytest.raises(ValueError, match='Doubler takes no requests'):
        stream.get_data([0])


def test_get_data_before_an_epoch_was_started():
    with pytest.raises(ValueError, match='call get_epoch_iterator first'):
        Doubler(stream_of()).get_data()


def test_get_data_draws_from_the_newest_epoch():
    stream = Doubler(stream_of())
    stream.get_epoch_iterator()
    assert stream.get_data()[1].tolist() == [0, 2]
    assert stream.get_data()[1].tolist() == [4]
    with pytest.raises(StopIteration):
        stream.get_data()


def test_which_sources():
    for which, expected in ((('b',), (0, 1)), (None, (1, 1)), (['a'], (1, 0)), ('a', (1, 0)),
                            ((), (0, 0))):
        stream = Doubler(stream_of(examples=True), which_sources=which)
        plain = list(stream_of(examples=True).get_epoch_iterator())[1]
        doubled = list(stream.get_epoch_iterator())[1]
        for item, before, times in zip(doubled, plain, (
                expected if which not in (('b',),) else (0, 1)), strict=True):
            assert numpy.array_equal(item, before * (1 + times))


def test_unknown_which_sources():
    with pytest.raises(ValueError, match="Doubler: the wrapped stream has no source 'c'; it has"):
        Doubler(stream_of(), which_sources=('a', 'c'))


def test_produces_examples_may_be_set_in_every_way():
    class OnClass(AgnosticTransformer):
        produces_examples = True

        def transform_any(self, data):
            return data

    class After(AgnosticTransformer):
        def __init__(self, data_stream):
            super().__init__(data_stream)
            self.produces_examples = data_stream.produces_examples

        def transform_any(self, data):
            return data

    assert OnClass(stream_of(examples=True)).produces_examples
    assert len(list(OnClass(stream_of(examples=True)).get_epoch_iterator())) == 3
    assert not After(stream_of()).produces_examples
    assert len(list(After(stream_of()).get_epoch_iterator())) == 2


def test_sources_overridden_by_a_read_only_property():
    class Renamed(AgnosticTransformer):
        @property
        def sources(self):
            return ('x', 'y')

        def transform_any(self, data):
            return data

    assert list(next(Renamed(stream_of()).get_epoch_iterator(as_dict=True))) == ['x', 'y']


def test_sources_assigned_before_the_constructor_of_the_base():
    class Early(AgnosticTransformer):
        def __init__(self, data_stream):
            self.sources = ('x', 'y')
            super().__init__(data_stream)

        def transform_any(self, data):
            return data

    assert Early(stream_of()).sources == ('x', 'y')


def test_labels_of_the_wrapped_stream_are_never_changed():
    stream = stream_of()
    before = stream.axis_labels
    flat = Flatten(stream, which_sources=('a',))
    assert flat.axis_labels == {'a': ('batch', 'feature'), 'b': ('batch',)}
    flat.axis_labels['b'] = None
    assert stream.axis_labels == before
    assert stream.dataset.axis_labels == before


def test_close_and_reset_reach_the_data_set():
    calls = []

    class Told(IndexableDataset):
        def close(self, state):
            calls.append('close')

        def reset(self, state):
            calls.append('reset')

    dataset = Told([1, 2])
    stream = Doubler(Doubler(DataStream(dataset, iteration_scheme=SequentialExampleScheme(2))))
    stream.reset()
    stream.close()
    assert calls == ['reset', 'close']


# Random numbers.

class Noise(AgnosticSourcewiseTransformer):
    def transform_any_source(self, source_data, source_name):
        return self.generator().integers(1 << 60)


def numbers(stream, epochs=2):
    return [[data[0] for data in stream.get_epoch_iterator()] for _ in range(epochs)]


def test_random_numbers_depend_on_epoch_and_step_and_transformer():
    drawn = numbers(Noise(stream_of()))
    assert len({number for epoch in drawn for number in epoch}) == 4
    assert numbers(Noise(stream_of())) == drawn
    above = list(Noise(Cast(Noise(stream_of()), 'int64')).get_epoch_iterator())
    assert above[0][0] != drawn[0][0]
    # An unrelated transformer below changes nothing.
    assert numbers(Noise(Cast(stream_of(), 'int8'))) == drawn


def test_random_numbers_depend_on_the_seed():
    stream = Noise(stream_of())
    stream.seed = 5
    assert numbers(stream) != numbers(Noise(stream_of()))
    assert pickle.loads(pickle.dumps(stream)).seed == 5


def test_random_numbers_do_not_depend_on_who_drew_before():
    stream = Noise(stream_of())
    older, newer = stream.get_epoch_iterator(), stream.get_epoch_iterator()
    mixed = [next(newer)[0], next(older)[0], next(older)[0], next(newer)[0]]
    (first, second), (third, fourth) = numbers(Noise(stream_of()))
    assert mixed == [third, first, second, fourth]


def test_random_numbers_are_those_of_the_documented_generator():
    stream = Noise(stream_of())
    name = f'{Noise.__qualname__}:0'
    expected = rng.generator(1, 0, 1, rng.key_of(name)).integers(1 << 60)
    assert numbers(stream)[0][1] == expected


def test_generator_outside_of_a_step():
    stream = Noise(stream_of())
    # A thread of its own has not computed any step yet.
    with ThreadPoolExecutor(1) as pool, pytest.raises(RuntimeError, match='belongs to a step'):
        pool.submit(stream.generator).result()


def test_global_random_state_is_left_alone():
    numpy.random.seed(3)
    before = numpy.random.get_state()[1].tobytes()
    numbers(Noise(DataStream(IndexableDataset(numpy.arange(4)),
                             iteration_scheme=ShuffledScheme(4, 2))))
    assert numpy.random.get_state()[1].tobytes() == before


class Drawing(Transformer):
    """Overrides get_data and gives a number of its own for each two steps below."""

    produces_examples = True

    def get_data(self, request=None):
        next(self.child_epoch_iterator)
        next(self.child_epoch_iterator)
        return (self.generator().integers(1 << 60),)


def test_random_numbers_where_get_data_is_overridden():
    def make():
        return Drawing(Noise(DataStream(IndexableDataset({'x': numpy.arange(8)}),
                                        iteration_scheme=SequentialExampleScheme(8))))
    drawn = numbers(make())
    assert len({number for epoch in drawn for number in epoch}) == 8
    name = f'{Drawing.__qualname__}:0'
    assert drawn[1][2] == rng.generator(1, 1, 2, rng.key_of(name)).integers(1 << 60)
    assert numbers(make()) == drawn
    with pytest.raises(RuntimeError, match='belongs to a step'):
        make().generator()
