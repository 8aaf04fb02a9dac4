"""Schemes that visit examples in random order, a new one for each epoch."""
from __future__ import annotations

import contextlib
import copy
from collections.abc import Iterable, Sequence
from typing import Any

import numpy
from numpy.random import RandomState

from fuel import rng as random_state
from fuel._derived import derived
from fuel._types import JSON, AnyArray, Request
from fuel.config_parser import config
from fuel.schemes.base import BatchScheme, IndexScheme
from fuel.schemes.requests import IndexRequests, narrowest, order_of

__all__ = ['ShuffledExampleScheme', 'ShuffledRequests', 'ShuffledScheme']


class ShuffledRequests(IndexRequests):
    """Walks through examples in random order.

    The order is one integer array. It is not pickled: what is kept is the state in which the
    generator was before it shuffled, and the order is made again from it when it is needed.

    Parameters
    ----------
    items : range, ndarray or list
        The examples.
    batch_size : int or None
        The number of examples in a request; `None` for single ones.
    rng : RandomState or other
        Its method `shuffle` is called once, at once.
    sorted_indices : bool
        Whether the examples of each batch are put in increasing order.
    """

    def __init__(self, items: Sequence[Any] | AnyArray, batch_size: int | None, rng: Any,
                 sorted_indices: bool = False) -> None:
        super().__init__(items, batch_size)
        self.sorted_indices = sorted_indices
        self._rng_state = random_state.capture(rng)
        # Of a generator whose state cannot be read, a copy is kept, or where there can be none
        # (a module, say, or the random numbers of the operating system), the order itself.
        self._rng_copy: Any = None
        self._keeps_order = False
        if self._rng_state is None:
            with contextlib.suppress(Exception):
                self._rng_copy = copy.deepcopy(rng)
            # numpy copies its generators without the class that a subclass has.
            self._keeps_order = type(self._rng_copy) is not type(rng)
        self._encoded: JSON = None  # kept, since states may be taken at every step
        self._shuffled: AnyArray | None = self._shuffle(rng)

    def _shuffle(self, rng: Any) -> AnyArray:
        order = order_of(self.items)
        # What is not an index has its place shuffled instead.
        self._by_place = order is None
        if order is None:
            order = numpy.arange(len(self.items), dtype=narrowest(len(self.items)))
        if self._rng_state is not None:
            rng.shuffle(order)
            return order
        listed = order.tolist()  # somebody's own shuffle may rely on a list
        rng.shuffle(listed)
        return numpy.array(listed, dtype=order.dtype)

    def _order(self) -> AnyArray:
        if self._shuffled is None:
            rng = (random_state.rebuild(self._rng_state) if self._rng_state is not None
                   else copy.deepcopy(self._rng_copy))
            self._shuffled = self._shuffle(rng)
        return self._shuffled

    def _next_part(self) -> Any:
        part = super()._next_part()
        if self._by_place:
            part = ([self.items[place] for place in part.tolist()]
                    if self.batch_size is not None else self.items[part])
        if not self.sorted_indices or self.batch_size is None:
            return part
        return sorted(part) if self._by_place else numpy.sort(part)

    def coming(self, count: int) -> Request | None:
        """Return the next requests for single examples as one; see `RequestIterator.coming`."""
        request = super().coming(count)
        return None if self._by_place else request

    def start_state(self) -> JSON:
        """Return the numbers of the walk and the state of the generator before it shuffled."""
        state = super().start_state()
        if self.sorted_indices:
            state['sorted_indices'] = True
        if self._rng_state is None:
            return None  # the order cannot be told
        if self._encoded is None:
            self._encoded = random_state.encode(self._rng_state)
        state['rng'] = self._encoded
        return state

    def finish(self) -> None:
        """Let go of the order."""
        self._shuffled = None

    def __getstate__(self) -> dict[str, Any]:
        state = {**self.__dict__, '_encoded': None}
        if not self._keeps_order:
            state['_shuffled'] = None
        return state


def _generator(rng: Any) -> Any:
    if rng is None:
        return RandomState(config.default_seed)
    if not callable(getattr(rng, 'shuffle', None)):
        raise TypeError('expected rng to be a random generator with a method shuffle, such as '
                        f'numpy.random.RandomState(7); got {rng!r}')
    return rng


class ShuffledScheme(BatchScheme):
    """Requests batches of examples in random order.

    Each epoch has another order. Two schemes made alike give the same orders.

    Parameters
    ----------
    examples : int or iterable of int
        The examples to visit. A number stands for the indices from 0 up to it.
    batch_size : int
        The number of examples in a request. The last one of an epoch may be shorter.
    rng : RandomState, Generator or anything with a method shuffle, optional
        Shuffles, and runs on from epoch to epoch. ``RandomState(config.default_seed)`` by
        default.
    sorted_indices : bool, optional
        Put the examples of each batch in increasing order. Off by default.

    Examples
    --------
    >>> scheme = ShuffledScheme(examples=8, batch_size=4)
    >>> list(scheme.get_request_iterator())
    [[7, 2, 1, 6], [0, 4, 3, 5]]
    >>> list(scheme.get_request_iterator())
    [[2, 3, 4, 7], [1, 6, 0, 5]]
    """

    def __init__(self, examples: int | Iterable[Any], batch_size: int, *, rng: Any = None,
                 sorted_indices: bool = False) -> None:
        super().__init__(examples, batch_size)
        self.rng = _generator(rng)
        self.sorted_indices = sorted_indices

    @derived
    def num_examples(self) -> int:  # type: ignore[override]
        """How many examples an epoch visits."""
        return len(self.indices)

    @derived
    def num_requests(self) -> int:  # type: ignore[override]
        """How many batches an epoch has."""
        return -(-len(self.indices) // self.batch_size)

    def get_request_iterator(self) -> ShuffledRequests:
        """Shuffle, and return an iterator over lists of indices."""
        return ShuffledRequests(self.indices, self.batch_size, self.rng, self.sorted_indices)


class ShuffledExampleScheme(IndexScheme):
    """Requests single examples in random order.

    Parameters
    ----------
    examples : int or iterable of int
        The examples to visit. A number stands for the indices from 0 up to it.
    rng : RandomState, Generator or anything with a method shuffle, optional
        Shuffles, and runs on from epoch to epoch. ``RandomState(config.default_seed)`` by
        default.

    Examples
    --------
    >>> list(ShuffledExampleScheme(examples=8).get_request_iterator())
    [7, 2, 1, 6, 0, 4, 3, 5]
    """

    def __init__(self, examples: int | Iterable[Any], *, rng: Any = None) -> None:
        super().__init__(examples)
        self.rng = _generator(rng)

    @derived
    def num_examples(self) -> int:  # type: ignore[override]
        """How many examples an epoch visits."""
        return len(self.indices)

    @derived
    def num_requests(self) -> int:  # type: ignore[override]
        """How many requests an epoch has: one for each example."""
        return len(self.indices)

    def get_request_iterator(self) -> ShuffledRequests:
        """Shuffle, and return an iterator over indices."""
        return ShuffledRequests(self.indices, None, self.rng)
