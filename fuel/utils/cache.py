"""Copies, on a disk of this machine, of files that lie on a slow one.

They are made if the setting ``local_data_path`` names a folder.
"""
from __future__ import annotations

import logging
import os
import stat
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fuel.config_parser import config
from fuel.utils.atomic import sweep

if TYPE_CHECKING:
    from fuel.utils._copies import Original

__all__ = ['LocalDatasetCache', 'cache_file', 'dataset_cache', 'local_copy']

logger = logging.getLogger(__name__)

# How often to begin anew when a copy is removed between being made and being used.
_ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class _Known:
    """What became of a file.

    Attributes
    ----------
    original : tuple
        What the file was like: device, number, size, and times of the last changes.
    copy : str
        The copy; empty if the original is to be read.
    mark : int
        A descriptor of the copy, whose lock says that it is in use.
    """

    original: tuple[int, ...]
    copy: str = ''
    mark: int = -1

    def holds(self, original: tuple[int, ...]) -> bool:
        """Tell whether this is still so."""
        if original != self.original:
            return False
        if not self.copy:
            return True
        try:
            return os.path.samestat(os.stat(self.copy), os.fstat(self.mark))
        except OSError:
            return False

    def forget(self) -> None:
        """Let the copy be removed."""
        if self.mark >= 0:
            with suppress(OSError):
                os.close(self.mark)


class _Files:
    """The files that this process has asked for. Each copy is marked as used until the end."""

    def __init__(self) -> None:
        self._pid = os.getpid()
        self._known: dict[tuple[str, str, float], _Known] = {}

    def place(self, path: str, folder: str) -> str:
        """Return where to read a file."""
        try:
            status = os.stat(path)
        except (OSError, ValueError):
            return path
        if not stat.S_ISREG(status.st_mode):
            return path
        if self._pid != os.getpid():            # the descriptors may be others in a child process
            self._pid, self._known = os.getpid(), {}
        original = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns,
                    status.st_ctime_ns)
        limit = config.local_data_limit
        key = os.path.abspath(path), folder, limit
        known = self._known.get(key)
        if known is None or not known.holds(original):
            if known is not None and self._known.pop(key, None) is known:
                known.forget()
            found = self._found(path, status, original, folder, limit)
            known = self._known.setdefault(key, found)
            if known is not found:              # another thread was quicker
                found.forget()
        return known.copy or path

    @staticmethod
    def _found(path: str, status: os.stat_result, original: tuple[int, ...], folder: str,
               limit: float) -> _Known:
        """Find or make the copy of a file."""
        # They are needed only where there is a folder for copies.
        from fuel.utils._copies import CopyError, Original, make_copy
        folder = os.path.abspath(os.path.expanduser(os.path.expandvars(folder)))
        real = os.path.realpath(path)
        if os.path.dirname(real) == os.path.realpath(folder):
            return _Known(original)
        described = Original.at(real, status)
        copy = os.path.join(folder, described.copy_name)
        with suppress(OSError):
            sweep(folder)
        try:
            for _ in range(_ATTEMPTS):
                mark = _marked(copy, described)
                if mark is not None:
                    return _Known(original, copy, mark)
                make_copy(described, folder, limit)
            raise CopyError('others remove the copy as soon as it is made')
        except (CopyError, OSError) as error:
            reason = str(error)
            if isinstance(error, OSError) and error.strerror:
                reason = f'{error.filename or folder}: {error.strerror}'
            logger.warning('%s: there is no local copy in %s, and the file itself is read: %s',
                           path, folder, reason)
            return _Known(original)


def _marked(copy: str, original: Original) -> int | None:
    """Mark a copy as used just now, and until the mark is closed."""
    from fuel.utils._copies import is_copy_of
    from fuel.utils._locks import share
    try:
        mark = share(copy)
    except FileNotFoundError:
        return None
    status = os.fstat(mark)
    if not is_copy_of(original, status):
        os.close(mark)
        return None
    with suppress(OSError):                     # it may be the copy of another user
        os.utime(copy, ns=(time.time_ns(), status.st_mtime_ns))
    return mark


_files = _Files()


def local_copy(path: str) -> str:
    """Return where a file is best read: its copy on this machine, which is made if need be.

    Parameters
    ----------
    path : str
        The file.

    Returns
    -------
    str
        The path of a copy in the folder ``config.local_data_path``. The path given, if that
        setting is empty, there is no such file, or no copy could be made; a warning is logged
        once in the last case.
    """
    folder = config.local_data_path
    return _files.place(path, folder) if folder else path


def cache_file(filename: str | os.PathLike[str]) -> str:
    """Return where a file is best read; as `local_copy`, with an error logged for a missing file.

    Parameters
    ----------
    filename : str or path
        The file.

    Returns
    -------
    str
        The path of a copy on this machine, or the path given.
    """
    filename = os.fspath(filename)
    if config.local_data_path and not os.path.isfile(filename):
        logger.error('%s: expected a file, to make a local copy of it; there is none', filename)
    return local_copy(filename)


class LocalDatasetCache:
    """The function `cache_file` in the form that it has in old programs."""

    def cache_file(self, filename: str | os.PathLike[str]) -> str:
        """Return where a file is best read; see `cache_file`."""
        return cache_file(filename)


dataset_cache = LocalDatasetCache()
