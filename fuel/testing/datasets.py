"""Checks that a data set keeps the contract of the library."""
from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable
from typing import Any

import numpy

from fuel.testing.comparing import assert_same, copied, ensure

__all__ = ['check_dataset', 'check_indexed_dataset']


def check_dataset(make_dataset: Callable[[], Any], requests: Iterable[Any]) -> None:
    """Check everything that holds for every data set.

    Parameters
    ----------
    make_dataset : callable
        Returns a new data set, always in the same form.
    requests : iterable
        Requests to answer in order, in a fresh state; `None` for data sets that take none.

    Raises
    ------
    AssertionError
        Something does not hold; the message says what.
    """
    requests = list(requests)
    dataset = make_dataset()
    for name in ('sources', 'provides_sources'):
        names = getattr(dataset, name)
        ensure(type(names) is tuple and names, f'{name} should be a tuple of names; got {names!r}')
    expected = _answers(dataset, dataset.open(), requests)
    for data in expected:
        ensure(type(data) is tuple and len(data) == len(dataset.sources),
               f'expected a tuple of {len(dataset.sources)} items; got {data!r}')
    assert_same(_answers(make_dataset(), None, requests, opens=True), expected, 'made alike')
    for step in range(len(requests) + 1):
        state = dataset.open()
        _answers(dataset, state, requests[:step])
        plain = dataset.state_to_plain(state, step)
        other, moved = pickle.loads(pickle.dumps((dataset, state)))
        assert_same(_answers(other, moved, requests[step:]), expected[step:],
                    f'pickled after {step} requests')
        other.close(moved)
        fresh = make_dataset()
        restored = fresh.state_from_plain(plain, iter(requests[:step]))
        assert_same(_answers(fresh, restored, requests[step:]), expected[step:],
                    f'from its plain state after {step} requests')
        fresh.close(restored)
        dataset.close(state)
        dataset.close(state)
    state = dataset.reset(dataset.open())
    assert_same(_answers(dataset, state, requests), expected, 'after reset')
    dataset.close(state)


def check_indexed_dataset(make_dataset: Callable[[], Any]) -> None:
    """Check what holds for every data set whose examples are asked for by their place.

    The same examples come out for every way to ask for them, in any order and repeated; what is
    out of range is refused; what was given out can be written into.

    Parameters
    ----------
    make_dataset : callable
        Returns a new data set of at least three examples, always in the same form.

    Raises
    ------
    AssertionError
        Something does not hold; the message says what.
    """
    dataset = make_dataset()
    count = int(dataset.num_examples)
    ensure(count >= 3, f'the check needs three examples; got {count}')
    state = dataset.open()
    singles = [copied(dataset.get_data(state, place)) for place in range(count)]
    mask = numpy.arange(count) % 2 == 0
    ways = [list(range(count)), list(range(count))[::-1], [1, 1, 0], (2, 0),
            numpy.array([2, 1]), numpy.array([0], dtype=numpy.int32), slice(None),
            slice(1, count), slice(0, count, 2), mask]
    for request in ways:
        places = numpy.arange(count)[list(request) if type(request) is tuple else request]
        for source, data in enumerate(dataset.get_data(state, request)):
            ensure(len(data) == len(places),
                   f'{request!r} gives {len(data)} examples and not {len(places)}')
            for entry, place in zip(data, places, strict=True):
                assert_same(_plain(entry), _plain(singles[place][source]),
                            f'{dataset.sources[source]!r}, example {place} of {request!r}')
    for request in (count, -1, [0, count], [-1], numpy.array([count]), slice(0, count + 1),
                    numpy.ones(count + 1, dtype=bool)):
        try:
            dataset.get_data(state, request)
        except ValueError:
            continue
        except Exception as error:
            raise AssertionError(f'{request!r} is out of range, and raises a '
                                 f'{type(error).__name__} in place of a ValueError') from error
        raise AssertionError(f'{request!r} is out of range for {count} examples, and accepted')
    for data in dataset.get_data(state, slice(None)):
        if isinstance(data, numpy.ndarray) and data.dtype != object:
            data[...] = numpy.zeros((), data.dtype)
    assert_same([copied(dataset.get_data(state, place)) for place in range(count)], singles,
                'after what was given out was written into')
    dataset.close(state)


def _plain(entry: Any) -> Any:
    """Return numbers as arrays, so that a scalar and a row of one array compare."""
    return numpy.asarray(entry) if isinstance(entry, numpy.generic) else entry


def _answers(dataset: Any, state: Any, requests: list[Any], opens: bool = False) -> list[Any]:
    state = dataset.open() if opens else state
    result = []
    for request in requests:
        result.append(copied(dataset.get_data(state, request)))
    if opens:
        dataset.close(state)
    return result
