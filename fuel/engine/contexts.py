"""Workers that `multiprocessing` starts, for those who ask for it."""
from __future__ import annotations

import multiprocessing
import os
import signal
from contextlib import suppress
from dataclasses import replace
from multiprocessing import resource_tracker
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from multiprocessing.reduction import DupFd
from typing import Any

from fuel.engine.channel import Channel
from fuel.engine.launch import Station

__all__ = ['ContextLauncher']


class ContextLauncher:
    """Starts processes in the way of a context.

    Parameters
    ----------
    context : multiprocessing context
        Which way.
    whole : tuple
        What workers run. A fork has it without a pickle.
    """

    def __init__(self, context: BaseContext, whole: tuple[Any, ...]) -> None:
        self._context = context
        self._whole = whole
        self.ships = context.get_start_method() != 'fork'
        if self.ships:
            # It is needed in any case. Where it is started later, along with the first process,
            # signals that were blocked on purpose are not blocked any more.
            resource_tracker.ensure_running()

    def launch(self, station: Station, channel: Channel) -> _Started:
        """Start a process."""
        kept = []
        if self.ships:
            arguments: tuple[Any, ...] = station.plain(), _Sent(station.descriptors()), None
        else:
            # In a fork all that belongs to the pool of its parent is closed.
            kept = [os.dup(station.parent)] if station.parent >= 0 else []
            station = replace(station, shipment=-1, parent=kept[0] if kept else -1)
            arguments = station.plain(), None, self._whole
        process = self._context.Process(  # type: ignore[attr-defined]
            target=_begin, args=arguments, name=f'fuel worker {station.worker}', daemon=True)
        try:
            process.start()
        finally:
            for number in kept:
                os.close(number)
        # At the end of the program `multiprocessing` would wait for it for ever if it were stopped,
        # and at the end of a fork of the program it would kill it. It is ended by the pool.
        getattr(multiprocessing.process, '_children', set()).discard(process)
        return _Started(process)

    def forget(self) -> None:
        """Do nothing: there is nothing beside the processes."""

    close = forget


class _Started:
    """A process of `multiprocessing`."""

    failure = ''

    def __init__(self, process: BaseProcess) -> None:
        self._process = process
        self._is_mine = True
        self.pid = process.pid or 0
        self.sentinel = process.sentinel

    def poll(self) -> int | None:
        return self._process.exitcode if self._is_mine else 0

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def abandon(self) -> None:
        pass

    def forget(self) -> None:
        self._is_mine = False

    def close(self) -> None:
        if self._is_mine and self._process.exitcode is not None:
            self._process.close()
            self._is_mine = False


class _Sent:
    """Descriptors for a process that is being started, where they have other numbers."""

    def __init__(self, descriptors: list[int]) -> None:
        self.descriptors = descriptors

    def __reduce__(self) -> tuple[Any, ...]:
        # Not before this moment is it known to which process they go.
        return _received, tuple(map(DupFd, self.descriptors))


def _received(*duplicates: Any) -> _Sent:
    return _Sent([duplicate.detach() for duplicate in duplicates])


def _begin(plain: dict[str, Any], sent: _Sent | None, whole: tuple[Any, ...] | None) -> None:
    """Be a worker in a process that `multiprocessing` has started."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    from fuel.engine.worker import main
    station = Station(**plain)
    if sent is not None:
        station.receive(sent.descriptors)
    main(station, whole)
