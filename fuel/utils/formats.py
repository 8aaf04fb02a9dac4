"""Opening archives."""
from __future__ import annotations

import os
import tarfile
from typing import IO

__all__ = ['tar_open']


def tar_open(f: str | os.PathLike[str] | IO[bytes]) -> tarfile.TarFile:
    """Open a tar archive for reading, compressed or not.

    Parameters
    ----------
    f : str, path or file object
        The archive. A file object stays open when the archive is closed.

    Returns
    -------
    tarfile.TarFile
        It is a context manager.
    """
    if isinstance(f, (str, os.PathLike)):
        return tarfile.open(name=f)
    return tarfile.open(fileobj=f)
