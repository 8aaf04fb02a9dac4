from __future__ import annotations

import csv
import logging
import os
import tracemalloc

import h5py
import numpy
import pandas
import pytest

from fuel.bin.fuel_convert import main
from fuel.converters._division.shares import Range
from fuel.converters.table import convert_table
from fuel.datasets import H5PYDataset
from fuel.schemes import ShuffledScheme
from fuel.streams import DataStream
from tests.converters.reading import axis_labels, by_split, storage
from tests.raw import table as raw


def convert(folder, file=raw.FILE, **kwargs):
    path, = convert_table(str(folder), str(folder), file=file, **kwargs)
    return path


def texts(path, name):
    with h5py.File(path, 'r') as h5file:
        found = h5file[name].asstr()[...]
    return [tuple(row) for row in found.tolist()] if found.ndim == 2 else found.tolist()


def expected(folder, codes=False):
    """Return features and targets of the table, read by pandas."""
    frame = pandas.read_csv(folder / raw.FILE)
    parts = []
    for name in raw.COLUMNS[:-1]:
        if pandas.api.types.is_numeric_dtype(frame[name]):
            parts.append(frame[name].to_numpy('float64')[:, None])
        else:
            names, numbers = numpy.unique(frame[name].to_numpy(str), return_inverse=True)
            parts.append(numbers[:, None] if codes else numpy.eye(len(names))[numbers])
    species = numpy.unique(frame['species'].to_numpy(str), return_inverse=True)[1]
    return numpy.hstack(parts), species.astype('uint8')[:, None]


def test_columns_become_features_and_targets_with_their_names(tmp_path):
    raw.write(tmp_path)
    path = convert(tmp_path, target=['species'])
    assert path == str(tmp_path / 'flowers.hdf5')
    features, targets = expected(tmp_path)
    found = by_split(path)['train']
    assert numpy.array_equal(found['features'], features)
    assert numpy.array_equal(found['targets'], targets)
    assert found['targets'].dtype == 'uint8'
    assert found['features'].dtype == 'float64'
    assert axis_labels(path) == {'features': ('batch', 'feature'), 'targets': ('batch', 'index')}
    assert storage(path, 'features')[2:] == (None, None)
    assert texts(path, 'feature_names') == [
        'length', 'petals', 'colour=white', 'colour=yellow', 'where found=meadow "north"',
        'where found=wood']
    assert texts(path, 'target_names') == raw.SPECIES
    assert texts(path, 'target_columns') == ['species']
    assert texts(path, 'categories') == [
        ('colour', 'white'), ('colour', 'yellow'), ('where found', 'meadow "north"'),
        ('where found', 'wood'), *[('species', name) for name in raw.SPECIES]]
    dataset = H5PYDataset(path, ('train',))
    assert dataset.sources == ('features', 'targets')
    stream = DataStream(dataset, iteration_scheme=ShuffledScheme(30, 8))
    assert sum(len(batch) for batch, _ in stream.get_epoch_iterator()) == 30
    stream.close()


def test_codes_and_smaller_floats(tmp_path):
    raw.write(tmp_path)
    path = convert(tmp_path, target=['species'], categories='codes', dtype='float32')
    features, _ = expected(tmp_path, codes=True)
    found = by_split(path)['train']['features']
    assert found.dtype == 'float32'
    assert numpy.array_equal(found, features.astype('float32'))
    assert texts(path, 'feature_names') == raw.COLUMNS[:-1]


@pytest.mark.parametrize(('file', 'options'), [
    ('flowers.tsv', {'delimiter': '\t'}), ('flowers.csv', {'delimiter': ';'}),
    ('flowers.txt', {'delimiter': '|'}), ('flowers.csv.gz', {}), ('flowers.tsv.gz', {
        'delimiter': '\t'}), ('flowers.csv', {'encoding': 'utf-8-sig'})])
def test_delimiters_are_found_out(tmp_path, file, options):
    raw.write(tmp_path)
    features, targets = expected(tmp_path)
    raw.write(tmp_path, file=file, **options)
    path = convert(tmp_path, file, target=['species'])
    assert os.path.basename(path) == 'flowers.hdf5'
    found = by_split(path)['train']
    assert numpy.array_equal(found['features'], features)
    assert numpy.array_equal(found['targets'], targets)


@pytest.mark.parametrize('encoding', ['latin-1', 'utf-16'])
def test_other_encodings(tmp_path, encoding):
    raw.write(tmp_path, encoding=encoding)
    path = convert(tmp_path, target=['species'], encoding=encoding)
    assert texts(path, 'target_names') == raw.SPECIES


def test_a_table_without_names_of_columns(tmp_path):
    raw.write(tmp_path, header=False)
    path = convert(tmp_path, target=['column_5'], no_header=True)
    assert by_split(path)['train']['features'].shape == (30, 6)
    assert texts(path, 'feature_names')[0] == 'column_1'


def test_blanks_and_empty_lines_do_not_count(tmp_path):
    (tmp_path / 'a.csv').write_text('x, y\n\n 1 , a b\n   \n2,\ta b\n', 'utf-8')
    path = convert(tmp_path, 'a.csv', target=['y'])
    assert by_split(path)['train']['features'].tolist() == [[1], [2]]
    assert texts(path, 'target_names') == ['a b']


def test_kinds_of_columns_can_be_said(tmp_path):
    (tmp_path / 'a.csv').write_text('x,n,y\n1,10,3\n1,9,-200\n2,9,70\n', 'utf-8')
    path = convert(tmp_path, 'a.csv', target=['y'], categorical=['n'])
    found = by_split(path)['train']
    assert texts(path, 'feature_names') == ['x', 'n=9', 'n=10']     # by value, not by letters
    assert found['features'].tolist() == [[1, 0, 1], [1, 1, 0], [2, 1, 0]]
    assert found['targets'].dtype == 'int16'
    assert found['targets'].tolist() == [[3], [-200], [70]]
    path = convert(tmp_path, 'a.csv', target=['x', 'n'], numeric=['y'], output_filename='b.hdf5')
    assert by_split(path)['train']['targets'].tolist() == [[1, 10], [1, 9], [2, 9]]
    assert texts(path, 'target_columns') == ['x', 'n']


def test_what_looks_like_a_number_and_is_none(tmp_path):
    (tmp_path / 'a.csv').write_text('a,b,c,d\n1_0,1e3,0x10,inf\n2_0,.5,7,1\n', 'utf-8')
    path = convert(tmp_path, 'a.csv', no_target=True)
    assert texts(path, 'feature_names') == ['a=1_0', 'a=2_0', 'b', 'c=0x10', 'c=7', 'd']
    assert by_split(path)['train']['features'][:, [2, 5]].tolist() == [[1000, numpy.inf], [.5, 1]]


def test_a_text_that_comes_late_makes_all_of_a_column_categories(tmp_path):
    lines = ['x,y', *[f'{number % 9},0' for number in range(20000)], 'many,1']
    (tmp_path / 'a.csv').write_text('\n'.join(lines), 'utf-8')
    path = convert(tmp_path, 'a.csv', target=['y'])
    assert texts(path, 'feature_names') == [*[f'x={digit}' for digit in range(9)], 'x=many']
    features = by_split(path)['train']['features']
    assert numpy.array_equal(features.argmax(1), [*[n % 9 for n in range(20000)], 9])


def test_missing_values(tmp_path, caplog):
    (tmp_path / 'a.csv').write_text('x,c,y\n1,p,0\n,q,1\n3,NA,2\n4,q,3\n', 'utf-8')
    with caplog.at_level(logging.WARNING):
        path = convert(tmp_path, 'a.csv', target=['y'], missing='drop')
    assert 'a.csv: left out 2 of 4 rows' in caplog.text
    found = by_split(path)['train']
    assert found['features'].tolist() == [[1, 1, 0], [4, 0, 1]]
    assert found['targets'].tolist() == [[0], [3]]
    path = convert(tmp_path, 'a.csv', target=['y'], missing='nan')
    nan = numpy.nan
    numpy.testing.assert_array_equal(by_split(path)['train']['features'], [
        [1, 1, 0], [nan, 0, 1], [3, 0, 0], [4, 0, 1]])
    path = convert(tmp_path, 'a.csv', target=['x'], missing='nan', categories='codes')
    found = by_split(path)['train']
    numpy.testing.assert_array_equal(found['features'], [[0, 0], [1, 1], [nan, 2], [1, 3]])
    numpy.testing.assert_array_equal(found['targets'], [[1], [nan], [3], [4]])
    path = convert(tmp_path, 'a.csv', target=['y'], missing_values=[''],
                   missing_values_only=True, missing='drop')
    assert texts(path, 'feature_names') == ['x', 'c=NA', 'c=p', 'c=q']


def test_shares_are_those_of_every_class(tmp_path):
    raw.write(tmp_path, count=60)
    features, targets = expected(tmp_path)
    path = convert(tmp_path, target=['species'], valid_fraction=0.1, test_fraction=0.2, seed=3)
    order = numpy.random.RandomState(3).permutation(60)
    found = by_split(path)
    for split, start, stop in (('valid', 0, 2), ('test', 2, 6), ('train', 6, 20)):
        rows = numpy.sort(numpy.concatenate([order[targets[order, 0] == kind][start:stop]
                                             for kind in range(3)]))
        assert numpy.array_equal(found[split]['features'], features[rows])
        assert numpy.array_equal(found[split]['targets'], targets[rows])
    found = by_split(convert(tmp_path, target=['species'], test_fraction=0.2, seed=3,
                             no_stratify=True))
    assert numpy.array_equal(found['test']['features'], features[numpy.sort(order[:12])])


def test_splits_by_a_column_and_by_ranges(tmp_path):
    (tmp_path / 'a.csv').write_text(
        'x,part,y\n0,test,a\n1,train,b\n,train,b\n3,test,a\n4,train,b\n', 'utf-8')
    found = by_split(convert(tmp_path, 'a.csv', target=['y'], split_column='part',
                             missing='drop'))
    assert {split: sources['features'].ravel().tolist() for split, sources in found.items()} == {
        'train': [1, 4], 'test': [0, 3]}
    found = by_split(convert(tmp_path, 'a.csv', target=['y'], drop=['part'], missing='drop',
                             ranges=[Range('b', 2, 5), Range('a', 0, 2)]))
    assert {split: sources['features'].ravel().tolist() for split, sources in found.items()} == {
        'b': [3, 4], 'a': [0, 1]}


def test_parquet(tmp_path):
    raw.write(tmp_path)
    frame = pandas.read_csv(tmp_path / raw.FILE)
    frame['flag'] = numpy.arange(30) % 2 == 0
    frame['colour'] = frame['colour'].astype('category')
    frame['gaps'] = pandas.array([None, *range(29)], 'Int64')
    frame.to_parquet(tmp_path / 'flowers.parquet', row_group_size=7)
    features, targets = expected(tmp_path)
    path = convert(tmp_path, 'flowers.parquet', target=['species'], missing='nan')
    found = by_split(path)['train']
    assert numpy.array_equal(found['features'][:, :6], features)
    numpy.testing.assert_array_equal(found['features'][:, 6], numpy.arange(30) % 2 == 0)
    numpy.testing.assert_array_equal(found['features'][:, 7], [numpy.nan, *range(29)])
    assert numpy.array_equal(found['targets'], targets)
    assert texts(path, 'target_names') == raw.SPECIES
    assert len(by_split(convert(tmp_path, 'flowers.parquet', target=['gaps'], missing='drop',
                                test_fraction=0.5))['test']['targets']) == 15


def test_a_large_table_is_never_in_memory_as_a_whole(tmp_path):
    with open(tmp_path / 'a.csv', 'w', encoding='utf-8', newline='') as stream:
        writer = csv.writer(stream)
        writer.writerow(['a', 'b', 'c', 'y'])
        writer.writerows([number, number / 7, 'text that is long enough', 'ab'[number % 2]]
                         for number in range(15000))
    tracemalloc.start()
    convert(tmp_path, 'a.csv', target=['y'], test_fraction=0.1)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4e6                   # as lists of texts it would have 7 MB


def test_the_same_table_gives_the_same_file(tmp_path):
    raw.write(tmp_path)
    contents = []
    for name in ('one.hdf5', 'other.hdf5'):
        path = convert(tmp_path, target=['species'], test_fraction=0.2, output_filename=name)
        with open(path, 'rb') as stream:
            contents.append(stream.read())
    assert contents[0] == contents[1]


def test_the_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    raw.write(tmp_path)
    main(['table', raw.FILE, '--target', 'species', '--drop', '"where found",petals',
          '--test-fraction', '1/5', '--seed', '9', '--compression', 'gzip'])
    assert 'train 24, test 6 examples' in capsys.readouterr().out
    assert texts('flowers.hdf5', 'feature_names') == ['length', 'colour=white', 'colour=yellow']
    assert storage('flowers.hdf5', 'features')[3] == 'gzip'
