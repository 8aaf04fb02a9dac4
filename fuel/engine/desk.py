"""The desk in front of a pool of workers: who is at what, and what happens when one ends."""
from __future__ import annotations

import itertools
import logging
import os
import threading
import time
from collections.abc import Callable
from typing import Any, ClassVar, Protocol

from fuel.engine.results import Finished, Lost
from fuel.exceptions import WorkerLostError, WorkerTimeoutError

__all__ = ['Desk', 'Pool', 'Tally', 'Task']

log = logging.getLogger(__name__)

# So often a task may take its worker with it before it is given up.
_DEATHS = 3
# So many workers in a row may end before they are ready.
_FALSE_STARTS = 8
# So many seconds one iterator waits at a time, before others get their turn.
_PATIENCE = 0.1
# A step that failed so often is passed over, or a loop that goes on would never end.
_FAILURES = 2


class Pool(Protocol):
    """Workers, of whichever kind."""

    def queue(self, worker: int, number: int, body: Any) -> None:
        """Give a task to a worker. It may get it with the next call of `flush` or `wait` only."""

    def flush(self) -> None:
        """See to it that workers have what they were given."""

    #: Whether what `wait` returned is returned again, until `handled` is called.
    keeps_events: bool

    def wait(self, timeout: float | None) -> list[Finished | Lost]:
        """Return what has happened, waiting for it at most so many seconds."""

    def handled(self, count: int) -> None:
        """Note that so many of the things that `wait` returned were seen to."""

    def stack_of(self, worker: int) -> str:
        """Return where a worker is in its program."""

    def replace(self, worker: int) -> None:
        """Put a new worker in the place of one."""

    def close(self) -> None:
        """End all workers."""

    @property
    def leased(self) -> int:
        """How many bytes of shared memory the program holds."""


class Tally:
    """What workers did so far.

    Attributes
    ----------
    seconds : float
        How long they were at it, all together.
    """

    def __init__(self) -> None:
        self.seconds = 0.0


class Task:
    """Steps that a worker is asked for.

    Parameters
    ----------
    body : object
        What the runner is given.

    Attributes
    ----------
    what : str
        The steps in words.
    number : int or None
        The task's number at the desk, while a worker has it.
    finished : Finished or None
        What came of it.
    failure : BaseException or None
        What it failed with, where no worker could say.
    """

    #: Whether any worker can do it, whatever it has done before.
    is_independent: ClassVar[bool] = True

    __slots__ = ('body', 'deaths', 'failure', 'failures', 'finished', 'number', 'worker')

    def __init__(self, body: Any) -> None:
        self.body = body
        self.number: int | None = None
        self.worker = -1
        self.finished: Finished | None = None
        self.failure: BaseException | None = None
        self.deaths = 0
        self.failures = 0

    @property
    def what(self) -> str:
        """The steps in words."""
        return f'epoch {self.body.epoch}'

    @property
    def is_pending(self) -> bool:
        """Whether a worker has it, or has done it."""
        return self.number is not None or self.finished is not None or self.failure is not None

    @property
    def is_done(self) -> bool:
        """Whether there is something to hand out for it."""
        return self.finished is not None or self.failure is not None


class Desk:
    """Gives tasks to workers, and takes back what they did.

    Several epoch iterators may use one desk, also from several threads.

    Parameters
    ----------
    make_pool : callable
        Returns a new pool.
    num_workers : int
        How many workers it has.
    timeout : float
        How many seconds to wait for a task at most; 0 for ever.
    restart_workers : bool
        Whether a worker that ended is replaced.
    tally : Tally
        Counts what the workers do.
    """

    def __init__(self, make_pool: Callable[[], Pool], num_workers: int, timeout: float,
                 restart_workers: bool, tally: Tally) -> None:
        self._tally = tally
        self._make_pool = make_pool
        self._num_workers = num_workers
        self._timeout = timeout
        self._restarts = restart_workers
        self._pool: Pool | None = None
        self._numbers = itertools.count()
        self._tasks: dict[int, Task] = {}
        self._queues: list[list[int]] = [[] for _ in range(num_workers)]
        self._lock = threading.RLock()
        self._pid = os.getpid()
        self._false_starts = 0
        #: What happened to the worker that was replaced last.
        self.last_loss: WorkerLostError | None = None

    @property
    def pool(self) -> Pool:
        """The workers. They are started when they are first needed."""
        if self._pid != os.getpid():
            raise RuntimeError('the workers of this stream belong to the process that started '
                               'them, and this is a fork of it; build a stream of its own here')
        if self._pool is None:
            self._pool = self._make_pool()
        return self._pool

    @property
    def leased(self) -> int:
        """How many bytes of shared memory the program holds."""
        return 0 if self._pool is None else self._pool.leased

    def load(self) -> int:
        """Return how many tasks the worker has that has fewest."""
        return min(map(len, self._queues))

    def submit(self, task: Task, worker: int | None = None) -> None:
        """Give a task to a worker, the one that has fewest by default."""
        with self._lock:
            pool = self.pool
            if worker is None:
                worker = min(range(self._num_workers), key=lambda one: len(self._queues[one]))
            number = next(self._numbers)
            task.number, task.worker = number, worker
            self._tasks[number] = task
            self._queues[worker].append(number)
            try:
                pool.queue(worker, number, task.body)
            except BaseException:
                # What cannot be sent was not sent.
                self.forget(task)
                raise

    def forget(self, task: Task) -> None:
        """Let go of a task; what comes of it is thrown away."""
        with self._lock:
            if task.number is not None and self._tasks.pop(task.number, None) is not None:
                task.number = None
            # Its number stays in the queue of the worker, which is still at it.

    def wait_for(self, task: Task) -> bool:
        """Wait until a task is done.

        Returns
        -------
        bool
            Whether it is; otherwise no worker has it any more, and it must be given to one again.

        Raises
        ------
        WorkerLostError
            A worker has ended.
        WorkerTimeoutError
            It took longer than allowed.
        """
        return self._wait([task])

    def wait_for_any(self, tasks: list[Task]) -> bool:
        """Wait until one of some tasks is done; see `wait_for`."""
        return self._wait(tasks)

    def _wait(self, tasks: list[Task]) -> bool:
        deadline = time.monotonic() + self._timeout if self._timeout else None
        while True:
            with self._lock:
                if any(task.is_done for task in tasks):
                    return True
                if any(task.number is None for task in tasks):
                    return False
                left = None if deadline is None else deadline - time.monotonic()
                if left is not None and left <= 0:
                    raise self._timed_out(tasks[0])
                self._pump(left)

    def tell(self, body: Any) -> None:
        """Give the first worker a task of which nothing comes, if there are workers."""
        with self._lock:
            if self._pool is not None and self._pid == os.getpid():
                task = Task(body)
                self.submit(task, 0)
                self.forget(task)

    def flush(self) -> None:
        """See to it that workers have the tasks that they were given."""
        with self._lock:
            if self._pool is not None:
                self._pool.flush()

    def look(self) -> None:
        """Take what has arrived, without waiting."""
        if self._tasks and self._lock.acquire(blocking=False):
            try:
                self._pump(0)
            finally:
                self._lock.release()

    def _pump(self, timeout: float | None) -> None:
        pool = self.pool
        try:
            events = pool.wait(_PATIENCE if timeout is None else min(timeout, _PATIENCE))
            for event in events:
                if isinstance(event, Lost):
                    self._lost(event)
                else:
                    self._arrived(event)
            pool.handled(len(events))
        except BaseException:
            # Ctrl-C, mostly: nobody knows what was lost on the way from the workers, so that all
            # that they had is done again, by others. What threads did is still there.
            if not pool.keeps_events and self._pool is pool:
                self._break_down()
            raise

    def _arrived(self, event: Finished) -> None:
        """Take what a worker did. Nothing happens if that was done before."""
        task = self._tasks.get(event.number)
        if task is not None:
            self._false_starts = 0
            task.finished = event
            task.number = None
            del self._tasks[event.number]
        elif event.number in self._queues[event.worker]:
            event.parcel.release()
        if event.number in self._queues[event.worker]:
            self._tally.seconds += event.seconds
            self._queues[event.worker].remove(event.number)

    def _lost(self, event: Lost) -> None:
        """Replace a worker that ended, or end the others too."""
        numbers = self._queues[event.worker]
        tasks = [self._tasks[number] for number in numbers if number in self._tasks]
        culprit = tasks[0] if tasks and numbers[0] == tasks[0].number else None
        what = culprit.what if culprit is not None else 'none of the steps that are wanted'
        error = WorkerLostError(
            f'worker {event.worker} (process {event.pid}) {event.reason}'
            + (f'. It was at {what}' if event.was_ready else
               '; what it wrote to standard error may say why')
            + ('' if self._restarts or not event.was_ready else
               '. Whoever asks for the next step goes on with other workers; with '
               'restart_workers=True that happens by itself') + event.details)
        if not event.was_ready:
            self._false_starts += 1
            if self._false_starts == _FALSE_STARTS:
                self._break_down()
                raise error
        if not self._restarts:
            self._break_down()
            if culprit is not None:
                culprit.failures += 1
                if culprit.failures == _FAILURES:
                    culprit.failure = error
                    return
            raise error
        self.last_loss = error
        log.warning('%s; another one takes its place', error)
        numbers.clear()
        self.pool.replace(event.worker)
        for task in tasks:
            self._tasks.pop(task.number, None)  # type: ignore[arg-type]
            task.number = None
            if not task.is_independent:
                continue
            if task is culprit and event.was_ready:
                task.deaths += 1
                if task.deaths == _DEATHS:
                    task.failure = WorkerLostError(
                        f'{error}; it was the {_DEATHS}rd worker that ended over that')
                    continue
            self.submit(task, event.worker)

    def _timed_out(self, task: Task) -> BaseException:
        """End all workers after one of them did not answer in time, and return the error."""
        queue = self._queues[task.worker]
        head = self._tasks.get(queue[0]) if queue else None
        stack = self.pool.stack_of(task.worker)
        error = WorkerTimeoutError(
            f'worker {task.worker} did not give {task.what} within {self._timeout:g} s'
            + ('' if head is task or head is None else f'; it is still at {head.what}')
            + f'. This is where it stands:\n{stack}')
        self._break_down()
        task.failures += 1
        if task.failures == _FAILURES:
            task.failure = error
        return error

    def _break_down(self) -> None:
        """End the workers. The tasks that they had can be given to others."""
        pool, self._pool = self._pool, None
        for task in self._tasks.values():
            task.number = None
        self._tasks.clear()
        for queue in self._queues:
            queue.clear()
        self._false_starts = 0
        if pool is not None:
            pool.close()

    def close(self) -> None:
        """End the workers, if there are any. They are started again when they are needed."""
        if self._pid != os.getpid():
            return
        with self._lock:
            self._break_down()
