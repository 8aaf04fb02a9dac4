"""How large the data of a step are, and of what form."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy

from fuel.collate import Rows

__all__ = ['bytes_in', 'form_of', 'forms_of', 'steps_in']

_NUMBER = 8  # what a Python number holds


def steps_in(entry: Any) -> int:
    """Return how many steps an entry stands for: a tuple for one, `Rows` for several."""
    return entry.length if isinstance(entry, Rows) else 1


def bytes_in(data: Any) -> int:
    """Return how many bytes data have.

    Parameters
    ----------
    data : object
        Arrays count with their bytes, strings and bytes with their length, Python's numbers with
        8, containers with what is in them, and everything else with its ``nbytes``, or 0.
    """
    if isinstance(data, numpy.ndarray):
        if data.dtype != object:
            return data.nbytes
        return sum(map(bytes_in, data.flat))
    if isinstance(data, (bytes, bytearray, str)):
        return len(data)
    if isinstance(data, Mapping):
        return sum(map(bytes_in, data.values()))
    if isinstance(data, Rows):
        return bytes_in(data.columns)
    if isinstance(data, (list, tuple, set, frozenset)):
        return sum(map(bytes_in, data))
    if isinstance(data, (bool, int, float, complex)):
        return _NUMBER
    number = getattr(data, 'nbytes', 0)
    return number if isinstance(number, int) else 0


def form_of(item: Any) -> str:
    """Return the dtype and shape of an item as text.

    Examples
    --------
    >>> form_of(numpy.zeros((2, 3)))
    'float64 (2, 3)'
    >>> form_of([numpy.zeros(3), numpy.zeros(4)])
    'list of 2: float64 (3,)'
    >>> form_of('word')
    'str of 4'
    """
    if isinstance(item, (numpy.ndarray, numpy.generic)):
        text = f'{item.dtype} {item.shape}' if item.shape else str(item.dtype)
        if item.dtype == object and item.size:
            text += f': {form_of(numpy.asarray(item).flat[0])}'
        return text
    if isinstance(item, (list, tuple)):
        text = f'{type(item).__name__} of {len(item)}'
        return f'{text}: {form_of(item[0])}' if len(item) else text
    if isinstance(item, (bytes, str)):
        return f'{type(item).__name__} of {len(item)}'
    return type(item).__name__


def forms_of(entry: Any) -> list[str]:
    """Return the forms of all items of a step, the first one where there are several."""
    if isinstance(entry, Rows):
        entry = tuple([column[0] for column in entry.columns])
    values = entry.values() if isinstance(entry, Mapping) else entry
    return [form_of(item) for item in values] if isinstance(entry, (tuple, list, Mapping)) else []
