"""What the commands print: messages of the library, and errors in one line."""
from __future__ import annotations

import logging
import os
import re
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fuel.exceptions import FuelError

__all__ = ['messages', 'one_line', 'show_warning']

# What files are called until they are finished; nobody has to know.
_TEMPORARY = re.compile(r'/\.fuel-[\w.-]+-\d+-[0-9a-f]{8}-\w+(?:/\.(?=/))?')
# How HDF5 says what the system answered, among much else.
_FROM_HDF5 = re.compile(r"errno = (?P<number>\d+), error message = '(?P<text>[^']*)'")


def one_line(error: BaseException) -> str:
    """Return the message of an error in one line.

    Errors that nobody foresaw are told with their class and where they were raised.
    """
    if isinstance(error, OSError) and error.strerror and not isinstance(error, FuelError):
        # A file that was opened by its number has that for a name.
        name = '' if error.filename is None else (
            f'{os.fsdecode(error.filename)}: ' if not isinstance(error.filename, int) else '')
        return _plain(f'{name}{error.strerror}')
    text = _plain(str(error))
    if isinstance(error, (FuelError, OSError)) and text:
        return text
    place = _place(traceback.extract_tb(error.__traceback__))
    return f'{type(error).__name__}: {text}{place}; --traceback shows more'


def _plain(text: str) -> str:
    """Return a text in one line, without what only tells how the library works."""
    found = _FROM_HDF5.search(text)
    if found is not None:
        named = re.search(r"filename = '([^']*)'", text)
        text = f'{named[1]}: {found["text"]}' if named else found['text']
    return ' '.join(_TEMPORARY.sub('', text).split())


def _place(frames: traceback.StackSummary) -> str:
    """Return where an error comes from: the last line of the code that the command called.

    Deeper lines, in the libraries which that code uses, would tell its author less.
    """
    here = os.path.dirname(__file__)
    called = [frame for frame in frames if os.path.dirname(frame.filename) != here]
    if not called:
        return ''
    folder = os.path.dirname(called[0].filename)
    frame = [frame for frame in called if frame.filename.startswith(folder)][-1]
    return f' ({frame.filename}, line {frame.lineno})'


class _Stream(logging.Handler):
    """Prints messages: what is going on to standard output, warnings to standard error."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print a record."""
        try:
            serious = record.levelno >= logging.WARNING
            prefix = f'{record.levelname.lower()}: ' if serious else ''
            _show(f'{prefix}{record.getMessage()}', sys.stderr if serious else sys.stdout)
        except BrokenPipeError:
            raise
        except Exception:
            self.handleError(record)


@contextmanager
def messages() -> Iterator[None]:
    """Print what the library logs and warns of, while a ``with`` block runs."""
    logger = logging.getLogger('fuel')
    handler = _Stream()
    level, propagate = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(logging.INFO)
    logger.propagate = False
    try:
        with warnings.catch_warnings():
            warnings.showwarning = show_warning
            yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        logger.propagate = propagate


def show_warning(message: Warning | str, *_: Any, **__: Any) -> None:
    """Print a warning in one line, as ``warnings.showwarning``."""
    _show(f'warning: {" ".join(str(message).split())}', sys.stderr)


def _show(text: str, stream: Any) -> None:
    """Print a line, also where the terminal has not all of its letters."""
    encoding = getattr(stream, 'encoding', None) or 'utf-8'
    print(text.encode(encoding, 'backslashreplace').decode(encoding), file=stream, flush=True)
