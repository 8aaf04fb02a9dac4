"""A part of the examples of a data set, and the algebra of such parts."""
from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any

import numpy

from fuel.utils.indices import (
    IndexArray,
    Positions,
    as_index_array,
    check_range,
    checked_request,
    compact,
    is_increasing,
)

__all__ = ['Subset', 'iterable_fancy_indexing']


def iterable_fancy_indexing(indexable: Any, request: Iterable[int]) -> list[Any]:
    """Return a list with the items of a sequence that stand at the given positions."""
    return [indexable[index] for index in request]


class Subset:
    """Some of the examples of a data set, in the order of the data set.

    Indices are sorted and each counts once. They are kept as a slice where they follow each
    other, and otherwise as an array of 4 or 8 bytes an example.

    Parameters
    ----------
    list_or_slice : slice, list, tuple, range or ndarray
        The examples: indices, a mask with a boolean for each example, or a slice of step 1.
    original_num_examples : int
        How many examples the data set has.

    Attributes
    ----------
    original_num_examples : int
        As given.

    Raises
    ------
    ValueError
        An index is negative or not smaller than `original_num_examples`; or a slice has a
        negative part, a step other than 1, or reaches past the end.

    Examples
    --------
    >>> Subset([3, 1, 1, 2], 10).list_or_slice
    slice(1, 4, None)
    >>> (Subset([5, 0], 10) + Subset(slice(1, 3), 10)).list_or_slice
    [0, 1, 2, 5]
    """

    __slots__ = ('_indices', '_slice', 'original_num_examples')

    _indices: IndexArray | None      # None: the slice counts
    _slice: slice                    # with `None` where it was given so; it may have a step
    original_num_examples: int

    def __init__(self, list_or_slice: Any, original_num_examples: int) -> None:
        self.original_num_examples = original_num_examples
        if isinstance(list_or_slice, slice):
            self._indices = None
            self._slice = _checked_definition(list_or_slice, original_num_examples)
            return
        indices = as_index_array(list_or_slice, original_num_examples)
        check_range(indices, original_num_examples)
        self._keep(indices if is_increasing(indices) else numpy.unique(indices))

    def _keep(self, positions: slice | IndexArray, share: bool = False) -> None:
        """Keep checked positions, increasing ones that follow each other as a slice."""
        self._indices, self._slice = None, slice(0, 0)
        if isinstance(positions, slice):
            self._slice = positions
        elif (len(positions) and positions[-1] - positions[0] == len(positions) - 1
              and is_increasing(positions)):
            self._slice = slice(int(positions[0]), int(positions[-1]) + 1, None)
        else:
            self._indices = (positions.view() if share else
                             compact(positions, self.original_num_examples))
            self._indices.flags.writeable = False

    @classmethod
    def in_order(cls, positions: slice | IndexArray, original_num_examples: int) -> Subset:
        """Make a subset that keeps the order of its indices, and their duplicates.

        Rows of several sources that belong together by their place in an index array need it.

        Parameters
        ----------
        positions : slice or ndarray of int
            Within the data set, which is not checked. A slice may have a step. An array is not
            copied and must not change any more.
        original_num_examples : int
            How many examples the data set has.
        """
        subset = cls.__new__(cls)
        subset.original_num_examples = original_num_examples
        subset._keep(positions, share=True)
        return subset

    @classmethod
    def empty_subset(cls, original_num_examples: int) -> Subset:
        """Return a subset without examples."""
        return cls([], original_num_examples)

    @classmethod
    def subset_of(cls, subset: Subset, subset_request: Any) -> Subset:
        """Return a part of a subset.

        Parameters
        ----------
        subset : Subset
            The subset to choose from.
        subset_request : slice, list, tuple, range or ndarray
            Which of its examples, counted within the subset. A slice may have a step, and
            negative bounds that count from the end.

        Returns
        -------
        Subset

        Raises
        ------
        ValueError
            Nothing is chosen, or something that `subset` does not have.
        """
        if isinstance(subset_request, slice):
            subset_request = _counted_from_start(subset_request, subset.num_examples)
        else:
            # Sorted within the subset, which may have an order of its own to be kept.
            subset_request = checked_request(subset_request, subset.num_examples)
            if not isinstance(subset_request, numpy.ndarray) or not is_increasing(subset_request):
                subset_request = numpy.unique(subset_request)
        positions: Any = subset.positions(subset_request)
        return cls.in_order(positions, subset.original_num_examples)

    @property
    def list_or_slice(self) -> list[int] | slice:
        """The examples as a slice or, made anew on every access, as a list."""
        if self._indices is not None:
            return self.get_list_representation()
        return self._slice

    @property
    def slice_or_array(self) -> slice | IndexArray:
        """The examples as they are kept; a slice has three numbers."""
        return slice(*self._numbers()) if self._indices is None else self._indices

    @property
    def indices(self) -> IndexArray:
        """The examples as an array of integers that cannot be written to."""
        if self._indices is not None:
            return self._indices
        start, stop, step = self._numbers()
        indices = numpy.arange(start, stop, step, dtype=numpy.int64)
        indices.flags.writeable = False
        return indices

    @property
    def is_list(self) -> bool:
        """Whether the examples are kept one by one rather than as a slice."""
        return self._indices is not None

    @property
    def is_empty(self) -> bool:
        """Whether there are no examples."""
        return self.num_examples == 0

    @property
    def num_examples(self) -> int:
        """The number of examples."""
        if self._indices is not None:
            return len(self._indices)
        return len(range(*self._numbers()))

    def _numbers(self) -> tuple[int, int, int]:
        return self.slice_to_numerical_args(self._slice, self.original_num_examples)

    def get_list_representation(self) -> list[int]:
        """Return the examples as a list of integers."""
        if self._indices is not None:
            as_list: list[int] = self._indices.tolist()
            return as_list
        return list(range(*self._numbers()))

    @staticmethod
    def slice_to_numerical_args(slice_: slice, num_examples: int) -> tuple[int, int, int]:
        """Return start, stop and step of a slice, with numbers in place of `None`."""
        return (0 if slice_.start is None else slice_.start,
                num_examples if slice_.stop is None else slice_.stop,
                1 if slice_.step is None else slice_.step)

    def positions(self, request: Any) -> Positions:
        """Translate a request within the subset into positions in the data set.

        Parameters
        ----------
        request : int, slice, list, tuple, range or ndarray
            Which examples of the subset, in any order and with duplicates.

        Returns
        -------
        int, slice or ndarray
            Of the same kind as the request, where that is possible; slices have three numbers.

        Raises
        ------
        ValueError
            The request is empty, or names examples that the subset does not have.
        """
        checked = checked_request(request, self.num_examples)
        if self._indices is not None:
            if isinstance(checked, int):
                return int(self._indices[checked])
            if isinstance(checked, slice):
                return self._indices[checked]
            return self._indices.take(checked)
        start, _, step = self._numbers()
        if isinstance(checked, int):
            return start + step * checked
        if isinstance(checked, slice):
            return slice(start + step * checked.start, start + step * (checked.stop - 1) + 1,
                         step * checked.step)
        if start == 0 and step == 1:
            return checked
        # Four bytes need not hold what is counted from the start of the data set.
        return checked.astype(numpy.int64) * step + start

    def __getitem__(self, request: Any) -> Any:
        """Translate a request into a list or slice; an array into an array."""
        if isinstance(request, slice) and request == slice(None):
            return self.list_or_slice
        positions = self.positions(request)
        if isinstance(positions, numpy.ndarray) and not isinstance(request, numpy.ndarray):
            return positions.tolist()
        return positions

    def __add__(self, other: Any) -> Subset:
        """Return the union of two subsets of one data set, in the order of the data set."""
        if not isinstance(other, Subset):
            return NotImplemented
        if self.original_num_examples != other.original_num_examples:
            raise ValueError('expected two subsets of the same data set; got one of '
                             f'{self.original_num_examples} examples and one of '
                             f'{other.original_num_examples}')
        if self.is_empty:
            return other
        if other.is_empty:
            return self
        if not self.is_list and not other.is_list:
            (start, stop, step), (start_, stop_, step_) = self._numbers(), other._numbers()
            if step == step_ == 1 and start <= stop_ and start_ <= stop:
                return self.in_order(slice(min(start, start_), max(stop, stop_), 1),
                                     self.original_num_examples)
        # A stable sort merges the two increasing halves in one pass.
        merged = compact(numpy.concatenate([self.indices, other.indices]),
                         self.original_num_examples)
        merged.sort(kind='stable')
        keep = numpy.ones(len(merged), dtype=bool)
        numpy.not_equal(merged[1:], merged[:-1], out=keep[1:])
        return self.in_order(merged if keep.all() else merged[keep], self.original_num_examples)

    def __repr__(self) -> str:
        if self._indices is not None:
            return (f'<Subset of {self.num_examples} examples out of '
                    f'{self.original_num_examples}>')
        return f'Subset({self._slice}, {self.original_num_examples})'

    @staticmethod
    def sorted_fancy_indexing(indexable: Any, request: Sequence[int] | IndexArray) -> Any:
        """Index in increasing order, each index once, then put the rows into the order asked for.

        Parameters
        ----------
        indexable : ndarray, h5py.Dataset or other
            Takes arrays of indices, perhaps only increasing ones.
        request : sequence of int
            Indices in any order, with duplicates.
        """
        unique, inverse = numpy.unique(as_index_array(request), return_inverse=True)
        return indexable[unique][inverse]

    def index_within_subset(self, indexable: Any, subset_request: Any,
                            sort_indices: bool = False) -> Any:
        """Index an object with a request within this subset.

        Parameters
        ----------
        indexable : ndarray, h5py.Dataset or sequence
            What to take the examples from.
        subset_request : int, slice, list, tuple, range or ndarray
            Which examples of the subset.
        sort_indices : bool, optional
            Whether to read in increasing order and put the result into the order asked for,
            which HDF5 data sets need.

        Returns
        -------
        object
            An array for arrays and HDF5 data sets, never a view of them; for other sequences a
            list where several examples were asked for.

        Raises
        ------
        ValueError
            The request is empty, or names examples that the subset does not have.
        TypeError
            An HDF5 data set was asked for rows in another order than its own, without
            `sort_indices`.
        """
        positions = self.positions(subset_request)
        is_array = isinstance(indexable, numpy.ndarray)
        if isinstance(positions, (int, slice)):
            result = indexable[positions]
            return result.copy() if is_array and isinstance(result, numpy.ndarray) else result
        if is_array:
            return indexable[positions]
        if not _is_hdf5(indexable):
            return iterable_fancy_indexing(indexable, positions.tolist())
        if is_increasing(positions):
            return indexable[positions]
        if not sort_indices and not is_increasing(positions, strictly=False):
            raise TypeError('expected indices in increasing order, for an HDF5 data set is read '
                            'in order; give sort_indices=True, or sort the request')
        return self.sorted_fancy_indexing(indexable, positions)


def _is_hdf5(indexable: Any) -> bool:
    # Whoever has an HDF5 data set has loaded h5py, which this module does not.
    h5py = sys.modules.get('h5py')
    return h5py is not None and isinstance(indexable, h5py.Dataset)


def _checked_definition(definition: slice, num_examples: int) -> slice:
    """Check the slice that a subset is defined by."""
    if definition == slice(None):
        return definition
    start, stop, step = Subset.slice_to_numerical_args(definition, num_examples)
    if start < 0 or stop < 0 or step != 1:
        raise ValueError('expected a slice whose start and stop are not negative and whose step '
                         f'is 1; got {definition}')
    if stop > num_examples or start >= num_examples or start > stop:
        raise ValueError(f'expected a slice within {num_examples} examples; got {definition}')
    return definition


def _counted_from_start(request: slice, num_examples: int) -> slice:
    """Return a slice whose negative bounds, which count from the end, are made positive."""
    start, stop = (bound + num_examples if isinstance(bound, int) and bound < 0 else bound
                   for bound in (request.start, request.stop))
    return slice(start, stop, request.step)
