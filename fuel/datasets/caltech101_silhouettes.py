"""The CalTech 101 Silhouettes data set."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fuel.datasets._built_in import BuiltInDataset

__all__ = ['CalTech101Silhouettes']

SIZES = (16, 28)


class CalTech101Silhouettes(BuiltInDataset):
    """Silhouettes of things of 101 classes.

    Source ``features`` has the silhouettes, uint8, 0 or 1, shape (batch, 1, size, size); source
    ``targets`` the classes, from 1 to 101, shape (batch, 1). Both have the dtype of the raw file.

    Parameters
    ----------
    which_sets : tuple of str
        Of ``'train'``, ``'valid'`` and ``'test'``. They have 4100, 2264 and 2307 examples of 28
        pixels, and 4082, 2257 and 2302 of 16 pixels.
    size : {28, 16}, optional
        Height and width of the silhouettes in pixels.
    **kwargs
        As for `H5PYDataset`. The data are loaded into memory unless ``load_in_memory=False``.

    Raises
    ------
    ValueError
        There are no silhouettes of that size.
    DataFileNotFoundError
        There is no ``caltech101_silhouettes<size>.hdf5`` in the data path; ``fuel-download
        caltech101_silhouettes <size>`` and ``fuel-convert caltech101_silhouettes <size>`` make it.
    """

    def __init__(self, which_sets: Sequence[str], size: int = 28, **kwargs: Any) -> None:
        if size not in SIZES:
            raise ValueError(f'expected a size of {" or ".join(map(str, SIZES))}; got {size!r}')
        self.filename = f'caltech101_silhouettes{size}.hdf5'
        super().__init__(which_sets, **kwargs)
