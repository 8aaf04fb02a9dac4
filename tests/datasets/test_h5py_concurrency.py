"""HDF5 data sets read at once by threads and processes, in all ways; and what is left open."""
import gc
import os
import pathlib
import resource
import subprocess
import sys
import threading

import h5py
import numpy
import pytest

from fuel import config
from fuel.datasets.hdf5 import H5PYDataset
from fuel.storage.handles import open_handles
from tests.datasets.three_ways import read_much, write_three_ways, wrong_values

ROOT = pathlib.Path(__file__).parents[2]
FEW = 60


@pytest.fixture(scope='module')
def path(tmp_path_factory):
    return write_three_ways(tmp_path_factory.mktemp('ways') / 'ways.hdf5')


def run(program, *arguments):
    """Run a program in a process of its own; return its lines."""
    process = subprocess.run([sys.executable, '-X', 'faulthandler', '-c', program, *arguments],
                             capture_output=True, text=True, timeout=120, cwd=ROOT, check=False)
    assert process.returncode == 0, process.stderr
    return process.stdout.splitlines()


def at_once(work, count=8):
    """Do something in several threads that begin together; return their results."""
    results, barrier = [], threading.Barrier(count)

    def guarded(seed):
        try:
            barrier.wait(60)
            results.append(work(seed))
        except BaseException as error:
            results.append(repr(error))

    threads = [threading.Thread(target=guarded, args=(seed,)) for seed in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not any(thread.is_alive() for thread in threads)
    return results


@pytest.mark.parametrize('cache_bytes', [None, 0, 5000])
@pytest.mark.parametrize('threads', [1, 2])
def test_threads_read_in_all_ways(path, cache_bytes, threads):
    if cache_bytes is not None:
        config.chunk_cache_bytes = cache_bytes
    config.num_threads = threads
    dataset = H5PYDataset(path, ('all',))
    # The first reads, which make the readers, come at once too.
    assert at_once(lambda seed: read_much(dataset, seed, 25)) == [0] * 8
    dataset.close(None)


def test_threads_read_while_others_open_and_close(path):
    dataset = H5PYDataset(path, ('all',))

    def work(seed):
        wrong = 0
        for step in range(8):
            if seed % 2:
                with_own = H5PYDataset(path, ('all',), load_in_memory=step % 4 == 3)
                wrong += read_much(with_own, seed, 2)
                with_own.close(None)
                dataset.close(None)
            wrong += read_much(dataset, seed * 100 + step, 2)
        return wrong

    assert at_once(work) == [0] * 8
    while path in open_handles():
        dataset.close(None)


PROCESSES = '''
import multiprocessing, sys, threading
from fuel import config
from fuel.datasets.hdf5 import H5PYDataset
from tests.datasets.three_ways import read_much

def work(dataset, seed, answers):
    if seed % 2:        # in threads of the child
        wrong = []
        threads = [threading.Thread(target=lambda extra=extra: wrong.append(
            read_much(dataset, seed * 10 + extra, 20))) for extra in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        answers.put(wrong == [0, 0])
    else:
        answers.put(read_much(dataset, seed, 40) == 0)
    dataset.close(None)

if __name__ == '__main__':
    config.num_threads = 2
    dataset = H5PYDataset(sys.argv[1], ('all',))
    dataset.open()
    assert read_much(dataset, 99, 10) == 0
    children, queues = [], []
    for method in ('fork', 'spawn'):
        context = multiprocessing.get_context(method)
        for seed in range(4):
            queues.append(context.Queue())
            children.append(context.Process(target=work, args=(dataset, seed, queues[-1])))
    for child in children:
        child.start()
    assert read_much(dataset, 98, 30) == 0
    print([answers.get(timeout=90) for answers in queues])
    for child in children:
        child.join(90)
    print([child.exitcode for child in children])
'''


def test_forked_and_spawned_processes_read_at_once(path, tmp_path):
    program = tmp_path / 'program.py'
    program.write_text(PROCESSES)
    process = subprocess.run([sys.executable, str(program), path], capture_output=True, text=True,
                             timeout=200, cwd=ROOT, check=False,
                             env={**os.environ, 'PYTHONPATH': str(ROOT)})
    assert process.returncode == 0, process.stderr
    assert process.stdout.splitlines() == [str([True] * 8), str([0] * 8)]


FORK_UNDER_THREADS = '''
import os, sys, threading
from fuel import config
from fuel.datasets.hdf5 import H5PYDataset
from tests.datasets.three_ways import read_much

config.num_threads = 2
dataset = H5PYDataset(sys.argv[1], ('all',), sources=('contiguous', 'gzip', 'chunked', 'lzf'))
stop, wrong = threading.Event(), []

def read():
    while not stop.is_set():
        wrong.append(read_much(dataset, len(wrong), 3))

threads = [threading.Thread(target=read) for _ in range(3)]
for thread in threads:
    thread.start()
codes = []
for _ in range(10):
    child = os.fork()
    if not child:
        os._exit(read_much(dataset, 5, 3))
    codes.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
stop.set()
for thread in threads:
    thread.join()
print(codes == [0] * 10, sum(wrong))
'''


def test_children_are_forked_while_threads_read(path):
    """Whatever locks the threads hold at that moment must not be held in the child."""
    assert run(FORK_UNDER_THREADS, path) == ['True 0']


CHANGED = '''
import os, shutil, sys
import h5py, numpy
from fuel.datasets.hdf5 import H5PYDataset
from fuel.exceptions import DataFileError
from tests.datasets.three_ways import wrong_values

path, source, change, given = sys.argv[1:]
def change_it():
    size = os.path.getsize(path)
    status = os.stat(path)
    if change == 'cut off':
        os.truncate(path, size // 3)
    elif change == 'emptied':
        os.truncate(path, 0)
    elif change == 'appended to':
        with open(path, 'ab') as stream:
            stream.write(b'more')
    elif change == 'written again in place':
        shutil.copyfile(path + '.other', path)
    # As after some time, however coarse the clock of the file system is.
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns + 10 ** 9))

h5file = h5py.File(path) if given == 'file' else path
dataset = H5PYDataset(h5file, ('all',), sources=(source,))
loaded = H5PYDataset(h5file, ('all',), sources=(source,), load_in_memory=True)
dataset.open()
assert wrong_values(dataset, [5, 2000, 5]) == 0
change_it()
for request in ([5, 2000, 5], [2999, 1], slice(0, 3000), 7):
    try:
        dataset.get_data(None, request)
    except DataFileError as error:
        assert isinstance(error, OSError) and path in str(error), error
        print('told')
    else:
        print('not told')
assert wrong_values(loaded, [5, 2000, 5]) == 0
dataset.close(None)
os._exit(0) if given == 'file' else None
'''


@pytest.mark.parametrize('source', ['contiguous', 'chunked', 'gzip', 'scaleoffset', 'flat'])
@pytest.mark.parametrize('change', ['cut off', 'emptied', 'appended to', 'touched',
                                    'written again in place'])
def test_a_file_that_is_changed_while_it_is_open(tmp_path, source, change):
    path = write_three_ways(tmp_path / 'ways.hdf5')
    write_three_ways(path + '.other', first=50)
    program = CHANGED.replace('os._exit(0)', 'sys.stdout.flush(), os._exit(0)')
    assert run(program, path, source, change, 'path') == ['told'] * 4


@pytest.mark.parametrize('change', ['cut off', 'touched'])
def test_a_file_given_open_that_is_changed(tmp_path, change):
    path = write_three_ways(tmp_path / 'ways.hdf5')
    program = CHANGED.replace('os._exit(0)', 'sys.stdout.flush(), os._exit(0)')
    assert run(program, path, 'contiguous', change, 'file') == ['told'] * 4


def test_after_a_change_the_file_is_read_as_it_is_now(tmp_path):
    path = write_three_ways(tmp_path / 'ways.hdf5')
    dataset = H5PYDataset(path, ('all',))
    dataset.open()
    assert wrong_values(dataset, [5, 2000, 5]) == 0
    write_three_ways(path + '.other', first=50)
    os.replace(path + '.other', path)
    # Renaming leaves the old file as it was to those that have it open.
    try:
        assert wrong_values(dataset, [5, 2000, 5]) == 0
    except OSError as error:
        assert path in str(error)
    dataset.close(None)
    dataset.open()
    assert wrong_values(dataset, [5, 2000, 5], first=50) == 0
    fresh = H5PYDataset(path, ('all',))
    assert wrong_values(fresh, [7, 8], first=50) == 0
    dataset.close(None)
    fresh.close(None)
    assert path not in open_handles()


def test_a_file_written_again_while_no_one_has_it_open(tmp_path):
    path = write_three_ways(tmp_path / 'ways.hdf5')
    dataset = H5PYDataset(path, ('all',))
    for first in (0, 50, 20):
        write_three_ways(path, first)
        assert wrong_values(dataset, [5, 2000, 5], first) == 0
        dataset.close(None)


def held():
    """Return how many files and mappings this process has."""
    gc.collect()
    with open('/proc/self/maps', encoding='utf-8', errors='replace') as stream:
        maps = [line for line in stream if '.hdf5' in line]
    return len(os.listdir('/proc/self/fd')), len(maps)


def memory():
    """Return the bytes that this process has in memory."""
    gc.collect()
    with open('/proc/self/statm', encoding='utf-8') as stream:
        return int(stream.read().split()[1]) * resource.getpagesize()


def closed(path):
    dataset = H5PYDataset(path, ('all',))
    dataset.open()
    assert wrong_values(dataset, [5, 17, 5]) == 0
    dataset.close(None)


def forgotten(path):
    dataset = H5PYDataset(path, ('all',))
    dataset.open()
    assert wrong_values(dataset, [5, 17, 5]) == 0


def never_opened(path):
    assert H5PYDataset(path, ('all',), sources=('gzip',)).num_examples == FEW


def loaded(path):
    dataset = H5PYDataset(path, ('all',), subset=slice(0, 30), load_in_memory=True)
    assert wrong_values(dataset, [5, 17, 5]) == 0


def given(path):
    with h5py.File(path) as h5file:
        dataset = H5PYDataset(h5file, ('all',))
        assert wrong_values(dataset, [5, 17, 5]) == 0
        dataset.close(None)
        assert h5file


def failed(path):
    with pytest.raises(ValueError, match='nothing'):
        H5PYDataset(path, ('all',), sources=('nothing',))
    with pytest.raises(ValueError, match='past the end'):
        H5PYDataset(path, ('all',)).get_data(None, [FEW])


@pytest.fixture
def small(tmp_path):
    return write_three_ways(tmp_path / 'small.hdf5', count=FEW)


def test_a_thousand_data_sets_leave_nothing(small):
    uses = (closed, forgotten, never_opened, loaded, given, failed)
    for number in range(120):
        uses[number % len(uses)](small)
    before, bytes_before = held(), memory()
    for number in range(1000):
        uses[number % len(uses)](small)
    assert held() == before
    assert small not in open_handles()
    # A file, an index or a cache that stayed each time would be more than this.
    assert memory() - bytes_before < 4 * 2 ** 20


def test_a_thousand_data_sets_at_once_share_one_handle(small):
    before = held()[0]
    datasets = [H5PYDataset(small, ('all',), sources=('chunked', 'gzip')) for _ in range(1000)]
    for dataset in datasets:
        dataset.open()
        assert wrong_values(dataset, [4]) == 0
    # The handle of HDF5, and one for reading past it.
    assert held()[0] <= before + 2
    for dataset in datasets:
        dataset.close(None)
    assert held()[0] == before


@pytest.mark.parametrize('mode', ['r', 'r+'])
def test_a_file_given_is_used_and_never_closed(tmp_path, mode):
    path = write_three_ways(tmp_path / 'ways.hdf5')
    with h5py.File(path, mode) as h5file:
        dataset = H5PYDataset(h5file, ('all',))
        for _ in range(2):
            dataset.open()
            assert wrong_values(dataset, [5, 17, 5]) == 0
            assert dataset._file_handle is h5file
            dataset.close(None)
            assert h5file
            assert h5file['contiguous'][2].tolist() == h5file['gzip'][2].tolist()
        del dataset
        gc.collect()
        assert h5file
        assert path not in open_handles()
    # Closed for good: it can be opened for writing.
    with h5py.File(path, 'r+') as h5file:
        h5file['more'] = 1


@pytest.mark.parametrize('flush', [False, True])
def test_changes_that_are_not_in_the_file_yet_are_seen(tmp_path, flush):
    path = write_three_ways(tmp_path / 'ways.hdf5')
    with h5py.File(path, 'r+') as h5file:
        dataset = H5PYDataset(h5file, ('all',), sources=('chunked', 'contiguous', 'gzip', 'lzf'))
        assert wrong_values(dataset, [5, 17, 5]) == 0
        for step in range(5):
            for source in dataset.sources:
                h5file[source][17] = step
            if flush:
                h5file.flush()
            for got in dataset.get_data(None, [5, 17, 5]):
                assert got[1].tolist() == [step] * 4
            assert numpy.array_equal(dataset.get_data(None, 17)[0], [step] * 4)
        dataset.close(None)
        assert h5file
