"""Numbers of a table that are too long or too large, and texts and names that cannot be stored."""
from __future__ import annotations

import os

import h5py
import numpy
import pandas
import pyarrow
import pyarrow.parquet
import pytest

from fuel.bin.fuel_convert import main
from tests.bin.commands import fails
from tests.converters.reading import by_split

EXACT = 2 ** 53


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(content):
    with open('a.csv', 'w', encoding='utf-8') as stream:
        stream.write(content)


def message(capsys, *args, file='a.csv'):
    before = sorted(os.listdir())
    line = fails('convert', ['table', file, *args], capsys)
    assert sorted(os.listdir()) == before
    return line


def converted(capsys, *args, file='a.csv'):
    """Convert, and return features, targets and the warnings."""
    main(['table', file, *args, '--force'])
    found = by_split('a.hdf5')['train']
    return found['features'], found.get('targets'), capsys.readouterr().err


TARGET = ('--target', 'y')


@pytest.mark.parametrize(('values', 'dtype'), [
    ([2 ** 64 - 1, 0], 'uint64'), ([2 ** 63, EXACT + 1], 'uint64'), ([2 ** 63 - 1, -1], 'int64'),
    ([-2 ** 63, EXACT + 1], 'int64')])
def test_whole_targets_keep_every_digit_as_far_as_64_bits_go(capsys, values, dtype):
    written('x,y\n' + ''.join(f'1,{value}\n' for value in values))
    _, targets, warnings = converted(capsys, *TARGET)
    assert targets.dtype == dtype
    assert targets.ravel().tolist() == values
    assert warnings == ''


@pytest.mark.parametrize(('values', 'line'), [
    (['1', str(2 ** 64 + 1)], 3), ([str(2 ** 64 - 1), '-1'], 2), ([str(EXACT + 1), '2.5'], 2),
    (['2.5', '1', str(-EXACT - 1)], 4)])
def test_targets_that_are_rounded_are_told(capsys, values, line):
    written('x,y\n' + ''.join(f'1,{value}\n' for value in values))
    _, targets, warnings = converted(capsys, *TARGET)
    assert targets.dtype == 'float64'
    assert targets.ravel().tolist() == [float(value) for value in values]
    assert f"{values[line - 2]} in line {line}, column 'y'" in warnings
    assert 'more than 15 digits are rounded' in warnings


def test_one_target_makes_floats_of_another(capsys):
    written(f'x,y,z\n1,{EXACT + 1},1\n1,3,2.5\n')
    assert "in line 2, column 'y'" in converted(capsys, '--target', 'y,z')[2]
    written(f'x,y,z\n1,{EXACT + 1},1\n1,3,{2 ** 64 - 1}\n')
    _, targets, warnings = converted(capsys, '--target', 'y,z')
    assert (targets.tolist(), warnings) == ([[EXACT + 1, 1], [3, 2 ** 64 - 1]], '')


def test_features_that_are_rounded_are_told_with_their_first_line(capsys):
    lines = ['x,z,c,y', *['5,1,a,1'] * 3000, f'{EXACT + 2},2.5,b,1', f'{EXACT + 3},1,b,1',
             f'{EXACT + 5},-{EXACT + 3},c,1']
    written('\n'.join(lines))
    warnings = converted(capsys, *TARGET)[2]
    # The number before is even, and so is a float.
    assert f"{EXACT + 3} in line 3003, column 'x'" in warnings
    assert f"-{EXACT + 3} in line 3004, column 'z'" in warnings
    assert len(warnings.splitlines()) == 1
    written(f'x,y\n{EXACT},1\n1e300,1\n{2 ** 70},1\n0.1,1\n')
    assert converted(capsys, *TARGET)[2] == ''
    written(f'x,y\n{EXACT + 1},1\nabc,1\nabd,1\n')      # names
    assert converted(capsys, *TARGET)[2] == ''


@pytest.mark.parametrize('column', ['x', 'y'])
@pytest.mark.parametrize('value', ['1e999', '-1e999', '9' * 400, '9' * 5000, '-' + '9' * 5000])
def test_numbers_that_are_too_large_are_errors_and_not_infinite(capsys, column, value):
    written('x,y\n1,1\n' + (f'{value},1\n' if column == 'x' else f'1,{value}\n') + '1.5,2.5\n')
    line = message(capsys, *TARGET)
    assert f'a.csv, line 3: the value {value[:40]}' in line
    assert f'of the column {column!r} is too large' in line
    assert len(line) < 400
    written(f'x,y\n{value},1\nname,1\n')
    main(['table', 'a.csv', *TARGET])
    with h5py.File('a.hdf5', 'r') as h5file:
        assert h5file['feature_names'].asstr()[...].tolist() == [f'x={value}', 'x=name']


def test_infinity_can_be_written(capsys):
    written('x,y\ninf,-Infinity\n-inf,+inf\n')
    features, targets, warnings = converted(capsys, *TARGET)
    assert features.tolist() == [[numpy.inf], [-numpy.inf]]
    assert targets.tolist() == [[-numpy.inf], [numpy.inf]]
    assert warnings == ''
    assert converted(capsys, *TARGET, '--dtype', 'float32')[1].tolist() == targets.tolist()


def test_targets_that_do_not_fit_into_small_floats(capsys):
    written('x,y\n1,1.5\n2,1e300\n')
    assert "a.csv, line 3: the value 1e+300 of the column 'y' is too large for float32" in message(
        capsys, *TARGET, '--dtype', 'float32')


def test_large_numbers_of_parquet(capsys):
    pyarrow.parquet.write_table(pyarrow.table({
        'x': pyarrow.array([1, 2 ** 64 - 1], pyarrow.uint64()),
        'y': pyarrow.array([2 ** 64 - 1, EXACT + 1], pyarrow.uint64()),
        'z': pyarrow.array([EXACT + 1, None], pyarrow.int64())}), 'a.parquet')
    _, targets, warnings = converted(capsys, *TARGET, '--drop', 'z', file='a.parquet')
    assert targets.dtype == 'uint64'
    assert targets.ravel().tolist() == [2 ** 64 - 1, EXACT + 1]
    assert f"{2 ** 64 - 1} in row 2, column 'x'" in warnings
    _, targets, warnings = converted(capsys, '--target', 'z', '--drop', 'x', '--missing', 'nan',
                                     file='a.parquet')
    assert numpy.isnan(targets[1, 0])
    assert f"{EXACT + 1} in row 1, column 'z'" in warnings


@pytest.mark.parametrize(('frame', 'words'), [
    ({'x': [1, 2], 'y': ['a\0b', 'c']}, "column 'y': expected text that can be stored; 'a\\x00b' "
                                        "has the character NUL"),
    ({'x\0': [1, 2], 'y': ['a', 'c']}, "the name of a column: expected text that can be stored")])
def test_texts_of_parquet_that_cannot_be_stored(capsys, frame, words):
    pandas.DataFrame(frame).to_parquet('a.parquet')
    assert words in message(capsys, *TARGET, file='a.parquet')


def test_bytes_of_parquet_that_are_no_text(capsys):
    offsets = pyarrow.array([0, 3, 4], pyarrow.int32()).buffers()[1]
    texts = pyarrow.Array.from_buffers(pyarrow.string(), 2, [
        None, offsets, pyarrow.py_buffer(b'\xed\xa0\x80a')])
    pyarrow.parquet.write_table(pyarrow.table({'x': [1, 2], 'y': texts}), 'a.parquet')
    line = message(capsys, *TARGET, file='a.parquet')
    assert 'a.parquet cannot be read as a Parquet file: ' in line
    assert '--traceback' not in line


def test_half_a_surrogate_pair(capsys):
    written('x,y\n1,+2AA-\n')
    assert 'a.csv, line 2: expected a text in utf-7' in message(capsys, *TARGET, '--encoding',
                                                                'utf-7')


def test_two_features_of_one_name(capsys):
    written('a,a=x,y\nx,1,1\nz,2,2\n')
    line = message(capsys, *TARGET)
    assert "two features would have the name 'a=x': one from the column 'a'" in line
    assert '--categories codes' in line
    written('a,a=b,y\nb=c,c,1\nz,q,2\n')
    assert "the name 'a=b=c'" in message(capsys, *TARGET)
    assert converted(capsys, *TARGET, '--categories', 'codes')[0].tolist() == [[0, 0], [1, 1]]


@pytest.mark.parametrize(('count', 'words'), [
    (3000, "the column 's'; it has more than 2000 different values"),
    (1500, '1500 splits and 2 sources are too many for one file')])
def test_more_splits_than_a_file_can_hold(capsys, count, words):
    written('x,s,y\n' + ''.join(f'1,part {number},1\n' for number in range(count)))
    assert words in message(capsys, *TARGET, '--split-column', 's')


def test_what_is_no_file(capsys, folder):
    os.mkfifo('f.csv')
    assert 'f.csv: expected a file' in message(capsys, *TARGET, file='f.csv')
    line = message(capsys, *TARGET, file='no.csv')
    assert f'{folder}/no.csv: there is no such file' in line
    assert 'download' not in line
