"""Draws a contact sheet of a file: examples with their targets, and charts of what they are."""
from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy

from fuel.bin._info.opening import looking_into
from fuel.bin._info.sheet.charts import Chart, charts_band
from fuel.bin._info.sheet.classes import class_band, marks_band
from fuel.bin._info.sheet.contents import Contents, Source
from fuel.bin._info.sheet.histograms import lengths, spread_of_values
from fuel.bin._info.sheet.kinds import kind_of, names_of, vocabulary_of
from fuel.bin._info.sheet.page import GREY, Area, Band, Page, line_of_words, plain_style
from fuel.bin._info.sheet.pictures import decoded, picture_bands
from fuel.bin._info.sheet.sentences import sentence_bands, sentence_charts, string_bands
from fuel.bin._info.sheet.sounds import sound_bands
from fuel.bin._info.sheet.targets import Targets
from fuel.bin._info.sheet.vectors import Vectors, sampled
from fuel.exceptions import ConversionError, DataLayoutError
from fuel.utils.atomic import replacing
from fuel.utils.progress import format_amount

__all__ = ['draw_sheet']

# A file may have any number of sources; so many of a kind are shown.
_MOST_SOURCES = 24
_MOST_CHARTED = 2000
_PROBE = 256
_PROBLEMS = (ValueError, OSError, RuntimeError, KeyError, TypeError, IndexError)


def draw_sheet(path: str, out: str) -> None:
    """Draw a contact sheet of a file.

    Rows are read here and there, never all of a large source; they are the same ones each time, so
    that the same file gives the same picture.

    Parameters
    ----------
    path : str
        The file.
    out : str
        The name of the picture, which ends in ``.png``. A file of that name is replaced.

    Raises
    ------
    PlotExtraMissing
        matplotlib is not installed. An ``ImportError``.
    DataLayoutError
        The file is no data set of Fuel. A ``ValueError``.
    ConversionError
        The name does not end in ``.png``. A ``ValueError``.
    OSError
        The file cannot be read, or the picture cannot be written.
    """
    if not out.lower().endswith('.png'):
        raise ConversionError(f'{out}: expected a name that ends in .png for the picture; the '
                              'usage is fuel-info --sheet OUT.png FILE')
    page = Page()
    with plain_style():
        with looking_into(path) as opened:
            contents = Contents(opened)
            if contents.facts.problem:
                raise DataLayoutError(f'{path} is not a data set of Fuel: '
                                      f'{contents.facts.problem}')
            page.bands += _bands(contents)
        with replacing(out) as picture:
            page.save(picture)


def _bands(contents: Contents) -> list[Band]:
    """Return all that the sheet shows, from top to bottom."""
    shown = dict(list(contents.sources.items())[:_MOST_SOURCES])
    kinds: dict[str, str] = {}
    names: dict[str, tuple[str, ...]] = {}
    problems: dict[str, str] = {}
    words = {name: vocabulary_of(contents.file, name) for name in shown}
    targets_there = [name for name in shown if 'target' in name.lower() or
                     'label' in name.lower()]
    for name, source in shown.items():
        names[name] = names_of(contents.file, name, targets_there in ([], [name]) or
                               name == 'targets')
        try:
            kinds[name] = kind_of(source, contents.sample(name, _PROBE)[1], names[name],
                                  bool(words[name])) if source.count else 'nothing'
        except _PROBLEMS as error:
            kinds[name], problems[name] = 'broken', str(error)
    _swap_names(kinds, names)
    targets = Targets(contents, kinds, names)
    bands = [_header(contents)]
    charts: list[Chart] = []
    for name, source in shown.items():
        if kinds[name] == 'nothing':
            continue
        try:
            if name in problems:
                raise DataLayoutError(problems[name])
            if kinds[name] == 'vector' and contents.shown_splits(name):
                vectors = Vectors(contents, source, names[name], targets)
                bands += vectors.bands()
                if not vectors.are_columns:     # otherwise they have charts of their own
                    charts += _charts(contents, source, kinds[name], words[name], targets)
                continue
            bands += _examples(contents, source, kinds[name], words[name], targets)
            charts += _charts(contents, source, kinds[name], words[name], targets)
        except _PROBLEMS as error:
            bands.append(line_of_words(f'{name} cannot be shown: {error}', '#c44e52'))
    bands += _targets(contents, kinds, names, targets)
    if charts:
        bands.append(charts_band(charts, 'How values are spread'))
    if len(bands) == 1:
        bands.append(line_of_words('There are no examples.'))
    if len(contents.sources) > _MOST_SOURCES:
        left = len(contents.sources) - _MOST_SOURCES
        bands.append(line_of_words(f'{left} more sources are not shown.'))
    return bands


def _swap_names(kinds: dict[str, str], names: dict[str, tuple[str, ...]]) -> None:
    """Take back names that belong to something else: those of classes, from what has none."""
    for name, kind in kinds.items():
        if kind not in ('class', 'vector', 'marks', 'sentence'):
            names[name] = ()


def _header(contents: Contents) -> Band:
    facts = contents.facts
    lines = [' · '.join(_split_words(name, parts) for name, parts in contents.splits.items())]
    for source in facts.sources:
        found = source.description
        if found is None:
            lines.append(f'{source.name}: {source.problem}')
            continue
        shape = ' x '.join('?' if size is None else str(size) for size in found.shape)
        dtype = 'strings' if found.dtype.hasobject else str(found.dtype).lstrip('|')
        labels = ', '.join(filter(None, source.axis_labels or ()))
        memory = ('' if source.bytes_in_memory is None else
                  f', {format_amount(source.bytes_in_memory, "B")} in memory')
        lines.append(f'{source.name}: {shape} {dtype}'
                     f'{f" ({labels})" if labels else ""}, {found.layout}{memory}')
    command = facts.provenance.tags.get('fuel_convert_command')
    if command:
        lines.append(f'made by: {command}')
    del lines[_MOST_SOURCES:]

    def draw(area: Area) -> None:
        area.write(0, 0, os.path.basename(facts.path), size=16, bold=True)
        for number, line in enumerate(lines):
            area.write(0, 32 + 16 * number, line, size=8.5,
                       colour='#222222' if number == 0 else GREY)
        axes = area.part(0, area.height - 2, area.width, 2).canvas()
        axes.axhline(1, color='#cccccc', linewidth=1)
    return Band(44 + 16 * len(lines), draw)


def _split_words(name: str, parts: Any) -> str:
    counts = {len(rows) for rows in parts.values()}
    if len(counts) == 1:
        count = counts.pop()
        return f'{name}: {count} example{"" if count == 1 else "s"}'
    return f'{name}: ' + ', '.join(f'{len(rows)} of {source}'
                                   for source, rows in parts.items())


def _examples(contents: Contents, source: Source, kind: str, words: tuple[str, ...],
              targets: Targets) -> list[Band]:
    """Return bands that show examples of a source."""
    if not contents.shown_splits(source.name):
        return []
    if kind in ('picture', 'encoded picture'):
        return picture_bands(contents, source, kind, targets)
    if kind == 'sound':
        return sound_bands(contents, source, targets)
    if kind == 'sentence' and source.name not in targets.lists:
        return sentence_bands(contents, source, words, targets)
    if kind == 'string':
        return string_bands(contents, source, targets)
    if kind == 'other' and source.dtype.kind not in 'biuf':
        return [line_of_words(f'{source.name}: there is no drawing for values of this form')]
    return []


def _charts(contents: Contents, source: Source, kind: str, words: tuple[str, ...],
            targets: Targets) -> list[Chart]:
    """Return charts of how the values of a source are spread."""
    if kind in ('class', 'marks', 'string', 'broken'):
        return []
    if kind == 'number':
        found = sampled(contents, source, targets)
        return [spread_of_values(source.name, found.values, found.classes, found.names)]
    _, examples = contents.sample(source.name, _MOST_CHARTED)
    if kind == 'sentence':
        return sentence_charts(source, examples, words)
    if kind == 'encoded picture':
        return _encoded_charts(source, examples)
    if kind == 'other' and source.dtype.kind not in 'biuf':
        return []
    charts = []
    if source.has_own_shapes:
        charts += _sizes(source, examples)
        values = numpy.concatenate([numpy.asarray(example).reshape(-1) for example in examples])
    else:
        values = numpy.asarray(examples)
    if kind == 'picture':
        charts.insert(0, spread_of_values(f'{source.name}: mean of each picture', numpy.array(
            [example.mean() for example in map(numpy.asarray, examples) if example.size])))
    some = f' in {len(examples)} examples' if len(examples) < source.count else ''
    return [spread_of_values(f'{source.name}: values{some}', values), *charts]


def _sizes(source: Source, examples: Any) -> list[Chart]:
    """Return a chart for each axis along which examples differ in size."""
    shapes = numpy.array([numpy.shape(example) for example in examples])
    labels = source.labels if len(source.labels) == shapes.shape[1] else (
        [f'axis {axis}' for axis in range(shapes.shape[1])])
    return [lengths(f'{source.name}: {label or "size"}', sizes, 'sizes')
            for label, sizes in zip(labels, shapes.T, strict=True) if len(numpy.unique(sizes)) > 1]


def _encoded_charts(source: Source, examples: Any) -> list[Chart]:
    charts = [lengths(f'{source.name}: sizes of the files',
                      numpy.array([len(example) for example in examples]), 'bytes')]
    tried = examples[:100]
    pictures = [pixels for pixels in map(decoded, tried) if pixels is not None]
    if pictures:
        charts.append(spread_of_values(
            f'{source.name}: pixels of {len(pictures)} pictures',
            numpy.concatenate([pixels.reshape(-1) for pixels in pictures])))
    if len(pictures) < len(tried):
        charts.append(Chart(f'{source.name}: no pictures',
                            f'{len(tried) - len(pictures)} of {len(tried)} cannot be decoded',
                            lambda axes: axes.set_axis_off()))
    return charts


def _targets(contents: Contents, kinds: dict[str, str], names: dict[str, tuple[str, ...]],
             targets: Targets) -> list[Band]:
    """Return bands that count classes and marks."""
    bands: list[Band] = []
    makers: dict[str, Callable[[str], Band | None]] = {
        'class': lambda name: class_band(contents, name, targets),
        'marks': lambda name: marks_band(contents, name, names[name])}
    for name, kind in kinds.items():
        if kind in makers:
            try:
                band = makers[kind](name)
            except _PROBLEMS as error:
                band = line_of_words(f'{name} cannot be counted: {error}', '#c44e52')
            if band is not None:
                bands.append(band)
    return bands
