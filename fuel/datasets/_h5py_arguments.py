"""Checks of what a user asks of an HDF5 file."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy

from fuel.utils.indices import as_index_array, compact
from fuel.utils.subset import Subset

__all__ = ['are_same_subsets', 'checked_names', 'checked_subset', 'is_everything']


def are_same_subsets(subset: Subset, other: Subset) -> bool:
    """Return whether two subsets have the same examples in the same order."""
    if subset.original_num_examples != other.original_num_examples:
        return False
    rows, others = subset.slice_or_array, other.slice_or_array
    if isinstance(rows, slice) or isinstance(others, slice):
        return isinstance(rows, slice) and isinstance(others, slice) and rows == others
    return rows is others or numpy.array_equal(rows, others)


def is_everything(subset: Any) -> bool:
    """Return whether a subset is all there is."""
    return isinstance(subset, slice) and subset == slice(None)


def checked_names(which_sets: Any) -> tuple[str, ...]:
    """Return the names of splits, after checking that they are some."""
    if isinstance(which_sets, (str, bytes)):
        raise ValueError(f'expected which_sets to be a tuple of names of splits, such as '
                         f'({which_sets!r},); got the string {which_sets!r}')
    if not isinstance(which_sets, Iterable):
        raise ValueError(f'expected which_sets to be a tuple of names of splits; got '
                         f'{which_sets!r}')
    names = tuple(which_sets)
    if not names:
        raise ValueError('expected the name of at least one split in which_sets; got none')
    for name in names:
        if not isinstance(name, str):
            raise ValueError(f'expected the names in which_sets to be strings; got {name!r}')
    return names


def checked_subset(subset: Any) -> Any:
    """Return the part that the user wants, in a form that is small to keep."""
    if subset is None:
        return slice(None)
    if isinstance(subset, slice):
        return subset
    if isinstance(subset, Mapping) or not isinstance(subset, (list, tuple, range, numpy.ndarray)):
        raise ValueError('expected subset to be a slice, a list or array of indices, or None for '
                         f'all examples; got {type(subset).__name__}')
    if len(subset) and isinstance(subset[0], (bool, numpy.bool_)):
        return numpy.array(subset)
    indices = as_index_array(subset)
    if not indices.size:
        raise ValueError('expected a subset of at least one example; got an empty one. None '
                         'stands for all examples')
    highest = int(indices.max())
    return compact(indices, highest + 1 if indices.min() >= 0 else 2 ** 32)
