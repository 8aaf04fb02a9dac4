"""Small charts, side by side: their titles and notes, bars with names."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy

from fuel._types import AnyArray
from fuel.bin._info.sheet.page import COLOURS, GREY, MARGIN, WIDTH, Area, Band, short_numbers
from fuel.bin._info.sheet.words import fitted, measure, wrapped

__all__ = ['PLOT', 'WARNING', 'Chart', 'bars', 'charts_band', 'named_bars']

#: The height of the drawing itself, and the colour of what should not be overlooked.
PLOT = 98
WARNING = '#d6336c'
_BETWEEN = 20
_LINE, _BAR = 11, 14
_SMALL = 7
# How many charts stand side by side, if there are so many in all; of more there are four.
_COLUMNS = {1: 2, 2: 2, 3: 3, 5: 3, 6: 3}
_LEAST_LEFT, _MOST_LEFT = 48, 136


@dataclass(frozen=True, slots=True)
class Chart:
    """A small chart.

    Attributes
    ----------
    title, note : str
        What it shows; the note is in small print below.
    draw : callable
        Takes axes.
    warning : str
        Stands before the note, in another colour; empty if there is nothing to warn of.
    height : int
        Of the axes, in pixels.
    left : int
        What is kept free on the left of the axes, for numbers or names.
    """

    title: str
    note: str
    draw: Callable[[Any], None]
    warning: str = ''
    height: int = PLOT
    left: int = 42


def charts_band(charts: Sequence[Chart], title: str = '') -> Band:
    """Return a band with charts side by side, in as many lines as are needed."""
    columns = _COLUMNS.get(len(charts), 4)
    above = 24 if title else 0
    width = (WIDTH - 2 * MARGIN + _BETWEEN) / columns
    notes = [wrapped(chart.note, width - _BETWEEN, _SMALL, 2) for chart in charts]
    lines = [range(start, min(start + columns, len(charts)))
             for start in range(0, len(charts), columns)]
    heads = [15 + _LINE * max(bool(charts[number].warning) + len(notes[number])
                              for number in line) + 8 for line in lines]
    heights = [max(charts[number].height for number in line) for line in lines]

    def draw(area: Area) -> None:
        if title:
            area.write(0, 0, title, size=10, bold=True)
        top = float(above)
        for line, head, height in zip(lines, heads, heights, strict=True):
            for column, number in enumerate(line):
                chart = charts[number]
                part = area.part(column * width, top, width - _BETWEEN, head + height)
                part.write(0, 0, chart.title, size=8.5, bold=True)
                below = 15
                if chart.warning:
                    part.write(0, below, chart.warning, size=_SMALL, colour=WARNING, bold=True)
                    below += _LINE
                for words in notes[number]:
                    part.write(0, below, words, size=_SMALL, colour=GREY)
                    below += _LINE
                chart.draw(part.axes(chart.left, head, part.width - chart.left, chart.height))
            top += head + height + 18 + _BETWEEN
    return Band(above + sum(heads) + sum(heights) + len(lines) * (18 + _BETWEEN) - _BETWEEN, draw)


def bars(title: str, note: str, names: Sequence[str], counts: AnyArray) -> Chart:
    """Return bars that lie, each with a name."""
    return named_bars(title, note, names, counts[None])


def named_bars(title: str, note: str, names: Sequence[str], counts: AnyArray, *,
               warning: str = '') -> Chart:
    """Return bars that lie, each with a name.

    Parameters
    ----------
    title, note, warning : str
        As for `Chart`.
    names : sequence of str
        Of the bars.
    counts : ndarray, shape (classes, bars)
        How long the part of each class is, in a colour of its own.
    """
    labels = [fitted(name, _MOST_LEFT - 6, _SMALL) for name in names]
    longest = max((measure(label, _SMALL) for label in labels), default=0.)
    left = max(_LEAST_LEFT, int(longest) + 7)

    def draw(axes: Any) -> None:
        places, begins = numpy.arange(len(labels)), numpy.zeros(len(labels))
        for number, part in enumerate(counts):
            axes.barh(places, part, left=begins, color=COLOURS[number % len(COLOURS)], alpha=.85,
                      height=.7)
            begins = begins + part
        axes.set_yticks(places, labels)
        axes.tick_params(axis='y', length=0)
        axes.set_ylim(len(labels) - .5, -.5)
        axes.set_xlim(0, max(1, begins.max() if begins.size else 1) * 1.02)
        axes.locator_params(axis='x', nbins=4, integer=True)
        short_numbers(axes.xaxis)
    return Chart(title, note, draw, warning, max(1, len(labels)) * _BAR, left)
