"""A chain of streams as a tree, and where each of its streams is computed."""
from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeVar

from fuel.engine.plan import Plan

__all__ = ['HERE', 'Link', 'link_of', 'name_of', 'plan_of', 'told', 'walk']

HERE = 'here'

_T = TypeVar('_T')


@dataclass(eq=False)
class Link:
    """A stream of a chain.

    Attributes
    ----------
    stream : AbstractDataStream
        The stream.
    below : list of Link
        The streams that it wraps; none for a stream that reads a data set.
    place : {'here', 'workers', 'one worker'}
        Where it is computed.
    engine : AbstractDataStream or None
        The stream whose workers compute it, or would if it could be left to them.
    """

    stream: Any
    below: list[Link] = field(default_factory=list)
    place: str = HERE
    engine: Any = None


def link_of(stream: Any) -> Link:
    """Return a stream and all that it wraps.

    Raises
    ------
    TypeError
        It is no stream.
    """
    if not hasattr(stream, 'get_epoch_iterator'):
        raise TypeError(f'expected a data stream; got {stream!r}')
    return _linked(stream, HERE, None, ())


def plan_of(stream: Any) -> Plan | None:
    """Return where an engine runs what; `None` for other streams."""
    plan = getattr(stream, 'plan', None)
    return plan if isinstance(plan, Plan) else None


def _linked(stream: Any, place: str, engine: Any, around: tuple[Any, ...]) -> Link:
    plan = None if engine is None else engine.plan
    if plan is not None and place == HERE:
        # What a worker computes, it computes with all that is below.
        place = plan.where(stream)
    link = Link(stream, place=place, engine=engine)
    if plan_of(stream) is not None:
        engine, place = stream, HERE
    around = (*around, stream)
    link.below = [_linked(other, place, engine, around) for other in _wrapped(stream)
                  if not any(other is outer for outer in around)]
    return link


def _wrapped(stream: Any) -> list[Any]:
    """Return the streams that a stream wraps."""
    for name in ('data_stream', 'data_streams'):
        found = getattr(stream, name, None)
        if found is not None:
            return _streams_in(found)
    # Programs of old have transformers that keep several streams under names of their own.
    return [other for value in getattr(stream, '__dict__', {}).values()
            for other in _streams_in(value)]


def _streams_in(value: Any) -> list[Any]:
    if hasattr(type(value), 'get_epoch_iterator'):
        return [value]
    values: Iterable[Any] = (value.values() if isinstance(value, dict)
                             else value if isinstance(value, (list, tuple)) else ())
    return [entry for entry in values if hasattr(type(entry), 'get_epoch_iterator')]


def walk(link: Link) -> Iterable[Link]:
    """Yield a link and all below it, those that data come to first before the others."""
    for other in link.below:
        yield from walk(other)
    yield link


def told(ask: Callable[[], _T]) -> _T | None:
    """Return what a stream, or a class of a user, says of itself; `None` where it cannot."""
    try:
        return ask()
    except Exception:  # whatever is wrong with it, it is not for a description to say so
        return None


def name_of(stream: Any) -> str:
    """Return the name of a stream's class, with the function that it applies, if there is one."""
    name = type(stream).__name__
    for value in getattr(stream, '__dict__', {}).values():
        while isinstance(value, functools.partial):
            value = value.func
        if inspect.isroutine(value) and getattr(value, '__self__', None) is not stream:
            function = getattr(value, '__name__', '')
            return f'{name} ({function.strip("<>")})'
    return name
