"""Bands with sounds and other series: waveforms, or pictures of many channels over time."""
from __future__ import annotations

import numpy

from fuel._types import AnyArray
from fuel.bin._info.sheet.contents import Contents, Rows, Source
from fuel.bin._info.sheet.page import COLOURS, GREY, Area, Band
from fuel.bin._info.sheet.targets import Targets

__all__ = ['sound_bands']

_ROW, _GAP = 62, 38
# More channels than this are drawn as a picture.
_MOST_CHANNELS = 6
# Longer series are drawn as what they lie between, in so many places.
_PLACES = 1500


def sound_bands(contents: Contents, source: Source, targets: Targets) -> list[Band]:
    """Return bands with series of each split.

    Parameters
    ----------
    contents : Contents
        The file.
    source : Source
        What to show.
    targets : Targets
        For the captions.
    """
    bands = []
    splits = contents.shown_splits(source.name)
    for split in splits:
        places, _ = targets.pick(split, source.name, 3 if len(splits) > 1 else 6)
        rows: Rows = contents.splits[split][source.name]
        places = places[:max(1, 2 ** 27 // max(1, source.row_bytes))]
        series = [_over_time(source.read(numpy.array([row]))[0], source.labels)
                  for row in rows.at(places)]
        rate = _rate(source)
        lengths = [_length(source, one) for one in series]
        captions = [' · '.join(filter(None, (f'row {row}', str(caption),
                                             _duration(length, rate))))
                    for row, caption, length in zip(
                        rows.at(places), targets.captions(split, places),
                        lengths, strict=True)]
        bands.append(_waves(f'{source.name} of {split}', series, captions,
                            # What was read of long ones stands for all of it.
                            [rate * len(one) / max(1, length)
                             for one, length in zip(series, lengths, strict=True)], rate))
    return bands


def _rate(source: Source) -> float:
    """Return how many steps there are in a second; 1 if the file does not tell."""
    stored = source.dataset.attrs.get('sample_rate', 1)
    try:
        rate = float(stored)
    except (TypeError, ValueError):
        return 1.
    return rate if rate > 0 else 1.


def _duration(length: int, rate: float) -> str:
    return f'{length} steps' + (f', {length / rate:.4g} s at {rate:g} Hz' if rate != 1 else '')


def _length(source: Source, series: AnyArray) -> int:
    """Return how many steps an example has, of which perhaps not all were read."""
    if source.has_own_shapes:
        return len(series)
    axis = source.labels.index('time') if 'time' in source.labels else 0
    return source.shape[axis] or 0


def _over_time(example: AnyArray, labels: tuple[str, ...]) -> AnyArray:
    """Return an example with two axes, time and channels."""
    if 'time' in labels and len(labels) == example.ndim:
        example = numpy.moveaxis(example, labels.index('time'), 0)
    return example.reshape(len(example), -1) if example.size else example.reshape(0, 1)


def _waves(title: str, series: list[AnyArray], captions: list[str], rates: list[float],
           told_rate: float) -> Band:
    bounds = _bounds(series)
    rows = [_ROW * 2 if one.shape[1] > _MOST_CHANNELS else _ROW for one in series]

    def draw(area: Area) -> None:
        area.write(0, 0, title, size=10, bold=True)
        top = 24.
        for one, caption, height, rate in zip(series, captions, rows, rates, strict=True):
            area.write(0, top, caption, size=7.5, colour=GREY)
            _draw_one(area.part(44, top + 14, area.width - 44, height), one, bounds, rate,
                      told_rate != 1)
            top += height + _GAP
    return Band(24 + sum(rows) + _GAP * len(rows), draw)


def _bounds(series: list[AnyArray]) -> tuple[float, float]:
    """Return what all series lie between, so that loud ones look loud."""
    finite = [one[numpy.isfinite(one)].astype(float) for one in series]
    low = min((float(one.min()) for one in finite if one.size), default=0.)
    high = max((float(one.max()) for one in finite if one.size), default=1.)
    margin = (high - low) * .05 or .5
    return low - margin, high + margin


def _draw_one(area: Area, series: AnyArray, bounds: tuple[float, float], rate: float,
              in_seconds: bool) -> None:
    axes = area.axes()
    if not series.size:
        axes.set_axis_off()
        area.write(0, 10, 'empty', colour='#c44e52')
        return
    if series.shape[1] > _MOST_CHANNELS:
        step = max(1, len(series) // _PLACES)
        axes.imshow(series[::step].T.astype(float), aspect='auto', origin='lower', cmap='magma',
                    extent=(0, len(series) / rate, 0, series.shape[1]), interpolation='nearest')
        axes.set_ylabel('channel', fontsize=7, color=GREY)
        return
    axes.set_xlim(0, len(series) / rate)
    axes.set_ylim(*bounds)
    if in_seconds:
        axes.xaxis.set_major_formatter(lambda second, _: f'{second:g} s')
    axes.locator_params(axis='y', nbins=3)
    for number, channel in enumerate(series.T.astype(float)):
        colour = COLOURS[number % len(COLOURS)]
        if len(channel) <= 2 * _PLACES:
            axes.plot(numpy.arange(len(channel)) / rate, channel, color=colour, linewidth=.7,
                      marker='.' if len(channel) < 40 else None, markersize=3)
        else:
            starts = numpy.linspace(0, len(channel), _PLACES + 1).astype(int)[:-1]
            low, high = (ufunc.reduceat(channel, starts)
                         for ufunc in (numpy.fmin, numpy.fmax))
            axes.fill_between(starts / rate, low, high, color=colour, linewidth=.4, alpha=.8)
