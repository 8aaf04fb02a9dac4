"""Bands with many features: a line for each example, a column for each feature."""
from __future__ import annotations

from collections.abc import Sequence

import numpy

from fuel._types import AnyArray
from fuel.bin._info.sheet.columns import Category, Columns
from fuel.bin._info.sheet.page import GREY, MARGIN, WIDTH, Area, Band
from fuel.bin._info.sheet.words import fitted, measure

__all__ = ['strips_band']

_STRIPS = 60
_STRIP_HEIGHT = 4
_MOST_COLUMNS = 1100
# Names below columns are of this size, and need so much room.
_TICK, _TICK_ROOM = 6.5, 11


def strips_band(title: str, values: AnyArray, classes: AnyArray | None, class_names: Sequence[str],
                columns: Columns, labels: Sequence[str]) -> Band:
    """Return a band in which each example is a line, and each feature a column.

    Parameters
    ----------
    title : str
        What is shown.
    values : ndarray, shape (examples, features)
        Some examples.
    classes : ndarray or None
        The number of the class of each.
    class_names : sequence of str
        The names of the classes.
    columns : Columns
        What the features are.
    labels : sequence of str
        The names of the features; empty if they have none.
    """
    if classes is None:
        chosen = numpy.linspace(0, len(values) - 1, min(_STRIPS, len(values))).astype(int)
        groups: list[tuple[str, int]] = []
    else:
        each = max(1, _STRIPS // len(class_names))
        of_class = [numpy.flatnonzero(classes == number)[:each]
                    for number in range(len(class_names))]
        chosen = numpy.concatenate(of_class)
        groups = [(name, len(rows)) for name, rows in zip(class_names, of_class, strict=True)]
    finite = values.astype(numpy.float64)
    finite[~numpy.isfinite(finite)] = numpy.nan
    finite, entries = columns.compact(finite)
    step = -(-finite.shape[1] // _MOST_COLUMNS)
    shown = _of_each(finite[chosen][:, ::step], finite[:, ::step])
    height = max(len(chosen) * _STRIP_HEIGHT, 60)
    left = 110 if groups else 0
    ticks = _ticks(entries, labels, WIDTH - 2 * MARGIN - left)
    below = max((measure(name, _TICK) for _, name in ticks), default=8.) + 8
    note = ('a line for each example, a column for each feature: dark is low among the values of '
            'the feature, light is high, pink is no number')
    if columns.categories:
        note += '; features NAME=VALUE are one column, with a colour for each value'
    if step > 1:
        note += f'; one feature in {step}'

    def draw(area: Area) -> None:
        area.write(0, 0, title, size=10, bold=True)
        area.write(0, 18, note, size=7, colour=GREY)
        axes = area.part(left, 36, area.width - left, height).axes()
        axes.imshow(shown, aspect='auto', interpolation='nearest',
                    extent=(0, finite.shape[1], len(chosen), 0))
        axes.set_yticks([])
        if ticks:
            axes.set_xticks([place + .5 for place, _ in ticks], [name for _, name in ticks],
                            rotation=90, fontsize=_TICK)
        top = 36.
        for number, (name, count) in enumerate(groups):
            share = height * count / max(1, len(chosen))
            area.write(left - 8, top + share / 2 - 6, name, size=7.5, width=left - 12,
                       align='right')
            if number:
                axes.axhline((top - 36) * len(chosen) / height, color='white', linewidth=1.5)
            top += share
    return Band(int(36 + height + below), draw)


def _ticks(entries: Sequence[int | Category], labels: Sequence[str],
           width: float) -> list[tuple[int, str]]:
    """Return names for columns, as many as have room, and where they stand."""
    if not labels:
        return []
    names = [f'{entry.name} ({len(entry.values)})' if isinstance(entry, Category) else
             labels[entry] for entry in entries]
    every = max(1, int(numpy.ceil(_TICK_ROOM * len(names) / width)))
    return [(place, fitted(names[place], 110, _TICK)) for place in range(0, len(names), every)]


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
