"""The raw files that a converter reads; what they were is kept in the file it writes."""
from __future__ import annotations

import io
import os
from typing import Any, BinaryIO, cast

from fuel.converters._conversion.record import InputDigest, Record, current_record

__all__ = ['input_path', 'note_input', 'note_seed', 'open_input']

_BUFFER = 1 << 20
#: Bytes that are announced to the operating system before they are read.
_AHEAD = 8 << 20


def note_input(path: str | os.PathLike[str], name: str | None = None) -> None:
    """Have the name, the size and the SHA-256 of a file kept in what is written.

    Does nothing where a converter is called by a program rather than by ``fuel-convert``.

    Parameters
    ----------
    path : str or path
        The file. It is read in the background.
    name : str, optional
        What to call it; by default its path as seen from the folder of the raw files.
    """
    record = current_record()
    if record is not None:
        record.finish(record.input(os.fspath(path), name))


def input_path(directory: str | os.PathLike[str], name: str) -> str:
    """Return the path of a raw file, after having it noted as `note_input` does.

    Parameters
    ----------
    directory : str or path
        The folder of the raw files.
    name : str
        The name of the file.
    """
    path = os.path.join(directory, name)
    note_input(path)
    return path


def note_seed(seed: int) -> None:
    """Have the seed of random choices kept in the file that is written."""
    record = current_record()
    if record is not None:
        record.seed = int(seed)


class _NotedFile(io.RawIOBase):
    """A file of which what is read in order, from the beginning, is hashed on the way."""

    def __init__(self, path: str, record: Record) -> None:
        self._stream = open(path, 'rb', buffering=0)  # noqa: SIM115 - closed by close
        self._record = record
        self._digest: InputDigest = record.input(path)
        self._position = self._announced = 0
        self.name = path

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def fileno(self) -> int:
        return self._stream.fileno()

    def readinto(self, buffer: Any) -> int:
        self._announce()
        count = self._stream.readinto(buffer) or 0
        start, self._position = self._position, self._position + count
        # A read that begins in what is known already may still end beyond it.
        if start <= self._digest.fed < start + count and not self._digest.hexdigest:
            fresh = bytes(memoryview(buffer).cast('B')[self._digest.fed - start:count])
            self._digest.fed += len(fresh)
            self._record.feed(self._digest, fresh)
        return count

    def _announce(self) -> None:
        """Have the system fetch what will be read next; a cold disk is twice as fast so."""
        if not self._position <= self._announced <= self._position + 2 * _AHEAD:
            self._announced = self._position        # it was read elsewhere before
        if self._announced < self._position + _AHEAD:
            if hasattr(os, 'posix_fadvise'):
                os.posix_fadvise(self._stream.fileno(), self._announced, _AHEAD,
                                 os.POSIX_FADV_WILLNEED)
            self._announced += _AHEAD

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._position = self._stream.seek(offset, whence)
        return self._position

    def tell(self) -> int:
        return self._position

    def close(self) -> None:
        if not self.closed:
            self._stream.close()
        super().close()


def open_input(path: str | os.PathLike[str]) -> BinaryIO:
    """Open a raw file for reading, and have it noted as `note_input` does.

    What is read in the order of the file is hashed on the way, so that a large file is read only
    once.

    Parameters
    ----------
    path : str or path
        The file.

    Returns
    -------
    binary file
        Buffered and seekable.
    """
    record = current_record()
    if record is None:
        return open(path, 'rb', buffering=_BUFFER)
    return cast(BinaryIO, io.BufferedReader(_NotedFile(os.fspath(path), record), _BUFFER))
