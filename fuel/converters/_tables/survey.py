"""The first reading of a table, which finds out what it holds before anything is written."""
from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy
import numpy.typing as npt

from fuel.converters._division.names import check_text, shown
from fuel.converters._division.shares import MOST_SPLITS
from fuel.converters._tables.columns import (
    CATEGORY,
    INTEGER,
    Column,
    as_texts,
    is_missing,
    picked,
    whole_dtype,
)
from fuel.converters._tables.number_texts import is_foreign
from fuel.converters._tables.reading import Block, Table, Values
from fuel.exceptions import ConversionError

__all__ = ['MISSING', 'MISSING_WORDS', 'Reading', 'Survey']

logger = logging.getLogger(__name__)

#: What to do about values that are missing.
MISSING = ('error', 'drop', 'nan')
#: Texts that stand for a value that is missing.
MISSING_WORDS = ('', '?', 'NA', 'N/A', 'NaN', 'nan', 'NULL', 'null')


@dataclass(frozen=True, slots=True)
class Reading:
    """How a table is to be read.

    Parameters
    ----------
    table : Table
        The table.
    features, targets : sequence of str
        The columns that become features, and those that become targets.
    split : str, optional
        The column that names the split of each row.
    categorical, numeric : sequence of str, optional
        Columns whose kind is said, rather than found out.
    missing : {'error', 'drop', 'nan'}, optional
        What to do about rows with missing values: refuse them (the default), leave them out, or
        have NaN in place of the values.
    words : frozenset of str, optional
        What stands for a value that is missing.
    decimal : {'.', ','}, optional
        What stands before the decimals of numbers that are texts.
    complete : frozenset of str, optional
        Columns of which is known that no value is missing.
    """

    table: Table
    features: Sequence[str]
    targets: Sequence[str] = ()
    split: str | None = None
    categorical: Sequence[str] = ()
    numeric: Sequence[str] = ()
    missing: str = 'error'
    words: frozenset[str] = frozenset(MISSING_WORDS)
    decimal: str = '.'
    complete: frozenset[str] = frozenset()

    def column(self, block: Block, name: str) -> tuple[Values, npt.NDArray[numpy.bool]]:
        """Return the values of a column, and where they are missing."""
        values = block.columns[self.table.names.index(name)]
        if name in self.complete:
            return values, numpy.zeros(len(block.places), dtype=bool)
        return values, is_missing(values, self.words)

    def where(self, place: int) -> str:
        """Name a place in the table."""
        return f'{self.table.path}, {self.table.place} {place}'


@dataclass(slots=True)
class Survey:
    """What a table holds.

    Parameters
    ----------
    reading : Reading
        How it is read. It is read at once, from the first row to the last. Afterwards it knows
        where nothing is missing.

    Attributes
    ----------
    columns : dict
        Maps names to `Column`, for features and targets.
    gaps : dict
        Maps names of columns to the place where the first value is missing, if one is.
    kept : ndarray of bool
        Which rows of the table are used.
    splits : list of str
        Names of splits, if a column has them.
    split_of : ndarray of int
        The number of the split of each row that is used.

    Raises
    ------
    ConversionError
        The table has no rows, a value is missing or of another kind than was said, or there are
        too many categories.
    """

    reading: Reading
    columns: dict[str, Column] = field(init=False)
    gaps: dict[str, int] = field(init=False, default_factory=dict)
    kept: npt.NDArray[numpy.bool] = field(init=False)
    splits: list[str] = field(init=False, default_factory=list)
    split_of: npt.NDArray[numpy.int64] = field(init=False)

    def __post_init__(self) -> None:
        reading = self.reading
        self.columns = {name: Column(name, CATEGORY if name in reading.categorical else INTEGER,
                                     forced=name in reading.numeric, decimal=reading.decimal)
                        for name in (*reading.features, *reading.targets)}
        kept, split_of = [], []
        numbers: dict[str, int] = {}
        for block in reading.table.blocks():
            keep = self._look(block)
            kept.append(keep)
            if reading.split is not None:
                texts = as_texts(picked(reading.column(block, reading.split)[0], keep))
                split_of.append(numpy.array([numbers.setdefault(text, len(numbers))
                                             for text in texts], numpy.int64))
                if len(numbers) > MOST_SPLITS:
                    raise ConversionError(
                        f'{reading.table.path}: expected the names of splits in the column '
                        f'{reading.split!r}; it has more than {MOST_SPLITS} different values, such '
                        f'as {texts[-1]!r}, and the table of the splits in the file cannot hold '
                        'them')
        self.splits = list(numbers)
        self.split_of = numpy.concatenate(split_of) if split_of else numpy.zeros(0, numpy.int64)
        self.kept = numpy.concatenate(kept) if kept else numpy.zeros(0, bool)
        self._check()
        self.reading = replace(reading, complete=frozenset(self.columns) - set(self.gaps))
        late = [column for column in self.columns.values() if column.late]
        if late:                # the texts that passed before it was known
            for column in late:
                column.forget()
            for name, values, places in self._again([column.name for column in late]):
                self.columns[name].look(values, places, reading.table.path)
        self._check_columns()

    def _look(self, block: Block) -> npt.NDArray[numpy.bool]:
        """Learn from some rows; return which of them are used."""
        reading = self.reading
        keep = numpy.ones(len(block.places), dtype=bool)
        names = [*self.columns, *([] if reading.split is None else [reading.split])]
        found = {name: reading.column(block, name) for name in names}
        for name, (values, gone) in found.items():
            if gone.any():
                row = int(gone.argmax())
                if reading.missing == 'error' or name == reading.split:
                    raise ConversionError(
                        f'{reading.where(block.places[row])}: the value of the column {name!r} is '
                        f'missing: {as_texts(values)[row]!r}. Give --missing drop to leave such '
                        f"rows out, --missing nan for a NaN there, or --drop '{name}' to do "
                        'without the column')
                self.gaps.setdefault(name, block.places[row])
                if reading.missing == 'drop':
                    keep &= ~gone
        for name, column in self.columns.items():
            values, gone = found[name]
            there = keep & ~gone
            wrong = column.look(*_picked(values, block.places, there), reading.table.path)
            if wrong is not None:
                hint = (f'The option --decimal is {reading.decimal} here, and thousands separators '
                        'are not read' if is_foreign(wrong[1], reading.decimal) else
                        'If it stands for a missing value, name it with --missing-values')
                raise ConversionError(f'{reading.where(wrong[0])}: expected a number in the column '
                                      f'{name!r}, as --numeric says; got {wrong[1][:40]!r}. {hint}')
        return keep

    def _check(self) -> None:
        path = self.reading.table.path
        if not self.kept.any():
            raise ConversionError(f'{path}: expected rows with data; ' + (
                f'a value is missing in each of the {len(self.kept)}' if len(self.kept) else
                'there is only the line with the names of the columns, or nothing'))
        if self.reading.missing == 'drop' and not self.kept.all():
            logger.warning('%s: left out %d of %d rows, for values are missing', path,
                           int((~self.kept).sum()), len(self.kept))
        for name in self.reading.targets:
            if self.columns[name].kind == CATEGORY and self.reading.missing == 'nan' and (
                    name in self.gaps):
                raise ConversionError(
                    f'{self.reading.where(self.gaps[name])}: the value of the target {name!r} is '
                    'missing, and there is no NaN among categories. Give --missing drop')

    def _check_columns(self) -> None:
        """Check that what stands in the columns can be stored, and say what is rounded."""
        reading, rounded = self.reading, []
        targets = [self.columns[name] for name in reading.targets]
        keeps_all = whole_dtype(targets, self.gaps if reading.missing == 'nan' else ()) is not None
        for name, column in self.columns.items():
            if column.kind == CATEGORY:
                for text in column.categories:
                    check_text(text, f'{reading.table.path}, column {name!r}')
            elif column.beyond is not None:
                raise ConversionError(
                    f'{reading.where(column.beyond[0])}: the value {column.beyond[1]} of the '
                    f'column {name!r} is too large for floats of 64 bits. Write inf where '
                    f"infinity is meant, or give --drop '{name}' to do without the column")
            elif column.rounded is not None and not (keeps_all and name in reading.targets):
                rounded.append(f'{column.rounded[1]} in {reading.table.place} '
                               f'{column.rounded[0]}, column {name!r}')
        if rounded:
            logger.warning('%s: whole numbers of more than 15 digits are rounded, for floats keep '
                           'no more of them; the first in each column: %s. Give --drop to do '
                           'without, or --categorical if they are names', reading.table.path,
                           shown(rounded))

    def _again(self, names: Sequence[str]) -> Iterator[tuple[str, Values, Sequence[int]]]:
        """Read some columns again: yield the values that are not missing, and their places."""
        start = 0
        for block in self.reading.table.blocks():
            keep = self.kept[start:start + len(block.places)]
            start += len(block.places)
            for name in names:
                values, gone = self.reading.column(block, name)
                yield name, *_picked(values, block.places, keep & ~gone)

    def classes(self, name: str) -> npt.NDArray[numpy.int64]:
        """Return the code of the category that each used row has in a column."""
        return numpy.concatenate([self.columns[name].numbers(values)
                                  for _, values, _ in self._again([name])])


def _picked(values: Values, places: Sequence[int], mask: npt.NDArray[numpy.bool]
            ) -> tuple[Values, Sequence[int]]:
    """Return some of the values of a column, and their places."""
    if mask.all():
        return values, places
    return picked(values, mask), [places[row] for row in numpy.flatnonzero(mask).tolist()]
