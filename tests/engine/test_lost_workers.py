"""Workers that are killed, and workers that are stuck."""
import contextlib
import os
import re
import signal
import time

import pytest

from fuel.exceptions import WorkerLostError, WorkerTimeoutError
from fuel.testing import assert_same
from fuel.testing.comparing import drawn
from fuel.transformers import Mapping, MultiProcessing
from tests.contracts import chains
from tests.engine import engines, functions
from tests.engine.engines import OF_PROCESSES, PROCESSES
from tests.engine.watching import descendants, ended, until

pytestmark = [pytest.mark.usefixtures('files'), pytest.mark.timeout(60)]


# Workers that are killed.

def killing(folder, times, **kwargs):
    for number in range(times):
        (folder / str(number)).touch()
    return chains.Noise(Mapping(engines.in_order(), functions.Killing(folder, **kwargs)))


@pytest.mark.parametrize(('by', 'words'), [(signal.SIGKILL, 'SIGKILL'), (signal.SIGSEGV, 'SIGSEGV'),
                                           (None, r'\b3\b')], ids=['kill', 'segfault', 'exit'])
@pytest.mark.parametrize('run', OF_PROCESSES.values(), ids=OF_PROCESSES)
def test_a_worker_that_ends_is_named(run, by, words, tmp_path):
    with contextlib.closing(run(killing(tmp_path, 1, by=by))) as stream:
        iterator = stream.get_epoch_iterator()
        begun = time.monotonic()
        with pytest.raises(WorkerLostError, match=words) as caught:
            list(iterator)
        assert time.monotonic() - begun < 5
        said = str(caught.value)
        pid = int(re.search(r'process (\d+)', said)[1])
        assert pid != os.getpid() and not os.path.exists(f'/proc/{pid}')
        assert re.search(r'epoch 0\b', said)
        if run is not engines.WHOLE['whole in a process']:
            assert re.search(r'step 4\b', said)
            assert re.search(r'12\D+13\D+14', said), f'the request is not named: {said}'
        assert until(lambda: not descendants())


@pytest.mark.parametrize('run', OF_PROCESSES.values(), ids=OF_PROCESSES)
def test_the_steps_before_the_one_that_killed_are_not_lost(run, tmp_path):
    expected = drawn(chains.Noise(engines.in_order()))[0]
    with contextlib.closing(run(killing(tmp_path, 1))) as stream:
        iterator = stream.get_epoch_iterator()
        got = []
        with pytest.raises(WorkerLostError):
            for data in iterator:
                got.append(data)
        # Whoever goes on, gets the rest from new workers: the file is taken.
        got += list(iterator)
    assert_same(got, expected)


@pytest.mark.parametrize('context', [None, 'fork', 'forkserver'])
@pytest.mark.parametrize('workers', [1, 2])
def test_workers_are_replaced_on_request(workers, context, tmp_path):
    expected = drawn(chains.Noise(engines.in_order()), 2)
    stream = MultiProcessing(killing(tmp_path, 1), num_workers=workers, restart_workers=True,
                             multiprocessing_context=context)
    with contextlib.closing(stream):
        assert_same(drawn(stream, 2), expected)
    assert os.listdir(tmp_path) == []


def test_workers_are_replaced_in_whole_chains(tmp_path):
    stream = MultiProcessing(killing(tmp_path, 2), num_workers=1, whole_chain=True,
                             restart_workers=True)
    with contextlib.closing(stream):
        assert_same(drawn(stream, 2), drawn(chains.Noise(engines.in_order()), 2))


def test_a_step_that_kills_every_worker_is_given_up(tmp_path):
    stream = MultiProcessing(killing(tmp_path, 1000), num_workers=2, restart_workers=True)
    with contextlib.closing(stream):
        iterator = stream.get_epoch_iterator()
        with pytest.raises(WorkerLostError, match='SIGKILL'):
            list(iterator)
    assert os.listdir(tmp_path), 'every worker was sacrificed'


# Workers that are stuck.

@pytest.mark.parametrize(('kwargs', 'steps'), [
    # What a whole chain gives may come in pieces of several steps.
    ({'num_workers': 2}, 4), ({'num_workers': 1, 'whole_chain': True}, 0)], ids=['spread', 'whole'])
def test_a_stuck_worker_shows_where_it_stands(kwargs, steps):
    stream = MultiProcessing(Mapping(engines.in_order(), functions.stuck_here), timeout=1, **kwargs)
    with contextlib.closing(stream):
        iterator = stream.get_epoch_iterator()
        for _ in range(steps):
            next(iterator)
        begun = time.monotonic()
        with pytest.raises(WorkerTimeoutError, match='stuck_here') as caught:
            list(iterator)
        assert time.monotonic() - begun < 4
        assert isinstance(caught.value, TimeoutError)
        assert until(lambda: not descendants())


def test_a_slow_stream_is_no_stuck_one():
    stream = MultiProcessing(Mapping(engines.in_order(), functions.slowly), num_workers=2,
                             timeout=5)
    with contextlib.closing(stream):
        assert len(drawn(stream)[0]) == 10


def test_a_stopped_worker_can_be_closed():
    stream = PROCESSES['2 processes'](engines.in_order(3000, 3))
    next(stream.get_epoch_iterator())
    pids = descendants()
    for pid in pids:
        os.kill(pid, signal.SIGSTOP)
    begun = time.monotonic()
    stream.close()
    assert time.monotonic() - begun < 3
    assert ended(pids, 2) == []
