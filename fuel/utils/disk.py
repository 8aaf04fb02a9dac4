"""The space on disks."""
from __future__ import annotations

import os
import shutil
from typing import NamedTuple

__all__ = ['DiskUsage', 'check_enough_space', 'disk_usage', 'safe_mkdir']


class DiskUsage(NamedTuple):
    """How full a disk is, in bytes."""

    total: int
    used: int
    free: int


def disk_usage(path: str | os.PathLike[str]) -> DiskUsage:
    """Return how full the disk is that a path lies on.

    Parameters
    ----------
    path : str or path
        A file or folder. Where it does not exist, that of the nearest folder above it which does.

    Returns
    -------
    namedtuple
        `total`, `used` and `free`, in bytes. What only the administrator may use is not free.
    """
    path = os.path.abspath(path)
    while not os.path.exists(path) and os.path.dirname(path) != path:
        path = os.path.dirname(path)
    return DiskUsage(*shutil.disk_usage(path))


def check_enough_space(dataset_local_dir: str | os.PathLike[str],
                       remote_fname: str | os.PathLike[str],
                       local_fname: str | os.PathLike[str] | None = None,
                       max_disk_usage: float = 0.9) -> bool:
    """Return whether there is room for a copy of a file.

    Parameters
    ----------
    dataset_local_dir : str or path
        The folder that the copy is to be in.
    remote_fname : str or path
        The file.
    local_fname : str or path, optional
        The copy. If it is there already, only the difference counts.
    max_disk_usage : float, optional
        Which part of the disk may be used with the copy, from 0 to 1. By default 0.9.

    Returns
    -------
    bool
    """
    needed = os.stat(remote_fname).st_size
    if local_fname is not None and os.path.isfile(local_fname):
        needed -= os.stat(local_fname).st_size
    usage = disk_usage(dataset_local_dir)
    return needed <= usage.free and usage.used + needed <= max_disk_usage * usage.total


def safe_mkdir(folder_name: str | os.PathLike[str], force_perm: int | None = None) -> None:
    """Make a folder, with those above it, unless it is there.

    Parameters
    ----------
    folder_name : str or path
        The folder.
    force_perm : int, optional
        The permissions of a new folder. By default those that the umask of the process leaves.
    """
    made = not os.path.isdir(folder_name)
    os.makedirs(folder_name, exist_ok=True)
    if made and force_perm is not None:
        os.chmod(folder_name, force_perm)
