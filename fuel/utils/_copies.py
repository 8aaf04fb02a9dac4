"""A folder with copies of files that lie on a slow disk.

The name of a copy tells which file it was made from, and what that was like then. A copy is made
under another name and renamed, so that it is whole. Whoever uses one shares the lock on it, and
what nobody uses may be removed. Copies of one file are made one after the other, for which there
is a fixed number of lock files: one that came and went could be held by two at once.
"""
from __future__ import annotations

import hashlib
import logging
import os
import re
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from fuel.utils._hdf5_links import why_not_alone
from fuel.utils._locks import exclusive, refresh_lock
from fuel.utils.atomic import move_into_place, temporary_directory, try_lock
from fuel.utils.disk import disk_usage

__all__ = ['CopyError', 'Original', 'is_copy_of', 'make_copy']

logger = logging.getLogger(__name__)

_COPY = re.compile(r'.*-(?P<path>[0-9a-f]{12})-[0-9a-f]{12}(\.[^.]*)?', re.DOTALL)
_LOCKS = '.fuel-locks'
_NUM_LOCKS = 64
_BLOCK = 2 ** 22
# How often those who wait for a copy are told that it is still being made, in seconds.
_SIGN_OF_LIFE = 1.


class CopyError(Exception):
    """A file cannot be copied; the message says why."""


@dataclass(frozen=True, slots=True)
class Original:
    """A file, as it is at a certain time.

    Attributes
    ----------
    path : str
        Its real path.
    size : int
        In bytes.
    changed : tuple of int
        When its content and when its other properties changed, in nanoseconds. The first of them
        can be set at will.
    identity : tuple of int
        Device and number of the file. They can change when nothing else does, so the name of the
        copy does not depend on them.
    """

    path: str
    size: int
    changed: tuple[int, int]
    identity: tuple[int, int]

    @classmethod
    def at(cls, path: str, status: os.stat_result) -> Original:
        """Describe the file at a path with a given status."""
        return cls(path, status.st_size, (status.st_mtime_ns, status.st_ctime_ns),
                   (status.st_dev, status.st_ino))

    @property
    def path_digest(self) -> str:
        """What tells the path from others."""
        return hashlib.sha256(os.fsencode(self.path)).hexdigest()[:12]

    @property
    def copy_name(self) -> str:
        """The name of a copy."""
        stem, ending = os.path.splitext(os.path.basename(self.path))
        if len(os.fsencode(ending)) > 20:
            ending = ''
        # Names of files end at 255 bytes.
        stem = stem.encode('utf-8', 'ignore')[:150].decode('utf-8', 'ignore')
        content = hashlib.sha256(repr((self.size, self.changed)).encode()).hexdigest()[:12]
        return f'{stem}-{self.path_digest}-{content}{ending}'

    def check(self, status: os.stat_result) -> None:
        """Check that the file is still the same."""
        if Original.at(self.path, status) != self:
            raise CopyError('it was changed meanwhile')


def is_copy_of(original: Original, status: os.stat_result) -> bool:
    """Tell whether a file under the name of a copy is one."""
    return stat.S_ISREG(status.st_mode) and status.st_size == original.size


def make_copy(original: Original, folder: str, limit: float) -> str:
    """Copy a file into a folder, unless there is a copy.

    Parameters
    ----------
    original : Original
        The file.
    folder : str
        The folder; it is made if need be, for nobody but the user.
    limit : int or float
        How many bytes all copies together may have, or, if it is a `float`, which part of the disk
        may be used.

    Returns
    -------
    str
        The path of the copy.

    Raises
    ------
    CopyError
        It cannot be copied.
    OSError
        Something else failed.
    """
    if not os.path.isdir(folder):
        os.makedirs(folder, mode=0o700, exist_ok=True)
    target = os.path.join(folder, original.copy_name)
    slot = int(original.path_digest, 16) % _NUM_LOCKS
    with _locked(folder, f'{slot:02d}') as lock_file:
        with suppress(FileNotFoundError):
            if is_copy_of(original, os.stat(target)):
                return target
        with _locked(folder, 'space'):
            _remove_outdated(folder, original)
        _refuse_dependent(original.path)
        with temporary_directory(folder) as scratch:
            path = os.path.join(scratch, original.copy_name)
            with _locked(folder, 'space'):
                _make_room(folder, original.size, limit)
                _reserve(path, original.size)
            logger.info('copying %s to %s', original.path, target)
            _copy(original, path, lambda: refresh_lock(lock_file))
            move_into_place(path, target)
    return target


def _refuse_dependent(path: str) -> None:
    """Refuse a file that refers to other ones."""
    try:
        reason = why_not_alone(path)
    except Exception as error:                  # HDF5 has all kinds of them for damaged files
        raise CopyError(f'it cannot be looked into: {error}') from error
    if reason:
        raise CopyError(f'{reason}, which a copy elsewhere would not find')


@contextmanager
def _locked(folder: str, name: str) -> Iterator[str]:
    """Hold one of the locks of a folder."""
    locks = os.path.join(folder, _LOCKS)
    if not os.path.isdir(locks):
        os.makedirs(locks, exist_ok=True)
        with suppress(OSError):                 # whoever may write to the folder may do so here
            os.chmod(locks, stat.S_IMODE(os.stat(folder).st_mode) & 0o777)
    path = os.path.join(locks, name)
    with exclusive(path):
        yield path


def _copies(folder: str) -> list[os.DirEntry[str]]:
    """Return the copies in a folder; other files in it are none of our business."""
    with os.scandir(folder) as entries:
        return [entry for entry in entries
                if _COPY.fullmatch(entry.name) and entry.is_file(follow_symlinks=False)]


def _remove_outdated(folder: str, original: Original) -> None:
    """Remove copies of what the file was before, unless somebody still reads them."""
    for entry in _copies(folder):
        found = _COPY.fullmatch(entry.name)
        if (found is not None and found['path'] == original.path_digest
                and entry.name != original.copy_name):
            with suppress(OSError), _unused(entry.path) as unused:
                if unused:
                    os.remove(entry.path)
                    logger.info('removed %s, for %s was changed', entry.path, original.path)


@contextmanager
def _unused(path: str) -> Iterator[bool]:
    """Tell whether nobody reads a copy, and see that nobody begins to, during a ``with`` block."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        yield try_lock(descriptor)
    finally:
        os.close(descriptor)


def _make_room(folder: str, size: int, limit: float) -> None:
    """Remove the copies that were not used for longest, as many as must go."""
    copies = [(entry, entry.stat(follow_symlinks=False)) for entry in _copies(folder)]
    held = sum(status.st_size for _, status in copies)
    coming, unwritten = _coming(folder)
    usage = disk_usage(folder)
    excess = size + unwritten - usage.free
    if isinstance(limit, int):
        excess = max(excess, size + coming + held - limit)
        rule = f'all copies together may have {limit} bytes'
    else:
        excess = max(excess, size + unwritten + usage.used - int(limit * usage.total))
        rule = f'{limit:.0%} of the disk may be used, and {usage.used / usage.total:.0%} are'
    if excess <= 0:
        return
    problem = (f'there is no room in {folder} for {size} bytes: {rule}, and {usage.free} bytes of '
               'the disk are free (the setting local_data_limit)')
    if excess > held:
        raise CopyError(problem)
    # Before anything is removed it is known that this suffices.
    descriptors = []
    removed = []
    try:
        for entry, status in sorted(copies, key=lambda pair: (pair[1].st_atime_ns, pair[0].name)):
            if excess > 0:
                with suppress(OSError):
                    descriptors.append(os.open(entry.path, os.O_RDONLY))
                    if try_lock(descriptors[-1]):
                        removed.append(entry.path)
                        excess -= status.st_size
        if excess > 0:
            raise CopyError(f'{problem}; the copies that there are, are in use')
        for path in removed:
            os.remove(path)
            logger.info('removed %s to make room', path)
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


def _coming(folder: str) -> tuple[int, int]:
    """Return the size of the copies that are being made, and how much of it is not yet written."""
    size = unwritten = 0
    with os.scandir(folder) as entries:
        folders = [entry.path for entry in entries
                   if entry.name.startswith('.fuel-') and entry.name != _LOCKS]
    for path in folders:
        with suppress(OSError), os.scandir(path) as entries:
            for entry in entries:
                status = entry.stat(follow_symlinks=False)
                size += status.st_size
                unwritten += max(0, status.st_size - 512 * getattr(status, 'st_blocks', 0))
    return size, unwritten


def _reserve(path: str, size: int) -> None:
    """Make an empty file of a certain size, which others see that count what is coming."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        os.truncate(descriptor, size)
    finally:
        os.close(descriptor)


def _copy(original: Original, path: str, give_sign: Callable[[], object]) -> None:
    """Copy content, permissions and time of the last change."""
    with open(original.path, 'rb', buffering=0) as source, open(path, 'r+b') as target:
        _refuse_unfinished(source.fileno())
        status = os.fstat(source.fileno())
        original.check(status)
        _copy_bytes(source.fileno(), target.fileno(), original.size, give_sign)
        original.check(os.fstat(source.fileno()))
        original.check(os.stat(original.path))
        _give_permissions(target.fileno(), status)
    os.utime(path, ns=(time.time_ns(), status.st_mtime_ns))


def _copy_bytes(source: int, target: int, size: int, give_sign: Callable[[], object]) -> None:
    last = time.monotonic()
    left = size
    while left:
        block = os.read(source, min(left, _BLOCK))
        if not block:
            raise CopyError('it was cut off meanwhile')
        left -= len(block)
        view = memoryview(block)
        while view:
            view = view[os.write(target, view):]
        if time.monotonic() - last > _SIGN_OF_LIFE:
            give_sign()
            last = time.monotonic()


def _refuse_unfinished(descriptor: int) -> None:
    """Refuse a file that is open for writing, as far as its writer has it locked."""
    with suppress(ImportError):
        import fcntl
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CopyError('it is open for writing') from None
        except OSError:
            logger.debug('no locks on this file system', exc_info=True)


def _give_permissions(descriptor: int, status: os.stat_result) -> None:
    """Let those read the copy who may read the original, as far as that can be said."""
    mode = stat.S_IMODE(status.st_mode) & 0o777 | stat.S_IRUSR
    if hasattr(os, 'fchown'):
        try:
            os.fchown(descriptor, -1, status.st_gid)
        except OSError:
            if os.fstat(descriptor).st_gid != status.st_gid:
                mode &= ~stat.S_IRWXG           # they would hold for another group
        os.fchmod(descriptor, mode)
