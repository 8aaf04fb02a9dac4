"""How examples become a batch."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy

from fuel._types import AnyArray

__all__ = ['as_objects', 'stacked']


def as_objects(items: Sequence[Any]) -> AnyArray:
    """Return items in a one-dimensional array of objects, also where they are arrays."""
    result = numpy.empty(len(items), dtype=object)
    for place, item in enumerate(items):
        result[place] = item
    return result


def stacked(items: Sequence[Any]) -> AnyArray:
    """Return the examples of a source as a batch.

    Parameters
    ----------
    items : sequence
        One item for each example.

    Returns
    -------
    ndarray
        With an axis in front, where the items are numbers, or arrays of one shape; otherwise one
        dimension of objects.
    """
    first = items[0]
    if isinstance(first, numpy.ndarray):
        shape = first.shape
        if all(isinstance(item, numpy.ndarray) and item.shape == shape for item in items):
            return as_objects(items) if first.dtype == object else numpy.stack(items)
        return as_objects(items)
    # Sequences may happen to be of one length in this batch, and not in the next.
    if isinstance(first, (list, tuple, dict)):
        return as_objects(items)
    return numpy.array(items)
