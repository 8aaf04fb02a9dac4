"""A runner for pools that calls what it is given, and what tests of processes need."""
import contextlib
import ctypes
import os
import select
import subprocess
import sys
import threading
import time

from fuel._kernels import BACKEND
from fuel.engine.processes import ProcessPool
from fuel.engine.results import Result

CONTEXTS = [None, 'fork', 'spawn', 'forkserver']
#: Contexts in which a worker ends with its parent even while a library holds the lock.
FREE = CONTEXTS if BACKEND == 'compiled' else [None]
#: Ends every wait in a test that would be one for ever.
LONG = 60


class Caller:
    """Its tasks are tuples of a function and its arguments."""

    dataset = 'the data set'
    stream = 'the stream'

    def run(self, body):
        function, *arguments = body
        return Result([function(*arguments)], None, os.getpid())


@contextlib.contextmanager
def a_pool(num_workers=1, runner=None, **kwargs):
    pool = ProcessPool(Caller() if runner is None else runner, num_workers, **kwargs)
    try:
        yield pool
    finally:
        pool.close()


def event(pool):
    """Return the one thing that happens next."""
    events = pool.wait(LONG)
    assert len(events) == 1, events
    return events[0]


def call(pool, function, *arguments, worker=0):
    """Return what a function returns in a worker, or raise what it raises."""
    pool.submit(worker, 0, (function, *arguments))
    finished = event(pool)
    if finished.error is not None:
        raise finished.error
    step, = finished.parcel.steps()
    return step


def has_ended(pid, seconds):
    """Tell whether a process ends within a time."""
    try:
        descriptor = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        return bool(poll.poll(seconds * 1000))
    finally:
        os.close(descriptor)


def until(condition, seconds=LONG):
    """Wait until something holds that nothing tells of."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, 'it never came to hold'
        threading.Event().wait(0.005)


def descriptors():
    """Return what every open descriptor of this process leads to."""
    found = {}
    for number in os.listdir('/proc/self/fd'):
        with contextlib.suppress(OSError):
            found[int(number)] = os.readlink(f'/proc/self/fd/{number}')
    return found


def children(pid=None):
    """Return the processes that a process has made, and those that they have made."""
    found = []
    waiting = [os.getpid() if pid is None else pid]
    while waiting:
        parent = waiting.pop()
        with contextlib.suppress(OSError):
            for task in os.listdir(f'/proc/{parent}/task'):
                with open(f'/proc/{parent}/task/{task}/children', encoding='ascii') as content:
                    new = [int(number) for number in content.read().split()]
                found += new
                waiting += new
    return found


def run_script(path, text, *arguments, flags=(), **kwargs):
    """Run a program of its own, which must end well; return what it prints."""
    path.write_text(text)
    result = subprocess.run([sys.executable, *flags, str(path), *arguments], capture_output=True,
                            text=True, timeout=LONG, check=False, **kwargs)
    assert result.returncode == 0, result.stderr
    assert not result.stderr, result.stderr
    return result.stdout


# What workers are asked to do.

def nothing():
    return 'nothing'


def echo(value):
    return value


def pid():
    return os.getpid()


def hold_the_lock(seconds):
    """Sleep within the C library, and keep the interpreter lock."""
    while seconds:  # a signal ends it early
        seconds = ctypes.PyDLL(None).sleep(seconds)


def say_and_hold(path):
    """Tell by a file that the task has begun, and do not come back."""
    with open(path, 'w', encoding='utf-8') as file:
        file.write('begun')
    hold_the_lock(1000)


def say_and_sleep(path):
    with open(path, 'w', encoding='utf-8') as file:
        file.write('begun')
    time.sleep(1000)


def crash():
    ctypes.string_at(0)
