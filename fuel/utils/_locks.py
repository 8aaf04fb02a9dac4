"""Locks between processes: files that one process at a time holds, or several share.

A lock belongs to a process and is kept by the operating system, so that it goes when the process
ends, however it ends, and never while the process lives. Whoever waits for one gives up in the end:
not because the holder takes long, but because it gives no sign of life. A holder gives one with
`refresh_lock`.
"""
from __future__ import annotations

import logging
import os
import secrets
import socket
import stat
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from fuel.exceptions import LockTimeoutError
from fuel.utils.atomic import try_lock

if TYPE_CHECKING:
    from filelock import BaseFileLock

__all__ = ['POLL', 'TIMEOUT', 'acquired', 'exclusive', 'refresh_lock', 'share',
           'try_exclusive']

logger = logging.getLogger(__name__)

#: How many seconds to wait for a lock whose holder gives no sign of life.
TIMEOUT = 60.

#: How often a lock that is waited for is looked at, in seconds.
POLL = 0.05


def _lock_of(path: str) -> BaseFileLock:
    from filelock import FileLock
    folder = os.stat(os.path.dirname(os.path.abspath(path))).st_mode
    if folder & (stat.S_IWGRP | stat.S_IWOTH):
        # In a folder that several users share, all of them must be able to take the lock.
        return FileLock(path, thread_local=False, mode=0o600 | folder & 0o066)
    return FileLock(path, thread_local=False)


def _changed(path: str) -> int | None:
    try:
        return os.stat(path).st_mtime_ns
    except OSError:
        return None


def _holder(path: str) -> str:
    """Say who holds a lock, as far as its file tells."""
    try:
        with open(path, encoding='ascii', errors='replace') as stream:
            pid, _, host = stream.read(300).strip().split('_', 2)
    except (OSError, ValueError):
        return 'another process'
    return f'process {pid} on {host}'


def _wait(path: str, attempt: Callable[[], bool], timeout: float, poll: float = POLL) -> None:
    """Try until an attempt succeeds; give up when the file was not touched for too long."""
    seen = _changed(path)
    heard = time.monotonic()
    while not attempt():
        left = heard + timeout - time.monotonic()
        if (now := _changed(path)) != seen:
            seen, heard = now, time.monotonic()
        elif left <= 0:
            raise LockTimeoutError(
                f'{path}: {_holder(path)} holds this lock, and gave no sign of life for '
                f'{timeout:g} seconds. If that process hangs, end it: the lock goes with it')
        else:
            time.sleep(min(poll, left))


@contextmanager
def exclusive(path: str | os.PathLike[str], *, timeout: float | None = None) -> Iterator[None]:
    """Hold a lock that nobody else holds or shares, while a ``with`` block runs.

    Parameters
    ----------
    path : str or path
        The file that stands for the lock. It is made if need be, in an existing folder, and stays.
    timeout : float, optional
        How many seconds to wait for a holder that gives no sign of life. By default `TIMEOUT`.

    Raises
    ------
    LockTimeoutError
        Somebody else holds it. A ``TimeoutError``.
    """
    path = os.fspath(path)
    held = acquired(path, timeout)
    try:
        yield
    finally:
        held.release()


@contextmanager
def try_exclusive(path: str | os.PathLike[str]) -> Iterator[bool]:
    """Hold a lock as `exclusive` does, or find out that this is not possible now.

    Yields
    ------
    bool
        Whether the lock is held.
    """
    path = os.fspath(path)
    try:
        held = acquired(path, 0)
    except LockTimeoutError:
        yield False
        return
    try:
        yield True
    finally:
        held.release()


def acquired(path: str, timeout: float | None = None, poll: float = POLL) -> BaseFileLock:
    """Hold a lock as `exclusive` does, until the method `release` of what is returned is called."""
    from filelock import Timeout
    timeout = TIMEOUT if timeout is None else timeout
    held = _lock_of(path)

    def attempt() -> bool:
        # Some versions of filelock empty the file when they try, which would look like a sign of
        # life of the holder.
        if not _seems_free(path):
            return False
        try:
            held.acquire(timeout=0)
        except Timeout:
            return False
        return True

    _wait(path, attempt, timeout, poll)
    with suppress(OSError):
        refresh_lock(path)
    return held


def _seems_free(path: str) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return True
    try:
        return try_lock(descriptor)
    finally:
        os.close(descriptor)


def share(path: str | os.PathLike[str], *, timeout: float | None = None) -> int:
    """Hold a lock together with others who share it.

    Parameters
    ----------
    path : str or path
        The file that stands for the lock; it must exist, and need not be writable.
    timeout : float, optional
        As for `exclusive`.

    Returns
    -------
    int
        A descriptor: the lock is held until it is closed, or this process ends. Where the
        operating system or the file system has no such locks it is just open.

    Raises
    ------
    FileNotFoundError
        There is no such file, or it was removed before the lock was held.
    LockTimeoutError
        Somebody holds the lock alone. A ``TimeoutError``.
    """
    path = os.fspath(path)
    descriptor = os.open(path, os.O_RDONLY | getattr(os, 'O_CLOEXEC', 0))
    try:
        _wait(path, lambda: _try_to_share(descriptor), TIMEOUT if timeout is None else timeout)
        if not os.path.samestat(os.fstat(descriptor), os.stat(path)):
            raise FileNotFoundError(2, 'the file was replaced before it could be locked', path)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _try_to_share(descriptor: int) -> bool:
    if sys.platform != 'win32':
        import fcntl
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            logger.debug('no locks on this file system', exc_info=True)
    return True


def refresh_lock(lock_file: str | os.PathLike[str]) -> str:
    """Give a sign of life to those who wait for a lock.

    Parameters
    ----------
    lock_file : str or path
        The file of a lock that this process holds.

    Returns
    -------
    str
        What was written into the file: number of the process, ten random digits, and name of the
        machine, divided by underscores.
    """
    unique = f'{os.getpid()}_{secrets.randbelow(10 ** 10):010d}_{socket.gethostname()}'
    with open(lock_file, 'r+', encoding='ascii', errors='replace') as stream:
        stream.write(f'{unique}\n')
        stream.truncate()
    # The clock of a file system may be coarse.
    with suppress(OSError):                     # the file may be another user's
        os.utime(lock_file, ns=(time.time_ns(), time.time_ns()))
    return unique
