"""The data set over anything that can be iterated over."""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy

from fuel._derived import derived
from fuel._itertools import iter_, izip
from fuel._types import JSON, Batch, Request
from fuel.datasets._containers import by_source_name, common_length, length_of
from fuel.datasets._dataset import Dataset
from fuel.exceptions import StateError
from fuel.storage.memory import own

__all__ = ['IterableDataset']


class IterableDataset(Dataset):
    """A data set over iterables, which are read from start to end.

    Parameters
    ----------
    iterables : iterable or mapping from str to iterable
        A mapping gives a source for each of its keys; anything else is the one source ``'data'``.
    **kwargs
        Handed to `Dataset`.

    Attributes
    ----------
    num_examples : int or float
        The number of examples, or nan where the iterables do not tell it.

    Raises
    ------
    ValueError
        Something is not iterable, or lengths are known and differ.
    """

    example_iteration_scheme = None

    # The name of a source whose data are at their end for good, and whether any were drawn.
    _spent: str | None = None
    _drawn = False

    def __init__(self, iterables: Any, **kwargs: Any) -> None:
        by_source = by_source_name(iterables, 'iterables')
        self.provides_sources = tuple(by_source)
        super().__init__(**kwargs)
        for name, entry in by_source.items():
            if not isinstance(entry, Iterable):
                raise ValueError(f'IterableDataset: expected an iterable for the source {name!r}; '
                                 f'got {entry!r}')
        common_length({name: by_source[name] for name in self.sources}, 'IterableDataset')
        self.iterables = [by_source[name] for name in self.sources]

    @property
    def independent_states(self) -> bool:  # type: ignore[override]
        """Whether several epochs can be read side by side: not where data come only once."""
        return self._once_only() is None

    def _once_only(self) -> str | None:
        """Return the name of a source whose data can be gone through once only."""
        return next((name for name, entry in zip(self.sources, self.iterables, strict=True)
                     if isinstance(entry, Iterator)), None)

    @derived
    def num_examples(self) -> int | float:
        """Count the examples; nan where their number is not known."""
        lengths = {length_of(entry) for entry in self.iterables}
        return float('nan') if None in lengths else min(length for length in lengths
                                                        if length is not None)

    def open(self) -> Any:
        """Return an iterator over the examples.

        Returns
        -------
        iterator of tuple
            Arrays in it are still those of the iterables; `get_data` copies them.
        """
        if self._spent is not None:
            return _Spent(self._spent)
        return izip(*[iter_(entry) for entry in self.iterables])

    def get_data(self, state: Any = None, request: Request = None) -> Batch:
        """Return the next example.

        Parameters
        ----------
        state : iterator
            What `open` returned.
        request : None
            Examples cannot be asked for by their place.

        Raises
        ------
        StopIteration
            The shortest of the iterables is at its end.
        ValueError
            There is no state, or a request.
        """
        if request is not None:
            raise ValueError(
                f'{type(self).__name__} gives its examples in order and takes no requests; got '
                f'{request!r}. Use IndexableDataset for data that can be indexed, or a stream '
                'without an iteration scheme and the Batch transformer around it for batches.')
        if state is None:
            raise ValueError(f'{type(self).__name__}.get_data needs the state that open() returns')
        self._drawn = True
        try:
            return tuple([own(entry) for entry in next(state)])
        except StopIteration:
            # An iterator cannot be gone through again, so that the next epoch would be empty.
            self._spent = self._once_only()
            raise

    def state_from_plain(self, plain: JSON, requests: Iterator[Request]) -> Any:
        """Return an iterator that has given as many examples as there were requests."""
        passed = sum(1 for _ in requests)
        once = self._once_only()
        if once is not None and self._drawn:
            raise StateError(
                f'the data of source {once!r} are an iterator from which something was drawn '
                'already, so that the place in it that was saved cannot be found; build the data '
                'set anew before loading the state')
        if all(isinstance(entry, (Sequence, numpy.ndarray)) for entry in self.iterables):
            return izip(*[_Tail(entry, passed) for entry in self.iterables])
        state = self.open()
        for place in range(passed):
            if next(state, None) is None:
                raise StateError(f'the state was saved after {passed} examples of an epoch; this '
                                 f'{type(self).__name__} has {place}')
        return state


class _Spent(Iterator[Any]):
    """Raises when it is drawn from: an iterator among the iterables is at its end."""

    def __init__(self, source: str) -> None:
        self._source = source

    def __next__(self) -> Any:
        raise ValueError(
            f'the data of source {self._source!r} is an iterator, which can be gone through once '
            'only, and it has come to its end; give a list, or an object whose __iter__ starts '
            'anew')


class _Tail(Iterator[Any]):
    """Iterates over a sequence from some place on; pickled with its place."""

    def __init__(self, sequence: Any, place: int) -> None:
        self._sequence = sequence
        self._place = place

    def __next__(self) -> Any:
        if self._place >= len(self._sequence):
            raise StopIteration
        self._place += 1
        return self._sequence[self._place - 1]
