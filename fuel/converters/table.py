"""Conversion of somebody's own table: a CSV, TSV or Parquet file."""
from __future__ import annotations

import logging
import os
from argparse import SUPPRESS, ArgumentParser
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Unpack

import numpy

from fuel.converters._conversion.help import add_examples, names_from_text
from fuel.converters._conversion.output import new_file
from fuel.converters._conversion.storage import StorageArguments, add_storage_options
from fuel.converters._division.names import listed, meant, quoted, shown, stored_text, write_names
from fuel.converters._division.options import (
    add_ranges_option,
    add_shares_options,
    check_lot,
    one_way,
    used_seed,
)
from fuel.converters._division.own_files import own_file
from fuel.converters._division.shares import (
    Range,
    Rows,
    Shares,
    all_in_one,
    by_names,
    by_ranges,
    check_splits,
    divide,
    sizes_of,
)
from fuel.converters._tables.columns import CATEGORY
from fuel.converters._tables.facts import facts_of, tell_mixtures
from fuel.converters._tables.features import Features, Targets, targets_dtype
from fuel.converters._tables.number_texts import DECIMALS
from fuel.converters._tables.parquet import ParquetTable
from fuel.converters._tables.reading import Table, TextTable
from fuel.converters._tables.survey import MISSING, MISSING_WORDS, Reading, Survey
from fuel.converters.base import SourceOptions, create_source, progress_bar
from fuel.exceptions import ConversionError

__all__ = ['convert_table', 'fill_subparser']

logger = logging.getLogger(__name__)

DTYPES = ('float64', 'float32')
CATEGORIES = ('onehot', 'codes')
_DESCRIPTION = """
Convert a table to HDF5: a CSV or TSV file, which may be compressed by gzip, or a Parquet file
(which takes the package pyarrow). Each row is an example. One column, or more, is the target; the
others are the features.

Columns of numbers are taken as they are. Any other column is one of categories, each of which
becomes a column of ones and zeros. The file also has the names of all columns and categories.
"""
_EXAMPLES = """
fuel-convert table flowers.csv --target species
fuel-convert table flowers.csv --target species --test-fraction 0.2 --seed 1
fuel-convert table houses.tsv --target price --drop address --missing drop
"""


def fill_subparser(subparser: ArgumentParser) -> Callable[..., tuple[str, ...]]:
    """Declare the options of the conversion of a table.

    Parameters
    ----------
    subparser : ArgumentParser
        The parser of ``fuel-convert table``.

    Returns
    -------
    callable
        `convert_table`.
    """
    add_examples(subparser, _DESCRIPTION, _EXAMPLES)
    add = subparser.add_argument
    add('file', metavar='FILE', help='the table: a .csv, .tsv, .csv.gz or .parquet file')
    for name, text in (('target', 'the column, or columns, to be learned'),
                       ('categorical', 'columns of numbers that are categories'),
                       ('numeric', 'columns that must be numbers'),
                       ('drop', 'columns to leave out')):
        add(f'--{name}', type=names_from_text, default=SUPPRESS, metavar='COLUMN[,COLUMN]',
            help=text)
    add('--no-target', action='store_true', default=SUPPRESS,
        help='there is no target: all columns are features')
    add('--categories', choices=CATEGORIES, default='onehot',
        help='how features that are categories are stored: a column of ones and zeros for each, '
             'or one column with their numbers')
    add('--dtype', choices=DTYPES, default='float64', help='the kind of numbers of the features')
    add('--missing', choices=MISSING, default='error',
        help='what to do where values are missing: stop, leave the row out, or store NaN')
    add('--missing-values', type=_words_from_text, default=SUPPRESS, metavar='TEXT[,TEXT]',
        help='what stands for a missing value, besides nothing at all, ?, NA, N/A, NaN, nan, NULL '
             'and null; write --missing-values=-,none if it begins with a dash')
    add('--missing-values-only', action='store_true', default=SUPPRESS,
        help='nothing but what --missing-values names stands for a missing value')
    add('--decimal', choices=DECIMALS, default='.', metavar='MARK',
        help='what stands before the decimals of a number: a point, or a comma as in 3,5')
    add('--delimiter', default=SUPPRESS, help='what stands between values; if not given, it is '
                                              'found out')
    add('--encoding', default='utf-8', help='the encoding of the text')
    add('--no-header', action='store_true', default=SUPPRESS,
        help='the first line has data; the columns are called column_1 and so on')
    add_shares_options(subparser)
    add('--no-stratify', action='store_true', default=SUPPRESS,
        help='do not give each split the same part of every class')
    add('--split-column', default=SUPPRESS, metavar='COLUMN',
        help='the column that names the split of each row')
    add_ranges_option(subparser)
    add_storage_options(subparser)
    return convert_table


def _words_from_text(text: str) -> list[str]:
    return [word.strip() for word in stored_text(text).split(',')]


def convert_table(directory: str, output_directory: str, output_filename: str | None = None, *,
                  file: str, target: Sequence[str] = (), no_target: bool = False,
                  categorical: Sequence[str] = (), numeric: Sequence[str] = (),
                  drop: Sequence[str] = (), categories: str = 'onehot', dtype: str = 'float64',
                  missing: str = 'error', missing_values: Sequence[str] = (),
                  missing_values_only: bool = False, decimal: str = '.',
                  delimiter: str | None = None, encoding: str = 'utf-8', no_header: bool = False,
                  valid_fraction: Fraction | float = Fraction(0),
                  test_fraction: Fraction | float = Fraction(0), seed: int | None = None,
                  no_stratify: bool = False, split_column: str | None = None,
                  ranges: Sequence[Range] | None = None, **storage: Unpack[StorageArguments]
                  ) -> tuple[str, ...]:
    """Convert a table to HDF5.

    Parameters
    ----------
    directory : str
        Where the path of the table begins, if it is a relative one.
    output_directory : str
        Where the new file is to be.
    output_filename : str, optional
        What it is to be called; by default like the table, with ``.hdf5`` for the ending.
    file : str
        The table. Parquet is recognised by the endings ``.parquet`` and ``.pq``; anything else is
        text, compressed by gzip if the ending is ``.gz``.
    target : sequence of str, optional
        The columns that become targets.
    no_target : bool, optional
        Whether there are to be none, which must be said.
    categorical, numeric : sequence of str, optional
        Columns whose kind is said. By default a column is one of numbers if all of its values
        are, else one of categories.
    drop : sequence of str, optional
        Columns to leave out.
    categories : {'onehot', 'codes'}, optional
        How features that are categories are stored.
    dtype : {'float64', 'float32'}, optional
        Of the features, and of targets that are not whole numbers.
    missing : {'error', 'drop', 'nan'}, optional
        What to do about missing values: raise, leave their rows out, or have NaN in their place.
        Categories that are missing are zeros in all of their columns, or a NaN for a code.
    missing_values : sequence of str, optional
        Texts that stand for them, besides `MISSING_WORDS`. In Parquet files numbers do, too.
    missing_values_only : bool, optional
        Whether the texts of `MISSING_WORDS` do not.
    decimal : {'.', ','}, optional
        What stands before the decimals of numbers. Thousands separators are not read.
    delimiter : str, optional
        What stands between values; by default it is found out, see `delimiter_of`.
    encoding : str, optional
        Of the text.
    no_header : bool, optional
        Whether the first line has data. The columns are called ``column_1`` and so on then.
    valid_fraction, test_fraction : Fraction or float, optional
        The parts of the rows that become the splits ``valid`` and ``test``; the rest is ``train``.
        `fuel.converters._division.shares` says which rows.
    seed : int, optional
        Of the division; ``config.default_seed`` by default.
    no_stratify : bool, optional
        Whether classes do not matter to the division. Otherwise each split gets the same part of
        every class if there is one target, and it is one of categories.
    split_column : str, optional
        A column that names the split of each row.
    ranges : sequence of Range, optional
        Splits that are ranges of rows, counted from 0.
    **storage
        How the data are stored; see `fill_hdf5_file`.

    Returns
    -------
    tuple of str
        The path of the file. Its sources are ``features``, shape (rows, columns), and ``targets``,
        shape (rows, number of targets), in the smallest dtype of integers if these are whole
        numbers or categories. Inside a split rows are in the order of the table. Texts that are
        no sources: ``feature_names``; ``target_columns``, the names of the targets;
        ``target_names``, the classes, if there is one target, and it is one of categories;
        ``categories``, pairs of a column and a category, in the order of their numbers.

    Raises
    ------
    DataFileNotFoundError
        The table is not there. A ``FileNotFoundError``.
    ConversionError
        It is not as it should be, a value is missing, a column is not there, or the options do
        not go together. The message names file and line.
    """
    shares = Shares.of(valid_fraction, test_fraction)
    way = one_way({'--valid-fraction or --test-fraction': bool(shares),
                   '--split-column': split_column is not None, '--split': ranges is not None})
    check_lot(shares, {'--seed': seed is not None, '--no-stratify': no_stratify})
    _check_options(dtype, categories, missing, decimal, delimiter)
    if missing_values_only and not missing_values:
        raise ConversionError('expected --missing-values with --missing-values-only')
    output_filename = output_filename or f'{_stem(file)}.hdf5'
    with new_file(output_directory, output_filename) as h5file:
        path = own_file(directory, file)
        table = _table(path, delimiter, decimal, header=not no_header, encoding=encoding)
        if split_column is not None:        # see `names_from_text`
            split_column = stored_text(split_column)
        names = _features(table, target, drop, split_column, no_target=no_target)
        for option, said in (('categorical', categorical), ('numeric', numeric)):
            _check_columns(table, f'--{option}', said)
        words = frozenset((*missing_values, *(() if missing_values_only else MISSING_WORDS)))
        survey = Survey(Reading(table, names, target, split_column, categorical, numeric, missing,
                                words, decimal=decimal))
        tell_mixtures(survey)
        features = Features(survey.reading, [survey.columns[name] for name in names],
                            numpy.dtype(dtype), one_hot=categories == 'onehot')
        logger.info('%s', facts_of(survey, len(features.names)))
        if way is None:
            splits = all_in_one(len(survey.kept), 'train')
        elif ranges is not None:
            splits = by_ranges(len(survey.kept), ranges)
        elif split_column is not None:
            splits = by_names([survey.splits[number] for number in survey.split_of.tolist()])
        else:
            stratify = not no_stratify and _is_class(survey)
            if not (stratify or no_stratify):
                logger.info('%s: the division does not look at targets, for there is not one '
                            'column of categories', path)
            splits = divide(int(survey.kept.sum()), shares, used_seed(seed),
                            survey.classes(target[0]) if stratify else None)
        kept = numpy.flatnonzero(survey.kept)
        if way is None or ranges is not None:       # which count all rows of the table
            splits = {name: rows[survey.kept[rows]] for name, rows in splits.items()}
        else:
            splits = {name: kept[rows] for name, rows in splits.items()}
        for name, rows in splits.items():
            if not len(rows):
                raise ConversionError(f'{path}: expected rows for the split {name}; values are '
                                      'missing in all of them')
        check_splits(h5file, list(splits), ['features', *(['targets'] if target else [])])
        _write(h5file, survey, splits, features, numpy.dtype(dtype), storage)
        logger.info('%s: %s examples', path, sizes_of(splits))
    return (os.path.join(output_directory, output_filename),)


def _check_options(dtype: str, categories: str, missing: str, decimal: str,
                   delimiter: str | None) -> None:
    for what, value, known in (('dtype', dtype, DTYPES), ('categories', categories, CATEGORIES),
                               ('missing', missing, MISSING), ('decimal', decimal, DECIMALS)):
        if value not in known:
            raise ConversionError(f'expected {what} to be one of {" ".join(known)}; got {value!r}')
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '\r\n"'):
        raise ConversionError(f'expected a delimiter of one character; got {delimiter!r}. For the '
                              "tabulator write $'\\t'")


def _stem(file: str) -> str:
    name = os.path.basename(file)
    if name.lower().endswith('.gz'):
        name = name[:-3]
    return os.path.splitext(name)[0] or name


def _table(path: str, delimiter: str | None, decimal: str, *, header: bool, encoding: str) -> Table:
    """Open the table."""
    if path.lower().endswith(('.parquet', '.pq')):
        return ParquetTable(path)
    return TextTable(path, delimiter, header=header, encoding=encoding, decimal=decimal)


def _columns(table: Table) -> str:
    return f'the columns are {listed([quoted(name) for name in table.names], 20)}'


def _check_columns(table: Table, option: str, names: Sequence[str]) -> None:
    for name in names:
        if name not in table.names:
            near = meant(name, table.names)
            guess = '' if near is None else f'did you mean {near!r}? '
            raise ConversionError(f'{table.path}: {option}: there is no column {name!r}; {guess}'
                                  f'{_columns(table)}')


def _features(table: Table, target: Sequence[str], drop: Sequence[str],
              split_column: str | None, *, no_target: bool) -> list[str]:
    """Return the columns that are features."""
    if bool(target) == no_target:
        raise ConversionError(
            f'{table.path}: expected either --target or --no-target; got both' if no_target else
            f'{table.path}: which column is to be learned? Give --target COLUMN, or --no-target '
            f'if all columns are features; {_columns(table)}')
    others = [] if split_column is None else [split_column]
    for option, names in (('--target', target), ('--drop', drop), ('--split-column', others)):
        _check_columns(table, option, names)
    twice = [name for name in dict.fromkeys((*target, *drop, *others))
             if [*target, *drop, *others].count(name) > 1]
    if twice:
        raise ConversionError(f'expected each column in one of --target, --drop and '
                              f'--split-column; got {shown(twice)} twice')
    features = [name for name in table.names if name not in (*target, *drop, *others)]
    if not features:
        raise ConversionError(f'{table.path}: no column is left for the features; '
                              f'{_columns(table)}')
    return features


def _is_class(survey: Survey) -> bool:
    targets = survey.reading.targets
    return len(targets) == 1 and survey.columns[targets[0]].kind == CATEGORY


def _write(h5file: Any, survey: Survey, splits: dict[str, Rows], features: Features,
           dtype: numpy.dtype[Any], storage: StorageArguments) -> None:
    """Write the sources, split by split, and the names that belong to them."""
    from fuel.storage.writing.split_table import write_split

    reading = survey.reading
    options = SourceOptions(compression=storage.get('compression'),
                            chunk_examples=storage.get('chunk_examples'))
    count = sum(map(len, splits.values()))
    target_columns = [survey.columns[name] for name in reading.targets]
    made: dict[str, tuple[Features | Targets, Any]] = {'features': (features, create_source(
        h5file, 'features', (len(features.names),), dtype, num_examples=count, options=options,
        axis_labels=('batch', 'feature')))}
    if target_columns:
        kind = targets_dtype(target_columns, list(survey.gaps) if reading.missing == 'nan' else [],
                             dtype)
        made['targets'] = Targets(reading, target_columns, kind), create_source(
            h5file, 'targets', (len(target_columns),), kind, num_examples=count, options=options,
            axis_labels=('batch', 'index'))
    done, where = 0, {}
    with progress_bar(os.path.basename(reading.table.path), count, unit='examples') as progress:
        for name, rows in splits.items():
            start, wanted = 0, numpy.zeros(len(survey.kept), dtype=bool)
            wanted[rows] = True
            where[name] = dict.fromkeys(made, (done, done + len(rows)))
            for block in reading.table.blocks():
                mask = wanted[start:start + len(block.places)]
                start += len(block.places)
                if len(mask) == len(block.places) and mask.any():
                    for maker, writer in made.values():
                        writer.append(maker.rows(block, mask))
                    done += int(mask.sum())
                    progress.update(done)
            if start != len(wanted):
                raise ConversionError(f'{reading.table.path}: expected {len(wanted)} rows, as '
                                      f'before; got {start}. Has the file been changed meanwhile?')
    for _, writer in made.values():
        writer.close()
    write_names(h5file, 'feature_names', features.names)
    if target_columns:
        write_names(h5file, 'target_columns', list(reading.targets))
    if _is_class(survey):
        write_names(h5file, 'target_names', target_columns[0].categories)
    pairs = [(name, text) for name, column in survey.columns.items() if column.kind == CATEGORY
             for text in column.categories]
    if pairs:
        write_names(h5file, 'categories', pairs)
    write_split(h5file, where)
