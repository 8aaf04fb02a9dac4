"""What a worker finds around it."""
import contextlib
import os
import random
import re
import signal
import sys
import threading

import numpy
import pytest

import fuel
from fuel.engine.info import (
    WorkerInfo,
    announce,
    announce_to_thread,
    get_worker_info,
    worker_seed,
)
from fuel.engine.results import Result
from tests.engine.toys import (
    CONTEXTS,
    a_pool,
    call,
    event,
    nothing,
)

every_context = pytest.mark.parametrize('context', CONTEXTS)


def inheritable():
    found = []
    for number in map(int, os.listdir('/proc/self/fd')):
        with contextlib.suppress(OSError):
            target = os.readlink(f'/proc/self/fd/{number}')
            if os.get_inheritable(number) and re.match('socket:|anon_inode:|/memfd:', target):
                found.append(target)
    return found


def surroundings():
    return {'stdin': sys.stdin.read() if sys.stdin else '', 'argv': sys.argv, 'cwd': os.getcwd(),
            'path': sys.path, 'environ': dict(os.environ),
            'signals': [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)],
            'blocked': signal.pthread_sigmask(signal.SIG_BLOCK, ()),
            'threads': [thread.name for thread in threading.enumerate()],
            'descriptors': {number: os.readlink(f'/proc/self/fd/{number}') for number in map(
                int, os.listdir('/proc/self/fd')) if os.path.exists(f'/proc/self/fd/{number}')},
            'inheritable': inheritable(),
            'flags': (sys.flags.dont_write_bytecode, sys.warnoptions),
            'modules': [name for name in ('h5py', 'torch', 'zmq', 'tables', 'scipy', 'pytest')
                        if name in sys.modules]}


@every_context
def test_signals_input_and_cores(context):
    with a_pool(2, context=context) as pool:
        found = call(pool, surroundings, worker=1)
    assert found['stdin'] == ''
    assert found['signals'] == [signal.SIG_IGN, signal.SIG_DFL]
    assert found['blocked'] == set()
    assert found['threads'] == ['MainThread']
    assert found['inheritable'] == []


def test_a_fresh_interpreter_is_like_that_of_the_program(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, 'path', [*sys.path, str(tmp_path)])
    monkeypatch.setattr(sys, 'argv', ['train.py', '--fast'])
    monkeypatch.setenv('MKL_NUM_THREADS', '3')
    monkeypatch.setenv('PYTHONINSPECT', '1')
    monkeypatch.delenv('OMP_NUM_THREADS', raising=False)
    monkeypatch.setenv('OF_THE_USER', 'kept')
    with a_pool(2) as pool:
        found = call(pool, surroundings, worker=1)
    assert found['argv'] == ['train.py', '--fast']
    assert found['path'] == sys.path
    assert found['cwd'] == os.getcwd()
    assert found['flags'] == (sys.flags.dont_write_bytecode, sys.warnoptions)
    environ = found['environ']
    assert environ['OMP_NUM_THREADS'] == environ['OPENBLAS_NUM_THREADS'] == '1'
    assert environ['MKL_NUM_THREADS'] == '3' and environ['OF_THE_USER'] == 'kept'
    assert 'PYTHONINSPECT' not in environ


def test_a_worker_holds_nothing_but_its_own():
    with a_pool(3) as pool:
        for worker in range(3):
            call(pool, nothing, worker=worker)
        pool.replace(2)
        for worker in range(3):
            found = call(pool, surroundings, worker=worker)['descriptors']
            ours = sorted(target.split(':')[0] for number, target in found.items() if number > 2)
            # Its socket, and how it learns of the end of the parent.
            assert ours.count('socket') == 1
            assert ours.count('anon_inode') == 1
            assert len(ours) <= 5, ours


def info():
    return get_worker_info()


def draw():
    return random.random(), float(numpy.random.rand())


@every_context
def test_workers_know_who_they_are(context):
    assert get_worker_info() is None
    fuel.config.default_seed = 99
    with a_pool(2, context=context) as pool:
        for worker in (0, 1):
            assert call(pool, info, worker=worker) == WorkerInfo(
                worker, 2, worker_seed(99, worker), 'the data set', 'the stream')
    assert get_worker_info() is None


class Bare:
    def run(self, body):
        return Result([get_worker_info()])


def test_a_runner_need_not_have_a_data_set():
    with a_pool(runner=Bare()) as pool:
        pool.submit(0, 0, None)
        found, = event(pool).parcel.steps()
        assert (found.dataset, found.stream) == (None, None)


def test_what_threads_and_processes_are_told():
    seen = []
    announce(WorkerInfo(1, 2, 3))
    try:
        assert get_worker_info().id == 1

        def work():
            seen.append(get_worker_info().id)
            announce_to_thread(WorkerInfo(5, 6, 7))
            seen.append(get_worker_info().id)

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert seen == [1, 5] and get_worker_info().id == 1
    finally:
        announce(None)
    assert get_worker_info() is None


@every_context
def test_global_random_states_differ_and_can_be_had_again(context):
    state, before = random.getstate(), numpy.random.get_state()[1].tolist()

    def drawn(**kwargs):
        with a_pool(2, context=context, **kwargs) as pool:
            found = [call(pool, draw, worker=worker) for worker in (0, 1)]
            pool.replace(1)
            return [*found, call(pool, draw, worker=1)]

    first, again, other = drawn(), drawn(), drawn(generation=1)
    fuel.config.default_seed = 2
    seeded = drawn()
    assert first == again
    every = [number for draws in (first, other, seeded) for pair in draws for number in pair]
    assert len(set(every)) == len(every) == 18
    assert random.getstate() == state and numpy.random.get_state()[1].tolist() == before


def test_seeds_are_all_different():
    seeds = {worker_seed(seed, worker, generation) for seed in (0, 1, 2**32 - 1)
             for worker in range(20) for generation in (0, 1, 1 << 32)}
    assert len(seeds) == 180 and all(0 <= seed < 2**32 for seed in seeds)


def settings():
    return {key: getattr(fuel.config, key) for key in fuel.config.config}


@every_context
def test_settings_of_the_program_hold_in_workers(context, tmp_path):
    fuel.config.data_path = [str(tmp_path)]
    fuel.config.floatX = 'float16'
    fuel.config.chunk_cache_bytes = '30 MiB'
    fuel.config.num_threads = 3
    fuel.config.add_config('of_the_user', lambda value: value * 2, default=4)
    try:
        with a_pool(3, context=context) as pool:
            found = call(pool, settings, worker=2)
    finally:
        del fuel.config.config['of_the_user']
    assert found['data_path'] == [str(tmp_path)] and found['floatX'] == 'float16'
    assert found['chunk_cache_bytes'] == 10 * 2**20
    assert found['num_threads'] == 1
    assert found['of_the_user'] == 8
    assert fuel.config.num_threads == 3


def test_settings_that_were_not_assigned_are_found_again():
    expected = fuel.config.chunk_cache_bytes // 2
    with a_pool(2) as pool:
        assert call(pool, settings)['chunk_cache_bytes'] == expected
