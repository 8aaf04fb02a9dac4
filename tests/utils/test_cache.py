"""Local copies of files, as one process sees them."""
from __future__ import annotations

import logging
import os
import re
import stat

import pytest

import fuel
from fuel.utils import _copies, cache
from fuel.utils.cache import LocalDatasetCache, cache_file, dataset_cache
from fuel.utils.disk import DiskUsage
from fuel.utils.lock import share
from tests.utils.copying import files_in, unused, write


def content(path):
    with open(path, 'rb') as stream:
        return stream.read()


def test_nothing_is_copied_by_default(remote, monkeypatch):
    monkeypatch.setattr(_copies, 'make_copy', None)
    path = write(remote / 'x.bin')
    assert fuel.config.local_data_path == ''
    assert cache_file(path) is path


def test_a_copy_is_made_once(folder, remote, caplog):
    caplog.set_level(logging.INFO)
    path = write(remote / 'faces.bin', b'12345', when=1_000_000_000)
    copy = cache_file(path)
    assert os.path.dirname(copy) == str(folder)
    assert re.fullmatch(r'faces-[0-9a-f]{12}-[0-9a-f]{12}\.bin', os.path.basename(copy))
    assert content(copy) == b'12345'
    assert os.stat(copy).st_mtime_ns == os.stat(path).st_mtime_ns
    assert cache_file(path) == cache_file(remote / 'faces.bin') == copy
    assert [record for record in caplog.messages if 'copying' in record] == [
        f'copying {path} to {copy}']
    assert files_in(folder) == [os.path.basename(copy)]


def test_old_names(folder, remote):
    path = write(remote / 'x.bin')
    assert isinstance(dataset_cache, LocalDatasetCache)
    assert dataset_cache.cache_file(path) == cache_file(path) != path


def test_two_files_of_one_name_size_and_date(folder, remote):
    for name in 'ab':
        (remote / name).mkdir()
        write(remote / name / 'x.bin', name.encode(), when=1_000_000_000)
    copies = [cache_file(remote / name / 'x.bin') for name in 'abab']
    assert [content(copy) for copy in copies] == [b'a', b'b', b'a', b'b']
    assert len(set(copies)) == 2


def test_names_of_one_file_share_a_copy(folder, remote, monkeypatch):
    path = write(remote / 'x.bin')
    os.symlink(path, remote / 'link.bin')
    monkeypatch.chdir(remote)
    assert cache_file('x.bin') == cache_file('link.bin') == cache_file(path)
    assert len(files_in(folder)) == 1


@pytest.mark.parametrize('change', [
    lambda path: write(path, b'longer content'), lambda path: write(path, b'CONTENT', when=5),
    lambda path: write(path, b'CONTENT', when=1_000_000_000)],
    ids=['another size', 'an older date', 'the same size and date'])
def test_a_file_that_was_changed_is_copied_again(folder, remote, change):
    path = write(remote / 'x.bin', when=1_000_000_000)
    first = cache_file(path)
    assert content(first) == b'content'
    change(remote / 'x.bin')
    second = cache_file(path)
    assert content(second) == content(path) != b'content'
    assert files_in(folder) == [os.path.basename(second)]       # the outdated one is gone


def test_an_outdated_copy_goes_when_nobody_reads_it_any_more(folder, remote):
    path = write(remote / 'x.bin')
    descriptor = share(cache_file(path))
    write(remote / 'x.bin', b'2')
    cache_file(path)
    assert len(files_in(folder)) == 2
    os.close(descriptor)
    write(remote / 'x.bin', b'three')
    third = cache_file(path)
    assert files_in(folder) == [os.path.basename(third)]


@pytest.mark.parametrize('damage', [lambda copy: os.truncate(copy, 3), os.remove])
def test_a_copy_that_was_spoiled_is_made_again(folder, remote, damage):
    path = write(remote / 'x.bin')
    copy = cache_file(path)
    damage(copy)
    unused()
    assert cache_file(path) == copy
    assert content(copy) == b'content'


def test_a_copy_that_was_removed_while_in_use_is_made_again(folder, remote):
    path = write(remote / 'x.bin')
    os.remove(cache_file(path))
    assert content(cache_file(path)) == b'content'


def test_missing_files_and_folders_are_returned(folder, remote, caplog):
    missing = str(remote / 'x.bin')
    assert cache_file(missing) == missing
    assert cache.local_copy(str(remote)) == str(remote)
    assert [record.levelname for record in caplog.records] == ['ERROR']
    assert 'x.bin: expected a file' in caplog.text
    assert not folder.exists()


def test_files_in_the_folder_for_copies_are_not_copied(folder, remote):
    copy = cache_file(write(remote / 'x.bin'))
    assert cache_file(copy) == copy
    assert len(files_in(folder)) == 1


def test_the_path_of_the_folder_may_have_variables(folder, remote, monkeypatch):
    monkeypatch.setenv('SCRATCH', str(folder))
    fuel.config.local_data_path = '$SCRATCH/fuel'
    assert os.path.dirname(cache_file(write(remote / 'x.bin'))) == str(folder / 'fuel')


def test_permissions(folder, remote):
    path = write(remote / 'x.bin')
    os.chmod(path, 0o640)
    copy = cache_file(path)
    assert stat.S_IMODE(os.stat(copy).st_mode) == 0o640
    assert stat.S_IMODE(os.stat(folder).st_mode) == 0o700
    assert os.stat(copy).st_gid == os.stat(path).st_gid


def test_a_group_that_cannot_be_given_gets_no_permissions(folder, remote, monkeypatch):
    path = write(remote / 'x.bin')
    os.chmod(path, 0o664)
    status = os.stat(path)

    class Elsewhere:
        st_mode, st_gid = status.st_mode, status.st_gid + 1

    def refuse(*_):
        raise PermissionError(1, 'Operation not permitted')

    monkeypatch.setattr(os, 'fchown', refuse)
    with open(remote / 'copy', 'wb') as stream:
        _copies._give_permissions(stream.fileno(), Elsewhere)
    assert stat.S_IMODE(os.stat(remote / 'copy').st_mode) == 0o604


@pytest.mark.parametrize('umask', [0o022, 0o077])
def test_the_permissions_of_a_folder_that_is_there_are_kept(folder, remote, umask):
    before = os.umask(umask)
    try:
        folder.mkdir()
        os.chmod(folder, 0o770)
        cache_file(write(remote / 'x.bin'))
    finally:
        os.umask(before)
    assert stat.S_IMODE(os.stat(folder).st_mode) == 0o770
    locks = folder / '.fuel-locks'
    assert stat.S_IMODE(os.stat(locks).st_mode) == 0o770        # others take these locks, too
    assert {stat.S_IMODE(entry.stat().st_mode) & 0o077 for entry in os.scandir(locks)} == {0o060}


def fails(path, caplog):
    """Ask for a copy that cannot be made, several times; return the one warning."""
    caplog.clear()
    assert [cache_file(path) for _ in range(3)] == [path] * 3
    warnings = [record.getMessage() for record in caplog.records]
    assert len(warnings) == 1
    assert warnings[0].startswith(f'{path}: there is no local copy in ')
    return warnings[0]


def test_a_folder_that_cannot_be_made(remote, caplog, folder):
    fuel.config.local_data_path = write(remote / 'file')
    assert 'Not a directory' in fails(write(remote / 'x.bin'), caplog) or 'exists' in caplog.text


def test_a_folder_that_cannot_be_written(folder, remote, caplog, monkeypatch):
    folder.mkdir()

    def refuse(path, *args, **kwargs):
        raise PermissionError(13, 'Permission denied', path)

    monkeypatch.setattr(os, 'makedirs', refuse)
    assert '.fuel-locks: Permission denied' in fails(write(remote / 'x.bin'), caplog)


def test_copies_in_a_folder_that_cannot_be_written_are_used(folder, remote, monkeypatch):
    path = write(remote / 'x.bin')
    copy = cache_file(path)
    unused()

    def refuse(path, *args, **kwargs):
        raise PermissionError(13, 'Permission denied', path)

    for name in ('makedirs', 'utime', 'remove'):
        monkeypatch.setattr(os, name, refuse)
    assert cache_file(path) == copy


def test_a_disk_that_becomes_full(folder, remote, caplog, monkeypatch):
    written = []

    def full(descriptor, block):
        if written:
            raise OSError(28, 'No space left on device')
        written.append(1)
        return real(descriptor, block[:3])

    real = os.write
    monkeypatch.setattr(_copies.os, 'write', full)
    assert f'{folder}: No space left on device' in fails(write(remote / 'x.bin'), caplog)
    assert files_in(folder) == []


def test_a_disk_that_is_too_full(folder, remote, caplog, monkeypatch):
    monkeypatch.setattr(_copies, 'disk_usage', lambda path: DiskUsage(1000, 895, 105))
    message = fails(write(remote / 'x.bin', b'123456'), caplog)
    assert '6 bytes' in message
    assert '90% of the disk may be used, and 90% are' in message
    assert 'local_data_limit' in message
    fuel.config.local_data_limit = 0.95         # which holds at once
    assert cache_file(remote / 'x.bin') != str(remote / 'x.bin')


def test_a_file_that_changes_while_it_is_copied(folder, remote, caplog, monkeypatch):
    path = write(remote / 'x.bin', when=1_000_000_000)
    real = _copies._copy_bytes

    def change(*args):
        real(*args)
        write(remote / 'x.bin', b'CONTENT', when=1_000_000_000)

    monkeypatch.setattr(_copies, '_copy_bytes', change)
    assert 'changed meanwhile' in fails_once(path, caplog)
    assert files_in(folder) == []
    monkeypatch.undo()


def fails_once(path, caplog):
    assert cache_file(path) == path
    return caplog.messages[-1]


def test_a_file_that_is_cut_while_it_is_copied(folder, remote, caplog, monkeypatch):
    path = write(remote / 'x.bin')
    real = os.read
    monkeypatch.setattr(_copies.os, 'read', lambda *args: (os.truncate(path, 0), real(*args))[1])
    assert 'cut off meanwhile' in fails_once(path, caplog)
    assert files_in(folder) == []


def test_a_file_that_vanishes_while_it_is_copied(folder, remote, caplog, monkeypatch):
    path = write(remote / 'x.bin')
    real = _copies._copy_bytes
    monkeypatch.setattr(_copies, '_copy_bytes', lambda *args: (real(*args), os.remove(path)))
    assert 'changed meanwhile' in fails_once(path, caplog)
    assert files_in(folder) == []


def test_ctrl_c_leaves_nothing(folder, remote, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(_copies, '_copy_bytes', interrupted)
    with pytest.raises(KeyboardInterrupt):
        cache_file(write(remote / 'x.bin'))
    assert files_in(folder) == []
