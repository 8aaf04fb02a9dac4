"""Processes that own something: whether they still live, and are who they are taken for."""
from __future__ import annotations

import socket

from fuel.utils.atomic import process_lives

__all__ = ['machine', 'owner_lives', 'start_of_process']


def machine() -> str:
    """Return what tells this machine, since it was started, from all others."""
    try:
        with open('/proc/sys/kernel/random/boot_id', encoding='ascii') as content:
            return content.read().strip()
    except OSError:
        return socket.gethostname()


def start_of_process(pid: int) -> int | None:
    """Return when a process started, in a unit of the system.

    Parameters
    ----------
    pid : int
        Its number.

    Returns
    -------
    int or None
        `None` if it does not live, or if the system does not say.
    """
    try:
        with open(f'/proc/{pid}/stat', 'rb') as content:
            # The name of the program comes in parentheses and may hold anything.
            state, *fields = content.read().rpartition(b')')[2].split()
        return None if state in b'ZX' else int(fields[18])
    except (OSError, ValueError, IndexError):
        return None


def owner_lives(pid: int, started: int | None) -> bool:
    """Return whether a process lives and is the one that is meant.

    Parameters
    ----------
    pid : int
        Its number, which another one may have got meanwhile.
    started : int or None
        What `start_of_process` returned for the one that is meant.
    """
    if started is not None:
        return start_of_process(pid) == started
    return process_lives(pid)
