"""What PytablesDataset says when something is wrong."""
import os
import pickle

import h5py
import numpy
import pytest
import tables

from fuel.datasets.hdf5 import PytablesDataset
from fuel.exceptions import DataFileError, DataFileNotFoundError, DataLayoutError
from fuel.storage.tables.files import open_tables
from tests.datasets.pytables_files import one_source


@pytest.fixture
def path(tmp_path):
    path = str(tmp_path / 'f.h5')
    with tables.open_file(path, 'w') as h5file:
        h5file.create_array('/Data', 'x', numpy.arange(9), createparents=True)
        h5file.create_array('/Data/deep', 'y', numpy.arange(9), createparents=True)
        h5file.create_array('/Data', 'one', numpy.float64(3))
        h5file.create_table('/Data', 'table', {'a': tables.Int8Col()}).append([(1,), (2,), (3,)])
        h5file.create_external_link('/Data', 'away', f'{path}:/Data/x')
        h5file.create_soft_link('/Data', 'lost', '/Data/nothing')
        h5file.create_soft_link('/Data', 'circle', '/Data/circle')
    return path


@pytest.mark.parametrize(('name', 'node', 'message'), [
    ('z', 'Data', r"f\.h5: source 'z': there is no node 'z' in '/Data'; .*'table', 'x'"),
    ('x', 'Deta', r"no node 'Deta' in '/'; those that are there: 'Data'"),
    ('deep/z', 'Data', r"no node 'z' in '/Data/deep'; .*'y'"),
    ('deep', 'Data', r"'/Data/deep' is a group; expected the name of an array .*: 'y'"),
    ('one', 'Data', r"'/Data/one' is a single value"),
    ('x/a', 'Data', r"expected '/Data/x' to be a group or a table, .* followed by 'a'"),
    ('table/b', 'Data', r"table '/Data/table': there is no column 'b'; .*: 'a'"),
    ('table/a/b', 'Data', r"no column 'b'; those that are there: none"),
    ('away', 'Data', r"'/Data/away' leads to '.*f\.h5:/Data/x', in another file"),
    ('circle', 'Data', r"'/Data/circle' leads to '/Data/circle', which leads in a circle"),
    ('lost', 'Data', r"'/Data/lost' leads to '/Data/nothing', which is not there")])
def test_names_that_do_not_lead_to_examples(path, name, node, message):
    with pytest.raises(DataLayoutError, match=message):
        one_source(path, name, data_node=node)
    assert open_tables() == []


def test_a_type_that_pytables_does_not_know(path):
    with h5py.File(path, 'a') as h5file:
        h5file.create_dataset('Data/words', (3,), h5py.string_dtype())
    with (pytest.warns(UserWarning, match='words'),
          pytest.raises(DataLayoutError, match=r"PyTables cannot read '/Data/words'.*H5PYDataset")):
        PytablesDataset(path, ('words',))


@pytest.mark.parametrize(('arguments', 'message'), [
    ({'sources': 'x'}, r"tuple of source names, such as \('x',\)"),
    ({'sources': ()}, 'provides no sources'),
    ({'sources': (1,)}, 'strings; got 1'),
    ({'sources': ('x', 'x')}, r"every source once; got \('x', 'x'\)"),
    ({'sources_in_file': 'x'}, 'sources_in_file: expected a tuple'),
    ({'sources_in_file': ('x', 'y')}, r"each of the 1 sources \('x',\); got 2"),
    ({'data_node': None}, "data_node .* such as 'Data/train'; got None"),
    ({'start': -1}, 'start .* number of a row, from 0; got -1'),
    ({'start': 1.5}, 'start .* got 1.5'), ({'start': True}, 'start .* got True'),
    ({'stop': -1}, 'stop .* got -1'), ({'stop': 10}, r"stop=10 goes past the end .* 9 rows"),
    ({'start': 9}, r'at least one row from start=9 to stop=9'),
    ({'start': 4, 'stop': 4}, r'at least one row from start=4 to stop=4'),
    ({'start': 5, 'stop': 4}, r'at least one row from start=5 to stop=4')])
def test_arguments(path, arguments, message):
    with pytest.raises(ValueError, match=message):
        PytablesDataset(path, **{'sources': ('x',), **arguments})


def test_files_that_are_none(tmp_path, path):
    with pytest.raises(DataFileNotFoundError, match=r'missing\.h5.*attribute path'):
        PytablesDataset(tmp_path / 'missing.h5', ('x',))
    for name, content, message in (('empty', b'', 'is empty'),
                                   ('text', b'one,two\n' * 400, 'not an HDF5 file')):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(DataFileError, match=message):
            PytablesDataset(tmp_path / name, ('x',))
    with pytest.raises(DataFileError, match='folder'):
        PytablesDataset(tmp_path, ('x',))
    with open(path, 'rb') as file:
        (tmp_path / 'cut').write_bytes(file.read()[:2000])
    with pytest.raises(DataFileError, match='cut off'):
        PytablesDataset(tmp_path / 'cut', ('x',))


def test_a_file_that_is_open_for_writing(path):
    with tables.open_file(path, 'a'), pytest.raises(DataFileError, match='open for writing'):
        PytablesDataset(path, ('x',))
    PytablesDataset(path, ('x',))


def test_attributes_that_pytables_cannot_read(path, monkeypatch):
    def stumble(self):
        raise KeyError('Reference')

    # As it does over a compound attribute with references.
    monkeypatch.setattr(tables.group.RootGroup, '_g_post_init_hook', stumble)
    with pytest.raises(DataFileError, match=r"stumbles over an attribute.*'Reference'.*H5PYDat"):
        PytablesDataset(path, ('x',))
    assert path not in tables.file._open_files.filenames


def test_a_file_open_for_reading_in_pytables_may_be_used(path):
    with tables.open_file(path) as h5file:
        dataset = PytablesDataset(path, ('x',))
        assert dataset.get_data(None, [8, 2])[0].tolist() == [8, 2]
        dataset.close()
        assert h5file.root.Data.x[3] == 3


def test_a_file_that_is_gone_when_it_is_needed(path, tmp_path):
    pickled = pickle.dumps(PytablesDataset(path, ('x',)))
    os.rename(path, tmp_path / 'moved.h5')
    dataset = pickle.loads(pickled)
    assert dataset.sources == ('x',)
    dataset.close()
    dataset.close_file()
    with pytest.raises(DataFileNotFoundError, match=r'f\.h5'):
        dataset.get_data(None, [0])
    with pytest.raises(DataFileNotFoundError, match=r'f\.h5'):
        dataset.open()
    dataset.path = str(tmp_path / 'moved.h5')
    assert dataset.get_data(None, [3])[0].tolist() == [3]
    dataset.close()


def test_a_file_that_was_changed_while_it_was_open(path):
    dataset = PytablesDataset(path, ('x',))
    dataset.open()
    os.utime(path, ns=(1, 1))
    with pytest.raises(DataFileError, match=r'f\.h5: the file was changed while it was in use'):
        dataset.get_data(None, [0])
    dataset.close()
    assert dataset.get_data(None, [3])[0].tolist() == [3]
    dataset.close()


def test_a_file_that_was_written_anew_with_less_in_it(path):
    names = {'x': 'x', 'y': 'deep/y', 'when': 'timed/when'}
    with tables.open_file(path, 'a') as h5file:
        timed = h5file.create_table('/Data', 'timed', {'when': tables.Time64Col()})
        timed.append([(number,) for number in range(9)])
    made = [one_source(path, name) for name in names.values()]
    with tables.open_file(path, 'w') as h5file:
        h5file.create_array('/Data', 'x', numpy.arange(5), createparents=True)
        timed = h5file.create_table('/Data', 'timed', {'when': tables.Time64Col()})
        timed.append([(number,) for number in range(7)])
    for dataset, now in zip(made, ('9 rows .* are 5', "no node 'deep'", '9 rows .* are 7'),
                            strict=True):
        with pytest.raises(DataLayoutError, match=f'not what it was .*{now}.* Make the data set'):
            dataset.get_data(None, [0])
        dataset.close_file()
        dataset.close()
    assert made[0].num_examples == 5
    assert made[0].get_data(None, [4])[0].tolist() == [4]
    made[0].close()


@pytest.mark.parametrize('name', ['objects', 'text', 'when'])
def test_a_file_that_was_changed_while_only_pytables_read_it(path, name):
    with tables.open_file(path, 'a') as h5file:
        h5file.create_vlarray('/Data', 'objects', tables.ObjectAtom()).append([1])
        h5file.create_vlarray('/Data', 'text', tables.VLUnicodeAtom()).append('abc')
        h5file.create_table('/Data', 'timed', {'when': tables.Time64Col()}).append([(1.5,)])
    dataset = one_source(path, 'timed/when' if name == 'when' else name)
    assert dataset.describe()['x'].way == 'library'
    before = dataset.get_data(None, 0)
    os.utime(path, ns=(1, 1))
    for request in (0, [0, 0], slice(0, 1)):
        with pytest.raises(DataFileError, match=r'f\.h5: the file was changed while it was in use'):
            dataset.get_data(None, request)
    dataset.close()
    assert dataset.get_data(None, 0) == before
    dataset.close()


def rewrite(path, array):
    with tables.open_file(path, 'w') as h5file:
        h5file.create_array('/Data', 'x', array, createparents=True)


def test_a_file_that_was_written_anew_while_it_was_closed(path):
    dataset, some = PytablesDataset(path, ('x',)), PytablesDataset(path, ('x',), stop=4)
    for each in (dataset, some):
        assert each.get_data(None, 3)[0] == 3
        each.close()
    # The same rows elsewhere in the file, with other values.
    rewrite(path, numpy.arange(9) * 10)
    for each in (dataset, some):
        assert each.get_data(None, [3, 1])[0].tolist() == [30, 10]
        each.close()
    rewrite(path, numpy.arange(12))
    with pytest.raises(DataLayoutError, match=r"f\.h5: .*expected 9 rows in '/Data/x'; .* are 12"):
        dataset.get_data(None, [0])
    with pytest.raises(DataLayoutError, match='are 12'):
        dataset.open()
    assert some.get_data(None, slice(2, 4))[0].tolist() == [2, 3]
    some.close()
    rewrite(path, numpy.arange(9.))
    for each in (dataset, some):
        with pytest.raises(DataLayoutError, match='dtype int64 .* and float64. Make the data set'):
            each.get_data(None, [0])
        each.close_file()
        assert each.get_data(None, 3)[0] == 3.
        each.close()


def test_messages_name_a_few_of_many_nodes_and_columns(path):
    with tables.open_file(path, 'w') as h5file:
        for number in range(30):
            h5file.create_array('/Data', f'n{number:02}', [1], createparents=True)
        h5file.create_table('/Data', 'table', {f'c{number:02}': tables.Int8Col()
                                               for number in range(30)})
    with pytest.raises(DataLayoutError, match="there: 'n00', .*, 'n09' and 21 more$"):
        one_source(path, 'x')
    with pytest.raises(DataLayoutError, match="there: 'c00', .*, 'c09' and 20 more$"):
        one_source(path, 'table/x')


def test_compressed_data_that_are_damaged(tmp_path):
    path = str(tmp_path / 'f.h5')
    rows = numpy.arange(3000) // 7
    with tables.open_file(path, 'w') as h5file:
        h5file.create_carray('/Data', 'x', obj=rows, createparents=True, chunkshape=(3000,),
                             filters=tables.Filters(5, 'bzip2'))
    with open(path, 'r+b') as file:
        content = file.read()
        place = content.index(b'BZh')
        file.seek(place + 8)
        file.write(b'\xff' * 20)
    dataset = PytablesDataset(path, ('x',))
    with pytest.raises(DataFileError, match=r"f\.h5: source 'x' cannot be read"):
        dataset.get_data(None, [0])
    dataset.close()
    assert open_tables() == []
