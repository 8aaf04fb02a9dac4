"""How worker processes are started, and on which cores they run: what users may ask for."""
from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from multiprocessing.context import BaseContext

__all__ = ['context_of', 'cores_of']


def context_of(context: Any) -> BaseContext | None:
    """Check a way to start processes.

    Parameters
    ----------
    context : str or multiprocessing context or None
        ``'fork'``, ``'spawn'``, ``'forkserver'``, or an object as from
        `multiprocessing.get_context`.

    Returns
    -------
    BaseContext or None
        `None` for `None`, which stands for our own way.

    Raises
    ------
    ValueError
        There is no such way.
    """
    if context is None:
        return None
    import multiprocessing
    from multiprocessing.context import BaseContext
    there = multiprocessing.get_all_start_methods()
    if isinstance(context, str) and context in there:
        return multiprocessing.get_context(context)
    if isinstance(context, BaseContext):
        return context
    raise ValueError(f'expected multiprocessing_context to be {", ".join(map(repr, there))}, a '
                     f'context of multiprocessing, or None; got {context!r}')


def cores_of(affinity: Any, num_workers: int) -> list[list[int] | None]:
    """Return the cores of each worker.

    Parameters
    ----------
    affinity : iterable of int or of iterables of int, or None
        The core or the cores of each worker, in turn; by default each has all.
    num_workers : int
        How many workers there are.

    Returns
    -------
    list of lists of int, or of None
        One entry for each worker.

    Raises
    ------
    ValueError
        Something else was given, or cores that this process may not use.
    """
    if affinity is None:
        return [None] * num_workers
    if not hasattr(os, 'sched_getaffinity'):
        raise ValueError('this system does not let processes choose their cores: leave out '
                         'cpu_affinity')
    there = os.sched_getaffinity(0)
    groups = _groups(affinity)
    if not groups or not all(groups) or not there.issuperset(
            core for group in groups for core in group):
        raise ValueError('expected cpu_affinity to name cores that this process may use, which '
                         f'are {sorted(there)}, one or several for each worker in turn; got '
                         f'{affinity!r}')
    return [groups[worker % len(groups)] for worker in range(num_workers)]


def _groups(affinity: Any) -> list[list[int]]:
    """Return groups of cores; none if it is something else that was given."""
    try:
        return [sorted({int(core) for core in entry}) if isinstance(entry, Iterable)
                else [int(entry)] for entry in affinity]
    except (TypeError, ValueError):
        return []
