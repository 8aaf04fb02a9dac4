"""Bands with the number of examples of each class, split by split."""
from __future__ import annotations

import numpy

from fuel._types import AnyArray
from fuel.bin._info.sheet.contents import Contents
from fuel.bin._info.sheet.counts import Counts, counts_band
from fuel.bin._info.sheet.page import Band
from fuel.bin._info.sheet.targets import ClassValues, Targets

__all__ = ['class_band', 'marks_band']

# More classes than this are drawn only where one that is missing would leave a gap.
_MOST_COUNTED = 100
_MOST_DRAWN = 5000


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
    if present[0] >= 0 and len(classes) > _MOST_COUNTED and present[-1] < _MOST_DRAWN:
        drawn = numpy.arange(present[-1] + 1) if not names else classes
    labels = [targets.label(source, value) for value in drawn]
    return counts_band(f'{source}: {len(classes)} class{"" if len(classes) == 1 else "es"}',
                       [Counts(words, _counted(values, drawn)) for words, values in rows], labels)


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


def marks_band(contents: Contents, source: str, names: tuple[str, ...]) -> Band | None:
    """Return a band that shows in which share of the examples each of several marks is set."""
    rows = []
    for split in contents.shown_splits(source):
        count = len(contents.splits[split][source])
        places = contents.sources[source].places(count, 20000)
        values = numpy.asarray(contents.values(split, source, places)).reshape(len(places), -1)
        counts = 100 * values.astype(numpy.float64).mean(axis=0)
        of_how_many = '' if len(places) == count else f' (of {len(places)} looked at)'
        rows.append(Counts(
            f'{split}: {count} examples; percent that have each mark{of_how_many}', counts))
    if not rows:
        return None
    size = len(rows[0].counts)
    labels = list(names) if len(names) == size else list(map(str, range(size)))
    return counts_band(f'{source}: {size} marks', rows, labels)
