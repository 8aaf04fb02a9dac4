"""How examples become a batch, and how parts of batches become one."""
from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy

from fuel._types import AnyArray, Batch

__all__ = ['Rows', 'as_objects', 'batch_of', 'examples_in', 'joined', 'stacked']


def as_objects(items: Sequence[Any]) -> AnyArray:
    """Return items in a one-dimensional array of objects, also where they are arrays."""
    # numpy.array would spread arrays of one shape over more axes than the one.
    return numpy.fromiter(items, dtype=object, count=len(items))


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

    Examples
    --------
    >>> stacked([numpy.zeros(2), numpy.ones(2)])
    array([[0., 0.],
           [1., 1.]])
    >>> stacked([[3, 1], [2]])
    array([list([3, 1]), list([2])], dtype=object)
    """
    first = items[0]
    if isinstance(first, numpy.ndarray):
        if first.dtype == object or not _have_shape(items, first.shape):
            return as_objects(items)
        if not first.ndim:
            return numpy.stack(items)
        # What numpy.stack does, without making a view of each item first.
        return numpy.concatenate(items).reshape(len(items), *first.shape)
    # Sequences may happen to be of one length in this batch, and not in the next; and numpy takes
    # zeros at the end of bytes for padding.
    if isinstance(first, (list, tuple, dict)) or type(first) is bytes:
        return as_objects(items)
    return numpy.array(items)


def _have_shape(items: Sequence[Any], shape: tuple[int, ...]) -> bool:
    # Mostly the second one tells, if they are ragged.
    return all(getattr(item, 'shape', None) == shape for item in items)


class Rows:
    """Consecutive examples that lie together, source by source.

    Parameters
    ----------
    columns : tuple of list or ndarray
        The items of every source, one for each example; those of an array are its rows.
    length : int
        How many examples there are.
    is_fresh : bool, optional
        Whether the columns belong to nobody else.
    """

    __slots__ = ('columns', 'is_fresh', 'length')

    def __init__(self, columns: tuple[Any, ...], length: int, is_fresh: bool = False) -> None:
        self.columns = columns
        self.length = length
        self.is_fresh = is_fresh

    @classmethod
    def of(cls, columns: Iterable[Any], *, is_fresh: bool = False) -> Rows | None:
        """Return columns as rows, or `None` where they are of no form that this is known of."""
        columns = tuple(columns)
        lengths = {len(column) if type(column) in (list, numpy.ndarray) else -1
                   for column in columns}
        if len(lengths) != 1 or -1 in lengths:
            return None
        return cls(columns, lengths.pop(), is_fresh)

    def examples(self) -> list[Batch]:
        """Return the examples one by one, with memory of their own."""
        # Rows that are views would keep all the others in memory.
        columns = [[row.copy() for row in column] if isinstance(column, numpy.ndarray)
                   and (column.ndim > 1 or column.dtype.kind == 'V') else column
                   for column in self.columns]
        return list(zip(*columns, strict=True))


def examples_in(entries: Iterable[Batch | Rows]) -> list[Batch]:
    """Return examples one by one, some of which lie together."""
    examples: list[Batch] = []
    for entry in entries:
        if isinstance(entry, Rows):
            examples += entry.examples()
        else:
            examples.append(entry)
    return examples


def batch_of(entries: Sequence[Batch | Rows]) -> Batch:
    """Return examples as one batch.

    Parameters
    ----------
    entries : sequence of tuple or Rows
        At least one example. Tuples are single ones, with an item for every source.

    Returns
    -------
    tuple of ndarray
        For every source what `stacked` makes of its items.
    """
    together = [entry for entry in entries if isinstance(entry, Rows)]
    if len(together) < len(entries):
        return tuple([stacked(items) for items in zip(*examples_in(entries), strict=True)])
    is_fresh = len(together) == 1 and together[0].is_fresh
    return tuple([_stacked_parts(parts, is_fresh)
                  for parts in zip(*[rows.columns for rows in together], strict=True)])


def _stacked_parts(parts: tuple[Any, ...], is_fresh: bool) -> AnyArray:
    """Return what `stacked` makes of the items of several columns."""
    first = parts[0]
    if len(parts) == 1 and isinstance(first, list):
        return stacked(first)
    # The rows of an array of numbers make the same array again; others, such as texts, a narrower.
    if all(isinstance(part, numpy.ndarray) and part.dtype.kind in 'biufc' and part.dtype.isnative
           and part.dtype == first.dtype and part.shape[1:] == first.shape[1:] for part in parts):
        return first if is_fresh else numpy.concatenate(parts)
    return stacked([item for part in parts for item in part])


def joined(parts: Sequence[Any]) -> Any:
    """Return consecutive parts of one source as a single batch.

    Parameters
    ----------
    parts : sequence of array-like
        At least one. Arrays with axes alike behind the first, arrays of objects, lists, or tuples.

    Returns
    -------
    ndarray, list or tuple
        Of the form of the parts. Where their forms differ, or their shapes do, an array of
        objects.

    Examples
    --------
    >>> joined([numpy.arange(2), numpy.arange(3)])
    array([0, 1, 0, 1, 2])
    >>> joined([[1, 2], [3]])
    [1, 2, 3]
    """
    if len(parts) == 1:
        return parts[0]
    kinds = {type(part) for part in parts}
    if kinds == {numpy.ndarray}:
        if len({(part.shape[1:], part.dtype == object) for part in parts}) == 1:
            return numpy.concatenate(parts)
    elif kinds in ({list}, {tuple}):
        return kinds.pop()(entry for part in parts for entry in part)
    return as_objects([entry for part in parts for entry in part])
