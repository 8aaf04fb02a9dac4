"""Locks between processes, under the names of the old library.

What they are made of is in this module as well: `exclusive`, `try_exclusive` and `share`. A lock is
kept by the operating system: it goes when its process ends, and never while that lives.
"""
from __future__ import annotations

import os
import secrets
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from fuel.exceptions import LockTimeoutError
from fuel.utils._locks import (
    POLL,
    acquired,
    exclusive,
    refresh_lock,
    share,
    try_exclusive,
)

if TYPE_CHECKING:
    from filelock import BaseFileLock

__all__ = ['LockTimeoutError', 'Unlocker', 'exclusive', 'get_lock', 'get_readlock',
           'get_writelock', 'lock', 'refresh_lock', 'release_lock', 'release_readlock',
           'release_writelock', 'share', 'try_exclusive']


class Unlocker:
    """A lock that stands in a folder of its own, and the way to let go of it.

    Parameters
    ----------
    tmp_dir : str or path
        The folder; the lock is the file ``lock`` in it.

    Notes
    -----
    It is a context manager, which lets go in the end. So does the end of the process.
    """

    def __init__(self, tmp_dir: str | os.PathLike[str]) -> None:
        self.tmp_dir = os.path.abspath(tmp_dir)
        self._held: BaseFileLock | None = None
        self._pid = os.getpid()

    def _lock(self, timeout: float | None, poll: float) -> None:
        os.makedirs(self.tmp_dir, exist_ok=True)
        self._held = acquired(os.path.join(self.tmp_dir, 'lock'), timeout, poll)

    def unlock(self) -> None:
        """Let go of the lock, if it is held."""
        held, self._held = self._held, None
        if held is not None and self._pid == os.getpid():
            held.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 frames: TracebackType | None) -> None:
        self.unlock()


def lock(tmp_dir: str | os.PathLike[str], timeout: float | None = None,
         min_wait: float | None = None, max_wait: float | None = None,
         verbosity: int = 1) -> Unlocker:
    """Take the lock of a folder.

    Parameters
    ----------
    tmp_dir : str or path
        The folder, which is made if need be.
    timeout : float, optional
        How many seconds to wait for a holder that gives no sign of life. By default 60.
        A living holder is never robbed of the lock.
    min_wait : float, optional
        How many seconds to wait before looking again, if that is less than usual.
    max_wait : float, optional
        Accepted for the sake of old programs, as is `verbosity`.
    verbosity : int, optional
        See `max_wait`.

    Returns
    -------
    Unlocker
        What lets go of the lock.

    Raises
    ------
    LockTimeoutError
        Somebody else holds it. A ``TimeoutError``.
    """
    unlocker = Unlocker(tmp_dir)
    unlocker._lock(timeout, min(POLL, max(0.001, min_wait or POLL)))
    return unlocker


class _Counted:
    """What this process holds through `get_lock`, the last one at the end."""

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._held: list[Unlocker] = []
        self.shared: dict[str, int] = {}

    def own(self) -> list[Unlocker]:
        """Return the locks, none of which are those of a parent process."""
        if self._pid != os.getpid():
            self._pid, self._held = os.getpid(), []
        return self._held


_counted = _Counted()


def get_lock(lock_dir: str | os.PathLike[str], **options: Any) -> None:
    """Take the lock of a folder, or count once more that this process has it.

    Parameters
    ----------
    lock_dir : str or path
        The folder.
    **options
        As for `lock`.
    """
    held = _counted.own()
    again = [unlocker for unlocker in held if unlocker.tmp_dir == os.path.abspath(lock_dir)]
    held.append(again[0] if again else lock(lock_dir, **options))


def release_lock() -> None:
    """Take back the last call of `get_lock`; the lock is free when all its calls are taken back."""
    held = _counted.own()
    if held:
        unlocker = held.pop()
        if unlocker not in held:
            unlocker.unlock()


def get_writelock(filename: str | os.PathLike[str]) -> None:
    """Take the lock for writing a file, which is that of the folder ``<filename>.writelock``."""
    get_lock(os.fspath(filename) + '.writelock')


def release_writelock() -> None:
    """Take back the last call of `get_writelock`."""
    release_lock()


def get_readlock(pid: int, path: str | os.PathLike[str]) -> str:
    """Keep others from writing a file, through `get_writelock`, while it is read.

    Parameters
    ----------
    pid : int
        The number of this process.
    path : str or path
        The file.

    Returns
    -------
    str
        A name for `release_readlock`. The end of the process releases the lock as well.
    """
    folder = f'{os.fspath(path)}.writelock'
    os.makedirs(folder, exist_ok=True)
    lock_file = os.path.join(folder, 'lock')
    with open(lock_file, 'a', encoding='ascii'):
        pass
    descriptor = share(lock_file)
    name = f'{os.fspath(path)}.readlock.{pid}.{secrets.randbelow(10 ** 10):010d}'
    _counted.shared[name] = descriptor
    return name


def release_readlock(lockdir_name: str) -> None:
    """Let go of what `get_readlock` returned the name of."""
    descriptor = _counted.shared.pop(lockdir_name, None)
    if descriptor is not None:
        os.close(descriptor)
