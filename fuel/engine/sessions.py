"""An engine, and the epochs that it runs."""
from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Iterable
from typing import Any

from fuel.engine.chaining import ChainRunner
from fuel.engine.desk import Desk, Pool, Tally, Task
from fuel.engine.limits import Limits
from fuel.engine.plan import Plan
from fuel.engine.running import StepRunner
from fuel.engine.spreading import SpreadIterator

__all__ = ['Engine', 'Session']


class Engine:
    """Runs the epochs of one stream by workers.

    It knows nothing of the stream around it, so that this one goes as soon as nobody needs it.

    Parameters
    ----------
    make_pool : callable
        Given a runner and a number of workers, returns a new pool.
    limits : Limits
        How far workers may run ahead.
    timeout : float
        How many seconds to wait for a step at most; 0 for ever.
    restart_workers : bool
        Whether a worker that ended is replaced.
    persistent : bool
        Whether the workers of one epoch are those of the next.
    borrows : bool
        Whether data handed out are valid until the next ones only.
    """

    def __init__(self, make_pool: Callable[[Any, int], Pool], limits: Limits, *, timeout: float,
                 restart_workers: bool, persistent: bool, borrows: bool) -> None:
        self._make_pool = make_pool
        self.limits = limits
        self.borrows = borrows
        self._timeout = timeout
        self._restarts = restart_workers
        self._persistent = persistent
        self._shared: Desk | None = None
        self.tally = Tally()
        self._desks: weakref.WeakSet[Desk] = weakref.WeakSet()
        self._sessions: weakref.WeakSet[Session] = weakref.WeakSet()

    def desk(self, make_runner: Callable[[], Any], num_workers: int, *, shared: bool) -> Desk:
        """Return the desk for a new epoch.

        Parameters
        ----------
        make_runner : callable
            Returns what workers run, where they have to be started.
        num_workers : int
            How many.
        shared : bool
            Whether they can be those of other epochs.
        """
        shared = shared and self._persistent
        if shared and self._shared is not None:
            return self._shared
        desk = Desk(lambda: self._make_pool(make_runner(), num_workers), num_workers,
                    self._timeout, self._restarts, self.tally)
        self._desks.add(desk)
        if shared:
            self._shared = desk
        return desk

    def attend(self, session: Session) -> None:
        """Have an epoch let go of what it holds when the engine is closed."""
        self._sessions.add(session)

    def epoch_over(self, desk: Desk) -> None:
        """End workers that are not meant for further epochs."""
        if desk is not self._shared:
            desk.close()

    def close(self) -> None:
        """End all workers. Iterators that go on start others."""
        for session in list(self._sessions):
            session.let_go()
        for desk in list(self._desks):
            desk.close()


class Session:
    """One epoch of an engine: what its iterators share.

    Parameters
    ----------
    engine : Engine
        The engine.
    plan : Plan
        What runs where.
    beyond : iterable of int, optional
        Steps of the epoch that is taken up that were handed out before their time.

    Attributes
    ----------
    top : AbstractDataStream
        The outermost of the streams that workers compute.
    """

    def __init__(self, engine: Engine, plan: Plan, beyond: Iterable[int] = ()) -> None:
        self._engine = engine
        engine.attend(self)
        self._plan = plan
        self._beyond = tuple(beyond)
        self._desk: Desk | None = None
        self._iterators: weakref.WeakSet[Any] = weakref.WeakSet()
        # The epoch iterator to go with a chain whose state cannot be told.
        self.iterator: Any = None
        self.top = plan.top if plan.mode == 'requests' else None
        self.limits = engine.limits
        # What is above holds on to several steps.
        self.borrows = engine.borrows and not plan.above

    @property
    def desk(self) -> Desk:
        """Where tasks are given to workers."""
        if self._desk is None:
            plan = self._plan
            runner: Callable[[], Any]
            if plan.mode == 'requests':
                runner = functools.partial(StepRunner, plan.top)
            else:
                runner = functools.partial(ChainRunner, plan.top, self.iterator)
            self._desk = self._engine.desk(runner, plan.num_workers,
                                           shared=self.iterator is None)
        return self._desk

    def copies(self, nbytes: int) -> bool:
        """Tell whether data are to be copied, since the program holds on to so much already."""
        return (not self.borrows and self._desk is not None
                and self._desk.leased + nbytes > self.limits.nbytes)

    def spread(self, iterator: Any) -> SpreadIterator:
        """Return an epoch iterator that has the work of the given one done by workers."""
        beyond, self._beyond = self._beyond, ()
        return SpreadIterator(iterator, self, beyond)

    def attend(self, iterator: Any) -> None:
        """Have an epoch iterator let go of what it holds when the epoch is over."""
        self._iterators.add(iterator)

    def forget(self, task: Task) -> None:
        """Let go of a task."""
        if self._desk is not None:
            self._desk.forget(task)

    def tell(self, body: Any) -> None:
        """Tell the worker something, if there is one."""
        if self._desk is not None:
            self._desk.tell(body)

    def let_go(self) -> None:
        """Let go of all that is under way."""
        for iterator in list(self._iterators):
            iterator.let_go()

    def close(self) -> None:
        """End the workers, where they are not meant for further epochs."""
        self.let_go()
        if self._desk is not None:
            desk, self._desk = self._desk, None
            self._engine.epoch_over(desk)
