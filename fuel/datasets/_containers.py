"""What data sets over objects in memory have in common."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ['by_source_name', 'common_length', 'length_of']

_DEFAULT_SOURCE = 'data'


def by_source_name(data: Any, kind: str) -> dict[str, Any]:
    """Return the data of every source: a mapping as it is, and others as the source 'data'."""
    if isinstance(data, Mapping):
        if not data:
            raise ValueError(f'expected at least one source; got an empty mapping of {kind}')
        return dict(data)
    return {_DEFAULT_SOURCE: data}


def length_of(data: Any) -> int | None:
    try:
        return len(data)
    except TypeError:
        return None


def common_length(data: Mapping[str, Any], owner: str) -> int | None:
    """Return the number of examples in all sources, after checking that it is one number."""
    lengths = {name: length for name, entry in data.items()
               if (length := length_of(entry)) is not None}
    if len(set(lengths.values())) > 1:
        raise ValueError(f'{owner}: expected the same number of examples in every source; got '
                         + ', '.join(f'{length} in {name!r}' for name, length in lengths.items()))
    return next(iter(lengths.values()), None)
