"""Clients as the server sees them."""
from __future__ import annotations

import json
import traceback
from collections import deque
from collections.abc import Callable
from typing import Any

from fuel._types import JSON
from fuel.server.epochs import Epochs, Item
from fuel.server.memory import SharedMemory
from fuel.server.old_clients import OldClient, old_message
from fuel.storage.sharing.owners import machine
from fuel.wire.items import Buffer, pack

__all__ = ['Client', 'PushedClient', 'Taker']

Send = Callable[[bytes, dict[str, JSON], list[Buffer]], None]


class Taker:
    """Somebody who takes steps.

    Attributes
    ----------
    name : str
        Tells it from all others.
    after : int or None
        It wants an epoch that comes after this one; `None` if it wants none now.
    outstanding : deque of (int, Item)
        What was sent to it and not taken yet, with a number that counts up.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.after: int | None = None
        self.outstanding: deque[tuple[int, Item]] = deque()

    def has_room(self, members: int) -> bool:
        """Tell whether it can be sent more, while so many take part."""
        raise NotImplementedError

    def begin(self, epochs: Epochs) -> None:
        """Let it take part in the epoch."""
        self.after = None
        epochs.members[self.name] = None

    def give(self, item: Item, epochs: Epochs) -> None:
        """Send it a step."""
        raise NotImplementedError

    def end(self, epochs: Epochs) -> None:
        """Tell it that the epoch is over."""
        raise NotImplementedError


class Client(Taker):
    """A client of this library.

    Parameters
    ----------
    name : str
        As it calls itself.
    route : bytes
        Where ZeroMQ finds it.
    send : callable
        Sends a header and buffers to a route.
    hello : dict
        What it said first.
    sources : tuple of str
        The names of the sources.
    memory : SharedMemory
        Where large arrays are put, if the client can reach it.
    hwm : int
        How many steps may be sent ahead, as the server has it.

    Attributes
    ----------
    names : set of str
        What it calls itself, and has called itself before.
    ticket : int
        Which of the epochs that it asked for it gets.
    has_ended : bool
        Whether it was told that the epoch is over.
    process : tuple of int
        Number and start of its process.
    is_here : bool
        Whether it runs on this machine.
    reaches_memory : bool
        Whether it can be given arrays in shared memory.
    """

    def __init__(self, name: str, route: bytes, send: Send, hello: dict[str, JSON],
                 sources: tuple[str, ...], memory: SharedMemory, hwm: int) -> None:
        super().__init__(name)
        self.route = route
        self.names = {name, *(hello['position'] or {}).get('names', ())}
        self.ticket = 0
        self.has_ended = False
        self.process = (int(hello['pid']), hello['started'])
        self.is_here = hello['machine'] == machine()
        self.reaches_memory = False
        self._hwm = max(1, min(hwm, int(hello['hwm'])))
        self._send = send
        self._sources = sources
        self._memory = memory
        # Grows with every step taken, so that others who come a little later get their share.
        self._window = 1
        self._number = 0
        self._low = -1

    def has_room(self, members: int) -> bool:
        """Tell whether it can be sent more, while so many take part."""
        return not self.has_ended and len(self.outstanding) < min(
            self._window, max(1, self._hwm // max(members, 1)))

    def tell(self, **entries: JSON) -> None:
        """Send a message without data."""
        self._send(self.route, entries, [])

    def begin(self, epochs: Epochs) -> None:
        """Let it take part in the epoch."""
        super().begin(epochs)
        epochs.peers[self.name] = None
        self.has_ended = False
        self._low = epochs.low
        self.tell(op='begin', ticket=self.ticket, epoch=epochs.epoch, line=epochs.line,
                  base=epochs.base, why_no_state=epochs.why_no_state, **_company(epochs))

    def note(self, epochs: Epochs) -> None:
        """Tell it who takes part, and what those had who do not any more."""
        self.tell(op='note', line=epochs.line, **_company(epochs))

    def give(self, item: Item, epochs: Epochs) -> None:
        """Send it a step."""
        self._number += 1
        header: dict[str, JSON] = {
            'op': 'step', 'ticket': self.ticket, 'number': self._number, 'epoch': epochs.epoch,
            'step': item.step, 'counts': item.counts, 'state': item.state}
        if epochs.low != self._low:
            header['low'] = self._low = epochs.low
        if epochs.why_no_state is not None:
            header['why_no_state'] = epochs.why_no_state
        buffers: list[Buffer] = []
        error = item.error
        if error is None:
            try:
                header['items'], buffers = self._packed(item.data)
                # Long numbers and deep lists come to light only here.
                json.dumps(header['items'])
            except (TypeError, ValueError, RecursionError) as problem:
                header.pop('items', None)
                buffers = []
                error = problem
        if error is not None:
            header['error'] = {
                'type': type(error).__name__, 'message': str(error),
                'traceback': ''.join(traceback.format_exception(error))}
        self.outstanding.append((self._number, item))
        if buffers and self.reaches_memory:
            lent = self._memory.lend(buffers, self.name, self.process)
            if lent is not None:
                header['lent'] = [lent.number, lent.start, lent.nbytes, lent.places]
                header['lengths'] = [memoryview(buffer).nbytes for buffer in buffers]
                buffers = [buffer for buffer, place in zip(buffers, lent.places, strict=True)
                           if place is None]
        self._send(self.route, header, buffers)

    def _packed(self, data: Any) -> tuple[list[dict[str, JSON]], list[Buffer]]:
        if not isinstance(data, (tuple, list)) or len(data) != len(self._sources):
            got = f'{len(data)} items' if isinstance(data, (tuple, list)) else repr(data)
            raise ValueError(f'expected a tuple of {len(self._sources)} items, one for each of the '
                             f'sources {self._sources}; the stream gave {got}')
        entries, buffers = [], []
        for name, item in zip(self._sources, data, strict=True):
            entry, frames = pack(item, f'source {name!r}')
            entries.append(entry)
            buffers += frames
        return entries, buffers

    def took(self, number: int, epochs: Epochs) -> None:
        """Note that its program was given everything up to a number."""
        while self.outstanding and self.outstanding[0][0] <= number:
            epochs.took(self.name, self.outstanding.popleft()[1])
            self._window += 1

    def end(self, epochs: Epochs) -> None:
        """Tell it that the epoch is over."""
        self.has_ended = True
        self.tell(op='end', ticket=self.ticket, epoch=epochs.epoch, low=epochs.low,
                  state=epochs.end_state)


def _company(epochs: Epochs) -> dict[str, JSON]:
    """Return what a client is told of the others."""
    return {'low': epochs.low, 'gone': epochs.taken_by_gone(),
            'peers': [*epochs.peers, *epochs.awaited]}


class PushedClient(Taker):
    """A client of the old library.

    Parameters
    ----------
    name : str
        Tells it from all others.
    connection : OldClient
        The connection.
    sources : tuple of str
        The names of the sources.
    labels : mapping or None
        The labels of their axes.
    """

    def __init__(self, name: str, connection: OldClient, sources: tuple[str, ...],
                 labels: Any) -> None:
        super().__init__(name)
        self.connection = connection
        self.after = -1
        self._entries = [{'source': source, 'labels': (labels or {}).get(source)}
                         for source in sources]

    def has_room(self, members: int) -> bool:
        """Tell whether it can be sent more, while so many take part."""
        return self.connection.is_ready and not self.connection.waits

    def give(self, item: Item, epochs: Epochs) -> None:
        """Send it a step. Once the system has all of it, it counts as taken."""
        if item.error is not None:
            raise item.error
        header, buffers = old_message(item.data, self._entries, epochs.epoch, item.step)
        self.outstanding.append((item.step, item))
        self.connection.push(header, buffers)
        self.settle(epochs)

    def settle(self, epochs: Epochs) -> None:
        """Note what the connection has taken."""
        while self.outstanding and not self.connection.waits and not self.connection.is_closed:
            epochs.took(self.name, self.outstanding.popleft()[1])

    def end(self, epochs: Epochs) -> None:
        """Tell it that the epoch is over. It takes part in the next one without being asked."""
        self.connection.push(json.dumps({'stop': True, 'epoch': epochs.epoch}).encode(), [])
        epochs.leave(self.name)
        self.after = epochs.epoch
