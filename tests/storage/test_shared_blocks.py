"""Blocks of shared memory, within one process."""
import errno
import gc
import json
import os
import pickle
import subprocess
import sys
import tempfile
import weakref

import numpy
import pytest

from fuel.storage.sharing import available
from fuel.storage.sharing import file_segments as segments_files
from fuel.storage.sharing.blocks import SharedBlock
from tests.storage.shared_memory import KINDS, open_files

pytestmark = pytest.mark.parametrize('kind', KINDS)


def filled(kind, count=1000):
    block = SharedBlock.create(8 * count, kind)
    block.array('<i8', count)[:] = numpy.arange(count)
    block.seal()
    return block


def test_others_see_what_the_owner_wrote(kind):
    with_header = SharedBlock.create(64 + 12, kind)
    header, values = with_header.array('u1', (64,)), with_header.array('<f4', (3, 1), 64)
    assert with_header.kind == kind and with_header.nbytes == 76
    assert not header.any() and not values.any()            # zeros at first
    header[:], values[:] = 7, [[1], [2], [3]]
    with_header.seal()
    for token in (with_header.token(), json.loads(json.dumps(with_header.token())),
                  pickle.loads(pickle.dumps(with_header.token()))):
        found = SharedBlock.attach(token)
        assert found.kind == kind and found.nbytes == 76 and found.sealed and not found.closed
        assert found.array('<f4', (3,), 64).tolist() == [1, 2, 3]
        assert (found.array('u1', (64,)) == 7).all()
        assert found.token() == with_header.token()


def test_nobody_writes_after_the_seal(kind):
    block = SharedBlock.create(80, kind)
    before = block.array('<i8', 10)
    before[:] = 3
    block.seal()
    block.seal()
    found = SharedBlock.attach(block.token())
    for array in (before, block.array('<i8', 10), found.array('<i8', 10)):
        assert array.tolist() == [3] * 10
        with pytest.raises(ValueError, match='read-only'):
            array[0] = 1
    for array in (block.array('<i8', 10), found.array('<i8', 10)):
        with pytest.raises(ValueError, match='WRITEABLE'):
            array.flags.writeable = True


def test_no_token_before_the_seal(kind):
    block = SharedBlock.create(80, kind)
    with pytest.raises(ValueError, match='call seal before'):
        block.token()


def test_close_is_final_but_arrays_stay(kind):
    block = filled(kind)
    token, array = block.token(), block.array('<i8', 1000)
    found = SharedBlock.attach(token)
    others = found.array('<i8', 1000)
    for _ in range(3):
        block.close()
    assert block.closed and SharedBlock.attach(token) is None
    for call in (block.token, block.seal, lambda: block.array('u1', 1)):
        with pytest.raises(ValueError, match='has been closed'):
            call()
    found.close()
    found.close()
    assert array.sum() == others.sum() == 499500


def test_garbage_is_closed_too(kind):
    block = filled(kind)
    token, gone = block.token(), weakref.ref(block)
    del block
    gc.collect()
    assert gone() is None and SharedBlock.attach(token) is None


def test_a_token_of_one_who_closed_is_made_anew_by_the_next(kind):
    block = filled(kind)
    first, second = SharedBlock.attach(block.token()), SharedBlock.attach(block.token())
    token = block.token()
    block.close()
    assert SharedBlock.attach(token) is None
    if kind == 'memory':                            # a file is gone with the one who removes it
        third = SharedBlock.attach(first.token())
        assert third.array('<i8', 1000).sum() == 499500
    first.close()
    assert second.array('<i8', 1000).sum() == 499500


def test_a_thousand_blocks_leave_nothing(kind):
    before = open_files()
    folders = [folder for folder in ('/dev/shm', tempfile.gettempdir()) if os.path.isdir(folder)]
    mine = f'-{os.getpid()}-'
    for turn in range(1000):
        block = SharedBlock.create(10000, kind)
        array = block.array('u1', 10000)
        if turn % 2:
            block.seal()
            assert SharedBlock.attach(block.token()).nbytes == 10000
            block.close()
        del block, array
    assert open_files() == before
    assert [name for folder in folders for name in os.listdir(folder)
            if name.startswith('fuel-shared-') and mine in name] == []


def test_sizes_at_the_edge(kind):
    empty = SharedBlock.create(0, kind)
    assert empty.array('<f8', (0, 3)).shape == (0, 3)
    empty.seal()
    assert SharedBlock.attach(empty.token()).array('<f8', (5, 0)).shape == (5, 0)
    with pytest.raises(ValueError, match='at least 0; got -1'):
        SharedBlock.create(-1, kind)
    block = SharedBlock.create(10, kind)
    assert block.array('u1', (10,)).size == 10 and block.array('u1', 0, 10).size == 0
    for shape, offset in (((11,), 0), ((1,), 10), ((2,), -1), ((-1,), 0)):
        with pytest.raises(ValueError, match='within the 10 bytes of the block'):
            block.array('u1', shape, offset)
    with pytest.raises(TypeError, match='without objects'):
        block.array(object, 1)


@pytest.mark.parametrize('change', [
    {'started': 1}, {'pid': 1}, {'pid': 2 ** 22 + 1}, {'inode': 1}, {'device': 99},
    {'size': 1}, {'name': 'fuel-shared-0'}, {'machine': 'another'}, {'kind': 'telepathy'},
    {'place': 0}, {'place': '/etc/passwd'}])
def test_a_token_that_means_something_else_finds_nothing(kind, change):
    before = open_files()
    block = filled(kind)
    assert SharedBlock.attach({**block.token(), **change}) is None
    block.close()
    assert open_files() == before


@pytest.mark.parametrize('token', [None, {}, [], 'token', {'kind': 'memory'}, {'kind': []}])
def test_nonsense_finds_nothing(kind, token):
    if isinstance(token, dict) and token.get('kind') == 'memory':
        token = {'kind': kind}
    assert SharedBlock.attach(token) is None


def test_another_process_cannot_write_or_shorten(kind):
    block = filled(kind)
    token = block.token()
    if kind == 'memory':
        path = f'/proc/{os.getpid()}/fd/{token["place"]}'
        descriptor = os.open(path, os.O_RDWR)
        try:
            for call in (lambda: os.write(descriptor, b'1'), lambda: os.ftruncate(descriptor, 1),
                         lambda: os.ftruncate(descriptor, 1 << 20)):
                with pytest.raises(PermissionError):
                    call()
        finally:
            os.close(descriptor)
    else:
        assert os.stat(token['place']).st_mode & 0o777 == 0o400
    assert SharedBlock.attach(token).array('<i8', 1000).sum() == 499500


def test_a_view_that_is_kept_does_not_hinder_the_seal(kind):
    block = SharedBlock.create(8, kind)
    derived = block.array('u1', 8)[:4]
    block.seal()
    assert SharedBlock.attach(block.token()).array('u1', 4).tolist() == derived.tolist()


def test_too_little_memory_is_said_before(kind, monkeypatch, tmp_path):
    monkeypatch.setattr(segments_files, '_IN_MEMORY', str(tmp_path))
    monkeypatch.setattr(available, 'available_memory', lambda: 1 << 20)
    before = open_files()
    with pytest.raises(MemoryError, match=r'x takes 2\.0 MiB .* there are 1\.0 MiB .* left'):
        SharedBlock.create(2 << 20, kind, 'x')
    assert open_files() == before and os.listdir(tmp_path) == []


@pytest.mark.parametrize('code', [errno.ENOMEM, errno.ENOSPC, errno.EFBIG])
def test_a_system_that_gives_no_more(kind, code, monkeypatch, tmp_path):
    def refuse(descriptor, start, count):
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(segments_files, '_IN_MEMORY', str(tmp_path))
    monkeypatch.setattr(os, 'posix_fallocate', refuse, raising=False)
    before = open_files()
    with pytest.raises(MemoryError, match='takes 7.8 KiB .* of shared memory; the system gave 0 '):
        filled(kind)
    assert open_files() == before and os.listdir(tmp_path) == []


def test_a_file_system_that_cannot_reserve(kind, monkeypatch):
    def refuse(descriptor, start, count):
        raise OSError(errno.EOPNOTSUPP, 'not supported')

    monkeypatch.setattr(os, 'posix_fallocate', refuse, raising=False)
    block = SharedBlock.create(3 << 20, kind)
    assert block.array('u1', 3 << 20).sum() == 0
    monkeypatch.delattr(os, 'posix_fallocate')
    assert SharedBlock.attach(filled(kind).token()).array('<i8', 1000).sum() == 499500


def test_an_error_that_is_no_lack_of_memory_stays_what_it_is(kind, monkeypatch):
    def refuse(descriptor, start, count):
        raise OSError(errno.EIO, 'broken')

    monkeypatch.setattr(os, 'posix_fallocate', refuse, raising=False)
    before = open_files()
    with pytest.raises(OSError, match='broken'):
        filled(kind)
    assert open_files() == before


LIMITED = '''
import resource, sys
from fuel.storage.sharing.blocks import SharedBlock
name, kind = sys.argv[1:]
limit = {'FSIZE': 1 << 20, 'AS': 1 << 30}[name]
resource.setrlimit(getattr(resource, f'RLIMIT_{name}'), (limit, limit))
try:
    SharedBlock.create(2 * limit, kind)
except MemoryError as error:
    print(error)
'''


@pytest.mark.parametrize(('name', 'message'), [('FSIZE', 'shared memory; the system gave'),
                                               ('AS', 'cannot be mapped')])
def test_limits_of_the_process_are_an_error_and_no_crash(kind, name, message):
    done = subprocess.run([sys.executable, '-W', 'error', '-c', LIMITED, name, kind], check=False,
                          capture_output=True, text=True, timeout=120,
                          env={**os.environ, 'PYTHONPATH': os.getcwd(),
                               'OPENBLAS_NUM_THREADS': '1'})
    assert message in done.stdout, done.stderr
