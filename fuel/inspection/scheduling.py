"""How long this thread had to wait for a processor that others were using."""
from __future__ import annotations

from dataclasses import dataclass

__all__ = ['Scheduling', 'scheduling']

_PATH = '/proc/thread-self/schedstat'


@dataclass(frozen=True)
class Scheduling:
    """How a thread got along.

    Attributes
    ----------
    computing, waiting : float
        How many seconds it had a processor, and how many it wanted one and had none.
    """

    computing: float
    waiting: float

    def crowding_since(self, before: Scheduling) -> float:
        """Return how many times as long as on an idle machine the thread wanted a processor."""
        computed = self.computing - before.computing
        return 1. + (self.waiting - before.waiting) / computed if computed > 0 else 1.


def scheduling() -> Scheduling:
    """Return how this thread has got along so far; all zeros where the system does not tell."""
    try:
        with open(_PATH, encoding='ascii') as file:
            computing, waiting, *_ = map(int, file.read().split())
    except (OSError, ValueError):  # other systems, and kernels without it
        return Scheduling(0., 0.)
    return Scheduling(computing / 1e9, waiting / 1e9)
