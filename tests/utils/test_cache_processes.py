"""Local copies of files, asked for by several processes, some of which are killed."""
from __future__ import annotations

import os
import signal
import time
import types
from contextlib import ExitStack

import h5py
import numpy
import pytest

import fuel
from fuel.utils import _copies, _locks
from fuel.utils.cache import cache_file
from tests.utils.copying import ASK, STOP_MIDWAY, Program, files_in, write


@pytest.fixture
def large(remote):
    return write(remote / 'large.bin', os.urandom(2 ** 20) * 4)


def together(paths, folder, **variables):
    """Ask for copies in as many processes at once; return what they answer."""
    with ExitStack() as stack:
        programs = [stack.enter_context(Program(ASK, FUEL_LOCAL_DATA_PATH=str(folder),
                                                **variables)) for _ in paths]
        for program in programs:
            assert program.line() == 'ready'
        for program, path in zip(programs, paths, strict=True):
            program.say(path)
        return [program.answer() for program in programs]


def test_eight_processes_make_one_copy(folder, large):
    answers = together([large] * 8, folder)
    assert {place for place, _, _ in answers} == {str(folder / name) for name in files_in(folder)}
    assert len(files_in(folder)) == 1
    assert {size for _, size, _ in answers} == {2 ** 22}
    messages = [message for _, _, messages in answers for message in messages]
    assert len(messages) == 1
    assert messages[0].startswith(f'copying {large} to ')


def test_processes_that_want_different_files_keep_to_the_limit(folder, remote):
    paths = [write(remote / f'{number}.bin', os.urandom(10 ** 6)) for number in range(6)]
    answers = together(paths, folder, FUEL_LOCAL_DATA_LIMIT='3.5 MB')
    copied = [place for place, _, _ in answers if place.startswith(str(folder))]
    assert len(copied) == 3                     # which are in use, so that none can go
    assert sorted(os.path.basename(place) for place in copied) == files_in(folder)
    for place, size, messages in answers:
        assert size == 10 ** 6
        assert (place in copied) == (not any('no room' in message for message in messages))


def test_a_killed_process_leaves_nothing(folder, large):
    with Program(STOP_MIDWAY, large, FUEL_LOCAL_DATA_PATH=str(folder)) as program:
        assert program.line() == 'midway'
        scratch, = files_in(folder)
        half, = os.scandir(folder / scratch)
        assert half.stat().st_blocks * 512 < 2 ** 22
        program.process.send_signal(signal.SIGKILL)
        program.process.wait()
    assert files_in(folder) == [scratch]
    copy = cache_file(large)                    # at once, for the lock is gone as well
    with open(copy, 'rb') as stream, open(large, 'rb') as original:
        assert stream.read() == original.read()
    assert files_in(folder) == [os.path.basename(copy)]


def test_what_was_left_goes_also_when_another_copy_is_used(folder, large, remote):
    other = write(remote / 'other.bin')
    together([other], folder)
    with Program(STOP_MIDWAY, large, FUEL_LOCAL_DATA_PATH=str(folder)) as program:
        program.line()
    assert len(files_in(folder)) == 2
    assert files_in(folder) == [*files_in(folder)[:1], os.path.basename(cache_file(other))]
    assert len(files_in(folder)) == 1


def test_a_living_process_keeps_its_lock(folder, large, caplog, monkeypatch):
    monkeypatch.setattr(_locks, 'TIMEOUT', 0.2)
    with Program(STOP_MIDWAY, large, FUEL_LOCAL_DATA_PATH=str(folder)) as program:
        assert program.line() == 'midway'
        assert cache_file(large) == large
        assert f'process {program.process.pid} on ' in caplog.text
        assert 'no sign of life for 0.2 seconds' in caplog.text
        for _ in range(2 ** 22 // 4096):
            program.say()
        while (line := program.line()) == 'midway':
            pass
    assert line == str(folder / files_in(folder)[0])
    assert os.path.getsize(line) == 2 ** 22


def test_one_that_shows_life_is_waited_for(folder, remote, monkeypatch):
    path = write(remote / 'x.bin', bytes(10 * 4096))
    now = [0]
    with Program(STOP_MIDWAY.replace('sys.stdin.readline()',
                                     'sys.stdin.readline(), lock.refresh_lock(lock_file)')
                 .replace('import sys', 'import sys\nfrom fuel.utils import lock'),
                 path, FUEL_LOCAL_DATA_PATH=str(folder)) as program:
        assert program.line() == 'midway'

        def pass_the_time(seconds):
            now[0] += 40
            program.say()
            program.line()

        monkeypatch.setattr(_locks, 'time', types.SimpleNamespace(
            monotonic=lambda: now[0], sleep=pass_the_time, time_ns=time.time_ns))
        assert cache_file(path) == str(folder / files_in(folder)[0])
    assert now[0] >= 400 > _locks.TIMEOUT


def test_a_copy_that_another_process_uses_stays(folder, remote):
    fuel.config.local_data_limit = 10
    first, second = (write(remote / f'{name}.bin', bytes(6)) for name in 'ab')
    with Program(ASK, FUEL_LOCAL_DATA_PATH=str(folder)) as program:
        program.line()
        program.say(first)
        place, _, _ = program.answer()
        assert cache_file(second) == second
        assert os.path.exists(place)
        program.process.kill()
        program.process.wait()
    fuel.config.local_data_limit = 11           # so that it is tried again
    assert cache_file(second) != second
    assert not os.path.exists(place)


def test_a_file_that_is_being_written_is_not_copied(folder, remote, caplog):
    path = str(remote / 'x.hdf5')
    with h5py.File(path, 'w') as file:
        file['x'] = numpy.arange(3)
        file.flush()
        assert cache_file(path) == path
    assert 'x.hdf5' in caplog.text
    assert cache_file(path) != path


def test_files_that_refer_to_others_are_not_copied(folder, remote, caplog):
    parts = write(remote / 'raw.bin', bytes(80))
    with h5py.File(remote / 'part.hdf5', 'w') as file:
        file['x'] = numpy.arange(10)
    with h5py.File(remote / 'link.hdf5', 'w') as file:
        file['group/far'] = h5py.ExternalLink('part.hdf5', '/x')
    layout = h5py.VirtualLayout((10,), 'int64')
    layout[:] = h5py.VirtualSource('part.hdf5', 'x', (10,))
    with h5py.File(remote / 'virtual.hdf5', 'w') as file:
        file.create_virtual_dataset('group/x', layout)
    with h5py.File(remote / 'outside.hdf5', 'w', userblock_size=512) as file:
        file.create_dataset('x', (10,), 'int64', external=[(parts, 0, 80)])
    for name, reason in (('link', "'group/far' in it is a link to part.hdf5"),
                         ('virtual', "'group/x' in it are kept in other files"),
                         ('outside', "'x' in it are kept in other files")):
        path = str(remote / f'{name}.hdf5')
        assert cache_file(path) == path
        assert reason in caplog.messages[-1]
    assert cache_file(str(remote / 'part.hdf5')) != str(remote / 'part.hdf5')


def test_a_damaged_file_is_left_to_its_reader(folder, remote, caplog):
    path = write(remote / 'x.hdf5', b'\x89HDF\r\n\x1a\n' + bytes(100))
    assert cache_file(path) == path
    assert 'cannot be looked into' in caplog.text


def test_the_copy_is_on_the_disk_before_it_has_its_name(folder, remote, monkeypatch):
    synced = []
    real = os.fsync
    monkeypatch.setattr(os, 'fsync', lambda descriptor: (
        synced.append(os.fstat(descriptor).st_ino), real(descriptor)))
    copy = cache_file(write(remote / 'x.bin'))
    assert synced[0] == os.stat(copy).st_ino


def test_a_copy_that_vanishes_again_and_again(folder, remote, caplog, monkeypatch):
    real = _copies.make_copy
    monkeypatch.setattr(_copies, 'make_copy', lambda *args: os.remove(real(*args)))
    path = write(remote / 'x.bin')
    assert cache_file(path) == path
    assert 'others remove the copy as soon as it is made' in caplog.text
