"""What the columns of a table hold: whole numbers, numbers, or categories.

A column is one of whole numbers if all of its values are, and one of numbers if all of them are
numbers of any kind. Any other is one of categories: each different text is one. Categories are
numbered in sorted order: by value if all of them are numbers, else by the codes of their letters.
"""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy
import numpy.typing as npt

from fuel._types import AnyArray
from fuel.converters._tables import Numbers, Values
from fuel.exceptions import ConversionError

__all__ = ['CATEGORY', 'INTEGER', 'MOST_CATEGORIES', 'NUMBER', 'Column', 'as_texts', 'is_missing',
           'picked']

INTEGER, NUMBER, CATEGORY = 'whole number', 'number', 'category'
#: A column of more different texts than this hardly is one of categories.
MOST_CATEGORIES = 1 << 16


def _integers(texts: Sequence[str]) -> npt.NDArray[numpy.int64] | None:
    try:
        return numpy.array(list(map(int, texts)), dtype=numpy.int64)
    except (ValueError, OverflowError):
        return None


def _floats(texts: Sequence[str]) -> npt.NDArray[numpy.float64] | None:
    try:
        numbers = numpy.array(list(map(float, texts)), dtype=numpy.float64)
    except ValueError:
        return None
    # The text 'nan' is a number to Python, but here it means that one is missing, or is a text.
    return None if numpy.isnan(numbers).any() else numbers


def is_missing(values: Values, words: frozenset[str]) -> npt.NDArray[numpy.bool]:
    """Return where values are missing: where a text is one of `words`, or a number not there."""
    if isinstance(values, Numbers):
        return values.missing
    if words.isdisjoint(values):                # mostly, and quickly known
        return numpy.zeros(len(values), dtype=bool)
    return numpy.fromiter((text in words for text in values), dtype=bool, count=len(values))


def picked(values: Values, mask: npt.NDArray[numpy.bool]) -> Values:
    """Return some of the values of a column."""
    if isinstance(values, Numbers):
        return Numbers(values.values[mask], values.missing[mask])
    return [values[row] for row in numpy.flatnonzero(mask)]


def as_texts(values: Values) -> list[str]:
    """Return values as texts."""
    return list(map(str, values.values.tolist())) if isinstance(values, Numbers) else values


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

    Attributes
    ----------
    low, high : int
        The range of whole numbers.
    late : bool
        Whether it was found to be one of categories only after some of its values had passed.
    """

    name: str
    kind: str = INTEGER
    forced: bool = False
    low: int = 0
    high: int = 0
    late: bool = False
    _seen: bool = False
    _texts: set[str] = field(default_factory=set)
    _codes: dict[str, int] = field(default_factory=dict)

    def look(self, values: Values, path: str) -> int | None:
        """Learn from some values, none of which is missing; `path` is the file, for messages.

        Returns
        -------
        int or None
            The place of a value that is not of the kind that was said; `None` if all are.

        Raises
        ------
        ConversionError
            There are too many different texts.
        """
        if self.kind != CATEGORY:
            numbers = self._numbers(values)
            if numbers is None:
                if self.forced:
                    return next(place for place, text in enumerate(as_texts(values))
                                if self._numbers([text]) is None)
                self.kind, self.late = CATEGORY, self._seen
            elif numbers.dtype.kind != 'i':
                self.kind = NUMBER
            elif numbers.size:
                low, high = int(numbers.min()), int(numbers.max())
                self.low = min(self.low, low) if self._seen else low
                self.high = max(self.high, high) if self._seen else high
        if self.kind == CATEGORY:
            self._texts.update(as_texts(values))
            if len(self._texts) > MOST_CATEGORIES:
                raise ConversionError(
                    f'{path}: the column {self.name!r} has more than {MOST_CATEGORIES} different '
                    f"texts, such as {min(self._texts)!r}: leave it out with --drop '{self.name}'")
        self._seen = self._seen or bool(len(
            values.values if isinstance(values, Numbers) else values))
        return None

    def _numbers(self, values: Values) -> AnyArray | None:
        """Return values as whole numbers or floats; `None` if they are no numbers."""
        if isinstance(values, Numbers):
            return values.values
        # Python takes 1_000 for a number; elsewhere it is the name of something.
        if '_' in ' '.join(values):
            return None
        numbers = _integers(values) if self.kind == INTEGER else None
        return _floats(values) if numbers is None else numbers

    @property
    def categories(self) -> list[str]:
        """The different texts, in the order of their numbers."""
        texts = sorted(self._texts)
        numbers = None if '_' in ' '.join(texts) else _floats(texts)
        if numbers is not None:
            texts = [texts[place] for place in numpy.argsort(numbers, kind='stable')]
        return texts

    def numbers(self, values: Values) -> AnyArray:
        """Return values as numbers, none of which is missing; of categories the codes.

        Raises
        ------
        KeyError
            A text was not there when the categories were collected.
        ValueError
            A text is no number, though all were before.
        """
        if self.kind == CATEGORY:
            if not self._codes:
                self._codes = {text: code for code, text in enumerate(self.categories)}
            return numpy.array([self._codes[text] for text in as_texts(values)], numpy.int64)
        if isinstance(values, Numbers):
            return values.values
        kind = int if self.kind == INTEGER else float
        return numpy.array(list(map(kind, values)),
                           numpy.int64 if self.kind == INTEGER else numpy.float64)
