"""What is said of the kinds of columns; decimal commas, and texts for missing values."""
from __future__ import annotations

import logging

import numpy
import pandas
import pytest

from fuel.bin.fuel_convert import main
from fuel.converters._division.names import meant, plural, quoted
from fuel.converters._tables.columns import is_missing
from fuel.converters._tables.delimited import delimiter_of
from fuel.converters._tables.number_texts import floats, is_foreign
from fuel.converters._tables.reading import Numbers
from tests.bin.commands import fails
from tests.converters.reading import by_split

TARGET = ('--target', 'y')


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(content, file='a.csv'):
    with open(file, 'w', encoding='utf-8') as stream:
        stream.write(content)


def converted(capsys, *args, file='a.csv'):
    """Convert, and return the features, what is printed, and the warnings."""
    main(['table', file, *args, '--force'])
    captured = capsys.readouterr()
    return by_split('a.hdf5')['train']['features'], captured.out, captured.err


def people(odd='-', count=174):
    lines = ['Height (cm),sex,y', *[f'{150 + number / 3:.1f},{"fm"[number % 2]},{number % 2}'
                                    for number in range(count)]]
    for place in (15, 40, 100):
        lines.insert(place, f'{odd},f,1')
    return '\n'.join(lines)


def test_numbers_that_become_categories_are_told(capsys):
    written(people())
    features, _, warnings = converted(capsys, *TARGET)
    assert features.shape == (177, 177)
    assert warnings.count('\n') == 1
    assert ("a.csv: column 'Height (cm)' has 174 numbers and 3 other values, such as '-' in line "
            '16; it is taken as 175 categories. --missing-values names') in warnings
    features, out, warnings = converted(capsys, *TARGET, '--missing-values', '-', '--missing',
                                        'nan')
    assert warnings == ''
    assert features.shape == (177, 3)
    assert numpy.flatnonzero(numpy.isnan(features[:, 0])).tolist() == [14, 39, 99]
    assert ('a.csv: 3 columns: 1 of numbers, 1 of categories (2 values), target y (numbers); 3 '
            'features') in out
    assert converted(capsys, *TARGET, '--categorical', 'Height (cm)')[2] == ''


def test_a_few_numbers_among_texts_are_nothing_to_tell(capsys):
    written('x,y\n1,1\nabc,1\nNext,1\n')
    assert converted(capsys, *TARGET)[2] == ''
    written('x,y\n1,1\nabc,1\n')
    assert 'has 1 number and 1 other value, such as' in converted(capsys, *TARGET)[2]


def test_the_first_odd_value_of_a_long_column_is_named_and_all_are_counted(capsys):
    lines = ['x,y', *[f'{number % 9},0' for number in range(20000)], 'n/k,1', '3,1', 'none,0']
    written('\n'.join(lines))
    warnings = converted(capsys, *TARGET)[2]
    assert ("column 'x' has 20001 numbers and 2 other values, such as 'n/k' in line 20002; it is "
            'taken as 11 categories') in warnings


def test_too_many_different_numbers_with_an_odd_value(capsys):
    written('x,y\n' + ''.join(f'{number},1\n' for number in range(70000)) + '-,1\n')
    line = fails('convert', ['table', 'a.csv', *TARGET], capsys)
    assert 'more than 65536 different texts' in line
    assert "It begins with numbers; if '-' stands for a missing value, name it with --miss" in line


def test_numeric_says_what_to_do(capsys):
    written(people())
    line = fails('convert', ['table', 'a.csv', *TARGET, '--numeric', 'Height (cm)'], capsys)
    assert "a.csv, line 16: expected a number in the column 'Height (cm)'" in line
    assert '--missing-values' in line
    written(people(odd='"1,5"'))
    line = fails('convert', ['table', 'a.csv', *TARGET, '--numeric', 'Height (cm)'], capsys)
    assert "got '1,5'. The option --decimal is . here" in line


GERMAN = 'x;z;c;y\n3,5;1;rot, hell;0,25\n-4,25;2;blau;1\n1e3;,5;blau;-0,5\n'


def test_decimal_commas(capsys):
    written(GERMAN)
    warnings = converted(capsys, *TARGET)[2]
    assert warnings.count('\n') == 3
    assert ("column 'x' has 1 number and 2 numbers with a decimal comma or thousands separators, "
            "such as '3,5' in line 2; it is taken as 3 categories. --decimal , reads") in warnings
    features, _, warnings = converted(capsys, *TARGET, '--decimal', ',')
    assert warnings == ''
    assert features.tolist() == [[3.5, 1, 0, 1], [-4.25, 2, 1, 0], [1000, .5, 1, 0]]
    assert by_split('a.hdf5')['train']['targets'].tolist() == [[.25], [1], [-.5]]
    frame = pandas.read_csv('a.csv', sep=';', decimal=',')
    assert features[:, 0].tolist() == frame['x'].tolist()
    converted(capsys, *TARGET, '--decimal', ',', '--dtype', 'float32', '--categorical', 'x')
    assert by_split('a.hdf5')['train']['features'].dtype == 'float32'


def test_the_delimiter_of_numbers_with_a_comma(folder, capsys):
    written('1,5;2,5\n3,5;4,5\n0,5;1,5\n')
    assert delimiter_of('a.csv', decimal=',') == ';'
    features, _, _ = converted(capsys, '--no-target', '--no-header', '--decimal', ',')
    assert features.tolist() == [[1.5, 2.5], [3.5, 4.5], [.5, 1.5]]
    written('x,y\n"1,5",2\n"3,5",4\n')
    assert converted(capsys, *TARGET, '--decimal', ',')[0].tolist() == [[1.5], [3.5]]


@pytest.mark.parametrize('text', ['1.234,5', '1.234', '1.234.567', '3.5', '1,234.5'])
def test_thousands_separators_are_errors_with_a_decimal_comma(capsys, text):
    written(f'x;y\n3,5;1\n{text};2\n')
    line = fails('convert', ['table', 'a.csv', *TARGET, '--decimal', ','], capsys)
    assert ('a.csv, line 3: expected numbers with a decimal comma and without thousands '
            "separators in the column 'x'") in line
    assert repr(text) in line
    features, _, warnings = converted(capsys, *TARGET, '--decimal', ',', '--categorical', 'x')
    assert features.shape == (2, 2)
    assert warnings == ''


def test_texts_with_points_are_no_numbers_with_a_decimal_comma(capsys):
    written('when;y\n31.12.2020;1\n1.1.2021;2,5\n')
    assert converted(capsys, *TARGET, '--decimal', ',')[0].shape == (2, 2)


@pytest.mark.parametrize(('text', 'decimal', 'number', 'foreign'), [
    ('3.5', '.', 3.5, False), ('3,5', '.', None, True), ('3,5', ',', 3.5, False),
    ('3.5', ',', None, True), ('1,234.5', '.', None, True), ('1.234,5', ',', None, True),
    ('1,2,3', '.', None, False), ('1_000', '.', None, False), ('1_000,5', ',', None, False),
    ('nan', '.', None, False), ('-inf', ',', -numpy.inf, False), ('', '.', None, False),
    ('1.2.2020', ',', None, False), ('-', '.', None, False)])
def test_what_is_a_number(text, decimal, number, foreign):
    found = floats([text], decimal)
    assert (None if found is None else found[0]) == number
    assert is_foreign(text, decimal) == foreign


def test_missing_values_are_more_words_or_the_only_ones(capsys):
    written('c,x,y\nNA,1,1\n-,-,0\nUS,none,1\n,?,1\nNA,5,0\n')
    args = (*TARGET, '--missing', 'nan', '--missing-values=-, none')
    features, _, _ = converted(capsys, *args)
    nan = numpy.nan
    numpy.testing.assert_array_equal(features, [[0, 1], [0, nan], [1, nan], [0, nan], [0, 5]])
    features, out, _ = converted(capsys, *args[:-1], '--missing-values=-,none,?,',
                                 '--missing-values-only')
    numpy.testing.assert_array_equal(features, [
        [1, 0, 1], [0, 0, nan], [0, 1, nan], [0, 0, nan], [1, 0, 5]])
    assert '1 of categories (2 values)' in out


def test_numbers_of_parquet_can_stand_for_missing_values(capsys):
    pandas.DataFrame({'x': [1.5, -999, 3], 'n': [-999, 2, 3], 'y': [1, 2, 3]}).to_parquet(
        'a.parquet')
    features, _, _ = converted(capsys, *TARGET, '--missing', 'nan', '--missing-values=-999',
                               file='a.parquet')
    numpy.testing.assert_array_equal(features, [[1.5, numpy.nan], [numpy.nan, 2], [3, 3]])
    values = Numbers(numpy.array([1, 2 ** 53 + 1]), numpy.array([False, False]))
    assert is_missing(values, frozenset({'', 'nan', '7'})).tolist() == [False, False]


def test_a_line_says_what_the_columns_are(capsys):
    written('id,a,b,c,part,label\n1,2,3,x,train,no\n2,3,4,"y z",train,yes\n3,4,5,x,test,no\n')
    out = converted(capsys, '--target', 'label', '--drop', 'id', '--split-column', 'part')[1]
    assert out.splitlines()[0] == (
        'a.csv: 6 columns: 2 of numbers, 1 of categories (2 values), target label (2 classes: no, '
        'yes), split part, 1 left out; 4 features')
    out = converted(capsys, '--target', 'a,label', '--categories', 'codes')[1]
    assert ('2 of categories (4 values), targets a (numbers), label (2 classes: no, yes); 4 '
            'features') in out
    out = converted(capsys, '--no-target', '--drop', 'a,b,c,part,label')[1]
    assert 'a.csv: 6 columns: 1 of numbers, 5 left out; 1 feature\n' in out


def test_the_line_is_short_for_wide_tables_and_many_classes(capsys):
    names = [f'column number {number}' for number in range(300)]
    written(','.join(names) + '\n' + ''.join(
        ','.join(f'{row} {"long" * 40}' for _ in names) + '\n' for row in range(30)))
    targets = ','.join(names[:50])
    for args in (('--target', targets), ('--target', names[0])):
        line = converted(capsys, *args)[1].splitlines()[0]
        assert line.startswith('a.csv: 300 columns: ')
        assert len(line) < 2000
    assert "target 'column number 0' (30 classes: 0 long" in line
    assert 'and 25 more); 8970 features' in line


def test_the_line_is_logged_for_programs(folder, caplog):
    from fuel.converters.table import convert_table

    written('x,y\n1,2\n')
    with caplog.at_level(logging.INFO):
        convert_table(str(folder), str(folder), file='a.csv', target=['y'])
    assert caplog.messages[0] == ('a.csv: 2 columns: 1 of numbers, target y (numbers); 1 feature')


def test_a_column_that_is_not_there(capsys):
    written('Name,"Height (cm)","a,b",note,label\nx,1,2,3,4\n')
    line = fails('convert', ['table', 'a.csv', '--target', 'Label'], capsys)
    assert line.endswith("a.csv: --target: there is no column 'Label'; did you mean 'label'? the "
                         "columns are Name, 'Height (cm)', 'a,b', note, label")
    for name, near in (('hight (cm)', 'Height (cm)'), ('NOTES', 'note')):
        line = fails('convert', ['table', 'a.csv', '--target', name], capsys)
        assert f'did you mean {near!r}?' in line
    assert 'did you mean' not in fails('convert', ['table', 'a.csv', '--target', 'price'], capsys)
    written(','.join(f'c{number}' for number in range(1000)) + '\n')
    line = fails('convert', ['table', 'a.csv', '--target', 'other'], capsys)
    assert line.endswith('c18, c19 and 980 more')


def test_names_in_messages():
    assert [plural(number, 'file') for number in (0, 1, 2)] == ['0 files', '1 file', '2 files']
    assert [quoted(name) for name in ('a', 'a b', '', "it's", 'a\tb', 'x' * 50)] == [
        'a', "'a b'", "''", '"it\'s"', r"'a\tb'", 'x' * 40 + '...']
    assert meant('LABEL', ['x', 'label']) == 'label'
    assert meant('q', ['x', 'label']) is None
