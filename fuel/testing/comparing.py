"""Comparison of batches, to the bit."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy

__all__ = ['assert_same', 'copied', 'drawn', 'ensure']


def ensure(holds: object, message: str) -> None:
    """Raise an `AssertionError` with a message, unless something holds."""
    if not holds:
        raise AssertionError(message)


def assert_same(actual: Any, expected: Any, where: str = 'data') -> None:
    """Check that two pieces of data are the same in form, type and value.

    Parameters
    ----------
    actual, expected : object
        Arrays are compared in dtype, shape and every bit of their values (nan equals nan);
        lists, tuples and mappings entry by entry; anything else by ``==`` and type.
    where : str, optional
        Named in the message.

    Raises
    ------
    AssertionError
        They differ; the message says where.
    """
    ensure(type(actual) is type(expected),
           f'{where}: expected a {type(expected).__name__}; got a {type(actual).__name__}')
    if isinstance(expected, numpy.ndarray):
        ensure(actual.dtype == expected.dtype and actual.shape == expected.shape,
               f'{where}: expected {expected.dtype} of shape {expected.shape}; got '
               f'{actual.dtype} of shape {actual.shape}')
        if expected.dtype == object:
            for place in numpy.ndindex(expected.shape):
                assert_same(actual[place], expected[place], f'{where}[{place}]')
        elif actual.tobytes() != expected.tobytes():
            # To print arrays takes far longer than to compare them.
            raise AssertionError(f'{where}: values differ: {actual!r} and {expected!r}')
    elif isinstance(expected, Mapping):
        ensure(list(actual) == list(expected),
               f'{where}: expected the keys {list(expected)}; got {list(actual)}')
        for key in expected:
            assert_same(actual[key], expected[key], f'{where}[{key!r}]')
    elif isinstance(expected, Sequence) and not isinstance(expected, (str, bytes)):
        ensure(len(actual) == len(expected),
               f'{where}: expected {len(expected)} entries; got {len(actual)}')
        for number, (one, other) in enumerate(zip(actual, expected, strict=True)):
            assert_same(one, other, f'{where}[{number}]')
    else:
        # nan is the one value that differs from itself.
        ensure(actual == expected or (actual != actual and expected != expected),
               f'{where}: expected {expected!r}; got {actual!r}')


def copied(data: Any) -> Any:
    """Return data of which nothing is shared with the original: arrays, lists, tuples, dicts."""
    if isinstance(data, numpy.ndarray):
        result = data.copy()
        if data.dtype == object:
            for place in numpy.ndindex(data.shape):
                result[place] = copied(data[place])
        return result
    if isinstance(data, Mapping):
        return {key: copied(entry) for key, entry in data.items()}
    if type(data) in (list, tuple):
        return type(data)(copied(entry) for entry in data)
    return data


def drawn(stream: Any, epochs: int = 1, limit: int = 10_000) -> list[list[Any]]:
    """Return all that a stream gives in its next epochs.

    Parameters
    ----------
    stream : AbstractDataStream
        Its epochs must end.
    epochs : int, optional
        How many.
    limit : int, optional
        More steps than this in an epoch are an error.
    """
    result = []
    for _ in range(epochs):
        epoch = []
        for data in stream.get_epoch_iterator():
            epoch.append(copied(data))
            ensure(len(epoch) <= limit, f'an epoch goes on after {limit} steps')
        result.append(epoch)
    return result
