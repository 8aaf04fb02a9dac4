"""Who gets which step: the rules by which a server deals out epochs."""
from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

from fuel.exceptions import StateError
from fuel.server.clients import Client, PushedClient, Taker
from fuel.server.epochs import Epochs

__all__ = ['Dealer']

log = logging.getLogger(__name__)

# Those who took part when a state was saved are waited for so many seconds.
_PATIENCE = 60.0


class Dealer:
    """Deals out the steps of a stream to those who take part.

    * Who asks for an epoch takes part in the one under way, if it has not had that already;
      otherwise it waits until that has no members left.
    * Each step goes to one member: to the one that has the fewest waiting.
    * A member is told of the end when there is nothing left and it has taken what it got. Until
      then it gets what others who leave or die have not taken.

    Parameters
    ----------
    epochs : Epochs
        The steps.
    clock : callable, optional
        Gives the time in seconds.

    Attributes
    ----------
    takers : dict of str to Taker
        All that there are, by name.
    look_after : callable
        Finds out who is gone.
    """

    def __init__(self, epochs: Epochs, clock: Callable[[], float] = time.monotonic) -> None:
        self.epochs = epochs
        self.takers: dict[str, Taker] = {}
        self.look_after: Callable[[], None] = lambda: None
        self._clock = clock
        self._awaited_since = 0.0
        self._told: tuple[str, list[str]] = '', []

    def deal(self) -> bool:
        """Deal out one step, or an end; tell whether there was something to do."""
        epochs = self.epochs
        self._admit()
        self._tell_of_peers()
        if epochs.awaited or not epochs.members:
            return False
        members = [self.takers[name] for name in epochs.members if name in self.takers]
        taker = min((member for member in members if member.has_room(len(members))),
                    key=lambda member: len(member.outstanding), default=None)
        if taker is None:
            return False
        try:
            item = epochs.draw()
        except StateError as error:
            self._refuse(members, error)
            return True
        if item is not None:
            taker.give(item, epochs)
            return True
        if any(member.outstanding for member in members):
            # What they have not taken may be had again, if they are gone.
            self.look_after()
            if epochs.has_steps:
                return True
        ending = [member for member in members
                  if member.name in epochs.members and not member.outstanding
                  and not (isinstance(member, Client) and member.has_ended)]
        for member in ending:
            member.end(epochs)
        return bool(ending)

    def _admit(self) -> None:
        """Let those take part who want to and may."""
        epochs = self.epochs
        if epochs.awaited:
            if self._clock() - self._awaited_since < _PATIENCE:
                return
            log.warning('%d client(s) that took part in epoch %d have not come back within %g '
                        'seconds; the others get what they had not taken', len(epochs.awaited),
                        epochs.epoch, _PATIENCE)
            epochs.awaited.clear()
            epochs.missing.clear()
        waiting = [taker for taker in self.takers.values() if taker.after is not None
                   and not (isinstance(taker, PushedClient) and not taker.connection.is_ready)]
        if not waiting:
            return
        late = epochs.is_untouched and any(
            taker.after is not None and taker.after < epochs.epoch for taker in waiting)
        if not epochs.members and not late:
            if epochs.would_lose:
                epochs.awaited |= epochs.missing.keys()
                self._awaited_since = self._clock()
                return
            if epochs.has_steps and epochs.epoch >= 0:
                log.info('epoch %d was left before its end', epochs.epoch)
            try:
                epochs.begin()
            except Exception as error:
                self._refuse(waiting, error)
                return
            log.info('epoch %d begins', epochs.epoch)
        for taker in waiting:
            if taker.after is not None and taker.after < epochs.epoch:
                taker.begin(epochs)

    def _tell_of_peers(self) -> None:
        """Tell those who take part of each other, if something has changed.

        Where the server dies, those that come back first wait for the others.
        """
        epochs = self.epochs
        peers = [*epochs.peers, *sorted(epochs.awaited)]
        if (epochs.line, peers) != self._told:
            self._told = epochs.line, peers
            for name in epochs.peers:
                taker = self.takers.get(name)
                if isinstance(taker, Client):
                    taker.note(epochs)

    @property
    def somebody_waits(self) -> bool:
        """Whether clients wait for others."""
        return bool(self.epochs.awaited) or any(
            taker.after is not None for taker in self.takers.values()
            if isinstance(taker, Client))

    def _refuse(self, takers: list[Taker], error: Exception) -> None:
        """Tell those who cannot be served why."""
        for taker in takers:
            self.epochs.leave(taker.name)
            if not isinstance(taker, Client):
                raise error
            taker.after = None
            taker.tell(op='refused', ticket=taker.ticket, type=type(error).__name__,
                       reason=str(error))

    # What clients say.

    def join(self, client: Client, ticket: int, after: int) -> None:
        """Note that a client wants an epoch after the given one, and no other."""
        self.drop(client)
        client.ticket = ticket
        client.after = after

    def resume(self, client: Client, ticket: int, position: dict[str, Any]) -> None:
        """Let a client go on from a position.

        Raises
        ------
        StateError
            That cannot be done.
        """
        client.ticket = ticket
        client.has_ended = False
        awaited = set(self.epochs.awaited)
        self.epochs.resume(client.name, position)
        if self.epochs.awaited - awaited:
            self._awaited_since = self._clock()
        client.tell(op='resumed', ticket=ticket)
        if position['within']:
            client.begin(self.epochs)
        else:
            client.after = position['epoch']

    def finish(self, client: Client) -> None:
        """Note that a client has come to the end of the epoch."""
        self.epochs.leave(client.name)

    def drop(self, taker: Taker) -> None:
        """Take a client out of the epoch. What it has not taken goes to others."""
        while taker.outstanding:
            self.epochs.give_back(taker.outstanding.popleft()[1])
        self.epochs.leave(taker.name)
        taker.after = None
