"""Children made by ``fork``, which go on seeing shared memory that this process has given back.

A child inherits arrays of its parent. If they lie in shared memory, that must not be used again
while the child might still look at them. Each child inherits one end of a pipe as well: the other
end tells when it, and whatever it has forked itself, has ended or become another program.
"""
from __future__ import annotations

import os
import threading
from contextlib import suppress
from typing import Protocol
from weakref import WeakSet

__all__ = ['Children', 'Lender', 'children']


class Lender(Protocol):
    """Something whose memory children inherit."""

    def exposed(self) -> bool:
        """Tell whether a child would see anything of it now."""

    def forked(self, child: int) -> None:
        """Note that a child of this number is about to see it."""


class Children:
    """The children of this process that may see memory of lenders.

    Attributes
    ----------
    count : int
        How many there have been; the number of the last one.
    """

    def __init__(self) -> None:
        self._lenders: WeakSet[Lender] = WeakSet()
        self.count = 0
        self._pipes: dict[int, int] = {}                # by child; -1 if its end is not noticed
        self._coming: dict[int, int] = {}               # by thread: the end for a child
        self._inherited: list[int] = []
        # A signal may come while it is held, and its handler fork.
        self._lock = threading.RLock()

    def add(self, lender: Lender) -> None:
        """Watch over a lender, as long as it lives."""
        with self._lock:
            self._lenders.add(lender)

    @property
    def any(self) -> bool:
        """Whether there may be children that have not ended."""
        return bool(self._pipes)

    def living(self) -> list[int]:
        """Return the numbers of the children that have not ended, in ascending order."""
        with self._lock:
            for child, descriptor in list(self._pipes.items()):
                if descriptor >= 0:
                    with suppress(BlockingIOError):
                        os.read(descriptor, 1)      # there is only an end to be read
                        del self._pipes[child]
                        os.close(descriptor)
            return sorted(self._pipes)

    def let_go(self) -> None:
        """Declare that this process, a child itself, will never look at what it inherited."""
        inherited, self._inherited = self._inherited, []
        for descriptor in inherited:
            os.close(descriptor)

    def before(self) -> None:
        """Get ready for a child."""
        with self._lock:
            self.living()
            exposed = [lender for lender in self._lenders if lender.exposed()]
            if not exposed:
                return
            try:
                ends = os.pipe()
                os.set_blocking(ends[0], False)
            except OSError:
                # Then it is taken for living, for ever.
                ends = -1, -1
            self.count += 1
            self._pipes[self.count] = ends[0]
            self._coming[threading.get_ident()] = ends[1]
            for lender in exposed:
                lender.forked(self.count)

    def in_parent(self) -> None:
        """Go on, whether or not a child was made."""
        end = self._coming.pop(threading.get_ident(), -1)
        if end >= 0:
            os.close(end)

    def in_child(self) -> None:
        """Begin anew, as a process without children."""
        for descriptor in self._pipes.values():
            if descriptor >= 0:
                os.close(descriptor)
        # The ends of threads that were about to fork too are the only ones that stay: here they
        # stand for this child as well.
        self._inherited += [end for end in self._coming.values() if end >= 0]
        self._pipes.clear()
        self._coming.clear()
        self._lenders.clear()
        self._lock = threading.RLock()


#: Those of this process.
children = Children()
if hasattr(os, 'register_at_fork'):
    os.register_at_fork(before=children.before, after_in_parent=children.in_parent,
                        after_in_child=children.in_child)
