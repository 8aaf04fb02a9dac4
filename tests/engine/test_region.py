"""Shared memory without a name."""
import errno
import gc
import mmap
import os
import resource
import sys

import numpy
import pytest

from fuel import _kernels
from fuel.engine import region as module
from fuel.engine.parcels import Outbox
from fuel.engine.region import Region
from tests.storage.shared_memory import open_files


def whole(region):
    return numpy.frombuffer(region.memory, 'u1')


@pytest.fixture(params=['memory', 'file'])
def kind(request, monkeypatch):
    """Have regions made of memory, and as on systems that have none without a name."""
    if request.param == 'file':
        monkeypatch.setattr(module.sys, 'platform', 'other')
    return request.param


def test_both_sides_see_the_same(kind):
    with Region.create(1 << 20) as mine, Region.attach(os.dup(mine.fileno())) as other:
        assert mine.nbytes == other.nbytes == 1 << 20
        assert mine.must_ask == other.must_ask == (kind == 'file')
        assert not whole(mine).any()
        whole(mine)[123] = 7
        assert whole(other)[123] == 7
        whole(other)[5] = 9
        assert whole(mine)[5] == 9


def test_addresses_take_no_memory(kind):
    with Region.create(1 << 36) as region:
        assert os.fstat(region.fileno()).st_blocks == 0
        whole(region)[1 << 35] = 1
        assert os.fstat(region.fileno()).st_blocks * 512 <= mmap.PAGESIZE * 2


def test_nothing_is_left(kind):
    before = open_files()
    region = Region.create(1 << 20)
    array = whole(region)[100:200]
    assert not any(name.startswith('fuel-') for name in os.listdir('/dev/shm'))
    region.close()
    region.close()
    # Not even a descriptor, while an array is in use; only mappings of older Pythons keep one.
    assert open_files() == before + (_kernels.BACKEND == 'python' and sys.version_info < (3, 13))
    array[:] = 3
    assert (array == 3).all()
    with pytest.raises(ValueError, match='has been closed'):
        region.fileno()
    del array, region
    Region.create(1 << 20)
    gc.collect()
    assert open_files() == before


def test_mapping_ends_with_the_last_array():
    region = Region.create(123 << 20)

    def is_mapped():
        with open('/proc/self/maps') as lines:
            return any('memfd:fuel' in line and _size(line) == 123 << 20 for line in lines)

    assert is_mapped()
    array = whole(region)[3:9][::2]
    region.close()
    del region
    gc.collect()
    assert is_mapped()
    del array
    gc.collect()
    assert not is_mapped()


def _size(line):
    begin, end = line.split()[0].split('-')
    return int(end, 16) - int(begin, 16)


@pytest.mark.parametrize(('setting', 'must_ask'), [('0', False), ('1', False), ('2', True)])
def test_systems_that_promise_no_more_than_they_have(monkeypatch, tmp_path, setting, must_ask):
    (tmp_path / 'setting').write_text(f'{setting}\n')
    monkeypatch.setattr(module, '_OVERCOMMIT', str(tmp_path / 'setting'))
    with Region.create(1 << 20) as region:
        assert region.must_ask == must_ask
        outbox = Outbox(region)
        outbox.pack([(numpy.ones(50_000, 'u1'),)])
        # What was asked for is there, and no more than that.
        assert os.fstat(region.fileno()).st_blocks * 512 == 13 * mmap.PAGESIZE


def test_nobody_makes_it_shorter():
    with Region.create(1 << 20) as region:
        for size in (0, 1 << 21):
            with pytest.raises(PermissionError):
                os.ftruncate(region.fileno(), size)


def test_other_programs_do_not_inherit_it(kind):
    with Region.create(1 << 20) as region:
        assert not os.get_inheritable(region.fileno())


@pytest.mark.parametrize('nbytes', [0, -1])
def test_wrong_size(nbytes):
    with pytest.raises(ValueError, match=f'at least 1; got {nbytes}'):
        Region.create(nbytes)


def test_limited_addresses_are_told_of():
    before = open_files()
    limits = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (1 << 40, limits[1]))
    try:
        with pytest.raises(MemoryError, match=r'region of 4096\.0 GiB .*ulimit -v.*max_bytes'):
            Region.create(1 << 42)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, limits)
    assert open_files() == before


def test_limited_files_are_told_of():
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, limits[1]))
    try:
        with pytest.raises(MemoryError, match=r'region of 2\.0 MiB .*ulimit'):
            Region.create(1 << 21)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_no_descriptors_left(monkeypatch):
    def refuse(*_):
        raise OSError(errno.EMFILE, 'Too many open files')

    monkeypatch.setattr(module.os, 'memfd_create', refuse)
    with pytest.raises(OSError, match='Too many open files'):
        Region.create(1 << 20)


def test_old_kernels_refuse_a_flag(monkeypatch):
    create = os.memfd_create

    def old(name, flags):
        if flags & 8:
            raise OSError(errno.EINVAL, 'Invalid argument')
        return create(name, flags)

    monkeypatch.setattr(module.os, 'memfd_create', old)
    with Region.create(1 << 20) as region:
        assert not region.must_ask


def test_what_is_no_region_is_refused():
    with pytest.raises(OSError, match='Bad file descriptor'):
        Region.attach(10**6)
