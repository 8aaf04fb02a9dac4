"""Locks between processes."""
from __future__ import annotations

import os
import pickle
import re
import signal
import stat

import pytest

from fuel.utils import _locks, lock
from fuel.utils.lock import (
    LockTimeoutError,
    Unlocker,
    exclusive,
    get_lock,
    get_readlock,
    get_writelock,
    refresh_lock,
    release_lock,
    release_readlock,
    release_writelock,
    share,
    try_exclusive,
)
from tests.utils.copying import Program

HOLD = '''
import sys
from fuel.utils import lock
{take}
print("held", flush=True)
sys.stdin.readline()
{free}
print("free", flush=True)
sys.stdin.readline()
'''


@pytest.fixture(autouse=True)
def _impatient(monkeypatch):
    monkeypatch.setattr(_locks, 'TIMEOUT', 0.05)


def holding(take, path, free=''):
    return Program(HOLD.format(take=take, free=free), path)


def test_a_living_holder_is_not_robbed_and_a_killed_one_holds_nothing(tmp_path):
    folder = tmp_path / 'x.writelock'
    with holding('lock.get_writelock(sys.argv[1])', tmp_path / 'x') as program:
        program.line()
        with pytest.raises(LockTimeoutError,
                           match=rf'x\.writelock/lock: process {program.process.pid} on .* holds '
                                 r'this lock.*for 0\.05 seconds') as caught:
            lock.lock(folder)
        assert isinstance(caught.value, TimeoutError)
        program.process.send_signal(signal.SIGKILL)
        program.process.wait()
        with lock.lock(folder):
            assert re.fullmatch(rf'{os.getpid()}_\d{{10}}_.+\n', (folder / 'lock').read_text())


def test_a_lock_that_was_released_is_free(tmp_path):
    with holding('lock.get_writelock(sys.argv[1])', tmp_path / 'x',
                 free='lock.release_writelock()') as program:
        program.line()
        program.say()
        assert program.line() == 'free'
        get_writelock(tmp_path / 'x')
        release_writelock()


def free(folder):
    """Tell whether another process could take the lock of a folder."""
    with try_exclusive(os.path.join(folder, 'lock')) as held:
        return held


def test_locks_are_counted(tmp_path):
    get_lock(tmp_path / 'a', timeout=0)
    get_lock(tmp_path / 'b')
    get_lock(tmp_path / 'a', min_wait=1, max_wait=2, verbosity=0)
    assert not free(tmp_path / 'a')
    release_lock()
    assert not free(tmp_path / 'a')
    release_lock()
    assert free(tmp_path / 'b')
    release_lock()
    assert free(tmp_path / 'a')
    release_lock()              # one too many does no harm


def test_unlocker(tmp_path):
    held = lock.lock(tmp_path / 'deep' / 'a')
    assert isinstance(held, Unlocker)
    assert not free(held.tmp_dir)
    held.unlock()
    held.unlock()
    assert free(held.tmp_dir)
    Unlocker(tmp_path).unlock()


def test_a_lock_is_let_go_of_after_an_error(tmp_path):
    with pytest.raises(KeyError), lock.lock(tmp_path):
        raise KeyError
    assert free(tmp_path)
    with pytest.raises(LockTimeoutError), try_exclusive(tmp_path / 'lock') as held:
        assert held
        raise LockTimeoutError('of another lock')
    assert free(tmp_path)


def test_readers_share(tmp_path):
    first, second = (get_readlock(os.getpid(), tmp_path / 'x') for _ in range(2))
    assert re.fullmatch(rf'{re.escape(str(tmp_path))}/x\.readlock\.{os.getpid()}\.\d+', first)
    assert first != second
    with pytest.raises(LockTimeoutError):
        get_writelock(tmp_path / 'x')
    release_readlock(first)
    with pytest.raises(LockTimeoutError):
        get_writelock(tmp_path / 'x')
    release_readlock(second)
    release_readlock(second)
    get_writelock(tmp_path / 'x')
    with pytest.raises(LockTimeoutError):
        get_readlock(os.getpid(), tmp_path / 'x')
    release_writelock()


def test_readers_that_were_killed_do_not_count(tmp_path):
    with holding('lock.get_readlock(1, sys.argv[1])', tmp_path / 'x') as program:
        program.line()
        with pytest.raises(LockTimeoutError):
            get_writelock(tmp_path / 'x')
    get_writelock(tmp_path / 'x')
    release_writelock()


def test_a_file_that_was_replaced_is_not_the_one_to_share(tmp_path, monkeypatch):
    path = tmp_path / 'x'
    path.write_bytes(b'1')

    def replace(descriptor):
        (tmp_path / 'y').write_bytes(b'2')
        os.replace(tmp_path / 'y', path)
        return True

    monkeypatch.setattr(_locks, '_try_to_share', replace)
    with pytest.raises(FileNotFoundError, match='replaced'):
        share(path)
    with pytest.raises(FileNotFoundError):
        share(tmp_path / 'z')


def test_file_systems_without_locks(tmp_path, monkeypatch):
    import fcntl

    def unsupported(*_):
        raise OSError(95, 'Operation not supported')

    monkeypatch.setattr(fcntl, 'flock', unsupported)
    (tmp_path / 'x').touch()
    os.close(share(tmp_path / 'x'))


def test_signs_of_life(tmp_path):
    with exclusive(tmp_path / 'x'):
        before = os.stat(tmp_path / 'x').st_mtime_ns
        first, second = refresh_lock(tmp_path / 'x'), refresh_lock(tmp_path / 'x')
        assert os.stat(tmp_path / 'x').st_mtime_ns > before
        assert first != second
        assert (tmp_path / 'x').read_text() == f'{second}\n'
        assert _locks._holder(tmp_path / 'x').startswith(f'process {os.getpid()} on ')
    assert _locks._holder(tmp_path / 'y') == 'another process'


def test_users_of_a_shared_folder_can_take_locks_of_each_other(tmp_path):
    for mode, others in ((0o755, 0o044), (0o770, 0o060), (0o777, 0o066)):
        os.chmod(tmp_path, mode)
        with exclusive(tmp_path / f'{mode:o}'):
            pass
        granted = stat.S_IMODE(os.stat(tmp_path / f'{mode:o}').st_mode)
        assert granted & 0o077 == others
    os.chmod(tmp_path, 0o700)


def test_errors_survive_pickling():
    error = pickle.loads(pickle.dumps(LockTimeoutError('held')))
    assert (type(error), str(error)) == (LockTimeoutError, 'held')
