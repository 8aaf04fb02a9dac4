"""The iteration over one epoch of a stream, and where it stands."""
from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any, NoReturn

from fuel._types import Batch, Request
from fuel.exceptions import StateError, SupersededIteratorError
from fuel.schemes.requests import CountedRequests, NoRequests, RequestIterator

__all__ = ['DataIterator', 'EndedIterator', 'EpochCursor', 'by_source', 'starts']


_FOREIGN = ('{} makes its epoch iterators from requests of its own, so that its state cannot be '
            'told in plain data; call super().get_epoch_iterator(), or pickle the pair (stream, '
            'epoch iterator)')


class EpochCursor:
    """Where one epoch stands.

    An epoch iterator and its stream share it. It outlives the iterator, so that the stream can
    tell its state after a loop was broken off, and it holds no reference to the stream.

    Parameters
    ----------
    epoch : int
        The number of the epoch, from 0.
    requests : RequestIterator
        The requests; their position is that of the epoch.
    data_state : object, optional
        The state of the data set in this epoch.

    Attributes
    ----------
    finished : bool
        Whether the epoch was iterated to its end.
    is_foreign : bool
        Whether the requests came from outside of the library, so that nobody here can start them
        again.
    is_rewindable : bool
        Whether data can be had again by putting back the request for them.
    ahead : list
        Data that were read before their time, those of the next step last. Whoever takes them
        counts up ``requests.position``; whoever takes back a step drops them.
    """

    __slots__ = ('ahead', 'data_state', 'epoch', 'finished', 'is_foreign', 'is_rewindable',
                 'requests')

    def __init__(self, epoch: int, requests: RequestIterator, data_state: Any = None) -> None:
        self.epoch = epoch
        self.requests = requests
        self.data_state = data_state
        self.finished = False
        self.is_foreign = False
        self.is_rewindable = False
        self.ahead: list[Batch] = []

    def __getstate__(self) -> tuple[None, dict[str, Any]]:
        return None, {**{name: getattr(self, name) for name in self.__slots__}, 'ahead': []}

    @property
    def step(self) -> int:
        """How many requests of the epoch were drawn."""
        return self.requests.position

    def take_back(self) -> bool:
        """Go back a step whose data were not given out, if they can be had again; tell whether."""
        if self.is_rewindable:
            self.ahead.clear()
            self.requests.take_back()
        return self.is_rewindable

    def finish(self) -> None:
        """Note that the epoch is over."""
        self.finished = True
        self.ahead.clear()
        self.requests.finish()


class _Starts:
    """Tells whether an epoch iterator was made since somebody last looked.

    Attributes
    ----------
    latest : int
        Another number after each of them.
    """

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self.latest = 0

    def note(self) -> None:
        """Note that an epoch iterator was made."""
        self.latest = next(self._numbers)


starts = _Starts()


def by_source(stream: Any, data: Batch) -> dict[str, Any]:
    """Return the data of a step as a dict from source name to data."""
    sources = stream.sources
    if data is None:
        raise ValueError(f'{type(stream).__name__}: expected a tuple of {len(sources)} items, one '
                         f'for each of the sources {sources}; got None. Is a return statement '
                         'missing?')
    if len(data) != len(sources):
        raise ValueError(f'{type(stream).__name__}: expected {len(sources)} items, one for each '
                         f'of the sources {sources}; got {len(data)}')
    return dict(zip(sources, data, strict=True))


class DataIterator(Iterator[Any]):
    """Iterates over one epoch of a stream.

    Parameters
    ----------
    data_stream : AbstractDataStream
        The stream; its `get_data` is called for every step.
    request_iterator : iterator, optional
        Gives the request for every step. By default `get_data` is called without one.
    as_dict : bool, optional
        Give dicts from source name to data in place of tuples. Off by default.
    cursor : EpochCursor, optional
        Where the iteration stands. By default at the start of the stream's next epoch.

    Attributes
    ----------
    epoch : int
        The number of the epoch, from 0.
    step : int
        How many steps were taken.
    """

    def __init__(self, data_stream: Any, request_iterator: Iterator[Request] | None = None,
                 as_dict: bool = False, *, cursor: EpochCursor | None = None) -> None:
        self.data_stream = data_stream
        self.as_dict = as_dict
        if cursor is None:
            if request_iterator is None:
                request_iterator = NoRequests()
            elif not isinstance(request_iterator, RequestIterator):
                request_iterator = CountedRequests(request_iterator)
            if getattr(data_stream, '_loaded_state', None) is not None:
                raise StateError(_FOREIGN.format(type(data_stream).__name__))
            cursor = EpochCursor(getattr(data_stream, 'epochs_started', 0), request_iterator)
            cursor.is_foreign = True
            data_stream.epochs_started = cursor.epoch + 1
        self.cursor = cursor
        data_stream.epoch_cursor = cursor
        starts.note()

    @property
    def request_iterator(self) -> Iterator[Request] | None:
        """The requests still to come; `None` for a stream without an iteration scheme."""
        requests = self.cursor.requests
        if isinstance(requests, NoRequests):
            return None
        return requests.iterator if isinstance(requests, CountedRequests) else requests

    @request_iterator.setter
    def request_iterator(self, iterator: Iterator[Request]) -> None:
        self.cursor.ahead.clear()  # what was read for the old ones
        self.cursor.requests = (iterator if isinstance(iterator, RequestIterator)
                                else CountedRequests(iterator))
        self.cursor.is_foreign = True

    @property
    def epoch(self) -> int:
        """The number of the epoch, from 0."""
        return self.cursor.epoch

    @property
    def step(self) -> int:
        """How many steps of the epoch were taken."""
        return self.cursor.step

    def __next__(self) -> Any:
        cursor = self.cursor
        if cursor.finished:
            raise StopIteration
        if self._is_superseded():
            self._refuse()
        try:
            data = self._draw(cursor)
        except StopIteration:
            cursor.finish()
            raise
        return by_source(self.data_stream, data) if self.as_dict else data

    def _is_superseded(self) -> bool:
        """Tell whether the position that this iterator relies on was taken away from it."""
        return getattr(self.data_stream, 'epoch_cursor', self.cursor) is not self.cursor

    def _refuse(self) -> NoReturn:
        """Say that this iterator was superseded."""
        raise SupersededIteratorError(
            f'epoch {self.epoch} of this {type(self.data_stream).__name__} was broken off at step '
            f'{self.step}, when a newer epoch iterator was made: the stream keeps a single '
            'position, so two epochs of it cannot run side by side. Use one stream for each of '
            'them.')

    def _draw(self, cursor: EpochCursor) -> Batch:
        """Take a step, and return its data."""
        request = next(cursor.requests)
        data: Batch = (self.data_stream.get_data() if isinstance(cursor.requests, NoRequests)
                       else self.data_stream.get_data(request))
        return data

    def take_into(self, taken: list[Any], count: int) -> None:
        """Take several steps at once, for whoever needs the data of all of them.

        Parameters
        ----------
        taken : list
            The data are appended to it. Where a step fails, those of the steps before it are in
            the list.
        count : int
            How many steps; fewer are taken at the end of the epoch only.
        """
        # Extending puts every entry into the list before it asks for the next one.
        taken.extend(itertools.islice(self, count))

    def take_rows_into(self, taken: list[Any], count: int) -> None:
        """Take several steps of single examples at once, for whoever makes a batch of them.

        Parameters
        ----------
        taken : list
            Examples are appended to it, or `Rows` of several examples.
        count : int
            How many examples; fewer are taken at the end of the epoch only.
        """
        self.take_into(taken, count)

    def rewind(self, count: int) -> bool:
        """Go back steps, so that they are taken again, if that can be done at no cost.

        Returns
        -------
        bool
            Whether it was done.
        """
        return False

    def state_dict(self) -> dict[str, Any]:
        """Return where this iterator stands, as plain data.

        Returns
        -------
        dict
            Can be loaded by the stream's `load_state_dict`.
        """
        if self._is_superseded():
            self._refuse()
        if self.cursor.is_foreign:
            raise StateError(_FOREIGN.format(type(self.data_stream).__name__))
        return self.data_stream.state_of(self)  # type: ignore[no-any-return]


class EndedIterator(Iterator[Any]):
    """Stands for the rest of an epoch of which nothing was left when it was saved.

    Parameters
    ----------
    data_stream : AbstractDataStream
        The stream, which had come to the end of an epoch that one around it had not finished.
    """

    def __init__(self, data_stream: Any) -> None:
        self.data_stream = data_stream

    def __next__(self) -> Any:
        raise StopIteration

    def state_dict(self) -> dict[str, Any]:
        """Return the state of the stream."""
        return self.data_stream.state_dict()  # type: ignore[no-any-return]
