"""What goes wrong in a worker: errors that travel to the parent, and ends that need words."""
from __future__ import annotations

import pickle
import signal
import traceback
from types import TracebackType
from typing import Any

from fuel.engine.pickling import dumps
from fuel.exceptions import WorkerError

__all__ = ['UNKNOWN_END', 'RemoteTraceback', 'describe_end', 'pack_error', 'unpack_error']

#: In place of the exit code of a process that nobody could wait for.
UNKNOWN_END = 1 << 31

# Deeper than this, nobody reads on.
_MOST_TEXT = 1 << 20


class RemoteTraceback(Exception):
    """The traceback of an error in a worker, as text.

    It is the cause of the error that is raised in the parent, so that Python prints both.

    Parameters
    ----------
    text : str
        The lines of the traceback.
    """

    def __init__(self, text: str) -> None:
        super().__init__(text)

    def __str__(self) -> str:
        return f'\n"""\n{self.args[0]}"""'


def pack_error(error: BaseException, where: str, hide: tuple[str, ...] = ()) -> bytes:
    """Turn an error into bytes from which the parent makes the same one.

    Parameters
    ----------
    error : BaseException
        What was raised.
    where : str
        What the traceback begins with, such as ``'worker 3 (process 1234)'``.
    hide : tuple of str, optional
        Files whose frames at the top of the traceback say nothing of use.

    Returns
    -------
    bytes
        For `unpack_error`. Whatever the error is, there is always something to send.
    """
    error.__traceback__ = _without_top(error.__traceback__, hide)
    try:
        lines = ''.join(traceback.format_exception(error))
    except Exception as problem:  # an error whose own text cannot be had
        lines = f'{_name_of(type(error))} (its traceback cannot be shown: {problem!r})\n'
    if len(lines) > _MOST_TEXT:
        lines = f'{lines[:_MOST_TEXT // 2]}\n[...]\n{lines[-_MOST_TEXT // 2:]}'
    plain = (_name_of(type(error)), _text_of(error), f'In {where}:\n{lines}')
    # The text goes apart: it can be read even where the error cannot be.
    return pickle.dumps((plain, _pickled(error)), protocol=5)


def unpack_error(packed: bytes) -> BaseException:
    """Return the error that `pack_error` was given, ready to be raised.

    Parameters
    ----------
    packed : bytes
        What came from the worker.

    Returns
    -------
    BaseException
        Of the same type, with the same attributes and notes; its cause shows the traceback of the
        worker. A `WorkerError` where the error itself cannot travel.
    """
    (name, text, lines), pickled = pickle.loads(packed)
    error: BaseException | None = None
    if pickled is not None:
        try:
            loaded = pickle.loads(pickled)
        except Exception:  # a class that is found in the worker only
            loaded = None
        error = loaded if isinstance(loaded, BaseException) else None
    if error is None:
        error = WorkerError(f'{name} in a worker: {text}' if text else f'{name} in a worker', name)
    error.__cause__ = RemoteTraceback(lines)
    return error


def describe_end(code: int) -> str:
    """Say how a process ended.

    Parameters
    ----------
    code : int
        Its exit code, below 0 for the number of a signal; or `UNKNOWN_END`.

    Returns
    -------
    str
        To be put after a name, such as ``'ended with exit code 3'``.
    """
    if code == UNKNOWN_END:
        return 'ended in a way that is not known'
    if code >= 0:
        return f'ended with exit code {code}'
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = ''
    described = f'was killed by signal {-code}' + (f' ({name})' if name else '')
    return described + _HINTS.get(name, '')


_HINTS = {
    'SIGKILL': ', perhaps because memory ran out',
    'SIGBUS': ', perhaps because there was no room for shared memory or a mapped file was cut off',
    'SIGSEGV': ', so compiled code that it called is at fault',
    'SIGFPE': ', so compiled code that it called is at fault',
    'SIGILL': ', so compiled code that it called is at fault',
    'SIGABRT': ', by which compiled code that it called gave up',
    'SIGXCPU': ', since it used more time than it is allowed to',
}


def _without_top(frames: TracebackType | None, hide: tuple[str, ...]) -> TracebackType | None:
    """Leave out frames at the top that lie in some files, unless nothing were left."""
    first = frames
    while frames is not None and frames.tb_frame.f_code.co_filename in hide:
        frames = frames.tb_next
    return frames or first


def _name_of(cls: type) -> str:
    return cls.__qualname__ if cls.__module__ in ('builtins', '__main__') else (
        f'{cls.__module__}.{cls.__qualname__}')


def _text_of(error: BaseException) -> str:
    try:
        return str(error)
    except BaseException:  # whatever the class of a program does there
        return ''


def _rebuild(cls: type[BaseException], args: tuple[Any, ...], state: Any) -> BaseException:
    """Make an error without the constructor of its class, which may want other arguments."""
    error = cls.__new__(cls)
    error.args = args
    error.__dict__.update(state)
    return error


class _Rebuilt:
    """Pickles as an error that is made by `_rebuild`."""

    def __init__(self, error: BaseException, state: Any) -> None:
        self._parts = type(error), error.args, state

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, self._parts


def _pickled(error: BaseException) -> bytes | None:
    """Pickle an error in the first way in which it can be read again, if there is one."""
    found = _tried(error, error)
    if found is None:
        # Its constructor does not take its `args`, or an attribute cannot be pickled.
        state = {name: value for name, value in getattr(error, '__dict__', {}).items()
                 if _dumped(value) is not None}
        found = _tried(_Rebuilt(error, state), error)
    return found


def _tried(stand_in: object, error: BaseException) -> bytes | None:
    pickled = _dumped(stand_in)
    if pickled is None:
        return None
    try:
        loaded = pickle.loads(pickled)
        same = type(loaded) is type(error) and str(loaded) == str(error)
    except BaseException:  # whatever the class of a program does there
        return None
    return pickled if same else None


def _dumped(value: object) -> bytes | None:
    try:
        return dumps(value)
    except BaseException:  # whatever the class of a program does there
        return None
