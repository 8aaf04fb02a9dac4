"""The functions that the data of a step go through, one after the other."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fuel._types import Batch

__all__ = ['none_error']


def none_error(changes: tuple[Callable[[Batch], Batch], ...],
               failed: Callable[[Batch], Batch] | None, epoch: int, step: int) -> ValueError | None:
    """Return an error that names the function that returned `None`, where one did.

    Parameters
    ----------
    changes : tuple of callable
        The functions that the data of the step went through.
    failed : callable or None
        The one that raised, after it had been given `None`; `None` if the last one returned it.
    epoch, step : int
        Where the step stands, from 0.
    """
    place = len(changes) if failed is None else changes.index(failed)
    if not place:
        return None
    function: Any = changes[place - 1]
    owner = getattr(function, '__self__', None)
    name = getattr(function, '__name__', repr(function))
    return ValueError(
        f'{name if owner is None else f"{type(owner).__name__}.{name}"} returned None for step '
        f'{step} of epoch {epoch}; it should return a tuple with one item for every source. Has it '
        'no return statement?')
