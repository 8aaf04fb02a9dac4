"""Reads tables that are text files: comma-separated values and their like.

The rules of quoting are those of the module csv of Python. Blanks around values do not count, and
neither do empty lines.
"""
from __future__ import annotations

import csv
import io
import logging
from collections.abc import Generator
from contextlib import closing
from typing import BinaryIO

from fuel.converters._conversion.inputs import open_input
from fuel.converters._formats.compressed import open_gzip
from fuel.exceptions import ConversionError

__all__ = ['DELIMITERS', 'delimiter_of', 'rows_of', 'unnamed']

logger = logging.getLogger(__name__)

#: Those that are recognised, the first where the others are equally likely.
DELIMITERS = (',', ';', '\t', '|')
# Characters of a line; a file without line ends is not to be taken into memory as a whole.
_LONGEST_LINE = 1 << 24
# Lines and characters from which the delimiter is guessed.
_SAMPLE_LINES, _SAMPLE = 20, 1 << 16


def _opened(path: str) -> BinaryIO:
    return open_gzip(path) if path.lower().endswith('.gz') else open_input(path)


def _lines(stream: BinaryIO, path: str, encoding: str) -> Generator[str, None, None]:
    """Yield the lines of a text; wrong bytes are errors that name the line."""
    number = 0
    try:
        # Wrong bytes become characters that no text has, so that their line can be told.
        text = io.TextIOWrapper(stream, encoding, 'surrogateescape', newline='')
    except LookupError as error:
        raise ConversionError(f'{path}: {error}; expected an encoding that Python knows, such as '
                              'utf-8 or latin-1') from None
    try:
        while line := text.readline(_LONGEST_LINE):
            number += 1
            if number == 1:
                line = line.removeprefix('\ufeff')      # some programs begin a text with it
            if len(line) == _LONGEST_LINE and not line.endswith('\n'):
                raise ConversionError(f'{path}, line {number}: expected lines of less than '
                                      f'{_LONGEST_LINE} characters; is this a text file?')
            if '\0' in line:
                raise ConversionError(f'{path}, line {number}: expected a text; got the character '
                                      'NUL. If the file is in UTF-16, give --encoding utf-16')
            if not line.isascii() and any('\ud800' <= mark <= '\udfff' for mark in line):
                raise ConversionError(f'{path}, line {number}: expected a text in {encoding}; '
                                      'other bytes are in it. Give the right --encoding, such as '
                                      'latin-1')
            yield line
    except UnicodeError as error:
        raise ConversionError(f'{path}, after line {number}: expected a text in {encoding}: '
                              f'{error}. Give the right --encoding') from None
    finally:
        text.detach()


def delimiter_of(path: str, encoding: str = 'utf-8', decimal: str = '.') -> str:
    """Guess what stands between the values of a table.

    Parameters
    ----------
    path : str
        The file.
    encoding : str, optional
        Of its text.
    decimal : {'.', ','}, optional
        What stands before the decimals of its numbers, and so hardly between values.

    Returns
    -------
    str
        The tabulator for files whose names end in ``.tsv``. For others that one of `DELIMITERS`
        which divides each of the first lines into the same number of values, more than the others
        do; a comma if there is none.

    Raises
    ------
    ConversionError
        The file is no text.
    """
    if path.lower().removesuffix('.gz').endswith(('.tsv', '.tab')):
        return '\t'
    sample, size = [], 0
    with _opened(path) as stream, closing(_lines(stream, path, encoding)) as lines:
        for line in lines:
            sample.append(line)
            size += len(line)
            if len(sample) == _SAMPLE_LINES or size > _SAMPLE:
                break
    best, most = DELIMITERS[0], 1
    for delimiter in DELIMITERS:
        if delimiter == decimal:
            continue
        try:
            # The last row may have been cut in the middle.
            rows = [row for row in csv.reader(sample, delimiter=delimiter) if row]
        except csv.Error:
            continue
        widths = {len(row) for row in (rows[:-1] if len(rows) > 2 else rows)}
        if len(widths) == 1 and max(widths) > most:
            best, most = delimiter, max(widths)
    return best


def rows_of(path: str, delimiter: str, encoding: str = 'utf-8'
            ) -> Generator[tuple[int, list[str]], None, None]:
    """Read a table row by row.

    Parameters
    ----------
    path : str
        The file, which may be compressed by gzip if its name ends in ``.gz``. It is noted as an
        input of the conversion.
    delimiter : str
        What stands between values.
    encoding : str, optional
        Of its text.

    Yields
    ------
    line : int
        The number of the line where the row ends, from 1.
    values : list of str
        Without the blanks around them. All rows have as many as the first one.

    Raises
    ------
    ConversionError
        The file is no text, a row has another number of values than the first, or quotes are
        wrong. The message names file and line.
    """
    with _opened(path) as stream, closing(_lines(stream, path, encoding)) as lines:
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
        width = 0
        try:
            for row in reader:
                values = list(map(str.strip, row))
                if not values or (len(values) == 1 != width and not values[0]):
                    continue                            # an empty line, or one of blanks
                width = width or len(values)
                if len(values) != width:
                    raise ConversionError(
                        f'{path}, line {reader.line_num}: expected {width} values, as in the '
                        f'first line; got {len(values)}: {delimiter.join(row)[:80]!r}. Values '
                        f'that contain {delimiter!r} must stand between quotes')
                yield reader.line_num, values
        except csv.Error as error:
            raise ConversionError(f'{path}, line {reader.line_num}: {error}') from None


def unnamed(path: str, names: list[str]) -> list[str]:
    """Return the names of columns, with names for those that have none.

    Parameters
    ----------
    path : str
        The file, for messages.
    names : list of str
        Those in its first line.

    Raises
    ------
    ConversionError
        Two columns have the same name.
    """
    result = [name or f'column_{number}' for number, name in enumerate(names, start=1)]
    if '' in names and names.count('') < len(names):
        places = [str(number) for number, name in enumerate(names, start=1) if not name]
        logger.warning('%s, line 1: the columns %s have no name; they are called column_%s and '
                       'so on', path, ', '.join(places), places[0])
    twice = [name for name in dict.fromkeys(result) if result.count(name) > 1]
    if twice:
        raise ConversionError(f'{path}, line 1: expected names of columns that differ; got '
                              f'{", ".join(map(repr, twice))} more than once. If the first line '
                              'has data, give --no-header')
    return result
