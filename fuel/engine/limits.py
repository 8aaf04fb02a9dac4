"""How far workers run ahead."""
from __future__ import annotations

from dataclasses import dataclass

__all__ = ['Ahead', 'Limits']

# A task of single examples should take about so long, for its journey not to count.
_WORTH_SENDING = 0.002
_MOST_STEPS = 256
_SHORT = 0.0005
_MOST_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Limits:
    """How far workers may run ahead of the program.

    Attributes
    ----------
    workers : int
        How many workers there are.
    tasks : int
        How many tasks may be under way or wait to be handed out.
    steps : int
        How many steps.
    nbytes : int
        How many bytes of data, but for one task at a time.
    in_order : bool
        Whether data are handed out in the order of their steps.
    window : int
        Bytes, beyond which there are two tasks for each worker only; 0 for no such bound.
    """

    workers: int
    tasks: int
    steps: int
    nbytes: int
    in_order: bool = True
    window: int = 0

    @property
    def steps_together(self) -> int:
        """How many steps may be put into one task, at most."""
        return max(1, min(self.steps // (2 * self.workers), _MOST_STEPS))


class Ahead:
    """What is under way for one epoch iterator, against what may be.

    Parameters
    ----------
    limits : Limits
        The limits.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        # Bytes of the largest of the latest tasks.
        self._largest = 0
        #: How many steps to put into the next task.
        self.steps_per_task = 1
        #: How many tasks may be under way.
        self.tasks = limits.tasks
        #: How many tasks to send at a time. Sending costs more than to do a short one.
        self.burst = 1

    def may_send(self, tasks: int, steps: int) -> bool:
        """Tell whether one more task may be given to a worker.

        Parameters
        ----------
        tasks, steps : int
            How many are under way or wait to be handed out.
        """
        limits = self._limits
        if tasks >= self.tasks:
            return False
        if not self._largest:
            # It is not known yet how large they are.
            return tasks < min(limits.workers, limits.tasks, limits.steps)
        return not tasks or (steps < limits.steps
                             and (tasks + 1) * self._largest <= limits.nbytes)

    def arrived(self, seconds: float, nbytes: int, steps: int) -> None:
        """Learn from a task that was done.

        Parameters
        ----------
        seconds : float
            How long a worker was at it.
        nbytes : int
            How many bytes its data have.
        steps : int
            How many steps it was of.
        """
        self._largest = max(nbytes, 1, self._largest - self._largest // 8)
        each = seconds / steps
        fitting = min(int(_WORTH_SENDING / each) if each else _MOST_STEPS,
                      _MOST_BYTES * steps // max(nbytes, 1),
                      self._limits.steps_together)
        self.steps_per_task = max(1, min(2 * self.steps_per_task, fitting))
        limits = self._limits
        if limits.window:
            self.tasks = min(limits.tasks, max(2 * limits.workers,
                                               limits.window // self._largest))
        self.burst = max(1, self.tasks // 2) if seconds < _SHORT else 1
