"""One client's conversation with a server."""
from __future__ import annotations

import logging
import os
import secrets
import threading
import time
import weakref
from typing import TYPE_CHECKING, Any, NoReturn

from fuel._types import Batch
from fuel.exceptions import ServerError, ServerTimeoutError, StateError, SupersededIteratorError
from fuel.iterator import EpochCursor
from fuel.streams.place import Address
from fuel.streams.position import Position

if TYPE_CHECKING:
    from fuel.streams.links import Link, OldLink

__all__ = ['Visitor']

log = logging.getLogger(__name__)

# Where nothing else was asked for, a server that is not there is waited for so many seconds.
_PATIENCE = 60.0
# After a connection has failed, the next one is made so many seconds later.
_AGAIN = 0.05


class _RemoteTraceback(Exception):
    """What a server tells of where its stream failed."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text

    def __str__(self) -> str:
        return f'\n\nin the server:\n{self.text}'


class Visitor:
    """A client of a server: its connection, and where it stands.

    A pickle has neither the connection nor the name, so that a copy is another client. One that
    was in the middle of an epoch goes on there in place of the first.

    Parameters
    ----------
    place : Address
        Where the server is.
    hwm : int
        How many steps may be sent ahead.

    Attributes
    ----------
    lock : threading.RLock
        To be held by whoever uses the visitor.
    timeout : float or None
        How long to wait.
    sources : tuple of str or None
        Which sources are expected; `None` for any.
    examples : bool or None
        Whether examples are expected, as opposed to batches; `None` for either.
    position : Position
        Where it stands.
    about : dict or None
        What the server says of its stream.
    """

    def __init__(self, place: Address, hwm: int) -> None:
        self.place = place
        self.hwm = hwm
        self.timeout: float | None = None
        self.sources: tuple[str, ...] | None = None
        self.examples: bool | None = None
        self.position = Position()
        self.about: dict[str, Any] | None = None
        # Tells the epoch that is wanted from those that were wanted before.
        self._ticket = 0
        self._begin_anew()

    def _begin_anew(self) -> None:
        """Set up what is never shared with a copy, nor with a child process."""
        self._session = secrets.token_hex(8)
        self.lock = threading.RLock()
        self._link: Link | OldLink | None = None
        self._leaving: Any = None
        self._memory: Any = None

    def __getstate__(self) -> dict[str, Any]:
        self.where()
        left_out = ('_session', 'lock', '_link', '_leaving', '_memory')
        return {key: value for key, value in self.__dict__.items() if key not in left_out}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._begin_anew()

    # The connection.

    @property
    def connected(self) -> bool:
        """Whether there is a connection."""
        return self._link is not None and self._link.pid == os.getpid()

    def ask(self) -> dict[str, Any]:
        """Return what the server says of its stream; nothing, if it is one of the old library."""
        with self.lock:
            if self.about is None:
                self._connect(None, self._deadline())
            return self.about or {}

    def _deadline(self) -> float | None:
        return None if self.timeout is None else time.monotonic() + self.timeout

    def _connect(self, cursor: EpochCursor | None, deadline: float | None) -> Link | OldLink:
        """Return a connection to the server, made anew if there is none."""
        from fuel.streams.links import BrokenLinkError, connect
        if self._link is not None and not self.connected:
            # That of the parent process. What it was given is not for this one.
            self._begin_anew()
        if self._link is not None:
            return self._link
        until = time.monotonic() + _PATIENCE if deadline is None else deadline
        while True:
            try:
                link = connect(self.place, self.hwm, until)
                try:
                    self._introduce(link, cursor, until)
                except BaseException:
                    link.close()
                    raise
                self._link = link
                # Also when nobody needs the visitor any more, and when the program ends.
                self._leaving = weakref.finalize(self, link.part, self._session)
                return link
            except BrokenLinkError as error:
                if time.monotonic() + _AGAIN >= until:
                    raise self._timed_out(str(error)) from error
            except ServerTimeoutError:
                raise
            except TimeoutError as error:
                raise self._timed_out(str(error)) from error
            time.sleep(_AGAIN)

    def _introduce(self, link: Link | OldLink, cursor: EpochCursor | None, deadline: float) -> None:
        """Say what is wanted, and hear what the server gives."""
        from fuel.streams.links import OldLink
        position = self.position
        if isinstance(link, OldLink):
            if position.has_begun:
                raise StateError(f'the server at {self.place} is one of the old library, which '
                                 'cannot go on from a saved state')
            return
        within = position.has_begun and position.within
        wanted = cursor is not None and not cursor.finished
        link.hello(self._session, self.hwm, self._ticket, position.to_plain(),
                   position.epoch if wanted and not within else None, self._memory)
        answer = link.receive(deadline)
        if answer is None:
            raise TimeoutError('a server was found, but it does not answer')
        if answer[0]['op'] == 'refused':
            raise ServerError(answer[0]['reason'])
        self._memory = link.memory
        self._check(answer[0])
        self.about = answer[0]

    def _check(self, about: dict[str, Any]) -> None:
        """Compare what the server says with what is expected."""
        mine, theirs = self.sources, tuple(about['sources'])
        if mine is not None and mine != theirs and (len(theirs) != len(mine)
                                                    or set(theirs) == set(mine)):
            raise ValueError(f'expected the sources {mine}; the server at {self.place} gives '
                             f'{theirs}')
        kind = self.examples
        if kind is not None and about['examples'] is not None and kind != about['examples']:
            kinds = ('batches', 'examples')
            raise ValueError(f'expected {kinds[kind]}, as produces_examples says; the server at '
                             f'{self.place} gives {kinds[not kind]}')

    def _timed_out(self, what: str) -> ServerTimeoutError:
        given = _PATIENCE if self.timeout is None else self.timeout
        return ServerTimeoutError(
            f'waited {given:g} seconds for the server at {self.place}: {what}. Is it running, and '
            'reachable from here? The argument timeout says how long to wait')

    def _let_go(self) -> None:
        """Close the connection."""
        link, self._link = self._link, None
        if link is not None:
            self._leaving.detach()
            link.close()

    def close(self) -> None:
        """Take leave. A new connection is made when it is needed."""
        with self.lock:
            link, self._link = self._link, None
            if link is not None:
                self._leaving.detach()
                link.part(self._session)

    # Epochs.

    def where(self) -> Position:
        """Return where it stands, with all that is known of other clients."""
        from fuel.streams.links import Link
        with self.lock:
            if isinstance(self._link, Link) and self.connected:
                for header in self._link.news():
                    self._learn(header)
            return self.position

    def _learn(self, header: dict[str, Any]) -> None:
        """Note what a message says of where this client and others stand."""
        if header['op'] == 'note':
            self.position.note(header)
        elif header['op'] == 'resumed' and header['ticket'] == self._ticket:
            self.position.known_as(self._session, (self.about or {})['server'])

    def want_next(self) -> None:
        """Want no more of the epoch under way, but the next one."""
        from fuel.streams.links import Link
        self._ticket += 1
        self.position.leave()
        if isinstance(self._link, Link) and self.connected:
            self._link.tell('join', ticket=self._ticket, after=self.position.epoch)

    def go_on_from(self, position: Position) -> None:
        """Forget where it stood, and go on from elsewhere."""
        self.close()
        self._ticket += 1
        self.position = position

    def take(self, cursor: EpochCursor) -> Batch:
        """Return the data of the next step of an epoch.

        Parameters
        ----------
        cursor : EpochCursor
            Where the epoch stands; it is moved.

        Raises
        ------
        StopIteration
            The epoch is over.
        ServerTimeoutError
            Nothing came in time. The step is still to be had.
        """
        from fuel.streams.links import BrokenLinkError, Link, OldLink
        deadline = self._deadline()
        while True:
            try:
                link = self._connect(cursor, deadline)
                if isinstance(link, OldLink):
                    return self._take_from_old(link, cursor, deadline)
                return self._take_from(link, cursor, deadline)
            except BrokenLinkError as error:
                log.info('%s; looking for it again', error)
                if isinstance(self._link, Link):
                    for header in self._link.last_words():
                        self._learn(header)
                self._let_go()
            except (ServerTimeoutError, ServerError, StopIteration):
                raise
            except BaseException:
                # Ctrl-C may have come between two halves of a message.
                self.close()
                raise

    def _take_from(self, link: Link, cursor: EpochCursor, deadline: float | None) -> Batch:
        """Return the data of the next step of a server of this library."""
        position = self.position
        if cursor.step and not position.has_begun:
            raise StateError('this epoch was begun at a server of the old library; another one '
                             'cannot go on from the middle of it')
        while True:
            message = link.receive(deadline)
            if message is None:
                raise self._timed_out('it is there, but gave nothing. It may be busy with a step, '
                                      'or wait for other clients to end their epoch')
            header, frames = message
            operation = header['op']
            if operation == 'superseded':
                self._give_up(cursor)
            if operation in ('note', 'resumed'):
                self._learn(header)
            elif header.get('ticket') not in (self._ticket, None):
                link.drop(header)
            elif operation == 'refused':
                self._refused(header)
            elif operation == 'begin':
                position.begin(self._session, (self.about or {})['server'], header)
                cursor.epoch = header['epoch']
            elif operation == 'end':
                position.finish(header)
                cursor.finish()
                link.tell('end', ticket=self._ticket)
                raise StopIteration
            elif operation == 'step':
                return self._given(link, cursor, header, frames)

    def _given(self, link: Link, cursor: EpochCursor, header: dict[str, Any],
               frames: list[Any]) -> Batch:
        """Return the data of a step, and say that the program was given it."""
        data = () if 'error' in header else tuple(link.items(header, frames))
        link.tell('took', ticket=self._ticket, took=header['number'])
        # From here on the step is done.
        self.position.take(header)
        if header['counts']:
            cursor.requests.position = header['step'] + 1
        if 'error' in header:
            error = header['error']
            raise ServerError(
                f'the stream of the server failed at step {header["step"]} of epoch '
                f'{header["epoch"]}: {error["type"]}: {error["message"]}',
                error['type']) from _RemoteTraceback(error['traceback'])
        return data

    def _refused(self, header: dict[str, Any]) -> NoReturn:
        self._let_go()
        if header['type'] == 'StateError':
            raise StateError(header['reason'])
        raise ServerError(f'the server cannot begin an epoch: {header["type"]}: '
                          f'{header["reason"]}', header['type'])

    def _give_up(self, cursor: EpochCursor) -> NoReturn:
        cursor.finish()
        self._let_go()
        raise SupersededIteratorError(
            'another ServerDataStream has gone on from a pickle or a state of this one, and gets '
            'the rest of the epoch')

    def _take_from_old(self, link: OldLink, cursor: EpochCursor, deadline: float | None) -> Batch:
        """Return the data of the next step of a server of the old library."""
        from fuel.streams.links import BrokenLinkError
        if cursor.step and link.ticket != self._ticket:
            raise StateError('this epoch was begun over another connection; a server of the old '
                             'library cannot go on from the middle of one')
        while True:
            try:
                message = link.receive(deadline)
            except BrokenLinkError:
                if not cursor.step:
                    raise
                cursor.finish()
                self._let_go()
                raise ServerError(
                    f'the server ended at step {cursor.step} of an epoch. It is one of the old '
                    'library, which cannot go on from there; a new epoch iterator connects '
                    'again') from None
            if message is None:
                raise self._timed_out('it is there, but gave nothing')
            is_over, items = message
            was_new, link.is_new = link.is_new, False
            if link.ticket not in (None, self._ticket):
                # The rest of an epoch that was left before its end.
                if is_over:
                    link.ticket = None
                continue
            link.ticket = None if is_over else self._ticket
            if not is_over:
                cursor.requests.position += 1
                return tuple(items)
            # The first thing of all may be the end of an epoch that another client had.
            if not was_new:
                cursor.finish()
                raise StopIteration
