"""Schemes that visit examples in the order given."""
from __future__ import annotations

from fuel._derived import derived
from fuel.schemes.base import BatchScheme, IndexScheme
from fuel.schemes.requests import IndexRequests

__all__ = ['SequentialExampleScheme', 'SequentialScheme']


class SequentialScheme(BatchScheme):
    """Requests batches of examples in order.

    Parameters
    ----------
    examples : int or iterable of int
        The examples to visit. A number stands for the indices from 0 up to it.
    batch_size : int
        The number of examples in a request. The last one of an epoch may be shorter.

    Examples
    --------
    >>> list(SequentialScheme(examples=5, batch_size=2).get_request_iterator())
    [[0, 1], [2, 3], [4]]
    """

    @derived
    def num_examples(self) -> int:  # type: ignore[override]
        """How many examples an epoch visits."""
        return len(self.indices)

    @derived
    def num_requests(self) -> int:  # type: ignore[override]
        """How many batches an epoch has."""
        return -(-len(self.indices) // self.batch_size)

    def get_request_iterator(self) -> IndexRequests:
        """Return an iterator over lists of indices."""
        return IndexRequests(self.indices, self.batch_size)


class SequentialExampleScheme(IndexScheme):
    """Requests single examples in order.

    Parameters
    ----------
    examples : int or iterable of int
        The examples to visit. A number stands for the indices from 0 up to it.

    Examples
    --------
    >>> list(SequentialExampleScheme(examples=3).get_request_iterator())
    [0, 1, 2]
    """

    @derived
    def num_examples(self) -> int:  # type: ignore[override]
        """How many examples an epoch visits."""
        return len(self.indices)

    @derived
    def num_requests(self) -> int:  # type: ignore[override]
        """How many requests an epoch has: one for each example."""
        return len(self.indices)

    def get_request_iterator(self) -> IndexRequests:
        """Return an iterator over indices."""
        return IndexRequests(self.indices)
