"""What goes on in a worker process."""
from __future__ import annotations

import atexit
import faulthandler
import os
import pickle
import random
import signal
import sys
import threading
import time
from collections import deque
from contextlib import suppress
from typing import Any

import numpy.random

from fuel._kernels import end_with
from fuel.config_parser import config
from fuel.engine import info, launch
from fuel.engine.channel import BRISK, DONE, Kind, Link, Message, numbers_of
from fuel.engine.faults import pack_error
from fuel.engine.launch import Station
from fuel.engine.parcels import Outbox
from fuel.engine.pickling import dumps
from fuel.engine.region import Region
from fuel.engine.results import Result
from fuel.engine.settings import adopt
from fuel.engine.shipping import load

__all__ = ['main', 'main_of_fresh']

# A worker whose parent is gone may finish what it is at for so many seconds.
_GRACE = 1.0


def main_of_fresh(given: dict[str, Any]) -> None:
    """Be a worker in an interpreter that was started for it, or what workers are forked from.

    Parameters
    ----------
    given : dict
        What the parent has sent: a station, as plain data; or the socket of a nest.
    """
    if 'station' in given:
        main(Station(**given['station']))
        return
    from fuel.engine.nest import serve
    plain, descriptors = serve(given['control'], given['imports'])
    # From here on this is a fork.
    code = 1
    try:
        station = Station(**plain)
        station.receive(descriptors)
        main(station)
        code = 0
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else 1
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        _leave(code)


def _leave(code: int) -> None:
    """End a fork, without taking apart what it has in common with its siblings.

    To do that would copy nearly all of it first, as most of the memory is shared until it is
    written to, and take longer than to start.
    """
    try:
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            with suppress(Exception):
                stream.flush()
    finally:
        os._exit(code)


def main(station: Station, runner: Any = None) -> None:
    """Be a worker until the parent hangs up.

    Parameters
    ----------
    station : Station
        What is needed to begin.
    runner : object, optional
        Like what is shipped, for a worker that has it from its parent already.
    """
    # Both were blocked when the process began, and what came meanwhile is dropped here.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    for number in station.descriptors():
        # They came from another process, and go no further.
        os.set_inheritable(number, False)
    end_with(station.control, station.parent, _GRACE)
    # Crashes are written down as well, and make part of the message about them.
    faulthandler.enable(station.stacks)
    faulthandler.register(launch.DUMP, station.stacks)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())
    if station.cores is not None:
        os.sched_setaffinity(0, station.cores)
    worker = _Worker(station)
    # A parent that has gone wants no explanation.
    with suppress(BrokenPipeError, ConnectionResetError):
        worker.begin(runner)
        worker.work()


class _Worker:
    """Does tasks.

    Parameters
    ----------
    station : Station
        What was given to this process.
    """

    def __init__(self, station: Station) -> None:
        self._station = station
        self._link = Link(station.control)
        self._outbox = Outbox(Region.attach(station.region))
        self._tasks: deque[Message] = deque()
        self._setup: Message | None = None
        self._runner: Any = None
        # Whether the latest task was short.
        self._is_brisk = False
        # Why no task can be done.
        self._failure: bytes | None = None

    def begin(self, runner: Any) -> None:
        """Become ready for tasks."""
        try:
            if runner is None:
                runner = self._received_runner()
                if runner is None:
                    return
            self._settle(*runner)
        except BaseException as error:
            self._failure = self._packed(error)
        self._link.send(Kind.READY)

    def _received_runner(self) -> Any:
        while self._setup is None:
            if not self._take(wait=True):
                return None
        try:
            return load(self._station.shipment, self._setup.number)
        finally:
            os.close(self._station.shipment)

    def _settle(self, runner: Any, worker_init_fn: Any, settings: dict[str, Any]) -> None:
        station = self._station
        adopt(settings, station.num_workers)
        seed = info.worker_seed(config.default_seed, station.worker, station.generation)
        _seed(seed)
        info.announce(info.WorkerInfo(station.worker, station.num_workers, seed,
                                      getattr(runner, 'dataset', None),
                                      getattr(runner, 'stream', None)))
        if worker_init_fn is not None:
            worker_init_fn(station.worker)
        self._runner = runner

    def work(self) -> None:
        """Do tasks until the parent hangs up."""
        # Not before: what was loaded is there to stay, and nothing of it is sent.
        self._outbox.install()
        while self._take(wait=not self._tasks):
            if self._tasks:
                self._do(self._tasks.popleft())

    def _take(self, wait: bool) -> bool:
        """Read what has arrived; return whether the parent is still there."""
        messages = self._link.receive(wait, self._is_brisk)
        for message in messages or ():
            if message.kind == Kind.RUN:
                self._tasks.append(message)
            elif message.kind == Kind.RELEASE:
                self._outbox.release(numbers_of(message.content))
            else:
                self._setup = message
        return messages is not None

    def _do(self, task: Message) -> None:
        error = self._failure
        result = Result([])
        seconds = 0.0
        if error is None:
            start = time.perf_counter()
            try:
                result = self._runner.run(pickle.loads(task.content))
            # Whatever it is, it is for whoever waits for the task: this process goes on.
            except BaseException as problem:
                result = Result([], problem)
            seconds = time.perf_counter() - start
            self._is_brisk = seconds < BRISK
        try:
            description = self._outbox.pack(result.steps)
            extra = b'' if result.extra is None else dumps(result.extra)
        except BaseException as problem:
            result.error, extra = problem, b''
            description = self._outbox.pack([])
        if result.error is not None:
            error = self._packed(result.error)
        error = error or b''
        self._link.send(Kind.DONE, task.number,
                        DONE.pack(seconds, len(description), len(error), len(extra)),
                        description, error, extra)

    def _packed(self, error: BaseException) -> bytes:
        return pack_error(error, f'worker {self._station.worker} (process {os.getpid()})',
                          (__file__,))


def _seed(seed: int) -> None:
    random.seed(seed)
    numpy.random.seed(seed)  # noqa: NPY002 (for code of the user that draws from it)
    torch = sys.modules.get('torch')
    if torch is not None:
        torch.manual_seed(seed)
