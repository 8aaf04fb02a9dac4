"""The form of saved states: plain data with a version and the name of its owner."""
from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from fuel._types import JSON, State
from fuel.exceptions import StateError

__all__ = ['IN_ANY_ORDER', 'VERSION', 'checked', 'finished', 'new_state']

VERSION = 1
#: Stands for the class in states of engines that give data in any order.
IN_ANY_ORDER = 'InAnyOrder'


def new_state(owner: object, **entries: JSON) -> State:
    """Return a state with its version and the class of its owner, and the given entries."""
    return {'version': VERSION, 'class': type(owner).__name__, **entries}


def checked(owner: object, state: Any, entries: Iterable[str] = ()) -> State:
    """Return a copy of a state after checking that it can be loaded into an object.

    Parameters
    ----------
    owner : object
        What the state is for.
    state : dict
        What `new_state` returned for an object of the same class, perhaps by way of JSON.
    entries : iterable of str, optional
        What must be in it beside its version and class.

    Raises
    ------
    StateError
        It is no state, was written by a later version of the library, or belongs to another
        class. A ``ValueError``.
    """
    name = type(owner).__name__
    if not isinstance(state, dict) or not {'version', 'class'} <= state.keys():
        raise StateError(f'expected the dict that state_dict() of a {name} returns; got {state!r}')
    if not isinstance(state['version'], int) or not 1 <= state['version'] <= VERSION:
        raise StateError(f'expected a state of version {VERSION} or earlier for {name}; got '
                         f'version {state["version"]!r}. A later release of the library wrote it?')
    if state['class'] == IN_ANY_ORDER != name:
        raise StateError(f'expected the state of a {name}; got one that was saved in the middle of '
                         'an epoch whose data were handed out in any order (in_order=False); load '
                         'it into a MultiProcessing or MultiThreading around the stream')
    if state['class'] != name:
        raise StateError(f'expected the state of a {name}; got that of a {state["class"]}. Build '
                         'the same chain of streams as the one that was saved.')
    missing = [entry for entry in entries if entry not in state]
    if missing:
        raise StateError(f'the state of a {name} lacks {", ".join(map(repr, missing))}; expected '
                         f'the dict that state_dict() returns; got {state!r}')
    return copy.deepcopy(state)


def finished(state: State) -> bool:
    """Tell whether a stream was at the end of an epoch, or before its first, when it was saved."""
    while 'done' not in state:
        state = state['data_stream']
    return bool(state['done'])
