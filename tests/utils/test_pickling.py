import pickle
import threading

import pytest

from fuel.utils.pickling import do_not_pickle_attributes


@do_not_pickle_attributes('table', 'names')
class Lazy:
    """Counts how often it loads."""

    loads = 0

    def __init__(self):
        self.kept = [1, 2]
        self.load()

    def load(self):
        self.loads = self.loads + 1
        self.table = list(range(1000))
        self.names = ('a', 'b')


@do_not_pickle_attributes('more')
class LazyChild(Lazy):
    def load(self):
        super().load()
        self.more = 'more' * 1000


class PlainChild(Lazy):
    pass


@do_not_pickle_attributes('x')
class Forgetful:
    def load(self):
        pass


@do_not_pickle_attributes('x')
class OwnState:
    def __init__(self):
        self.x = 5

    def load(self):
        self.x = 6

    def __getstate__(self):
        return {'_x': self._x, 'own': True}


class Base:
    def __getstate__(self):
        return {**self.__dict__, 'of_base': True}


@do_not_pickle_attributes('x')
class OfBase(Base):
    def load(self):
        self.x = 6


@do_not_pickle_attributes('x')
class Slotted:
    __slots__ = ('__dict__', 'y')

    def load(self):
        self.x = 6


def round_trip(value):
    return pickle.loads(pickle.dumps(value))


def test_named_attributes_are_left_out_and_loaded_on_first_use():
    original = Lazy()
    assert original._table == list(range(1000))
    copy = round_trip(original)
    assert '_table' not in copy.__dict__
    assert copy.kept == [1, 2]
    assert copy.loads == 1
    assert copy.names == ('a', 'b')
    assert copy.loads == 2
    assert copy.table == list(range(1000))
    assert copy.loads == 2


def test_pickles_are_small_and_leave_the_original_alone():
    original = Lazy()
    assert len(pickle.dumps(original)) < 150
    assert original.table == list(range(1000))
    assert original.loads == 1


def test_subclasses_inherit_and_extend_the_names():
    for cls in (PlainChild, LazyChild):
        copy = round_trip(cls())
        assert not {'_table', '_names', '_more'} & set(copy.__dict__)
        assert copy.table[-1] == 999
    assert round_trip(LazyChild()).more == 'more' * 1000


def test_a_value_that_is_not_set_by_load_is_an_error():
    with pytest.raises(ValueError, match="x wasn't loaded.*load of Forgetful"):
        Forgetful().x
    assert 'x' in dir(Forgetful())


def test_values_can_be_set_and_deleted():
    forgetful = Forgetful()
    forgetful.x = 3
    assert forgetful.x == 3
    del forgetful.x
    with pytest.raises(ValueError, match='loaded'):
        forgetful.x
    with pytest.raises(AttributeError, match="no value for 'x'"):
        del forgetful.x


def test_a_class_without_load_is_refused():
    with pytest.raises(ValueError, match='NoLoad to have a method load'):
        @do_not_pickle_attributes('x')
        class NoLoad:
            pass


def test_iterators_are_refused_when_pickled():
    lazy = Lazy()
    lazy.table = iter([1, 2])
    with pytest.raises(ValueError, match="'table' of Lazy is an iterator"):
        pickle.dumps(lazy)
    lazy.table = [1, 2]
    lazy.kept = iter([1])                  # any other attribute is as the user wants it
    assert list(round_trip(lazy).kept) == [1]


def test_a_class_with_its_own_state_keeps_it():
    copy = round_trip(OwnState())
    assert copy.own
    assert copy.x == 5


def test_the_state_of_a_base_class_is_cut():
    original = OfBase()
    original.x = 5
    copy = round_trip(original)
    assert copy.of_base
    assert copy.x == 6


def test_slots_are_kept():
    original = Slotted()
    original.x, original.y = 5, 7
    copy = round_trip(original)
    assert (copy.x, copy.y) == (6, 7)


def test_threads_load_once():
    copy = round_trip(Lazy())
    started, go_on = threading.Event(), threading.Event()
    load = Lazy.load

    def slow_load(self):
        started.set()
        assert go_on.wait(10)
        load(self)

    copy.__class__ = type('SlowLazy', (Lazy,), {'load': slow_load})
    found = []
    threads = [threading.Thread(target=lambda: found.append(copy.table[5])) for _ in range(8)]
    for thread in threads:
        thread.start()
    assert started.wait(10)
    go_on.set()
    for thread in threads:
        thread.join(10)
    assert found == [5] * 8
    assert copy.loads == 2


def test_one_object_may_wait_for_another_to_load():
    """A lock for all objects would be a deadlock here."""
    @do_not_pickle_attributes('value')
    class Waiting:
        other = None

        def load(self):
            if self.other is not None:
                thread = threading.Thread(target=lambda: self.other.value)
                thread.start()
                thread.join(10)
                assert not thread.is_alive()
            self.value = 1

    waiting = Waiting()
    waiting.other = Waiting()
    assert waiting.value == 1


def test_an_error_while_loading_does_not_keep_the_lock():
    @do_not_pickle_attributes('value')
    class Failing:
        fail = True

        def load(self):
            if self.fail:
                raise OSError('no file')
            self.value = 1

    failing = Failing()
    with pytest.raises(OSError, match='no file'):
        failing.value
    failing.fail = False
    thread_found = []
    thread = threading.Thread(target=lambda: thread_found.append(failing.value))
    thread.start()
    thread.join(10)
    assert thread_found == [1]
