"""The part of a file that has arrived so far.

A download goes to ``NAME.part`` beside its final place. ``NAME.part.json`` says where the bytes
came from and which version of the remote file they belong to, so that a later run can ask for
the rest of that version and no other.
"""
from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import BinaryIO, Self

from fuel.exceptions import DownloadError
from fuel.utils.atomic import move_into_place, try_lock

__all__ = ['Part', 'Version', 'part_paths']


@dataclass(frozen=True, slots=True)
class Version:
    """What identifies one version of a remote file.

    Parameters
    ----------
    url : str
        Its address.
    etag : str, optional
        The strong entity tag that the server gave.
    modified : str, optional
        The time of the last change that the server gave, as it gave it.
    length : int, optional
        The number of bytes in all.
    """

    url: str
    etag: str | None = None
    modified: str | None = None
    length: int | None = None

    @property
    def condition(self) -> str | None:
        """The value for an If-Range header; `None` if the server gave nothing to compare."""
        return self.etag or self.modified


def part_paths(target: str) -> tuple[str, str]:
    """Return the names of the two files that an unfinished download of a file has."""
    return f'{target}.part', f'{target}.part.json'


class Part:
    """The unfinished download of one file; to be used in a ``with`` statement.

    Parameters
    ----------
    target : str
        The final path of the file.

    Raises
    ------
    DownloadError
        Another process downloads the same file at this moment.
    """

    def __init__(self, target: str) -> None:
        self.target = target
        self.path, self._note = part_paths(target)
        self.finished = False
        self.stream = self._open()
        self.version = self._read_note()

    def _open(self) -> BinaryIO:
        while True:
            stream = open(self.path, 'ab')  # noqa: SIM115 - closed by close()
            if not try_lock(stream.fileno()):
                stream.close()
                raise DownloadError(f'{self.target} is being downloaded by another process; wait '
                                    'for it, or end it')
            # The file may have been finished and renamed between opening and locking.
            with suppress(FileNotFoundError):
                if os.path.samestat(os.fstat(stream.fileno()), os.stat(self.path)):
                    return stream
            stream.close()

    def _read_note(self) -> Version | None:
        try:
            with open(self._note, encoding='utf-8') as stream:
                return Version(**json.load(stream))
        except (OSError, ValueError, TypeError):
            return None

    @property
    def size(self) -> int:
        """The number of bytes that have arrived."""
        self.stream.flush()
        return os.fstat(self.stream.fileno()).st_size

    def restart(self, version: Version | None) -> None:
        """Forget what has arrived; what comes now belongs to the given version."""
        self.stream.flush()
        self.stream.truncate(0)
        self.version = version
        # The note must be there before the first byte is, and never speak of other bytes.
        with suppress(FileNotFoundError):
            os.remove(self._note)
        if version is not None:
            with open(self._note, 'w', encoding='utf-8') as stream:
                json.dump(asdict(version), stream)

    def finish(self) -> None:
        """Give the file its final name."""
        self.stream.flush()
        move_into_place(self.path, self.target)
        self.finished = True
        with suppress(FileNotFoundError):
            os.remove(self._note)

    def discard(self) -> None:
        """Remove what has arrived."""
        for path in (self.path, self._note):
            with suppress(FileNotFoundError):
                os.remove(path)

    def close(self) -> None:
        """Close the file; what has arrived stays for the next run."""
        try:
            # An empty part, left where nothing was ever received, would only be litter. It goes
            # while it is locked: afterwards it may be somebody else's.
            if not self.finished and self.size == 0:
                self.discard()
        finally:
            self.stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
