"""A process that ends when nobody is left to work for, in Python.

A library that holds the interpreter lock keeps this from its work, other than the thread in C.
"""
from __future__ import annotations

import os
import select
import signal
import threading
import time

__all__ = ['end_with']


def end_with(connection: int, parent: int, grace: float) -> None:
    """End this process when its parent hangs up or ends, whatever it is at.

    Parameters
    ----------
    connection : int
        Descriptor of a socket to the parent.
    parent : int
        Descriptor that can be read from when the parent has ended; -1 if there is none, in which
        case the number of the parent is looked at twice a second.
    grace : float
        How many seconds this process has to end by itself.
    """
    threading.Thread(target=_watch, args=(connection, parent, grace, os.getppid()),
                     name='fuel lifeline', daemon=True).start()


def _watch(connection: int, parent: int, grace: float, parent_pid: int) -> None:
    poll = select.poll()
    poll.register(connection, 0)
    if parent >= 0:
        poll.register(parent, select.POLLIN)
    while not poll.poll(None if parent >= 0 else 500):
        if parent < 0 and os.getppid() != parent_pid:
            break
    time.sleep(grace)
    os.kill(os.getpid(), signal.SIGKILL)
