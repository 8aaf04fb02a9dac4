"""Bands with vectors: a chart for each of a few features, strips for many of them."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from fuel._types import AnyArray
from fuel.bin._info.sheet.charts import charts_band
from fuel.bin._info.sheet.columns import category_chart, columns_of, flag_charts
from fuel.bin._info.sheet.contents import Contents, Source
from fuel.bin._info.sheet.histograms import spread_of_values
from fuel.bin._info.sheet.page import COLOURS, GREY, Area, Band, line_of_words
from fuel.bin._info.sheet.strips import strips_band
from fuel.bin._info.sheet.targets import Targets
from fuel.bin._info.sheet.words import measure

__all__ = ['Sampled', 'Vectors', 'sampled']

_ROWS = 4000
# More features with numbers than this, or with nothing but 0 and 1, are drawn as strips, of which
# a few have a histogram beside; and more classes are not told apart.
_MOST_NUMBERS, _MOST_FLAGS, _FEW_NUMBERS = 16, 36, 8
_MOST_CATEGORIES = 16
_MOST_CLASSES = 10


class Sampled:
    """Some examples of a source, and their classes where these are few.

    Attributes
    ----------
    values : ndarray
        The examples.
    rows : ndarray
        Their rows.
    classes : ndarray or None
        The number of the class of each, from 0; `None` if there are none or too many.
    names : list of str
        The names of these classes.
    """

    def __init__(self, values: Any, rows: AnyArray, classes: AnyArray | None,
                 names: list[str]) -> None:
        self.values, self.rows, self.classes, self.names = values, rows, classes, names


def sampled(contents: Contents, source: Source, targets: Targets) -> Sampled:
    """Return examples from all splits that are shown."""
    splits = contents.shown_splits(source.name)
    values, rows, found = [], [], []
    of_classes: str | None = None
    for split in splits:
        parts = contents.splits[split]
        count = len(parts[source.name])
        places = source.places(count, max(1, _ROWS // len(splits)))
        values.append(contents.values(split, source.name, places))
        rows.append(parts[source.name].at(places))
        of_class = targets.of_split(split)
        if of_class is not None and len(parts[of_class]) == count and of_classes in (
                None, of_class):
            of_classes = of_class
            of_places = numpy.asarray(contents.values(split, of_class, places)).reshape(-1)
            found.append(of_places.astype(numpy.int64))
    together, numbers = numpy.concatenate(values), numpy.concatenate(rows)
    if of_classes is None:
        return Sampled(together, numbers, None, [])
    if len(found) < len(splits):        # a split without targets says nothing of classes
        kept = [split for split in splits if contents.splits[split].get(of_classes)]
        together = numpy.concatenate([entry for entry, split in zip(values, splits, strict=True)
                                      if split in kept])
        numbers = numpy.concatenate([entry for entry, split in zip(rows, splits, strict=True)
                                     if split in kept])
    classes = numpy.concatenate(found)
    different, which = numpy.unique(classes, return_inverse=True)
    if len(classes) != len(numbers) or len(different) > _MOST_CLASSES:
        return Sampled(numpy.concatenate(values), numpy.concatenate(rows), None, [])
    return Sampled(together, numbers, which,
                   [targets.label(of_classes, value) for value in different])


class Vectors:
    """Draws the features of vectors, or of examples of any shape.

    Parameters
    ----------
    contents : Contents
        The file.
    source : Source
        What to show.
    names : sequence of str
        Of the features; empty if the file has none.
    targets : Targets
        To tell the features of classes apart.

    Attributes
    ----------
    are_columns : bool
        Whether features are few, or fall into few columns of a table, each of which has a chart.
    """

    def __init__(self, contents: Contents, source: Source, names: Sequence[str],
                 targets: Targets) -> None:
        self._source = source
        self._found = found = sampled(contents, source, targets)
        self._values = numpy.asarray(found.values).reshape(len(found.rows), -1)
        size = self._values.shape[1]
        self._named = len(names) == size
        self._labels = list(names) if self._named else [f'feature {place}' for place in range(size)]
        self._columns = columns_of(self._values, self._labels if self._named else ())
        self.are_columns = (len(self._columns.numbers) <= _MOST_NUMBERS
                            and len(self._columns.flags) <= _MOST_FLAGS)

    def bands(self) -> list[Band]:
        """Return what is drawn."""
        if not len(self._found.rows):
            return []
        columns, found = self._columns, self._found
        title = f'{self._source.name}: {len(self._labels)} features'
        bands, numbers = [], columns.numbers
        if not self.are_columns:
            bands.append(strips_band(title, self._values, found.classes, found.names, columns,
                                     self._labels if self._named else []))
            numbers = self._some(numbers)
            several = 'feature' if len(columns.numbers) == 1 else 'features'
            title = (f'{len(numbers)} of ' if len(numbers) < len(columns.numbers) else '') + (
                f'{len(columns.numbers)} {several} with numbers') if numbers else 'categories'
        charts = [spread_of_values(self._labels[place], self._values[:, place], found.classes,
                                   found.names) for place in numbers]
        counted = [category_chart(category, self._values, found.classes, len(found.names))
                   for category in columns.categories[:_MOST_CATEGORIES]]
        if self.are_columns:
            counted += flag_charts(columns.flags, self._labels, self._values, found.classes,
                                   len(found.names))
        for some in filter(None, (charts, counted)):
            band = charts_band(some, title)
            if found.names and title:
                band = _legend(found.names, band, title, 'the height of each lane: the share of '
                               'the class' if some is charts else '')
            bands.append(band)
            title = ''
        if len(columns.categories) > _MOST_CATEGORIES:
            left = len(columns.categories) - _MOST_CATEGORIES
            bands.append(line_of_words(f'{left} more features with categories are not shown.'))
        return bands

    def _some(self, numbers: tuple[int, ...]) -> tuple[int, ...]:
        """Return those features of many that have a histogram, beside the strips."""
        if len(numbers) <= _MOST_NUMBERS:
            return numbers
        if not self._named:
            return ()
        # Those with values that are missing are the ones to look at.
        order = sorted(numbers, key=lambda place: numpy.isfinite(self._values[:, place]).all())
        return tuple(sorted(order[:_FEW_NUMBERS]))


def _legend(names: list[str], band: Band, title: str, note: str) -> Band:
    """Return a band with the colours of classes on the right of its title."""
    def draw(area: Area) -> None:
        left = max(330., measure(title, 10, bold=True) + 30)
        for number, name in enumerate(names):
            if left > area.width - 60:
                break
            left += area.write(left, 3, '■ ' + name, size=8, colour=COLOURS[number], width=min(
                140, area.width - left)) + 14
        area.write(left + 6, 4, note, size=7, colour=GREY)
        band.draw(area)
    return Band(band.height, draw)
