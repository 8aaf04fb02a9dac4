"""A process that ends when nobody is left to work for, in C and in Python."""
import os
import signal
import socket
import time

import pytest

from fuel import _kernels
from fuel._kernels.reference import lifeline as reference
from tests.engine.toys import has_ended, hold_the_lock

both = pytest.mark.parametrize('end_with', [_kernels.end_with, reference.end_with],
                               ids=['compiled', 'python'])


def a_child(end_with, parent, grace=0.0, work=signal.pause, sockets=None):
    """Return the number of a process with a lifeline, and the other end of it."""
    mine, others = sockets or socket.socketpair()
    begun, told = os.pipe()
    child = os.fork()
    if not child:
        try:
            mine.close()
            end_with(others.fileno(), parent, grace)
            os.write(told, b'1')
            work()
        finally:
            os._exit(3)
    others.close()
    os.close(told)
    os.read(begun, 1)
    os.close(begun)
    return child, mine


def how_it_ended(child, seconds=5):
    assert has_ended(child, seconds)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


@both
@pytest.mark.parametrize('has_descriptor', [True, False])
def test_it_ends_when_the_other_side_hangs_up(end_with, has_descriptor):
    parent = os.pidfd_open(os.getpid()) if has_descriptor else -1
    child, line = a_child(end_with, parent)
    try:
        line.sendall(b'a message is no end')
        assert not has_ended(child, 0.6)  # longer than it takes to look for the parent
        line.close()
        assert how_it_ended(child) == -signal.SIGKILL
    finally:
        if has_descriptor:
            os.close(parent)


@both
def test_it_ends_when_the_parent_has_ended(end_with):
    other = os.fork()
    if not other:
        signal.pause()
    parent = os.pidfd_open(other)
    child, line = a_child(end_with, parent)
    with line:
        assert not has_ended(child, 0.05)
        os.kill(other, signal.SIGKILL)
        os.waitpid(other, 0)
        assert how_it_ended(child) == -signal.SIGKILL
    os.close(parent)


@both
def test_it_ends_when_it_has_another_parent(end_with):
    told, tell = os.pipe()
    line, others = socket.socketpair()  # both stay open here
    middle = os.fork()
    if not middle:
        child, _ = a_child(end_with, -1, sockets=(line, others))
        os.write(tell, str(child).encode())
        signal.pause()
    os.close(tell)
    child = int(os.read(told, 20))
    os.close(told)
    with line, others:
        assert not has_ended(child, 0.6)
        os.kill(middle, signal.SIGKILL)
        os.waitpid(middle, 0)
        assert has_ended(child, 5)


@both
def test_it_may_end_by_itself_before(end_with):
    child, line = a_child(end_with, -1, 60.0)
    line.close()
    assert not has_ended(child, 0.05)
    os.kill(child, signal.SIGTERM)
    assert how_it_ended(child) == -signal.SIGTERM


def test_a_library_that_holds_the_lock_is_no_hindrance():
    if _kernels.BACKEND == 'python':
        return
    child, line = a_child(_kernels.end_with, -1, 0.05, lambda: hold_the_lock(1000))
    line.close()
    start = time.monotonic()
    assert how_it_ended(child) == -signal.SIGKILL
    assert time.monotonic() - start < 2
