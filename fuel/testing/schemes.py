"""Checks that an iteration scheme keeps the contract of the library."""
from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from typing import Any

from fuel.testing.comparing import assert_same, ensure

__all__ = ['check_scheme']


def check_scheme(make_scheme: Callable[[], Any], epochs: int = 3) -> None:
    """Check everything that holds for every scheme whose epochs end.

    Two schemes made alike give the same requests; lengths are right where they are told; every
    stop in an epoch, by pickling or by state, leaves exactly the requests that were left.

    Parameters
    ----------
    make_scheme : callable
        Returns a new scheme, always in the same form.
    epochs : int, optional
        How many epochs are gone through.

    Raises
    ------
    AssertionError
        Something does not hold; the message says what.
    """
    scheme = make_scheme()
    ahead = [list(scheme.get_request_iterator()) for _ in range(epochs + 1)]
    ensure(ahead[0], 'the first epoch has no requests')
    ensure(isinstance(scheme.requests_examples, bool), 'requests_examples should be a bool')
    for requests in ahead:
        ensure(scheme.num_requests in (None, len(requests)),
               f'the scheme tells {scheme.num_requests} requests; there are {len(requests)}')
    again = make_scheme()
    for epoch in range(epochs):
        _check_epoch(make_scheme, again, ahead, epoch)


def _check_epoch(make_scheme: Callable[[], Any], scheme: Any, ahead: list[list[Any]],
                 epoch: int) -> None:
    requests = scheme.start_epoch()
    for step in range(len(ahead[epoch]) + 1):
        where = f'epoch {epoch}, request {step}'
        copy, rest = pickle.loads(pickle.dumps((scheme, requests)))
        assert_same(list(rest), ahead[epoch][step:], f'{where}, pickled')
        assert_same(list(copy.get_request_iterator()), ahead[epoch + 1],
                    f'{where}, pickled, next epoch')
        state = json.loads(json.dumps(requests.start_state()))
        fresh = make_scheme()
        rest = fresh.resume_epoch(state, step)
        ensure(rest.position == step, f'{where}: resumed at {rest.position}')
        assert_same(list(rest), ahead[epoch][step:], f'{where}, from its state')
        assert_same(list(fresh.get_request_iterator()), ahead[epoch + 1],
                    f'{where}, from its state, next epoch')
        if step < len(ahead[epoch]):
            assert_same(next(requests), ahead[epoch][step], where)
