"""Pieces of memory that other processes can find: what their kinds have in common."""
from __future__ import annotations

import errno
import os
import stat
from contextlib import suppress
from typing import Any, ClassVar, Self

from fuel._types import JSON
from fuel.storage.sharing.available import check_memory, readable_size
from fuel.storage.sharing.owners import machine, owner_lives, start_of_process

__all__ = ['OPEN_FLAGS', 'Segment']

#: For descriptors that no other program inherits, and opening that never waits.
OPEN_FLAGS = sum(getattr(os, flag, 0) for flag in ('O_CLOEXEC', 'O_NONBLOCK', 'O_NOCTTY',
                                                   'O_BINARY'))

# So much is taken at a time: between two pieces signals are seen to.
_PIECE = 1 << 28
_NO_ROOM = frozenset({errno.ENOMEM, errno.ENOSPC, errno.EFBIG, errno.EDQUOT})
_NO_DESCRIPTORS = frozenset({errno.EMFILE, errno.ENFILE})


class Segment:
    """A piece of memory that is mapped through a descriptor.

    Parameters
    ----------
    descriptor : int
        An open file, which the segment closes.
    name : str
        Tells it from all others.

    Attributes
    ----------
    descriptor : int
        As given.
    in_memory : bool
        Whether it surely takes memory, and not place on a disk.
    """

    kind: ClassVar[str]
    in_memory = True

    def __init__(self, descriptor: int, name: str) -> None:
        self.descriptor = descriptor
        self.name = name
        status = os.fstat(descriptor)
        self._identity = status.st_dev, status.st_ino

    def allocate(self, nbytes: int, purpose: str) -> None:
        """Take all the memory now, so that filling it cannot fail, and keep it at that size.

        Parameters
        ----------
        nbytes : int
            How much.
        purpose : str
            What for; it begins the message of an error.

        Raises
        ------
        MemoryError
            There is not so much.
        """
        for start in range(0, nbytes, _PIECE):
            if self.in_memory:
                check_memory(nbytes - start, purpose)
            try:
                _extend(self.descriptor, start, min(_PIECE, nbytes - start))
            except OSError as error:
                if error.errno not in _NO_ROOM:
                    raise
                raise MemoryError(
                    f'{purpose} takes {readable_size(nbytes)} of shared memory; the system gave '
                    f'{readable_size(start)} and then no more ({error.strerror}). Take fewer '
                    'examples or sources, or read them from the file') from None
        self._fix_size()

    def _fix_size(self) -> None:
        """Keep everybody from making it shorter, which would kill those who read it."""

    def forbid_writing(self) -> None:
        """Keep everybody from writing, as far as the system can."""
        raise NotImplementedError

    def token(self) -> dict[str, JSON]:
        """Return plain data with which another process finds it, through this one."""
        status = os.fstat(self.descriptor)
        pid = os.getpid()
        return {'kind': self.kind, 'name': self.name, 'machine': machine(), 'pid': pid,
                'started': start_of_process(pid), 'size': status.st_size,
                'device': status.st_dev, 'inode': status.st_ino, 'place': self._place()}

    def _place(self) -> JSON:
        """Return what `_open` needs to know."""
        raise NotImplementedError

    @classmethod
    def _open(cls, token: dict[str, JSON]) -> int:
        """Open what may be the segment of a token, for reading."""
        raise NotImplementedError

    @classmethod
    def _has_name(cls, descriptor: int, name: str) -> bool:
        """Return whether an open file is the segment of a name."""
        raise NotImplementedError

    @classmethod
    def find(cls, token: dict[str, JSON]) -> Self | None:
        """Open the segment of another process for reading.

        Parameters
        ----------
        token : dict
            What `token` returned there.

        Returns
        -------
        Segment or None
            `None` if its owner is gone, or something else is in its place.

        Raises
        ------
        OSError
            This process may not open any more files.
        """
        if token['machine'] != machine() or not owner_lives(token['pid'], token['started']):
            return None
        try:
            descriptor = cls._open(token)
        except OSError as error:
            if error.errno in _NO_DESCRIPTORS:
                raise
            return None
        # Only what is open already cannot be exchanged any more.
        status = os.fstat(descriptor)
        if (stat.S_ISREG(status.st_mode) and cls._has_name(descriptor, token['name'])
                and (status.st_dev, status.st_ino) == (token['device'], token['inode'])
                and status.st_size == token['size']):
            return cls(descriptor, token['name'], **cls._found(token))
        os.close(descriptor)
        return None

    @classmethod
    def _found(cls, token: dict[str, JSON]) -> dict[str, Any]:
        """Return more arguments for the segment of another process."""
        return {}

    def reopen(self) -> int:
        """Return another descriptor, for reading only."""
        return self._open(self.token())

    def release(self) -> None:
        """Close the descriptor, once only. What is mapped stays mapped."""
        descriptor, self.descriptor = self.descriptor, -1
        # A program that became a daemon may have closed it, and opened something else.
        with suppress(OSError):
            status = os.fstat(descriptor)
            if (status.st_dev, status.st_ino) == self._identity:
                os.close(descriptor)


def _extend(descriptor: int, start: int, count: int) -> None:
    """Let a file grow by zeros, and see to it that there is room for them."""
    if hasattr(os, 'posix_fallocate'):
        try:
            os.posix_fallocate(descriptor, start, count)
            return
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.ENOSYS, errno.EOPNOTSUPP):
                raise
    os.lseek(descriptor, start, os.SEEK_SET)
    zeros = memoryview(bytes(min(count, 1 << 20)))
    while count:
        count -= os.write(descriptor, zeros[:count])
