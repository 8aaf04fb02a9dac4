"""What HDF5 says about damaged files, put into words that name the file."""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from fuel.exceptions import DataFileError, FuelError

__all__ = ['naming']


@contextmanager
def naming(path: str, source: str = '') -> Iterator[None]:
    """Turn errors of h5py into a `DataFileError` that names the file.

    A damaged file makes HDF5 fail anywhere, with errors of many kinds that do not say where. Only
    calls of h5py belong into the block, for an error of the caller would become one of the file.

    Parameters
    ----------
    path : str
        The file.
    source : str, optional
        The source.
    """
    try:
        yield
    except (FuelError, FileNotFoundError, PermissionError, MemoryError):
        raise
    except (OSError, RuntimeError, KeyError, IndexError, TypeError, ValueError) as error:
        where = f'{path}: source {source!r}' if source else path
        raise DataFileError(
            f'{where} cannot be read; the file may be damaged. HDF5 says: '
            f'{type(error).__name__}: {error}') from error
