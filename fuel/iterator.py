"""The iteration over one epoch of a stream, and where it stands."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fuel._types import Batch, Request
from fuel.exceptions import SupersededIteratorError
from fuel.schemes.requests import CountedRequests, NoRequests, RequestIterator

__all__ = ['DataIterator', 'EndedIterator', 'EpochCursor', 'by_source']


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
    """

    __slots__ = ('data_state', 'epoch', 'finished', 'requests')

    def __init__(self, epoch: int, requests: RequestIterator, data_state: Any = None) -> None:
        self.epoch = epoch
        self.requests = requests
        self.data_state = data_state
        self.finished = False

    @property
    def step(self) -> int:
        """How many requests of the epoch were drawn."""
        return self.requests.position

    def take_back(self) -> None:
        """Go back a step whose data were not given out, so that it is taken again.

        Only data that are asked for by requests can be had again.
        """
        if self.data_state is None and not isinstance(self.requests, NoRequests):
            self.requests.take_back()

    def finish(self) -> None:
        """Note that the epoch is over."""
        self.finished = True
        self.requests.finish()


def by_source(stream: Any, data: Batch) -> dict[str, Any]:
    """Return the data of a step as a dict from source name to data."""
    sources = stream.sources
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
            cursor = EpochCursor(getattr(data_stream, 'epochs_started', 0), request_iterator)
            data_stream.epochs_started = cursor.epoch + 1
        self.cursor = cursor
        data_stream.cursor = cursor

    @property
    def request_iterator(self) -> Iterator[Request] | None:
        """The requests still to come; `None` for a stream without an iteration scheme."""
        requests = self.cursor.requests
        if isinstance(requests, NoRequests):
            return None
        return requests.iterator if isinstance(requests, CountedRequests) else requests

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
            raise SupersededIteratorError(
                f'epoch {cursor.epoch} of this {type(self.data_stream).__name__} was broken off at '
                f'step {cursor.step}, when a newer epoch iterator was made: the stream keeps a '
                'single position, so two epochs of it cannot run side by side. Use one stream '
                'for each of them.')
        try:
            data = self._draw(cursor)
        except StopIteration:
            cursor.finish()
            raise
        return by_source(self.data_stream, data) if self.as_dict else data

    def _is_superseded(self) -> bool:
        """Tell whether the position that this iterator relies on was taken away from it."""
        return getattr(self.data_stream, 'cursor', self.cursor) is not self.cursor

    def _draw(self, cursor: EpochCursor) -> Batch:
        """Take a step, and return its data."""
        request = next(cursor.requests)
        data: Batch = (self.data_stream.get_data() if isinstance(cursor.requests, NoRequests)
                       else self.data_stream.get_data(request))
        return data

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
