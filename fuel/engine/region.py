"""Memory that a worker fills, and its parent reads without a copy."""
from __future__ import annotations

import errno
import os
import sys
import tempfile
import weakref
from contextlib import suppress
from typing import Any, Self

from fuel._kernels import map_shared
from fuel.storage.sharing.available import readable_size

__all__ = ['Region']

_IN_MEMORY = '/dev/shm'  # noqa: S108 (the file has no name)
_NO_ROOM = frozenset({errno.ENOMEM, errno.ENOSPC, errno.EFBIG, errno.EDQUOT, errno.EINVAL})
_OVERCOMMIT = '/proc/sys/vm/overcommit_memory'
# Not in the module os of every Python.
_MFD_NOEXEC_SEAL = 8


class Region:
    """A large piece of shared memory without a name.

    Its size is that of addresses only: pages are taken as they are written to. On Linux it is
    memory of the kernel, elsewhere a temporary file; in both cases it is gone with the last process
    that has it open or mapped, whatever ends them.

    Made by `create` and `attach`.

    Attributes
    ----------
    memory : buffer
        The memory. Arrays made from it keep it mapped.
    nbytes : int
        Its size.
    must_ask : bool
        Whether room must be asked for before it is written to, for a disk may be full, or this
        system promises no more memory than it has. Who writes without asking is killed.
    """

    def __init__(self, descriptor: int, nbytes: int, must_ask: bool) -> None:
        try:
            self.memory: Any = map_shared(descriptor, nbytes)
        except OSError as error:
            raise _no_room(nbytes, error) from None
        self.nbytes = nbytes
        self.must_ask = must_ask or _promises_little()
        self._release = weakref.finalize(self, _close, descriptor, _identity(descriptor))
        self._descriptor = descriptor

    @classmethod
    def create(cls, nbytes: int) -> Self:
        """Make a region.

        Parameters
        ----------
        nbytes : int
            Its size. It may be larger than the memory of the machine.

        Returns
        -------
        Region
            Full of zeros.

        Raises
        ------
        MemoryError
            The system does not give so many addresses. The message says how many are needed.
        """
        if nbytes < 1:
            raise ValueError(f'expected a number of bytes of at least 1; got {nbytes}')
        descriptor, on_disk = _anonymous()
        try:
            try:
                os.ftruncate(descriptor, nbytes)
                if not on_disk:
                    _fix_size(descriptor)
            except OSError as error:
                raise _no_room(nbytes, error) from None
            return cls(descriptor, nbytes, on_disk)
        except BaseException:
            os.close(descriptor)
            raise

    @classmethod
    def attach(cls, descriptor: int) -> Self:
        """Map a region that another process has made.

        Parameters
        ----------
        descriptor : int
            The open file, which came from the other process. It is closed with the region, and
            also if it cannot be mapped.

        Returns
        -------
        Region
            The same memory.

        Raises
        ------
        MemoryError
            The system does not give so many addresses.
        """
        nbytes = os.fstat(descriptor).st_size
        try:
            return cls(descriptor, nbytes, not _is_memory(descriptor))
        except BaseException:
            os.close(descriptor)
            raise

    def fileno(self) -> int:
        """Return the descriptor, for another process.

        Returns
        -------
        int
            Not inherited by other programs, unless they are told to.

        Raises
        ------
        ValueError
            The region is closed.
        """
        if not self._release.alive:
            raise ValueError('expected a region that is open; this one has been closed')
        return self._descriptor

    def close(self) -> None:
        """Close the descriptor, once only. What is mapped stays mapped as long as it is in use."""
        self.memory = None
        self._release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _identity(descriptor: int) -> tuple[int, int]:
    status = os.fstat(descriptor)
    return status.st_dev, status.st_ino


def _close(descriptor: int, identity: tuple[int, int]) -> None:
    # A program that became a daemon may have closed it, and opened something else.
    with suppress(OSError):
        if _identity(descriptor) == identity:
            os.close(descriptor)


def _anonymous() -> tuple[int, bool]:
    """Return an open file without a name and a size, and whether it is on a disk."""
    if sys.platform == 'linux':
        # Old kernels refuse the flag that new ones may insist on.
        for flag in (_MFD_NOEXEC_SEAL, 0):
            try:
                return os.memfd_create('fuel', os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING | flag), False
            except OSError as error:
                if error.errno in (errno.EMFILE, errno.ENFILE, errno.ENOMEM):
                    raise
    folder = _IN_MEMORY if os.access(_IN_MEMORY, os.W_OK) else None
    descriptor, path = tempfile.mkstemp(prefix='fuel-', dir=folder)
    os.unlink(path)
    return descriptor, True


def _fix_size(descriptor: int) -> None:
    """Keep everybody from making it shorter, which would kill those who read it."""
    if sys.platform == 'linux':
        import fcntl
        fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)


def _is_memory(descriptor: int) -> bool:
    if sys.platform == 'linux':
        import fcntl
        with suppress(OSError):
            return bool(fcntl.fcntl(descriptor, fcntl.F_GET_SEALS) & fcntl.F_SEAL_SHRINK)
    return False


def _promises_little() -> bool:
    """Tell whether this system counts memory when it is asked for, not when it is written to."""
    with suppress(OSError), open(_OVERCOMMIT, encoding='ascii') as setting:
        return setting.read().strip() == '2'
    return False


def _no_room(nbytes: int, error: OSError) -> BaseException:
    """Return what to raise where the system refused to give so much."""
    if error.errno not in _NO_ROOM:
        return error
    return MemoryError(f'a region of {readable_size(nbytes)} for what a worker sends cannot be '
                       f'made ({error.strerror}): the addresses or the size of files of this '
                       'process are limited (ulimit -v, ulimit -f). Give a smaller max_bytes, or '
                       'fewer workers')
