"""Who was given which step of an epoch."""
from __future__ import annotations

from collections.abc import Container, Iterator

__all__ = ['SOMEBODY', 'Ledger']

#: Stands for a client of which only that is known that it was given a step.
SOMEBODY = ''


class Ledger:
    """Who was given which step.

    Parameters
    ----------
    first : int
        Every step before this one was given to somebody.

    Attributes
    ----------
    low : int
        Every step before it was given to somebody. That one was not, or not yet.
    """

    def __init__(self, first: int = 0) -> None:
        self.first = first
        self.low = first
        self._owners: list[str | None] = []

    def owner(self, step: int) -> str | None:
        """Return who was given a step; `None` if nobody was."""
        place = step - self.first
        if place < 0:
            return SOMEBODY
        return self._owners[place] if place < len(self._owners) else None

    def note(self, step: int, owner: str) -> None:
        """Note that a step was given to somebody."""
        place = step - self.first
        if place < 0:
            return
        if place >= len(self._owners):
            self._owners += [None] * (place + 1 - len(self._owners))
        self._owners[place] = owner
        while self.owner(self.low) is not None:
            self.low += 1

    @property
    def is_empty(self) -> bool:
        """Whether no step was given to anybody, beside those before the first."""
        return not self._owners

    def take_back(self, start: int, owners: Container[str], kept: Container[int]) -> None:
        """Note that somebody was not given some steps after all.

        Parameters
        ----------
        start : int
            The first of the steps.
        owners : container of str
            Who was thought to have been given them.
        kept : container of int
            Steps that it was given nevertheless.
        """
        for step in range(max(start, self.first), self.first + len(self._owners)):
            if step not in kept and self._owners[step - self.first] in owners:
                self._owners[step - self.first] = None
                self.low = min(self.low, step)

    def of_others(self, owners: Container[str]) -> Iterator[int]:
        """Yield the steps, not before `low`, that others than these were given."""
        for step in range(self.low, self.first + len(self._owners)):
            owner = self.owner(step)
            if owner is not None and owner not in owners:
                yield step
