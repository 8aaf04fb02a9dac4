"""Tables as they are read: block by block, each column by itself."""
from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy
import numpy.typing as npt

from fuel._types import AnyArray
from fuel.converters._tables.delimited import delimiter_of, rows_of, unnamed
from fuel.exceptions import ConversionError

__all__ = ['Block', 'Numbers', 'Table', 'TextTable', 'Values']

logger = logging.getLogger(__name__)

# Values of a table that are looked at together. More of them are slower, for they do not stay in
# the cache of the processor; but a few rows at a time are slower still.
_BLOCK_VALUES, _FEW_ROWS, _MOST_VALUES = 1 << 13, 256, 1 << 19


@dataclass(frozen=True, slots=True)
class Numbers:
    """Values of a column that the file has as numbers.

    Parameters
    ----------
    values : ndarray, int64, uint64 or float64
        The numbers; anything where one is missing.
    missing : ndarray of bool
        Where that is.
    """

    values: AnyArray
    missing: npt.NDArray[numpy.bool]


#: The values of a column in some rows: texts, or numbers.
Values: TypeAlias = list[str] | Numbers


@dataclass(frozen=True, slots=True)
class Block:
    """Some rows of a table.

    Parameters
    ----------
    places : sequence of int
        The number of the line or row of each, for messages.
    columns : list
        The values of each column.
    """

    places: Sequence[int]
    columns: list[Values]


class Table(Protocol):
    """A table that can be read more than once.

    Attributes
    ----------
    path : str
        The file.
    place : str
        What the numbers of places count, ``'line'`` or ``'row'``.
    names : list of str
        Those of the columns.
    """

    path: str
    place: str
    names: list[str]

    def blocks(self) -> Iterator[Block]:
        """Read the table from its first row to its last."""
        ...


class TextTable:
    """A table in a text file.

    Parameters
    ----------
    path : str
        The file.
    delimiter : str, optional
        What stands between values; guessed by default.
    header : bool, optional
        Whether the first line has the names of the columns, which is so by default. Otherwise
        they are called ``column_1`` and so on.
    encoding : str, optional
        Of the text.
    decimal : {'.', ','}, optional
        What stands before the decimals of its numbers, for the guess.

    Raises
    ------
    ConversionError
        It is no text, it is empty, or two columns have the same name.
    """

    place = 'line'

    def __init__(self, path: str, delimiter: str | None = None, *, header: bool = True,
                 encoding: str = 'utf-8', decimal: str = '.') -> None:
        self.path = path
        self.delimiter = delimiter or delimiter_of(path, encoding, decimal)
        self._header, self._encoding = header, encoding
        rows = rows_of(path, self.delimiter, encoding)
        first = next(rows, None)
        rows.close()
        if first is None:
            raise ConversionError(f'{path}: expected a table; the file is empty')
        self.names = unnamed(path, first[1] if header else [''] * len(first[1]))
        if header and all(_is_number(text) for text in first[1]):
            logger.warning('%s: the first line is taken for the names of the columns, but has '
                           'numbers only; if it has data, give --no-header', path)

    def blocks(self) -> Iterator[Block]:
        """Read the table from its first row to its last; see `rows_of` for the errors."""
        rows = rows_of(self.path, self.delimiter, self._encoding)
        if self._header:
            next(rows, None)
        width = len(self.names)
        most = max(1, _BLOCK_VALUES // width, min(_FEW_ROWS, _MOST_VALUES // width))
        places: list[int] = []
        values: list[list[str]] = []
        for line, row in rows:
            places.append(line)
            values.append(row)
            if len(values) == most:
                yield Block(places, [list(column) for column in zip(*values, strict=True)])
                places, values = [], []
        if values:
            yield Block(places, [list(column) for column in zip(*values, strict=True)])


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
