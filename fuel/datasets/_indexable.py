"""The data set over anything that can be indexed."""
from __future__ import annotations

from typing import Any

import numpy

from fuel._derived import derived
from fuel._types import Batch, Request
from fuel.datasets._containers import by_source_name, common_length, length_of
from fuel.datasets._dataset import Dataset
from fuel.schemes.sequential import SequentialExampleScheme
from fuel.storage.memory import part_of, take
from fuel.utils.indices import checked_request

__all__ = ['IndexableDataset']

_INDEX_DTYPES = (numpy.dtype(numpy.int32), numpy.dtype(numpy.int64))


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
        by_source = by_source_name(indexables, 'indexables')
        self.provides_sources = tuple(by_source)
        super().__init__(**kwargs)
        for name, entry in by_source.items():
            if not hasattr(entry, '__getitem__') or length_of(entry) is None:
                raise ValueError('IndexableDataset: expected something with a length that can be '
                                 f'indexed for the source {name!r}; got {type(entry).__name__}')
        length = common_length(by_source, 'IndexableDataset') or 0
        self.start, self.stop = start, stop
        first, last = self._checked_range(length)
        if (first, last) != (0, length):
            by_source = {name: part_of(entry, first, last) for name, entry in by_source.items()}
        self.indexables = [by_source[name] for name in self.sources]

    @derived
    def num_examples(self) -> int:
        """Count the examples."""
        return len(self.indexables[0])

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
        if name in sources:
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
        if not (type(request) is numpy.ndarray and request.dtype in _INDEX_DTYPES
                and request.ndim == 1 and request.size):
            request = checked_request(request, self.num_examples)
        # The indices of a scheme are looked at once, by the kernel that takes the rows.
        try:
            return tuple([take(entry, request) for entry in self.indexables])
        except IndexError:
            checked_request(request, self.num_examples)
            raise
