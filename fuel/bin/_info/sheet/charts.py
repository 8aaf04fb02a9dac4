"""Small charts: how values are spread, how long examples are, how many there are of each class."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy

from fuel._types import AnyArray
from fuel.bin._info.sheet.page import COLOURS, GREY, MARGIN, WIDTH, Area, Band, clean, short_numbers

__all__ = ['Chart', 'bars', 'charts_band', 'lengths', 'spread_of_values']

_BINS = 50
# Whole numbers with no more values than this each have a bar.
_MOST_BARS = 60
_HEIGHT = 150
# Where the largest bar is so many times the middle one, bars are drawn on a logarithmic scale.
_STEEP = 60
_MOST_DRAWN = 1e100
_MOST_VALUES = 2 ** 21


@dataclass(frozen=True, slots=True)
class Chart:
    """A small chart.

    Attributes
    ----------
    title, note : str
        What it shows; the note is in small print below.
    draw : callable
        Takes axes.
    """

    title: str
    note: str
    draw: Callable[[Any], None]


def charts_band(charts: Sequence[Chart], columns: int = 3, height: int = _HEIGHT,
                title: str = '') -> Band:
    """Return a band with charts side by side, in as many lines as are needed."""
    above = 24 if title else 0
    lines = -(-len(charts) // columns)
    width = (WIDTH - 2 * MARGIN + 20) / columns

    def draw(area: Area) -> None:
        if title:
            area.write(0, 0, title, size=10, bold=True)
        for number, chart in enumerate(charts):
            line, column = divmod(number, columns)
            part = area.part(column * width, above + line * (height + 20), width - 20, height)
            part.write(0, 0, chart.title, size=8.5, bold=True)
            part.write(0, 15, chart.note, size=7, colour=GREY)
            chart.draw(part.axes(42, 34, part.width - 42, height - 34 - 18))
    return Band(above + lines * (height + 20) - 20, draw)


def spread_of_values(title: str, values: Any, classes: AnyArray | None = None,
                     class_names: Sequence[str] = ()) -> Chart:
    """Return a histogram of numbers.

    Parameters
    ----------
    title : str
        What the numbers are.
    values : ndarray
        The numbers, of any shape.
    classes : ndarray, optional
        The class of each row of the values; by default they are not told apart.
    class_names : sequence of str, optional
        The name of each class.
    """
    flat = numpy.asarray(values).reshape(-1)
    step = len(flat) // _MOST_VALUES
    if step and classes is None:
        flat = flat[::step | 1]         # no divisor of the sizes that pictures have
    if flat.dtype == bool:
        flat = flat.astype(numpy.uint8)
    finite = numpy.isfinite(flat) if flat.dtype.kind == 'f' else numpy.ones(len(flat), bool)
    wrong = len(flat) - int(finite.sum())
    # A difference of numbers that are too large is none.
    kept = flat[finite].astype(numpy.float64)
    if not kept.size:
        what = 'no values' if not wrong else f'all {wrong} values are NaN or infinite'
        return Chart(title, what, lambda axes: axes.set_axis_off())
    note = f'{_number(kept.min())} to {_number(kept.max())}'
    if abs(kept).max() > _MOST_DRAWN:       # matplotlib itself cannot count that far
        return Chart(title, f'{note}: too large to be drawn', lambda axes: axes.set_axis_off())
    note += f', mean {_number(kept.mean())}, deviation {_number(kept.std())}'
    if wrong:
        note += f'; {wrong} of {len(flat)} NaN or infinite'
    edges = _edges(flat, kept)
    groups = [kept]
    if classes is not None:
        of_values = numpy.repeat(classes, len(flat) // max(1, len(classes)))[finite]
        groups = [kept[of_values == value] for value in range(len(class_names))]

    def draw(axes: Any) -> None:
        counts = [numpy.histogram(group, edges)[0] for group in groups]
        total = numpy.sum(counts, axis=0)
        for number, count in enumerate(counts):
            colour = COLOURS[number % len(COLOURS)]
            if len(counts) == 1:
                axes.stairs(count, edges, fill=True, color=colour, alpha=.85)
            else:
                axes.stairs(count, edges, fill=True, color=colour, alpha=.25)
                axes.stairs(count, edges, color=colour, linewidth=1)
        _scale(axes, total)
        axes.set_xlim(edges[0], edges[-1])
        axes.locator_params(axis='x', nbins=6, integer=flat.dtype.kind in 'iu')
        short_numbers(axes.xaxis, 1e5)
    return Chart(title, note, draw)


def _scale(axes: Any, counts: AnyArray) -> None:
    """Choose the scale of counts, so that small ones show too."""
    positive = counts[counts > 0]
    if len(positive) > 2 and positive.max() > _STEEP * numpy.median(positive):
        axes.set_yscale('log')
        axes.set_ylim(bottom=.5)
        axes.minorticks_off()
    else:
        axes.set_ylim(bottom=0)
        axes.locator_params(axis='y', nbins=4, integer=True)
    short_numbers(axes.yaxis)


def _edges(values: AnyArray, kept: AnyArray) -> AnyArray:
    """Return between what the bars of a histogram stand."""
    low, high = float(kept.min()), float(kept.max())
    edges: AnyArray
    if values.dtype.kind in 'iu' and high - low < _MOST_BARS:
        edges = numpy.arange(low - .5, high + 1)
        return edges
    if not high > low:
        width = max(abs(low) * .1, .5)
        low, high = low - width, low + width
    edges = numpy.linspace(low, high, min(_BINS, max(8, int(2 * len(kept) ** .5))) + 1)
    # Next to the largest numbers there are, edges can fall together or out of range.
    if not numpy.isfinite(edges).all() or not (numpy.diff(edges) > 0).all():
        edges = numpy.array([numpy.nextafter(low, -numpy.inf), numpy.nextafter(high, numpy.inf)])
    return edges


def _number(value: float) -> str:
    return f'{value:.5g}'


def lengths(title: str, counts: AnyArray, unit: str) -> Chart:
    """Return a histogram of how long examples are."""
    chart = spread_of_values(title, counts)
    return Chart(title, f'{unit}: {chart.note}', chart.draw) if counts.size else chart


def bars(title: str, note: str, names: Sequence[str], counts: AnyArray) -> Chart:
    """Return bars that lie, each with a name; for about twelve of them."""
    def draw(axes: Any) -> None:
        axes.barh(numpy.arange(len(counts)), counts, color=COLOURS[0], alpha=.85, height=.7)
        axes.set_yticks(numpy.arange(len(counts)), [_short(name) for name in names])
        axes.set_ylim(len(counts) - .4, -.6)
        axes.locator_params(axis='x', nbins=4, integer=True)
        short_numbers(axes.xaxis)
    return Chart(title, note, draw)


def _short(name: str, most: int = 8) -> str:
    name = clean(name)
    return name if len(name) <= most else name[:most - 1] + '…'
