"""The facts of a file in words, as `fuel-info` prints them."""
from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from fuel.bin._info.facts import Facts, SourceFacts, SplitPart
from fuel.utils.progress import format_amount

__all__ = ['text_of']

_STEP = '    '
# More raw files than this are not listed: there can be one for each example.
_MOST_INPUTS = 5
# The tags of the three parts of software that wrote a file, as they are called in words.
_WRITERS = (('fuel_version', 'Fuel'), ('h5py_version', 'h5py'), ('hdf5_version', 'HDF5'),
            ('numpy_version', 'numpy'))


def text_of(facts: Facts) -> str:
    """Return what is known of a file in words.

    Parameters
    ----------
    facts : Facts
        What is known.
    """
    return '\n'.join((*_head(facts), *_body(facts)))


def _head(facts: Facts) -> Iterator[str]:
    """Yield the lines that have been printed since the first version, in the same form."""
    tags = facts.provenance.tags
    title = f'Metadata for {os.path.basename(facts.path)}'
    yield from ('', title, '=' * len(title), '')
    yield from _section('The command used to generate this file is',
                        [tags.get('fuel_convert_command', 'N/A')])
    yield from _section('Relevant versions are', [
        f'H5PYDataset     {tags.get("h5py_interface_version", "N/A")}',
        f'fuel.converters {tags.get("fuel_convert_version", "N/A")}'])


def _section(title: str, lines: Sequence[str]) -> Iterator[str]:
    yield from (f'{_STEP}{title}', '', *(f'{_STEP}{_STEP}{line}' for line in lines), '')


def _body(facts: Facts) -> Iterator[str]:
    if facts.problem:
        yield from (f'{_STEP}This is not a data set of Fuel: {facts.problem}', '')
        if facts.others:
            yield from _section('The file holds', [
                f'{other.name}: {" x ".join(map(str, other.shape)) or "one value of"} '
                f'{other.dtype}' for other in facts.others])
        return
    yield from _section('Splits', list(_splits(facts)))
    yield from _section('How the sources are stored, and how they are read',
                        [line for source in facts.sources for line in _source(source)])
    lines = list(_provenance(facts))
    if lines:
        yield from _section('Where the data come from', lines)


def _splits(facts: Facts) -> Iterator[str]:
    for name, parts in facts.splits.items():
        counts = {part.examples for part in parts}
        places = {_place(part) for part in parts}
        if not parts:
            yield f'{name}: no source'
        elif len(counts) == 1 and None not in counts:
            sources = ', '.join(part.source for part in parts)
            rows = (places.pop() if len(places) == 1 else
                    '; '.join(f'{part.source}: {_place(part)}' for part in parts))
            yield f'{name}: {_count(counts.pop(), "example")} of {sources} ({rows})'
        else:
            yield f'{name}: ' + ', '.join(
                f'{"?" if part.examples is None else part.examples} of {part.source} '
                f'({_place(part)})' for part in parts)
        for part in parts:
            if part.comment:
                yield f'{_STEP}{part.source}: {part.comment}'
            if part.problem:
                yield f'{_STEP}wrong: {part.source}: {part.problem}'


def _count(count: int | None, noun: str) -> str:
    return f'{count} {noun}{"" if count == 1 else "s"}'


def _place(part: SplitPart) -> str:
    """Say where the rows of a part stand."""
    if part.indices:
        return f'rows listed in {part.indices}'
    if part.stop <= part.start:
        return 'no rows'
    return f'rows {part.start} to {part.stop - 1}'


def _source(source: SourceFacts) -> Iterator[str]:
    if source.description is None:
        yield f'{source.name}: {source.problem}'
        return
    yield str(source.description)
    labels = source.axis_labels
    axes = 'not told' if not labels or not any(labels) else ', '.join(
        label or '(no label)' for label in labels)
    disk, memory = (_amount(size) for size in (source.bytes_on_disk, source.bytes_in_memory))
    yield f'{_STEP}axes: {axes}; {disk} on disk, {memory} in memory'
    if source.checksum:
        yield f'{_STEP}checksum: {source.checksum}'


def _amount(size: int | None) -> str:
    return 'an unknown size' if size is None else format_amount(size, 'B')


def _provenance(facts: Facts) -> Iterator[str]:
    tags = facts.provenance.tags
    writers = [f'{words} {tags[tag]}' for tag, words in _WRITERS if tag in tags]
    if writers:
        yield f'written by {", ".join(writers)}'
    if 'fuel_convert_date' in tags:
        yield f'on {tags["fuel_convert_date"]}'
    if facts.provenance.seed is not None:
        yield f'with the seed {facts.provenance.seed}'
    inputs = facts.provenance.inputs
    for given in inputs[:_MOST_INPUTS]:
        yield f'from {given.name}: {_count(given.size, "byte")}, sha256:{given.sha256}'
    if len(inputs) > _MOST_INPUTS:
        size = sum(given.size for given in inputs)
        yield (f'and {len(inputs) - _MOST_INPUTS} more, {_amount(size)} in all; --json lists '
               f'all {len(inputs)}')
