"""Steps that fail, streams that are closed, wrong arguments, and what steps cost."""
import os
import pickle
import subprocess
import sys

import numpy
import pytest

import fuel
from fuel.datasets import Dataset, IndexableDataset, IterableDataset, TextFile
from fuel.exceptions import StateError
from fuel.schemes import (
    ConstantScheme,
    SequentialExampleScheme,
)
from fuel.streams import DataStream
from fuel.testing import check_stream
from fuel.transformers import (
    Mapping,
    Transformer,
)
from tests.streams.common import dataset, firsts, stream_of

# Failures.

def test_stop_iteration_out_of_a_function_is_no_end():
    calls = []

    def mapping(data):
        calls.append(data)
        if len(calls) == 3:
            next(iter([]))
        return data

    iterator = Mapping(stream_of(), mapping).get_epoch_iterator()
    next(iterator), next(iterator)
    with pytest.raises(RuntimeError, match='StopIteration'):
        next(iterator)

    class Ends:
        def __len__(self):
            return 8

        def __getitem__(self, place):
            raise StopIteration

    with pytest.raises(RuntimeError, match='StopIteration'):
        IndexableDataset(Ends()).get_data(request=[0])


@pytest.mark.parametrize('make', [
    lambda: DataStream(IterableDataset(list(range(5)))), lambda: stream_of(
        SequentialExampleScheme(5))])
def test_interrupted_step_is_not_lost(make):
    interrupts = [1, 1, 3]

    def mapping(data):
        if interrupts and data[0] == interrupts[0]:
            interrupts.pop(0)
            raise KeyboardInterrupt
        return data

    stream = Mapping(make(), mapping)
    iterator, given = stream.get_epoch_iterator(), []
    while len(given) < 5:
        try:
            given.append(int(next(iterator)[0]))
        except KeyboardInterrupt:
            other, rest = pickle.loads(pickle.dumps((stream.data_stream, iterator.child)))
            assert other is rest.data_stream
    assert given == list(range(5))


class Flaky(Dataset):
    provides_sources = ('x',)
    example_iteration_scheme = None

    def get_data(self, state=None, request=None):
        if request == 'missing':
            raise FileNotFoundError(request)
        return (request,)


def test_loop_that_skips_missing_files_ends():
    scheme = SequentialExampleScheme(['one', 'missing', 'three'])
    iterator = DataStream(Flaky(), iteration_scheme=scheme).get_epoch_iterator()
    given, errors = [], 0
    while True:
        try:
            given.append(next(iterator)[0])
        except FileNotFoundError:
            errors += 1
        except StopIteration:
            break
    assert given == ['one', 'three']
    assert errors == 2  # once more, in case that it was mended meanwhile


# Closing.

class Strict(Dataset):
    """A data set whose states must not be closed twice."""

    provides_sources = ('x',)
    example_iteration_scheme = None

    def open(self):
        return iter([1, 2, 3])

    def close(self, state):
        state.__length_hint__()

    def get_data(self, state=None, request=None):
        return (next(state),)


def test_closed_streams_open_again(tmp_path):
    (tmp_path / 'text').write_text('a b\n')
    dictionary = {'<S>': 0, '</S>': 1, '<UNK>': 2}
    for make in (lambda: DataStream(Strict()),
                 lambda: DataStream(TextFile([str(tmp_path / 'text')], dictionary))):
        expected = list(make().get_epoch_iterator())
        stream = make()
        stream.close()
        stream.close()
        stream.state_dict()
        assert list(stream.get_epoch_iterator()) == expected
        stream.close()
        stream.reset()
        assert list(stream.get_epoch_iterator()) == expected
        stream.close()
        stream.load_state_dict(make().state_dict())
        assert list(stream.get_epoch_iterator()) == expected
        stream.close()


# Wrong arguments.

@pytest.mark.parametrize(('arguments', 'message'), [
    ((numpy.arange(3),), 'expected a data set; got ndarray'),
    ((dataset(), 5), 'expected an iteration scheme; got int')])
def test_wrong_arguments(arguments, message):
    with pytest.raises(TypeError, match=message):
        DataStream(*arguments)


def test_transformer_without_a_stream():
    class Sourceless(Transformer):
        def __init__(self):
            super(Transformer, self).__init__()

    stream = Sourceless()
    assert stream.axis_labels is None
    with pytest.raises(ValueError, match='produces_examples'):
        _ = stream.produces_examples
    with pytest.raises(StateError, match='wraps no stream'):
        stream.state_dict()


def test_request_iterator_can_be_assigned():
    iterator = stream_of().get_epoch_iterator()
    iterator.request_iterator = iter([[7], [0, 0]])
    assert firsts(iterator) == [[7], [0, 0]]


def test_request_iterator_can_be_assigned_where_examples_were_read_ahead():
    iterator = stream_of(SequentialExampleScheme(8)).get_epoch_iterator()
    assert [int(next(iterator)[0]) for _ in range(3)] == [0, 1, 2]
    iterator.request_iterator = iter([7, 0])
    assert firsts(iterator) == [7, 0]


# Cost.

def test_long_chains_cost_in_proportion():
    """A step of a chain four times as long takes nowhere near sixteen times as long."""
    code = '''
import time, numpy
from fuel.datasets import IndexableDataset
from fuel.schemes import SequentialScheme
from fuel.streams import DataStream
from fuel.transformers import AgnosticSourcewiseTransformer
class Same(AgnosticSourcewiseTransformer):
    def transform_any_source(self, source, name):
        return source
def step(depth):
    stream = DataStream(IndexableDataset(numpy.arange(40000)),
                        iteration_scheme=SequentialScheme(40000, 2))
    for _ in range(depth):
        stream = Same(stream)
    best = 9e9
    iterator = stream.get_epoch_iterator()
    for _ in range(20):
        start = time.perf_counter()
        for _ in range(50):
            next(iterator)
        best = min(best, time.perf_counter() - start)
    return best
print(step(40) / step(10))
'''
    folder = os.path.dirname(os.path.dirname(fuel.__file__))
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True,
                          env={**os.environ, 'PYTHONPATH': folder})
    assert float(done.stdout) < 8


class Sized(Dataset):
    provides_sources = ('x',)
    example_iteration_scheme = None

    def get_data(self, state=None, request=None):
        return (numpy.arange(request),)


def test_sizes_as_requests_resume():
    check_stream(lambda: DataStream(Sized(), iteration_scheme=ConstantScheme(3, num_examples=7)),
                 new_process=False)
