import gc
import os
import pathlib
import subprocess
import sys
import threading

import h5py
import numpy
import pytest

from fuel.exceptions import DataFileError, DataFileNotFoundError
from fuel.storage import handles
from fuel.storage.handles import FileLease, open_for_reading, open_handles


@pytest.fixture
def path(tmp_path):
    path = str(tmp_path / 'numbers.hdf5')
    with h5py.File(path, 'w') as h5file:
        h5file['x'] = numpy.arange(1000)
    return path


@pytest.fixture(autouse=True)
def _all_closed():
    assert open_handles() == {}
    yield
    gc.collect()
    assert open_handles() == {}


def writable(path):
    """Say whether nobody has a file open."""
    try:
        h5py.File(path, 'a').close()
    except OSError:
        return False
    return True


def test_a_file_is_open_as_long_as_somebody_uses_it(path):
    first, second = FileLease(), FileLease()
    first.open(path)
    second.open(path)
    assert first.peek(path) is second.peek(path)
    assert open_handles() == {path: 2}
    first.close()
    assert second.peek(path)['x'][3] == 3
    second.close()
    assert open_handles() == {}
    assert writable(path)


def test_every_open_takes_one_close(path):
    lease = FileLease()
    lease.open(path)
    lease.open(path)
    lease.close()
    assert not writable(path)
    lease.close()
    assert writable(path)
    lease.close()
    lease.open(path)
    assert lease.peek(path)['x'][5] == 5
    lease.close()
    assert writable(path)


def test_a_file_is_opened_on_first_use_and_closed(path):
    lease = FileLease()
    assert lease.peek(path)['x'][5] == 5
    assert open_handles() == {path: 1}
    lease.close()
    assert open_handles() == {}


def test_a_lease_that_is_forgotten_closes_the_file(path):
    lease = FileLease()
    lease.open(path)
    del lease
    gc.collect()
    assert writable(path)


def test_a_lease_may_be_collected_while_the_pool_is_locked(path):
    lease = FileLease()
    lease.open(path)
    with handles._pool.locked():
        del lease
        gc.collect()
    assert writable(path)


def test_a_held_file_is_not_closed_under_its_reader(path):
    lease = FileLease()
    held = lease.hold(path)
    lease.close()
    assert held.file['x'][7] == 7
    held.release()
    assert not held.file
    assert writable(path)


def test_one_file_by_two_names_is_opened_once(path, tmp_path):
    link = str(tmp_path / 'link.hdf5')
    os.symlink(path, link)
    first, second = FileLease(), FileLease()
    assert first.peek(path) is second.peek(link)
    first.close()
    second.close()


def test_a_file_put_in_the_place_of_an_open_one_is_read_itself(path, tmp_path):
    old, new = FileLease(), FileLease()
    old.open(path)
    with h5py.File(tmp_path / 'new', 'w') as h5file:
        h5file['x'] = -numpy.arange(1000)
    os.replace(tmp_path / 'new', path)
    assert new.peek(path)['x'][5] == -5
    assert old.peek(path)['x'][5] == 5
    old.close()
    assert old.peek(path)['x'][5] == -5
    old.close()
    new.close()


def test_another_path_or_driver_takes_another_handle(path, tmp_path):
    other = str(tmp_path / 'other.hdf5')
    with h5py.File(other, 'w') as h5file:
        h5file['x'] = -numpy.arange(1000)
    lease = FileLease()
    first = lease.peek(path)
    assert lease.peek(other)['x'][5] == -5
    assert not first
    assert lease.peek(other, 'core').driver == 'core'
    assert open_handles() == {other: 1}
    lease.close()


def test_a_handle_closed_from_outside_is_opened_again(path):
    lease = FileLease()
    lease.open(path)
    lease.peek(path).close()
    assert lease.peek(path)['x'][5] == 5
    lease.close()


def test_a_missing_file_names_the_path_and_what_to_do(tmp_path):
    with pytest.raises(DataFileNotFoundError, match=r'gone\.hdf5.*fuel-convert') as caught:
        open_for_reading(str(tmp_path / 'gone.hdf5'))
    assert isinstance(caught.value, FileNotFoundError)


def test_files_of_another_kind_are_told(tmp_path):
    (tmp_path / 'text').write_text('no HDF5 ' * 1000)
    (tmp_path / 'empty').write_text('')
    for name, words in (('text', 'not an HDF5 file'), ('empty', 'is empty'), ('.', 'a folder')):
        with pytest.raises(DataFileError, match=words) as caught:
            open_for_reading(str(tmp_path / name))
        assert isinstance(caught.value, OSError)


def test_a_file_that_was_cut_off_is_told(path, tmp_path):
    whole = pathlib.Path(path).read_bytes()
    (tmp_path / 'cut').write_bytes(whole[:len(whole) // 2])
    with pytest.raises(DataFileError, match='cut off'):
        open_for_reading(str(tmp_path / 'cut'))


def test_a_file_that_is_being_written_elsewhere_is_told(path):
    writer = subprocess.Popen(
        [sys.executable, '-c', 'import h5py, sys; f = h5py.File(sys.argv[1], "a");'
         'print("open", flush=True); sys.stdin.read()', path],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with writer:
        assert writer.stdout.readline() == b'open\n'
        with pytest.raises(DataFileError, match='open for writing'):
            open_for_reading(path)
        writer.stdin.close()
    assert open_for_reading(path).close() is None


def in_child(work):
    """Run a function in a forked process, and return what it wrote."""
    read, write = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            os.write(write, repr(work()).encode())
        except BaseException as error:
            os.write(write, f'{type(error).__name__}: {error}'.encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read, 'rb') as pipe:
        said = pipe.read().decode()
    os.waitpid(pid, 0)
    return said


def test_a_child_opens_a_file_of_its_own(path):
    lease = FileLease()
    lease.open(path)
    inherited = lease.peek(path)

    def child():
        own = lease.peek(path)
        return own is not inherited, not inherited, int(own['x'][17]), open_handles() == {path: 1}

    assert in_child(child) == '(True, True, 17, True)'
    assert lease.peek(path) is inherited
    assert inherited['x'][18] == 18
    lease.close()


def test_a_child_may_drop_what_it_inherited(path):
    lease = FileLease()
    lease.open(path)
    assert in_child(lambda: (lease.close(), lease.close(), open_handles())) == '(None, None, {})'
    assert lease.peek(path)['x'][18] == 18
    assert not writable(path)
    lease.close()


def test_a_fork_while_another_thread_holds_the_pool_does_not_block_the_child(path):
    program = f'''
import os, sys, threading, warnings
warnings.simplefilter('ignore')        # Python warns of forks beside threads
from fuel.storage import handles
locked, go_on = threading.Event(), threading.Event()
def hold_the_lock():
    with handles._pool.locked():
        locked.set()
        go_on.wait(30)
thread = threading.Thread(target=hold_the_lock)
thread.start()
locked.wait(30)
if not os.fork():
    lease = handles.FileLease()
    print(int(lease.peek({path!r})['x'][5]), flush=True)
    os._exit(0)
os.wait()
go_on.set()
thread.join()
'''
    said = subprocess.run([sys.executable, '-c', program], capture_output=True, text=True,
                          timeout=60, check=True).stdout
    assert said == '5\n'


def test_many_threads_share_a_file(path):
    wrong = []

    def work(seed):
        rng = numpy.random.default_rng(seed)
        lease = FileLease()
        for _ in range(50):
            index = int(rng.integers(1000))
            held = lease.hold(path)
            if held.file['x'][index] != index:
                wrong.append(index)
            held.release()
            if index % 3 == 0:
                lease.close()
        lease.close()

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert open_handles() == {}


def test_when_the_interpreter_ends_files_are_left_to_h5py(path, monkeypatch):
    lease = FileLease()
    lease.open(path)
    opened = lease.hold(path)
    opened.release()
    with monkeypatch.context() as patch:
        patch.setattr(sys, 'is_finalizing', lambda: True)
        del lease
        assert opened.file
    opened.release()
    assert not opened.file
