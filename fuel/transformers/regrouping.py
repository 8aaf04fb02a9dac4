"""The base of transformers that give more or fewer steps than the stream they wrap.

What such a transformer holds on to between two of its steps is a *group*: something drawn from
the wrapped stream, such as a batch of which some examples were given out already. A group can be
drawn again, so a saved state has only the state of the wrapped stream before the group, and how
much of the group was used.
"""
from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

from numpy.random import Generator

from fuel import rng
from fuel import state as saved
from fuel._types import Batch, Request, State
from fuel.collate import Rows
from fuel.exceptions import StateError
from fuel.iterator import DataIterator, EndedIterator, EpochCursor, by_source
from fuel.streams.source import OUTSIDE_FAULTS
from fuel.transformers.base import Transformer
from fuel.transformers.groups import Groups

__all__ = ['Groups', 'RegroupingIterator', 'RegroupingTransformer']


class RegroupingIterator(DataIterator):
    """Iterates over one epoch of a `RegroupingTransformer`; it owns its groups."""

    def __init__(self, data_stream: RegroupingTransformer, groups: Groups, as_dict: bool,
                 cursor: EpochCursor) -> None:
        super().__init__(data_stream, as_dict=as_dict, cursor=cursor)
        self.groups = groups
        # Where the last step stood that failed.
        self._failed_at: tuple[Any, ...] | None = None

    def _is_superseded(self) -> bool:
        return not self.data_stream.independent_epochs and super()._is_superseded()

    def __next__(self) -> Any:
        cursor = self.cursor
        if cursor.finished:
            raise StopIteration
        stream, groups = self.data_stream, self.groups
        if not stream.independent_epochs and self._is_superseded():
            self._refuse()
        if not cursor.step:
            self._take_over(stream)
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
            self._failed(error, begun)
            raise
        if groups.drawn:
            groups.drawn.clear()
        return by_source(stream, data) if self.as_dict else data

    def _take_over(self, stream: RegroupingTransformer) -> None:
        """Draw from what a program has put around the iterator, in get_epoch_iterator."""
        replaced = stream.child_epoch_iterator
        if (stream.epoch_cursor is self.cursor and replaced is not None
                and replaced is not self.groups.child
                and not isinstance(replaced, (DataIterator, EndedIterator))):
            self.groups.child = replaced

    def _failed(self, error: BaseException, begun: tuple[Any, ...]) -> None:
        groups = self.groups
        groups.give_back(begun, interrupted=not isinstance(error, Exception))
        if not isinstance(error, Exception) or isinstance(error, OUTSIDE_FAULTS):
            return
        # What a step fails over twice is passed over: a loop that goes on whatever happens must
        # come to its end.
        place = self.step, getattr(groups.child, 'step', None), groups.number, groups.used
        if self._failed_at == place:
            groups.give_up()
        self._failed_at = place

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
        self._refuse_lent_data()
        child = self.child_epoch_iterator = self._start_child()
        loaded = self._loaded_state if self._loaded_state and not self._loaded_state['done'] else {}
        cursor = self._next_cursor()
        groups = self.groups = Groups(self, child, loaded.get('group', 0), loaded.get('used', 0),
                                      cursor.epoch, loaded.get('failures', 0))
        if not self._regroups():
            return DataIterator(self, as_dict=as_dict, cursor=cursor)
        return self._new_iterator(groups, as_dict, cursor)

    def _refuse_lent_data(self) -> None:
        """Raise an error if data of the wrapped stream are valid until its next step only."""
        stream = self.data_stream
        while stream is not None and not isinstance(stream, RegroupingTransformer):
            if getattr(stream, 'lends_data', False) is True:
                raise ValueError(
                    f'{type(self).__name__} looks at several steps of the stream that it wraps, '
                    f"and those of {type(stream).__name__} with hand_out='borrow' are valid until "
                    f"the next one only; leave hand_out='borrow' away, or put "
                    f'{type(stream).__name__} around {type(self).__name__}')
            stream = getattr(stream, 'data_stream', None)

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

    def refreshed(self, state: State) -> State:
        """Return a state with what it says of other epochs as it is now."""
        # One that starts epochs of the wrapped stream by itself will start them again.
        return super().refreshed(state) if self.independent_epochs else state

    def load_state_dict(self, state: State) -> None:
        """Go on from a state; see `Transformer`."""
        super().load_state_dict(state)
        self.groups = None
