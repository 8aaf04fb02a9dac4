"""What the features of vectors are: numbers, ones and zeros, categories made of these."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy

from fuel._types import AnyArray
from fuel.bin._info.sheet.charts import Chart, named_bars

__all__ = ['Category', 'Columns', 'category_chart', 'columns_of', 'flag_charts']

# More categories than this are put together.
_MOST_CATEGORIES = 10
_MOST_FLAGS = 12


@dataclass(frozen=True, slots=True)
class Category:
    """Features NAME=VALUE that follow each other, of which one is 1 in each example.

    Attributes
    ----------
    name : str
        What stands before the equals sign.
    first : int
        The place of the first of them.
    values : tuple of str
        What stands behind it.
    """

    name: str
    first: int
    values: tuple[str, ...]

    @property
    def places(self) -> slice:
        """Where its features stand."""
        return slice(self.first, self.first + len(self.values))


@dataclass(frozen=True, slots=True)
class Columns:
    """The features of vectors by what they are.

    Attributes
    ----------
    numbers, flags : tuple of int
        Features with numbers, and others that are 0 or 1.
    categories : tuple of Category
        The others.
    """

    numbers: tuple[int, ...]
    flags: tuple[int, ...]
    categories: tuple[Category, ...]

    def compact(self, values: AnyArray) -> tuple[AnyArray, list[int | Category]]:
        """Return values with a column for each category, and what each column is."""
        of_place: dict[int, int | Category] = {place: place
                                               for place in (*self.numbers, *self.flags)}
        of_place.update({category.first: category for category in self.categories})
        entries = [of_place[place] for place in sorted(of_place)]
        if not self.categories:
            return values, entries
        columns = [values[:, entry] if isinstance(entry, int) else
                   values[:, entry.places].argmax(axis=1) for entry in entries]
        return numpy.stack(columns, axis=1), entries


def columns_of(values: AnyArray, names: Sequence[str]) -> Columns:
    """Tell features apart.

    Parameters
    ----------
    values : ndarray, shape (examples, features)
        Some examples.
    names : sequence of str
        Of the features; empty if they have none.
    """
    binary: AnyArray = numpy.asarray(numpy.isin(values, (0, 1)).all(axis=0))
    categories: list[Category] = []
    begins = [name.partition('=')[0] if '=' in name and is_binary else None
              for name, is_binary in zip(names, binary.tolist(), strict=True)] if names else []
    for begin, group in groupby(range(len(begins)), key=begins.__getitem__):
        places = list(group)
        if begin is not None:
            categories.append(Category(begin, places[0], tuple(
                names[place].partition('=')[2] for place in places)))
    taken = {place for category in categories
             for place in range(category.first, category.places.stop)}
    left = [place for place in range(values.shape[1]) if place not in taken]
    return Columns(tuple(place for place in left if not binary[place]),
                   tuple(place for place in left if binary[place]), tuple(categories))


def _by_class(values: AnyArray, classes: AnyArray | None, count: int) -> AnyArray:
    """Return how many examples of each class have a 1, shape (classes, features)."""
    if classes is None:
        counts: AnyArray = values.sum(axis=0, keepdims=True)
        return counts
    return numpy.array([values[classes == number].sum(axis=0) for number in range(count)])


def category_chart(category: Category, values: AnyArray, classes: AnyArray | None,
                   count: int) -> Chart:
    """Return a chart of how many examples are of each category.

    Parameters
    ----------
    category : Category
        What is shown.
    values : ndarray, shape (examples, features)
        Some examples.
    classes : ndarray or None
        The number of the class of each.
    count : int
        How many classes there are.
    """
    found = values[:, category.places]
    counts, names = _by_class(found, classes, count), list(category.values)
    without = found.sum(axis=1, keepdims=True) == 0
    if without.any():
        counts = numpy.concatenate((counts, _by_class(without, classes, count)), axis=1)
        names.append('(none of them)')
    total = counts.sum(axis=0)
    most = int(total.argmax())
    note = f'most often {names[most]}: {int(total[most])} of {len(values)}'
    if len(names) > _MOST_CATEGORIES:
        order = numpy.argsort(-total, kind='stable')
        shown, others = order[:_MOST_CATEGORIES - 1], order[_MOST_CATEGORIES - 1:]
        names = [*(names[place] for place in shown), f'{len(others)} others']
        counts = numpy.concatenate(
            (counts[:, shown], counts[:, others].sum(axis=1, keepdims=True)), axis=1)
    size = len(category.values)
    return named_bars(f'{category.name}: {size} categor{"y" if size == 1 else "ies"}', note, names,
                      counts)


def flag_charts(flags: Sequence[int], labels: Sequence[str], values: AnyArray,
                classes: AnyArray | None, count: int) -> list[Chart]:
    """Return charts of how many examples have a 1; see `category_chart`."""
    charts = []
    for start in range(0, len(flags), _MOST_FLAGS):
        some = list(flags[start:start + _MOST_FLAGS])
        charts.append(named_bars(
            '0 or 1' if len(flags) <= _MOST_FLAGS else
            f'0 or 1: {start + 1} to {start + len(some)} of {len(flags)}',
            f'how many of {len(values)} examples have a 1', [labels[place] for place in some],
            _by_class(values[:, some], classes, count)))
    return charts
