"""Workers that are killed, stuck, or left alone: nothing hangs, and all of it has words."""
import os
import re
import signal
import subprocess
import sys
import time

import pytest

from fuel._kernels import BACKEND
from fuel.engine.processes import ProcessPool
from fuel.engine.results import Lost
from tests.engine.toys import (
    CONTEXTS,
    FREE,
    LONG,
    Caller,
    a_pool,
    call,
    children,
    crash,
    event,
    has_ended,
    nothing,
    pid,
    say_and_hold,
    say_and_sleep,
    until,
)

every_context = pytest.mark.parametrize('context', CONTEXTS)


def end_by(number):
    os.kill(os.getpid(), number)


ENDS = [
    ((os._exit, 3), 'ended with exit code 3'),
    ((os._exit, 0), 'ended with exit code 0'),
    ((end_by, signal.SIGTERM), r'was killed by signal 15 \(SIGTERM\)'),
    ((end_by, signal.SIGKILL), r'was killed by signal 9 \(SIGKILL\), perhaps because memory ran'),
    ((end_by, signal.SIGRTMIN + 3), f'was killed by signal {signal.SIGRTMIN + 3}'),
]


@pytest.mark.parametrize('context', [None, 'fork'])
@pytest.mark.parametrize(('task', 'reason'), ENDS)
def test_how_a_worker_ended_is_told(context, task, reason):
    with a_pool(2, context=context) as pool:
        process = pool.pids[1]
        pool.submit(1, 0, (nothing,))
        pool.submit(1, 1, task)
        pool.submit(1, 2, (nothing,))
        events = []
        while not any(type(event) is Lost for event in events):
            events += pool.wait(LONG)
        finished, lost = events  # what was done before comes before, and nothing comes after
        assert finished.number == 0
        assert (lost.worker, lost.pid, lost.was_ready) == (1, process, True)
        assert re.match(reason, lost.reason)
        assert call(pool, nothing, worker=0) == 'nothing'


def test_a_crash_says_where_it_was():
    with a_pool() as pool:
        pool.submit(0, 0, (crash,))
        lost = event(pool)
        assert lost.reason == ('was killed by signal 11 (SIGSEGV), so compiled code that it '
                               'called is at fault')
        assert lost.details.startswith('\nFatal Python error: Segmentation fault')
        assert 'in crash' in lost.details and 'toys.py' in lost.details
        assert 'Extension modules' not in lost.details


@every_context
def test_a_worker_killed_from_outside_is_missed_at_once(context):
    with a_pool(2, context=context) as pool:
        call(pool, nothing)
        os.kill(pool.pids[0], signal.SIGKILL)
        start = time.monotonic()
        lost = event(pool)
        assert time.monotonic() - start < 1
        assert lost.worker == 0 and 'SIGKILL' in lost.reason


def leave_a_child():
    child = os.fork()
    if not child:
        signal.pause()
    return child


def test_a_worker_killed_while_a_child_of_it_holds_its_socket_is_missed():
    with a_pool() as pool:
        child = call(pool, leave_a_child)
        try:
            os.kill(pool.pids[0], signal.SIGKILL)
            start = time.monotonic()
            assert 'SIGKILL' in event(pool).reason
            assert time.monotonic() - start < 1
        finally:
            os.kill(child, signal.SIGKILL)


@every_context
def test_a_terminated_worker_says_nothing(context, capfd):
    with a_pool(context=context) as pool:
        call(pool, nothing)
        os.kill(pool.pids[0], signal.SIGTERM)
        assert event(pool).reason == 'was killed by signal 15 (SIGTERM)'
    assert capfd.readouterr() == ('', '')


@every_context
def test_a_worker_killed_before_it_is_ready(context):
    with a_pool(context=context) as pool:
        os.kill(pool.pids[0], signal.SIGKILL)
        pool.submit(0, 0, (nothing,))
        lost = event(pool)
        assert type(lost) is Lost
        if not lost.was_ready:
            assert 'before it was ready to work' in lost.reason
        pool.replace(0)
        assert call(pool, nothing) == 'nothing'


@pytest.fixture
def others():
    """Processes that `multiprocessing` keeps."""
    return set(children())


def nest_of(pool, others):
    """Return the process that forks the workers."""
    nest, = set(children()) - set(pool.pids) - others
    return nest


def test_workers_go_on_without_the_process_that_made_them(others):
    with a_pool(2) as pool:
        call(pool, nothing)
        nest = nest_of(pool, others)
        os.kill(nest, signal.SIGKILL)
        assert call(pool, pid, worker=1) == pool.pids[1]
        os.kill(pool.pids[0], signal.SIGKILL)
        lost = event(pool)
        assert lost.reason == 'ended in a way that is not known'
        pool.replace(0)
        assert call(pool, pid, worker=0) == pool.pids[0]
        pool.replace(1)
        assert nest_of(pool, others) != nest
        call(pool, nothing, worker=1)


def test_the_process_that_makes_workers_is_killed_before_it_did(others):
    with a_pool(2) as pool:
        nest, = set(children()) - others
        os.kill(nest, signal.SIGKILL)
        lost = []
        while len(lost) < 2:
            lost += pool.wait(LONG)
        for one in lost:
            assert not one.was_ready
            assert one.reason.endswith(' before it was ready to work')
            assert one.details == '\nwhat starts the workers has ended'
        pool.replace(0)
        pool.replace(1)
        assert call(pool, nothing, worker=1) == 'nothing'


def test_the_process_that_makes_workers_is_stopped(others):
    pool = ProcessPool(Caller(), 2)
    nest, = set(children()) - others
    os.kill(nest, signal.SIGSTOP)
    pool.submit(0, 0, (nothing,))
    assert pool.wait(0.05) == []
    start = time.monotonic()
    pool.close()
    assert time.monotonic() - start < 1.5
    until(lambda: not set(children()) - others, 2)


@pytest.mark.parametrize('idle', [True, False])
def test_everything_is_stopped(idle, others, tmp_path):
    pool = ProcessPool(Caller(), 3)
    for worker in range(3):
        call(pool, nothing, worker=worker)
        if not idle:
            path = tmp_path / str(worker)
            pool.submit(worker, 0, (say_and_sleep, path))
            until(path.exists)
    for process in set(children()) - others:
        os.kill(process, signal.SIGSTOP)
    start = time.monotonic()
    pool.close()
    assert time.monotonic() - start < 1
    until(lambda: not set(children()) - others, 2)


# Stuck workers.

@every_context
def test_a_stuck_worker_shows_where_it_is(context, tmp_path):
    with a_pool(context=context) as pool:
        for task in (say_and_sleep, say_and_hold):  # the second holds the interpreter lock
            path = tmp_path / task.__name__
            pool.submit(0, 0, (task, path))
            until(path.exists)
            for _ in range(2):
                stack = pool.stack_of(0)
                assert f'in {task.__name__}' in stack and 'toys.py' in stack
                assert stack.count('most recent call first') == 1 or BACKEND == 'python'
            pool.replace(0)
        call(pool, nothing)
        until(lambda: 'in receive' in pool.stack_of(0))


def test_a_stopped_worker_is_told_from_a_stuck_one():
    with a_pool() as pool:
        call(pool, nothing)
        os.kill(pool.pids[0], signal.SIGSTOP)
        assert 'was stopped by a signal' in pool.stack_of(0)
        os.kill(pool.pids[0], signal.SIGCONT)
        assert call(pool, nothing) == 'nothing'


def test_a_worker_that_starts_is_asked_for_its_stack():
    with a_pool() as pool:
        stack = pool.stack_of(0)
        assert 'it is still starting' in stack or 'most recent call first' in stack
        assert call(pool, nothing) == 'nothing'


# Workers whose parent is gone.

@every_context
def test_workers_whose_parent_is_there_stay(context):
    with a_pool(context=context) as pool:
        process = call(pool, pid)
        assert pool.wait(1.3) == []  # longer than they had if they took it for gone
        assert call(pool, pid) == process


PARENT = '''
import os, sys
if 'plain' in sys.argv:
    del os.pidfd_open
from fuel.engine.processes import ProcessPool
from tests.engine import toys
if __name__ == '__main__':
    context, task = eval(sys.argv[1]), sys.argv[2]
    pool = ProcessPool(toys.Caller(), 2, context=context)
    toys.call(pool, toys.nothing, worker=1)
    paths = [os.path.join(sys.argv[3], str(worker)) for worker in (0, 1)]
    for worker, path in enumerate(paths):
        if task != 'idle':
            pool.submit(worker, 0, (getattr(toys, task), path))
            toys.until(lambda: os.path.exists(path))
    child = os.fork() if 'fork' in sys.argv else 1
    if not child:
        import signal
        signal.pause()
    print(child, *toys.children(), flush=True)
    pool.wait(None)
'''


def environment():
    return {**os.environ, 'PYTHONPATH': os.getcwd()}


@pytest.mark.parametrize(('context', 'task'), [
    (None, 'idle'), (None, 'say_and_sleep'),
    *((context, 'say_and_hold') for context in FREE)])
def test_workers_end_when_their_parent_is_killed(context, task, tmp_path):
    with subprocess.Popen([sys.executable, '-c', PARENT, repr(context), task, str(tmp_path)],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=environment()) as parent:
        _, *workers = map(int, parent.stdout.readline().split())
        assert len(workers) >= 2
        parent.kill()
        killed = time.monotonic()
        assert all(has_ended(worker, 5) for worker in workers)
        assert time.monotonic() - killed < 2
        assert parent.stderr.read() == ''


def test_workers_end_also_if_a_fork_of_their_parent_lives_on(tmp_path):
    with subprocess.Popen([sys.executable, '-c', PARENT, 'None', 'say_and_hold', str(tmp_path),
                           'fork'], stdout=subprocess.PIPE, text=True,
                          env=environment()) as parent:
        child, *others = map(int, parent.stdout.readline().split())
        try:
            parent.kill()
            killed = time.monotonic()
            assert all(has_ended(other, 5) for other in others if other != child)
            assert time.monotonic() - killed < 2
            assert not has_ended(child, 0)
        finally:
            os.kill(child, signal.SIGKILL)


@pytest.mark.parametrize('task', ['idle', 'say_and_hold' if BACKEND == 'compiled' else
                                  'say_and_sleep'])
def test_workers_end_also_where_processes_have_no_descriptors(task, tmp_path):
    with subprocess.Popen([sys.executable, '-c', PARENT, 'None', task, str(tmp_path), 'plain'],
                          stdout=subprocess.PIPE, text=True, env=environment()) as parent:
        _, *workers = map(int, parent.stdout.readline().split())
        assert len(workers) == 2
        parent.kill()
        killed = time.monotonic()
        assert all(has_ended(worker, 5) for worker in workers)
        assert time.monotonic() - killed < 2


CTRL_C = '''
import sys
from fuel.engine.processes import ProcessPool
from tests.engine import toys
if __name__ == '__main__':
    pool = ProcessPool(toys.Caller(), 2, context=eval(sys.argv[1]))
    if sys.argv[2] != 'starting':
        toys.call(pool, toys.nothing, worker=1)
    pool.submit(0, 0, (toys.say_and_sleep, sys.argv[3]))
    if sys.argv[2] == 'working':
        toys.until(lambda: toys.os.path.exists(sys.argv[3]))
    print(*toys.children(), flush=True)
    pool.wait(None)
    print('not reached')
'''


@pytest.mark.parametrize(('context', 'moment'), [
    (None, 'starting'), (None, 'ready'), ('spawn', 'starting'),
    *((context, 'working') for context in CONTEXTS)])
def test_ctrl_c_prints_one_traceback_and_leaves_nothing(context, moment, tmp_path):
    # As a terminal does, the signal is sent to the whole group.
    with subprocess.Popen([sys.executable, '-c', CTRL_C, repr(context), moment,
                           str(tmp_path / 'begun')], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, env=environment(),
                          process_group=0) as program:
        processes = [int(number) for number in program.stdout.readline().split()]
        os.killpg(program.pid, signal.SIGINT)
        output, errors = program.communicate(timeout=LONG)
    assert program.returncode == -signal.SIGINT
    assert output == ''
    assert errors.count('Traceback') == 1
    assert errors.rstrip().endswith('KeyboardInterrupt')
    assert processes
    assert all(has_ended(process, 2) for process in processes)
