"""The space on disks."""
import os
import shutil
import stat

import pytest

from fuel.utils import disk
from fuel.utils.disk import DiskUsage, check_enough_space, disk_usage, safe_mkdir


def test_usage(tmp_path):
    found = disk_usage(tmp_path)
    assert found._fields == ('total', 'used', 'free')
    assert found.total == shutil.disk_usage(tmp_path).total > found.used > 0
    assert disk_usage(tmp_path / 'not' / 'there').total == found.total
    (tmp_path / 'file').touch()
    assert disk_usage(tmp_path / 'file').total == found.total


@pytest.mark.parametrize(('used', 'free', 'part', 'enough'), [
    (800, 200, 0.9, True), (890, 110, 0.9, True), (891, 109, 0.9, False), (989, 11, 1, True),
    (500, 9, 1, False), (100, 900, 0.1, False)])
def test_room_for_ten_bytes(tmp_path, monkeypatch, used, free, part, enough):
    monkeypatch.setattr(disk, 'disk_usage', lambda path: DiskUsage(1000, used, free))
    (tmp_path / 'x').write_bytes(bytes(10))
    assert check_enough_space(tmp_path, tmp_path / 'x', tmp_path / 'y', part) is enough
    assert check_enough_space(tmp_path, tmp_path / 'x', max_disk_usage=part) is enough


def test_what_is_there_already_counts(tmp_path, monkeypatch):
    monkeypatch.setattr(disk, 'disk_usage', lambda path: DiskUsage(1000, 895, 105))
    (tmp_path / 'x').write_bytes(bytes(10))
    (tmp_path / 'y').write_bytes(bytes(6))
    assert not check_enough_space(tmp_path, tmp_path / 'x', tmp_path / 'z')
    assert check_enough_space(tmp_path, tmp_path / 'x', tmp_path / 'y')


def test_folders(tmp_path):
    before = os.umask(0o027)
    try:
        safe_mkdir(tmp_path / 'a' / 'b')
        safe_mkdir(tmp_path / 'a', force_perm=0o700)        # it is there
        safe_mkdir(tmp_path / 'c', force_perm=0o777)
    finally:
        os.umask(before)
    assert [stat.S_IMODE(os.stat(tmp_path / name).st_mode) for name in ('a/b', 'a', 'c')] == [
        0o750, 0o750, 0o777]
    (tmp_path / 'file').touch()
    with pytest.raises(FileExistsError):
        safe_mkdir(tmp_path / 'file')
