"""A whole chain that runs in one worker."""
from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fuel._types import State
from fuel.engine.owning import owned
from fuel.engine.plan import chain_of
from fuel.engine.results import Result
from fuel.engine.running import detached, parts_of
from fuel.exceptions import StateError

__all__ = ['ChainRunner', 'Continued', 'More', 'Over', 'Reached']

# Steps are sent together until they took so many seconds, or have so many bytes.
_WORTH_SENDING = 0.002
_WORTH_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Continued:
    """From where a chain is to go on.

    Attributes
    ----------
    state : dict or None
        The state of the chain; `None` to go on with the iterator that was sent with it.
    iterator : iterator or None
        The epoch iterator to draw from, where the chain is the very one that the program has.
    """

    state: State | None
    iterator: Any = None


@dataclass(frozen=True, slots=True)
class More:
    """The next steps of an epoch.

    Attributes
    ----------
    number : int
        Which one: a number that the program gives to each that it starts.
    most : int
        How many steps, at most.
    start : Continued or None
        Where the epoch starts, with the first steps of it.
    epoch : int
        Its number among the epochs of the stream.
    """

    number: int
    most: int
    start: Continued | None = None
    epoch: int = 0


@dataclass(frozen=True, slots=True)
class Over:
    """Nobody needs an epoch any more.

    Attributes
    ----------
    number : int
        The number that the program gave it.
    """

    number: int


@dataclass(frozen=True, slots=True)
class Reached:
    """Where a chain stands after some steps.

    Attributes
    ----------
    state : dict or None
        The state of the chain, where it can be told.
    states : list
        The same after each of the steps.
    problem : str
        Why it cannot.
    done : bool
        Whether the epoch is over.
    step : int or None
        How many steps of the epoch were taken, where that is known.
    """

    state: State | None
    states: list[State | None]
    problem: str
    done: bool
    step: int | None = None


class ChainRunner:
    """Draws the steps of a chain one after the other.

    Parameters
    ----------
    stream : AbstractDataStream
        The outermost stream.
    iterator : iterator, optional
        An epoch iterator over it that is to be drawn from. Where none is given, a chain is sent to
        workers without what belongs to epochs under way.
    """

    def __init__(self, stream: Any, iterator: Any = None) -> None:
        self.stream = stream
        self._iterator = iterator
        self.dataset = getattr(chain_of(stream)[-1], 'dataset', None)
        self._iterators: dict[int, Iterator[Any]] = {}
        # Those that came to their end; some steps of them may still be asked for.
        self._ended: deque[int] = deque(maxlen=64)

    def __getstate__(self) -> dict[str, Any]:
        return {'stream': detached(self.stream) if self._iterator is None else self.stream,
                'iterator': self._iterator}

    def __setstate__(self, state: dict[str, Any]) -> None:
        ChainRunner.__init__(self, state['stream'], state['iterator'])

    def parts(self) -> list[tuple[str, Any]]:
        """Return the streams, and what they consist of, with names for them."""
        return parts_of(self.stream)

    def run(self, body: More | Over) -> Result:
        """Take the next steps of an epoch.

        Parameters
        ----------
        body : More or Over
            Which ones; or that no more are needed.

        Returns
        -------
        Result
            Its `extra` is a `Reached`.
        """
        if isinstance(body, Over):
            self._iterators.pop(body.number, None)
            return Result([])
        steps: list[Any] = []
        states: list[State | None] = []
        iterator: Any = None
        error: BaseException | None = None
        done = False
        try:
            if body.start is not None:
                self._iterators[body.number] = self._started(body.start)
            iterator = self._iterators.get(body.number)
            if iterator is None:
                if body.number not in self._ended:
                    raise LookupError('this worker was never told where the epoch starts')
                return Result(steps, None, Reached(None, states, '', done=True))
            self._take(iterator, body.most, steps, states)
        except StopIteration:
            self._iterators.pop(body.number, None)
            self._ended.append(body.number)
            done = True
        except BaseException as problem:
            error = problem
        state, why = _state_of(iterator)
        return Result(steps, error, Reached(state, states, why, done,
                                            getattr(iterator, 'step', None)))

    def _started(self, start: Continued) -> Iterator[Any]:
        if start.iterator is not None:
            return start.iterator  # type: ignore[no-any-return]
        if start.state is None:
            return self._iterator  # type: ignore[no-any-return]
        self.stream.load_state_dict(start.state)
        return self.stream.get_epoch_iterator()  # type: ignore[no-any-return]

    def _take(self, iterator: Iterator[Any], most: int, steps: list[Any],
              states: list[State | None]) -> None:
        start = time.perf_counter()
        nbytes = 0
        while len(steps) < most:
            steps.append(owned(next(iterator)))
            states.append(_state_of(iterator)[0])
            nbytes += sum([getattr(item, 'nbytes', 0) for item in steps[-1]])
            if nbytes > _WORTH_BYTES or time.perf_counter() - start > _WORTH_SENDING:
                return


def _state_of(iterator: Any) -> tuple[State | None, str]:
    """Return the state that an epoch iterator tells, or why it tells none."""
    try:
        return iterator.state_dict(), ''
    except (StateError, AttributeError) as error:
        return None, str(error)
