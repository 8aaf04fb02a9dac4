"""Data sets over objects in memory: anything that can be iterated over, or indexed."""
from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy

from fuel._itertools import iter_, izip
from fuel._types import JSON, AnyArray, Batch, Request
from fuel.datasets._dataset import Dataset
from fuel.schemes.sequential import SequentialExampleScheme
from fuel.storage.memory import check_places, own_objects, take_rows
from fuel.utils.indices import checked_request

__all__ = ['IndexableDataset', 'IterableDataset']

_DEFAULT_SOURCE = 'data'
_INDEX_DTYPES = (numpy.dtype(numpy.int32), numpy.dtype(numpy.int64))


def _by_source(data: Any, kind: str) -> dict[str, Any]:
    """Return the data of every source: a mapping as it is, and others as the source 'data'."""
    if isinstance(data, Mapping):
        if not data:
            raise ValueError(f'expected at least one source; got an empty mapping of {kind}')
        return dict(data)
    return {_DEFAULT_SOURCE: data}


def _length(data: Any) -> int | None:
    try:
        return len(data)
    except TypeError:
        return None


def _common_length(data: Mapping[str, Any], owner: str) -> int | None:
    """Return the number of examples in all sources, after checking that it is one number."""
    lengths = {name: length for name, entry in data.items()
               if (length := _length(entry)) is not None}
    if len(set(lengths.values())) > 1:
        raise ValueError(f'{owner}: expected the same number of examples in every source; got '
                         + ', '.join(f'{length} in {name!r}' for name, length in lengths.items()))
    return next(iter(lengths.values()), None)


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

    independent_states = True
    example_iteration_scheme = None

    _spent: str | None = None

    def __init__(self, iterables: Any, **kwargs: Any) -> None:
        by_source = _by_source(iterables, 'iterables')
        self.provides_sources = tuple(by_source)
        super().__init__(**kwargs)
        for name, entry in by_source.items():
            if not isinstance(entry, Iterable):
                raise ValueError(f'IterableDataset: expected an iterable for the source {name!r}; '
                                 f'got {entry!r}')
        _common_length({name: by_source[name] for name in self.sources}, 'IterableDataset')
        self.iterables = [by_source[name] for name in self.sources]

    @property
    def num_examples(self) -> int | float:
        """The number of examples, or nan where it is not known."""
        lengths = {_length(entry) for entry in self.iterables}
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
        try:
            example = next(state)
        except StopIteration:
            # An iterator cannot be gone through again, so that the next epoch would be empty.
            self._spent = next((name for name, entry in zip(
                self.sources, self.iterables, strict=True) if isinstance(entry, Iterator)), None)
            raise
        return tuple([copy.copy(entry) if isinstance(entry, numpy.ndarray) else entry
                      for entry in example])

    def state_from_plain(self, plain: JSON, requests: Iterator[Request]) -> Any:
        """Return an iterator that has given as many examples as there were requests."""
        passed = sum(1 for _ in requests)
        if all(isinstance(entry, (Sequence, numpy.ndarray)) for entry in self.iterables):
            return izip(*[_Tail(entry, passed) for entry in self.iterables])
        state = self.open()
        for _ in range(passed):
            next(state)
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


class IndexableDataset(Dataset):
    """A data set over objects that can be indexed, such as arrays and lists.

    Parameters
    ----------
    indexables : indexable or mapping from str to indexable
        numpy arrays, lists, h5py data sets, or anything with a length that can be indexed. A
        mapping gives a source for each of its keys; anything else is the one source ``'data'``.
        Each is also an attribute of the data set, under the name of its source.
    start, stop : int, optional
        Restrict the data set to the examples from `start` up to `stop`; all by default.
    **kwargs
        Handed to `Dataset`.

    Attributes
    ----------
    num_examples : int
        The number of examples.

    Raises
    ------
    ValueError
        Lengths differ, or `start` and `stop` are out of range.

    Notes
    -----
    Lists come out as lists and arrays as arrays. Arrays that are given out are copies.
    """

    independent_states = True
    takes_index_arrays = True

    def __init__(self, indexables: Any, start: int | None = None, stop: int | None = None,
                 **kwargs: Any) -> None:
        by_source = _by_source(indexables, 'indexables')
        self.provides_sources = tuple(by_source)
        super().__init__(**kwargs)
        for name, entry in by_source.items():
            if not hasattr(entry, '__getitem__') or _length(entry) is None:
                raise ValueError('IndexableDataset: expected something with a length that can be '
                                 f'indexed for the source {name!r}; got {type(entry).__name__}')
        length = _common_length(by_source, 'IndexableDataset') or 0
        self.start, self.stop = start, stop
        first, last = self._checked_range(length)
        if (first, last) != (0, length):
            by_source = {name: entry[first:last] for name, entry in by_source.items()}
        self.indexables = [by_source[name] for name in self.sources]
        self.num_examples = last - first

    def _checked_range(self, length: int) -> tuple[int, int]:
        first = 0 if self.start is None else self.start
        last = length if self.stop is None else self.stop
        if not 0 <= first <= last <= length:
            raise ValueError(f'IndexableDataset: expected 0 <= start <= stop <= {length}, the '
                             f'number of examples; got start={self.start} and stop={self.stop}')
        return first, last

    def __getattr__(self, name: str) -> Any:
        # Reached only for what is not an attribute; __dict__ is empty while unpickling.
        sources = self.__dict__.get('_sources') or self.__dict__.get('provides_sources') or ()
        if name in sources and 'indexables' in self.__dict__:
            return self.indexables[sources.index(name)]
        raise AttributeError(f'{type(self).__name__} has no attribute {name!r}'
                             + (f'; its sources are {sources}' if sources else ''))

    @property
    def example_iteration_scheme(self) -> Any:
        """The scheme that visits the examples one at a time, in order."""
        scheme = self.__dict__.get('_example_iteration_scheme')
        return SequentialExampleScheme(self.num_examples) if scheme is None else scheme

    @example_iteration_scheme.setter
    def example_iteration_scheme(self, value: Any) -> None:
        self._example_iteration_scheme = value

    def get_data(self, state: Any = None, request: Request = None) -> Batch:
        """Return chosen examples.

        Parameters
        ----------
        state : None
            There is none.
        request : int, list of int, ndarray, tuple or slice
            The places of the examples, in any order, also repeated; or a boolean mask. An integer
            gives a single example, without the batch axis.

        Returns
        -------
        tuple
            One item for every source.

        Raises
        ------
        ValueError
            There is no request, or it reaches past the end.
        """
        if state is not None or request is None:
            raise ValueError(
                f'{type(self).__name__} keeps no state and needs a request; got '
                f'state={state!r} and request={request!r}. Give the stream an iteration scheme.')
        if type(request) is not numpy.ndarray or request.dtype not in _INDEX_DTYPES:
            request = checked_request(request, self.num_examples)
        # The indices of a scheme are looked at once, by the kernel that takes the rows.
        try:
            return tuple([_take(entry, request) for entry in self.indexables])
        except IndexError:
            checked_request(request, self.num_examples)
            raise


def _take(entry: Any, request: Any) -> Any:
    """Return chosen examples of one source.

    The request has one of the forms that `checked_request` returns. The places in an array may
    still be out of range, which is an `IndexError`.
    """
    if isinstance(entry, numpy.ndarray):
        return take_rows(entry, request)
    if not isinstance(request, numpy.ndarray):
        return _own(entry[request])
    # What lists and the like make of negative places is not what is meant here.
    check_places(request, len(entry))
    if _is_h5py(entry):
        return _take_sorted(entry, request)
    return [_own(entry[place]) for place in request.tolist()]


def _own(data: Any) -> Any:
    """Return data that belong to the caller: arrays are copied, also those in a list."""
    if isinstance(data, numpy.ndarray):
        return own_objects(data) if data.dtype.hasobject else data.copy()
    if type(data) is list:
        return [_own(entry) for entry in data]
    return data


def _is_h5py(entry: Any) -> bool:
    return type(entry).__module__.partition('.')[0] == 'h5py'


def _take_sorted(entry: Any, request: AnyArray) -> AnyArray:
    """Take rows of an h5py data set, which wants them in increasing order and only once."""
    places, back = numpy.unique(request, return_inverse=True)
    rows: AnyArray = entry[places] if len(places) else entry[0:0]
    return rows[back]
