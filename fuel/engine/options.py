"""What engines can be told, and how workers are started accordingly."""
from __future__ import annotations

import functools
import logging
import numbers
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from fuel.config_parser import byte_count
from fuel.engine.desk import Pool
from fuel.engine.limits import Limits
from fuel.engine.sessions import Engine
from fuel.engine.threads import ThreadPool

__all__ = ['Options', 'new_engine', 'process_pool', 'thread_pool']

log = logging.getLogger(__name__)

_HAND_OUT = ('copy', 'borrow')
# Address space, not memory: pages are taken as they are touched.
_ROOM = 8
# Where nothing else is asked for: tasks for each worker, and bytes that still lie in the caches of
# a processor when they are handed out.
_MOST_AHEAD = 12
_WINDOW = 24 << 20


@dataclass(frozen=True)
class Options:
    """What an engine was told; see `MultiProcessing`."""

    owner: str
    max_store: int
    num_workers: int
    prefetch_factor: int | None
    persistent_workers: bool
    timeout: float
    in_order: bool
    max_bytes: int
    hand_out: str
    whole_chain: bool | None
    restart_workers: bool

    def __post_init__(self) -> None:
        value: Any
        for name, value, least in (('max_store', self.max_store, 1),
                                   ('num_workers', self.num_workers, 0),
                                   ('prefetch_factor', self.prefetch_factor, 1)):
            if name == 'prefetch_factor' and value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < least:
                raise ValueError(f'{self.owner}: expected {name} to be an integer of at least '
                                 f'{least}; got {value!r}')
        value = self.timeout
        if (isinstance(value, bool) or not isinstance(value, (int, float))
                or not 0 <= value < float('inf')):
            raise ValueError(f'{self.owner}: expected timeout to be a number of seconds, 0 for no '
                             f'limit; got {self.timeout!r}')
        if self.hand_out not in _HAND_OUT:
            raise ValueError(f"{self.owner}: expected hand_out to be 'copy' or 'borrow'; got "
                             f'{self.hand_out!r}')
        cores = (len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity')
                 else os.cpu_count() or 1)
        if self.num_workers > max(16, 4 * cores):
            log.warning('%s: %d workers were asked for, and this process may use %d processors; '
                        'more workers than that seldom help', self.owner, self.num_workers, cores)
        if self.whole_chain and self.num_workers > 1:
            raise ValueError(f'{self.owner}: a whole chain runs in one worker (whole_chain=True); '
                             f'got num_workers={self.num_workers}')

    @classmethod
    def of(cls, owner: str, *, max_bytes: int | str, **values: Any) -> Options:
        """Return options, after checking them.

        Raises
        ------
        ValueError
            One of them is out of range. The message says which.
        """
        try:
            count = byte_count(max_bytes)
        except ValueError as error:
            raise ValueError(f'{owner}: max_bytes: {error}') from None
        return cls(owner=owner, max_bytes=count, **values)

    def limits(self) -> Limits:
        """Return how far workers may run ahead."""
        factor = self.prefetch_factor
        workers = max(1, self.num_workers)
        tasks = workers * (_MOST_AHEAD if factor is None else factor)
        return Limits(workers, min(tasks, self.max_store), self.max_store, self.max_bytes,
                      self.in_order, _WINDOW if factor is None else 0)


def new_engine(options: Options, make_pool: Callable[[Any, int], Pool]) -> Engine:
    """Return an engine that starts workers in a certain way."""
    return Engine(make_pool, options.limits(), timeout=float(options.timeout),
                  restart_workers=options.restart_workers,
                  persistent=options.persistent_workers, borrows=options.hand_out == 'borrow')


def thread_pool(runner: Any, num_workers: int) -> Pool:
    """Start threads."""
    return ThreadPool(runner, num_workers)


def process_pool(max_bytes: int, generations: Iterator[int],
                 **options: Any) -> Callable[[Any, int], Pool]:
    """Return what starts processes.

    Parameters
    ----------
    max_bytes : int
        How much data may be under way.
    generations : iterator of int
        Numbers the pools.
    **options
        Handed to `ProcessPool`.
    """
    return functools.partial(_processes, max_bytes, generations, options)


def _processes(max_bytes: int, generations: Iterator[int], options: dict[str, Any], runner: Any,
               num_workers: int) -> Pool:
    # Not before it is needed: what threads need is lighter.
    from fuel.engine.processes import ProcessPool
    return ProcessPool(runner, num_workers, region_bytes=_ROOM * max_bytes, describe=_parts,
                       generation=next(generations), **options)


def _parts(runner: Any) -> Any:
    return runner.parts()
