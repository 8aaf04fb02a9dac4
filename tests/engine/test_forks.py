"""Children made by fork, which look at shared memory that their parent has given back."""
import errno
import os
import subprocess
import sys
import threading

import numpy
import pytest

from fuel import _kernels
from fuel.engine import forks as module
from fuel.engine.forks import children
from fuel.engine.parcels import Inbox, Outbox
from fuel.engine.region import Region
from tests.storage.shared_memory import open_files

LENT = _kernels.BACKEND == 'compiled'
SIZE = 100_000


@pytest.fixture(autouse=True)
def no_file_left():
    before = open_files()
    yield
    assert not children.living()
    # The region of a test is still there; mappings of older Pythons keep a descriptor.
    assert open_files() <= before + (not LENT and sys.version_info < (3, 13))


@pytest.fixture
def sides():
    region = Region.create(1 << 26)
    outbox, inbox = Outbox(region), Inbox(region)
    region.close()
    return outbox, inbox


class Child:
    """A child that waits until it is told to go on."""

    def __init__(self, then=lambda: None):
        reading, self.writing = os.pipe()
        self.pid = os.fork()
        if not self.pid:
            code = 1
            try:
                os.close(self.writing)
                os.read(reading, 1)
                code = then() or 0
            finally:
                os._exit(code)
        os.close(reading)

    def end(self):
        os.write(self.writing, b'x')                # children that came later have this end too
        os.close(self.writing)
        return os.waitpid(self.pid, 0)[1] >> 8


def lent(sides, value=1):
    outbox, inbox = sides
    return inbox.open(outbox.pack([(numpy.full(SIZE, value, 'u1'),)])).steps()[0][0]


def give_back(sides):
    outbox, inbox = sides
    numbers = inbox.released()
    outbox.release(numbers)
    return numbers


def test_child_keeps_what_it_sees(sides):
    held = [lent(sides, 3)]
    child = Child(lambda: 0 if (held[0] == 3).all() else 5)
    held.clear()
    assert (give_back(sides), sides[1].leased) == ([], 0)
    others = [lent(sides, 4) for _ in range(5)]
    assert child.end() == 0
    assert give_back(sides) == [0]
    del others
    assert sorted(give_back(sides)) == [1, 2, 3, 4, 5]


def test_what_came_after_the_fork_is_given_back_at_once(sides):
    before = lent(sides)
    child = Child()
    after = lent(sides)
    del after
    assert give_back(sides) == [1]
    second = Child()
    del before
    assert give_back(sides) == []
    assert child.end() == 0
    assert give_back(sides) == []
    assert second.end() == 0
    assert give_back(sides) == [0]


def test_short_children_beside_a_long_one(sides):
    forever = lent(sides)
    old = Child()
    for _ in range(5):
        array = lent(sides)
        short = Child()
        del array
        assert give_back(sides) == []
        assert short.end() == 0
        assert len(give_back(sides)) == 1
    del forever
    assert give_back(sides) == []
    assert old.end() == 0
    assert give_back(sides) == [0]


def test_grandchildren_see_it_too(sides):
    array = lent(sides)
    reading, writing = os.pipe()

    def leave_a_child():
        if not os.fork():
            os.close(writing)
            os.read(reading, 1)
        return 0

    child = Child(leave_a_child)
    del array
    assert child.end() == 0
    os.close(reading)
    assert give_back(sides) == []
    os.close(writing)                               # which nobody else has any more
    while children.living():
        pass
    assert give_back(sides) == [0]


def test_other_programs_see_nothing(sides):
    array = lent(sides)
    child = Child(lambda: os.execv(sys.executable, [sys.executable, '-c', 'input()']))
    os.write(child.writing, b'x')
    os.close(child.writing)
    while children.living():
        pass
    del array
    assert give_back(sides) == [0]
    os.waitpid(child.pid, 0)


def test_programs_that_are_started_cost_nothing(sides):
    array = lent(sides)
    count = children.count
    subprocess.run([sys.executable, '-c', ''], check=True)
    assert children.count == count
    subprocess.run([sys.executable, '-c', ''], check=True, preexec_fn=lambda: None)
    del array
    assert not children.living()
    assert give_back(sides) == [0]


def test_nothing_lent_costs_nothing(sides):
    count, files = children.count, open_files()
    del sides
    child = Child()
    assert (children.count, open_files()) == (count, files + 1)
    assert child.end() == 0


def test_child_that_never_looks_lets_go(sides):
    array = lent(sides)

    def let_go():
        children.let_go()
        children.let_go()
        os.write(told, b'x')
        os.read(going, 1)

    going, go = os.pipe()
    seen, told = os.pipe()
    child = Child(let_go)
    os.write(child.writing, b'x')
    os.read(seen, 1)
    del array
    assert give_back(sides) == [0]
    os.write(go, b'x')
    for descriptor in (go, going, seen, told, child.writing):
        os.close(descriptor)
    os.waitpid(child.pid, 0)


def test_child_of_a_worker_keeps_what_it_sees(sides):
    outbox, _ = sides
    outbox.install()
    try:
        held = [numpy.full(SIZE, 7, 'u1')]
        child = Child(lambda: 0 if (held[0] == 7).all() else 5)
        held.clear()
        assert outbox.arena.blocks == LENT
        for value in range(5):
            assert lent(sides, value)[0] == value
            give_back(sides)
        assert child.end() == 0
        del value
        lent(sides)
        assert outbox.arena.blocks == LENT or not LENT
        give_back(sides)
        outbox.pack([])
        assert outbox.arena.blocks == 0
    finally:
        outbox.arena.uninstall()


def test_without_descriptors_nothing_is_given_back(sides, monkeypatch):
    array = lent(sides)

    def refuse():
        raise OSError(errno.EMFILE, 'Too many open files')

    with monkeypatch.context() as patch:
        patch.setattr(module.os, 'pipe', refuse)
        child = os.fork()
        if not child:
            os._exit(0)
    os.waitpid(child, 0)
    del array
    assert give_back(sides) == []
    children._pipes.clear()                         # it would be kept for ever


def test_forks_of_several_threads(sides):
    array = lent(sides)
    codes = []

    def fork():
        for _ in range(5):
            child = os.fork()
            if not child:
                os._exit(0)
            codes.append(os.waitpid(child, 0)[1])

    threads = [threading.Thread(target=fork) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert codes == [0] * 15
    del array
    assert not children.living()
    assert give_back(sides) == [0]


def test_failed_forks_leave_nothing(sides):
    array = lent(sides)
    children.before()
    children.in_parent()                            # as if the system had refused
    del array
    assert give_back(sides) == [0]
