"""The facts of files as data for other programs; the form is that of the page on looking at files.

Every key is always there. What is not known, or does not apply, is null.
"""
from __future__ import annotations

import json
from typing import Any

from fuel.bin._info.facts import Facts, OtherData, SourceFacts, SplitPart

__all__ = ['SCHEMA', 'as_json', 'facts_as_data', 'failure_as_data']

#: Grows when a key changes its meaning or goes; new keys may come without that.
SCHEMA = 1


def as_json(data: Any) -> str:
    """Return data as JSON text."""
    return json.dumps(data, indent=2, ensure_ascii=False)


def failure_as_data(path: str, message: str) -> dict[str, Any]:
    """Return the entry of a file that could not be read."""
    return {'schema': SCHEMA, 'path': path, 'error': message}


def facts_as_data(facts: Facts) -> dict[str, Any]:
    """Return what is known of a file as plain data.

    Parameters
    ----------
    facts : Facts
        What is known.
    """
    tags = facts.provenance.tags
    return {
        'schema': SCHEMA,
        'path': facts.path,
        'error': None,
        'bytes': facts.size,
        'is_data_set': not facts.problem,
        'problem': facts.problem or None,
        'command': tags.get('fuel_convert_command'),
        'interface_version': tags.get('h5py_interface_version'),
        'converters_version': tags.get('fuel_convert_version'),
        'fuel_version': tags.get('fuel_version'),
        'h5py_version': tags.get('h5py_version'),
        'hdf5_version': tags.get('hdf5_version'),
        'numpy_version': tags.get('numpy_version'),
        'date': tags.get('fuel_convert_date'),
        'seed': facts.provenance.seed,
        'inputs': [{'name': given.name, 'bytes': given.size, 'sha256': given.sha256}
                   for given in facts.provenance.inputs],
        'splits': [{'name': name, 'examples': _common(parts), 'sources': list(map(_part, parts))}
                   for name, parts in facts.splits.items()],
        'sources': list(map(_source, facts.sources)),
        'others': list(map(_other, facts.others)),
    }


def _common(parts: tuple[SplitPart, ...]) -> int | None:
    """Return the number of examples, if all sources of a split have the same."""
    counts = {part.examples for part in parts}
    return counts.pop() if len(counts) == 1 else None


def _part(part: SplitPart) -> dict[str, Any]:
    listed = bool(part.indices)
    return {'name': part.source, 'examples': part.examples,
            'start': None if listed else part.start, 'stop': None if listed else part.stop,
            'indices': part.indices or None, 'comment': part.comment or None,
            'problem': part.problem or None}


def _source(source: SourceFacts) -> dict[str, Any]:
    found = source.description
    labels = source.axis_labels
    return {
        'name': source.name,
        'problem': source.problem or None,
        'examples': None if found is None else found.shape[0],
        'shape': None if found is None else list(found.shape),
        'dtype': None if found is None else str(found.dtype),
        'axis_labels': None if labels is None else [label or None for label in labels],
        'layout': None if found is None else found.layout,
        'chunks': None if found is None or found.chunks is None else list(found.chunks),
        'filters': None if found is None else list(found.filters),
        'bytes_on_disk': source.bytes_on_disk,
        'bytes_in_memory': source.bytes_in_memory,
        'read': None if found is None else found.way,
        'reason': None if found is None else found.reason or None,
        'checksum': source.checksum or None,
    }


def _other(other: OtherData) -> dict[str, Any]:
    return {'name': other.name, 'shape': list(other.shape), 'dtype': other.dtype}
