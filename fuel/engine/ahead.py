"""Requests that are drawn before their time."""
from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any

from fuel._types import JSON, Request
from fuel.exceptions import StateError
from fuel.schemes.requests import RequestIterator

__all__ = ['AheadRequests']


class AheadRequests(RequestIterator):
    """Requests some of which were drawn already, for workers to be at them.

    The position is that of the consumer: what was drawn ahead does not count. A pickle has it
    only where it could not be drawn again.

    Parameters
    ----------
    inner : RequestIterator
        The requests. From now on they are drawn through this object only.
    beyond : iterable of int, optional
        Steps after the next one whose data were handed out already. None by default.

    Attributes
    ----------
    first_missing : int
        The first step whose data were not handed out. Whoever hands out counts it up.
    beyond : frozenset of int
        Later steps whose data were; it stays empty where the order is kept.
    """

    def __init__(self, inner: RequestIterator, beyond: Iterable[int] = ()) -> None:
        self.inner = inner
        self.first_missing = inner.position
        self.beyond = frozenset(beyond)
        # The requests that were drawn, from one of the steps on.
        self._drawn: list[Request] = []
        self._first_drawn = self.first_missing

    @property
    def position(self) -> int:  # type: ignore[override]
        """How many steps were handed out."""
        return self.first_missing + len(self.beyond)

    def __reduce__(self) -> Any:
        inner = copy.copy(self.inner)
        self._drop()
        count = len(self._drawn)
        inner.skip(max(0, self.first_missing + count - inner.position))
        if count and not inner.rewind(count):
            return _restored, (inner, self.first_missing, self.beyond, self._drawn)
        return (_restored, (inner, self.first_missing, self.beyond, [])) if self.beyond else (
            _same, (inner,))

    @property
    def next_step(self) -> int:
        """The number of the step whose request is drawn next."""
        return max(self.first_missing, self._first_drawn + len(self._drawn))

    def _drop(self) -> None:
        """Let go of the requests whose data were handed out."""
        first = self.first_missing
        left = self._drawn[first - self._first_drawn:]
        # Without any call in between, so that Ctrl-C finds both done or neither.
        self._drawn, self._first_drawn = left, first

    def _keep_in_step(self) -> None:
        """Put back what was drawn, but not kept, for Ctrl-C came in between."""
        self._drop()
        excess = self.inner.position - self.next_step
        if excess < 0:
            # Later steps were handed out before they were drawn here.
            self.inner.skip(-excess)
        elif excess > 0 and not self.inner.rewind(excess):
            self.inner.take_back()

    def draw(self, *, compact: bool) -> Request:
        """Return the request of the next step that was not drawn yet."""
        self._keep_in_step()
        request = self.inner.next_compact() if compact else next(self.inner)
        self._drawn.append(request)
        return request

    def draw_together(self, count: int) -> Request | None:
        """Return the requests of the next steps as one, where that can be done.

        Parameters
        ----------
        count : int
            How many steps, at most.

        Returns
        -------
        slice, list, ndarray or None
            For single examples.
        """
        self._keep_in_step()
        together: Any = self.inner.coming(count)
        if together is None:
            return None
        single = (list(range(together.start, together.stop)) if isinstance(together, slice)
                  else together if isinstance(together, list) else together.tolist())
        self.inner.position += len(single)
        self._drawn += single
        return together

    def drawn_from(self, step: int) -> list[Request]:
        """Return the requests that were drawn, from a step on, one for each."""
        return self._drawn[step - self._first_drawn:]

    def is_out(self, step: int) -> bool:
        """Tell whether the data of a step were handed out."""
        return step < self.first_missing or step in self.beyond

    def hand_out(self, step: int) -> None:
        """Note that the data of a step are handed out, whichever it is."""
        beyond = {*self.beyond, step}
        first = self.first_missing
        while first in beyond:
            beyond.remove(first)
            first += 1
        left = frozenset(beyond)
        # Without any call in between, as above.
        self.first_missing, self.beyond = first, left

    def __next__(self) -> Request:
        # Only after a pickle was loaded without the engine.
        if self.beyond:
            raise StateError('data of this epoch were handed out in any order (in_order=False); '
                             'go on with an engine')
        self._drop()
        request = self._drawn[0] if self._drawn else self.draw(compact=False)
        self.first_missing += 1
        return request

    def take_back(self) -> None:
        """Put back the request that was drawn last."""
        raise StateError('a step of an engine cannot be taken back')

    def start_state(self) -> JSON:
        """Describe in plain data how the epoch started."""
        return self.inner.start_state()

    def finish(self) -> None:
        """Let go of what is not needed after the last request."""
        self.inner.finish()


def _same(requests: RequestIterator) -> RequestIterator:
    return requests


def _restored(inner: RequestIterator, first_missing: int, beyond: frozenset[int],
              drawn: list[Request]) -> AheadRequests:
    requests = AheadRequests(inner, beyond)
    requests.first_missing = requests._first_drawn = first_missing
    requests._drawn = drawn
    return requests
