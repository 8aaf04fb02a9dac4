"""Looking at a file in a process of its own, which the HDF5 library may end or hold up.

HDF5 ends the process at some damaged files, and reads for ever in others.
"""
from __future__ import annotations

import os
import pickle
import signal
from collections.abc import Callable
from typing import Any, TypeVar

from fuel.bin._messages import one_line
from fuel.exceptions import DataFileError

__all__ = ['PATIENCE', 'alone', 'still_at_work']

Result = TypeVar('Result')

#: Seconds without any row read after which a file is given up.
PATIENCE = 120

_watched = False


def still_at_work() -> None:
    """Say that a file is being read, and not only tried to be."""
    if _watched:
        signal.alarm(PATIENCE)


def alone(look: Callable[[str], Result], path: str) -> Result:
    """Call a function in a child process, and return its result.

    Parameters
    ----------
    look : callable
        Given the path, returns something that can be pickled, and calls `still_at_work` now and
        then. An error is raised here as a `DataFileError` of the same words.
    path : str
        The file.

    Raises
    ------
    DataFileError
        The function failed, or the process was ended by what it did. An ``OSError``.
    """
    if not hasattr(os, 'fork'):
        return look(path)
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        _look_and_leave(look, path, writing)
    os.close(writing)
    try:
        with open(reading, 'rb') as stream:
            content = stream.read()
    except BaseException:
        os.kill(child, signal.SIGKILL)
        raise
    finally:
        status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        how = (f'gave nothing for {PATIENCE} s' if number == signal.SIGALRM
               else f'ended the process ({signal.Signals(number).name})')
        raise DataFileError(f'{path}: the HDF5 library {how} when the file was read; the file is '
                            'damaged')
    if not content:
        raise DataFileError(f'{path}: the process that read the file ended before it was done')
    error, result = pickle.loads(content)
    if error is not None:
        raise DataFileError(error)
    found: Result = result
    return found


def _look_and_leave(look: Callable[[str], Any], path: str, writing: int) -> None:
    """Send what a function returns, and end the process; never return."""
    global _watched
    try:
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        _watched = True
        still_at_work()
        try:
            content = pickle.dumps((None, look(path)))
        except Exception as error:
            content = pickle.dumps((one_line(error), None))
        with open(writing, 'wb') as stream:
            stream.write(content)
    finally:
        os._exit(0)
