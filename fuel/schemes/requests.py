"""Iterators over requests that know where they stand.

They count their position, are pickled without the order that they go through, and skip ahead
without producing what they skip. To users they give lists of Python integers. A data stream asks
them for the *compact* form instead, slices and integer arrays, where the data set takes it.
"""
from __future__ import annotations

import collections
import itertools
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import numpy

from fuel._types import JSON, AnyArray, Request

__all__ = ['ConstantRequests', 'CountedRequests', 'IndexRequests', 'NoRequests', 'RequestIterator',
           'narrowest', 'order_of']


def narrowest(largest: int) -> Any:
    """Return the smaller of the index dtypes int32 and int64 that holds a number."""
    return numpy.int32 if largest <= numpy.iinfo(numpy.int32).max else numpy.int64


def order_of(items: Any) -> AnyArray | None:
    """Return indices as an integer vector, or `None` if they are something else.

    Parameters
    ----------
    items : range, ndarray or sequence
        What a scheme was given as its examples.

    Returns
    -------
    ndarray of int32 or int64, shape (len(items),), or None
        A new array.
    """
    if isinstance(items, range):
        ends = (abs(items.start), abs(items.stop))
        return numpy.arange(items.start, items.stop, items.step, dtype=narrowest(max(ends)))
    try:
        array = numpy.asarray(items)
    except (ValueError, OverflowError):  # ragged, or too large
        return None
    if array.ndim != 1 or array.dtype.kind not in 'iu':
        return None
    # numpy.abs would overflow on the smallest integer.
    largest = max(abs(int(array.min())), abs(int(array.max()))) if len(array) else 0
    return array.astype(narrowest(largest))


def _compact(part: range) -> slice | list[int]:
    """Return a range as a slice, where that means the same to a data set."""
    if part.step == 1 and part.start >= 0:
        return slice(part.start, part.stop)
    return list(part)


class RequestIterator(ABC, Iterator[Request]):
    """An iterator over the requests of one epoch.

    Attributes
    ----------
    position : int
        How many requests were drawn.
    """

    position: int = 0

    @abstractmethod
    def __next__(self) -> Request:
        """Return the next request, in the form that users see."""

    def next_compact(self) -> Request:
        """Return the next request, perhaps as a slice or an integer array."""
        return next(self)

    def coming(self, count: int) -> Request | None:
        """Return the next requests for single examples as one request for all of them.

        Parameters
        ----------
        count : int
            How many; fewer are returned at the end.

        Returns
        -------
        slice, list, ndarray or None
            They stay the next ones. `None` where there are none, or where they are not known
            beforehand or no plain indices.
        """
        return None

    def skip(self, count: int) -> None:
        """Pass over requests, at most to the end."""
        collections.deque(itertools.islice(self, count), maxlen=0)

    def take_back(self) -> None:
        """Put back the request that was drawn last; it will be the next one again."""
        self.position -= 1

    def rewind(self, count: int) -> bool:
        """Put back several requests, where that can be done; tell whether it was."""
        return False

    def start_state(self) -> JSON:
        """Describe in plain data how the epoch started; see `IterationScheme.state_dict`."""
        return {}

    def finish(self) -> None:
        """Let go of what is not needed after the last request."""


class NoRequests(RequestIterator):
    """Endless requests for whatever comes next; only their number is kept."""

    def __next__(self) -> None:
        self.position += 1

    def skip(self, count: int) -> None:
        """Pass over requests."""
        self.position += count

    def start_state(self) -> JSON:
        """Return `None`: there is no scheme."""
        return None


class CountedRequests(RequestIterator):
    """Counts the requests that an iterator of somebody else gives.

    Parameters
    ----------
    iterator : iterator
        The requests.
    state : object
        What the scheme's `state_dict` returned before the iterator was made.
    """

    def __init__(self, iterator: Iterator[Request], state: JSON = None) -> None:
        self.iterator = iterator
        self._state = state
        # The request that was drawn last, and whether it has been put back.
        self._last: Request = None
        self._is_back = False

    def __next__(self) -> Request:
        if not self._is_back:
            self._last = next(self.iterator)
        self._is_back = False
        self.position += 1
        return self._last

    def take_back(self) -> None:
        """Put back the request that was drawn last; it will be the next one again."""
        self._is_back = True
        self.position -= 1

    def start_state(self) -> JSON:
        """Return what the scheme's `state_dict` returned."""
        return self._state


class ConstantRequests(RequestIterator):
    """Batch sizes: one size again and again, and a remainder at the end.

    Parameters
    ----------
    batch_size : int
        The size.
    times : int, optional
        How many requests there are; without end by default.
    remainder : int
        The size of one more request at the end; 0 for none.
    """

    def __init__(self, batch_size: int, times: int | None = None, remainder: int = 0) -> None:
        self.batch_size = batch_size
        self.times = times
        self.remainder = remainder

    def __next__(self) -> int:
        if self.times is None or self.position < self.times:
            self.position += 1
            return self.batch_size
        if self.remainder and self.position == self.times:
            self.position += 1
            return self.remainder
        raise StopIteration

    def skip(self, count: int) -> None:
        """Pass over requests, at most to the end."""
        self.position += count
        if self.times is not None:
            self.position = min(self.position, self.times + bool(self.remainder))

    def start_state(self) -> JSON:
        """Return the size and the number of the requests."""
        return {'batch_size': self.batch_size, 'times': self.times, 'remainder': self.remainder}


class IndexRequests(RequestIterator):
    """Walks through indices in order, one at a time or in batches.

    Parameters
    ----------
    items : range, ndarray or list
        The indices, or anything else that a data set takes as a request.
    batch_size : int, optional
        The number of indices in a request; single ones by default.
    """

    def __init__(self, items: Sequence[Any] | AnyArray, batch_size: int | None = None) -> None:
        self.items = items
        self.batch_size = batch_size

    def _order(self) -> Sequence[Any] | AnyArray:
        """Return the items in the order of the visit."""
        return self.items

    def _next_part(self) -> Any:
        """Return the items of the next request: a slice of the order, or a single item."""
        order = self._order()
        size = self.batch_size
        if size is None:
            if self.position >= len(order):
                raise StopIteration
            self.position += 1
            return order[self.position - 1]
        start = self.position * size
        if start >= len(order):
            raise StopIteration
        self.position += 1
        return order[start:start + size]

    def __next__(self) -> Request:
        part = self._next_part()
        if isinstance(part, (numpy.ndarray, numpy.generic)):
            return part.tolist()
        return part if self.batch_size is None else list(part)

    def next_compact(self) -> Request:
        """Return the next request: a slice for a run of indices, an array for others."""
        part = self._next_part()
        return _compact(part) if isinstance(part, range) else part

    def coming(self, count: int) -> Request | None:
        """Return the next requests for single examples as one; see `RequestIterator.coming`."""
        if self.batch_size is not None:
            return None
        part = self._order()[self.position:self.position + count]
        if not len(part):
            return None
        if isinstance(part, range):
            return _compact(part)
        if isinstance(part, numpy.ndarray):
            return part if part.ndim == 1 and part.dtype.kind in 'iu' else None
        return list(part) if all(type(item) is int for item in part) else None

    def rewind(self, count: int) -> bool:
        """Put back several requests."""
        self.position -= count
        return True

    def skip(self, count: int) -> None:
        """Pass over requests, at most to the end."""
        size = self.batch_size or 1
        self.position = min(self.position + count, -(-len(self.items) // size))

    def start_state(self) -> JSON:
        """Return the number of indices and the batch size."""
        return {'examples': len(self.items), 'batch_size': self.batch_size}
