"""How much memory there is, for those who take a large piece of it at once.

To take more than there is raises no error on Linux: the kernel kills a process, and perhaps another
one. So whoever is about to fill much memory asks first.
"""
from __future__ import annotations

import os
from contextlib import suppress

__all__ = ['available_memory', 'check_memory', 'readable_size']

# What is left of a limit must also do for everything else that goes on meanwhile.
_SPARE = 32


def available_memory(root: str = '/') -> int | None:
    """Return how many bytes of memory can still be filled.

    Parameters
    ----------
    root : str, optional
        Where ``proc`` and ``sys`` are found. By default ``'/'``.

    Returns
    -------
    int or None
        The least of what the machine has, swap included, and what the control groups of this
        process allow, where a cache of files counts as free; `None` if the system does not say.
    """
    found = [_of_machine(root), *_of_groups(root)]
    return min((size for size in found if size is not None), default=None)


def check_memory(nbytes: int, purpose: str) -> None:
    """Raise an error if some memory is surely not there.

    Parameters
    ----------
    nbytes : int
        How much will be filled.
    purpose : str
        What for; it begins the message.

    Raises
    ------
    MemoryError
        There is less than that, and a little to spare.
    """
    available = available_memory()
    if available is not None and nbytes + nbytes // _SPARE > available:
        raise MemoryError(f'{purpose} takes {readable_size(nbytes)} of memory; there are '
                          f'{readable_size(available)} left. Take fewer examples or sources, read '
                          'them from the file, or give the program more memory')


def readable_size(nbytes: int) -> str:
    """Return a number of bytes in words, such as ``'1.5 GiB (1,610,612,736 bytes)'``."""
    for exponent, unit in ((3, 'GiB'), (2, 'MiB'), (1, 'KiB')):
        if nbytes >= 1024 ** exponent:
            return f'{nbytes / 1024 ** exponent:.1f} {unit} ({nbytes:,} bytes)'
    return f'{nbytes} bytes'


def _numbers(path: str) -> dict[str, int]:
    """Read a file with a name and a number in every line."""
    numbers = {}
    with suppress(OSError), open(path, encoding='ascii', errors='replace') as lines:
        for line in lines:
            name, *values = line.split()[:2] or ('',)
            if values and values[0].isdigit():
                numbers[name.rstrip(':')] = int(values[0])
    return numbers


def _number(path: str) -> int | None:
    """Read a file that holds one number; `None` if it holds something else, such as ``max``."""
    with suppress(OSError, ValueError), open(path, encoding='ascii') as content:
        return int(content.read())
    return None


def _of_machine(root: str) -> int | None:
    memory = _numbers(os.path.join(root, 'proc/meminfo'))
    if 'MemAvailable' not in memory:
        return None
    return (memory['MemAvailable'] + memory.get('SwapFree', 0)) * 1024


def _of_groups(root: str) -> list[int | None]:
    """Return what is left in each control group that this process is in, and those above it."""
    try:
        with open(os.path.join(root, 'proc/self/cgroup'), encoding='utf-8') as content:
            lines = content.read().splitlines()
    except OSError:
        return []
    mounts = os.path.join(root, 'sys/fs/cgroup')
    left = []
    for line in lines:
        _, controllers, path = (*line.split(':', 2), '', '')[:3]
        if controllers and 'memory' not in controllers.split(','):
            continue
        mount, limit, usage = (
            (os.path.join(mounts, 'memory'), 'memory.limit_in_bytes', 'memory.usage_in_bytes')
            if controllers else (mounts, 'memory.max', 'memory.current'))
        # In a container the path may be that of the host: its own group is then the mount itself.
        group = path.strip('/')
        while True:
            left.append(_left_in(os.path.join(mount, group), limit, usage))
            if not group:
                break
            group = os.path.dirname(group)
    return left


def _left_in(folder: str, limit: str, usage: str) -> int | None:
    most, used = (_number(os.path.join(folder, name)) for name in (limit, usage))
    if most is None or used is None:
        return None
    parts = _numbers(os.path.join(folder, 'memory.stat'))
    prefix = 'total_' if 'total_inactive_file' in parts else ''
    cache = sum(parts.get(f'{prefix}{name}', 0) for name in ('active_file', 'inactive_file'))
    return max(0, most - max(0, used - cache))
