"""Bands with vectors: a histogram for each of a few features, strips for many of them."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from fuel._types import AnyArray
from fuel.bin._info.sheet.charts import charts_band, spread_of_values
from fuel.bin._info.sheet.contents import Contents, Source
from fuel.bin._info.sheet.page import COLOURS, GREY, Area, Band
from fuel.bin._info.sheet.targets import Targets

__all__ = ['MOST_FEATURES', 'Sampled', 'sampled', 'vector_bands']

_ROWS = 4000
# More features than this are drawn as strips, and more classes are not told apart.
MOST_FEATURES = 16
_MOST_CLASSES = 10
_STRIPS = 60
_STRIP_HEIGHT = 4
_MOST_COLUMNS = 1100


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


def vector_bands(contents: Contents, source: Source, names: Sequence[str],
                 targets: Targets) -> list[Band]:
    """Return bands with the features of vectors, or of examples of any shape.

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
    """
    found = sampled(contents, source, targets)
    if not len(found.rows):
        return []
    values = numpy.asarray(found.values).reshape(len(found.rows), -1)
    size = values.shape[1]
    labels = list(names) if len(names) == size else [f'feature {place}' for place in range(size)]
    title = f'{source.name}: {size} features'
    if size > MOST_FEATURES:
        return [_strips(title, values, found)]
    charts = [spread_of_values(label, column, found.classes, found.names)
              for label, column in zip(labels, values.T, strict=True)]
    band = charts_band(charts, 4 if size != 3 and size > 2 else 3, 132, title)
    return [_legend(found.names, band)] if found.names else [band]


def _legend(names: list[str], band: Band) -> Band:
    """Return a band with the colours of classes at its upper right end."""
    def draw(area: Area) -> None:
        left = 330.
        for number, name in enumerate(names):
            if left > area.width - 60:
                break
            left += area.write(left, 3, '■ ' + name, size=8, colour=COLOURS[number], width=min(
                140, area.width - left)) + 14
        band.draw(area)
    return Band(band.height, draw)


def _strips(title: str, values: AnyArray, found: Sampled) -> Band:
    """Return a band in which each example is a line, and each feature a column."""
    if found.classes is None:
        chosen = numpy.linspace(0, len(values) - 1, min(_STRIPS, len(values))).astype(int)
        groups: list[tuple[str, int]] = []
    else:
        each = max(1, _STRIPS // len(found.names))
        of_class = [numpy.flatnonzero(found.classes == number)[:each]
                    for number in range(len(found.names))]
        chosen = numpy.concatenate(of_class)
        groups = [(name, len(rows)) for name, rows in zip(found.names, of_class, strict=True)]
    step = -(-values.shape[1] // _MOST_COLUMNS)
    finite = values.astype(numpy.float64)
    finite[~numpy.isfinite(finite)] = numpy.nan
    shown = _of_each(finite[chosen][:, ::step], finite[:, ::step])
    height = max(len(chosen) * _STRIP_HEIGHT, 60)

    def draw(area: Area) -> None:
        area.write(0, 0, title, size=10, bold=True)
        area.write(0, 18, 'a line for each example, a column for each feature: dark is low '
                   'among the values of the feature, light is high, pink is no number'
                   + (f'; one feature in {step}' if step > 1 else ''), size=7, colour=GREY)
        left = 110 if groups else 0
        axes = area.part(left, 36, area.width - left, height).axes()
        axes.imshow(shown, aspect='auto', interpolation='nearest',
                    extent=(0, values.shape[1], len(chosen), 0))
        axes.set_yticks([])
        top = 36.
        for number, (name, count) in enumerate(groups):
            share = height * count / max(1, len(chosen))
            area.write(left - 8, top + share / 2 - 6, name, size=7.5, width=left - 12,
                       align='right')
            if number:
                axes.axhline((top - 36) * len(chosen) / height, color='white', linewidth=1.5)
            top += share
    return Band(36 + height + 16, draw)


def _of_each(shown: AnyArray, values: AnyArray) -> AnyArray:
    """Return colours for values, between the least and the greatest of each feature."""
    from matplotlib import colormaps

    with numpy.errstate(all='ignore'):
        low, high = (ufunc.reduce(values, axis=0) for ufunc in (numpy.fmin, numpy.fmax))
        # A few values that lie far off would leave no colours for the others.
        bounds = numpy.nanquantile(values, (.01, .99), axis=0)
        narrow = bounds[1] > bounds[0]
        low, high = numpy.where(narrow, bounds[0], low), numpy.where(narrow, bounds[1], high)
        relative = (shown - low) / numpy.where(high > low, high - low, 1)
    colours: AnyArray = colormaps['viridis'](numpy.nan_to_num(relative, nan=0.))[:, :, :3]
    colours[numpy.isnan(relative)] = (1., .35, .65)
    return colours
