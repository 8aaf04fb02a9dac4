"""Which copies go when there is no room."""
from __future__ import annotations

import os

import pytest

import fuel
from fuel.utils import _copies, cache
from fuel.utils.cache import cache_file
from fuel.utils.disk import DiskUsage
from tests.utils.copying import files_in, unused, write


def names(folder):
    return [name.partition('-')[0] for name in files_in(folder)]


@pytest.fixture
def three(folder, remote):
    """Three files of ten bytes with copies that nobody uses, b the one not used for longest."""
    fuel.config.local_data_limit = 35
    paths = {name: write(remote / f'{name}.bin', name.encode() * 10) for name in 'abcd'}
    for age, name in enumerate('cab'):
        copy = cache_file(paths[name])
        status = os.stat(copy)
        os.utime(copy, ns=(1_000_000_000 * (100 - age), status.st_mtime_ns))
    unused()
    return paths


def test_what_was_not_used_for_longest_goes_first(three, folder):
    cache_file(three['d'])
    assert names(folder) == ['a', 'c', 'd']


def test_use_counts_and_not_age(three, folder):
    cache_file(three['b'])
    unused()
    cache_file(three['d'])
    assert names(folder) == ['b', 'c', 'd']


def test_copies_in_use_stay(three, folder):
    cache_file(three['b'])
    cache_file(three['a'])
    cache_file(three['d'])
    assert names(folder) == ['a', 'b', 'd']


def test_when_all_are_in_use_the_file_itself_is_read(three, folder, caplog):
    for name in 'abc':
        cache_file(three[name])
    assert cache_file(three['d']) == three['d']
    assert 'the copies that there are, are in use' in caplog.text
    assert names(folder) == ['a', 'b', 'c']


def test_nothing_is_removed_for_a_file_that_does_not_fit_anyway(three, folder, remote, caplog):
    large = write(remote / 'large.bin', b'x' * 36)
    assert cache_file(large) == large
    assert 'all copies together may have 35 bytes' in caplog.text
    assert names(folder) == ['a', 'b', 'c']


def test_as_many_go_as_must(three, folder, remote):
    cache_file(write(remote / 'large.bin', b'x' * 20))
    assert names(folder) == ['c', 'large']


def test_other_files_stay(three, folder, remote):
    (folder / 'mine.bin').write_bytes(bytes(1000))
    os.utime(folder / 'mine.bin', (1, 1))
    cache_file(write(remote / 'large.bin', b'x' * 35))
    assert names(folder) == ['large', 'mine.bin']


def test_part_of_the_disk(three, folder, monkeypatch):
    fuel.config.local_data_limit = '50%'
    monkeypatch.setattr(_copies, 'disk_usage', lambda path: DiskUsage(1000, 505, 495))
    cache_file(three['d'])
    assert names(folder) == ['c', 'd']          # 15 bytes too many


def test_the_disk_itself_limits(three, folder, monkeypatch):
    fuel.config.local_data_limit = 10 ** 6
    monkeypatch.setattr(_copies, 'disk_usage', lambda path: DiskUsage(1000, 10, 5))
    cache_file(three['d'])
    assert names(folder) == ['a', 'c', 'd']


def test_copies_that_others_are_making_count(three, folder, remote):
    fuel.config.local_data_limit = 50
    coming = folder / '.fuel-elsewhere-1-00000000-abc'
    coming.mkdir()
    with open(coming / 'large.bin', 'wb') as stream:
        stream.truncate(15)
    assert _copies._coming(folder) == (15, 15)
    cache_file(three['d'])                      # 3 * 10 + 15 + 10 are 5 too many
    assert names(folder) == ['.fuel', 'a', 'c', 'd']


def test_the_default(folder):
    assert fuel.config.local_data_limit == 0.9
    assert isinstance(cache._files, cache._Files)
