"""What to say of missing files that a certain command makes."""
from __future__ import annotations

from fuel.exceptions import DataFileNotFoundError

__all__ = ['with_commands']


def with_commands(error: DataFileNotFoundError, commands: str) -> DataFileNotFoundError:
    """Return an error that ends with the commands that make the missing file.

    Parameters
    ----------
    error : DataFileNotFoundError
        What `find_in_data_path` raised: its last line says how files are made in general.
    commands : str
        What to type in a folder of the data path.
    """
    *lines, _ = str(error).split('\n')
    return DataFileNotFoundError('\n'.join(
        [*lines, f'To make it, in a folder of the data path: {commands}']))
