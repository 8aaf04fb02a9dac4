"""What transformers that regroup steps hold on to between two of their own."""
from __future__ import annotations

import itertools
from collections import deque
from collections.abc import Iterator
from typing import Any

from fuel._types import Batch, State
from fuel.collate import Rows, examples_in
from fuel.exceptions import StateError
from fuel.iterator import DataIterator, EndedIterator

__all__ = ['Groups']

_TELLING = (DataIterator, EndedIterator)  # iterators that can tell their state


class Groups:
    """What one epoch iterator draws from the wrapped stream, and holds on to.

    Parameters
    ----------
    owner : RegroupingTransformer
        Its `draw_group` makes groups.
    child : iterator
        The epoch iterator over the wrapped stream.
    number : int, optional
        How many groups were used up before.
    used : int, optional
        How much of the group that comes first was used already.
    epoch : int, optional
        The number of the epoch.
    failures : int, optional
        How many steps of the epoch were left out before.

    Attributes
    ----------
    epoch : int
        The number of the epoch, from 0.
    group : object or None
        The present group; `load` makes sure that there is one.
    number : int
        The number of the present group, or of the next one, in this epoch; from 0.
    used : int
        How much of the present group was used. Transformers count it up.
    failures : int
        How many steps of the epoch were left out. A failed step does not take it back.
    """

    def __init__(self, owner: Any, child: Iterator[Any], number: int = 0,
                 used: int = 0, epoch: int = 0, failures: int = 0) -> None:
        self._owner = owner
        self.child = child
        self.epoch = epoch
        self.group: Any = None
        self.number = number
        self.used = used
        self.failures = failures
        # The state of the wrapped stream before the present group.
        self.mark: State | None = None
        # What was drawn in the present step, and what a failed step gave back.
        self.drawn: list[Any] = []
        self._returned: deque[Any] = deque()

    def draw(self) -> Batch:
        """Return the next data of the wrapped stream.

        Raises
        ------
        StopIteration
            The wrapped stream is at the end of its epoch.
        """
        data: Batch = self._returned.popleft() if self._returned else next(self.child)
        self.drawn.append(data)
        return data

    def draw_up_to(self, count: int) -> list[Batch]:
        """Return the next data of the wrapped stream, of several steps.

        Parameters
        ----------
        count : int
            Of how many; fewer are returned at the end of the epoch.
        """
        drawn = self.drawn
        start = len(drawn)
        while self._returned and len(drawn) < start + count:
            drawn.append(self._returned.popleft())
        missing = count - (len(drawn) - start)
        if missing:
            # Where a step fails, those before it are in the list, and are given back from there.
            if isinstance(self.child, DataIterator):
                self.child.take_into(drawn, missing)
            else:
                drawn.extend(itertools.islice(self.child, missing))
        return drawn[start:]

    def draw_rows(self, count: int) -> tuple[list[Batch | Rows], int]:
        """Return the next examples of the wrapped stream, to make a batch of them.

        Parameters
        ----------
        count : int
            How many; fewer are returned at the end of the epoch.

        Returns
        -------
        entries : list of tuple or Rows
            Single examples, and several that lie together.
        number : int
            How many examples these are.
        """
        if self._returned or not isinstance(self.child, DataIterator):
            examples = self.draw_up_to(count)
            return list(examples), len(examples)
        start = len(self.drawn)
        self.child.take_rows_into(self.drawn, count)
        entries = self.drawn[start:]
        return entries, sum([entry.length if isinstance(entry, Rows) else 1 for entry in entries])

    def load(self) -> Any:
        """Return the present group, after drawing it if there is none.

        Raises
        ------
        StopIteration
            The wrapped stream is at the end of its epoch.
        """
        if self.group is None:
            self.mark = self._state_below()
            self.group = self._owner.draw_group(self)
        return self.group

    def drop(self) -> None:
        """Let go of the present group: all of it was used."""
        self.group = self.mark = None
        self.number += 1
        self.used = 0

    def _state_below(self) -> State | None:
        """Return the state of the wrapped stream, or `None` if it cannot be told."""
        if isinstance(self.child, _TELLING) and not self._returned:
            try:
                return self.child.state_dict()
            except StateError:
                return None
        return None

    def settle(self) -> None:
        """Note that a step is over, and its data were given out."""
        self.drawn.clear()

    def give_back(self, begun: tuple[Any, ...], interrupted: bool) -> None:
        """Go back to the start of a failed step, so that nothing that it had drawn is lost."""
        child, *before = begun
        if child is self.child:  # a new epoch below, once begun, is not taken back
            self.group, self.number, self.used, self.mark = before
        self._returned.extendleft(reversed(examples_in(self.drawn)))
        self.drawn.clear()
        if interrupted and self._returned and isinstance(self.child, DataIterator) and (
                self.child.rewind(len(self._returned))):
            self._returned.clear()

    def give_up(self) -> None:
        """Let go of what a step failed over that had failed over it before."""
        self._returned.clear()
        if self.group is not None:
            self.drop()

    def states(self) -> tuple[dict[str, Any], State]:
        """Return what to save of the groups, and the state of the wrapped stream to go with it."""
        entries = {name: value for name, value in (
            ('group', self.number), ('used', self.used), ('failures', self.failures)) if value}
        if self.group is not None:
            below = self.mark and self._owner.data_stream.refreshed(self.mark)
        elif self._returned:
            raise StateError('the last step failed, and parts of it wait for the next one; take '
                             'that step before saving the state')
        else:
            below = self.child.state_dict() if isinstance(self.child, _TELLING) else None
        if below is None:
            raise StateError(
                f'the state of the stream below {type(self._owner).__name__} cannot be told in '
                'plain data; pickle the pair (stream, epoch iterator)')
        return entries, below
