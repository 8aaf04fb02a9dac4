"""Charts of how numbers are spread, in a lane for each class if there are any."""
from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy

from fuel._types import AnyArray
from fuel.bin._info.sheet.charts import PLOT, Chart
from fuel.bin._info.sheet.page import COLOURS, short_numbers
from fuel.bin._info.sheet.words import fitted

__all__ = ['lengths', 'spread_of_values']

# There are no more bars than these, and no fewer where values differ.
_MOST_BARS, _LEAST_BARS = 50, 6
# Where the largest bar is so many times the middle one, bars are drawn on a logarithmic scale.
_STEEP = 60
_MOST_DRAWN = 1e100
_MOST_VALUES = 2 ** 21
# Between whole numbers that are larger there is no half.
_MOST_WITH_HALVES = 2 ** 51
_LANE = 19
_NAMES = 66


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
        The class of each row of the values; by default they are not told apart. Each class has a
        lane of its own, which shows what share of the class lies where.
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
    warning = _warning(flat[~finite], len(flat))
    # A difference of numbers that are too large is none.
    kept = flat[finite].astype(numpy.float64)
    if not kept.size:
        return Chart(title, '' if warning else 'no values', lambda axes: axes.set_axis_off(),
                     warning)
    note = f'{_number(kept.min())} to {_number(kept.max())}'
    if abs(kept).max() > _MOST_DRAWN:       # matplotlib itself cannot count that far
        return Chart(title, f'{note}: too large to be drawn', lambda axes: axes.set_axis_off(),
                     warning)
    note += f', mean {_number(kept.mean())}, deviation {_number(kept.std())}'
    if classes is None or not len(class_names):
        edges = _edges(kept, len(kept))
        counts = numpy.histogram(kept, edges)[0]
        return Chart(title, note, lambda axes: _draw(axes, counts, edges, kept), warning)
    edges = _edges(kept, len(kept) // len(class_names))
    of_values = numpy.repeat(classes, len(flat) // max(1, len(classes)))[finite]
    lanes = numpy.array([numpy.histogram(kept[of_values == number], edges)[0]
                         for number in range(len(class_names))])
    steep = _is_steep(lanes.sum(axis=0))
    if steep:
        note += '; the heights are logarithms'
    labels = [fitted(name, _NAMES - 6, 7) for name in class_names]
    return Chart(title, note, lambda axes: _draw_lanes(axes, lanes, edges, labels, steep), warning,
                 max(PLOT, _LANE * len(labels)), _NAMES)


def lengths(title: str, counts: AnyArray, unit: str) -> Chart:
    """Return a histogram of how long examples are."""
    chart = spread_of_values(title, counts)
    return replace(chart, note=f'{unit}: {chart.note}') if counts.size else chart


def _warning(wrong: AnyArray, total: int) -> str:
    """Say how many values are no numbers."""
    if not len(wrong):
        return ''
    missing = int(numpy.isnan(wrong).sum())
    what = 'NaN' if missing == len(wrong) else 'NaN or infinite' if missing else 'infinite'
    return (f'all {total} values are {what}' if len(wrong) == total else
            f'{len(wrong)} of {total} are {what}')


def _draw(axes: Any, counts: AnyArray, edges: AnyArray, kept: AnyArray) -> None:
    axes.stairs(counts, edges, fill=True, color=COLOURS[0], alpha=.85)
    if _is_steep(counts):
        axes.set_yscale('log')
        axes.set_ylim(bottom=.5)
        axes.minorticks_off()
    else:
        axes.set_ylim(bottom=0)
        axes.locator_params(axis='y', nbins=4, integer=True)
    short_numbers(axes.yaxis)
    _label_values(axes, edges)


def _draw_lanes(axes: Any, lanes: AnyArray, edges: AnyArray, labels: Sequence[str],
                steep: bool) -> None:
    """Draw the histogram of each class above a line of its own."""
    shares = lanes / numpy.maximum(1, lanes.sum(axis=1, keepdims=True))
    if steep:
        shares = numpy.log1p(shares * max(1, lanes.sum(axis=1).max()))
    shares = shares / (shares.max() or 1) * .88
    for number, share in enumerate(shares):
        line = len(labels) - 1 - number
        axes.stairs(line + share, edges, baseline=line, fill=True, alpha=.85,
                    color=COLOURS[number % len(COLOURS)])
        axes.axhline(line, color='#cccccc', linewidth=.5)
    axes.set_ylim(0, len(labels))
    axes.set_yticks(len(labels) - .55 - numpy.arange(len(labels)), labels)
    axes.tick_params(axis='y', length=0)
    for number, label in enumerate(axes.get_yticklabels()):
        label.set_color(COLOURS[number % len(COLOURS)])
    _label_values(axes, edges)


def _label_values(axes: Any, edges: AnyArray) -> None:
    axes.set_xlim(edges[0], edges[-1])
    axes.locator_params(axis='x', nbins=6, integer=_are_whole(edges + .5))
    short_numbers(axes.xaxis, 1e5)


def _is_steep(counts: AnyArray) -> bool:
    positive = counts[counts > 0]
    return len(positive) > 2 and bool(positive.max() > _STEEP * numpy.median(positive))


def _are_whole(values: AnyArray) -> bool:
    return bool((values == numpy.rint(values)).all())


def _edges(kept: AnyArray, examples: int) -> AnyArray:
    """Return between what the bars of a histogram stand.

    There are as many of them as so many examples fill without holes: twice the cube root.
    """
    low, high = float(kept.min()), float(kept.max())
    wanted = min(_MOST_BARS, max(_LEAST_BARS, int(numpy.ceil(2 * max(1, examples) ** (1 / 3)))))
    edges: AnyArray
    if max(abs(low), abs(high)) < _MOST_WITH_HALVES and _are_whole(kept):
        # Equally many whole numbers to a bar: otherwise bars with more of them would stick out.
        span = int(high - low) + 1
        step = 1 if span <= 2 * wanted else -(-span // wanted)
        edges = numpy.arange(low - .5, high + step, step)
        return edges
    if not high > low:
        width = max(abs(low) * .1, .5)
        low, high = low - width, low + width
    edges = numpy.linspace(low, high, wanted + 1)
    # Next to the largest numbers there are, edges can fall together or out of range.
    if not numpy.isfinite(edges).all() or not (numpy.diff(edges) > 0).all():
        edges = numpy.array([numpy.nextafter(low, -numpy.inf), numpy.nextafter(high, numpy.inf)])
    return edges


def _number(value: float) -> str:
    return f'{value:.5g}'
