"""However an engine comes to its end, nothing is left of it."""
import contextlib
import gc
import os
import signal
import sys
import threading
import time

import numpy
import pytest

from fuel.exceptions import WorkerLostError
from fuel.transformers import Mapping, MultiProcessing, MultiThreading
from tests.engine import engines, functions
from tests.engine.watching import descendants, ended, finished, nothing_left, program, until

pytestmark = pytest.mark.timeout(120)


# In this process: each way is gone twice, and what is held after the first time is compared.

def to_the_end(make):
    list(make().get_epoch_iterator())


def broken_off(make):
    for _ in make().get_epoch_iterator():
        break


def not_begun(make):
    make().get_epoch_iterator()


def not_used(make):
    make()


def closed(make):
    stream = make()
    iterator = stream.get_epoch_iterator()
    next(iterator)
    stream.close()
    stream.close()


def in_a_block(make):
    with make() as stream:
        next(stream.get_epoch_iterator())


def in_a_block_with_an_error(make):
    with contextlib.suppress(LookupError), make() as stream:
        for _ in stream.get_epoch_iterator():
            raise LookupError


def deleted(make):
    stream = make()
    iterator = stream.get_epoch_iterator()
    next(iterator)
    del stream
    del iterator


def two_at_once(make):
    stream = make()
    for _ in zip(stream.get_epoch_iterator(), stream.get_epoch_iterator(), strict=True):
        pass


def in_a_cycle(make):
    stream = make()
    iterator = stream.get_epoch_iterator()
    next(iterator)
    stream.itself, stream.iterator = stream, iterator


def in_a_thread(make):
    thread = threading.Thread(target=broken_off, args=(make,))
    thread.start()
    thread.join()


WAYS = [to_the_end, broken_off, not_begun, not_used, closed, in_a_block, in_a_block_with_an_error,
        deleted, two_at_once, in_a_cycle, in_a_thread]
RUNS = {'processes': engines.engine(MultiProcessing, 2),
        'new processes': engines.engine(MultiProcessing, 2, persistent_workers=False),
        'borrowed': engines.engine(MultiProcessing, 2, hand_out='borrow'),
        'whole': engines.engine(MultiProcessing, 1, whole_chain=True),
        'threads': engines.engine(MultiThreading, 2)}


#: Every way of two of them, and the usual one of the others.
CASES = {f'{name}-{way.__name__}': (run, way) for name, run in RUNS.items() for way in WAYS
         if name in ('processes', 'threads') or way is broken_off}


@pytest.mark.parametrize(('run', 'way'), CASES.values(), ids=CASES)
def test_nothing_is_left_in_this_process(run, way):
    def make():
        return run(engines.in_order(600, 3))

    way(make)  # what is loaded on the way stays
    gc.collect()
    assert until(lambda: not descendants())
    with nothing_left():
        way(make)


@pytest.mark.parametrize('context', ['fork', 'spawn'])
def test_nothing_is_left_of_other_contexts(context):
    run = engines.engine(MultiProcessing, 2, multiprocessing_context=context)
    closed(lambda: run(engines.in_order(600, 3)))
    with nothing_left():
        closed(lambda: run(engines.in_order(600, 3)))


def test_nothing_is_left_after_a_failure(tmp_path):
    def lost():
        (tmp_path / 'one').touch()
        stream = MultiProcessing(Mapping(engines.in_order(), functions.Killing(tmp_path)),
                                 num_workers=2)
        with pytest.raises(WorkerLostError):
            list(stream.get_epoch_iterator())

    def failed():
        stream = MultiProcessing(Mapping(engines.in_order(), functions.Failing({5: ValueError})),
                                 num_workers=2)
        with pytest.raises(ValueError):
            list(stream.get_epoch_iterator())

    for way in (lost, failed):
        way()
        with nothing_left():
            way()


def test_close_leaves_nothing_at_once():
    closed(lambda: RUNS['processes'](engines.in_order(600, 3)))
    gc.collect()
    with nothing_left(0):
        stream = RUNS['processes'](engines.in_order(600, 3))
        iterator = stream.get_epoch_iterator()
        next(iterator)
        begun = time.monotonic()
        stream.close()
        assert time.monotonic() - begun < 1
    # Stream and iterator are still there, and go on.
    assert [len(x) for x, in iterator] == [3] * 199
    stream.close()


def test_closing_does_not_wait_for_a_long_step():
    stream = MultiProcessing(Mapping(engines.in_order(), functions.stuck_here), num_workers=2)
    iterator = stream.get_epoch_iterator()
    for _ in range(4):
        next(iterator)
    begun = time.monotonic()
    stream.close()
    assert time.monotonic() - begun < 2
    assert descendants() == []


def test_nothing_has_a_name_that_could_be_left(tmp_path, monkeypatch):
    # So nothing has to be swept up after a crash, and two users never meet.
    monkeypatch.setenv('TMPDIR', str(tmp_path))
    monkeypatch.setattr('tempfile.tempdir', str(tmp_path))
    with contextlib.closing(RUNS['processes'](engines.in_order(600, 3))) as stream:
        next(stream.get_epoch_iterator())
        owners = [str(pid) for pid in (os.getpid(), *descendants())]
        assert os.listdir(tmp_path) == []
        # Others may be using the folder for shared memory at the same time.
        shared = os.listdir('/dev/shm') if os.path.isdir('/dev/shm') else []
        assert [name for name in shared if any(owner in name for owner in owners)] == []


def test_memory_of_kept_arrays_is_given_back():
    def kept():
        with contextlib.closing(RUNS['processes'](engines.in_order(30_000, 3000))) as stream:
            return list(stream.get_epoch_iterator())

    kept()
    with nothing_left():
        arrays = kept()
        assert numpy.concatenate([x for x, in arrays]).tolist() == list(range(30_000))
        del arrays


# Programs that end in all ways.

PROGRAM = '''
import os, sys, threading
import numpy
from fuel.datasets import IndexableDataset
from fuel.schemes import SequentialScheme
from fuel.streams import DataStream
from fuel.transformers import Mapping, MultiProcessing

def slow(data):
    if sys.argv[1:2] == ['long'] and 12 in data[0]:
        threading.Event().wait()
    return data

dataset = IndexableDataset({'x': numpy.arange(3000)})
stream = Mapping(DataStream(dataset, iteration_scheme=SequentialScheme(3000, 3)), slow)
stream = MultiProcessing(stream, num_workers=2, **SETTINGS)
iterator = stream.get_epoch_iterator()
next(iterator)
print('ready', flush=True)
'''
ENDINGS = {
    'at the end': ('', 0, ''),
    'sys.exit': ('sys.exit(3)', 3, ''),
    'an error': ("raise LookupError('of the program')", 1, 'LookupError: of the program'),
    'an error in the loop': ('for data in iterator: raise LookupError', 1, 'LookupError'),
    'os._exit': ('os._exit(4)', 4, ''),
    'abort': ('os.abort()', -signal.SIGABRT, ''),
    'a thread that goes on': (
        'threading.Thread(target=lambda: [None for _ in iterator]).start()', 0, ''),
    'deleted modules': ('del MultiProcessing, Mapping, DataStream, numpy', 0, ''),
}


def started(settings='{}'):
    return PROGRAM.replace('SETTINGS', settings)


SETTINGS = {'usual': '{}', 'persistent': "{'persistent_workers': True, 'hand_out': 'borrow'}",
            'forked': "{'multiprocessing_context': 'fork'}"}


@pytest.mark.parametrize(('settings', 'ending', 'status', 'said'), [
    *(('usual', *ending) for ending in ENDINGS.values()),
    *(('persistent', *ENDINGS[name]) for name in ('at the end', 'an error in the loop'))], ids=str)
def test_programs_that_end(settings, ending, status, said, tmp_path):
    waits = "sys.stdin.readline()\n"
    with program(started(SETTINGS[settings]) + waits + ending, tmp_path) as process:
        assert process.stdout.readline() == 'ready\n'
        pids = descendants(process.pid)
        assert len(pids) >= 2
        process.stdin.write('\n')
        process.stdin.flush()
        returned, _, errors = finished(process)
        assert returned == status, errors
        assert ended(pids, 2) == []
        assert errors.count('Traceback') == (1 if said else 0), errors
        assert errors.strip().endswith(said)
        if not said:
            assert errors == ''


WAITING = '''
for data in iterator:
    pass
'''


@pytest.mark.parametrize(('at', 'number'), [
    ('long', signal.SIGKILL), ('idle', signal.SIGKILL), ('long', signal.SIGTERM),
    ('idle', signal.SIGHUP)], ids=lambda value: getattr(value, 'name', value))
def test_programs_that_are_killed_take_their_workers_along(at, number, tmp_path):
    text = started() + (WAITING if at == 'long' else 'sys.stdin.readline()')
    with program(text, tmp_path, at) as process:
        assert process.stdout.readline() == 'ready\n'
        pids = descendants(process.pid)
        process.send_signal(number)
        returned, _, errors = finished(process)
        assert ended(pids, 2) == []
        assert returned == -number
        assert errors == ''


@pytest.mark.parametrize(('settings', 'at'), [
    ('usual', 'long'), ('usual', 'idle'), ('usual', 'start'), ('persistent', 'long'),
    ('forked', 'long'), ('forked', 'start')])
def test_one_traceback_after_an_interrupt_from_the_terminal(settings, at, tmp_path):
    text = started(SETTINGS[settings]) + (WAITING if at == 'long' else 'sys.stdin.readline()')
    word = 'ready\n'
    if at == 'start':
        # Once before, so that it is not the import of modules that is interrupted.
        text = text.replace('stream = Multi', '''
with MultiProcessing(stream, num_workers=2, %s) as once:
    next(once.get_epoch_iterator())
print('starting', flush=True)
stream = Multi''' % f'**{SETTINGS[settings]}')
        text += '\nthreading.Event().wait()\n'
        word = 'starting\n'
    if sys.version_info >= (3, 12) and settings == 'forked':
        text = 'import warnings; warnings.simplefilter("ignore", DeprecationWarning)\n' + text
    with program(text, tmp_path, at) as process:
        assert process.stdout.readline() == word
        pids = descendants(process.pid)
        os.killpg(process.pid, signal.SIGINT)  # a terminal sends it to all of them
        returned, _, errors = finished(process)
        assert returned in (-signal.SIGINT, 130)
        # Python may have been handling an error of its own, in an import.
        chained = errors.count('During handling of the above exception')
        assert errors.count('Traceback') == 1 + chained, errors
        assert errors.strip().endswith('KeyboardInterrupt')
        assert ended(pids, 2) == []
        # Nobody of its session is left, those that were just being started included.
        assert until(lambda: not of_session(process.pid))


def of_session(number):
    """Return the living processes of a session."""
    import subprocess
    listing = subprocess.run(['ps', '-A', '-o', 'pid=,sess=,stat='], capture_output=True,
                             text=True, check=True).stdout
    lines = [line.split()[:3] for line in listing.splitlines()]
    return [pid for pid, session, state in lines
            if int(session) == number and not state.startswith('Z')]
