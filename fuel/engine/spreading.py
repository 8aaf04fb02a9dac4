"""The epoch iterator that has its steps computed by workers."""
from __future__ import annotations

import reprlib
from collections import deque
from collections.abc import Iterable
from typing import Any

from fuel._types import Batch
from fuel.engine.ahead import AheadRequests
from fuel.engine.attached import AttachedIterator
from fuel.engine.desk import Task
from fuel.engine.limits import Ahead
from fuel.engine.plan import chain_of
from fuel.engine.running import Steps, takes_compact
from fuel.iterator import by_source
from fuel.streams.source import OUTSIDE_FAULTS

__all__ = ['SpreadIterator', 'StepsTask']

_short = reprlib.Repr()
_short.maxlist = _short.maxtuple = 12


class StepsTask(Task):
    """Steps that a worker is asked for, and their data when it has done them.

    Parameters
    ----------
    steps : Steps
        Which ones.

    Attributes
    ----------
    data : list or None
        What is handed out, in order.
    """

    __slots__ = ('count', 'data', 'step')

    def __init__(self, steps: Steps) -> None:
        self.step = steps.step
        self.count = steps.count
        super().__init__(steps)
        self.data: list[Batch] | None = None

    @property
    def what(self) -> str:
        """The steps and their requests in words."""
        return self.in_words(0, self.count)

    def in_words(self, start: int, stop: int) -> str:
        """Return some of the steps, counted from the first one, and their requests in words."""
        first, last = self.step + start, self.step + stop - 1
        requests = [_plain(request) for request in self.body.single()[start:stop]]
        if first == last:
            return (f'step {first} of epoch {self.body.epoch} '
                    f'(request {_short.repr(requests[0])})')
        return (f'steps {first} to {last} of epoch {self.body.epoch} '
                f'(requests {_short.repr(requests)})')

    @property
    def error(self) -> BaseException | None:
        """What the step after those in `data` raised."""
        return self.failure if self.finished is None else self.finished.error

    def pieces(self) -> list[StepsTask]:
        """Return a task for each of the steps."""
        return [StepsTask(self.body.part(number, number + 1)) for number in range(self.count)]


def _plain(request: Any) -> Any:
    """Return a request as users know it."""
    if isinstance(request, slice) and request.step is None:
        return list(range(request.start, request.stop)[:_short.maxlist + 1])
    return request.tolist() if hasattr(request, 'tolist') else request


class SpreadIterator(AttachedIterator):
    """Iterates over one epoch of a stream, the steps of which workers compute.

    Its position is that of an iterator that works in this process, and so is its state: what
    workers are at, or have done, is done again by whoever goes on from there.

    Parameters
    ----------
    inner : DataIterator
        The iterator that works in this process, which gives the position.
    session : Session
        The epoch of the engine that it belongs to.
    beyond : iterable of int, optional
        Steps that were handed out before their time.
    """

    def __init__(self, inner: Any, session: Any, beyond: Iterable[int] = ()) -> None:
        cursor = inner.cursor
        cursor.requests = AheadRequests(cursor.requests, beyond)
        # Where data could not be reached, the engine asks for them again itself.
        self._asks_again = cursor.is_rewindable
        cursor.is_rewindable = False
        super().__init__(inner.data_stream, as_dict=inner.as_dict, cursor=cursor)
        self.inner = inner
        self._session = session
        session.attend(self)
        self._compact = takes_compact(chain_of(inner.data_stream)[-1])
        self._single = bool(inner.data_stream.produces_examples)
        # The step whose data could not be reached the last time.
        self._missed = -1
        self._forget()

    def _forget(self) -> None:
        """Start with nothing under way."""
        # Those of which something was not handed out. What was is told by the position alone, so
        # that Ctrl-C may come at any time.
        self._tasks: deque[StepsTask] = deque()
        self._ahead: Ahead | None = None
        self._lent: Any = None
        self._lent_until = -1
        self._exhausted = False

    def let_go(self) -> None:
        """Let go of all that is under way. Whoever goes on has it done again."""
        if self._session is not None:
            for task in self._tasks:
                self._session.forget(task)
        self._forget()

    def __getstate__(self) -> dict[str, Any]:
        state = {**self.__dict__, '_session': None}
        for name in ('_tasks', '_ahead', '_lent', '_lent_until', '_exhausted'):
            del state[name]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._forget()

    def state_dict(self) -> dict[str, Any]:
        """Return where this iterator stands, as plain data."""
        return self.inner.state_dict()  # type: ignore[no-any-return]

    def _requests(self) -> AheadRequests:
        requests = self.cursor.requests
        if not isinstance(requests, AheadRequests):  # it was loaded from a pickle
            requests = self.cursor.requests = AheadRequests(requests)
        return requests

    def __next__(self) -> Any:
        if self.cursor.finished:
            raise StopIteration
        session = self.session
        requests = self._requests()
        if self._lent is not None and requests.is_out(self._lent_until):
            self._give_back()
        data = (self._next_in_order(session, requests) if session.limits.in_order
                else self._next_of_any(session, requests))
        return by_source(self.data_stream, data) if self.as_dict else data

    def _next_in_order(self, session: Any, requests: AheadRequests) -> Batch:
        while True:
            tasks, step = self._tasks, requests.first_missing
            while tasks and tasks[0].step + tasks[0].count <= step:
                tasks.popleft()
            task = tasks[0] if tasks else None
            if task is None or task.data is None:
                self._fill(session, requests)
                tasks = self._tasks
                if not tasks:
                    self._end()
                task = self._received(session, tasks[0])
                if task is None:
                    continue
            place = step - task.step
            data: Any = task.data
            if place < len(data):
                batch: Batch = data[place]
                if requests.beyond:
                    requests.hand_out(step)
                    return batch
                # Without any call after it, so that Ctrl-C finds all of it done or nothing.
                requests.first_missing = step + 1
                return batch
            if place == len(data):
                self._raise(task, step, requests)
            tasks[0] = StepsTask(task.body.part(place))

    def _next_of_any(self, session: Any, requests: AheadRequests) -> Batch:
        while True:
            for task in [task for task in self._tasks if requests.is_out(task.step)]:
                self._tasks.remove(task)
            self._fill(session, requests)
            if not self._tasks:
                self._end()
            waiting = list(self._tasks)
            if not any(task.is_done for task in waiting) and not (
                    session.desk.wait_for_any(waiting)):
                continue
            ready = next(task for task in waiting if task.is_done)
            if self._received(session, ready) is None:
                continue
            data: Any = ready.data
            if not data:
                self._raise(ready, ready.step, requests)
            requests.hand_out(ready.step)
            return data[0]  # type: ignore[no-any-return]

    def _end(self) -> None:
        self.cursor.finish()
        raise StopIteration

    def _fill(self, session: Any, requests: AheadRequests) -> None:
        """Give tasks to workers, as far as they may run ahead."""
        desk, tasks = session.desk, self._tasks
        if self._ahead is None:
            self._ahead = Ahead(session.limits)
        ahead = self._ahead
        if tasks and len(tasks) > ahead.tasks - ahead.burst and tasks[0].is_pending:
            return
        desk.look()
        for place, task in enumerate(tasks):
            if task.number is None and not task.is_done and task.data is None:
                if task.failures and task.count > 1:
                    # Its worker is gone, and only one of the steps is to blame.
                    pieces = task.pieces()
                    del tasks[place]
                    for number, piece in enumerate(pieces):
                        tasks.insert(place + number, piece)
                    self._fill(session, requests)
                    return
                desk.submit(task)
        in_order = session.limits.in_order
        self._cover(requests)
        while not self._exhausted and ahead.may_send(
                len(tasks), requests.next_step - requests.first_missing):
            steps = self._drawn(requests, ahead.steps_per_task if self._single and in_order
                                and not requests.beyond else 1)
            if steps is None:
                self._exhausted = True
                break
            task = StepsTask(steps)
            tasks.append(task)
            desk.submit(task)
        desk.flush()

    def _cover(self, requests: AheadRequests) -> None:
        """Make tasks of what was drawn, but not made one of, for Ctrl-C came in between."""
        covered = max((task.step + task.count for task in self._tasks), default=0)
        covered = max(covered, requests.first_missing)
        for number, request in enumerate(requests.drawn_from(covered)):
            if not requests.is_out(covered + number):
                self._tasks.append(StepsTask(Steps(self.epoch, covered + number, [request])))

    def _drawn(self, requests: AheadRequests, count: int) -> Steps | None:
        """Return the next steps to be done, or `None` at the end of the epoch."""
        try:
            while requests.next_step in requests.beyond:
                requests.draw(compact=self._compact)
            step = requests.next_step
            if self._compact and count > 1:
                found = requests.draw_together(count)
                if found is not None:
                    return Steps(self.epoch, step, None, found)
            drawn = [requests.draw(compact=self._compact)]
        except StopIteration:
            return None
        try:
            while len(drawn) < count:
                drawn.append(requests.draw(compact=self._compact))
        except StopIteration:
            self._exhausted = True
        return Steps(self.epoch, step, drawn)

    def _received(self, session: Any, task: StepsTask) -> StepsTask | None:
        """Wait for a task and take its data; return `None` if it has to be done again."""
        if not task.is_done and not session.desk.wait_for(task):
            return None
        finished = task.finished
        if finished is None:
            if task.count > 1:
                place = self._tasks.index(task)
                self._tasks.remove(task)
                for number, piece in enumerate(task.pieces()):
                    self._tasks.insert(place + number, piece)
                return None
            task.data = []
            return task
        parcel = finished.parcel
        nbytes = parcel.nbytes
        copies = session.copies(nbytes)
        try:
            task.data = parcel.copied() if copies else parcel.steps()
        except BaseException:
            # Its memory may be free again, so it is done once more.
            task.finished = None
            raise
        if session.borrows and not copies:
            # Of several steps that came together, until the last one of them was used.
            self._lent, self._lent_until = parcel, task.step + max(0, len(task.data) - 1)
        if self._ahead is not None and task.data:
            self._ahead.arrived(finished.seconds, nbytes, len(task.data))
        return task

    def _raise(self, task: StepsTask, step: int, requests: AheadRequests) -> None:
        """Raise the error of a step, and see to it whether it is taken again."""
        error: Any = task.error
        if isinstance(error, StopIteration):
            self._end()
        place = step - task.step
        note = f'This was {task.in_words(place, place + 1)}'
        if note not in getattr(error, '__notes__', ()):
            error.add_note(note)
        is_reading = task.finished is not None and task.finished.extra is True
        again = self._asks_again and (
            not isinstance(error, Exception)
            or (is_reading and isinstance(error, OUTSIDE_FAULTS) and self._missed != step))
        if again:
            self._missed = step
            self._tasks[self._tasks.index(task)] = StepsTask(task.body.part(place))
        else:
            requests.hand_out(step)
        raise error
