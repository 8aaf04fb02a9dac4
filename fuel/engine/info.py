"""What code that runs in a worker can learn about where it runs."""
from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

__all__ = ['WorkerInfo', 'announce', 'announce_to_thread', 'get_worker_info', 'worker_seed']


@dataclass(frozen=True, slots=True)
class WorkerInfo:
    """Which worker this is.

    Attributes
    ----------
    id : int
        Its number, from 0.
    num_workers : int
        How many there are.
    seed : int
        What Python's and numpy's global random state were seeded with in it; different for each
        worker, and the same each time for the same `default_seed`.
    dataset : Dataset or None
        The worker's own copy of the data set.
    stream : AbstractDataStream or None
        The worker's own copy of what it runs.
    """

    id: int
    num_workers: int
    seed: int
    dataset: Any = None
    stream: Any = None


class _Here(threading.local):
    """What holds for a thread that is a worker itself."""

    info: WorkerInfo | None = None


class _Announced:
    """What holds in this process, and in threads of it that are workers."""

    def __init__(self) -> None:
        self.process: WorkerInfo | None = None
        self.thread = _Here()


_announced = _Announced()


def get_worker_info() -> WorkerInfo | None:
    """Return which worker the present code runs in.

    Returns
    -------
    WorkerInfo or None
        `None` outside of workers.
    """
    return _announced.thread.info or _announced.process


def announce(info: WorkerInfo | None) -> None:
    """Say that this process, with all its threads, is a worker."""
    _announced.process = info


def announce_to_thread(info: WorkerInfo | None) -> None:
    """Say that the present thread is a worker."""
    _announced.thread.info = info


def worker_seed(default_seed: int, worker: int, generation: int = 0) -> int:
    """Return the seed of the global random states of a worker.

    Parameters
    ----------
    default_seed : int
        The setting of that name.
    worker : int
        Which worker.
    generation : int, optional
        How many workers were in its place before. By default 0.

    Returns
    -------
    int
        From 0 to 2**32 - 1, which numpy and all others take.
    """
    from numpy.random import SeedSequence
    return int(SeedSequence(default_seed, spawn_key=(generation, worker)).generate_state(1)[0])
