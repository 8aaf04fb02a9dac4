"""States of epochs whose data were not handed out in order."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fuel._types import State
from fuel.engine.ahead import AheadRequests
from fuel.exceptions import StateError
from fuel.state import IN_ANY_ORDER, VERSION

__all__ = ['given_of', 'ordered_part', 'state_in_any_order']


def ordered_part(inner: State, given: Iterable[int]) -> State:
    """Return a state that tells of steps that were handed out before their time.

    Parameters
    ----------
    inner : dict
        The state of the wrapped stream, before the first step that is missing.
    given : iterable of int
        The later steps that were handed out; where there are none, the state is `inner`.
    """
    numbers = sorted(given)
    if not numbers:
        return inner
    return {'version': VERSION, 'class': IN_ANY_ORDER, 'given': numbers, 'data_stream': inner}


def given_of(state: Any) -> tuple[tuple[int, ...], Any]:
    """Return the two parts of what `ordered_part` returned.

    Raises
    ------
    StateError
        It was written by a later version of the library, or is not whole.
    """
    if not isinstance(state, dict) or state.get('class') != IN_ANY_ORDER:
        return (), state
    if state.get('version') != VERSION or not {'given', 'data_stream'} <= state.keys():
        raise StateError(f'expected the state of an engine, of version {VERSION}; got {state!r}')
    return tuple(state['given']), state['data_stream']


def state_in_any_order(child: Any, stream: Any = None) -> State:
    """Return the state of an epoch iterator, also where its data are handed out in any order.

    Parameters
    ----------
    child : DataIterator
        The iterator.
    stream : AbstractDataStream, optional
        Asked for its state in place of the iterator.
    """
    requests = getattr(getattr(child, 'cursor', None), 'requests', None)
    given = requests.beyond if isinstance(requests, AheadRequests) else frozenset()
    if given and isinstance(requests, AheadRequests):
        # Told as if the order were kept.
        requests.beyond = frozenset()
    try:
        inner = child.state_dict() if stream is None else stream.state_dict()
    finally:
        if given and isinstance(requests, AheadRequests):
            requests.beyond = given
    return ordered_part(inner, given)
