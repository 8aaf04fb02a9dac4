"""Segments of memory: which kind it is, whose they are, and what killed owners leave."""
import errno
import os
import subprocess
import sys

import pytest

from fuel.storage.sharing import file_segments as segments_files
from fuel.storage.sharing.blocks import SharedBlock
from fuel.storage.sharing.file_segments import sweep
from fuel.storage.sharing.owners import machine, owner_lives, start_of_process
from tests.storage.shared_memory import KINDS


def test_unknown_kinds(monkeypatch):
    with pytest.raises(ValueError, match="'memory', 'file'; got 'shm'"):
        SharedBlock.create(1, 'shm')
    monkeypatch.setattr(sys, 'platform', 'plan9')
    with pytest.raises(ValueError, match='is for Linux'):
        SharedBlock.create(1, 'memory')
    assert SharedBlock.create(1).kind == 'file'


@pytest.mark.parametrize('kind', KINDS[:-1])
def test_a_kernel_that_refuses_a_flag_or_everything(kind, monkeypatch):
    create, asked = os.memfd_create, []

    def old(name, flags):
        asked.append(flags)
        if flags & 8:
            raise OSError(errno.EINVAL, 'unknown flag')
        return create(name, flags)

    def none(name, flags):
        raise OSError(errno.ENOSYS, 'no such call')

    monkeypatch.setattr(os, 'memfd_create', old)
    assert SharedBlock.create(1).kind == kind and len(asked) == 2
    monkeypatch.setattr(os, 'memfd_create', none)
    assert SharedBlock.create(1).kind == 'file'


def test_leftovers_of_the_dead_are_swept(tmp_path, monkeypatch):
    monkeypatch.setattr(segments_files, '_IN_MEMORY', str(tmp_path))
    host, digits = segments_files._host(), '0123456789abcdef'
    mine, started = os.getpid(), start_of_process(os.getpid()) or 0
    parents = start_of_process(os.getppid()) or 0
    dead = f'fuel-shared-{host}-{mine}-{started + 1}-{digits}'
    kept = [f'fuel-shared-{host}-{mine}-{started}-{digits}',
            f'fuel-shared-{host}-{os.getppid()}-{parents}-{digits}',
            f'fuel-shared-elsewhere-{mine}-{started + 1}-{digits}',
            f'fuel-shared-{host}-{mine}-{started + 1}-notes', 'fuel-shared-', 'other']
    for name in (dead, *kept):
        (tmp_path / name).write_bytes(b'')
    (tmp_path / f'{dead[:-1]}0').mkdir()            # not ours to remove
    assert sweep(str(tmp_path)) == [str(tmp_path / dead)]
    (tmp_path / dead).write_bytes(b'')
    block = SharedBlock.create(1, 'file')           # sweeps too
    assert os.path.dirname(block._segment.path) == str(tmp_path)
    block.close()
    assert {path.name for path in tmp_path.iterdir()} == {*kept, f'{dead[:-1]}0'}


def test_a_folder_that_is_too_small_is_passed_over(tmp_path, monkeypatch):
    folders = [tmp_path / 'small', tmp_path / 'large']
    for folder in folders:
        folder.mkdir()
    monkeypatch.setattr(segments_files, '_IN_MEMORY', str(folders[0]))
    monkeypatch.setattr(segments_files.tempfile, 'gettempdir', lambda: str(folders[1]))
    monkeypatch.setattr(segments_files, '_has_room', lambda folder, nbytes: folder.endswith('ge'))
    block = SharedBlock.create(1, 'file')
    assert [len(os.listdir(folder)) for folder in folders] == [0, 1]
    assert not block._segment.in_memory             # so that the memory left does not matter
    block.close()
    assert [len(os.listdir(folder)) for folder in folders] == [0, 0]


def test_a_file_that_another_container_swept_before_it_was_locked(tmp_path, monkeypatch):
    monkeypatch.setattr(segments_files, '_IN_MEMORY', str(tmp_path))
    lock, calls = segments_files.try_lock, []

    def late(descriptor):
        calls.append(descriptor)
        if len(calls) == 1:
            for name in os.listdir(tmp_path):
                os.unlink(tmp_path / name)
        return lock(descriptor) and len(calls) != 2

    monkeypatch.setattr(segments_files, 'try_lock', late)
    block = SharedBlock.create(1, 'file')
    block.seal()
    assert len(calls) == 3 and SharedBlock.attach(block.token()) is not None


def test_owners():
    pid = os.getpid()
    started = start_of_process(pid)
    assert owner_lives(pid, started) and owner_lives(pid, None) and owner_lives(1, None)
    assert not owner_lives(pid, 1) and machine() == machine() != ''
    done = subprocess.Popen([sys.executable, '-c', ''])
    os.waitid(os.P_PID, done.pid, os.WEXITED | os.WNOWAIT)  # dead, and not yet buried
    if started is not None:
        assert start_of_process(done.pid) is None
    done.wait()
    assert start_of_process(done.pid) is None and not owner_lives(done.pid, None)
