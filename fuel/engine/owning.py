"""Data of steps that are kept while further ones are made.

A transformer may use one array for the results of all its steps, as one that works in the program
may: there the step was used before the next one was made. Here it is copied.
"""
from __future__ import annotations

from sys import getrefcount

import numpy

from fuel._types import Batch

__all__ = ['owned']


def _alone() -> int:
    """Return how many references are counted to what one tuple holds, as below."""
    for _, item in enumerate((object(),)):
        return getrefcount(item)
    raise AssertionError


def _base_alone() -> int:
    """Return how many references are counted to an array that one view holds."""
    view = numpy.empty(2)[:]
    return getrefcount(view.base)


_ALONE, _BASE_ALONE = _alone(), _base_alone()


def owned(data: Batch) -> Batch:
    """Return the data of a step, with copies of the arrays that somebody else may write to.

    Parameters
    ----------
    data : tuple
        The data. Nothing but the caller should refer to the tuple.
    """
    if type(data) is not tuple:
        return data
    shared = []
    for place, item in enumerate(data):
        if isinstance(item, numpy.ndarray):
            base = item.base
            if getrefcount(item) > _ALONE or (
                    base is not None and (type(base) is not numpy.ndarray
                                          or getrefcount(base) > _BASE_ALONE + 1)):
                shared.append(place)
            del base
    if not shared:
        return data
    items = list(data)
    for place in shared:
        items[place] = items[place].copy()
    return tuple(items)
