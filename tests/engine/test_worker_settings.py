"""What engines refuse, and what workers are told."""
import contextlib
import os
import pickle
import re
import threading

import numpy
import pytest

import fuel
from fuel.schemes import SequentialScheme
from fuel.streams import DataStream
from fuel.testing.comparing import drawn
from fuel.transformers import Mapping, MultiProcessing, MultiThreading
from tests.contracts import chains
from tests.engine import engines, functions
from tests.engine.engines import PROCESSES
from tests.engine.watching import descendants, until

pytestmark = [pytest.mark.usefixtures('files'), pytest.mark.timeout(60)]


# What cannot be done says so.

@pytest.mark.parametrize('cls', [MultiProcessing, MultiThreading])
@pytest.mark.parametrize(('make', 'name'), [
    (lambda: engines.read_on(chains.iterable), 'IterableDataset'),
    (lambda: chains.over(chains.words), 'TextFile')])
def test_what_cannot_be_spread_is_named(cls, make, name):
    with pytest.raises(ValueError, match=name) as caught:
        list(cls(make(), num_workers=2).get_epoch_iterator())
    assert re.search('num_workers=1|whole_chain', str(caught.value))


def test_what_cannot_be_sent_is_named():
    lock = threading.Lock()

    def held(data):
        with lock:
            return data

    with pytest.raises(TypeError, match=r'Mapping\S*mapping') as caught, \
            contextlib.closing(MultiProcessing(Mapping(engines.in_order(), held))) as stream:
        next(stream.get_epoch_iterator())
    assert 'lock' in str(caught.value).lower()
    assert until(lambda: not descendants())


@pytest.mark.parametrize('kwargs', [
    {'num_workers': -1}, {'num_workers': 1.5}, {'max_store': 0}, {'timeout': -1},
    {'hand_out': 'lend'}, {'whole_chain': True, 'num_workers': 2}, {'prefetch_factor': 0},
    {'max_bytes': 'a lot'}, {'multiprocessing_context': 'threads'}, {'cpu_affinity': 'all'},
    {'worker_init_fn': 3}], ids=str)
def test_wrong_arguments_are_refused(kwargs):
    with pytest.raises((TypeError, ValueError), match=next(iter(kwargs))):
        MultiProcessing(engines.in_order(), **kwargs)


# What workers know of themselves.

def test_workers_know_which_ones_they_are():
    assert fuel.get_worker_info() is None
    stream = Mapping(engines.in_order(300, 3), functions.told)
    stream.sources = ('x', 'info')
    with contextlib.closing(MultiProcessing(stream, num_workers=3)) as stream:
        infos = {info for _, info in drawn(stream)[0]}
    assert fuel.get_worker_info() is None
    assert {info[0] for info in infos} <= {0, 1, 2}
    assert {info[1] for info in infos} == {3}
    assert os.getpid() not in {info[2] for info in infos}
    assert {info[3] for info in infos} == {'IndexableDataset'}
    # No two workers draw the same numbers, and none draws the same twice.
    assert len({info[5] for info in infos}) == len(infos)
    assert len({info[4] for info in infos}) == len({info[0] for info in infos})


def test_a_data_set_is_pickled_once_for_all_workers():
    functions.Counting.times = 0
    stream = DataStream(functions.Counting({'x': numpy.arange(60)}),
                        iteration_scheme=SequentialScheme(60, 2))
    with contextlib.closing(MultiProcessing(stream, num_workers=4,
                                            persistent_workers=True)) as stream:
        drawn(stream, 3)
    assert functions.Counting.times == 1


def test_a_closed_stream_starts_workers_again():
    stream = PROCESSES['2 processes'](engines.in_order())
    for _ in range(3):
        assert len(drawn(stream)[0]) == 10
        stream.close()
        assert until(lambda: not descendants())


def test_settings_go_along(monkeypatch):
    fuel.config.default_seed = 77
    fuel.config.floatX = 'float32'
    stream = Mapping(engines.in_order(), functions.settings)
    with contextlib.closing(PROCESSES['2 processes'](stream)) as stream:
        assert {data[0] for data in stream.get_epoch_iterator()} == {(77, 'float32')}


def test_a_function_is_called_in_every_worker_first(tmp_path):
    def note(number):
        (tmp_path / f'{number}').touch()

    with contextlib.closing(MultiProcessing(engines.in_order(300, 3), num_workers=2,
                                            worker_init_fn=note)) as stream:
        drawn(stream)
    assert sorted(os.listdir(tmp_path)) == ['0', '1']


def test_a_function_that_fails_at_the_start_of_a_worker_is_heard_of():
    stream = MultiProcessing(engines.in_order(), num_workers=2,
                             worker_init_fn=functions.failing_start)
    with contextlib.closing(stream), pytest.raises(OSError, match='no licence'):
        list(stream.get_epoch_iterator())


def test_an_engine_can_be_pickled_before_and_after_use():
    stream = PROCESSES['2 processes'](engines.in_order())
    with contextlib.closing(pickle.loads(pickle.dumps(stream))) as other:
        assert len(drawn(other)[0]) == 10
        with contextlib.closing(pickle.loads(pickle.dumps(other))) as third:
            assert len(drawn(third)[0]) == 10
