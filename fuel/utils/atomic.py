"""Files that appear all at once: written elsewhere, synced, then renamed.

A file under its final name is always whole: a killed program leaves the old one or the new one.
What is being written lies in a temporary directory beside it, on the same file system, so that a
rename suffices. The name of that directory tells the machine and the process that owns it, and
the owner holds a lock on it; whoever makes the next one removes what dead owners have left.
"""
from __future__ import annotations

import errno
import logging
import os
import re
import secrets
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress

__all__ = ['move_into_place', 'process_lives', 'replacing', 'sweep', 'temporary_directory',
           'try_lock']

logger = logging.getLogger(__name__)

_PREFIX = '.fuel-'
_NAME = re.compile(r'\.fuel-(?P<host>[\w.-]+)-(?P<pid>\d+)-(?P<token>[0-9a-f]{8})-\w+')
#: Tells this process from an earlier one that had the same number, as in a restarted container.
_TOKEN = secrets.token_hex(4)


def _host() -> str:
    return re.sub(r'[^\w.]', '_', socket.gethostname()) or 'localhost'


def try_lock(descriptor: int) -> bool:
    """Take the lock on an open file without waiting.

    Parameters
    ----------
    descriptor : int
        The lock goes with it: closing it, or the end of the process, sets the file free.

    Returns
    -------
    bool
        Whether the file is ours now. Also `True` where the file system has no locks.
    """
    if sys.platform != 'win32':
        import fcntl
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            logger.debug('no locks on this file system', exc_info=True)
    return True


def process_lives(pid: int) -> bool:
    """Return whether there is a process of a number, which may not be the one that had it."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _left_behind(path: str) -> bool:
    """Tell whether the owner of a temporary directory is surely dead."""
    name = _NAME.fullmatch(os.path.basename(path))
    if name is None or name['host'] != _host():
        return False
    pid = int(name['pid'])
    if pid == os.getpid():
        if name['token'] == _TOKEN:
            return False
    elif process_lives(pid):
        return False
    # Two containers can share the name of the machine and yet count processes separately; the
    # lock tells a living owner from the other one.
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        return try_lock(descriptor)
    finally:
        os.close(descriptor)


def sweep(directory: str | os.PathLike[str]) -> list[str]:
    """Remove the temporary directories that killed processes have left in a directory.

    Parameters
    ----------
    directory : str or path
        Where `temporary_directory` was used.

    Returns
    -------
    list of str
        What was removed.
    """
    removed = []
    for name in sorted(os.listdir(directory)):
        path = os.path.join(directory, name)
        if name.startswith(_PREFIX) and _left_behind(path):
            shutil.rmtree(path, ignore_errors=True)
            logger.info('removed %s, left by a run that was killed', path)
            removed.append(path)
    return removed


@contextmanager
def temporary_directory(parent: str | os.PathLike[str]) -> Iterator[str]:
    """Make a directory for files that are not yet whole, while a ``with`` block runs.

    Parameters
    ----------
    parent : str or path
        An existing directory. Leftovers of killed processes are removed from it first.

    Yields
    ------
    str
        The absolute path of the new directory. It is removed with all it holds in the end.
    """
    parent = os.path.abspath(parent)
    sweep(parent)
    try:
        path = tempfile.mkdtemp(prefix=f'{_PREFIX}{_host()}-{os.getpid()}-{_TOKEN}-', dir=parent)
    except OSError as error:
        # Nobody knows the name of the new directory; that of the folder says more.
        raise OSError(error.errno, f'cannot write into this folder: {error.strerror}',
                      parent) from None
    descriptor = None
    try:
        if sys.platform != 'win32':
            descriptor = os.open(path, os.O_RDONLY)
            try_lock(descriptor)
        yield path
    finally:
        if descriptor is not None:
            os.close(descriptor)
        shutil.rmtree(path, ignore_errors=True)


def _sync(path: str) -> None:
    """Have the operating system write a file, or the names in a directory, to the disk."""
    if os.path.isdir(path) and sys.platform == 'win32':
        return
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def move_into_place(source: str | os.PathLike[str], target: str | os.PathLike[str], *,
                    replace: bool = True) -> None:
    """Give a finished file its final name, in one step and lastingly.

    Parameters
    ----------
    source : str or path
        The file, closed, on the file system of the target.
    target : str or path
        Its final name.
    replace : bool, optional
        Whether a file of that name is replaced. By default it is.

    Raises
    ------
    FileExistsError
        There is such a file, which is not to be replaced.
    """
    source, target = os.fspath(source), os.fspath(target)
    _sync(source)
    if replace:
        os.replace(source, target)
    else:
        _link(source, target)
    # The file has its name now; some network file systems cannot sync directories.
    with suppress(OSError):
        _sync(os.path.dirname(os.path.abspath(target)))


def _link(source: str, target: str) -> None:
    """Rename a file unless there is one of the new name, which a rename would replace."""
    try:
        os.link(source, target)
    except FileExistsError:
        raise
    except OSError:
        # There are file systems without links. Then another process may come in between.
        if os.path.lexists(target):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target) from None
        os.rename(source, target)
    else:
        os.unlink(source)


@contextmanager
def replacing(target: str | os.PathLike[str]) -> Iterator[str]:
    """Write a file under another name, and give it its final name when a block has run through.

    Parameters
    ----------
    target : str or path
        The final name. Where the block raises, it is as it was before.

    Yields
    ------
    str
        Where to write the file. It must be closed when the block ends.
    """
    target = os.path.abspath(target)
    with temporary_directory(os.path.dirname(target)) as directory:
        path = os.path.join(directory, os.path.basename(target))
        yield path
        move_into_place(path, target)
