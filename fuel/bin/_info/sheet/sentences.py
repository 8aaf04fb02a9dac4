"""Bands with sentences: rows of ids, turned into words where the file has a vocabulary."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from fuel._types import AnyArray
from fuel.bin._info.sheet.charts import Chart, bars
from fuel.bin._info.sheet.contents import Contents, Source, spread
from fuel.bin._info.sheet.histograms import lengths
from fuel.bin._info.sheet.page import GREY, Area, Band
from fuel.bin._info.sheet.targets import Targets
from fuel.bin._info.sheet.words import clean

__all__ = ['sentence_bands', 'sentence_charts', 'string_bands']

_LINE = 19
_MOST_IDS = 300
_COMMON = 10
_MOST_LINES = 12
# Strings up to this length stand side by side, so many of them.
_SHORT = 24
_RUN = 10


def sentence_bands(contents: Contents, source: Source, vocabulary: Sequence[str],
                   targets: Targets) -> list[Band]:
    """Return bands with sentences of each split.

    Parameters
    ----------
    contents : Contents
        The file.
    source : Source
        What to show.
    vocabulary : sequence of str
        The word of each id; empty if there is none.
    targets : Targets
        For the captions.
    """
    return _bands(contents, source, targets,
                  lambda example: in_words(example, vocabulary) or '(empty)')


def string_bands(contents: Contents, source: Source, targets: Targets) -> list[Band]:
    """Return bands with strings of each split; see `sentence_bands`."""
    _, some = contents.sample(source.name, 100)
    if not targets.classes and max(len(_string(example)) for example in some) <= _SHORT:
        return [_runs(contents, source, split) for split in contents.shown_splits(source.name)]
    return _bands(contents, source, targets, lambda example: _string(example) or '(empty)')


def in_words(example: AnyArray, vocabulary: Sequence[str]) -> str:
    """Return ids as words."""
    ids = numpy.asarray(example).reshape(-1)[:_MOST_IDS].tolist()
    return ' '.join(vocabulary[number] if 0 <= number < len(vocabulary) else str(number)
                    for number in ids)


def _string(example: Any) -> str:
    flat = numpy.asarray(example, dtype=object).reshape(-1)[:20].tolist()
    return ' · '.join(value.decode('utf-8', 'replace') if isinstance(value, bytes) else str(value)
                      for value in flat)


def _bands(contents: Contents, source: Source, targets: Targets, said: Any) -> list[Band]:
    bands = []
    splits = contents.shown_splits(source.name)
    for split in splits:
        most = _MOST_LINES if source.dtype.kind in 'iu' else _MOST_LINES // 2
        places, _ = targets.pick(split, source.name, -(-most // min(2, len(splits))))
        rows = contents.splits[split][source.name].at(places)
        captions = (list(map(str, targets.captions(split, places)))
                    if source.name not in targets.lists else [''] * len(places))
        lines = [said(example) for example in source.read(rows)]
        bands.append(_lines(f'{source.name} of {split}', rows.tolist(), captions, lines))
    return bands


def _runs(contents: Contents, source: Source, split: str) -> Band:
    """Return a band with short strings, several to a line."""
    rows = contents.splits[split][source.name]
    starts = spread(-(-len(rows) // _RUN), _MOST_LINES // 2) * _RUN
    lines, numbers = [], []
    for start in starts.tolist():
        there = rows.at(numpy.arange(start, min(len(rows), start + _RUN)))
        lines.append('  ·  '.join(_string(example) or '(empty)' for example in source.read(there)))
        numbers.append(int(there[0]))
    return _lines(f'{source.name} of {split}', numbers, [''] * len(lines), lines)


def _lines(title: str, rows: Sequence[int], captions: Sequence[str],
           lines: Sequence[str]) -> Band:
    def draw(area: Area) -> None:
        area.write(0, 0, title, size=10, bold=True)
        left = 82 if not any(captions) else 210
        for number, (row, caption, line) in enumerate(zip(rows, captions, lines, strict=True)):
            top = 24 + number * _LINE
            area.write(0, top, f'row {row}', size=7, colour=GREY, width=76)
            if caption:
                area.write(82, top - 1, caption, size=7.5, colour='#4c72b0', width=120)
            area.write(left, top - 2, clean(line), size=8.5)
    return Band(24 + len(lines) * _LINE, draw)


def sentence_charts(source: Source, examples: Any, vocabulary: Sequence[str]) -> list[Chart]:
    """Return charts of how long sentences are, and of which ids there are most.

    Parameters
    ----------
    source : Source
        The source.
    examples : sequence of ndarray
        Some of its examples.
    vocabulary : sequence of str
        The word of each id.
    """
    charts = []
    if source.has_own_shapes:
        charts.append(lengths(f'{source.name}: lengths', numpy.array(
            [len(example) for example in examples]), 'values'))
    ids = numpy.concatenate([numpy.asarray(example).reshape(-1) for example in examples])
    if ids.size:
        different, counts = numpy.unique(ids, return_counts=True)
        most = numpy.argsort(-counts, kind='stable')[:_COMMON]
        names = [in_words(different[place:place + 1], vocabulary) for place in most]
        charts.append(bars(f'{source.name}: most frequent {"words" if vocabulary else "values"}',
                           f'{len(different)} different ones among {ids.size}', names,
                           counts[most]))
    return charts
