"""A function called for many items by worker processes, with its results in order.

The processes are those of `fuel.engine`: fresh interpreters that never run the user's script, and
that end with the program that started them, however that one ends.
"""
from __future__ import annotations

import functools
import itertools
import logging
import os
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from typing import Any, Generic, TypeVar

from fuel.engine.desk import Desk, Pool, Tally, Task
from fuel.engine.results import Result

__all__ = ['in_order', 'usable_cpus']

logger = logging.getLogger(__name__)

T = TypeVar('T')
R = TypeVar('R')

#: More processes than one program can read and write for are not started unless asked for.
_MOST_WORKERS = 8
#: Items and results of one task, and of all that are under way.
_TASK_BYTES = 1 << 20
_AHEAD_BYTES = 32 << 20
#: Tasks under way for each worker: one that it is at, one that waits for it, one that is done.
_TASKS = 3
#: Addresses of shared memory for each worker; memory is taken as it is written to.
_REGION_BYTES = 1 << 32
# In seconds; so long what has to be sent to workers may wait while results are used.
_ATTENTION = 0.002


def usable_cpus() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, 'sched_getaffinity'):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_order(function: Callable[[T], R], items: Iterable[T], *, workers: int | None = None,
             group: int = 32) -> Generator[R, None, None]:
    """Call a function for every item, in worker processes, and give its results in order.

    What comes out does not depend on the number of workers: the results of the items before the
    first one that fails, and then its error.

    Parameters
    ----------
    function : callable
        Takes an item. It is sent to the workers once, and best stands in a module.
    items : iterable
        Drawn here, only as far ahead as there is work for the workers. They are pickled.
    workers : int, optional
        How many processes; 0 to do everything in this one. By default as many as this process may
        use processors, at most 8, and none if that is only one.
    group : int, optional
        How many items go to a worker together, at most; large ones go in smaller groups. The
        first ``2 * group`` items are done in this process, so that a few start no others.

    Yields
    ------
    object
        What `function` returned. Arrays belong to the caller.

    Raises
    ------
    TypeError
        `function`, an item or a result cannot be pickled.
    WorkerLostError
        The same items ended three workers one after the other, by lack of memory for instance.
    Exception
        What `function` or `items` raises, as it is. Its cause has the traceback of the worker.

    Notes
    -----
    Items and results that are under way take about 32 MB at most, besides those of a group for
    each worker. The processes end when the last result has come, when the generator is closed or
    forgotten, and with this process, also if that is killed.
    """
    for name, value, least in (('workers', workers, 0), ('group', group, 1)):
        if value is not None and (isinstance(value, bool) or value < least):
            raise ValueError(f'in_order: expected {name} to be at least {least}; got {value!r}')
    if workers is None:
        cpus = usable_cpus()
        workers = 0 if cpus == 1 else min(cpus, _MOST_WORKERS)
    return _results(function, items, workers, group)


def _results(function: Callable[[T], R], items: Iterable[T], workers: int,
             group: int) -> Generator[R, None, None]:
    left = iter(items)
    largest = 1
    for item in itertools.islice(left, 2 * group) if workers else left:
        result = function(item)
        if workers:
            largest = max(largest, _size(item) + _size(result))
        yield result
        del item, result
    if not workers:
        return
    source = _Groups(left, max(1, min(group, _TASK_BYTES // largest)), 2 * group)
    first = source.next()
    if first is None and source.error is None:
        return
    desk = Desk(functools.partial(_pool, function, workers), workers, 0, True, Tally())
    try:
        if first is not None and _started(desk):
            yield from _by_workers(desk, workers, first, source)
        else:
            yield from map(function, first or ())
            yield from map(function, left if source.error is None else ())
        if source.error is not None:
            raise source.error
    finally:
        desk.close()


def _started(desk: Desk) -> bool:
    """Start the workers; return whether the system lets them be started."""
    try:
        return desk.pool is not None
    except (OSError, MemoryError) as error:
        logger.warning('no worker processes can be started (%s); one process does it all', error)
        return False


def _by_workers(desk: Desk, workers: int, first: list[Any],
                source: _Groups[Any]) -> Iterator[Any]:
    tasks: deque[_GroupTask] = deque()
    items: list[Any] | None = first
    largest = _TASK_BYTES
    while True:
        most = max(workers + 1, min(_TASKS * workers, _AHEAD_BYTES // largest))
        while len(tasks) < most and items is not None:
            task = _GroupTask(items, source.given - len(items))
            try:
                desk.submit(task)
            except Exception as error:
                source.fail(TypeError(f'{task.what} cannot be sent to a worker: {error}. Give '
                                      'paths or bytes in place of what cannot be pickled'))
                items = None
                break
            tasks.append(task)
            items = source.next()
        desk.flush()
        if not tasks:
            return
        task = tasks.popleft()
        if not desk.wait_for(task):
            raise RuntimeError(f'the workers were ended while they were at {task.what}')
        if task.failure is not None:
            raise task.failure
        finished: Any = task.finished
        parcel = finished.parcel
        largest = max(largest, task.nbytes + parcel.nbytes)
        # What the caller keeps is not to take the room of what is under way.
        keeps = desk.leased > _AHEAD_BYTES
        results = deque(parcel.copied() if keeps else parcel.steps())
        failure = finished.error
        del task, finished, parcel
        attention = time.monotonic() + _ATTENTION
        while results:
            yield results.popleft()[0]
            if (now := time.monotonic()) > attention:
                desk.look()
                attention = now + _ATTENTION
        if failure is not None:
            # Whoever keeps the error keeps what is named here; that is not to be shared memory.
            tasks.clear()
            raise failure


def _pool(function: Callable[[Any], Any], workers: int) -> Pool:
    from fuel.engine.processes import ProcessPool
    return ProcessPool(_GroupRunner(function), workers, region_bytes=_REGION_BYTES,
                       describe=_parts)


class _GroupRunner:
    """What a worker runs.

    Parameters
    ----------
    function : callable
        Called for each item of a group.
    """

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function

    def run(self, items: list[Any]) -> Result:
        """Return the results of the items before the first one that fails, and its error."""
        results: list[Any] = []
        for item in items:
            try:
                # An item of a tuple, as the engine keeps such arrays in shared memory.
                results.append((self.function(item),))
            except BaseException as error:
                return Result(results, error)
        return Result(results)


def _parts(runner: _GroupRunner) -> list[tuple[str, Any]]:
    return [(getattr(runner.function, '__qualname__', 'the function'), runner.function)]


class _GroupTask(Task):
    """Items for a worker.

    Parameters
    ----------
    items : list
        The items.
    start : int
        The number of the first one, from 0.

    Attributes
    ----------
    nbytes : int
        About how many bytes they have.
    """

    __slots__ = ('nbytes', 'start')

    def __init__(self, items: list[Any], start: int) -> None:
        super().__init__(items)
        self.start = start
        self.nbytes = sum(map(_size, items))

    @property
    def what(self) -> str:
        """The items in words."""
        last = self.start + len(self.body) - 1
        return f'item {last}' if last == self.start else f'items {self.start} to {last}'


class _Groups(Generic[T]):
    """Items in groups; their own error is kept until all before it are done.

    Parameters
    ----------
    items : iterator
        Where they come from.
    most : int
        How many make a group.
    given : int
        How many were drawn before.

    Attributes
    ----------
    given : int
        How many were drawn so far.
    error : Exception or None
        Why no more come.
    """

    def __init__(self, items: Iterator[T], most: int, given: int) -> None:
        self._items = items
        self._most = most
        self.given = given
        self.error: Exception | None = None

    def next(self) -> list[T] | None:
        """Return the next group; `None` at the end."""
        group: list[T] = []
        nbytes = 0
        if self.error is None:
            try:
                for item in itertools.islice(self._items, self._most):
                    group.append(item)
                    nbytes += _size(item)
                    if nbytes >= _TASK_BYTES:
                        break
            except Exception as error:
                self.error = error
        self.given += len(group)
        return group or None

    def fail(self, error: Exception) -> None:
        """Take no more, for this reason."""
        self.error = error


def _size(value: object) -> int:
    """Return about how many bytes something has."""
    if isinstance(value, (bytes, bytearray, str)):
        return len(value)
    if isinstance(value, (tuple, list)):
        return sum(map(_size, value))
    return int(getattr(value, 'nbytes', 100))
