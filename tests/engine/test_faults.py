"""Errors that travel from a worker to its parent, and the words for how a process ended."""
import errno
import pickle
import signal
import sys
import threading
import traceback
import types

import numpy
import pytest

from fuel.engine.faults import UNKNOWN_END, RemoteTraceback, describe_end, pack_error, unpack_error
from fuel.exceptions import DataFileError, MissingInputFiles, WorkerError


def raised(error):
    try:
        raise error
    except BaseException as caught:
        return caught


def travelled(error):
    packed = pack_error(raised(error), 'worker 3 (process 77)')
    assert type(packed) is bytes
    return unpack_error(packed)


class Picky(Exception):
    """Its constructor does not take what it keeps as its arguments."""

    def __init__(self, first, second):
        super().__init__(f'{first} and {second}')
        self.first = first


class WithSlots(Exception):
    __slots__ = ('place',)


class Nested(Exception):
    class Inner(Exception):
        pass


ERRORS = [
    KeyError('a'), ValueError(), ValueError('two', 3), StopIteration(7), SystemExit(4),
    KeyboardInterrupt(), GeneratorExit(), MemoryError('no room'), RecursionError('too deep'),
    OSError(errno.ENOENT, 'No such file', 'data.hdf5'),
    FileNotFoundError(2, 'gone', 'a', None, 'b'),
    UnicodeDecodeError('utf-8', b'\xff', 0, 1, 'invalid start byte'),
    ImportError('no module', name='m', path='p'), AssertionError(numpy.arange(3).tolist()),
    DataFileError('cut off'), MissingInputFiles('two', ['a', 'b']), Picky('this', 'that'),
    Nested.Inner('inner'), WithSlots('slotted'),
    ExceptionGroup('several', [ValueError(1), KeyError(2)]),
    numpy.exceptions.AxisError(3, 2), NotImplementedError(), Warning('careful'),
]


@pytest.mark.parametrize('error', ERRORS, ids=lambda error: type(error).__name__)
def test_errors_keep_their_type_and_what_they_say(error):
    found = travelled(error)
    assert type(found) is type(error)
    assert str(found) == str(error)
    assert found.args == error.args or type(error) is ExceptionGroup
    for name in ('errno', 'filename', 'filename2', 'code', 'value', 'start', 'name', 'filenames',
                 'first'):
        assert getattr(found, name, None) == getattr(error, name, None)


def test_attributes_and_notes_are_kept():
    error = ValueError('bad')
    error.source_name = 'features'
    error.example = numpy.int64(7)
    error.add_note('while it was read')
    found = travelled(error)
    assert found.source_name == 'features' and found.example == 7
    assert found.__notes__ == ['while it was read']


def test_the_traceback_of_the_worker_is_shown_once():
    def innermost():
        raise KeyError('of the example')

    def outer():
        try:
            innermost()
        except KeyError as error:
            raise ValueError('of the step') from error

    try:
        outer()
    except ValueError as error:
        found = unpack_error(pack_error(error, 'worker 3 (process 77)'))
    assert type(found.__cause__) is RemoteTraceback
    try:
        raise found
    except ValueError as error:
        shown = ''.join(traceback.format_exception(error))
    assert shown.count('in innermost') == shown.count('in outer') - 1 == 1
    assert shown.count('In worker 3 (process 77):') == 1
    assert shown.rstrip().endswith('ValueError: of the step')
    assert 'KeyError: \'of the example\'' in shown


def test_frames_that_say_nothing_are_left_out():
    packed = pack_error(raised(ValueError('x')), 'worker 0', (__file__,))
    # There is no other frame: something must be left.
    assert __file__ in str(unpack_error(packed).__cause__)
    try:
        numpy.arange(3).reshape(-2, 5)
    except ValueError as error:
        kept = str(unpack_error(pack_error(error, 'worker 0')).__cause__)
    assert 'test_frames_that_say_nothing' in kept


def test_attributes_that_cannot_be_pickled_are_dropped():
    error = ValueError('held')
    error.lock = threading.Lock()
    error.source_name = 'targets'
    found = travelled(error)
    assert type(found) is ValueError and str(found) == 'held'
    assert found.source_name == 'targets' and not hasattr(found, 'lock')


class Unpicklable(Exception):
    def __reduce__(self):
        raise TypeError('not me')


class Liar(Exception):
    """Comes back as something else."""

    def __reduce__(self):
        return ValueError, ('something else',)


class Stubborn(Exception):
    """Nothing can be made of it elsewhere."""

    def __new__(cls, *args):
        if not args:
            raise TypeError('no')
        return super().__new__(cls, *args)

    def __reduce__(self):
        raise TypeError('not me')


class Speechless(Exception):
    def __str__(self):
        raise RuntimeError('no words')


@pytest.mark.parametrize('cls', [Unpicklable, Liar])
def test_errors_that_refuse_to_be_pickled_are_rebuilt(cls):
    found = travelled(cls('text', 5))
    assert type(found) is cls and found.args == ('text', 5)


@pytest.mark.parametrize(('error', 'said'), [(Stubborn('text'), ': text'), (Speechless('x'), '')])
def test_errors_that_cannot_travel_are_described(error, said):
    found = travelled(error)
    assert type(found) is WorkerError
    name = f'tests.engine.test_faults.{type(error).__name__}'
    assert str(found) == f'{name} in a worker{said}'
    assert found.original == name
    assert 'In worker 3 (process 77)' in str(found.__cause__)


def test_a_class_that_only_the_worker_has():
    module = types.ModuleType('only_there')
    exec('class Local(ValueError): pass', module.__dict__)
    sys.modules['only_there'] = module
    try:
        packed = pack_error(raised(module.Local('text')), 'worker 0')
    finally:
        del sys.modules['only_there']
    found = unpack_error(packed)
    assert type(found) is WorkerError
    assert str(found) == 'only_there.Local in a worker: text'


def test_endless_text_is_cut():
    found = travelled(ValueError('x' * (1 << 22)))
    assert len(found.args[0]) == 1 << 22
    assert len(str(found.__cause__)) < 1 << 21


def test_worker_errors_travel_as_well():
    error = WorkerError('text', 'a.B')
    for found in (travelled(error), pickle.loads(pickle.dumps(error))):
        assert type(found) is WorkerError
        assert (str(found), found.original) == ('text', 'a.B')


@pytest.mark.parametrize(('code', 'words'), [
    (3, 'ended with exit code 3'), (0, 'ended with exit code 0'),
    (-signal.SIGKILL, 'was killed by signal 9 (SIGKILL), perhaps because memory ran out'),
    (-signal.SIGTERM, 'was killed by signal 15 (SIGTERM)'),
    (-signal.SIGRTMIN - 1, f'was killed by signal {signal.SIGRTMIN + 1}'),
    (UNKNOWN_END, 'ended in a way that is not known'),
])
def test_ends_have_words(code, words):
    assert describe_end(code) == words


def test_a_bus_error_is_explained():
    assert 'no room for shared memory' in describe_end(-signal.SIGBUS)
