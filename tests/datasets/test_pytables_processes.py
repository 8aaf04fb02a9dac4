"""PytablesDataset in processes and threads, its handles and its pickles."""
import copy
import gc
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading

import h5py
import numpy
import pytest
import tables

from fuel.datasets.hdf5 import PytablesDataset
from fuel.schemes import SequentialScheme, ShuffledScheme
from fuel.storage.handles import open_handles
from fuel.storage.tables.files import open_tables
from fuel.streams import DataStream

# Newer Pythons warn about forks in a process with threads, which is what is tried here.
pytestmark = pytest.mark.filterwarnings('ignore:.*multi-threaded.*:DeprecationWarning')

ROWS = 3000
# Read by the bytes, and by PyTables: one in chunks with a filter of its own, one of text.
SOURCES = ('fast', 'packed', 'text')


@pytest.fixture
def path(tmp_path):
    path = str(tmp_path / 'f.h5')
    numbers = numpy.arange(ROWS)
    with tables.open_file(path, 'w') as h5file:
        h5file.create_array('/Data', 'fast', numbers[:, None] * [7, 1], createparents=True)
        h5file.create_carray('/Data', 'packed', obj=numbers, chunkshape=(100,),
                             filters=tables.Filters(1, 'bzip2'))
        text = h5file.create_vlarray('/Data', 'text', tables.VLStringAtom())
        for number in numbers:
            text.append(b'%d' % number)
    return path


def wrong_answers(dataset, seed, times=30):
    """How many of some random requests are answered wrong."""
    rng = numpy.random.default_rng(seed)
    wrong = 0
    for _ in range(times):
        request = rng.integers(0, ROWS, size=12)
        fast, packed, text = dataset.get_data(None, request)
        wrong += not (fast.tolist() == [[7 * number, number] for number in request.tolist()]
                      and packed.tolist() == request.tolist()
                      and text.tolist() == [b'%d' % number for number in request.tolist()])
    return wrong


def work_in_child(dataset, seed, answers):
    answers.put(wrong_answers(dataset, seed))
    dataset.close(None)
    answers.put(len(open_tables()) + len(open_handles()))


@pytest.mark.parametrize('method', ['fork', 'spawn'])
def test_children_read_while_the_parent_reads(path, method):
    dataset = PytablesDataset(path, SOURCES)
    dataset.open()
    assert wrong_answers(dataset, 0) == 0
    context = multiprocessing.get_context(method)
    answers = context.Queue()
    children = [context.Process(target=work_in_child, args=(dataset, seed, answers))
                for seed in range(4)]
    for child in children:
        child.start()
    assert wrong_answers(dataset, 99) == 0
    assert [answers.get(timeout=60) for _ in range(8)] == [0] * 8
    for child in children:
        child.join()
    assert [child.exitcode for child in children] == [0] * 4
    assert wrong_answers(dataset, 100) == 0
    dataset.close()
    answers.close()
    answers.join_thread()


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


@pytest.mark.parametrize('call', ['open', 'close', 'reset', 'next_epoch', 'close_file'])
def test_every_method_may_come_first_in_a_child(path, call):
    dataset = PytablesDataset(path, SOURCES)
    dataset.open()
    inherited = dataset._content._tables._file
    assert inherited is not None
    arguments = (None,) if call in ('close', 'reset', 'next_epoch') else ()

    def child():
        getattr(dataset, call)(*arguments)
        wrong = wrong_answers(dataset, 1)
        return wrong, dataset._content._tables._file is inherited, len(open_tables())

    assert in_child(child) == '(0, False, 1)'
    assert dataset._content._tables._file is inherited
    assert wrong_answers(dataset, 2) == 0
    dataset.close()
    assert not inherited.isopen


def run_threads(work, count=6):
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


def test_threads_read_one_data_set_and_open_and_close_it(path):
    dataset = pickle.loads(pickle.dumps(PytablesDataset(path, SOURCES)))

    def work(seed):
        for step in range(20):
            assert wrong_answers(dataset, seed * 20 + step, times=2) == 0
            if step % 7 == seed % 7:
                dataset.close(None)
            if step % 5 == seed % 5:
                dataset.open()
            if step % 9 == seed:
                dataset.close_file()

    run_threads(work)
    dataset.close_file()
    assert open_tables() == []
    assert path not in open_handles()


def test_threads_read_data_sets_of_their_own(path):
    def work(seed):
        for step in range(5):
            dataset = PytablesDataset(path, SOURCES)
            assert wrong_answers(dataset, seed * 5 + step, times=3) == 0
            if seed % 3:
                dataset.close(None)

    run_threads(work)
    gc.collect()
    assert open_tables() == []
    assert path not in open_handles()


def test_children_are_forked_while_threads_read(path):
    dataset = PytablesDataset(path, SOURCES)
    done = threading.Event()
    wrong = []

    def read():
        while not done.is_set():
            wrong.append(wrong_answers(dataset, 3, times=1))

    thread = threading.Thread(target=read)
    thread.start()
    try:
        said = [in_child(lambda: wrong_answers(dataset, 4, times=2)) for _ in range(10)]
    finally:
        done.set()
        thread.join()
    assert said == ['0'] * 10
    assert not any(wrong)
    dataset.close()


def test_the_file_is_closed_with_the_last_user_and_open_only_where_it_must_be(path):
    dataset = PytablesDataset(path, SOURCES)
    assert (open_tables(), path in open_handles()) == ([], False)
    assert dataset.open() is None
    assert dataset.open() is None
    assert (open_tables(), path in open_handles()) == ([path], True)
    dataset.close(None)
    assert (open_tables(), path in open_handles()) == ([path], True)
    dataset.close(None)
    dataset.close(None)
    assert (open_tables(), path in open_handles()) == ([], False)
    dataset.open()
    dataset.open()
    dataset.close_file()
    assert (open_tables(), path in open_handles()) == ([], False)
    assert wrong_answers(dataset, 5, times=1) == 0
    assert (open_tables(), path in open_handles()) == ([path], True)
    del dataset
    gc.collect()
    assert (open_tables(), path in open_handles()) == ([], False)
    fast = PytablesDataset(path, ('fast',))
    fast.get_data(None, [0])
    assert (open_tables(), path in open_handles()) == ([], True)
    fast.close()
    slow = PytablesDataset(path, ('text',))
    slow.get_data(None, [0])
    slow.describe()
    assert (open_tables(), path in open_handles()) == ([path], False)
    slow.close()


def test_many_data_sets_leak_nothing(path):
    def descriptors():
        return len(os.listdir('/dev/fd'))

    PytablesDataset(path, SOURCES).get_data(None, [0])
    gc.collect()
    before = descriptors()
    for _ in range(200):
        PytablesDataset(path, SOURCES).get_data(None, [0])
    gc.collect()
    assert descriptors() == before
    assert open_tables() == []


def test_the_file_is_read_by_h5py_and_pytables_at_once(path):
    dataset = PytablesDataset(path, SOURCES)
    dataset.open()
    with h5py.File(path) as h5file, tables.open_file(path) as by_tables:
        for seed in range(3):
            assert wrong_answers(dataset, seed, times=2) == 0
            assert h5file['Data/fast'][seed, 1] == seed
            assert by_tables.root.Data.packed[seed + 100] == seed + 100
    assert wrong_answers(dataset, 7, times=2) == 0
    dataset.close()


LEFT_OPEN = '''
import os, sys
from fuel.datasets.hdf5 import PytablesDataset
dataset = PytablesDataset(sys.argv[1], ('fast', 'packed', 'text'))
dataset.open()
if sys.argv[2] == 'child' and not os.fork():
    dataset.get_data(None, [1])
    sys.exit()
if sys.argv[2] == 'child':
    os.wait()
print(dataset.get_data(None, [17])[1].tolist())
'''


@pytest.mark.parametrize('who', ['parent', 'child'])
def test_what_is_left_open_is_closed_quietly_at_exit(path, who):
    done = subprocess.run([sys.executable, '-W', 'error', '-c', LEFT_OPEN, path, who],
                          capture_output=True, text=True, timeout=60, check=False)
    assert (done.stdout, done.stderr, done.returncode) == ('[17]\n', '', 0)


def test_what_is_pickled(path):
    dataset = PytablesDataset(path, SOURCES, 5, axis_labels={'fast': ('batch', 'number')})
    dataset.open()
    dataset.get_data(None, slice(None))
    pickled = pickle.dumps(dataset)
    assert len(pickled) < 800
    assert set(dataset.__getstate__()) == {
        '_example_iteration_scheme', '_stop', 'axis_labels', 'data_node', 'path',
        'provides_sources', 'sources_in_file', 'start'}
    for made in (pickle.loads(pickled), copy.copy(dataset), copy.deepcopy(dataset)):
        made.close(None)
        assert made.num_examples == ROWS - 5
        assert made.stop == ROWS
        assert made.axis_labels == {'fast': ('batch', 'number')}
        assert made.get_data(None, [3])[1].tolist() == [8]
        made.close(None)
    dataset.close(None)


@pytest.mark.parametrize('scheme', [SequentialScheme, ShuffledScheme])
@pytest.mark.parametrize('step', [0, 1, 4])
def test_an_epoch_goes_on_after_unpickling(path, scheme, step):
    stream = DataStream(PytablesDataset(path, SOURCES), iteration_scheme=scheme(ROWS, 700))
    iterator = stream.get_epoch_iterator()
    for _ in range(step):
        next(iterator)
    stream_, iterator_ = pickle.loads(pickle.dumps((stream, iterator)))
    fresh = DataStream(PytablesDataset(path, SOURCES), iteration_scheme=scheme(ROWS, 700))
    fresh.load_state_dict(stream.state_dict())
    for batches in zip(iterator, iterator_, fresh.get_epoch_iterator(), strict=True):
        for source in zip(*batches, strict=True):
            assert len({data.tobytes() if data.dtype != object else tuple(data)
                        for data in source}) == 1
    assert [batch[1].tolist() for batch in stream.get_epoch_iterator()] == [
        batch[1].tolist() for batch in stream_.get_epoch_iterator()]
    for used in (stream, stream_, fresh):
        used.close()


def test_two_epochs_side_by_side(path):
    stream = DataStream(PytablesDataset(path, SOURCES), iteration_scheme=SequentialScheme(60, 20))
    for one, other in zip(stream.get_epoch_iterator(), stream.get_epoch_iterator(), strict=True):
        assert one[1].tolist() == other[1].tolist()
    stream.close()
