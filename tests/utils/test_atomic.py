from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from fuel.utils import atomic
from fuel.utils.atomic import move_into_place, replacing, sweep, temporary_directory, try_lock


def dead_pid():
    """Return the number of a process that has ended."""
    process = subprocess.Popen([sys.executable, '-c', ''])
    process.wait()
    return process.pid


def leftover(parent, *, host=None, pid=None, token='00000000'):
    """Make what a killed process would have left."""
    path = parent / f'.fuel-{host or atomic._host()}-{pid or dead_pid()}-{token}-abc'
    path.mkdir()
    (path / 'half.hdf5').write_bytes(b'half')
    return path


def test_replacing_makes_the_file_appear_at_the_end(tmp_path):
    target = tmp_path / 'x.bin'
    target.write_bytes(b'old')
    with replacing(target) as path:
        with open(path, 'wb') as stream:
            stream.write(b'new')
        assert os.path.basename(path) == 'x.bin'
        assert target.read_bytes() == b'old'
    assert target.read_bytes() == b'new'
    assert os.listdir(tmp_path) == ['x.bin']


@pytest.mark.parametrize('error', [RuntimeError, KeyboardInterrupt])
def test_replacing_leaves_the_old_file_after_an_error(tmp_path, error):
    target = tmp_path / 'x.bin'
    target.write_bytes(b'old')
    def write_half():
        with replacing(target) as path:
            with open(path, 'wb') as stream:
                stream.write(b'ne')
            raise error

    with pytest.raises(error):
        write_half()
    assert target.read_bytes() == b'old'
    assert os.listdir(tmp_path) == ['x.bin']


def test_file_is_on_the_disk_before_it_has_its_name(tmp_path, monkeypatch):
    events = []
    real_sync, real_replace = os.fsync, os.replace

    def sync(descriptor):
        events.append(('sync', os.fstat(descriptor).st_ino))
        real_sync(descriptor)

    def replace(source, target):
        events.append(('replace', os.stat(source).st_ino))
        real_replace(source, target)

    monkeypatch.setattr(os, 'fsync', sync)
    monkeypatch.setattr(os, 'replace', replace)
    source = tmp_path / 'a'
    source.write_bytes(b'1')
    file, folder = source.stat().st_ino, tmp_path.stat().st_ino
    move_into_place(source, tmp_path / 'b')
    assert events == [('sync', file), ('replace', file), ('sync', folder)]


def test_temporary_directory_tells_its_owner(tmp_path):
    with temporary_directory(tmp_path) as path:
        assert os.path.dirname(path) == str(tmp_path)
        assert re.match(rf'\.fuel-.+-{os.getpid()}-', os.path.basename(path))
    assert not os.listdir(tmp_path)


def test_leftovers_of_dead_processes_are_swept(tmp_path):
    old = leftover(tmp_path)
    assert sweep(tmp_path) == [str(old)]
    assert not os.listdir(tmp_path)


def test_making_a_temporary_directory_sweeps(tmp_path):
    old = leftover(tmp_path)
    with temporary_directory(tmp_path) as path:
        assert not old.exists()
        assert os.listdir(tmp_path) == [os.path.basename(path)]


def test_leftover_of_an_earlier_process_with_our_number_is_swept(tmp_path):
    old = leftover(tmp_path, pid=os.getpid(), token='0' * 8)
    assert sweep(tmp_path) == [str(old)]


def test_what_others_own_is_left_alone(tmp_path):
    kept = {leftover(tmp_path, pid=os.getppid()).name, leftover(tmp_path, host='elsewhere').name}
    for name in ('.fuel-other', 'data', '.fuelrc'):
        (tmp_path / name).mkdir()
        kept.add(name)
    with temporary_directory(tmp_path) as path:
        kept.add(os.path.basename(path))
        assert sweep(tmp_path) == []
        assert set(os.listdir(tmp_path)) == kept


def test_locked_directory_has_a_living_owner_whatever_its_number(tmp_path):
    old = leftover(tmp_path)
    descriptor = os.open(old, os.O_RDONLY)
    try:
        assert try_lock(descriptor)
        assert sweep(tmp_path) == []
    finally:
        os.close(descriptor)
    assert sweep(tmp_path) == [str(old)]


def test_folder_that_cannot_be_written_is_named(tmp_path, monkeypatch):
    def refuse(*args, **kwargs):
        raise PermissionError(13, 'Permission denied', str(tmp_path / '.fuel-x'))

    monkeypatch.setattr(atomic.tempfile, 'mkdtemp', refuse)
    with pytest.raises(PermissionError, match='cannot write') as caught, \
            temporary_directory(tmp_path):
        pass
    assert caught.value.filename == str(tmp_path)


def test_missing_folder_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match='nowhere'), \
            temporary_directory(tmp_path / 'nowhere'):
        pass


def test_without_locks_the_number_decides(tmp_path, monkeypatch):
    import fcntl

    def unsupported(*args):
        raise OSError(95, 'Operation not supported')

    monkeypatch.setattr(fcntl, 'flock', unsupported)
    old = leftover(tmp_path)
    assert sweep(tmp_path) == [str(old)]
