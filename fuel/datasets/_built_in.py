"""What the built-in data sets have in common: a file of a known name in the data path."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from fuel.datasets._h5py import H5PYDataset
from fuel.utils.paths import find_in_data_path

__all__ = ['BuiltInDataset']


class BuiltInDataset(H5PYDataset):
    """Base of data sets that ``fuel-convert`` makes.

    Parameters
    ----------
    which_sets : tuple of str
        The splits to use.
    **kwargs
        As for `H5PYDataset`.

    Attributes
    ----------
    filename : str
        The name of the file, which is looked for in the data path. A subclass sets it.
    loads_in_memory : bool
        Whether the data are loaded into memory where ``load_in_memory`` is not given.

    Raises
    ------
    DataFileNotFoundError
        There is no such file in the data path; the message says which commands make it.
    """

    filename: str
    loads_in_memory: ClassVar[bool] = True

    def __init__(self, which_sets: Sequence[str], **kwargs: Any) -> None:
        kwargs.setdefault('load_in_memory', self.loads_in_memory)
        super().__init__(file_or_path=find_in_data_path(self.filename), which_sets=which_sets,
                         **kwargs)
