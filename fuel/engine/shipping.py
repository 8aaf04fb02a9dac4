"""How what workers run gets to them: pickled once, with its arrays in memory that all of them map.

Arrays do not go through the pickle. They lie in an anonymous file behind it, and every worker maps
that file copy-on-write: it has the arrays without copying them, and may still write to its own.
"""
from __future__ import annotations

import mmap
import os
import pickle
import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from fuel.engine.pickling import by_value

__all__ = ['Describe', 'anonymous_file', 'load', 'ship']

# Smaller ones are in the pickle; a page is what mapping them would take at least.
_LEAST_APART = 1 << 14
_PAGE = mmap.ALLOCATIONGRANULARITY

Describe = Callable[[Any], Iterable[tuple[str, Any]]]


def anonymous_file(name: str) -> int:
    """Return a descriptor of a file that is gone when the last process closes it.

    Parameters
    ----------
    name : str
        What lists of open files show.
    """
    with suppress(AttributeError, OSError):  # another system, or one that forbids it
        return os.memfd_create(name, os.MFD_CLOEXEC)
    descriptor, path = tempfile.mkstemp(prefix=name)
    os.unlink(path)
    return descriptor


def ship(descriptor: int, runner: Any, describe: Describe | None = None) -> int:
    """Write what workers run into an anonymous file.

    Parameters
    ----------
    descriptor : int
        Of an empty file.
    runner : object
        What is sent, with all that it holds.
    describe : callable, optional
        Takes the runner and returns pairs of a name and an object, into which it can be divided;
        where the runner cannot be pickled, they are tried one by one.

    Returns
    -------
    int
        How many bytes were written.

    Raises
    ------
    TypeError
        Something cannot be pickled; the message says what.
    """
    apart: list[memoryview] = []

    def set_apart(buffer: pickle.PickleBuffer) -> bool:
        raw = buffer.raw()
        if raw.nbytes < _LEAST_APART:
            return True
        apart.append(raw)
        return False

    try:
        pickled = by_value(runner, set_apart)
    except Exception as error:
        from fuel.engine.unpicklable import explain
        raise TypeError(explain(runner, error, describe)) from error
    sizes = [(buffer.nbytes, buffer.readonly) for buffer in apart]
    head = pickle.dumps((len(pickled), sizes))
    place = _write(descriptor, 0, len(head).to_bytes(8, 'little') + head + pickled)
    for buffer in apart:
        place = _write(descriptor, _rounded(place), buffer)
    return place


def load(descriptor: int, size: int) -> Any:
    """Return a worker's own copy of what `ship` wrote.

    Parameters
    ----------
    descriptor : int
        Of the file.
    size : int
        How many bytes were written.

    Returns
    -------
    object
        Large arrays in it are mapped: memory is taken only for what is written to.
    """
    whole = memoryview(mmap.mmap(descriptor, size, access=mmap.ACCESS_COPY))
    start = 8 + int.from_bytes(whole[:8], 'little')
    length, sizes = pickle.loads(whole[8:start])
    place = start + length
    buffers = []
    for nbytes, readonly in sizes:
        place = _rounded(place)
        buffer = whole[place:place + nbytes]
        buffers.append(buffer.toreadonly() if readonly else buffer)
        place += nbytes
    return pickle.loads(whole[start:start + length], buffers=buffers)


def _rounded(place: int) -> int:
    return -(-place // _PAGE) * _PAGE


def _write(descriptor: int, place: int, content: bytes | memoryview) -> int:
    """Write all of something at a place; return where it ends."""
    with memoryview(content) as left:
        written = 0
        while written < left.nbytes:
            written += os.pwrite(descriptor, left[written:], place + written)
    return place + written
