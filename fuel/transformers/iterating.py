"""The iteration over transformers that map each step to one."""
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from fuel import rng
from fuel import state as saved
from fuel._types import Batch, State
from fuel.iterator import DataIterator, EndedIterator, EpochCursor, by_source, starts
from fuel.streams.changes import none_error
from fuel.streams.source import SourceIterator

__all__ = ['Change', 'TransformerIterator', 'started_child']

_Below = Callable[[], Batch]
Change = Callable[[Batch], Batch]
# Transformers of users with the iterators over what they wrap.
_Owners = tuple[tuple[Any, Iterator[Any]], ...]
_Plan = tuple[_Below, tuple[Change, ...], _Owners, bool]


def started_child(child: Any, loaded: State | None, below: State | None) -> Iterator[Any]:
    """Return an epoch iterator over a wrapped stream, for a new epoch or one that is taken up.

    Parameters
    ----------
    child : AbstractDataStream
        The wrapped stream.
    loaded : dict or None
        The state that the stream around it goes on from.
    below : dict or None
        The state of the wrapped stream in it.
    """
    if loaded is not None and below is not None:
        # Only now, since another stream around the same one may have gone on from a state, too.
        child.load_state_dict(below)
        around_finished, below_finished = saved.finished(loaded), saved.finished(below)
        if not around_finished and below_finished:
            return EndedIterator(child)
        if around_finished and not below_finished:
            # The epoch of the wrapped stream was left before its end.
            child.get_epoch_iterator()
    return child.get_epoch_iterator()  # type: ignore[no-any-return]


class TransformerIterator(DataIterator):
    """Iterates over one epoch of a transformer that maps each step to one.

    It owns the iterator over the wrapped stream, so several of them live side by side. The steps
    of such transformers one around the other are the same ones, and share a cursor; so the
    outermost iterator applies all of them in one loop.
    """

    def __init__(self, data_stream: Any, child: Iterator[Any], as_dict: bool,
                 cursor: EpochCursor) -> None:
        super().__init__(data_stream, as_dict=as_dict, cursor=cursor)
        self.child = child
        # Only an iterator of ours counts its steps.
        self._counts = not isinstance(child, DataIterator)
        # Made at the first step, from what does not change in an epoch.
        self._plan: _Plan | None = None
        # When it was seen that no newer epoch is under way.
        self._newest_at = -1
        # What an interrupted step had drawn, where it cannot be drawn again.
        self._held: Batch | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, '_plan': None, '_newest_at': -1}

    def _is_superseded(self) -> bool:
        return False

    @property
    def is_broken_off(self) -> bool:
        """Whether the data of an interrupted step wait for the next one."""
        return self._held is not None

    def _planned(self) -> _Plan:
        """Return what draws from below, and the functions that what is drawn goes through."""
        if self._plan is None:
            stream = self.data_stream
            replaced = stream.child_epoch_iterator
            if (replaced is not self.child and replaced is not None
                    and stream.epoch_cursor is self.cursor
                    and not isinstance(replaced, (DataIterator, EndedIterator))):
                # A program has put something around the iterator, in get_epoch_iterator.
                self.child = replaced
            child = self.child
            below: _Below
            changes: tuple[Change, ...] = ()
            owners: _Owners = ()
            # Whether nothing stands between this one and what was read ahead.
            direct = type(child) is SourceIterator
            if type(child) is TransformerIterator:
                below, changes, owners, direct = child._planned()
            else:
                below = self._counted if self._counts else child.__next__
            owners = (*owners, (stream, child))
            stream.known_sources = None
            stream.known_sources = stream.sources
            self._plan = below, stream.steps_after(changes), owners, direct
        return self._plan

    def _counted(self) -> Batch:
        data: Batch = next(self.child)
        self.cursor.requests.skip(1)
        return data

    def _is_newest(self) -> bool:
        """Tell whether this epoch is the newest one of all the streams that it goes through."""
        latest = starts.latest
        owners = self._planned()[2]
        if self._held is not None or not all(
                stream.epoch_cursor is self.cursor and stream.child_epoch_iterator is child
                for stream, child in owners):
            return False
        self._newest_at = latest
        return True

    def __next__(self) -> Any:
        if self._newest_at != starts.latest and not self._is_newest():
            return self._next_beside()
        cursor = self.cursor
        below, changes, _, direct = self._plan or self._planned()
        drawn: Any = None
        data: Any = None
        change: Any = None
        try:
            ahead = direct and cursor.ahead
            if ahead:
                # Without any call in between, so that Ctrl-C finds all of it done or nothing.
                drawn = ahead[-1]
                cursor.requests.position += 1
                del ahead[-1]
            elif cursor.finished:
                raise StopIteration
            else:
                drawn = below()
            data = drawn
            for change in changes:
                data = change(data)
        except BaseException as error:
            self._failed(error, drawn)
            if data is None and change is not None:
                self._tell_of_none(changes, change, error)
            raise
        if data is None:
            self._tell_of_none(changes)
        return by_source(self.data_stream, data) if self.as_dict else data

    def _next_beside(self) -> Any:
        """Take a step while another epoch of the same streams is under way, or one that waits."""
        cursor = self.cursor
        if cursor.finished:
            raise StopIteration
        below, _, owners, _ = self._planned()
        lent = _lend(owners)
        drawn = self._held
        try:
            if drawn is None:
                drawn = below()
            self._held = None
            data = rng.run_at(cursor, tuple([stream for stream, _ in owners]), self._change, drawn)
        except BaseException as error:
            self._failed(error, drawn)
            raise
        finally:
            for stream, child in lent:
                stream.child_epoch_iterator = child
        return by_source(self.data_stream, data) if self.as_dict else data

    def _change(self, data: Any) -> Batch:
        changes, change = self._planned()[1], None
        try:
            for change in changes:
                data = change(data)
        except Exception as error:
            if data is None and change is not None:
                self._tell_of_none(changes, change, error)
            raise
        if data is None:
            self._tell_of_none(changes)
        return data  # type: ignore[no-any-return]

    def _tell_of_none(self, changes: tuple[Change, ...], failed: Change | None = None,
                      error: BaseException | None = None) -> None:
        """Raise an error that names the function that returned `None`, where one did.

        Parameters
        ----------
        changes : tuple of callable
            The functions that the data of the step went through.
        failed : callable, optional
            The one that raised, after it had been given `None`; by default the last one gave it.
        error : BaseException, optional
            What it raised.
        """
        problem = (None if isinstance(error, StopIteration) else
                   none_error(changes, failed, self.epoch, self.step - 1))
        if problem is not None:
            raise problem from error

    def take_into(self, taken: list[Any], count: int) -> None:
        """Take several steps at once; see `DataIterator.take_into`."""
        cursor = self.cursor
        if self.as_dict or cursor.finished or not self._is_newest():
            super().take_into(taken, count)
            return
        below, changes, _, direct = self._planned()
        drawn: Any = None
        data: Any = None
        change: Any = None
        try:
            for _ in range(count):
                drawn = data = change = None
                ahead = direct and cursor.ahead
                if ahead:
                    # Without any call in between, as above.
                    drawn = ahead[-1]
                    cursor.requests.position += 1
                    del ahead[-1]
                else:
                    drawn = below()
                data = drawn
                for change in changes:
                    data = change(data)
                if data is None:
                    break
                taken += (data,)
        except StopIteration as error:
            self._failed(error, drawn)
            return
        except BaseException as error:
            self._failed(error, drawn)
            if data is None and change is not None:
                self._tell_of_none(changes, change, error)
            raise
        if drawn is not None and data is None:
            self._tell_of_none(changes)

    def _failed(self, error: BaseException, drawn: Batch | None) -> None:
        """End the epoch; or, if a step was broken off by Ctrl-C, see that it is taken again."""
        if isinstance(error, StopIteration):
            self.cursor.finish()
        elif drawn is not None and not isinstance(error, Exception) and not (
                self.cursor.take_back()):
            self._held = drawn
            self._newest_at = -1

    def rewind(self, count: int) -> bool:
        """Go back steps; see `DataIterator.rewind`."""
        # What a transformer keeps of its own cannot be taken back.
        stateless = not self.data_stream.keeps_state()
        return stateless and isinstance(self.child, DataIterator) and self.child.rewind(count)


def _lend(owners: _Owners) -> list[tuple[Any, Any]]:
    """Let transformers draw from the iterators of this epoch, and return what they had before.

    The attribute is that of the newest epoch, and another one may be under way.
    """
    lent = []
    for stream, child in owners:
        if stream.child_epoch_iterator is not child:
            lent.append((stream, stream.child_epoch_iterator))
            stream.child_epoch_iterator = child
    return lent
