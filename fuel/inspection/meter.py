"""A clock that knows which stage of a chain the time belongs to."""
from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from fuel.inspection.forms import bytes_in, forms_of, steps_in

__all__ = ['Meter', 'Stage']


@dataclass(eq=False)
class Stage:
    """Something that takes time.

    Attributes
    ----------
    name : str
        What it is called.
    kind : str
        'source', 'requests', 'stream', 'engine', 'loop' or 'start'.
    link : Link or None
        The stream, if it is one.
    below : list of Stage
        Those that it draws from.
    seconds : float
        How long it was at work, without those that it draws from.
    computing : float
        How many seconds of that processors were busy; the same where that is not measured.
    steps, nbytes : int
        How many steps it gave, and how many bytes they had.
    forms : list of str
        Dtype and shape of what it gave first, by source.
    joined : Stage or None
        The stage that does the work of this one in one pass with its own.
    """

    name: str
    kind: str = 'stream'
    link: Any = None
    below: list[Stage] = field(default_factory=list)
    seconds: float = 0.
    computing: float = 0.
    steps: int = 0
    nbytes: int = 0
    forms: list[str] = field(default_factory=list)
    joined: Stage | None = None

    def count(self, entries: Iterable[Any]) -> None:
        """Count steps that were given."""
        for entry in entries:
            self.steps += steps_in(entry)
            self.nbytes += bytes_in(entry)
            if not self.forms:
                self.forms = forms_of(entry)

    def reset(self) -> None:
        """Forget what was counted."""
        self.seconds = self.computing = 0.
        self.steps = self.nbytes = 0


class Meter:
    """Charges time to stages.

    At any time the innermost stage that was begun and has not ended is at work. What the meter
    itself needs is charged to none.

    Parameters
    ----------
    clock : callable
        Returns the time in seconds.
    computing_clock : callable, optional
        Returns how many seconds processors were busy with this process. By default it is taken
        to be busy all the time.

    Attributes
    ----------
    idle : Stage or None
        What the time is charged to while no stage is at work.
    loop : Stage
        What it is charged to between two steps of an epoch.
    ends : Stage
        What engines took to end epochs.
    ended : int
        How many epochs came to their end.
    """

    def __init__(self, clock: Callable[[], float],
                 computing_clock: Callable[[], float] | None = None) -> None:
        self.clock = clock
        self._computing_clock = clock if computing_clock is None else computing_clock
        self.loop = Stage('training loop', 'loop')
        self.ends = Stage('ends of epochs', 'start')
        self.idle: Stage | None = None
        self.ended = 0
        self._stack: list[Stage] = []
        self._thread = threading.get_ident()
        self._last = self._last_computing = 0.
        self.restart()

    def _charge(self, stage: Stage) -> None:
        stage.seconds += self.clock() - self._last
        stage.computing += self._computing_clock() - self._last_computing

    def begin(self, stage: Stage) -> bool:
        """Note that a stage is at work from now on; tell whether that is to be noted.

        It is not where the stage is at work already, nor in another thread than the one in which
        the meter was made.
        """
        stack = self._stack
        if threading.get_ident() != self._thread:
            return False
        before = stack[-1] if stack else self.idle
        if before is stage:
            return False
        if before is not None:
            self._charge(before)
        stack.append(stage)
        self.restart()
        return True

    def end(self, given: Iterable[Any] = (), counted: Stage | None = None) -> None:
        """Note that the innermost stage has done its work.

        Parameters
        ----------
        given : iterable, optional
            The steps that it gives.
        counted : Stage, optional
            Whose steps they are.
        """
        self._charge(self._stack.pop())
        if counted is not None:
            counted.count(given)
        if not self._stack:
            self.idle = self.loop
        self.restart()

    def fail(self, error: BaseException, given: Iterable[Any] = (),
             counted: Stage | None = None) -> None:
        """Note that the innermost stage has raised an error, or is at the end of an epoch.

        Parameters
        ----------
        error : BaseException
            What it raised.
        given : iterable, optional
            The steps that it gave nevertheless.
        counted : Stage, optional
            Whose steps they are.
        """
        stage = self._stack.pop()
        is_over = isinstance(error, StopIteration)
        # An engine ends its workers then.
        self._charge(self.ends if is_over and stage.kind == 'engine' else stage)
        if counted is not None:
            counted.count(given)
        if not self._stack:
            self.idle = None
            self.ended += is_over
        self.restart()

    def pause(self, *, charged: bool) -> None:
        """Charge time to nothing until the next step.

        Parameters
        ----------
        charged : bool
            Whether the time up to now is still charged to the loop.
        """
        if not self._stack and threading.get_ident() == self._thread:
            if self.idle is not None and charged:
                self._charge(self.idle)
            self.idle = None

    def belong_here(self) -> None:
        """Measure the thread that calls this, and no other."""
        self._thread = threading.get_ident()

    def restart(self) -> None:
        """Charge no time before now."""
        self._last_computing = self._computing_clock()
        self._last = self.clock()
