"""What ``fuel-convert`` notes while a converter runs: its inputs, its seed, where its files go."""
from __future__ import annotations

import hashlib
import logging
import os
import queue
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from fuel.exceptions import OutputExistsError

__all__ = ['InputDigest', 'Record', 'current_record', 'recording']

logger = logging.getLogger(__name__)

_BLOCK = 1 << 20
#: Blocks that were read and wait to be hashed.
_WAITING = 16


class InputDigest:
    """The SHA-256 of a file, most of which is fed while the converter reads it.

    Parameters
    ----------
    path : str
        The file.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        self.size = os.path.getsize(path)
        self.hexdigest = ''
        self._hash = hashlib.sha256()
        self._hashed = 0
        self.fed = 0

    def update(self, block: bytes | memoryview) -> None:
        """Take the next bytes of the file."""
        self._hash.update(block)
        self._hashed += len(block)

    def finish(self, stopped: Callable[[], bool]) -> None:
        """Read what has not been fed."""
        if self.hexdigest:
            return
        buffer = bytearray(_BLOCK)
        view = memoryview(buffer)
        with open(self.path, 'rb', buffering=0) as stream:
            stream.seek(self._hashed)
            while count := stream.readinto(buffer):
                if stopped():
                    return
                self.update(view[:count])
        self.size = self._hashed
        self.hexdigest = self._hash.hexdigest()


@dataclass(slots=True, eq=False)
class Record:
    """What is noted of one conversion.

    Attributes
    ----------
    directory : str
        Where the raw files lie; their names are told from there.
    target : str
        The folder in which the finished files will stand.
    force : bool
        Whether files that stand there are replaced.
    seed : int or None
        What random choices were made with.
    """

    directory: str
    target: str
    force: bool = False
    seed: int | None = None
    _digests: dict[str, tuple[str, InputDigest]] = field(default_factory=dict)
    _tasks: queue.Queue[Callable[[], None] | None] = field(default_factory=queue.Queue)
    _slots: threading.Semaphore = field(
        default_factory=lambda: threading.BoundedSemaphore(_WAITING))
    _thread: threading.Thread | None = None
    _stopped: bool = False
    _error: BaseException | None = None

    def check_output(self, name: str) -> None:
        """Raise if a file of a name stands where it is to be, and is not to be replaced.

        Raises
        ------
        OutputExistsError
            It does. A ``FileExistsError``.
        """
        path = os.path.normpath(os.path.join(self.target, name))
        if os.path.isdir(path):
            raise OutputExistsError(f'{path} is a folder; give another name with -r')
        if not self.force and os.path.lexists(path):
            raise OutputExistsError(f'{path} is there already; give --force to replace it, or '
                                    'another name with -r')

    def input(self, path: str, name: str | None = None) -> InputDigest:
        """Note an input file, once.

        Parameters
        ----------
        path : str
            Where it is.
        name : str, optional
            What to call it; by default its path from the folder of the raw files, or its last
            part if it lies elsewhere.
        """
        key = os.path.realpath(path)
        if key not in self._digests:
            self._digests[key] = (name or self._name_of(path), InputDigest(path))
        return self._digests[key][1]

    def _name_of(self, path: str) -> str:
        relative = os.path.relpath(os.path.abspath(path), os.path.abspath(self.directory))
        if relative.split(os.sep)[0] == os.pardir:
            return os.path.basename(path)
        return relative.replace(os.sep, '/')

    def feed(self, digest: InputDigest, block: bytes) -> None:
        """Have the next bytes of an input hashed, in the background."""
        self._slots.acquire()
        self._submit(lambda: self._update(digest, block))

    def _update(self, digest: InputDigest, block: bytes) -> None:
        try:
            digest.update(block)
        finally:
            self._slots.release()

    def finish(self, digest: InputDigest) -> None:
        """Have the rest of an input hashed, in the background."""
        self._submit(lambda: digest.finish(lambda: self._stopped))

    def _submit(self, task: Callable[[], None]) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name='fuel-convert-checksums',
                                            daemon=True)
            self._thread.start()
        self._tasks.put(task)

    def _work(self) -> None:
        while (task := self._tasks.get()) is not None:
            try:
                task()
            except BaseException as error:
                self._error = self._error or error

    def stop(self, *, at_once: bool = False) -> None:
        """Wait for the checksums, or give them up."""
        self._stopped = at_once
        if self._thread is not None:
            self._tasks.put(None)
            self._thread.join()
            self._thread = None
        if self._error is not None and not at_once:
            raise self._error

    def inputs(self) -> list[tuple[str, int, str]]:
        """Return name, size and SHA-256 of every input, by name."""
        for _, digest in self._digests.values():
            if not digest.hexdigest:
                self.finish(digest)
        self.stop()
        return sorted((name, digest.size, digest.hexdigest)
                      for name, digest in self._digests.values())


_current: ContextVar[Record | None] = ContextVar('fuel_conversion', default=None)


def current_record() -> Record | None:
    """Return what is noted of the conversion that runs; `None` if nothing is noted."""
    return _current.get()


@contextmanager
def recording(directory: str, target: str, *, force: bool = False) -> Iterator[Record]:
    """Note what converters read while a ``with`` block runs.

    Parameters
    ----------
    directory, target, force
        As for `Record`.
    """
    record = Record(directory, target, force)
    token = _current.set(record)
    try:
        yield record
    finally:
        _current.reset(token)
        record.stop(at_once=True)
