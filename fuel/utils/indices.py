"""Requests for examples, checked and turned into integers, slices or integer arrays."""
from __future__ import annotations

import operator
from typing import Any, NoReturn, TypeAlias

import numpy
import numpy.typing as npt

from fuel._kernels import first_outside_range

__all__ = ['IndexArray', 'Positions', 'as_index_array', 'check_range', 'checked_request',
           'compact', 'is_increasing']

IndexArray: TypeAlias = npt.NDArray[Any]             # integers
Positions: TypeAlias = int | slice | IndexArray      # what `checked_request` returns

_INT32, _INT64 = numpy.dtype(numpy.int32), numpy.dtype(numpy.int64)
# Up to this number of examples an index fits into four bytes.
_INT32_EXAMPLES = 2 ** 31


def compact(indices: IndexArray, num_examples: int) -> IndexArray:
    """Return indices as a fresh array with 4 bytes an index where they fit, 8 otherwise."""
    return indices.astype(_INT32 if num_examples <= _INT32_EXAMPLES else _INT64)


def is_increasing(indices: IndexArray, strictly: bool = True) -> bool:
    """Return whether every index is larger (or, not `strictly`, no smaller) than the last."""
    if strictly:
        return bool((indices[1:] > indices[:-1]).all())
    return bool((indices[1:] >= indices[:-1]).all())


def as_index_array(request: Any, num_examples: int | None = None) -> IndexArray:
    """Turn a list, tuple, range or array of integers into an array; a mask into its indices.

    Parameters
    ----------
    request : list, tuple, range or ndarray
        Integers; or booleans, which choose the examples where they are true.
    num_examples : int, optional
        How many booleans a mask must have.

    Returns
    -------
    ndarray of int32 or int64, shape (n,)
        The request itself where it is such an array already.

    Raises
    ------
    ValueError
        It is something else.
    """
    if type(request) is not numpy.ndarray:
        if isinstance(request, range):
            return numpy.arange(request.start, request.stop, request.step, dtype=_INT64)
        if not isinstance(request, (list, tuple, numpy.ndarray)):
            _refuse(request)
        if not len(request):
            return numpy.empty(0, dtype=_INT64)
        try:
            request = numpy.asarray(request)
        except (ValueError, OverflowError):
            _refuse(request)
    array: IndexArray = request
    if array.dtype in (_INT64, _INT32) and array.ndim == 1:
        return array
    if array.ndim != 1 or array.dtype.kind not in 'iub':
        if array.size == 0 and array.ndim == 1:
            return numpy.empty(0, dtype=_INT64)
        _refuse(request)
    if array.dtype.kind == 'b':
        if num_examples is not None and len(array) != num_examples:
            raise ValueError(f'expected a mask with one boolean for each of the {num_examples} '
                             f'examples; got {len(array)}')
        return numpy.flatnonzero(array)
    if array.dtype.kind == 'u' and array.size and int(array.max()) > numpy.iinfo(_INT64).max:
        _refuse(request)
    return array.astype(_INT64)


def _refuse(request: Any) -> NoReturn:
    if request is None:
        raise ValueError('expected a request that tells which examples to give; got None. Streams '
                         'make requests if they are given an iteration scheme')
    kind = type(request).__name__
    if isinstance(request, numpy.ndarray):
        kind = f'an array of {request.dtype} with {request.ndim} axes'
    text = repr(request)
    raise ValueError('expected an index, a slice, or a list, tuple or one-dimensional array of '
                     'indices, or a mask with a boolean for each example; got '
                     f'{kind}: {text if len(text) < 200 else text[:200] + " ..."}')


def check_range(indices: IndexArray, num_examples: int) -> None:
    """Check that all indices, an array of int32 or int64, name examples.

    Raises
    ------
    ValueError
        One is negative or past the end. The message names the first of them.
    """
    wrong = first_outside_range(indices, num_examples)
    if wrong >= 0:
        _refuse_index(int(indices[wrong]), num_examples)


def _refuse_index(index: int, num_examples: int) -> NoReturn:
    problem = 'is negative' if index < 0 else 'is past the end'
    raise ValueError(f'index {index} {problem}: expected indices from 0 to {num_examples - 1}, '
                     f'for there are {num_examples} examples')


def checked_request(request: Any, num_examples: int) -> Positions:
    """Check a request against the number of examples.

    Parameters
    ----------
    request : int, slice, list, tuple, range or ndarray
        Which examples. Indices may come in any order and more than once. An array of booleans
        must have one for each example.
    num_examples : int
        How many examples there are.

    Returns
    -------
    int, slice or ndarray
        An integer; a slice with three integers; or an array of int32 or int64.

    Raises
    ------
    ValueError
        An index is negative or past the end, nothing is asked for, or the request is of another
        kind.
    """
    if isinstance(request, slice):
        return _checked_slice(request, num_examples)
    if type(request) is not numpy.ndarray or not request.ndim:
        if isinstance(request, (bool, numpy.bool_)):
            _refuse(request)
        try:
            index = operator.index(request)
        except TypeError:
            pass
        else:
            if not 0 <= index < num_examples:
                _refuse_index(index, num_examples)
            return index
    indices = as_index_array(request, num_examples)
    if not indices.size:
        raise ValueError('expected at least one index; got an empty request, which would give '
                         'an empty batch')
    check_range(indices, num_examples)
    return indices


def _checked_slice(request: slice, num_examples: int) -> slice:
    """Return a slice with three numbers, after checking it."""
    try:
        start = 0 if request.start is None else operator.index(request.start)
        stop = num_examples if request.stop is None else operator.index(request.stop)
        step = 1 if request.step is None else operator.index(request.step)
    except TypeError:
        raise ValueError(f'expected a slice of integers; got {request}') from None
    if start < 0 or stop < 0 or step < 1:
        raise ValueError('expected a slice whose start and stop are not negative and whose step '
                         f'is at least 1; got {request}')
    if stop > num_examples:
        raise ValueError(f'expected a slice that stops at {num_examples}, the number of '
                         f'examples, or before; got {request}')
    if start >= stop:
        raise ValueError(f'expected a slice that takes at least one of {num_examples} examples; '
                         f'got {request}')
    return slice(start, stop, step)
