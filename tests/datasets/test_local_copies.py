"""Data sets that read copies of their files on this machine."""
import multiprocessing
import os
import pickle
import threading

import h5py
import numpy
import pytest
import tables
from numpy.testing import assert_array_equal

import fuel
from fuel.datasets.hdf5 import H5PYDataset, PytablesDataset
from fuel.exceptions import DataFileError, DataFileNotFoundError, DataLayoutError
from fuel.schemes import SequentialScheme
from fuel.storage.handles import open_handles
from fuel.streams import DataStream
from fuel.transformers import Mapping, MultiProcessing
from fuel.utils import cache

ROWS = numpy.arange(300).reshape(100, 3)


def write(path, rows=ROWS):
    with h5py.File(f'{path}.new', 'w') as file:
        file['x'] = rows
        file.attrs['split'] = H5PYDataset.create_split_array({'train': {'x': (0, len(rows))}})
    os.replace(f'{path}.new', path)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, '_files', cache._Files())
    fuel.config.local_data_path = str(tmp_path / 'local')
    return tmp_path / 'local'


@pytest.fixture
def path(tmp_path):
    write(tmp_path / 'data.hdf5')
    return str(tmp_path / 'data.hdf5')


def copies(folder):
    return sorted(str(folder / name) for name in os.listdir(folder) if name != '.fuel-locks')


def read_from(dataset):
    """Return the file that a data set has open."""
    dataset.open()
    try:
        return dataset._file_handle.filename
    finally:
        dataset.close()


def test_without_the_setting_the_file_itself_is_read(path):
    assert read_from(H5PYDataset(path, ('train',))) == path


def test_the_copy_is_read_and_the_path_is_that_of_the_file(path, folder):
    dataset = H5PYDataset(path, ('train',))
    assert dataset.path == path
    assert [read_from(dataset)] == copies(folder)
    dataset.open()
    assert list(open_handles()) == copies(folder)
    assert_array_equal(dataset.get_data(request=[5, 3])[0], ROWS[[5, 3]])
    dataset.close()
    assert open_handles() == {}


def test_the_pickle_knows_nothing_of_the_copy(path, folder):
    dataset = H5PYDataset(path, ('train',))
    content = pickle.dumps(dataset)
    assert path.encode() in content
    assert str(folder).encode() not in content
    fuel.config.local_data_path = ''            # as on another machine
    assert read_from(pickle.loads(content)) == path


def test_a_file_that_was_replaced_is_copied_again(path, folder):
    dataset = H5PYDataset(path, ('train',))
    first, = copies(folder)
    write(path, ROWS + 7)
    assert_array_equal(dataset.get_data(request=[0, 99])[0], ROWS[[0, 99]] + 7)
    assert first not in copies(folder)
    dataset.close()
    write(path, ROWS[:50])
    with pytest.raises(DataFileError, match=r'data\.hdf5: the file was changed since'):
        dataset.get_data(request=[0])


def test_while_it_is_open_the_old_file_is_read(path, folder):
    dataset = H5PYDataset(path, ('train',))
    dataset.open()
    write(path, ROWS + 7)
    assert_array_equal(dataset.get_data(request=[99])[0], ROWS[[99]])
    assert_array_equal(H5PYDataset(path, ('train',)).get_data(request=[99])[0], ROWS[[99]] + 7)
    assert_array_equal(dataset.get_data(request=[99])[0], ROWS[[99]])
    dataset.close()
    assert_array_equal(dataset.get_data(request=[99])[0], ROWS[[99]] + 7)


def test_a_copy_that_somebody_removed(path, folder):
    dataset = H5PYDataset(path, ('train',))
    os.remove(*copies(folder))
    assert_array_equal(dataset.get_data(request=[99])[0], ROWS[[99]])
    dataset.close()
    os.remove(*copies(folder))
    assert_array_equal(dataset.get_data(request=[99])[0], ROWS[[99]])


def test_a_copy_that_cannot_be_opened(path, folder, monkeypatch, caplog):
    dataset = H5PYDataset(path, ('train',))
    other = folder / 'spoiled'
    other.write_bytes(b'no HDF5 file')
    dataset.close()
    monkeypatch.setattr(cache._files, 'place', lambda *_: str(other))
    assert read_from(dataset) == path
    assert f'{path} is read, for a copy of it cannot be opened' in caplog.text


def test_a_missing_file_is_missed_as_always(tmp_path, folder):
    with pytest.raises(DataFileNotFoundError, match=r'missing\.hdf5: there is no such file'):
        H5PYDataset(tmp_path / 'missing.hdf5', ('train',))
    assert not folder.exists()


def test_without_room_the_file_itself_is_read(path, folder, caplog):
    fuel.config.local_data_limit = 100
    dataset = H5PYDataset(path, ('train',))
    assert read_from(dataset) == path
    assert_array_equal(dataset.get_data(request=slice(0, 100))[0], ROWS)
    assert len([record for record in caplog.records if record.levelname == 'WARNING']) == 1


@pytest.mark.parametrize('load_in_memory', [False, True, 'shared'])
def test_other_drivers_and_ways_to_load(path, folder, load_in_memory):
    dataset = H5PYDataset(path, ('train',), load_in_memory=load_in_memory)
    loaded = pickle.loads(pickle.dumps(dataset))
    assert_array_equal(loaded.get_data(request=[7])[0], ROWS[[7]])
    assert len(copies(folder)) == 1
    assert read_from(H5PYDataset(path, ('train',), driver='core')) == path


def where(batch):
    """Tell for each example which files this process has open."""
    return ([list(open_handles())] * len(batch[0]),)


def test_worker_processes_read_the_copy(path, folder):
    stream = DataStream(H5PYDataset(path, ('train',)), iteration_scheme=SequentialScheme(100, 10))
    stream = MultiProcessing(Mapping(stream, where, add_sources=('files',)))
    rows = list(stream.get_epoch_iterator())
    stream.close()
    assert_array_equal(numpy.concatenate([row for row, _ in rows]), ROWS)
    assert all(list(files[0]) == copies(folder) for _, files in rows)
    assert len(copies(folder)) == 1


def read_in_child(dataset, answers):
    answers.put((dataset.get_data(request=[4])[0].tolist(), read_from(dataset)))


@pytest.mark.filterwarnings('ignore:.*fork.*:DeprecationWarning')
@pytest.mark.parametrize('method', ['fork', 'spawn'])
def test_child_processes_find_it_themselves(path, folder, method, monkeypatch):
    monkeypatch.setenv('FUEL_LOCAL_DATA_PATH', str(folder))
    dataset = H5PYDataset(path, ('train',))
    dataset.open()
    context = multiprocessing.get_context(method)
    answers = context.Queue()
    process = context.Process(target=read_in_child, args=(dataset, answers))
    process.start()
    assert answers.get(timeout=60) == ([[12, 13, 14]], *copies(folder))
    process.join()
    dataset.close()


def test_threads_make_one_copy(path, folder, caplog):
    caplog.set_level('INFO')
    found = []
    barrier = threading.Barrier(8)

    def read():
        barrier.wait()
        found.append(read_from(H5PYDataset(path, ('train',))))

    threads = [threading.Thread(target=read) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[0]] * 8 == found
    assert [found[0]] == copies(folder)
    assert len([message for message in caplog.messages if 'copying' in message]) == 1


def write_tables(path, rows):
    with tables.open_file(f'{path}.new', 'w') as file:
        file.create_array('/Data', 'x', obj=rows, createparents=True)
        ragged = file.create_vlarray('/Data', 'y', tables.Int64Atom())
        for row in rows:
            ragged.append(row[:2])
    os.replace(f'{path}.new', path)


def test_files_of_pytables(tmp_path, folder):
    path = str(tmp_path / 'tables.h5')
    write_tables(path, ROWS)
    dataset = PytablesDataset(path, ('x', 'y'))
    first, = copies(folder)
    dataset.open()
    assert first in open_handles()
    x, y = dataset.get_data(request=[3])
    assert_array_equal(x, ROWS[[3]])
    assert_array_equal(y[0], ROWS[3, :2])
    dataset.close()
    assert dataset.path == path
    write_tables(path, ROWS + 1)
    assert_array_equal(dataset.get_data(request=[3])[0], ROWS[[3]] + 1)
    second, = copies(folder)
    assert second != first
    dataset.close()
    os.remove(second)
    assert_array_equal(pickle.loads(pickle.dumps(dataset)).get_data(request=[3])[0], ROWS[[3]] + 1)
    dataset.close()
    os.remove(*copies(folder))
    assert_array_equal(dataset.get_data(request=[3])[0], ROWS[[3]] + 1)
    dataset.close()
    write_tables(path, ROWS[:5])
    with pytest.raises(DataLayoutError, match=r'tables\.h5: the file is not what it was'):
        dataset.get_data(request=[3])
