"""Shared memory as a temporary file that is mapped, for systems without anything better.

Its owner removes the file. The name tells the owner, who holds a lock on it as well, so that
whoever makes the next one removes what killed owners have left.
"""
from __future__ import annotations

import os
import re
import secrets
import socket
import tempfile
from contextlib import suppress
from typing import Any

from fuel._types import JSON
from fuel.storage.sharing.owners import owner_lives, start_of_process
from fuel.storage.sharing.segments import OPEN_FLAGS, Segment
from fuel.utils.atomic import try_lock

__all__ = ['FileSegment', 'sweep']

_IN_MEMORY = '/dev/shm'  # noqa: S108 (names cannot be foreseen, and files must be new)
_PREFIX = 'fuel-shared-'
_NAME = re.compile(r'fuel-shared-(?P<host>[\w.]+)-(?P<pid>\d+)-(?P<started>\d+)-[0-9a-f]{16}')
_FILE_FLAGS = OPEN_FLAGS | getattr(os, 'O_NOFOLLOW', 0)


class FileSegment(Segment):
    """A temporary file of this user, in memory if there is a folder for that.

    The size is not fixed by the system: whoever makes such a file shorter kills those who read it.

    Parameters
    ----------
    descriptor, name
        See `Segment`.
    path : str
        Where the file is.
    owner : int or None
        The process that removes it.
    """

    kind = 'file'

    def __init__(self, descriptor: int, name: str, path: str, owner: int | None) -> None:
        super().__init__(descriptor, name)
        self.path = path
        self.in_memory = os.path.dirname(path) == _IN_MEMORY
        self._owner = owner

    @classmethod
    def make(cls, nbytes: int) -> FileSegment:
        """Return a new segment without any size, in a folder with room for `nbytes` bytes."""
        from multiprocessing.util import Finalize
        folders = [folder for folder in (_IN_MEMORY, tempfile.gettempdir())
                   if os.path.isdir(folder) and os.access(folder, os.W_OK)]
        for folder in folders:
            sweep(folder)
        folder = next((folder for folder in folders if _has_room(folder, nbytes)), folders[-1])
        pid = os.getpid()
        while True:
            name = f'{_PREFIX}{_host()}-{pid}-{start_of_process(pid) or 0}-{secrets.token_hex(8)}'
            path = os.path.join(folder, name)
            descriptor = os.open(path, _FILE_FLAGS | os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            # Until the lock is held, another container with this folder may take us for dead.
            if try_lock(descriptor) and os.fstat(descriptor).st_nlink:
                break
            os.close(descriptor)
        segment = cls(descriptor, name, path, pid)
        # Processes that multiprocessing starts end in a way that only its own hooks notice.
        Finalize(segment, _remove, (path, pid), exitpriority=0)
        return segment

    def forbid_writing(self) -> None:
        """Keep everybody from writing, except for those who have it open already."""
        with suppress(OSError):
            os.chmod(self.path, 0o400)

    def _place(self) -> JSON:
        return self.path

    @classmethod
    def _open(cls, token: dict[str, JSON]) -> int:
        return os.open(token['place'], _FILE_FLAGS | os.O_RDONLY)

    @classmethod
    def _has_name(cls, descriptor: int, name: str) -> bool:
        # The path ends in the name; what others could put there would have another inode.
        return _NAME.fullmatch(name) is not None

    @classmethod
    def _found(cls, token: dict[str, JSON]) -> dict[str, Any]:
        return {'path': token['place'], 'owner': None}

    def release(self) -> None:
        """Close the descriptor and, in the process that made it, remove the file."""
        super().release()
        if self._owner is not None:
            _remove(self.path, self._owner)


def _host() -> str:
    return re.sub(r'[^\w.]', '_', socket.gethostname()) or 'localhost'


def _has_room(folder: str, nbytes: int) -> bool:
    if not hasattr(os, 'statvfs'):
        return True
    status = os.statvfs(folder)
    return status.f_bavail * status.f_frsize >= nbytes


def _remove(path: str, pid: int) -> None:
    """Remove a file in the process that made it; a child that inherits the call does nothing."""
    if os.getpid() == pid:
        with suppress(OSError):
            os.unlink(path)


def sweep(folder: str) -> list[str]:
    """Remove what killed owners have left in a folder.

    Parameters
    ----------
    folder : str
        Where `FileSegment.make` was used.

    Returns
    -------
    list of str
        What was removed.
    """
    removed = []
    for name in os.listdir(folder):
        match = _NAME.fullmatch(name) if name.startswith(_PREFIX) else None
        if match is None or match['host'] != _host() or owner_lives(
                int(match['pid']), int(match['started']) or None):
            continue
        path = os.path.join(folder, name)
        with suppress(OSError):
            descriptor = os.open(path, _FILE_FLAGS | os.O_RDONLY)
            try:
                # Children of the owner hold the lock as well.
                if try_lock(descriptor):
                    os.unlink(path)
                    removed.append(path)
            finally:
                os.close(descriptor)
    return removed
