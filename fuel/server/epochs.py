"""The epochs of a stream, dealt out step by step to whoever takes part.

Nothing here knows of sockets. A *member* is somebody who takes part in the epoch and has not come
to its end. An epoch is over when it has no members left; only then does the next one start.

Every client keeps a *position*: which steps it was given, and states of the stream from which the
steps that nobody was given can be made again (see `fuel.streams.position`). The server keeps
nothing beyond its own life: with the positions of its clients a new one goes on where the old one
ended.
"""
from __future__ import annotations

import hashlib
import heapq
import json
import secrets
import time
from dataclasses import dataclass, field
from typing import Any

from fuel.exceptions import StateError
from fuel.iterator import DataIterator, EndedIterator
from fuel.server.ledger import SOMEBODY, Ledger

__all__ = ['Epochs', 'Item']

# A state is asked for after every step, as long as that takes less than so many seconds. Else it
# may take a twentieth of the time, but no more steps than these are made again for want of a state.
_CHEAP = 1e-4
_SHARE = 20
_STEPS = 64


@dataclass(slots=True, order=True)
class Item:
    """What came out of a step.

    Attributes
    ----------
    step : int
        Which step, from 0.
    data : tuple
        The data.
    error : Exception or None
        What the stream raised in place of giving data.
    counts : bool
        Whether the step is done; after some errors it can still be had.
    state : str or None
        The state of the stream after the step, as JSON, where it was asked for it.
    """

    step: int
    data: Any = field(default=None, compare=False)
    error: Exception | None = field(default=None, compare=False)
    counts: bool = field(default=True, compare=False)
    state: str | None = field(default=None, compare=False)


class Epochs:
    """Deals out the steps of a stream.

    Parameters
    ----------
    stream : AbstractDataStream
        The stream.
    iterator : iterator, optional
        An epoch of it that is under way; the first one to be dealt out.

    Attributes
    ----------
    epoch : int
        The number of the epoch, -1 before the first.
    line : str
        Tells this epoch from others of the same number that are given by other servers, or that
        started from another state.
    members : dict
        Who takes part. The values mean nothing.
    peers : dict
        Clients of this library that take part, or have come to the end, and are still there.
    next_step : int
        The step that is drawn next.
    awaited : set
        Who took part when the epoch was broken off, and has not come back yet.
    end_state : str or None
        The state of the stream after the whole epoch, as JSON.
    is_exhausted : bool
        Whether every step was drawn.
    here : set
        The names, former ones too, of the clients of this library that there are.
    missing : dict of str to bool
        Whose connection broke in this epoch, and whether it surely lives.
    why_no_state : str or None
        Why the stream cannot tell its state.
    """

    def __init__(self, stream: Any, iterator: Any = None) -> None:
        self.stream = stream
        self.epoch = -1
        self.line = ''
        self.members: dict[str, None] = {}
        self.peers: dict[str, None] = {}
        self.awaited: set[str] = set()
        self.here: set[str] = set()
        self.missing: dict[str, bool] = {}
        self.is_exhausted = True
        self.why_no_state: str | None = None
        self._waiting_iterator = iterator
        self._iterator: Any = None
        self._returned: list[Item] = []
        # States that clients brought with them, and those of this server, with the step after
        # which they are.
        self._brought: list[tuple[int, str]] = []
        self._states: list[tuple[int, str]] = []
        self._must_look_back = False
        self._reset(0)

    def _reset(self, step: int) -> None:
        """Begin to count at a step."""
        self._ledger = Ledger(step)
        self.next_step = step
        # Steps that were drawn, and that nobody has said to have got.
        self._pending: set[int] = set()
        self._returned.clear()
        self._states.clear()
        self.end_state: str | None = None
        self._last_capture = self._capture_cost = 0.0

    # Epochs.

    def begin(self) -> None:
        """Start the next epoch of the stream."""
        iterator, self._waiting_iterator = self._waiting_iterator, None
        if iterator is None:
            iterator = self.stream.get_epoch_iterator()
        number = getattr(iterator, 'epoch', None)
        self.epoch = max(number, self.epoch + 1) if isinstance(number, int) else self.epoch + 1
        self.peers.clear()
        self.missing.clear()
        self.awaited = set()
        step = getattr(iterator, 'step', 0)
        self._reset(step if isinstance(step, int) else 0)
        self._iterator = iterator
        self._brought = []
        self._must_look_back = False
        self.is_exhausted = False
        start = self._capture(force=True)
        # The same epoch of the same stream has the same name, whichever server gives it.
        self.line = (secrets.token_hex(8) if start is None
                     else hashlib.sha256(f'{self.epoch} {start}'.encode()).hexdigest()[:16])

    def draw(self) -> Item | None:
        """Return the next step that nobody was given; `None` if there is none left.

        Raises
        ------
        StateError
            It was drawn before, and no state is known from which it could be drawn again.
        """
        self._look_back()
        if self._returned:
            return heapq.heappop(self._returned)
        while not self.is_exhausted:
            step = self.next_step
            before = getattr(self._iterator, 'step', None)
            try:
                data = next(self._iterator)
            except StopIteration:
                self.is_exhausted = True
                self.end_state = self._capture(force=True)
                return None
            except Exception as error:
                # Where the step is still to be had, it keeps its number.
                counts = not isinstance(self._iterator, DataIterator) or (
                    self._iterator.step != before)
                if counts:
                    self.next_step += 1
                    if step in self._pending or self._ledger.owner(step) is not None:
                        continue
                    self._pending.add(step)
                return Item(step, error=error, counts=counts, state=self._capture())
            self.next_step += 1
            state = self._capture()
            if step in self._pending or self._ledger.owner(step) is not None:
                continue
            self._pending.add(step)
            return Item(step, data, state=state)
        return None

    @property
    def is_untouched(self) -> bool:
        """Whether an epoch was begun, and nobody was given anything of it."""
        return self._iterator is not None and self.has_steps and self._ledger.is_empty

    @property
    def would_lose(self) -> bool:
        """Whether somebody who may come back could not have the rest of the epoch any more.

        A client on another machine may just as well be dead. For it alone nobody waits.
        """
        return self.has_steps and bool(self.missing) and bool(
            self.peers or any(self.missing.values()))

    @property
    def has_steps(self) -> bool:
        """Whether there may be steps that nobody was given yet."""
        return bool(self._returned) or not self.is_exhausted

    def _capture(self, force: bool = False) -> str | None:
        """Return the state of the stream, unless it would cost too much to ask for it again."""
        if self.why_no_state is not None:
            return None
        if not isinstance(self._iterator, (DataIterator, EndedIterator)):
            self.why_no_state = (f'the epoch iterator of {type(self.stream).__name__} is a '
                                 f'{type(self._iterator).__name__}, whose position nobody knows')
            return None
        start = time.perf_counter()
        if (not force and self._capture_cost > _CHEAP and self._states
                and start - self._last_capture < _SHARE * self._capture_cost
                and self.next_step - self._states[-1][0] < _STEPS):
            return None
        try:
            state = json.dumps(self.stream.state_dict())
        except Exception as error:  # whatever a stream of a user's says
            self.why_no_state = f'{type(error).__name__}: {error}'
            return None
        self._last_capture = time.perf_counter()
        self._capture_cost = self._last_capture - start
        if not self.is_exhausted and (not self._states
                                      or self._states[-1][0] <= self.next_step):
            self._states.append((self.next_step, state))
        return state

    @property
    def base(self) -> tuple[int, str] | None:
        """A step before which everything was given to somebody, and the state before it."""
        states = self._states
        while len(states) > 1 and states[1][0] <= self.low:
            del states[0]
        return self._base_before(self.low)

    def _base_before(self, step: int) -> tuple[int, str] | None:
        """Return the last known state from which a step can be made, and where it stands."""
        return max((base for base in (*self._states, *self._brought) if base[0] <= step),
                   default=None, key=lambda base: base[0])

    # Who was given what.

    @property
    def low(self) -> int:
        """Every step before this one was given to somebody."""
        return self._ledger.low

    def took(self, member: str, item: Item) -> None:
        """Note that a step was given to the program of a member."""
        if item.counts:
            self._pending.discard(item.step)
            self._ledger.note(item.step, member)

    def give_back(self, item: Item) -> None:
        """Take back a step that was dealt out and not taken."""
        if item.counts and item.step in self._pending:
            heapq.heappush(self._returned, item)

    def taken_by_gone(self) -> list[int]:
        """Return the later steps that were given to those who are not there any more."""
        return list(self._ledger.of_others(self.peers))

    def came_back(self, names: set[str]) -> None:
        """Note that somebody is here, who need not be waited for."""
        self.here |= names
        self.awaited -= names
        for name in names & self.missing.keys():
            del self.missing[name]

    def leave(self, member: str) -> None:
        """Note that somebody takes part no more."""
        self.members.pop(member, None)

    # Going on.

    def resume(self, member: str, position: dict[str, Any]) -> None:
        """Let somebody take part who was in the middle of an epoch, or after one.

        Parameters
        ----------
        member : str
            Who it is now.
        position : dict
            What it knows, in plain data. See `fuel.streams.position`.

        Raises
        ------
        StateError
            Others are at work elsewhere, or no state is known to go on from.
        """
        within, names = position['within'], {member, *position['names']}
        # Its position has never been an earlier one than what others know of it.
        is_known = member in position['names'] or bool(names & self.awaited)
        self.came_back(names)
        if not within and self.members and position['epoch'] < self.epoch:
            return  # It comes late to a later epoch, as others do.
        if position['line'] != self.line or (position['low'] < self._ledger.first and not is_known):
            others = [other for other in self.members if other not in names]
            if others:
                raise StateError(
                    f'the server is in the middle of epoch {self.epoch} with {len(others)} other '
                    f'client(s), and cannot go back to epoch {position["epoch"]} for one that '
                    'comes with a saved state. Start all clients from states that were saved '
                    'together, or this one without a state')
            self._take_up(position)
        elif within:
            # What it was given after that position is not known to it.
            self._ledger.take_back(position['low'], names, set(position['taken']))
        self._brought += [(step, json.dumps(state)) for step, state in position['bases']]
        for step in range(self.low, position['low']):
            self._mark(step, SOMEBODY)
        for step in position['taken']:
            self._mark(step, member)
        self._must_look_back = True
        self.peers[member] = None
        if within:
            self.members[member] = None

    def _mark(self, step: int, owner: str) -> None:
        """Note that a step was given to somebody before, as far as that can still be heeded."""
        if self._ledger.owner(step) is not None:
            return
        places = [place for place, item in enumerate(self._returned) if item.step == step]
        if places:
            del self._returned[places[0]]
            heapq.heapify(self._returned)
        self._pending.discard(step)
        self._ledger.note(step, owner)

    def _take_up(self, position: dict[str, Any]) -> None:
        """Take up the epoch of a position, in place of whatever was done before."""
        within = position['within']
        base = position['end'] if position['done'] else next(
            (state for _, state in reversed(position['bases'])), None)
        if base is None:
            raise StateError(
                f'the server cannot go on from step {position["low"]} of epoch '
                f'{position["epoch"]}: no state of its stream is known. '
                + (f'Its stream cannot tell one: {self.why_no_state}' if self.why_no_state
                   else 'The one that began the epoch could not tell any'))
        self.epoch = position['epoch']
        self.line = position['line']
        self.awaited = set(position['peers']) - self.here
        self.members.clear()
        self.peers.clear()
        self.missing.clear()
        self._iterator = self._waiting_iterator = None
        self._reset(position['low'])
        self._brought = []
        self.is_exhausted = not within
        if not within:
            self.stream.load_state_dict(base)
            if not position['done']:
                # Past the epoch that was left before its end.
                self.stream.get_epoch_iterator()

    def _look_back(self) -> None:
        """Go back to before the first step that nobody was given, if it was drawn already."""
        if not self._must_look_back:
            return
        self._must_look_back = False
        step = self.low
        while self._ledger.owner(step) is not None or step in self._pending:
            step += 1
        if self._iterator is not None and step >= self.next_step:
            return
        base = self._base_before(step)
        if base is None:
            raise StateError(f'the server cannot go back to step {step} of epoch {self.epoch}: no '
                             'state of its stream before it is known')
        self.stream.load_state_dict(json.loads(base[1]))
        self._iterator = self.stream.get_epoch_iterator()
        self.next_step = base[0]
        self.is_exhausted = False
        self._states[:] = [base]
