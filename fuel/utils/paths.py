"""Finding data files in the directories of the data path."""
from __future__ import annotations

import os
import shlex

from fuel._registry import BY_HAND, commands_for
from fuel.config_parser import config
from fuel.exceptions import DataFileNotFoundError

__all__ = ['find_in_data_path']


def find_in_data_path(filename: str | os.PathLike[str]) -> str:
    """Return the path of a data file.

    Parameters
    ----------
    filename : str or path
        Its name, or a path relative to a directory of the data path.

    Returns
    -------
    str
        The first directory of ``config.data_path`` that has the file, joined with its name.
        Variables (``$HOME``) and ``~`` in the data path are replaced.

    Raises
    ------
    DataFileNotFoundError
        No directory has it. The message says where it was looked for, how to change that, and
        which command makes the file. An ``IOError``.
    """
    filename = os.fspath(filename)
    directories = [os.path.expanduser(os.path.expandvars(entry)) for entry in config.data_path]
    for directory in directories:
        path = os.path.join(directory, filename)
        if os.path.isfile(path):
            return path
    raise DataFileNotFoundError(_explanation(filename, directories))


def _explanation(filename: str, directories: list[str]) -> str:
    """Say where a file was looked for and what can be done, a line for each thing."""
    searched = ', '.join(os.path.abspath(directory) for directory in directories)
    rc_file = os.environ.get('FUEL_CONFIG') or os.path.join('~', '.fuelrc')
    how = (f'To look elsewhere, set FUEL_DATA_PATH in the environment, or data_path in {rc_file}, '
           'or assign fuel.config.data_path')
    lines = [f"{filename} not found in Fuel's data path, which is: {searched}", how]
    if os.path.isfile(filename):
        where = os.path.dirname(os.path.abspath(filename))
        lines.append('The file lies in the current directory; to have it found there: '
                     f'export FUEL_DATA_PATH={shlex.quote(where)}')
    target = shlex.quote(os.path.abspath(directories[0])) if directories else '.'
    commands = commands_for(os.path.splitext(os.path.basename(filename))[0])
    if commands is not None:
        download, convert = commands
        if download in BY_HAND:
            lines.append(f'To make the file: get the raw files by hand from {BY_HAND[download]} '
                         f'(fuel-convert {download} -h lists them) and put them into {target}')
            lines.append(f'Then: cd {target} && fuel-convert {convert}')
        else:
            lines.append(f'To make the file: mkdir -p {target} && cd {target} && '
                         f'fuel-download {download} && fuel-convert {convert}')
    else:
        lines.append('If it belongs to a built-in data set, fuel-download NAME && fuel-convert '
                     f'NAME make it; fuel-convert -h lists the names. Put it into {target}')
    return '\n'.join(lines)
