"""The place where an engine takes over from an epoch iterator that works in this process.

An engine runs the lower part of a chain elsewhere. What is above it draws from an epoch iterator
as ever; only that the one over the outermost stream of the lower part is the engine's. It is put
there while the engine starts an epoch of the chain, or takes a step of one.
"""
from __future__ import annotations

import threading
from types import TracebackType
from typing import Any, Protocol

__all__ = ['InForce', 'Spreader', 'in_force', 'spread']


class Spreader(Protocol):
    """What an engine puts in force."""

    @property
    def top(self) -> Any:
        """The outermost of the streams whose steps are computed elsewhere."""

    def spread(self, iterator: Any) -> Any:
        """Return an epoch iterator that has the work of the given one done elsewhere."""


class _InForce(threading.local):
    spreader: Spreader | None = None


in_force = _InForce()


class InForce:
    """Puts an engine in force in this thread, for the length of a ``with`` statement."""

    __slots__ = ('_outer', '_spreader')

    def __init__(self, spreader: Spreader | None) -> None:
        self._spreader = spreader

    def __enter__(self) -> None:
        self._outer = in_force.spreader
        in_force.spreader = self._spreader

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        in_force.spreader = self._outer


def spread(stream: Any, iterator: Any) -> Any:
    """Return the epoch iterator of a stream, or that of an engine in its place.

    Parameters
    ----------
    stream : AbstractDataStream
        The stream that starts an epoch.
    iterator : DataIterator
        The iterator that it has made.
    """
    spreader = in_force.spreader
    if spreader is None or spreader.top is not stream:
        return iterator
    return spreader.spread(iterator)
