"""The epoch iterator over a whole chain that runs in one worker."""
from __future__ import annotations

import itertools
from collections import deque
from typing import Any

from fuel._types import Batch, State
from fuel.engine.attached import AttachedIterator
from fuel.engine.chaining import Continued, More, Over, Reached
from fuel.engine.desk import Task
from fuel.engine.limits import Ahead
from fuel.exceptions import StateError, WorkerLostError, WorkerTimeoutError
from fuel.iterator import EpochCursor
from fuel.schemes.requests import NoRequests

__all__ = ['ChainIterator']

_numbers = itertools.count(1)
# So often a worker may be lost over the same steps: where it is replaced, and where it is not.
_DEATHS = 3
_FAILURES = 2


class _Part:
    """Some steps that the worker has done.

    Parameters
    ----------
    before : dict or None
        The state of the chain before them.
    data : list
        Their data.
    error : BaseException or None
        What the step after them raised.
    reached : Reached
        Where the chain stood then.
    """

    __slots__ = ('before', 'data', 'error', 'reached')

    def __init__(self, before: State | None, data: list[Batch], error: BaseException | None,
                 reached: Reached) -> None:
        self.before = before
        self.data = data
        self.error = error
        self.reached = reached

    def rest(self, *, done: bool = False) -> _Part:
        """Return what comes after it: nothing yet, or nothing any more."""
        reached = self.reached
        return _Part(reached.state, [], None, Reached(
            reached.state, [], reached.problem, done or reached.done, reached.step))


class _MoreTask(Task):
    """Steps that only a worker can take that took those before them."""

    is_independent = False
    __slots__ = ()


class ChainIterator(AttachedIterator):
    """Iterates over one epoch of a chain that runs in one worker.

    Parameters
    ----------
    stream : AbstractDataStream
        The chain in this process. Here it only keeps the position at the start of the epoch.
    local : iterator
        Its epoch iterator.
    session : Session
        The epoch of the engine that it belongs to.
    in_place : bool
        Whether the worker is a thread, which draws from that very iterator.
    """

    def __init__(self, stream: Any, local: Any, session: Any, *, in_place: bool) -> None:
        requests = NoRequests()
        requests.skip(getattr(local, 'step', 0))
        # Not by the base class, which would have the stream take this for its newest epoch.
        self.data_stream = stream
        self.as_dict = False
        self.cursor = EpochCursor(getattr(local, 'epoch', 0), requests)
        self._session = session
        session.attend(self)
        self._in_place = in_place
        self._has_moved = False
        self._losses = 0
        self._local: Any = local
        self._problem = ''
        try:
            state: State | None = local.state_dict()
        except (StateError, AttributeError) as error:
            state, self._problem = None, str(error)
            if not in_place:
                session.iterator = local
        self._begin(state)

    def _begin(self, state: State | None) -> None:
        """Stand at the start of a part that the worker has not been asked for."""
        self._part = _Part(state, [], None, Reached(state, [], self._problem, done=False))
        # How much of it was handed out: this tells the position, so that Ctrl-C may come any time.
        self._used = 0
        self._tasks: deque[Task] = deque()
        self._ahead: Ahead | None = None
        self._started = False
        # The task that the part came of.
        self._taken: Task | None = None
        self._lent: Any = None
        self._number = next(_numbers)

    def __getstate__(self) -> dict[str, Any]:
        state = self.state_dict()
        return {'data_stream': self.data_stream, 'as_dict': self.as_dict, 'cursor': self.cursor,
                'state': state, '_in_place': self._in_place}

    def __setstate__(self, saved: dict[str, Any]) -> None:
        state = saved.pop('state')
        self.__dict__.update(saved)
        self._session = self._local = None
        self._has_moved = True
        self._losses = 0
        self._problem = ''
        self._begin(state)

    def __next__(self) -> Any:
        cursor = self.cursor
        requests: Any = cursor.requests
        if cursor.finished:
            raise StopIteration
        if self._lent is not None and self._used == len(self._part.data):
            self._give_back()
        while True:
            part, used = self._part, self._used
            if used < len(part.data):
                data, step = part.data[used], requests.position + 1
                # Without any call in between, so that Ctrl-C finds all of it done or nothing.
                self._used, requests.position = used + 1, step
                return data
            if part.error is not None:
                step = part.reached.step
                self._part, self._used = part.rest(), 0
                error, place = part.error, requests.position
                if step is not None:
                    requests.position = step
                note = f'This was step {place} of epoch {self.epoch}'
                if note not in getattr(error, '__notes__', ()):
                    error.add_note(note)
                raise error
            if part.reached.done:
                cursor.finish()
                raise StopIteration
            task, received = self._receive()
            self._part, self._used, self._taken = received, 0, task

    def _receive(self) -> tuple[Task, _Part]:
        """Return the next part that the worker has done, and the task that it came of."""
        session = self.session
        desk, tasks = session.desk, self._tasks
        if tasks and tasks[0] is self._taken:
            tasks.popleft()
        if any(task.number is None and not task.is_done for task in tasks):
            # The worker is gone; another one goes on from what has arrived.
            self._tasks = tasks = deque()
            self._started = False
            self._lost(desk.last_loss, _DEATHS)
            if self._part.reached.state is not None:
                self._local = None
        self._fill(session)
        task = tasks[0]
        try:
            is_done = task.is_done or desk.wait_for(task)
        except (WorkerLostError, WorkerTimeoutError) as error:
            self._lost(error, _FAILURES)
            raise
        if not is_done:
            return self._receive()
        self._losses = 0
        before = self._part.reached.state
        finished = task.finished
        if finished is None:
            return task, _Part(before, [], task.failure,
                               Reached(before, [], self._problem, done=True))
        parcel = finished.parcel
        nbytes = parcel.nbytes
        copies = session.copies(nbytes)
        try:
            data = parcel.copied() if copies else parcel.steps()
        except BaseException:
            if not self._in_place:
                # Its memory may be free again, so it is done once more.
                task.finished = None
            raise
        if session.borrows and not copies:
            self._lent = parcel
        if data and self._ahead is not None:
            self._ahead.arrived(finished.seconds, nbytes, len(data))
        return task, _Part(before, data, finished.error, finished.extra)

    def _lost(self, error: WorkerLostError | WorkerTimeoutError | None, most: int) -> None:
        """Note that a worker is gone; end the epoch if that happens over the same steps again."""
        self._losses += 1
        if self._losses >= most and error is not None:
            self._part, self._used = self._part.rest(done=True), 0
            raise error

    def _fill(self, session: Any) -> None:
        """Ask the worker for further parts."""
        if self._ahead is None:
            self._ahead = Ahead(session.limits)
        desk, tasks = session.desk, self._tasks
        desk.look()
        while self._ahead.may_send(len(tasks), len(tasks)):
            start = None
            if not self._started:
                start = self._start(session)
                self._number = next(_numbers)
            # After a loss one by one, for those before the one that is to blame to arrive.
            most = 1 if self._in_place or self._losses else session.limits.steps_together
            task = _MoreTask(More(self._number, most, start, self.epoch))
            tasks.append(task)
            desk.submit(task)
            self._started = True
        desk.flush()

    def _start(self, session: Any) -> Continued:
        """Say from where the worker is to go on."""
        state = self._part.reached.state
        if self._in_place:
            if self._local is None:
                self.data_stream.load_state_dict(state)
                self._local = self.data_stream.get_epoch_iterator()
            return Continued(None, self._local)
        if state is None and self._tasks_lost(session):
            raise StateError(f'the worker has ended, and another one cannot go on from where it '
                             f'stood: {self._problem}')
        return Continued(state)

    def _tasks_lost(self, session: Any) -> bool:
        """Tell whether something was received from a worker that is no more."""
        return bool(self.step != getattr(self._local, 'step', 0)) and session.iterator is not None

    def let_go(self) -> None:
        """Let go of all that is under way. Whoever goes on has it done again."""
        if not self.cursor.finished:
            self.settle()
            try:
                state: State | None = self.state_dict()
            except StateError:
                return
            if self._started and not self._in_place:
                self._session.tell(Over(self._number))
            moved = self.moved
            self._begin(state)
            self._local = None
            self._has_moved = moved

    @property
    def moved(self) -> bool:
        """Whether anything was handed out since it was made."""
        return self._has_moved or self._taken is not None or self.cursor.finished

    def settle(self) -> None:
        """Wait until a worker that uses the chain of this process does not use it any more."""
        if self._session is not None and self._in_place:
            for task in self._tasks:
                if task.number is not None:
                    self._session.desk.wait_for(task)

    def state_dict(self) -> dict[str, Any]:
        """Return where this iterator stands, as plain data: the state of the chain."""
        part, used = self._part, self._used
        if self.cursor.finished:
            state = part.reached.state
        else:
            state = part.reached.states[used - 1] if used else part.before
        if state is None:
            raise StateError(part.reached.problem or self._problem)
        return state
