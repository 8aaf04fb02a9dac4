"""How workers begin: the hook of the user, what cannot be sent, and scripts without a guard."""
import os
import random
import sys
import threading

import pytest

from fuel.engine.info import get_worker_info
from fuel.engine.processes import ProcessPool
from fuel.engine.results import Lost, Result
from tests.engine.toys import (
    CONTEXTS,
    LONG,
    Caller,
    a_pool,
    call,
    event,
    nothing,
    run_script,
    until,
)

every_context = pytest.mark.parametrize('context', CONTEXTS)

started = []


def remember(worker):
    started.append((worker, get_worker_info().id, random.random()))
    random.seed(5)


def remembered():
    return started, random.random()


@every_context
def test_worker_init_fn_is_called_once_with_the_number(context):
    with a_pool(2, context=context, worker_init_fn=remember) as pool:
        for worker in (0, 1, 1):
            (entry,), number = call(pool, remembered, worker=worker)
            assert entry[:2] == (worker, worker)
            assert entry[2] != number
    assert started == []


def fail(worker):
    error = LookupError(f'no database for {worker}')
    error.source_name = 'features'
    raise error


@every_context
def test_an_error_at_the_start_comes_with_the_first_task(context):
    with a_pool(2, context=context, worker_init_fn=fail) as pool:
        for _ in range(2):
            with pytest.raises(LookupError, match='no database for 1') as caught:
                call(pool, nothing, worker=1)
            assert caught.value.source_name == 'features'
            assert 'in fail' in str(caught.value.__cause__)


def refuse():
    raise ImportError('not in a worker')


class NotThere:
    def __reduce__(self):
        return refuse, ()


def test_a_runner_that_cannot_be_loaded():
    with a_pool(runner=NotThere()) as pool, pytest.raises(ImportError, match='not in a worker'):
        call(pool, nothing)


def test_a_runner_that_cannot_be_sent_leaves_nothing():
    runner = Caller()
    runner.lock = threading.Lock()
    with pytest.raises(TypeError, match=r'Caller\.lock cannot be sent to worker processes'):
        ProcessPool(runner, 2)
    with pytest.raises(TypeError, match=r"worker_init_fn \(its variable 'runner'\)\.lock cannot"):
        ProcessPool(Caller(), 2, worker_init_fn=lambda worker: runner)
    with a_pool(context='fork', runner=runner) as pool:  # it need not be sent
        assert call(pool, nothing) == 'nothing'


def test_a_task_that_cannot_be_sent_is_refused_at_once():
    with a_pool() as pool:
        with pytest.raises(TypeError, match='lock'):
            pool.submit(0, 1, (nothing, threading.Lock()))
        assert call(pool, nothing) == 'nothing'


def give_lock():
    return threading.Lock()


class ExtraLock:
    def run(self, body):
        return Result([1], None, threading.Lock())


def test_what_cannot_be_sent_back_is_an_error():
    with a_pool() as pool:
        with pytest.raises(TypeError, match='lock'):
            call(pool, give_lock)
        assert call(pool, nothing) == 'nothing'
    with a_pool(runner=ExtraLock()) as pool:
        pool.submit(0, 0, None)
        finished = event(pool)
        assert type(finished.error) is TypeError and finished.parcel.steps() == []


@pytest.mark.parametrize('path', [[], [os.path.dirname(os.__file__)]])
def test_an_interpreter_that_cannot_import_says_why(path, monkeypatch, capfd):
    monkeypatch.setattr(sys, 'path', path)
    with a_pool(2) as pool:
        lost = []
        while len(lost) < 2:
            lost += pool.wait(LONG)
        for one in lost:
            assert type(one) is Lost and not one.was_ready
            assert one.reason.endswith('before it was ready to work')
            assert 'No module named' in one.details
    assert capfd.readouterr() == ('', '')


def test_no_interpreter_to_start(monkeypatch):
    monkeypatch.setattr(sys, 'frozen', True, raising=False)
    with pytest.raises(RuntimeError, match='part of another program'):
        ProcessPool(Caller(), 1)
    monkeypatch.delattr(sys, 'frozen')
    monkeypatch.setattr(sys, 'executable', '')
    with pytest.raises(RuntimeError, match='assign sys.executable'):
        ProcessPool(Caller(), 1)
    monkeypatch.setattr(sys, 'executable', '/nowhere/python')
    with pytest.raises(FileNotFoundError, match='/nowhere/python'):
        ProcessPool(Caller(), 1)


@pytest.mark.parametrize('exception', [SystemExit(3), KeyboardInterrupt('mine'), GeneratorExit()])
def test_errors_that_end_programs_end_no_worker(exception):
    def leave():
        raise exception

    with a_pool() as pool:
        process, = pool.pids
        with pytest.raises(type(exception)):
            call(pool, leave)
        assert call(pool, os.getpid) == process


def test_a_library_that_ends_with_the_program_is_told_of_the_end(tmp_path):
    def register():
        import atexit
        atexit.register((tmp_path / 'ended').touch)
        sys.stdout.write('')

    with a_pool() as pool:
        call(pool, register)
    until((tmp_path / 'ended').exists, 1)


def use_a_pool():
    with a_pool() as pool:
        return call(pool, os.getppid), os.getpid()


def test_workers_may_have_workers():
    with a_pool() as pool:
        assert call(pool, use_a_pool)[1] == pool.pids[0]


SCRIPT = '''
import functools, os, threading
import numpy
from fuel.engine.processes import ProcessPool
from fuel.engine.results import Result

print('the script runs')
offset = 5

class Mistake(Exception):
    def __init__(self, text, number):
        super().__init__(text, number)
        self.number = number

class Point:
    def __init__(self, x):
        self.x = x
    def moved(self):
        return Point(self.x + offset)

def fails():
    raise Mistake('of the script', 7)

def closure(n):
    return lambda: n + offset

class Runner:
    def run(self, body):
        return Result([body()], extra=Point(1))

pool = ProcessPool(Runner(), 2, worker_init_fn=lambda worker: None)
tasks = [closure(3), Point(2).moved, functools.partial(numpy.full, 10 ** 5, offset),
         lambda: [Point(i) for i in range(3)], os.getpid]
answers = []
for number, task in enumerate(tasks):
    pool.submit(number % 2, number, task)
    finished, = pool.wait(60)
    assert finished.error is None, finished.error
    assert type(finished.extra) is Point and finished.extra.x == 1
    answers += finished.parcel.steps()
assert answers[0] == 8
assert type(answers[1]) is Point and answers[1].x == 7
assert answers[2].sum() == 5 * 10 ** 5
assert [type(point) for point in answers[3]] == [Point] * 3
assert answers[4] in pool.pids
pool.submit(0, 9, fails)
finished, = pool.wait(60)
try:
    raise finished.error
except Mistake as error:
    assert error.args == ('of the script', 7) and error.number == 7
    shown = str(error.__cause__)
    assert "raise Mistake('of the script', 7)" in shown or HAS_NO_FILE, shown
    print('its own error')
'''


@pytest.mark.parametrize('way', ['file', 'text', 'input'])
def test_a_plain_script_needs_no_guard(way, tmp_path):
    script = SCRIPT.replace('HAS_NO_FILE', repr(way != 'file'))
    environment = {**os.environ, 'PYTHONPATH': os.getcwd()}
    path = tmp_path / 'script.py'
    if way == 'file':
        printed = run_script(path, script, env=environment, flags=['-W', 'error'])
    elif way == 'text':
        printed = run_script(path, '', flags=['-c', script], env=environment)
    else:
        printed = run_script(path, '', flags=['-'], input=script, env=environment)
    assert printed == 'the script runs\nits own error\n'
