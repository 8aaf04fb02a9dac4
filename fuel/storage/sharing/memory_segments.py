"""Shared memory without a name, on Linux.

It is a file that stands in no folder: others reach it through the table of open files of a process
that has it open. The kernel frees it with the last process that uses it, whatever ends them, so
that nothing can be left behind. How large ``/dev/shm`` is has no part in it.
"""
from __future__ import annotations

import errno
import os
import secrets
import sys
from contextlib import suppress

from fuel._types import JSON
from fuel.storage.sharing.segments import OPEN_FLAGS, Segment

__all__ = ['MemorySegment']

# Not in the modules os and fcntl of every Python.
_MFD_NOEXEC_SEAL = 8
_F_SEAL_FUTURE_WRITE = 16


class MemorySegment(Segment):
    """A piece of memory without a name. Its size is fixed by the kernel."""

    kind = 'memory'

    @classmethod
    def make(cls) -> MemorySegment | None:
        """Return a new segment without any size; `None` if there is no such thing here."""
        if sys.platform != 'linux' or not os.path.isdir('/proc/self/fd'):
            return None
        name = f'fuel-shared-{secrets.token_hex(8)}'
        # Old kernels refuse the flag that new ones may insist on.
        for flag in (_MFD_NOEXEC_SEAL, 0):
            try:
                return cls(os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING | flag),
                           name)
            except OSError as error:
                if error.errno in (errno.EMFILE, errno.ENFILE, errno.ENOMEM):
                    raise
        return None

    def _fix_size(self) -> None:
        if sys.platform == 'linux':
            import fcntl
            fcntl.fcntl(self.descriptor, fcntl.F_ADD_SEALS,
                        fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)

    def forbid_writing(self) -> None:
        """Keep everybody from writing, except through what is mapped for writing already."""
        if sys.platform == 'linux':
            import fcntl
            # The first is refused while anything is mapped for writing, the other by old kernels.
            for seal in (fcntl.F_SEAL_WRITE, _F_SEAL_FUTURE_WRITE):
                with suppress(OSError):
                    fcntl.fcntl(self.descriptor, fcntl.F_ADD_SEALS, seal)
                    return

    def _place(self) -> JSON:
        return self.descriptor

    @classmethod
    def _open(cls, token: dict[str, JSON]) -> int:
        # This looks like a link, but leads to the open file itself.
        return os.open(f'/proc/{token["pid"]}/fd/{token["place"]}', OPEN_FLAGS | os.O_RDONLY)

    @classmethod
    def _has_name(cls, descriptor: int, name: str) -> bool:
        return os.readlink(f'/proc/self/fd/{descriptor}') == f'/memfd:{name} (deleted)'
