"""What is wrong with a table is told in one line, with file and line, and nothing is left."""
from __future__ import annotations

import gzip
import importlib
import os

import numpy
import pandas
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuel.bin.fuel_convert import main
from fuel.converters._tables import parquet as _parquet
from fuel.converters._tables.delimited import delimiter_of, rows_of
from fuel.converters._tables.reading import TextTable
from fuel.exceptions import ConversionError
from tests.bin.commands import fails


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def message(capsys, content, *args, file='a.csv'):
    if content is not None:
        with open(file, 'wb') as stream:
            stream.write(content if isinstance(content, bytes) else content.encode())
    before = sorted(os.listdir())
    line = fails('convert', ['table', file, *args], capsys)
    assert sorted(os.listdir()) == before
    return line


TARGET = ('--target', 'y')


@pytest.mark.parametrize(('content', 'words'), [
    ('', 'a.csv: expected a table; the file is empty'),
    ('\n\n', 'a.csv: expected a table; the file is empty'),
    ('x,y\n', 'only the line with the names'),
    ('x,y\n1,2\n3\n', 'a.csv, line 3: expected 2 values, as in the first line; got 1'),
    ('x,y\n1,2\n\n3,4,5\n', "a.csv, line 4: expected 2 values, as in the first line; got 3: "
                            "'3,4,5'"),
    ('x,y\n1,2\n"3,4\n', 'a.csv, line 3: unexpected end of data'),
    ('x,y\n1,2\n"3"a,4\n', "a.csv, line 3: ',' expected"),
    ('x,y\n1,\0\n', 'a.csv, line 2: expected a text; got the character NUL'),
    (b'x,y\n1,2\n\xff,3\n', 'a.csv, line 3: expected a text in utf-8'),
    ('x,y,x\n1,2,3\n', "a.csv, line 1: expected names of columns that differ; got 'x'"),
    ('x,y\n1,2\n,3\n', "a.csv, line 3: the value of the column 'x' is missing: ''"),
    ('x,y\n1,2\n2,NA\n', "a.csv, line 3: the value of the column 'y' is missing: 'NA'"),
    ('y\n1\n2\n', 'no column is left for the features'),
    ('x,z\n1,2\n', "--target: there is no column 'y'; the columns are x, z"),
    ('\x89PNG\r\n\x1a\n\0\0\0\rIHDR', 'NUL')])
def test_bad_tables(capsys, content, words):
    assert words in message(capsys, content, *TARGET)


def test_a_message_counts_lines_and_not_rows(capsys):
    content = 'x,y\n"a\nb",1\n"c\nd",\n'
    assert 'a.csv, line 5' in message(capsys, content, *TARGET)


def test_options_that_do_not_go_together(capsys):
    content = 'x,c,y\n' + ''.join(f'{number},{"pq"[number % 2]},{number}\n'
                                  for number in range(10))
    for args, words in (
            ((), 'which column is to be learned? Give --target COLUMN, or --no-target'),
            ((*TARGET, '--no-target'), 'got both'),
            ((*TARGET, '--drop', 'q'), "--drop: there is no column 'q'; the columns are x, c, y"),
            ((*TARGET, '--drop', 'y'), 'got y twice'),
            ((*TARGET, '--categorical', 'q'), "--categorical: there is no column 'q'"),
            ((*TARGET, '--numeric', 'c'), "a.csv, line 2: expected a number in the column 'c', "
                                          "as --numeric says; got 'p'"),
            ((*TARGET, '--split-column', 'q'), "--split-column: there is no column 'q'"),
            ((*TARGET, '--split', 'a=0:3', '--test-fraction', '0.1'), 'expected one way'),
            ((*TARGET, '--split', 'a=0:30'), 'range of the 10 examples'),
            ((*TARGET, '--test-fraction', '0.01'), 'none would be in test'),
            ((*TARGET, '--delimiter', 'ab'), 'of one character'),
            ((*TARGET, '--seed', '4', '--no-stratify'),
             'expected --valid-fraction or --test-fraction with --seed and --no-stratify'),
            ((*TARGET, '--no-stratify', '--split', 'a=0:3'), 'with --no-stratify'),
            ((*TARGET, '--missing-values-only'), 'expected --missing-values with'),
            ((*TARGET, '--encoding', 'klingon'), 'unknown encoding: klingon'),
            (('--target', 'c', '--encoding', 'utf-16'), 'expected a text in utf-16')):
        assert words in message(capsys, content, *args), args
    for args, words in ((('--test-fraction', '2'), '--test-fraction: expected a number'),
                        (('--target', ''), 'expected names divided by commas'),
                        (('--decimal', ';'), "argument --decimal: invalid choice: ';'"),
                        (('--seed', 'x'), 'expected a whole number from 0')):
        with pytest.raises(SystemExit):
            main(['table', 'a.csv', *args])
        assert words in capsys.readouterr().err


def test_classes_of_one_example(capsys):
    content = 'x,y\n' + ''.join(f'{number},name{number}\n' for number in range(10))
    assert '--no-stratify' in message(capsys, content, *TARGET, '--test-fraction', '0.2')
    main(['table', 'a.csv', *TARGET, '--test-fraction', '0.2', '--no-stratify'])
    capsys.readouterr()
    one_class = 'x,y\n' + ''.join(f'{number},same\n' for number in range(10))
    with open('b.csv', 'w') as stream:
        stream.write(one_class)
    main(['table', 'b.csv', *TARGET, '--test-fraction', '0.2'])
    assert 'train 8, test 2' in capsys.readouterr().out


def test_a_missing_category_has_no_nan(capsys):
    content = 'x,y\n1,a\n2,\n'
    line = message(capsys, content, *TARGET, '--missing', 'nan')
    assert "a.csv, line 3: the value of the target 'y' is missing" in line
    assert 'a value is missing in each of the 2' in message(capsys, 'x,y\n1,\n2,\n', *TARGET,
                                                            '--missing', 'drop')
    assert "line 3: the value of the column 's' is missing" in message(
        capsys, 'x,y,s\n1,a,b\n2,a,\n', *TARGET, '--missing', 'drop', '--split-column', 's')


def test_too_many_categories(capsys):
    lines = ''.join(f'name{number},{number % 2}\n' for number in range(1200))
    line = message(capsys, f'x,y\n{lines}', *TARGET)
    assert "has 1200 categories, such as 'name0'" in line
    assert '--categories codes' in line
    lines = ''.join(f'name{number},{number % 2}\n' for number in range(70000))
    line = message(capsys, f'x,y\n{lines}', *TARGET)
    assert "a.csv: the column 'x' has more than 65536 different texts" in line
    assert "--drop 'x'" in line


def test_numbers_that_do_not_fit(capsys):
    assert 'a.csv, line 3: the value 1e+39' in message(capsys, 'x,y\n1,1\n1e39,2\n', *TARGET,
                                                       '--dtype', 'float32')
    with open('a.csv', 'w') as stream:
        stream.write('x,y\n12345678901234567,1\n1,2\n')
    main(['table', 'a.csv', *TARGET])
    assert 'more than 15 digits' in capsys.readouterr().err


def test_a_header_that_has_numbers_is_warned_of(capsys):
    with open('a.csv', 'w') as stream:
        stream.write('1,2\n3,4\n')
    main(['table', 'a.csv', '--target', '2'])
    assert '--no-header' in capsys.readouterr().err


def test_missing_and_strange_files(capsys, folder):
    with pytest.raises(SystemExit):
        main(['table', 'nothing.csv', *TARGET])
    assert 'nothing.csv' in capsys.readouterr().err
    (folder / 'a.csv').mkdir()
    assert 'a.csv: expected a file; this is a folder' in message(capsys, None, *TARGET)
    content = gzip.compress(b'x,y\n' + b'1,2\n' * 5000)
    line = message(capsys, content[:-20], *TARGET, file='b.csv.gz')
    assert 'b.csv.gz: the compressed file is cut off or damaged' in line
    assert 'begins with' in message(capsys, b'x,y\n1,2\n', *TARGET, file='c.csv.gz')


def test_bad_parquet_files(capsys, monkeypatch):
    assert 'cannot be read as a Parquet file' in message(capsys, b'PAR1 and no more', *TARGET,
                                                         file='a.parquet')
    pandas.DataFrame({'x': numpy.arange(3.), 'when': pandas.date_range('2020', periods=3),
                      'y': [1, 2, None]}).to_parquet('b.parquet')
    line = message(capsys, None, *TARGET, file='b.parquet')
    assert "b.parquet, row 3: the value of the column 'y' is missing" in line
    with open('b.parquet', 'r+b') as stream:
        stream.seek(8)
        stream.write(bytes(60))
    assert 'b.parquet' in message(capsys, None, *TARGET, file='b.parquet')

    def missing(name):
        raise ImportError(name)

    monkeypatch.setattr(_parquet, 'importlib', type('none', (), {'import_module': missing}))
    line = message(capsys, None, *TARGET, file='b.parquet')
    assert "pip install 'fuel[parquet]'" in line
    assert importlib.import_module('pyarrow')


def test_a_table_that_changes_meanwhile(capsys, monkeypatch):
    with open('a.csv', 'w') as stream:
        stream.write('x,c,y\n1,p,0\n2,q,1\n')
    reading = TextTable.blocks

    def changing(content):
        def blocks(self):
            yield from reading(self)
            with open('a.csv', 'w') as stream:
                stream.write(content)
        return blocks

    for content, words in (('x,c,y\n1,p,0\n2,other,1\n', "the column 'c' has other values"),
                           ('x,c,y\n1,p,0\n', 'expected 2 rows, as before; got 1'),
                           ('x,c,y\n1,p,0\n2,q,1\n3,q,1\n', 'expected 2 rows')):
        with open('a.csv', 'w') as stream:
            stream.write('x,c,y\n1,p,0\n2,q,1\n')
        monkeypatch.setattr(TextTable, 'blocks', changing(content))
        assert words in message(capsys, None, *TARGET)


def test_a_line_without_an_end(folder, monkeypatch):
    monkeypatch.setattr('fuel.converters._tables.delimited._LONGEST_LINE', 1000)
    (folder / 'a.csv').write_text('x,y\n' + 'a' * 5000)
    with pytest.raises(ConversionError, match='line 2: expected lines of less than 1000'):
        list(rows_of('a.csv', ','))


@given(st.lists(st.lists(st.text(st.characters(exclude_characters='\0', codec='utf-8')),
                         min_size=2, max_size=2), min_size=1, max_size=6))
def test_whatever_is_in_a_text_file_is_read_or_refused(rows):
    with open('any.csv', 'w', encoding='utf-8', newline='') as stream:
        stream.write('\n'.join(','.join(row) for row in rows))
    try:
        assert len({len(values) for _, values in rows_of('any.csv', delimiter_of('any.csv'))}) < 2
    except ConversionError as error:
        assert str(error).startswith('any.csv, line ')
