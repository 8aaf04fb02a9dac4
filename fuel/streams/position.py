"""Where a client of a server stands."""
from __future__ import annotations

import json
from typing import Any

from fuel._types import JSON

__all__ = ['Position']


class Position:
    """Which steps of a server's epoch a client was given, and how a server can go on from there.

    Attributes
    ----------
    names : list of str
        What the client called itself in this epoch, at last the newest; empty before the first.
    server : str
        What the server calls itself.
    line : str
        Tells the epoch from others of the same number.
    epoch : int
        The number of the epoch.
    within : bool
        Whether the client is in the middle of it, and wants the rest.
    is_done : bool
        Whether it came to the end of it.
    low : int
        Every step before it was given to some client.
    taken : list of int
        The later steps that this client was given.
    bases : list of (int, str)
        States of the server's stream, as JSON, with the number of steps after which they are. The
        first is not after `low`.
    end : str or None
        The state after the whole epoch, if the client came to its end.
    peers : list of str
        Who else took part in the epoch, and was still there.
    why_no_state : str or None
        Why the server's stream cannot tell its state.
    """

    def __init__(self) -> None:
        self.names: list[str] = []
        self.server = ''
        self.line = ''
        self.epoch = -1
        self.within = False
        self.is_done = True
        self.low = 0
        self.taken: list[int] = []
        self.bases: list[tuple[int, str]] = []
        self.end: str | None = None
        self.peers: list[str] = []
        self.why_no_state: str | None = None

    @property
    def has_begun(self) -> bool:
        """Whether there was an epoch."""
        return bool(self.names)

    def known_as(self, name: str, server: str) -> None:
        """Note that a server knows the client and its position."""
        self.server = server
        if name not in self.names:
            self.names.append(name)

    def begin(self, name: str, server: str, message: dict[str, Any]) -> None:
        """Note that an epoch begins, or that the rest of one follows."""
        if message['line'] != self.line:
            self.taken, self.bases, self.peers, self.names = [], [], [], []
            self.low = message['low']
        self.known_as(name, server)
        self.line, self.epoch = message['line'], message['epoch']
        self.within, self.is_done, self.end = True, False, None
        if not self.bases and message['base'] is not None:
            step, state = message['base']
            self.bases = [(step, state)]
        self.hear(message)

    def hear(self, message: dict[str, Any]) -> None:
        """Note what a message says of all clients together."""
        if 'low' in message:
            self.low = max(self.low, message['low'])
            self.taken = [step for step in self.taken if step >= self.low]
        if 'peers' in message:
            self.peers = [name for name in message['peers'] if name not in self.names]
            # What those had who are gone is done, too.
            self.taken = sorted({*self.taken, *message['gone']})
        if message.get('why_no_state') is not None:
            self.why_no_state = message['why_no_state']

    def note(self, message: dict[str, Any]) -> None:
        """Note who else takes part, if this is said of the epoch that the position is in."""
        if message['line'] == self.line:
            self.hear(message)

    def take(self, message: dict[str, Any]) -> None:
        """Note that a step was given to this client."""
        self.hear(message)
        if message['counts']:
            self.taken.append(message['step'])
            self.taken.sort()
            # Alone, everything before this step is done, and nothing of it need be kept.
            while self.taken and self.taken[0] == self.low:
                self.low += 1
                del self.taken[0]
        if message['state'] is not None:
            self.bases.append((message['step'] + message['counts'], message['state']))
            while len(self.bases) > 1 and self.bases[1][0] <= self.low:
                del self.bases[0]

    def finish(self, message: dict[str, Any]) -> None:
        """Note that the epoch is over."""
        self.hear(message)
        self.within, self.end = False, message['state']
        # Without that state, a server goes to the end of the epoch from an earlier one.
        self.is_done = self.end is not None or not self.bases

    def leave(self) -> None:
        """Note that the rest of the epoch is not wanted."""
        self.within = False

    def to_plain(self) -> dict[str, JSON] | None:
        """Return the position as plain data; `None` before the first epoch."""
        if not self.has_begun:
            return None
        return {'names': list(self.names), 'server': self.server, 'line': self.line,
                'epoch': self.epoch, 'within': self.within, 'done': self.is_done, 'low': self.low,
                'taken': list(self.taken), 'peers': list(self.peers),
                'bases': [[step, json.loads(state)] for step, state in self.bases],
                'end': None if self.end is None else json.loads(self.end),
                'why_no_state': self.why_no_state}

    @classmethod
    def from_plain(cls, plain: dict[str, Any] | None) -> Position:
        """Return the position that plain data stand for."""
        position = cls()
        if plain is not None:
            position.names, position.server = list(plain['names']), plain['server']
            position.line, position.epoch = plain['line'], plain['epoch']
            position.within, position.is_done = plain['within'], plain['done']
            position.low, position.taken = plain['low'], list(plain['taken'])
            position.bases = [(step, json.dumps(state)) for step, state in plain['bases']]
            position.end = None if plain['end'] is None else json.dumps(plain['end'])
            position.peers = list(plain['peers'])
            position.why_no_state = plain['why_no_state']
        return position
