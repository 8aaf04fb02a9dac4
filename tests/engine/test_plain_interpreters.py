"""Workers where the system has no descriptors of processes, so that each is an interpreter."""
import errno
import os
import signal
import time

import pytest

from fuel.engine import fresh
from fuel.engine.processes import ProcessPool
from fuel.engine.results import Lost
from tests.engine.toys import (
    LONG,
    Caller,
    a_pool,
    call,
    children,
    crash,
    event,
    nothing,
    pid,
    say_and_hold,
    until,
)


@pytest.fixture(autouse=True)
def _no_descriptors(monkeypatch):
    def refuse(*_):
        raise OSError(errno.ENOSYS, 'no such call')

    monkeypatch.setattr(os, 'pidfd_open', refuse)
    fresh.has_nests.cache_clear()
    yield
    fresh.has_nests.cache_clear()


@pytest.fixture
def others():
    return set(children())


def test_tasks_and_replacements(others):
    with a_pool(2) as pool:
        assert set(children()) - others == set(pool.pids)
        for worker in (0, 1):
            assert call(pool, pid, worker=worker) == pool.pids[worker]
        before = pool.pids
        pool.replace(1)
        assert call(pool, pid, worker=1) == pool.pids[1] != before[1]
        assert pool.wait(1.3) == []
        assert call(pool, pid, worker=0) == before[0]
    assert set(children()) == others


@pytest.mark.parametrize(('task', 'reason'), [
    ((os._exit, 5), 'ended with exit code 5'),
    ((crash,), 'was killed by signal 11 (SIGSEGV), so compiled code that it called is at fault')])
def test_ends(task, reason):
    with a_pool(2) as pool:
        pool.submit(1, 0, task)
        lost = event(pool)
        assert type(lost) is Lost and lost.reason == reason
        assert call(pool, nothing) == 'nothing'


def test_a_worker_killed_from_outside_is_missed():
    with a_pool(2) as pool:
        call(pool, nothing)
        os.kill(pool.pids[0], signal.SIGKILL)
        start = time.monotonic()
        assert 'SIGKILL' in event(pool).reason
        assert time.monotonic() - start < 1


def test_closing_is_bounded(others, tmp_path):
    pool = ProcessPool(Caller(), 1)
    pool.submit(0, 0, (say_and_hold, tmp_path / 'begun'))
    until((tmp_path / 'begun').exists)
    assert 'in say_and_hold' in pool.stack_of(0)
    start = time.monotonic()
    pool.close()
    assert time.monotonic() - start < 1
    assert set(children()) == others


def test_an_interpreter_that_cannot_import_says_why(monkeypatch, capfd):
    monkeypatch.setattr('sys.path', [])
    with a_pool() as pool:
        lost, = pool.wait(LONG)
        assert lost.reason == 'ended with exit code 1 before it was ready to work'
        assert 'No module named' in lost.details
    assert capfd.readouterr() == ('', '')
