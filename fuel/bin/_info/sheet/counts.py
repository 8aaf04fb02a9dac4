"""Bands with a bar for each class, split by split."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy

from fuel._types import AnyArray
from fuel.bin._info.sheet.page import GREY, MARGIN, WIDTH, Area, Band, short_numbers
from fuel.bin._info.sheet.words import fitted, measure

__all__ = ['Counts', 'counts_band']

# So few classes have bars that lie, split beside split; more than the others are a line.
_FEW, _MOST_NAMED = 12, 100
_BAR, _GAP = 16, 26
_ROW, _LEFT = 84, 44
_LETTERS, _SMALL_LETTERS = 7, 6
# Where there is less room than this for a name, it is turned all the way, and not by half.
_LESS_ROOM = 19
_MOST_TICKS = 12
# That of no class.
_COLOUR = '#64748b'
_STEPS = tuple(factor * 10 ** power for power in range(1, 6) for factor in (1, 2, 5))


@dataclass(frozen=True, slots=True)
class Counts:
    """How many examples of a split have each class.

    Attributes
    ----------
    words : str
        What is said of the split.
    counts : ndarray
        For each class; numbers that are not whole are percent.
    """

    words: str
    counts: AnyArray


def counts_band(title: str, rows: Sequence[Counts], labels: Sequence[str]) -> Band:
    """Return a band that shows the counts of each split.

    Parameters
    ----------
    title : str
        What is shown.
    rows : sequence of Counts
        For each split; at least one.
    labels : sequence of str
        The names of the classes.
    """
    return _lying(title, rows, labels) if len(labels) <= _FEW else _standing(title, rows, labels)


def _lying(title: str, rows: Sequence[Counts], labels: Sequence[str]) -> Band:
    """Return a band with bars that lie, and splits side by side."""
    columns = min(len(rows), 3)
    lines = -(-len(rows) // columns)
    width = (WIDTH - 2 * MARGIN + _GAP) / columns - _GAP
    names = [fitted(label, width / 3, _LETTERS) for label in labels]
    left = max((measure(name, _LETTERS) for name in names), default=0.) + 8
    height = 16 + _BAR * len(labels)

    def draw(area: Area) -> None:
        area.write(0, 0, title, size=10, bold=True)
        for number, row in enumerate(rows):
            line, column = divmod(number, columns)
            part = area.part(column * (width + _GAP), 24 + line * (height + 14), width, height)
            part.write(0, 0, row.words, size=7.5, colour=GREY)
            said = [_number(count) for count in row.counts]
            room = width - left - max((measure(words, _LETTERS) for words in said), default=0.) - 6
            sizes = room * row.counts / max(1e-9, row.counts.max())
            tops = [16 + _BAR * place for place in range(len(labels))]
            canvas = part.canvas()
            canvas.barh(numpy.add(tops, _BAR / 2), sizes, left=left, height=_BAR - 4, alpha=.85,
                        color=_COLOUR)
            canvas.set_xlim(0, part.width)
            canvas.set_ylim(part.height, 0)
            for name, words, size, top in zip(names, said, sizes, tops, strict=True):
                part.write(left - 6, top + 3, name, size=_LETTERS, align='right', width=left)
                part.write(left + size + 4, top + 3, words, size=_LETTERS, colour=GREY)
    return Band(24 + lines * (height + 14) - 14, draw)


def _number(count: Any) -> str:
    return str(count) if isinstance(count, numpy.integer) else f'{count:.3g}%'


def _standing(title: str, rows: Sequence[Counts], labels: Sequence[str]) -> Band:
    """Return a band with bars that stand, and splits below each other."""
    width = float(WIDTH - 2 * MARGIN - _LEFT)
    places, angle = _ticks(labels, width)
    size = _SMALL_LETTERS if angle == 90 else _LETTERS
    names = [fitted(labels[place], 110 if angle else width / _MOST_TICKS - 8, size)
             for place in places]
    longest = max((measure(name, size) for name in names), default=0.)
    below = {0: 16., 45: longest * .71 + 14, 90: longest + 8}[angle]
    pitch = 16 + _ROW + int(below) + 12

    def draw(area: Area) -> None:
        area.write(0, 0, title, size=10, bold=True)
        for number, row in enumerate(rows):
            top = 24 + number * pitch
            area.write(0, top, row.words, size=7.5, colour=GREY)
            axes = area.part(_LEFT, top + 16, width, _ROW).axes()
            _bars(axes, row.counts)
            axes.set_xticks(places, names, rotation=angle, ha='right' if angle == 45 else 'center',
                            rotation_mode='anchor' if angle == 45 else 'default',
                            fontsize=size)
    return Band(24 + len(rows) * pitch - 12, draw)


def _bars(axes: Any, counts: AnyArray) -> None:
    count = len(counts)
    if count <= _MOST_NAMED:
        axes.bar(numpy.arange(count), counts, color=_COLOUR, alpha=.85, width=.7)
    else:
        axes.stairs(counts, numpy.arange(count + 1) - .5, fill=True, alpha=.85, color=_COLOUR)
    axes.set_xlim(-.6, count - .4)
    axes.set_ylim(bottom=0, top=max(1, counts.max() * 1.08))
    axes.locator_params(axis='y', nbins=4, integer=True)
    short_numbers(axes.yaxis)


def _ticks(labels: Sequence[str], width: float) -> tuple[list[int], int]:
    """Return the places of classes that are named, and by how many degrees names are turned."""
    room = width / len(labels)
    if len(labels) > _MOST_NAMED:
        step = next((size for size in _STEPS if len(labels) / size <= _MOST_TICKS), len(labels))
        return list(range(0, len(labels), step)), 0
    widest = max(measure(label, _LETTERS) for label in labels)
    if widest <= room - 4:
        return list(range(len(labels))), 0
    return list(range(len(labels))), 45 if room >= _LESS_ROOM else 90
