"""Pools of processes: tasks, replacements, and what is left of them."""
import gc
import os
import signal
import threading
import time
import weakref

import numpy
import pytest

from fuel._kernels import BACKEND
from fuel.engine.processes import ProcessPool
from fuel.engine.results import Finished, Lost, Result
from fuel.exceptions import WorkerLostError
from tests.engine.toys import (
    CONTEXTS,
    LONG,
    Caller,
    a_pool,
    call,
    children,
    descriptors,
    event,
    has_ended,
    nothing,
    pid,
    run_script,
    say_and_sleep,
    until,
)

every_context = pytest.mark.parametrize('context', CONTEXTS)


@every_context
def test_tasks_are_done_in_order_and_their_data_arrive(context):
    with a_pool(2, context=context) as pool:
        for number in range(20):
            pool.submit(number % 2, number, (numpy.full, (3, 1000), number))
        finished = []
        while len(finished) < 20:
            finished += pool.wait(LONG)
        assert [event.number for event in finished if event.worker == 0] == list(range(0, 20, 2))
        assert [event.number for event in finished if event.worker == 1] == list(range(1, 20, 2))
        for event in finished:
            assert type(event) is Finished
            assert event.error is None and 0 <= event.seconds < LONG
            assert event.extra == pool.pids[event.worker]
            array, = event.parcel.steps()
            assert array.shape == (3, 1000) and (array == event.number).all()
    assert len({os.getpid(), *pool.pids}) == 3


class HalfWay:
    """Fails after some steps."""

    def run(self, body):
        return Result([numpy.arange(body), 'text'], KeyError('and then'), {'a': (1, 2)})


def test_steps_before_an_error_arrive_with_it():
    with a_pool(runner=HalfWay()) as pool:
        pool.submit(0, 5, 4)
        finished = event(pool)
        array, text = finished.parcel.steps()
        assert array.tolist() == [0, 1, 2, 3] and text == 'text'
        assert type(finished.error) is KeyError and finished.error.args == ('and then',)
        assert finished.extra == {'a': (1, 2)}


def test_waiting_ends_with_the_timeout():
    with a_pool() as pool:
        assert call(pool, nothing) == 'nothing'
        assert pool.wait(0) == []
        start = time.monotonic()
        assert pool.wait(0.05) == []
        assert 0.04 <= time.monotonic() - start < LONG
        pool.submit(0, 1, (nothing,))
        assert event(pool).number == 1


def test_giving_tasks_never_blocks():
    with a_pool() as pool:
        process, = pool.pids
        os.kill(process, signal.SIGSTOP)
        body = bytes(10 ** 6)
        for number in range(30):  # far more than the socket takes
            pool.submit(0, number, (len, body))
        os.kill(process, signal.SIGCONT)
        finished = []
        while len(finished) < 30:
            finished += pool.wait(LONG)
        assert [event.number for event in finished] == list(range(30))
        assert all(event.parcel.steps() == [10 ** 6] for event in finished)


def test_large_answers_of_several_workers_do_not_block_each_other():
    with a_pool(2) as pool:
        for worker in (0, 1):
            for number in range(20):
                pool.submit(worker, number, (str.__mul__, 'ab', 10 ** 6))
        finished = []
        while len(finished) < 40:
            finished += pool.wait(LONG)
        assert all(event.parcel.steps() == ['ab' * 10 ** 6] for event in finished)


def test_memory_is_given_back():
    with a_pool() as pool:
        sizes = set()
        for number in range(50):
            pool.submit(0, number, (numpy.full, 10 ** 6, number))
            array, = event(pool).parcel.steps()
            sizes.add(pool.leased)
            assert array[0] == array[-1] == number
            del array
        assert len(sizes) == 1 and min(sizes) >= 8 * 10 ** 6
        assert pool.wait(0) == []
        assert pool.leased == 0


@every_context
def test_a_worker_is_replaced_and_its_arrays_stay(context):
    with a_pool(2, context=context) as pool:
        array = call(pool, numpy.arange, 10 ** 6, worker=1)
        before = pool.pids
        pool.replace(1)
        assert pool.pids[0] == before[0] and pool.pids[1] != before[1]
        assert has_ended(before[1], 0)
        assert pool.leased >= 8 * 10 ** 6
        assert call(pool, pid, worker=1) == pool.pids[1]
        assert call(pool, pid, worker=0) == before[0]
        assert array.tolist() == list(range(10 ** 6))
        del array
        assert pool.leased == 0


def test_a_worker_is_replaced_whatever_it_is_at(tmp_path):
    with a_pool() as pool:
        pool.submit(0, 1, (say_and_sleep, tmp_path / 'begun'))
        until(lambda: (tmp_path / 'begun').exists())
        pool.submit(0, 2, (nothing,))
        pool.replace(0)
        os.kill(pool.pids[0], signal.SIGSTOP)
        pool.replace(0)
        assert call(pool, nothing) == 'nothing'
        assert pool.wait(0) == []


def test_cores_are_chosen():
    cores = sorted(os.sched_getaffinity(0))
    with a_pool(3, cpu_affinity=[cores[0], cores[-1:]]) as pool:
        for worker, expected in enumerate(([cores[0]], [cores[-1]], [cores[0]])):
            assert call(pool, os.sched_getaffinity, 0, worker=worker) == set(expected)
    with a_pool() as pool:
        assert call(pool, os.sched_getaffinity, 0) == set(cores)


def test_wrong_arguments_are_refused():
    for affinity in ([], [[]], [10 ** 6], [[0], [-1]], 'all', 7, [None], [[0, 'b']]):
        with pytest.raises(ValueError, match='expected cpu_affinity to name cores'):
            ProcessPool(Caller(), 1, cpu_affinity=affinity)
    with pytest.raises(ValueError, match='at least 1; got 0'):
        ProcessPool(Caller(), 0)
    with pytest.raises(ValueError, match="'spawn'.* got 'spoon'"):
        ProcessPool(Caller(), 1, context='spoon')
    with pytest.raises(ValueError, match='got 7'):
        ProcessPool(Caller(), 1, context=7)
    with pytest.raises(MemoryError, match='region'):
        ProcessPool(Caller(), 1, region_bytes=1 << 62)


# What is left.

def nothing_left(before):
    """Check that all is as it was, but for what `multiprocessing` keeps for itself."""
    until(lambda: not set(children()) - before[0], 2)
    gc.collect()
    assert {number: target for number, target in descriptors().items()
            if before[1].get(number) != target
            # A mapping in Python has a descriptor of its own until it is collected.
            and (BACKEND == 'compiled' or not target.startswith('/memfd:fuel '))} == {}
    assert threading.active_count() == before[2]


def now():
    gc.collect()
    return set(children()), descriptors(), threading.active_count()


@pytest.fixture(scope='module', autouse=True)
def _servers_of_multiprocessing():
    """Let `multiprocessing` start the processes that it keeps, before anything is counted."""
    for context in ('spawn', 'forkserver'):
        with a_pool(context=context) as pool:
            call(pool, nothing)


@every_context
def test_nothing_is_left_when_a_pool_is_closed(context):
    before = now()
    with a_pool(3, context=context) as pool:
        call(pool, nothing, worker=1)
        pool.replace(2)
    nothing_left(before)
    pool.close()
    nothing_left(before)


@every_context
def test_nothing_is_left_when_a_pool_is_collected(context):
    before = now()
    pool = ProcessPool(Caller(), 2, context=context)
    call(pool, nothing)
    reference = weakref.ref(pool)
    del pool
    gc.collect()
    assert reference() is None
    nothing_left(before)


@every_context
def test_nothing_is_left_when_a_pool_is_closed_at_once(context):
    before = now()
    for _ in range(3):
        ProcessPool(Caller(), 2, context=context).close()
    nothing_left(before)


@pytest.mark.parametrize('stopped', [False, True])
def test_closing_does_not_wait_for_a_worker_that_is_stuck(stopped, tmp_path):
    before = now()
    pool = ProcessPool(Caller(), 2)
    for worker in (0, 1):
        path = tmp_path / str(worker)
        pool.submit(worker, 0, (say_and_sleep, path))
        until(path.exists)
    if stopped:
        for process in pool.pids:
            os.kill(process, signal.SIGSTOP)
    start = time.monotonic()
    pool.close()
    assert time.monotonic() - start < 1
    nothing_left(before)


def finish(path, other):
    """Say that the step has begun, wait for the answer, and say that it is done."""
    path.touch()
    until(other.exists)
    (path.parent / 'done').touch()


def test_closing_lets_a_step_end(tmp_path):
    pool = ProcessPool(Caller(), 1)
    pool.submit(0, 0, (finish, tmp_path / 'begun', tmp_path / 'go on'))
    until((tmp_path / 'begun').exists)
    thread = threading.Timer(0.05, (tmp_path / 'go on').touch)
    thread.start()
    pool.close()
    thread.join()
    assert (tmp_path / 'done').exists()


def test_tasks_that_wait_are_not_begun_when_a_pool_is_closed(tmp_path):
    pool = ProcessPool(Caller(), 1)
    pool.submit(0, 0, (finish, tmp_path / 'begun', tmp_path / 'go on'))
    pool.submit(0, 1, (os.mkdir, tmp_path / 'not this'))
    until((tmp_path / 'begun').exists)
    thread = threading.Timer(0.05, (tmp_path / 'go on').touch)
    thread.start()
    pool.close()
    thread.join()
    assert (tmp_path / 'done').exists() and not (tmp_path / 'not this').exists()


def test_a_thread_that_waits_is_told_of_the_end():
    pool = ProcessPool(Caller(), 1)
    call(pool, nothing)
    problems = []

    def wait():
        try:
            pool.wait(LONG)
        except Exception as problem:
            problems.append(problem)

    thread = threading.Thread(target=wait)
    thread.start()
    pool.close()
    thread.join(5)
    assert not thread.is_alive()
    assert [type(problem) for problem in problems] == [RuntimeError]


def test_a_closed_pool_says_so_and_its_arrays_stay():
    pool = ProcessPool(Caller(), 1)
    array = call(pool, numpy.arange, 10 ** 5)
    pool.close()
    for use in (lambda: pool.submit(0, 0, (nothing,)), lambda: pool.wait(1),
                lambda: pool.stack_of(0), lambda: pool.replace(0)):
        with pytest.raises(RuntimeError, match='closed'):
            use()
    array += 1
    assert array.tolist() == list(range(1, 10 ** 5 + 1))


def test_workers_that_have_ended_take_no_tasks():
    with a_pool() as pool:
        pool.submit(0, 0, (os._exit, 3))
        assert type(event(pool)) is Lost
        with pytest.raises(WorkerLostError, match='worker 0 .* has ended'):
            pool.submit(0, 1, (nothing,))
        with pytest.raises(WorkerLostError, match='all workers have ended'):
            pool.wait(None)
        assert pool.stack_of(0) == 'it has ended'
        pool.replace(0)
        assert call(pool, nothing) == 'nothing'


FORK = '''
import gc, os, sys
from fuel.engine.processes import ProcessPool
from tests.engine.toys import Caller, call, descriptors, nothing, pid
pool = ProcessPool(Caller(), 2, context=eval(sys.argv[1]))
call(pool, nothing)
before = descriptors()
child = os.fork()
if not child:
    try:
        left = {number for number, target in descriptors().items()
                if 'socket' in target or 'pidfd' in target}
        assert not left & set(before) - set(eval(sys.argv[2])), left
        for use in (lambda: pool.submit(0, 0, (nothing,)), lambda: pool.wait(1)):
            try:
                use()
            except RuntimeError as error:
                assert 'fork' in str(error)
            else:
                os._exit(1)
        pool.close()
        del pool
        gc.collect()
        pool = ProcessPool(Caller(), 1)
        assert call(pool, nothing) == 'nothing'
    except BaseException:
        sys.excepthook(*sys.exc_info())
        os._exit(1)
    sys.exit(0)
assert os.waitpid(child, 0)[1] == 0
assert call(pool, pid, worker=1) == pool.pids[1]
print('unharmed')
'''


@pytest.mark.parametrize('context', [None, 'fork'])
def test_a_fork_does_not_touch_the_workers_of_its_parent(context, tmp_path):
    program = tmp_path / 'fork.py'
    assert run_script(program, FORK, repr(context), '()', cwd=os.getcwd(),
                      env={**os.environ, 'PYTHONPATH': os.getcwd()}) == 'unharmed\n'


ENDS = '''
import sys
from fuel.engine.processes import ProcessPool
from tests.engine.toys import Caller, call, children, nothing
if __name__ == '__main__':
    pool = ProcessPool(Caller(), 2, context=eval(sys.argv[1]))
    call(pool, nothing)
    kept = [pool]
    print(*children())
'''


@every_context
def test_nothing_is_left_when_the_program_ends(context, tmp_path):
    printed = run_script(tmp_path / 'ends.py', ENDS, repr(context),
                         env={**os.environ, 'PYTHONPATH': os.getcwd()})
    assert len(printed.split()) >= 2
    for process in printed.split():
        assert has_ended(int(process), 2)
