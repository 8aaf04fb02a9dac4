"""Transformers that make epochs shorter or longer."""
from __future__ import annotations

import numbers
from typing import Any

from fuel._types import Batch, Request
from fuel.transformers.regrouping import Groups, RegroupingTransformer

__all__ = ['Repeat', 'Skip', 'Take']


def _checked_count(owner: object, name: str, value: Any, least: int) -> int:
    """Return a number of steps or epochs, after checking that it is one."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < least:
        raise ValueError(f'{type(owner).__name__}: expected {name} to be an integer of at least '
                         f'{least}; got {value!r}')
    return int(value)


class _Steps(RegroupingTransformer):
    """What transformers that change the number of steps have in common."""

    def output_axis_labels(self, labels: Any) -> Any:
        """Leave the labels as they are."""
        return dict(labels)

    def _changed(self, number: int) -> int:
        """Return the length of an epoch, given that of the wrapped stream."""
        raise NotImplementedError

    @property
    def num_examples(self) -> int | None:
        """How many examples an epoch has, where that is known."""
        # Of batches it is not known how many examples are in those left out.
        number = self.data_stream.num_examples if self.produces_examples else None
        return None if number is None else self._changed(number)

    @property
    def num_batches(self) -> int | None:
        """How many batches an epoch has, where that is known."""
        number = self.data_stream.num_batches
        return None if number is None else self._changed(number)


class Skip(_Steps):
    """Leaves out the first steps of every epoch.

    Parameters
    ----------
    data_stream : AbstractDataStream
        A stream of examples or of batches.
    count : int
        How many examples, or batches, to leave out; at least 0.
    **kwargs
        Handed to `Transformer`.

    Raises
    ------
    ValueError
        `count` is not such a number.

    Examples
    --------
    >>> from fuel.datasets import IndexableDataset
    >>> from fuel.streams import DataStream
    >>> dataset = IndexableDataset([1, 2, 3, 4])
    >>> stream = DataStream(dataset, iteration_scheme=dataset.example_iteration_scheme)
    >>> list(Skip(stream, 3).get_epoch_iterator())
    [(4,)]
    """

    def __init__(self, data_stream: Any, count: int, **kwargs: Any) -> None:
        super().__init__(data_stream, **kwargs)
        self.count = _checked_count(self, 'count', count, 0)

    def _changed(self, number: int) -> int:
        return max(number - self.count, 0)

    def regroup(self, groups: Groups, request: Request) -> Batch:
        """Return the next data that are not left out."""
        # All that is left out is the first group.
        if not groups.number:
            for _ in range(self.count):
                groups.draw()
            groups.drop()
        return groups.draw()


class Take(_Steps):
    """Gives the first steps of every epoch only.

    The next epoch is the next one of the wrapped stream. If that shuffles, each epoch gives
    other examples: a truncated epoch, for example to look at the error between times.

    Parameters
    ----------
    data_stream : AbstractDataStream
        A stream of examples or of batches.
    count : int
        How many examples, or batches, to give; at least 1.
    **kwargs
        Handed to `Transformer`.

    Raises
    ------
    ValueError
        `count` is not such a number.

    Examples
    --------
    >>> from fuel.datasets import IndexableDataset
    >>> from fuel.schemes import ShuffledScheme
    >>> from fuel.streams import DataStream
    >>> stream = DataStream(IndexableDataset([1, 2, 3, 4, 5, 6, 7, 8]),
    ...                     iteration_scheme=ShuffledScheme(8, 4))
    >>> first = Take(stream, 1)
    >>> list(first.get_epoch_iterator())
    [([8, 3, 2, 7],)]
    >>> list(first.get_epoch_iterator())
    [([3, 4, 5, 8],)]
    """

    def __init__(self, data_stream: Any, count: int, **kwargs: Any) -> None:
        super().__init__(data_stream, **kwargs)
        self.count = _checked_count(self, 'count', count, 1)

    def _changed(self, number: int) -> int:
        return min(number, self.count)

    def regroup(self, groups: Groups, request: Request) -> Batch:
        """Return the next data, up to the last to be given."""
        if groups.used >= self.count:
            raise StopIteration
        data = groups.draw()
        groups.used += 1
        return data


class Repeat(_Steps):
    """Gives several epochs of the wrapped stream as one.

    Parameters
    ----------
    data_stream : AbstractDataStream
        A stream of examples or of batches.
    times : int
        How many of its epochs make one epoch; at least 1.
    **kwargs
        Handed to `Transformer`.

    Raises
    ------
    ValueError
        `times` is not such a number.

    Notes
    -----
    An epoch that is broken off takes its share of the epochs of the wrapped stream all the same,
    so that the next one does not depend on where that was. Two epochs cannot be gone through side
    by side: the older iterator raises `SupersededIteratorError`.

    Examples
    --------
    >>> from fuel.datasets import IndexableDataset
    >>> from fuel.streams import DataStream
    >>> dataset = IndexableDataset([1, 2])
    >>> stream = DataStream(dataset, iteration_scheme=dataset.example_iteration_scheme)
    >>> list(Repeat(stream, 2).get_epoch_iterator())
    [(1,), (2,), (1,), (2,)]
    """

    independent_epochs = False

    def __init__(self, data_stream: Any, times: int, **kwargs: Any) -> None:
        super().__init__(data_stream, **kwargs)
        self.times = _checked_count(self, 'times', times, 1)

    def _changed(self, number: int) -> int:
        return number * self.times

    @property
    def num_examples(self) -> int | None:
        """How many examples an epoch has, where that is known."""
        number = self.data_stream.num_examples
        return None if number is None else self._changed(number)

    def get_epoch_iterator(self, as_dict: bool = False) -> Any:
        """Start the next epoch, and return an iterator over it; see `Transformer`."""
        if self.groups is not None and self._loaded_state is None:
            for _ in range(self.groups.number + 1, self.times):
                self.data_stream.get_epoch_iterator()
        return super().get_epoch_iterator(as_dict=as_dict)

    def regroup(self, groups: Groups, request: Request) -> Batch:
        """Return the next data, also from the next epoch."""
        while True:
            try:
                return groups.draw()
            except StopIteration:
                if groups.number + 1 >= self.times:
                    raise
            groups.drop()
            groups.child = self.child_epoch_iterator = self.data_stream.get_epoch_iterator()
