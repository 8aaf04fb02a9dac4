"""What the columns of a table hold: whole numbers, numbers, or categories.

A column is one of whole numbers if all of its values are, and one of numbers if all of them are
numbers of any kind. Any other is one of categories: each different text is one. Categories are
numbered in sorted order: by value if all of them are numbers, else by the codes of their letters.
"""
from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy
import numpy.typing as npt

from fuel._types import AnyArray
from fuel.converters._division.names import integers_between
from fuel.converters._tables.number_texts import (
    floats,
    integers,
    is_exact,
    is_foreign,
    is_infinite,
    pointed,
    read,
)
from fuel.converters._tables.reading import Numbers, Values
from fuel.exceptions import ConversionError

__all__ = ['CATEGORY', 'INTEGER', 'MOST_CATEGORIES', 'NUMBER', 'Column', 'Kinds', 'as_texts',
           'is_missing', 'picked', 'whole_dtype']

INTEGER, NUMBER, CATEGORY = 'whole number', 'number', 'category'
#: A column of more different texts than this hardly is one of categories.
MOST_CATEGORIES = 1 << 16
# All whole numbers up to this one are floats of 64 bits.
_EXACT = 1 << 53


def is_missing(values: Values, words: frozenset[str]) -> npt.NDArray[numpy.bool]:
    """Return where values are missing: where one is among `words`, or a number not there."""
    if isinstance(values, Numbers):
        numbers = _numbers_among(words)
        return values.missing | numpy.isin(values.values, numbers) if numbers else values.missing
    if words.isdisjoint(values):                # mostly, and quickly known
        return numpy.zeros(len(values), dtype=bool)
    return numpy.fromiter((text in words for text in values), dtype=bool, count=len(values))


@functools.lru_cache(maxsize=8)
def _numbers_among(words: frozenset[str]) -> list[float]:
    return [float(found[0]) for word in sorted(words) if (found := floats([word])) is not None]


def picked(values: Values, mask: npt.NDArray[numpy.bool]) -> Values:
    """Return some of the values of a column."""
    if isinstance(values, Numbers):
        return Numbers(values.values[mask], values.missing[mask])
    return [values[row] for row in numpy.flatnonzero(mask)]


def as_texts(values: Values) -> list[str]:
    """Return values as texts."""
    return list(map(str, values.values.tolist())) if isinstance(values, Numbers) else values


@dataclass(frozen=True, slots=True)
class Kinds:
    """Of what kinds the values of a column of categories are.

    Attributes
    ----------
    numbers, foreign, others : int
        How many are numbers; numbers with another decimal mark than was said, or with thousands
        separators; and neither.
    first_foreign, first_other : tuple of int and str, or None
        The place of the first such value, and the value; `None` if there is none.
    """

    numbers: int
    foreign: int
    others: int
    first_foreign: tuple[int, str] | None
    first_other: tuple[int, str] | None


@dataclass(slots=True)
class Column:
    """What is known of a column.

    Parameters
    ----------
    name : str
        Its name.
    kind : str, optional
        What it holds, as far as is known: whole numbers, until something else is found.
    forced : bool, optional
        Whether that was said by somebody, and is not to change.
    decimal : {'.', ','}, optional
        What stands before the decimals of numbers.

    Attributes
    ----------
    low, high : int
        The range of whole numbers.
    rounded : tuple of int and str, or None
        The place of the first number that is too long for a float of 64 bits, and the number.
    beyond : tuple of int and str, or None
        The place of the first number that is too large for such a float, and the number.
    late : bool
        Whether it was found to be one of categories only after some of its values had passed.
    """

    name: str
    kind: str = INTEGER
    forced: bool = False
    decimal: str = '.'
    low: int = 0
    high: int = 0
    rounded: tuple[int, str] | None = None
    beyond: tuple[int, str] | None = None
    late: bool = False
    _seen: bool = False
    _odd: str | None = None
    _texts: Counter[str] = field(default_factory=Counter)
    _places: dict[str, int] = field(default_factory=dict)
    _codes: dict[str, int] = field(default_factory=dict)

    def look(self, values: Values, places: Sequence[int], path: str
             ) -> tuple[int, str] | None:
        """Learn from some values, none of which is missing.

        Parameters
        ----------
        values : list of str or Numbers
            The values.
        places : sequence of int
            The number of the line or row of each.
        path : str
            The file, for messages.

        Returns
        -------
        tuple of int and str, or None
            The place of a value that is not of the kind that was said, and the value; `None` if
            all are.

        Raises
        ------
        ConversionError
            There are too many different texts.
        """
        if self.kind != CATEGORY and not self._look_at_numbers(values, places):
            odd = next((place, text)
                       for text, place in zip(as_texts(values), places, strict=True)
                       if floats([text], self.decimal) is None)
            if self.forced:
                return odd
            self.kind, self.late = CATEGORY, self._seen
            if self.late or odd[1] != as_texts(values)[0]:      # after a number
                self._odd = odd[1]
        if self.kind == CATEGORY:
            self._collect(as_texts(values), places)
            if len(self._texts) > MOST_CATEGORIES:
                hint = ('' if self._odd is None else
                        f'. It begins with numbers; if {_short(self._odd)!r} stands for a missing '
                        'value, name it with --missing-values')
                raise ConversionError(
                    f'{path}: the column {self.name!r} has more than {MOST_CATEGORIES} different '
                    f"texts, such as {min(self._texts)!r}: leave it out with --drop '{self.name}'"
                    f'{hint}')
        self._seen = self._seen or bool(len(places))
        return None

    def _collect(self, texts: Sequence[str], places: Sequence[int]) -> None:
        """Count texts, and note where each stands first."""
        self._texts.update(texts)
        if len(self._texts) > len(self._places):
            for text, place in zip(texts, places, strict=True):
                self._places.setdefault(text, place)

    def forget(self) -> None:
        """Forget all texts, to begin again with the first row."""
        self._texts.clear()
        self._places.clear()

    def kinds(self) -> Kinds:
        """Return of what kinds the values of a column of categories are."""
        counts = {'numbers': 0, 'foreign': 0, 'others': 0}
        first: dict[str, tuple[int, str]] = {}
        for text, count in self._texts.items():         # in the order of their first places
            kind = ('numbers' if floats([text], self.decimal) is not None else
                    'foreign' if is_foreign(text, self.decimal) else 'others')
            counts[kind] += count
            first.setdefault(kind, (self._places[text], _short(text)))
        return Kinds(**counts, first_foreign=first.get('foreign'), first_other=first.get('others'))

    def _look_at_numbers(self, values: Values, places: Sequence[int]) -> bool:
        """Learn from values if they are numbers; return whether they are."""
        if isinstance(values, Numbers):
            array = values.values
            if array.dtype.kind == 'f':
                self.kind = NUMBER
            elif array.size:
                low, high = int(array.min()), int(array.max())
                self._look_at_range(low, high)
                if max(-low, high) > _EXACT:
                    self._look_at_large(array.tolist(), places)
            return True
        readable = pointed(values, self.decimal)
        if readable is None:
            return False
        whole = integers(values) if self.kind == INTEGER else None
        if whole:
            low, high = min(whole), max(whole)
            self._look_at_range(low, high)
            if max(-low, high) > _EXACT:
                self._look_at_large(whole, places)
        elif values:
            found = read(readable)
            if found is None:
                return False
            self.kind = NUMBER
            if numpy.abs(found).max() >= _EXACT:
                self._look_at_large(readable, places)
        return True

    def _look_at_range(self, low: int, high: int) -> None:
        self.low = min(self.low, low) if self._seen else low
        self.high = max(self.high, high) if self._seen else high

    def _look_at_large(self, values: Sequence[int | str], places: Sequence[int]) -> None:
        """Note the first numbers that are no floats of 64 bits."""
        for value, place in zip(values, places, strict=True):
            try:
                number = float(value)
            except OverflowError:
                number = math.inf
            if self.beyond is None and math.isinf(number) and not (
                    isinstance(value, str) and is_infinite(value)):
                self.beyond = place, _short(value)
            if self.rounded is None and _EXACT <= abs(number) < math.inf and not is_exact(
                    value, number):
                self.rounded = place, _short(value)

    @property
    def categories(self) -> list[str]:
        """The different texts, in the order of their numbers."""
        texts = sorted(self._texts)
        numbers = floats(texts, self.decimal)
        if numbers is not None:
            texts = [texts[place] for place in numpy.argsort(numbers, kind='stable')]
        return texts

    @property
    def dtype(self) -> numpy.dtype[Any]:
        """That of the numbers: int64 or uint64 if they are whole and fit, or else float64."""
        whole = integers_between(self.low, self.high) if self.kind == INTEGER else None
        if whole is None:
            return numpy.dtype('float64')
        return whole if whole == 'uint64' else numpy.dtype('int64')

    def numbers(self, values: Values) -> AnyArray:
        """Return values as numbers, none of which is missing; of categories the codes.

        Raises
        ------
        KeyError
            A text was not there when the categories were collected.
        ValueError, OverflowError
            A text is no number, though all were before, or a larger one.
        """
        if self.kind == CATEGORY:
            if not self._codes:
                self._codes = {text: code for code, text in enumerate(self.categories)}
            return numpy.array([self._codes[text] for text in as_texts(values)], numpy.int64)
        if isinstance(values, Numbers):
            return values.values.astype(self.dtype)
        if self.kind == INTEGER:
            return numpy.array(list(map(int, values)), self.dtype)
        readable = pointed(values, self.decimal)
        if readable is None:
            raise ValueError('a value is no number')
        return numpy.array(list(map(float, readable)), self.dtype)


def _short(value: int | str) -> str:
    """Return a number for a message."""
    try:
        text = str(value)
    except ValueError:              # Python writes no more than 4300 digits
        return 'one of thousands of digits'
    return text if len(text) <= 40 else f'{text[:40]}... of {len(text)} characters'


def whole_dtype(columns: Sequence[Column], gaps: Container[str] = ()) -> numpy.dtype[Any] | None:
    """Return the smallest dtype of integers that holds what stands in some columns.

    Parameters
    ----------
    columns : sequence of Column
        The columns.
    gaps : container of str
        The names of those that have NaN.

    Returns
    -------
    numpy.dtype or None
        `None` if not all are whole numbers or codes, or no dtype holds them.
    """
    limits: list[int] = []
    for column in columns:
        if column.kind == CATEGORY:
            limits += [0, len(column.categories) - 1]
        elif column.kind == INTEGER and column.name not in gaps:
            limits += [column.low, column.high]
        else:
            return None
    return integers_between(min(limits, default=0), max(limits, default=0))
