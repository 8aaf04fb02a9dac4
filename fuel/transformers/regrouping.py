"""The base of transformers that give more or fewer steps than the stream they wrap.

What such a transformer holds on to between two of its steps is a *group*: something drawn from
the wrapped stream, such as a batch of which some examples were given out already. A group can be
drawn again, so a saved state has only the state of the wrapped stream before the group, and how
much of the group was used.
"""
from __future__ import annotations

import itertools
from abc import abstractmethod
from collections import deque
from collections.abc import Iterator
from typing import Any, ClassVar

from numpy.random import Generator

from fuel import rng
from fuel import state as saved
from fuel._types import Batch, Request, State
from fuel.collate import Rows, examples_in
from fuel.exceptions import StateError
from fuel.iterator import DataIterator, EndedIterator, EpochCursor, by_source
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
    epoch : int, optional
        The number of the epoch.

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
    """

    def __init__(self, owner: RegroupingTransformer, child: Iterator[Any], number: int = 0,
                 used: int = 0, epoch: int = 0) -> None:
        self._owner = owner
        self.child = child
        self.epoch = epoch
        self.group: Any = None
        self.number = number
        self.used = used
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
        return entries, sum([entry.length if type(entry) is Rows else 1 for entry in entries])

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

    def states(self) -> tuple[dict[str, Any], State]:
        """Return what to save of the groups, and the state of the wrapped stream to go with it."""
        entries = {name: value for name, value in (('group', self.number), ('used', self.used))
                   if value}
        if self.group is not None:
            below = self.mark
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
        return not self.data_stream.independent_epochs and super()._is_superseded()

    def __next__(self) -> Any:
        cursor = self.cursor
        if cursor.finished:
            raise StopIteration
        stream, groups = self.data_stream, self.groups
        if not stream.independent_epochs and self._is_superseded():
            self._refuse()
        begun = groups.child, groups.group, groups.number, groups.used, groups.mark
        requests = cursor.requests
        requested = False
        try:
            if stream.iteration_scheme is None:
                request = None
                requests.position += 1
            else:
                request = next(requests)
            requested = True
            data = (stream.regroup(groups, request) if stream.epoch_cursor is cursor
                    else rng.run_at(cursor, (stream,), stream.regroup, groups, request))
        except StopIteration:
            cursor.finish()
            raise
        except BaseException as error:
            if requested:
                requests.take_back()
            groups.give_back(begun, interrupted=not isinstance(error, Exception))
            raise
        if groups.drawn:
            groups.drawn.clear()
        return by_source(stream, data) if self.as_dict else data

    def take_into(self, taken: list[Any], count: int) -> None:
        """Take several steps at once; see `DataIterator.take_into`."""
        self._take(taken, count, as_rows=False)

    def take_rows_into(self, taken: list[Any], count: int) -> None:
        """Take several steps at once, by source; see `DataIterator.take_rows_into`."""
        self._take(taken, count, as_rows=True)

    def _take(self, taken: list[Any], count: int, *, as_rows: bool) -> None:
        cursor, stream = self.cursor, self.data_stream
        if self.as_dict or stream.iteration_scheme is not None or self._is_superseded():
            super().take_into(taken, count)
            return
        groups, requests = self.groups, cursor.requests
        while count > 0 and not cursor.finished:
            begun = groups.child, groups.group, groups.number, groups.used, groups.mark
            try:
                rows = stream.rows_ready(groups, count)
                number = 0 if rows is None else rows.length
                ready = () if rows is None else (rows,) if as_rows else rows.examples()
                # Without any call in between, so that Ctrl-C finds all of it done or nothing.
                taken += ready
                requests.position += number
            except BaseException:
                groups.give_back(begun, interrupted=True)
                raise
            if not number:
                super().take_into(taken, 1)
            count -= number or 1

    def rewind(self, count: int) -> bool:
        """Go back steps; see `DataIterator.rewind`."""
        return False


class RegroupingTransformer(Transformer):
    """A transformer that gives more or fewer steps than the stream it wraps.

    Subclasses define `regroup`, and `draw_group` where a group is more than one step of the
    wrapped stream. Between two steps they keep nothing but what `Groups` keeps for them; then
    pickling, `state_dict` and independent iterators work by themselves.
    """

    #: Whether several epochs can be gone through side by side, where the wrapped stream can.
    independent_epochs: ClassVar[bool] = True

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

    def rows_ready(self, groups: Groups, count: int) -> Rows | None:
        """Return the examples of coming steps for which all is there already.

        Defined where to give several at once costs less. A transformer with an iteration scheme
        is not asked.

        Parameters
        ----------
        groups : Groups
            As for `regroup`; nothing may be drawn.
        count : int
            How many steps, at most.

        Returns
        -------
        Rows or None
            `None` where nothing is ready.
        """
        return None

    def group_generator(self, groups: Groups) -> Generator:
        """Return a random generator for the present group.

        Its numbers depend on the seed, this transformer, the epoch and the number of the group; so
        a group that is drawn again after a resume is put in the same random order.

        Returns
        -------
        numpy.random.Generator
        """
        return rng.generator(self.seed, groups.epoch, groups.number,
                             rng.key_of(f'{self._random_name()}:group'))

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
        loaded = self._loaded_state if self._loaded_state and not self._loaded_state['done'] else {}
        cursor = self._next_cursor()
        groups = self.groups = Groups(self, child, loaded.get('group', 0), loaded.get('used', 0),
                                      cursor.epoch)
        if not self._regroups():
            return DataIterator(self, as_dict=as_dict, cursor=cursor)
        return self._new_iterator(groups, as_dict, cursor)

    def _new_iterator(self, groups: Groups, as_dict: bool, cursor: EpochCursor) -> DataIterator:
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
        if (request is None) != (self.iteration_scheme is None):
            wanted = 'takes no requests' if request is not None else 'wants a request'
            raise ValueError(f'{type(self).__name__} {wanted}; got {request!r}')
        data = self.regroup(self.groups, request)
        self.groups.settle()
        return data

    def state_of(self, iterator: DataIterator) -> State:
        """Return the state of the chain as one of its epoch iterators sees it."""
        groups = iterator.groups if isinstance(iterator, RegroupingIterator) else self.groups
        return self._state_with(groups, iterator.cursor)

    def state_dict(self) -> State:
        """Return where the newest epoch iterator stands, as plain data; see `Transformer`."""
        if self._loaded_state is not None:
            return dict(self._loaded_state)
        return self._state_with(self.groups, self.epoch_cursor)

    def _state_with(self, groups: Groups | None, cursor: EpochCursor | None) -> State:
        if not self._regroups() and not self._tells_own_state():
            raise StateError(
                f'{type(self).__name__} overrides get_data, so it may keep something from step to '
                'step; define _state and _load_state, or pickle the pair (stream, epoch iterator)')
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
