"""The stream that a server gives."""
from __future__ import annotations

import os
from typing import Any, Self

from fuel._types import AxisLabels, Batch, Request
from fuel.iterator import DataIterator, EpochCursor
from fuel.streams.base import AbstractDataStream
from fuel.streams.place import Address
from fuel.streams.position import Position
from fuel.streams.visiting import Visitor

__all__ = ['ServerDataStream']


class RemoteIterator(DataIterator):
    """Iterates over one epoch of a server."""

    def _draw(self, cursor: EpochCursor) -> Batch:
        # The stream counts the step itself, once it has it.
        stream = self.data_stream
        if type(stream).get_data is not ServerDataStream.get_data:
            return stream.get_data()  # type: ignore[no-any-return]
        return stream.step_of(cursor)  # type: ignore[no-any-return]


class ServerDataStream(AbstractDataStream):
    """A stream whose data come from a server, perhaps on another machine.

    Parameters
    ----------
    sources : tuple of str, optional
        The names of the sources. By default those of the server.
    produces_examples : bool, optional
        Whether the server gives single examples. By default the server is asked.
    host : str, optional
        Where the server is: this machine by default.
    port : int, optional
        Its port, 5557 by default.
    hwm : int, optional
        How many batches are sent ahead, 10 by default.
    axis_labels : mapping, optional
        Maps source names to a tuple with a label for each axis. By default those of the server,
        once it was found.
    timeout : float, optional
        How many seconds to wait for a step, at most; then `ServerTimeoutError` is raised, and
        nothing is lost. By default a server that is there is given all the time that it needs,
        and one that is not, or that does not come back, 60 seconds.
    server_key : path, optional
        The file of the server's public key, if it demands keys.
    client_key : path, optional
        The file of the secret key of this client, if the server knows its clients by keys.

    Attributes
    ----------
    connected : bool
        Whether there is a connection. It is made when data are first asked for.
    """

    def __init__(self, sources: Any = None, produces_examples: bool | None = None,
                 host: str = 'localhost', port: int = 5557, hwm: int = 10,
                 axis_labels: AxisLabels | None = None, *, timeout: float | None = None,
                 server_key: str | os.PathLike[str] | None = None,
                 client_key: str | os.PathLike[str] | None = None) -> None:
        super().__init__(axis_labels=axis_labels)
        if hwm < 1:
            raise ValueError('expected hwm, how many batches are sent ahead, to be at least 1; '
                             f'got {hwm}')
        if sources is not None:
            self.sources = sources
        if produces_examples is not None:
            self.produces_examples = produces_examples
        self.host, self.port, self.hwm, self.timeout = host, port, hwm, timeout
        self._visitor = Visitor(Address(host, port, server_key, client_key), hwm)

    @property
    def connected(self) -> bool:
        """Whether there is a connection to the server."""
        return self._visitor.connected

    def _informed(self) -> Visitor:
        """Return the visitor, told what is expected as it is now."""
        visitor = self._visitor
        visitor.timeout = self.timeout
        visitor.sources, visitor.examples = self._sources, self._produces_examples
        return visitor

    # What the server says of its stream.

    def _own_sources(self) -> tuple[str, ...]:
        sources = self._informed().ask().get('sources')
        if sources is None:
            raise ValueError('a server of the old library does not tell the names of the sources; '
                             "pass them: ServerDataStream(('features', 'targets'), False)")
        return tuple(sources)

    @property
    def produces_examples(self) -> bool:
        """Whether the stream gives single examples, as opposed to batches."""
        if self._produces_examples is None:
            told = self._informed().ask().get('examples')
            if told is not None:
                return bool(told)
        return super().produces_examples

    @produces_examples.setter
    def produces_examples(self, value: bool) -> None:
        AbstractDataStream.produces_examples.fset(self, value)  # type: ignore[attr-defined]

    def _own_axis_labels(self) -> Any:
        about = self._informed().ask() if self._sources is None else self._visitor.about
        if not about or about['labels'] is None:
            return None
        # The sources may have names of their own here.
        names = dict(zip(about['sources'], self.sources, strict=True))
        return {names[name]: None if axes is None else tuple(axes)
                for name, axes in about['labels'].items() if name in names}

    # Epochs.

    def get_epoch_iterator(self, as_dict: bool = False) -> Any:
        """Start the next epoch, and return an iterator over it.

        Parameters
        ----------
        as_dict : bool, optional
            Give dicts from source name to data in place of tuples. Off by default.

        Returns
        -------
        DataIterator
            Gives the rest of no older epoch. Where other clients are in the middle of one that
            this client has left or had, the first step waits until they have come to its end.
        """
        with self._visitor.lock:
            if self._loaded_state is None or self._loaded_state['done']:
                self._visitor.want_next()
            return RemoteIterator(self, as_dict=as_dict, cursor=self._next_cursor())

    def get_data(self, request: Request = None) -> Batch:
        """Return the data of the next step; after the end of an epoch, of the next one.

        Parameters
        ----------
        request : None
            Requests are made in the server.

        Returns
        -------
        tuple
            One item for every source.
        """
        if request is not None:
            raise ValueError('ServerDataStream takes no requests, since the server makes them; got '
                             f'{request!r}')
        with self._visitor.lock:
            cursor = self.epoch_cursor
            if cursor is None or cursor.finished:
                cursor = self.get_epoch_iterator().cursor
            return self.step_of(cursor)

    def step_of(self, cursor: EpochCursor) -> Batch:
        """Return the data of the next step of an epoch. Safe to be called from several threads."""
        visitor = self._informed()
        with visitor.lock:
            if cursor.finished:
                raise StopIteration
            before = cursor.epoch
            try:
                data = visitor.take(cursor)
            finally:
                if cursor.epoch != before:
                    self.epochs_started = cursor.epoch + 1
            if self._sources is not None and len(data) != len(self._sources):
                raise ValueError(f'expected {len(self._sources)} items, one for each of the '
                                 f'sources {self._sources}; the server gave {len(data)}')
            return data

    def next_epoch(self) -> None:
        """Do nothing: an epoch iterator starts the next epoch by itself."""

    def reset(self) -> None:
        """Do nothing: the state of the data is that of the server."""

    def close(self) -> None:
        """Close the connection. It is made again when the stream is used again."""
        self._visitor.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    # Where it stands.

    def _state(self) -> dict[str, Any]:
        return {'server': self._visitor.where().to_plain()}

    def _load_state(self, state: dict[str, Any]) -> None:
        self._visitor.go_on_from(Position.from_plain(state['server']))
