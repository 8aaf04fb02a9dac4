"""Workers that are processes."""
from __future__ import annotations

import os
import time
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from fuel.engine.crew import Crew
from fuel.engine.launch import Launcher
from fuel.engine.pickling import dumps
from fuel.engine.results import Finished, Lost
from fuel.engine.settings import settings_to_send
from fuel.engine.shipping import Describe, ship
from fuel.engine.starting import context_of, cores_of
from fuel.exceptions import WorkerLostError

if TYPE_CHECKING:
    from multiprocessing.context import BaseContext

__all__ = ['ProcessPool']

# Address space, not memory: pages are taken as they are written to.
_REGION_BYTES = 1 << 36


class ProcessPool:
    """A number of processes that run tasks.

    One thread uses it at a time; any thread may close it.

    Parameters
    ----------
    runner : object
        Each worker gets a copy of it, and calls its method `run` with the body of a task; it
        returns a `Result`.
    num_workers : int
        How many processes.
    context : str or multiprocessing context, optional
        How they are started: ``'fork'``, ``'spawn'``, ``'forkserver'``. By default as fresh
        interpreters that never run the user's script, so that it needs no guard.
    worker_init_fn : callable, optional
        Called in each worker with its number, before its first task.
    cpu_affinity : sequence of int or of sequences of int, optional
        The cores for each worker, in turn; by default all.
    region_bytes : int, optional
        The size of the shared memory of a worker; addresses only, until it is written to. By
        default 64 GiB.
    describe : callable, optional
        Takes the runner and returns pairs of a name and an object: into what parts it can be
        divided, for the message where something cannot be pickled.
    generation : int, optional
        Which of several pools that come one after the other this is. The global random states of
        workers are seeded by it, and by the number of the worker. By default 0.

    Raises
    ------
    TypeError
        The runner or `worker_init_fn` cannot be pickled; the message names what cannot.
    """

    #: What `wait` returned does not come again.
    keeps_events = False

    def __init__(self, runner: Any, num_workers: int, *,
                 context: str | BaseContext | None = None,
                 worker_init_fn: Callable[[int], Any] | None = None,
                 cpu_affinity: Sequence[int | Sequence[int]] | None = None,
                 region_bytes: int = _REGION_BYTES, describe: Describe | None = None,
                 generation: int = 0) -> None:
        if num_workers < 1:
            raise ValueError(f'expected a number of workers of at least 1; got {num_workers}')
        cores = cores_of(cpu_affinity, num_workers)
        whole = runner, worker_init_fn, settings_to_send()
        self._crew = crew = Crew(_launcher(context, whole), num_workers, cores, region_bytes,
                                  generation)
        self._finalizer = weakref.finalize(self, crew.close)
        try:
            # All start at once, and while this process pickles what they run.
            crew.start()
            if crew.launcher.ships:
                crew.size = ship(crew.shipment, whole, _parts(describe))
                for member in crew.members:
                    member.greet(crew.size)
        except BaseException:
            self.close()
            raise

    @property
    def pids(self) -> list[int]:
        """The number of each worker's process."""
        return [member.process.pid for member in self._crew.members]

    @property
    def leased(self) -> int:
        """How many bytes of shared memory arrays of this process hold."""
        return sum(inbox.leased for inbox in self._crew.inboxes())

    def submit(self, worker: int, number: int, body: Any) -> None:
        """Give a task to a worker, which does its tasks in the order in which it got them.

        It never blocks: what does not go through at once is sent in `wait`. The parameters are
        those of `queue`.
        """
        self.queue(worker, number, body)
        self._usable().members[worker].channel.flush()

    def queue(self, worker: int, number: int, body: Any) -> None:
        """Give a task to a worker, to be sent by `flush` or `wait` together with others.

        Parameters
        ----------
        worker : int
            Which worker.
        number : int
            A number for the task, which comes back with what came of it.
        body : object
            For the runner.

        Raises
        ------
        WorkerLostError
            The worker has ended, as `wait` has told, and was not replaced.
        """
        member = self._usable().members[worker]
        if member.is_gone:
            raise WorkerLostError(f'worker {worker} (process {member.process.pid}) has ended; it '
                                  'takes no tasks')
        member.queue(number, dumps(body))

    def flush(self) -> None:
        """Send what does not wait for the other side."""
        for member in self._usable().members:
            if not member.is_gone:
                member.channel.flush()

    def wait(self, timeout: float | None) -> list[Finished | Lost]:
        """Return what has happened.

        Parameters
        ----------
        timeout : float or None
            How many seconds to wait for something to happen at most; `None` for ever.

        Returns
        -------
        list of Finished or Lost
            Empty only after the timeout. What a worker did before it ended comes before its end.

        Raises
        ------
        WorkerLostError
            Nothing can happen any more: all workers have ended, as was told.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        while True:
            crew = self._usable()
            left = None if deadline is None else max(0.0, deadline - time.monotonic())
            events = crew.look(left)
            if events or left == 0:
                return events

    def handled(self, count: int) -> None:
        """Do nothing: what `wait` returned does not come again."""

    def stack_of(self, worker: int) -> str:
        """Return where a worker is in its program, also if it does not answer.

        Parameters
        ----------
        worker : int
            Which worker.

        Returns
        -------
        str
            The Python stacks of its threads, or why there are none.
        """
        return self._usable().members[worker].stack()

    def replace(self, worker: int) -> None:
        """Put a new process in the place of a worker, which is killed if it has not ended.

        The tasks that it was given are gone with it. Its arrays stay valid.

        Parameters
        ----------
        worker : int
            Which worker.
        """
        self._usable().replace(worker)

    def close(self) -> None:
        """End all processes, within a second. Once only; arrays stay valid."""
        self._finalizer()

    def _usable(self) -> Crew:
        crew = self._crew
        if crew.pid != os.getpid():
            raise RuntimeError('these workers belong to the process that started them, of which '
                               'this one is a fork; start others here')
        if crew.is_closed:
            raise RuntimeError('the workers have been closed; start others')
        return crew


def _launcher(context: str | BaseContext | None, whole: tuple[Any, ...]) -> Launcher:
    checked = context_of(context)
    if checked is None:
        from fuel.engine.fresh import FreshLauncher
        return FreshLauncher()
    from fuel.engine.contexts import ContextLauncher
    return ContextLauncher(checked, whole)


def _parts(describe: Describe | None) -> Describe:
    """Return how what is sent can be divided."""
    def divide(whole: tuple[Any, ...]) -> Iterable[tuple[str, Any]]:
        runner, worker_init_fn, settings = whole
        if describe is not None:
            yield from describe(runner)
        yield 'worker_init_fn', worker_init_fn
        yield type(runner).__name__, runner
        for key, entry in settings.items():
            yield f'config.{key}', entry
    return divide
