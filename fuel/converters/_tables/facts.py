"""Says what was found in a table: the kinds of its columns, and those that may be mistaken."""
from __future__ import annotations

import logging
import os

from fuel.converters._division.names import listed, plural, quoted, short
from fuel.converters._tables.columns import CATEGORY, Column, Kinds
from fuel.converters._tables.survey import Survey
from fuel.exceptions import ConversionError

__all__ = ['facts_of', 'tell_mixtures']

logger = logging.getLogger(__name__)


def tell_mixtures(survey: Survey) -> None:
    """Log a warning for each column of categories at least half of whose values are numbers.

    Parameters
    ----------
    survey : Survey
        What the table holds. Columns that were said to have categories are passed over.

    Raises
    ------
    ConversionError
        Numbers with a decimal comma were announced, and such a column has numbers with a point
        or with thousands separators, of which nobody knows what they mean.
    """
    reading = survey.reading
    for name, column in survey.columns.items():
        if column.kind != CATEGORY or name in reading.categorical:
            continue
        kinds = column.kinds()
        if 2 * (kinds.numbers + kinds.foreign) < kinds.numbers + kinds.foreign + kinds.others:
            continue
        if kinds.first_foreign is not None and reading.decimal == ',':
            place, text = kinds.first_foreign
            raise ConversionError(
                f'{reading.where(place)}: expected numbers with a decimal comma and without '
                f'thousands separators in the column {name!r}, as --decimal says; got {text!r}. '
                'Write it otherwise, or give --categorical if the column has no numbers')
        if kinds.foreign or kinds.others:
            logger.warning('%s: column %r has %s; it is taken as %s. %s', reading.table.path, name,
                           _parts(kinds, reading.table.place), _categories(column), _advice(kinds))


def _parts(kinds: Kinds, place: str) -> str:
    parts = [plural(kinds.numbers, 'number')] if kinds.numbers or not kinds.foreign else []
    for count, what, first in (
            (kinds.foreign, 'with a decimal comma or thousands separators', kinds.first_foreign),
            (kinds.others, 'other', kinds.first_other)):
        if first is not None:
            amount = (plural(count, 'other value') if what == 'other' else
                      f'{plural(count, "number")} {what}')
            parts.append(f'{amount}, such as {first[1]!r} in {place} {first[0]}')
    return ' and '.join(parts) if len(parts) < 3 else f'{parts[0]}, {parts[1]}, and {parts[2]}'


def _advice(kinds: Kinds) -> str:
    ways = []
    if kinds.foreign:
        ways.append('--decimal , reads decimal commas; thousands separators must be removed')
    if kinds.others:
        ways.append('--missing-values names what stands for a missing value')
    return '; '.join([*ways, '--numeric insists on numbers, and --categorical on categories'])


def _categories(column: Column) -> str:
    count = len(column.categories)
    return '1 category' if count == 1 else f'{count} categories'


def facts_of(survey: Survey, num_features: int) -> str:
    """Return a line that says what the columns of a table are.

    Parameters
    ----------
    survey : Survey
        What the table holds.
    num_features : int
        How many columns the features have.

    Returns
    -------
    str
        Such as ``people.csv: 6 columns: 3 of numbers, 2 of categories (7 values), target label
        (2 classes: no, yes); 10 features``. It does not grow with the number of columns.
    """
    reading = survey.reading
    features = [survey.columns[name] for name in reading.features]
    values = [len(column.categories) for column in features if column.kind == CATEGORY]
    parts = []
    if len(values) < len(features):
        parts.append(f'{len(features) - len(values)} of numbers')
    if values:
        parts.append(f'{len(values)} of categories ({plural(sum(values), "value")})')
    if reading.targets:
        parts.append(f'target{"s" if len(reading.targets) > 1 else ""} ' + listed(
            [_target(survey.columns[name]) for name in reading.targets[:6]], 5,
            total=len(reading.targets)))
    if reading.split is not None:
        parts.append(f'split {quoted(reading.split)}')
    left = (len(reading.table.names) - len(features) - len(reading.targets)
            - (reading.split is not None))
    if left:
        parts.append(f'{left} left out')
    return (f'{os.path.basename(reading.table.path)}: '
            f'{plural(len(reading.table.names), "column")}: {", ".join(parts)}; '
            f'{plural(num_features, "feature")}')


def _target(column: Column) -> str:
    if column.kind != CATEGORY:
        return f'{quoted(column.name)} (numbers)'
    names = column.categories
    what = '1 class' if len(names) == 1 else f'{len(names)} classes'
    return (f'{quoted(column.name)} '
            f'({what}: {listed([short(name) for name in names[:6]], 5, total=len(names))})')
