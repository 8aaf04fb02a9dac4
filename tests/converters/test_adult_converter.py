from __future__ import annotations

import argparse
import csv
import os
import re
import subprocess
import sys

import h5py
import numpy
import pytest

from fuel.bin import fuel_convert
from fuel.converters.adult import convert_adult, fill_subparser
from fuel.exceptions import ConversionError, MissingInputFiles
from tests.bin.commands import environment
from tests.converters.reading import axis_labels, by_split, storage
from tests.raw import adult

NUMERIC = {0: 'age', 2: 'fnlwgt', 4: 'education-num', 10: 'capital-gain', 11: 'capital-loss',
           12: 'hours-per-week'}
OTHERS = {1: 'workclass', 3: 'education', 5: 'marital-status', 6: 'occupation', 7: 'relationship',
          8: 'race', 9: 'sex', 13: 'native-country'}


@pytest.fixture
def folder(tmp_path):
    adult.write(tmp_path)
    return tmp_path


def convert(folder, **kwargs):
    path, = convert_adult(str(folder), str(folder), **kwargs)
    return path


def rows_of(path):
    """Read the complete rows of a raw file by the module csv."""
    with open(path, newline='') as stream:
        rows = list(csv.reader(stream, skipinitialspace=True))
    return [row for row in rows if len(row) == 15 and '?' not in row]


def independent(folder):
    """Return names of columns, and features and targets by split."""
    rows = {'train': rows_of(folder / 'adult.data'), 'test': rows_of(folder / 'adult.test')}
    everything = rows['train'] + rows['test']
    names, columns = [], {'train': [], 'test': []}
    for position in range(14):
        values = sorted({row[position] for row in everything}) if position in OTHERS else [None]
        for value in values:
            names.append(NUMERIC[position] if value is None else f'{OTHERS[position]}={value}')
            for split, column in columns.items():
                column.append([float(row[position]) if value is None
                               else float(row[position] == value) for row in rows[split]])
    return names, {split: {'features': numpy.array(column).T,
                           'targets': numpy.array([['>' in row[14]] for row in rows[split]])}
                   for split, column in columns.items()}


def same(found, expected):
    assert list(found) == list(expected)
    for split, sources in expected.items():
        assert found[split].keys() == sources.keys()
        for source, values in sources.items():
            assert found[split][source].dtype == values.dtype
            assert numpy.array_equal(found[split][source], values)


def test_features_and_targets_are_those_of_the_raw_files(folder):
    path = convert(folder)
    assert path == str(folder / 'adult.hdf5')
    _, expected = independent(folder)
    same(by_split(path), expected)
    assert set(numpy.unique(expected['train']['targets'])) == {False, True}
    assert axis_labels(path) == {'features': ('batch', 'feature'), 'targets': ('batch', 'index')}
    # With all values that the public files have there are 104 features, too.
    assert storage(path, 'features') == ('float64', (150, 104), None, None)
    assert storage(path, 'targets') == ('bool', (150, 1), None, None)


def test_names_of_the_columns_are_kept(folder):
    names, _ = independent(folder)
    with h5py.File(convert(folder), 'r') as h5file:
        kept = h5file['features'].attrs['feature_names'].tolist()
    assert kept == names
    assert kept[:3] == ['age', 'workclass=Federal-gov', 'workclass=Local-gov']
    assert kept[-1] == 'native-country=Yugoslavia'
    assert len(set(kept)) == 104


def test_names_of_the_targets_are_kept(folder):
    with h5py.File(convert(folder), 'r') as h5file:
        names = h5file['targets'].attrs['target_names'].tolist()
        targets = h5file['targets'][:, 0].astype(int)
    rows = rows_of(folder / 'adult.data') + rows_of(folder / 'adult.test')
    assert [names[target] for target in targets] == [row[14].rstrip('.') for row in rows]
    assert names == ['<=50K', '>50K']


def test_lines_with_unknown_values_are_left_out(folder):
    text = (folder / 'adult.data').read_text()
    assert '?' in text
    found = by_split(convert(folder))
    assert len(found['train']['features']) == 90
    known = '\n'.join(line for line in text.split('\n') if '?' not in line)
    (folder / 'adult.data').write_text(known)
    same(by_split(convert(folder)), found)


def test_values_of_one_file_only_have_columns_in_both(folder):
    # The old library made the columns of each file by themselves.
    lines = {'train': ['A', 'B'], 'test': ['B', 'C']}
    template = ('39, {}, 77516, Bachelors, 13, Divorced, Sales, Wife, White, Male, 0, 0, 40, '
                'Cuba, <=50K')
    for name, split, end in (('adult.data', 'train', ''), ('adult.test', 'test', '.')):
        (folder / name).write_text('\n'.join(template.format(value) + end
                                             for value in lines[split]))
    found = by_split(convert(folder))
    assert found['train']['features'][:, 1:4].tolist() == [[1, 0, 0], [0, 1, 0]]
    assert found['test']['features'][:, 1:4].tolist() == [[0, 1, 0], [0, 0, 1]]
    assert found['train']['features'][0].tolist() == [39, 1, 0, 0, 77516, 1, 13, 1, 1, 1, 1, 1, 0,
                                                      0, 40, 1]


def test_more_lines_than_are_written_at_a_time(tmp_path):
    adult.write(tmp_path, train=2500, test=41)
    same(by_split(convert(tmp_path)), independent(tmp_path)[1])


@pytest.mark.parametrize('change', [
    lambda text: text.replace('\n', '\r\n'), lambda text: text.replace(', ', ','),
    lambda text: text.rstrip('\n'), lambda text: text + '\n\n',
    lambda text: text.replace('\n', '\n\n'), lambda text: text.replace('K.', 'K')],
    ids=['windows', 'without spaces', 'no end', 'several ends', 'empty lines', 'no full stops'])
def test_other_ways_to_write_the_same(folder, change):
    _, expected = independent(folder)
    for name in ('adult.data', 'adult.test'):
        path = folder / name
        path.write_bytes(change(path.read_text()).encode())
    same(by_split(convert(folder)), expected)


def test_test_file_without_heading_loses_no_example(folder):
    path = folder / 'adult.test'
    path.write_text(path.read_text().partition('\n')[2])
    assert len(by_split(convert(folder))['test']['features']) == 60


def test_hashes_of_python_change_nothing(folder, tmp_path):
    code = ('import sys; from fuel.converters.adult import convert_adult; '
            'convert_adult(*sys.argv[1:])')
    contents = set()
    for seed in ('0', '1', '2'):
        subprocess.run([sys.executable, '-c', code, str(folder), str(tmp_path), f'{seed}.hdf5'],
                       check=True, timeout=60, env=environment(PYTHONHASHSEED=seed),
                       capture_output=True)
        contents.add((tmp_path / f'{seed}.hdf5').read_bytes())
    assert len(contents) == 1


GOOD = ('39, State-gov, 77516, Bachelors, 13, Never-married, Adm-clerical, Not-in-family, White, '
        'Male, 2174, 0, 40, United-States, <=50K')


@pytest.mark.parametrize(('line', 'message'), [
    (GOOD.replace('39, ', ''), 'expected 14 values and one of <=50K, >50K, divided by commas'),
    (GOOD + ', <=50K', 'expected 14 values and one of'),
    (GOOD.replace('<=50K', '<=60K'), 'expected 14 values and one of'),
    (GOOD.replace('<=50K', ''), 'expected 14 values and one of'),
    (GOOD.replace('39', 'old'), "expected age to be a number; got 'old'"),
    (GOOD.replace('77516', ''), "expected fnlwgt to be a number; got ''"),
    (GOOD.replace('40', 'nan'), "expected hours-per-week to be a number; got 'nan'"),
    (GOOD.replace('2174', 'inf'), "expected capital-gain to be a number; got 'inf'"),
    (GOOD.replace('White', ''), 'expected race; got nothing'),
    ('<html>', "divided by commas; got '<html>'"), ('\0', r"got '\\x00'")])
@pytest.mark.parametrize('name', ['adult.data', 'adult.test'])
def test_malformed_line_is_named_and_leaves_no_file(folder, name, line, message):
    path = folder / name
    lines = path.read_text().split('\n')
    path.write_text('\n'.join([*lines[:4], line, *lines[5:]]))
    with pytest.raises(ConversionError, match=f'^{re.escape(str(path))}, line 5: .*{message}'):
        convert(folder)
    assert sorted(os.listdir(folder)) == ['adult.data', 'adult.test']


@pytest.mark.parametrize('content', ['', '\n', adult.HEADING, GOOD.replace('White', '?')])
def test_file_without_complete_lines(folder, content):
    (folder / 'adult.test').write_text(content)
    with pytest.raises(ConversionError, match=r'adult\.test: expected at least one line without'):
        convert(folder)


def test_truncated_in_the_middle_of_a_line(folder):
    path = folder / 'adult.data'
    path.write_text(path.read_text()[:500])
    with pytest.raises(ConversionError, match=r'adult\.data, line 4: expected 14 values'):
        convert(folder)


def test_missing_files_are_listed(tmp_path, capsys):
    with pytest.raises(MissingInputFiles) as caught:
        convert(tmp_path)
    assert caught.value.filenames == ['adult.data', 'adult.test']
    with pytest.raises(SystemExit) as stopped:
        fuel_convert.main(['adult', '-d', str(tmp_path), '-o', str(tmp_path)])
    assert stopped.value.code == 2
    assert 'required files were not found' in capsys.readouterr().err


def test_numbers_other_than_the_public_ones_are_said(folder, caplog):
    convert(folder)
    assert [record.getMessage().partition(': ')[2] for record in caplog.records
            if record.levelname == 'WARNING'] == [
        "the data set has 30162 complete examples for split 'train'; this file has 90",
        "the data set has 15060 complete examples for split 'test'; this file has 60"]


def test_command_with_options(folder, tmp_path):
    fuel_convert.main(['adult', '--compression', 'gzip', '--chunk-examples', '32', '-d',
                       str(folder), '-o', str(tmp_path)])
    path = tmp_path / 'adult.hdf5'
    assert storage(path, 'features') == ('float64', (150, 104), (32, 104), 'gzip')
    same(by_split(path), independent(folder)[1])


def test_subparser():
    assert fill_subparser(argparse.ArgumentParser()) is convert_adult
