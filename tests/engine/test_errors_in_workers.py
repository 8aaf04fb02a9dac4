"""What is raised in workers, and how it arrives."""
import contextlib
import re
import time
import traceback

import numpy
import pytest

from fuel.datasets import IndexableDataset
from fuel.exceptions import ImageDecodingError, WorkerError
from fuel.schemes import ConstantScheme, SequentialScheme
from fuel.streams import DataStream
from fuel.testing import assert_same
from fuel.testing.comparing import drawn
from fuel.transformers import Batch, Mapping, Tolerant
from fuel.transformers.image import ImagesFromBytes
from tests.contracts import chains
from tests.engine import engines, functions
from tests.engine.engines import OF_PROCESSES, PROCESSES, RUNS, THREADS, WHOLE

pytestmark = [pytest.mark.usefixtures('files'), pytest.mark.timeout(60)]


def failing(errors):
    """Return a stream of batches of three of which some fail."""
    return chains.Noise(Mapping(engines.in_order(), functions.Failing(errors)))


def outcomes(iterator):
    """Return what an iterator gives, and what it raises, until its end."""
    found = []
    while len(found) < 100:
        try:
            found.append(next(iterator))
        except StopIteration:
            return found
        except Exception as error:
            found.append((type(error).__name__, str(error)))
    raise AssertionError('the epoch does not end')


@pytest.mark.parametrize('error', [ValueError, KeyError, ZeroDivisionError, NotImplementedError])
@pytest.mark.parametrize('run', RUNS.values(), ids=RUNS)
def test_an_error_arrives_as_it_was_raised(run, error):
    with contextlib.closing(run(failing({7: error}))) as stream:
        iterator = stream.get_epoch_iterator()
        next(iterator), next(iterator)
        with pytest.raises(error) as caught:
            next(iterator)
    assert type(caught.value) is error
    assert caught.value.args == (7,)
    said = ''.join(traceback.format_exception(caught.value))
    assert 'fail_as_told' in said
    assert 'functions.py' in said


@pytest.mark.parametrize('run', OF_PROCESSES.values(), ids=OF_PROCESSES)
def test_an_error_says_where_in_the_epoch(run):
    with contextlib.closing(run(failing({7: ValueError}))) as stream:
        drawn_epoch = outcomes(stream.get_epoch_iterator())
        assert len(drawn_epoch) == 10
        iterator = stream.get_epoch_iterator()
        next(iterator), next(iterator)
        with pytest.raises(ValueError) as caught:
            next(iterator)
    said = ''.join(traceback.format_exception(caught.value)).lower()
    assert re.search(r'epoch 1\b', said)
    assert re.search(r'step 2\b', said)


@pytest.mark.parametrize('run', RUNS.values(), ids=RUNS)
def test_an_error_goes_on_as_without_an_engine(run):
    errors = {0: ValueError('first'), 7: KeyError, 10: functions.OwnError(10, reason='own'),
              29: OSError}
    expected = outcomes(failing(errors).get_epoch_iterator())
    with contextlib.closing(run(failing(errors))) as stream:
        assert_same(outcomes(stream.get_epoch_iterator()), expected)
        assert len(outcomes(stream.get_epoch_iterator())) == len(expected)


@pytest.mark.parametrize('run', OF_PROCESSES.values(), ids=OF_PROCESSES)
def test_an_error_keeps_its_attributes(run):
    errors = {0: functions.OwnError(0, reason='because')}
    with contextlib.closing(run(failing(errors))) as stream, \
            pytest.raises(functions.OwnError) as caught:
        next(stream.get_epoch_iterator())
    assert (caught.value.place, caught.value.reason) == (0, 'because')
    assert str(caught.value) == 'place 0: because'


@pytest.mark.parametrize('run', OF_PROCESSES.values(), ids=OF_PROCESSES)
def test_an_error_that_cannot_be_sent_arrives_as_text(run):
    with contextlib.closing(run(failing({3: functions.UnpicklableError}))) as stream:
        iterator = stream.get_epoch_iterator()
        next(iterator)
        with pytest.raises(WorkerError, match=r'UnpicklableError\D+3'):
            next(iterator)
        assert len(outcomes(iterator)) == 8


@pytest.mark.parametrize('run', OF_PROCESSES.values(), ids=OF_PROCESSES)
@pytest.mark.parametrize('error', [SystemExit, KeyboardInterrupt])
def test_an_error_that_would_end_the_worker_arrives(run, error):
    with contextlib.closing(run(failing({3: error}))) as stream:
        iterator = stream.get_epoch_iterator()
        next(iterator)
        with pytest.raises(error):
            next(iterator)


@pytest.mark.parametrize('run', RUNS.values(), ids=RUNS)
def test_an_error_knows_its_source(run):
    dataset = IndexableDataset({'image': [b'no image'] * 4, 'number': list(range(4))})
    below = DataStream(dataset, iteration_scheme=SequentialScheme(4, 2))
    with contextlib.closing(run(ImagesFromBytes(below, which_sources=('image',)))) as stream, \
            pytest.raises(ImageDecodingError) as caught:
        next(stream.get_epoch_iterator())
    assert caught.value.source_name == 'image'


@pytest.mark.parametrize('run', OF_PROCESSES.values(), ids=OF_PROCESSES)
def test_an_error_arrives_within_a_second(run):
    with contextlib.closing(run(Mapping(engines.in_order(), functions.Stamped()))) as stream:
        iterator = stream.get_epoch_iterator()
        for _ in range(5):
            next(iterator)
        with pytest.raises(RuntimeError) as caught:
            next(iterator)
        arrived = time.monotonic()
    assert arrived - caught.value.args[0] < 1


def test_bad_examples_are_left_out_in_workers_too():
    def make(run=engines.bare):
        dataset = IndexableDataset({'x': numpy.arange(20)})
        below = DataStream(dataset, iteration_scheme=dataset.example_iteration_scheme)
        return run(Batch(Tolerant(Mapping(below, functions.odd_ones)), ConstantScheme(3)))

    with contextlib.closing(make(PROCESSES['2 processes'])) as stream:
        assert_same(drawn(stream, 2), drawn(make(), 2))


@pytest.mark.parametrize('run', [PROCESSES['1 processes'], THREADS['1 threads'],
                                 WHOLE['whole in a process']], ids=['process', 'thread', 'whole'])
def test_a_step_whose_data_could_not_be_reached_is_taken_again(run):
    stream = run(DataStream(functions.Unreachable({'x': numpy.arange(12)}),
                            iteration_scheme=SequentialScheme(12, 3)))
    with contextlib.closing(stream):
        iterator = stream.get_epoch_iterator()
        got = [next(iterator)[0].tolist(), next(iterator)[0].tolist()]
        with pytest.raises(ConnectionError, match='try again'):
            next(iterator)
        got += [x.tolist() for x, in iterator]
    assert sum(got, []) == list(range(12))
