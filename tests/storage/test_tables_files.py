"""The handles that PyTables has: who opens and closes them, and when."""
import gc
import os

import numpy
import pytest
import tables

from fuel.exceptions import DataFileError
from fuel.storage.tables import files as tables_files
from fuel.storage.tables.files import TablesLease, open_tables


@pytest.fixture
def path(tmp_path):
    path = str(tmp_path / 'f.h5')
    with tables.open_file(path, 'w') as h5file:
        h5file.create_array('/', 'x', numpy.arange(9))
    return path


def test_a_lease_opens_on_first_use_and_closes_with_the_last_user(path):
    lease = TablesLease(path)
    assert open_tables() == []
    with lease.reading() as h5file:
        assert h5file.root.x[4] == 4
    lease.open()
    lease.open()
    assert open_tables() == [path]
    lease.close()
    with lease.reading() as again:
        assert again is h5file
    lease.close()
    lease.close()
    assert open_tables() == []
    assert not h5file.isopen


def test_a_file_that_others_have_closed_is_opened_again(path):
    lease = TablesLease(path)
    with lease.reading() as h5file:
        pass
    h5file.close()
    with lease.reading() as again:
        assert again.root.x[3] == 3
    lease.close()
    assert open_tables() == []


def test_garbage_is_collected_only_between_calls(path):
    lease, dropped = TablesLease(path), TablesLease(path)
    with dropped.reading() as dropped_file:
        pass
    with lease.reading():
        del dropped
        gc.collect()
        assert dropped_file.isopen
    assert not dropped_file.isopen
    assert open_tables() == [path]
    del lease
    gc.collect()
    assert open_tables() == []


def test_an_error_while_reading_leaves_the_lock_free(path):
    lease = TablesLease(path)
    with pytest.raises(KeyError), lease.reading():
        raise KeyError('x')
    lease.close()
    assert tables_files._files._depth == 0
    with pytest.raises(DataFileError, match='folder'), TablesLease(os.path.dirname(path)).reading():
        pass
    assert tables_files._files._depth == 0
    assert open_tables() == []


def test_a_fork_behind_the_back_of_python(path, monkeypatch):
    lease = TablesLease(path)
    with lease.reading() as inherited:
        pass
    pid = os.getpid()
    monkeypatch.setattr(tables_files.os, 'getpid', lambda: pid + 1)
    with lease.reading() as own:
        assert own is not inherited
        assert not inherited.isopen
        assert own.root.x[2] == 2
    assert open_tables() == [path]
    lease.close()
    monkeypatch.undo()
    assert open_tables() == []
