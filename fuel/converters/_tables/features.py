"""Makes matrices out of the columns of a table."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy
import numpy.typing as npt

from fuel._types import AnyArray
from fuel.converters._tables.columns import CATEGORY, Column, picked, whole_dtype
from fuel.converters._tables.reading import Block
from fuel.converters._tables.survey import Reading
from fuel.exceptions import ConversionError

__all__ = ['Features', 'Targets', 'targets_dtype']

#: More columns than this are not made out of one.
MOST_ONE_HOT = 1000


class Features:
    """Numbers for the columns that are features.

    Parameters
    ----------
    reading : Reading
        How the table is read.
    columns : sequence of Column
        Those that are features, in their order.
    dtype : numpy.dtype
        Of the result.
    one_hot : bool
        Whether each category becomes a column, which has 1 where it is and 0 elsewhere; or each
        column of categories becomes one with their codes.

    Attributes
    ----------
    names : list of str
        Those of the columns of the result; for a category ``column=category``.

    Raises
    ------
    ConversionError
        A column would become too many, or two would have the same name.
    """

    def __init__(self, reading: Reading, columns: Sequence[Column], dtype: numpy.dtype[Any], *,
                 one_hot: bool) -> None:
        self._reading, self._columns, self._dtype = reading, columns, dtype
        self._one_hot = one_hot
        self.names: list[str] = []
        self._places: list[int] = []
        for column in columns:
            self._places.append(len(self.names))
            if column.kind == CATEGORY and one_hot:
                categories = column.categories
                if len(categories) > MOST_ONE_HOT:
                    raise ConversionError(
                        f'{reading.table.path}: the column {column.name!r} has {len(categories)} '
                        f'categories, such as {categories[0]!r}, each of which would become a '
                        f"column. Leave it out with --drop '{column.name}', or give --categories "
                        'codes')
                self.names += [f'{column.name}={category}' for category in categories]
            else:
                self.names.append(column.name)
        self._check_names()

    def _check_names(self) -> None:
        seen: dict[str, Column] = {}
        for place, column in enumerate(self._columns):
            for name in self.names[self._places[place]:[*self._places, None][place + 1]]:
                if name in seen:
                    raise ConversionError(
                        f'{self._reading.table.path}: two features would have the name {name!r}: '
                        f'one from the column {seen[name].name!r}, one from {column.name!r}. Name '
                        f"one of them otherwise, leave it out with --drop '{column.name}', or give "
                        '--categories codes')
                seen[name] = column

    def rows(self, block: Block, mask: npt.NDArray[numpy.bool]) -> AnyArray:
        """Return the features of some rows, with NaN where values are missing.

        Raises
        ------
        ConversionError
            A number is too large for the dtype, or the file has changed since it was looked at.
        """
        result = numpy.zeros((int(mask.sum()), len(self.names)), dtype=self._dtype)
        for column, place in zip(self._columns, self._places, strict=True):
            values, gone = self._reading.column(block, column.name)
            there = mask & ~gone
            numbers = _numbers(self._reading, column, picked(values, there))
            rows = numpy.flatnonzero(there[mask])
            if column.kind == CATEGORY and self._one_hot:
                result[rows, place + numbers] = 1
                continue
            stored = _stored(self._reading, column, numbers, self._dtype, block, there)
            if len(rows) < len(result):
                result[:, place] = numpy.nan
            result[rows, place] = stored
        return result


def _numbers(reading: Reading, column: Column, values: Any) -> AnyArray:
    try:
        return column.numbers(values)
    except (KeyError, ValueError, OverflowError) as error:
        raise ConversionError(f'{reading.table.path}: the column {column.name!r} has other values '
                              f'than when the file was read before ({error}); has the file been '
                              'changed meanwhile?') from error


def _stored(reading: Reading, column: Column, numbers: AnyArray, dtype: numpy.dtype[Any],
            block: Block, there: npt.NDArray[numpy.bool]) -> AnyArray:
    """Return the numbers of a column in the dtype of its source, none of them too large for it."""
    with numpy.errstate(over='ignore'):
        stored = numbers.astype(dtype)
    if dtype.kind == 'f' and numpy.isinf(stored).any():
        wrong = numpy.flatnonzero(numpy.isfinite(numbers) & numpy.isinf(stored))
        if wrong.size:
            line = block.places[int(numpy.flatnonzero(there)[wrong[0]])]
            raise ConversionError(
                f'{reading.where(line)}: the value {numbers[wrong[0]]} of the column '
                f'{column.name!r} is too large for {dtype}; give --dtype float64')
    return stored


def targets_dtype(columns: Sequence[Column], gaps: Sequence[str],
                  dtype: numpy.dtype[Any]) -> numpy.dtype[Any]:
    """Return the dtype that targets have.

    Parameters
    ----------
    columns : sequence of Column
        Those that are targets.
    gaps : sequence of str
        Those that have NaN.
    dtype : numpy.dtype
        For targets that are not all whole numbers.

    Returns
    -------
    numpy.dtype
        The smallest one of integers that holds all of them, if they are whole numbers or codes
        and there is one; else `dtype`.
    """
    whole = whole_dtype(columns, gaps)
    return dtype if whole is None else whole


class Targets:
    """Numbers for the columns that are targets: whole numbers, floats, or codes of categories.

    Parameters
    ----------
    reading : Reading
        How the table is read.
    columns : sequence of Column
        Those that are targets, in their order.
    dtype : numpy.dtype
        Of the result.
    """

    def __init__(self, reading: Reading, columns: Sequence[Column],
                 dtype: numpy.dtype[Any]) -> None:
        self._reading, self._columns, self._dtype = reading, columns, dtype

    def rows(self, block: Block, mask: npt.NDArray[numpy.bool]) -> AnyArray:
        """Return the targets of some rows; shape (rows, columns).

        Raises
        ------
        ConversionError
            As for `Features.rows`.
        """
        result = numpy.empty((int(mask.sum()), len(self._columns)), dtype=self._dtype)
        for place, column in enumerate(self._columns):
            values, gone = self._reading.column(block, column.name)
            there = mask & ~gone
            if not numpy.array_equal(there, mask):
                result[:, place] = numpy.nan
            numbers = _numbers(self._reading, column, picked(values, there))
            result[there[mask], place] = _stored(self._reading, column, numbers, self._dtype,
                                                 block, there)
        return result
