"""Compares the rows of files with the checksums that were kept when they were written."""
from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

from fuel.bin._info.as_json import SCHEMA
from fuel.bin._info.facts import why_not_readable
from fuel.exceptions import DataLayoutError
from fuel.storage.handles import OpenFile
from fuel.storage.layout import num_examples, source_dataset
from fuel.storage.provenance.verifying import (
    STRUCTURE_NAME,
    Verdict,
    verify_source,
    verify_structure,
)
from fuel.storage.splits import get_all_sources

__all__ = ['is_sound', 'text_of_verdicts', 'verdicts_as_data', 'verify']

# So many ranges of rows are printed.
_MOST_RANGES = 20

#: Opens a bar for a source of a number of rows; what it gives is told how many rows are done.
Watch = Callable[[str, int], AbstractContextManager[Callable[[int], None]]]


def verify(opened: OpenFile, watch: Watch) -> tuple[Verdict, ...]:
    """Compare the rows of all sources of a file, its splits and labels with their checksums.

    Files of which splits and labels have no checksum, as older ones, have no verdict about these,
    unless they cannot be used.

    Parameters
    ----------
    opened : OpenFile
        The file.
    watch : callable
        Shows how far the reading of a source is.

    Raises
    ------
    DataLayoutError
        The file is no data set of Fuel. A ``ValueError``.
    """
    h5file = opened.file
    problem = why_not_readable(h5file)
    if problem:
        raise DataLayoutError(f'{opened.path} is not a data set of Fuel: {problem}')
    verdicts = []
    for source in get_all_sources(h5file):
        try:
            rows = num_examples(h5file, source)
        except (ValueError, OSError, RuntimeError):
            rows = 0        # the verdict says what is wrong
        with watch(source, rows) as progress:
            verdicts.append(_verdict(h5file, source, progress))
    structure = verify_structure(h5file)
    if structure.checked:
        verdicts.append(structure)
    return tuple(verdicts)


def _verdict(h5file: Any, source: str, progress: Callable[[int], None]) -> Verdict:
    try:
        source_dataset(h5file, source)
        return verify_source(h5file, source, progress)
    except (ValueError, OSError, RuntimeError, KeyError) as error:
        return Verdict(source, False, problem=' '.join(str(error).split()))


def is_sound(verdicts: tuple[Verdict, ...]) -> bool:
    """Return whether all rows were compared, and are as they were written."""
    return all(verdict.checked and verdict.good for verdict in verdicts)


def text_of_verdicts(path: str, verdicts: tuple[Verdict, ...]) -> str:
    """Return what was found in words."""
    lines = [path, *(f'    {_name(verdict)}: {_words(verdict)}' for verdict in verdicts)]
    if any(not verdict.good for verdict in verdicts):
        lines.append('The file is damaged, or was changed after it had been written.')
    elif is_sound(verdicts):
        lines.append('All rows are as they were written.')
    else:
        lines.append('Nothing tells whether all rows are as they were written.')
    return '\n'.join(lines)


def _name(verdict: Verdict) -> str:
    return 'splits and labels' if verdict.source == STRUCTURE_NAME else verdict.source


def _words(verdict: Verdict) -> str:
    found = [verdict.problem] if verdict.problem else []
    if verdict.bad:
        ranges = [f'{start} to {stop - 1}' if stop - start > 1 else str(start)
                  for start, stop in verdict.bad[:_MOST_RANGES]]
        if len(verdict.bad) > _MOST_RANGES:
            ranges.append(f'and {len(verdict.bad) - _MOST_RANGES} more ranges')
        found.append(f'BAD within rows {", ".join(ranges)}')
    if found:
        return '; '.join(found)
    return 'good' if verdict.checked else 'the file has no checksums of it'


def verdicts_as_data(path: str, verdicts: tuple[Verdict, ...]) -> dict[str, Any]:
    """Return what was found as plain data."""
    return {'schema': SCHEMA, 'path': path, 'error': None, 'sound': is_sound(verdicts),
            'sources': [{'name': verdict.source, 'checked': verdict.checked,
                         'good': verdict.good, 'bad_rows': list(map(list, verdict.bad)),
                         'problem': verdict.problem or None} for verdict in verdicts
                        if verdict.source != STRUCTURE_NAME],
            'structure': next(({'good': verdict.good, 'problem': verdict.problem or None}
                               for verdict in verdicts if verdict.source == STRUCTURE_NAME), None)}
