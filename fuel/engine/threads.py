"""Workers that are threads of this process."""
from __future__ import annotations

import sys
import threading
import time
import traceback
from collections import deque
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any

from fuel.config_parser import config
from fuel.engine.info import WorkerInfo, announce_to_thread, worker_seed
from fuel.engine.results import Finished, Lost

__all__ = ['LocalParcel', 'ThreadPool']

# A thread that does not end by itself is left alone after so many seconds.
_GRACE = 1.0


class LocalParcel:
    """Data that are in this process already.

    Parameters
    ----------
    steps : list
        The data of each step.
    """

    __slots__ = ('_steps', 'nbytes')

    def __init__(self, steps: list[Any]) -> None:
        self._steps = steps
        self.nbytes = sum([getattr(item, 'nbytes', 0) for step in steps
                           for item in (step if isinstance(step, tuple) else (step,))])

    def steps(self) -> list[Any]:
        """Return the data of each step."""
        return self._steps

    copied = steps

    def release(self) -> None:
        """Let go of the data."""


class ThreadPool:
    """A number of threads that run tasks.

    Parameters
    ----------
    runner : object
        Its method `run` does the work; all threads share it.
    num_workers : int
        How many threads.
    """

    #: No memory is lent.
    leased = 0
    keeps_events = True

    def __init__(self, runner: Any, num_workers: int) -> None:
        # A thread makes further data before those of its last task are used.
        runner.keeps_apart = True
        self._runner = runner
        self._finished: deque[Finished] = deque()
        # Wakes whoever waits. That something is there is told by the deque alone, since Ctrl-C may
        # come between any two instructions.
        self._arrived: SimpleQueue[None] = SimpleQueue()
        self._queues: list[SimpleQueue[tuple[int, Any] | None]] = [
            SimpleQueue() for _ in range(num_workers)]
        self._threads: list[threading.Thread] = []
        self._closing = threading.Event()
        for number, queue in enumerate(self._queues):
            # Daemons, or one that is stuck would keep the program from ending.
            thread = threading.Thread(
                target=_work, args=(runner, number, queue, self._finished, self._arrived,
                                    self._closing, num_workers),
                name=f'fuel worker {number}', daemon=True)
            thread.start()
            self._threads.append(thread)

    def submit(self, worker: int, number: int, body: Any) -> None:
        """Give a task to a thread."""
        self._queues[worker].put((number, body))

    queue = submit

    def flush(self) -> None:
        """Do nothing: threads have at once what they are given."""

    def wait(self, timeout: float | None) -> list[Finished | Lost]:
        """Return what has been done, waiting for it at most so many seconds.

        Returns
        -------
        list of Finished
            The same again, until `handled` is called.
        """
        if not self._finished:
            with suppress(Empty):
                if timeout == 0:
                    self._arrived.get_nowait()
                else:
                    self._arrived.get(timeout=timeout)
        return list(self._finished)

    def handled(self, count: int) -> None:
        """Let go of the first of what `wait` returned."""
        for _ in range(count):
            self._finished.popleft()

    def stack_of(self, worker: int) -> str:
        """Return where a thread is in its program."""
        frame = sys._current_frames().get(self._threads[worker].ident or 0)
        return 'it has ended' if frame is None else ''.join(traceback.format_stack(frame))

    def replace(self, worker: int) -> None:
        """Do nothing: a thread does not end by itself."""

    def close(self) -> None:
        """End the threads, each after the task that it is at."""
        self._closing.set()
        for queue in self._queues:
            queue.put(None)
        deadline = time.monotonic() + _GRACE
        for thread in self._threads:
            if thread is not threading.current_thread():
                thread.join(max(0.0, deadline - time.monotonic()))


def _work(runner: Any, worker: int, queue: SimpleQueue[tuple[int, Any] | None],
          finished: deque[Finished], arrived: SimpleQueue[None],
          closing: threading.Event, num_workers: int) -> None:
    """Do tasks until there is `None` in the queue."""
    announce_to_thread(WorkerInfo(worker, num_workers, worker_seed(config.default_seed, worker),
                                  getattr(runner, 'dataset', None),
                                  getattr(runner, 'stream', None)))
    while (entry := queue.get()) is not None and not closing.is_set():
        number, body = entry
        start = time.perf_counter()
        result = runner.run(body)
        seconds = time.perf_counter() - start
        finished.append(Finished(worker, number, LocalParcel(result.steps), result.error,
                                 result.extra, seconds))
        arrived.put(None)
        del entry, body, result
