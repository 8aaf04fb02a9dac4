"""How much faster work is that several share."""
from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from fuel.inspection.meter import Stage

__all__ = ['Load', 'duration', 'load_of', 'sharing']

# So many workers at a time are proposed for each processor, where they mostly wait for devices.
_FOR_EACH = 4


@dataclass(frozen=True)
class Load:
    """Some work.

    Attributes
    ----------
    seconds : float
        How long it takes one alone.
    computing : float
        How many seconds of that a processor is busy; more than `seconds` where several are.
    """

    seconds: float
    computing: float

    def times(self, factor: float) -> Load:
        """Return so many times the work."""
        return Load(self.seconds * factor, self.computing * factor)


def load_of(stages: Iterable[Stage]) -> Load:
    """Return the work of some stages."""
    stages = list(stages)
    return Load(math.fsum(stage.seconds for stage in stages), math.fsum(map(_computing, stages)))


def _computing(stage: Stage) -> float:
    # Only what waits most of the time is taken to wait at all, since it is measured roughly.
    return max(stage.computing, stage.seconds if stage.computing >= stage.seconds / 2 else 0.)


def duration(work: Load, rest: Load, workers: int, processors: int) -> float:
    """Return how many seconds it takes if some workers share work.

    Parameters
    ----------
    work : Load
        What is shared.
    rest : Load
        What is done in this process meanwhile.
    workers, processors : int
        How many there are.
    """
    return max(rest.seconds, work.seconds / workers,
               (work.computing + rest.computing) / processors)


def sharing(work: Load, rest: Load, processors: int, least: int = 1) -> int:
    """Return how many workers should share work, so that the rest need not wait for it.

    Parameters
    ----------
    work, rest : Load
        As for `duration`.
    processors : int
        How many there are.
    least : int, optional
        How many workers there are to be at least.
    """
    busy = work.computing / work.seconds if work.seconds else 1.
    # A little too much is not worth a worker.
    limit = max(math.ceil(min(processors / busy, _FOR_EACH * processors) - 0.05) if busy else
                _FOR_EACH * processors, 1)
    wanted = math.ceil(work.seconds / rest.seconds - 0.05) if (
        rest.seconds * limit > work.seconds) else limit
    return max(min(wanted, limit), least)
