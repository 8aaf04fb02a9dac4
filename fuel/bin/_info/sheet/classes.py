"""Bands with the number of examples of each class, split by split."""
from __future__ import annotations

import numpy

from fuel._types import AnyArray
from fuel.bin._info.sheet.contents import Contents
from fuel.bin._info.sheet.page import COLOURS, GREY, MARGIN, WIDTH, Area, Band, short_numbers
from fuel.bin._info.sheet.targets import ClassValues, Targets

__all__ = ['class_band', 'marks_band']

# More classes than this are drawn as a line, without names.
_MOST_NAMED = 40
_MOST_DRAWN = 5000
_ROW, _GAP, _LEFT = 84, 34, 44
# So many lines of letters of this size fit below a bar, if they are turned.
_LETTER = 5.4


def class_band(contents: Contents, source: str, targets: Targets) -> Band | None:
    """Return a band that shows how many examples there are of each class.

    Parameters
    ----------
    contents : Contents
        The file.
    source : str
        The source that tells the classes.
    targets : Targets
        The classes.
    """
    splits = contents.shown_splits(source, 6)
    found = {split: targets.class_values(split, source) for split in splits}
    found = {split: values for split, values in found.items() if len(values.values)}
    if not found:
        return None
    present = numpy.unique(numpy.concatenate([entry.values for entry in found.values()]))
    names = targets.names.get(source, ())
    classes = present
    if present[0] >= 0 and len(names) > present[-1]:
        classes = numpy.arange(len(names))
    rows = [(f'{split}: {_summary(classes, entry, source, targets)}', entry.values)
            for split, entry in found.items()]
    # Without names, numbers in between that no example has are drawn too: a gap tells something.
    drawn = classes
    if present[0] >= 0 and len(classes) > _MOST_NAMED and present[-1] < _MOST_DRAWN:
        drawn = numpy.arange(present[-1] + 1) if not names else classes
    labels = [targets.label(source, value) for value in drawn]
    return _bars(f'{source}: {len(classes)} class{"" if len(classes) == 1 else "es"}',
                 [(words, _counted(values, drawn)) for words, values in rows], labels)


def _counted(values: AnyArray, classes: AnyArray) -> AnyArray:
    found, counts = numpy.unique(values, return_counts=True)
    counted = numpy.zeros(len(classes), numpy.int64)
    counted[numpy.searchsorted(classes, found)] = counts
    return counted


def _summary(classes: AnyArray, entry: ClassValues, source: str, targets: Targets) -> str:
    """Return in words how evenly classes are spread."""
    counts = _counted(entry.values, classes)
    words = f'{entry.examples} examples'
    if len(entry.values) < entry.examples:
        words += f', counted in {len(entry.values)} of them'
    if len(counts) > 1:
        least, most = int(counts.argmin()), int(counts.argmax())
        missing = int((counts == 0).sum())
        if counts[least] == counts[most]:
            words += f', {counts[least]} of each class'
        else:
            words += f'; most in class {targets.label(source, classes[most])} ({counts[most]}), '
            words += (f'none in {missing} of {len(counts)} classes' if missing > 1 else
                      f'fewest in class {targets.label(source, classes[least])} ({counts[least]})')
    return words


def _bars(title: str, rows: list[tuple[str, AnyArray]], labels: list[str]) -> Band:
    """Return a band with a line of bars for each split, which share the names below."""
    named = len(labels) <= _MOST_NAMED
    longest = max(map(len, labels), default=1)
    below = 22
    full = float(WIDTH - 2 * MARGIN - _LEFT)
    if named:
        full = min(full, max(130., longest * _LETTER + 12) * len(labels) + 40)
    turned = named and longest * _LETTER > full / max(1, len(labels)) - 4
    if turned:
        below = min(110, int(longest * _LETTER * .75) + 16)

    def draw(area: Area) -> None:
        area.write(0, 0, title, size=10, bold=True)
        for number, (words, counts) in enumerate(rows):
            top = 24 + number * (_ROW + _GAP)
            area.write(0, top, words, size=7.5, colour=GREY)
            part = area.part(_LEFT, top + 16, full, _ROW)
            axes = part.axes()
            places = numpy.arange(len(labels))
            if named:
                axes.bar(places, counts, color=COLOURS[number % len(COLOURS)], alpha=.85,
                         width=.7)
                axes.set_xlim(-.6, len(labels) - .4)
            else:
                axes.stairs(counts, numpy.arange(len(labels) + 1) - .5, fill=True, alpha=.85,
                            color=COLOURS[number % len(COLOURS)])
                axes.set_xlim(-.5, len(labels) - .5)
            axes.set_ylim(bottom=0, top=max(1, counts.max() * 1.08))
            axes.locator_params(axis='y', nbins=4, integer=True)
            short_numbers(axes.yaxis)
            if number < len(rows) - 1:
                axes.set_xticks([])
            elif not named:
                axes.locator_params(axis='x', integer=True)
            elif turned:
                axes.set_xticks(places, [area.page.fitted(label, 120, 7) for label in labels],
                                rotation=45, ha='right', rotation_mode='anchor')
            else:
                axes.set_xticks(places, labels)
    return Band(24 + len(rows) * (_ROW + _GAP) + below - 18, draw)


def marks_band(contents: Contents, source: str, names: tuple[str, ...]) -> Band | None:
    """Return a band that shows in which share of the examples each of several marks is set."""
    rows = []
    for split in contents.shown_splits(source):
        count = len(contents.splits[split][source])
        places = contents.sources[source].places(count, 20000)
        values = numpy.asarray(contents.values(split, source, places)).reshape(len(places), -1)
        counts = 100 * values.astype(numpy.float64).mean(axis=0)
        of_how_many = '' if len(places) == count else f' (of {len(places)} looked at)'
        rows.append((f'{split}: {count} examples; percent that have each mark{of_how_many}',
                     counts))
    if not rows:
        return None
    size = len(rows[0][1])
    labels = list(names) if len(names) == size else list(map(str, range(size)))
    return _bars(f'{source}: {size} marks', rows, labels)
