"""The base of transformers that give more or fewer steps than the stream they wrap.

What such a transformer holds on to between two of its steps is a *group*: something drawn from
the wrapped stream, such as a batch of which some examples were given out already. A group can be
drawn again, so a saved state has only the state of the wrapped stream before the group, and how
much of the group was used.
"""
from __future__ import annotations

from abc import abstractmethod
from collections import deque
from collections.abc import Iterator
from typing import Any

from fuel import rng
from fuel import state as saved
from fuel._types import Batch, Request, State
from fuel.exceptions import StateError
from fuel.iterator import DataIterator, EndedIterator, EpochCursor
from fuel.transformers.base import Transformer

__all__ = ['Groups', 'RegroupingIterator', 'RegroupingTransformer']

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

    Attributes
    ----------
    group : object or None
        The present group; `load` makes sure that there is one.
    number : int
        The number of the present group, or of the next one, in this epoch; from 0.
    used : int
        How much of the present group was used. Transformers count it up.
    """

    def __init__(self, owner: RegroupingTransformer, child: Iterator[Any], number: int = 0,
                 used: int = 0) -> None:
        self._owner = owner
        self.child = child
        self.group: Any = None
        self.number = number
        self.used = used
        # The state of the wrapped stream before the present group.
        self._mark: State | None = None
        # What was drawn in the present step, and what a failed step gave back.
        self._drawn: list[Any] = []
        self._returned: deque[Any] = deque()

    def draw(self) -> Batch:
        """Return the next data of the wrapped stream.

        Raises
        ------
        StopIteration
            The wrapped stream is at the end of its epoch.
        """
        data: Batch = self._returned.popleft() if self._returned else next(self.child)
        self._drawn.append(data)
        return data

    def load(self) -> Any:
        """Return the present group, after drawing it if there is none.

        Raises
        ------
        StopIteration
            The wrapped stream is at the end of its epoch.
        """
        if self.group is None:
            self._mark = self._state_below()
            self.group = self._owner.draw_group(self)
        return self.group

    def drop(self) -> None:
        """Let go of the present group: all of it was used."""
        self.group = self._mark = None
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
        self._drawn.clear()

    def give_back(self, interrupted: bool) -> None:
        """Take back what a failed step had drawn, so that nothing of it is lost."""
        self._returned.extendleft(reversed(self._drawn))
        self._drawn.clear()
        if interrupted and self._returned and isinstance(self.child, DataIterator) and (
                self.child.rewind(len(self._returned))):
            self._returned.clear()

    def states(self) -> tuple[dict[str, Any], State]:
        """Return what to save of the groups, and the state of the wrapped stream to go with it."""
        entries = {name: value for name, value in (('group', self.number), ('used', self.used))
                   if value}
        if self.group is not None:
            below = self._mark
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


class RegroupingIterator(DataIterator):
    """Iterates over one epoch of a `RegroupingTransformer`; it owns its groups."""

    def __init__(self, data_stream: RegroupingTransformer, groups: Groups, as_dict: bool,
                 cursor: EpochCursor) -> None:
        super().__init__(data_stream, as_dict=as_dict, cursor=cursor)
        self.groups = groups

    def _is_superseded(self) -> bool:
        return False

    def _draw(self, cursor: EpochCursor) -> Batch:
        request = next(cursor.requests)
        running = rng.running
        outer, running.position = running.position, (cursor.epoch, cursor.step - 1)
        try:
            data = self.data_stream.regroup(self.groups, request)
        except StopIteration:
            raise
        except BaseException as error:
            interrupted = not isinstance(error, Exception)
            self.groups.give_back(interrupted)
            cursor.requests.take_back()
            raise
        finally:
            running.position = outer
        self.groups.settle()
        return data  # type: ignore[no-any-return]

    def rewind(self, count: int) -> bool:
        """Go back steps; see `DataIterator.rewind`."""
        return False


class RegroupingTransformer(Transformer):
    """A transformer that gives more or fewer steps than the stream it wraps.

    Subclasses define `regroup`, and `draw_group` where a group is more than one step of the
    wrapped stream. Between two steps they keep nothing but what `Groups` keeps for them; then
    pickling, `state_dict` and independent iterators work by themselves.
    """

    groups: Groups | None = None

    @abstractmethod
    def regroup(self, groups: Groups, request: Request) -> Batch:
        """Return the data of the next step.

        Parameters
        ----------
        groups : Groups
            ``groups.draw()`` gives the next data of the wrapped stream. ``groups.load()`` gives
            the present group, drawing one if need be; count up ``groups.used`` as it is used, and
            call ``groups.drop()`` when all of it was used.
        request : object
            What the iteration scheme of the transformer asks for; `None` if it has none.

        Returns
        -------
        tuple
            One item for every source.

        Raises
        ------
        StopIteration
            There is no more data in this epoch.
        """

    def draw_group(self, groups: Groups) -> Any:
        """Draw what is held on to between steps: by default one step of the wrapped stream."""
        return groups.draw()

    def _maps_steps(self) -> bool:
        return False

    def _regroups(self) -> bool:
        """Tell whether steps are made by `regroup`, and not by an overridden `get_data`."""
        return type(self).get_data is RegroupingTransformer.get_data

    def get_epoch_iterator(self, as_dict: bool = False) -> Any:
        """Start the next epoch, and return an iterator over it.

        Parameters
        ----------
        as_dict : bool, optional
            Give dicts from source name to data in place of tuples. Off by default.

        Returns
        -------
        DataIterator
            Independent of other iterators over this stream, if those of the wrapped stream are.
        """
        child = self.child_epoch_iterator = self._start_child()
        loaded = self._loaded if self._loaded and not self._loaded['done'] else {}
        groups = self.groups = Groups(self, child, loaded.get('group', 0), loaded.get('used', 0))
        cursor = self._next_cursor()
        if not self._regroups():
            return DataIterator(self, as_dict=as_dict, cursor=cursor)
        return RegroupingIterator(self, groups, as_dict, cursor)

    def get_data(self, request: Request = None) -> Batch:
        """Return the next data of the newest epoch.

        Parameters
        ----------
        request : object, optional
            What an iteration scheme would ask for.

        Returns
        -------
        tuple
            One item for every source.
        """
        if self.groups is None:
            raise ValueError(f'{type(self).__name__}.get_data was called before an epoch was '
                             'started; call get_epoch_iterator first')
        data = self.regroup(self.groups, request)
        self.groups.settle()
        return data

    def state_of(self, iterator: DataIterator) -> State:
        """Return the state of the chain as one of its epoch iterators sees it."""
        groups = iterator.groups if isinstance(iterator, RegroupingIterator) else self.groups
        return self._state_with(groups, iterator.cursor)

    def state_dict(self) -> State:
        """Return where the newest epoch iterator stands, as plain data; see `Transformer`."""
        if self._loaded is not None:
            return dict(self._loaded)
        return self._state_with(self.groups, self.cursor)

    def _state_with(self, groups: Groups | None, cursor: EpochCursor | None) -> State:
        position = self._position_of(cursor)
        if groups is None or cursor is None or cursor.finished:
            held: dict[str, Any] = {}
            below = self.data_stream.state_dict()
        else:
            held, below = groups.states()
        return saved.new_state(self, **position, **held, **self._own_state(), data_stream=below)

    def load_state_dict(self, state: State) -> None:
        """Go on from a state; see `Transformer`."""
        super().load_state_dict(state)
        self.groups = None
