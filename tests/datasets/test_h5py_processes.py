"""HDF5 data sets in forked processes and in threads."""
import gc
import os
import pickle
import subprocess
import sys
import threading

import h5py
import numpy
import pytest

from fuel.datasets.hdf5 import H5PYDataset
from fuel.storage.handles import open_handles
from tests.storage.files import some_images, write_file, write_ragged

X = numpy.random.default_rng(0).integers(0, 2 ** 60, size=(5000, 4))

READ_IN_CHILDREN = '''
import multiprocessing, sys
import h5py, numpy
from fuel.datasets.hdf5 import H5PYDataset

def work(dataset, seed, answers):
    parents = seed % 2 and dataset.external_file_handle
    rng = numpy.random.default_rng(seed)
    wrong = 0
    for _ in range(100):
        request = rng.integers(0, 5000, size=20)
        x, y = dataset.get_data(None, request)
        wrong += not (numpy.array_equal(y, request) and numpy.array_equal(x[:, 0], request * 7))
    dataset.close(None)
    answers.put(wrong)

if __name__ == '__main__':
    path, method, given = sys.argv[1:]
    h5file = h5py.File(path)
    dataset = H5PYDataset(h5file if given == 'file' else path, ('all',))
    dataset.open()
    assert dataset.get_data(None, [17, 3])[1].tolist() == [17, 3]
    context = multiprocessing.get_context(method)
    answers = context.Queue()
    children = [context.Process(target=work, args=(dataset, seed, answers)) for seed in range(4)]
    for child in children:
        child.start()
    rng = numpy.random.default_rng(99)
    for _ in range(100):
        request = rng.integers(0, 5000, size=20)
        x, y = dataset.get_data(None, request)
        assert numpy.array_equal(y, request) and numpy.array_equal(x[:, 0], request * 7)
    print([answers.get(timeout=60) for _ in children])
    for child in children:
        child.join()
    print([child.exitcode for child in children])
'''


@pytest.mark.parametrize('method', ['fork', 'spawn'])
@pytest.mark.parametrize('given', ['path', 'file'])
def test_children_read_while_the_parent_reads(tmp_path, method, given):
    numbers = numpy.arange(5000)
    path = write_file(tmp_path / 'f.hdf5', {'x': numbers[:, None] * [7, 1, 1], 'y': numbers},
                      {'all': {'x': (0, 5000), 'y': (0, 5000)}})
    script = tmp_path / 'read_in_children.py'
    script.write_text(READ_IN_CHILDREN)
    done = subprocess.run([sys.executable, '-W', 'error', str(script), path, method, given],
                          capture_output=True, text=True, timeout=120, check=False,
                          env={**os.environ, 'PYTHONPATH': os.getcwd()})
    assert done.stdout.splitlines() == ['[0, 0, 0, 0]', '[0, 0, 0, 0]'], done.stderr


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


@pytest.fixture
def path(tmp_path):
    return write_file(tmp_path / 'f.hdf5', {'x': X}, {'all': {'x': (0, 5000)}})


def test_a_child_never_uses_the_handle_of_its_parent(path):
    dataset = H5PYDataset(path, ('all',))
    dataset.open()
    inherited = dataset._file_handle

    def child():
        x, = dataset.get_data(None, [17])
        own = dataset._file_handle
        dataset.close(None)
        return own is inherited, bool(inherited), x.tolist() == X[[17]].tolist()

    assert in_child(child) == '(False, False, True)'
    assert dataset._file_handle is inherited
    assert numpy.array_equal(dataset.get_data(None, [18])[0], X[[18]])
    dataset.close(None)


def test_every_method_may_come_first_in_a_child(path):
    for call in ('open', 'close', 'reset', 'next_epoch'):
        dataset = H5PYDataset(path, ('all',))
        dataset.open()
        argument = () if call == 'open' else (None,)
        assert in_child(lambda dataset=dataset, call=call, argument=argument: (
            getattr(dataset, call)(*argument),
            dataset.get_data(None, 5)[0].tolist() == X[5].tolist())) == '(None, True)'
        dataset.close(None)


def test_a_child_reads_a_file_given_open_by_its_path(path):
    with h5py.File(path) as h5file:
        dataset = H5PYDataset(h5file, ('all',))
        assert in_child(lambda: (
            dataset._file_handle is h5file, dataset.get_data(None, 7)[0].tolist())) == repr(
                (False, X[7].tolist()))
        assert numpy.array_equal(dataset.get_data(None, [7])[0], X[[7]])


def test_a_child_cannot_read_what_is_only_in_the_memory_of_its_parent(tmp_path):
    name = str(tmp_path / 'never-written.hdf5')
    with h5py.File(name, 'w', driver='core', backing_store=False) as h5file:
        h5file['x'] = X
        h5file.attrs['split'] = H5PYDataset.create_split_array({'all': {'x': (0, 5000)}})
        dataset = H5PYDataset(h5file, ('all',))
        assert 'DataFileNotFoundError' in in_child(lambda: dataset.get_data(None, [0]))
        assert numpy.array_equal(dataset.get_data(None, [7])[0], X[[7]])


def run_threads(work, count=8):
    errors = []

    def guarded(seed):
        try:
            work(seed)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=guarded, args=(seed,)) for seed in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert not any(thread.is_alive() for thread in threads)
    assert errors == []


def test_threads_read_one_data_set(path):
    dataset = H5PYDataset(path, ('all',))

    def work(seed):
        rng = numpy.random.default_rng(seed)
        for step in range(60):
            request = rng.integers(0, 5000, size=10)
            assert numpy.array_equal(dataset.get_data(None, request)[0], X[request])
            if step % 7 == seed % 7:
                dataset.close(None)
            if step % 5 == seed % 5:
                dataset.open()

    run_threads(work)
    while path in open_handles():
        dataset.close(None)


def test_threads_read_data_sets_of_their_own(path):
    def work(seed):
        rng = numpy.random.default_rng(seed)
        for _ in range(10):
            dataset = H5PYDataset(path, ('all',), load_in_memory=bool(seed % 2))
            request = rng.integers(0, 5000, size=10)
            assert numpy.array_equal(dataset.get_data(None, request)[0], X[request])
            if seed % 3:
                dataset.close(None)

    run_threads(work)
    gc.collect()
    assert path not in open_handles()


def test_threads_load_into_memory_once(path, monkeypatch):
    loads = []
    load = H5PYDataset.load
    dataset = pickle.loads(pickle.dumps(H5PYDataset(path, ('all',), load_in_memory=True)))
    monkeypatch.setattr(H5PYDataset, 'load', lambda self: (loads.append(1), load(self)))
    run_threads(lambda seed: dataset.get_data(None, [seed]))
    assert loads == [1]


class Slow(H5PYDataset):
    """Changes its data after the base class has loaded them."""

    entered = threading.Event()
    go_on = threading.Event()

    def load(self):
        super().load()
        self.entered.set()
        assert self.go_on.wait(30)
        self.data_sources = [-data for data in self.data_sources]


def test_threads_wait_until_a_subclass_has_loaded_all(path):
    Slow.go_on.set()
    dataset = pickle.loads(pickle.dumps(Slow(path, ('all',), load_in_memory=True)))
    Slow.entered.clear()
    Slow.go_on.clear()
    threads = threading.Thread(target=lambda: (Slow.entered.wait(30), Slow.go_on.set()))
    threads.start()
    run_threads(lambda seed: numpy.testing.assert_array_equal(
        dataset.get_data(None, [seed])[0], -X[[seed]]))
    threads.join()


def test_threads_read_images_of_different_shapes(tmp_path):
    images = some_images(50)
    dataset = H5PYDataset(write_ragged(tmp_path / 'f.hdf5', images), ('all',))

    def work(seed):
        rng = numpy.random.default_rng(seed)
        for _ in range(30):
            request = rng.integers(0, 50, size=5)
            read, numbers = dataset.get_data(None, request)
            assert numpy.array_equal(numbers, request)
            for image, number in zip(read, request, strict=True):
                assert numpy.array_equal(image, images[number])

    run_threads(work)
    dataset.close(None)
