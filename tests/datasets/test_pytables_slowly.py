"""Every kind of node read through PyTables itself, as where Fuel cannot decode the chunks."""
import multiprocessing
import threading

import numpy
import pytest
import tables

from fuel.datasets.hdf5 import PytablesDataset
from fuel.storage.tables import rows as node_rows
from tests.datasets.pytables_files import (
    assert_reads,
    one_source,
    read_by_tables,
    some_arrays,
    ways,
    write_arrays,
    write_ragged,
    write_tables,
)

# Newer Pythons warn about forks in a process with threads, which is what is tried here.
pytestmark = pytest.mark.filterwarnings('ignore:.*multi-threaded.*:DeprecationWarning')


@pytest.fixture(autouse=True)
def _only_pytables(monkeypatch):
    def refuse(dataset, opened, dtype=None):
        raise LookupError('not now')

    monkeypatch.setattr(node_rows, 'fixed_rows', refuse)
    monkeypatch.setattr(node_rows, 'HeapRows', refuse)


@pytest.mark.parametrize('filters', [
    None, tables.Filters(5, 'zlib', shuffle=True, fletcher32=True), tables.Filters(5, 'blosc'),
    tables.Filters(5, 'blosc2:zstd')], ids=str)
def test_arrays(tmp_path, filters):
    path = write_arrays(tmp_path / 'f.h5', filters, chunked=True)
    for name in (*some_arrays(), 'as_int16_swapped', 'as_float64_swapped', 'waves_swapped'):
        dataset = PytablesDataset(path, (name,))
        assert ways(dataset) == {name: 'library'}
        assert dataset.describe()[name].reason == 'not now'
        assert_reads(dataset, read_by_tables(path, name))


@pytest.mark.parametrize('order', ['little', 'big'])
def test_tables(tmp_path, order):
    path = write_tables(tmp_path / 'f.h5', order, tables.Filters(5, 'blosc'))
    expected = read_by_tables(path, 'records')
    assert_reads(one_source(path, 'records'), expected)
    for column in ('number', 'pixels', 'name', 'good', 'wave', 'point'):
        assert_reads(one_source(path, f'records/{column}'), expected[column])
    for column in ('x', 'inside'):
        assert_reads(one_source(path, f'records/point/{column}'), expected['point'][column])


def test_ragged_arrays(tmp_path):
    path, rows = write_ragged(tmp_path / 'f.h5')
    for name in ('integers', 'pairs', 'switches', 'names'):
        dataset = PytablesDataset(path, (name,))
        assert ways(dataset) == {name: 'library'}
        for request in ([3, 59, 3], slice(1, 60, 9)):
            wanted = [rows[name][place] for place in numpy.arange(60)[request]]
            for found, row in zip(dataset.get_data(None, request)[0], wanted, strict=True):
                assert found.dtype == row.dtype
                assert numpy.array_equal(found, row)
        assert numpy.array_equal(dataset.get_data(None, 4)[0], rows[name][4])
        dataset.close()


def read_rows(path, seeds, answers):
    rng = numpy.random.default_rng(seeds)
    dataset = PytablesDataset(path, ('x',))
    for _ in range(10):
        request = rng.integers(0, 4000, size=16)
        answers.append(dataset.get_data(None, request)[0][:, 7].tolist() == (request * 3).tolist())
    dataset.close()


def test_blosc_with_its_threads_after_a_fork_and_in_threads(tmp_path):
    path = str(tmp_path / 'f.h5')
    rows = numpy.repeat(numpy.arange(4000)[:, None] * 3, 128, axis=1)
    with tables.open_file(path, 'w') as h5file:
        h5file.create_carray('/Data', 'x', obj=rows, createparents=True, chunkshape=(1000, 128),
                             filters=tables.Filters(5, 'blosc'))
    answers = []
    read_rows(path, 0, answers)
    threads = [threading.Thread(target=read_rows, args=(path, seed, answers)) for seed in (1, 2)]
    for thread in threads:
        thread.start()
    child = multiprocessing.get_context('fork').Process(target=read_in_child, args=(path,))
    child.start()
    for thread in threads:
        thread.join()
    child.join()
    assert child.exitcode == 0
    assert answers == [True] * 30


def read_in_child(path):
    answers = []
    read_rows(path, 3, answers)
    assert answers == [True] * 10
