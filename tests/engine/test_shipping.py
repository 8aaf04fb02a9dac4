"""What workers run on its way to them."""
import os
import pickle
import threading

import numpy
import pytest

from fuel.engine.pickling import by_value, dumps
from fuel.engine.shipping import anonymous_file, load, ship


@pytest.fixture
def file():
    descriptor = anonymous_file('test')
    yield descriptor
    os.close(descriptor)


def shipped(descriptor, value):
    size = ship(descriptor, value)
    assert size == os.fstat(descriptor).st_size
    return load(descriptor, size)


ARRAYS = {
    'large': numpy.arange(10 ** 5, dtype='>i4').reshape(100, 1000),
    'fortran': numpy.asfortranarray(numpy.arange(12.0 * 10 ** 4).reshape(300, 400)),
    'strided': numpy.arange(10 ** 5)[::3],
    'small': numpy.arange(5), 'empty': numpy.empty((0, 7)), 'scalar': numpy.array(3.5),
    'records': numpy.zeros(5000, dtype=[('a', 'i8'), ('b', 'f4', 3)]),
    'strings': numpy.array(['ab', 'c'] * 10 ** 4), 'objects': numpy.array([None, 'a', 1.5]),
    'times': numpy.arange(10 ** 5).astype('M8[s]'),
}


@pytest.mark.parametrize('name', ARRAYS)
def test_arrays_arrive(file, name):
    array = ARRAYS[name]
    found = shipped(file, {'here': array, 'again': array})
    assert found['here'] is found['again']
    assert found['here'].dtype == array.dtype and found['here'].shape == array.shape
    assert (found['here'] == array).all()
    assert found['here'].flags.writeable


def test_large_arrays_are_shared_until_they_are_written_to(file):
    array = numpy.arange(10 ** 6)
    size = ship(file, [array, array[:10 ** 5].copy()])
    one, other = load(file, size), load(file, size)
    assert one[0].ctypes.data % 4096 == 0
    one[0][:] = -1
    assert (other[0] == array).all()
    assert (load(file, size)[0] == array).all()


def test_arrays_that_are_read_only_stay_so(file):
    array = numpy.arange(10 ** 5)
    array.setflags(write=False)
    found = shipped(file, array)
    assert not found.flags.writeable and (found == array).all()


def test_functions_and_classes_without_a_name_arrive(file):
    many = numpy.arange(10 ** 5)

    class Local:
        total = 3

        def sum(self):
            return many.sum() + self.total

    counter = iter([5, 6, 7])
    next(counter)
    add, local, found = shipped(file, (lambda x: x + many[7], Local(), counter))
    assert add(1) == 8 and local.sum() == many.sum() + 3 and next(found) == 6


def test_small_things_are_pickled_plainly():
    assert dumps((1, 'a', numpy.arange(3))) == pickle.dumps((1, 'a', numpy.arange(3)), protocol=5)
    assert pickle.loads(dumps(lambda: 5))() == 5
    assert pickle.loads(dumps('__main__')) == '__main__'


def test_tracebacks_of_what_is_sent_by_value_show_its_lines():
    function = pickle.loads(by_value(lambda: 1 / 0))
    assert function.__code__.co_filename == __file__


# What cannot be sent.

class Mapping:
    def __init__(self, function):
        self.function = function


class Odd:
    def __reduce__(self):
        raise RuntimeError('I stay here')

    def __repr__(self):
        return 'an odd one'


def test_what_cannot_be_pickled_is_named(file):
    lock = threading.Lock()
    config = {'weights': [1, lock]}

    def locked(x):
        with lock:
            return x

    def configured(x, more=lock):
        return x

    class Holder:
        held = lock

    slotted = type('Slotted', (), {'__slots__': ('a',)})()
    slotted.a = lock
    cases = [
        (lock, 'it is <unlocked _thread.lock'),
        (locked, "function (its variable 'lock') cannot be sent"),
        (configured, 'function (its default 0) cannot be sent'),
        (config, r"function['weights'][1] cannot be sent"),
        (Odd(), 'Mapping.function cannot be sent to worker processes: it is an odd one, and '
                'pickling it failed: RuntimeError: I stay here'),
        (Mapping(Mapping(lock)), 'Mapping.function.function.function cannot be sent'),
        (Mapping(locked).__init__, 'function.__self__.function (its variable'),
        (Holder, 'Mapping.function.held cannot be sent'),
        (slotted, 'Mapping.function.a cannot be sent'),
        (lambda x: _lock, "Mapping.function (the global variable '_lock') cannot be sent"),
    ]
    for held, expected in cases:
        runner = Mapping(held)
        with pytest.raises(TypeError) as caught:
            ship(file, runner, lambda whole: [('the data', 'fine'), ('Mapping', whole)])
        assert expected in str(caught.value)
        assert str(caught.value).startswith('Mapping.function')
        assert 'Make it in the worker' in str(caught.value)
        assert caught.value.__cause__ is not None


_lock = threading.Lock()


def test_without_names_the_class_is_told(file):
    with pytest.raises(TypeError, match=r'^Mapping\.function cannot be sent .*lock'):
        ship(file, Mapping(threading.Lock()))


def test_what_can_only_not_be_pickled_together_is_told(file):
    class Moody:
        left = 1

        def __reduce__(self):
            if Moody.left:
                Moody.left -= 1
                raise RuntimeError('not now')
            return Mapping, (1,)

    with pytest.raises(TypeError, match='not now'):
        ship(file, Moody())


def test_something_that_holds_itself_is_no_end_to_the_search(file):
    runner = Mapping(None)
    runner.function = runner
    runner.other = [threading.Lock(), runner]
    with pytest.raises(TypeError, match=r'Mapping\.other\[0\] cannot be sent'):
        ship(file, runner)
