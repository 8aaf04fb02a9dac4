"""The Adult data set."""
from __future__ import annotations

from fuel.datasets._built_in import BuiltInDataset

__all__ = ['Adult']


class Adult(BuiltInDataset):
    """What a census knows of 45222 adults, and whether they earn more than 50000 dollars a year.

    Source ``features`` has what is known, float64, shape (batch, 104); source ``targets`` whether
    the income is higher, bool, shape (batch, 1). The attribute ``feature_names`` of ``features``
    in the file says what the columns are, the attribute ``target_names`` of ``targets`` what
    `False` and `True` mean.

    Parameters
    ----------
    which_sets : tuple of str
        Of ``'train'`` (30162 examples) and ``'test'`` (15060).
    **kwargs
        As for `H5PYDataset`. The data are loaded into memory unless ``load_in_memory=False``.

    Raises
    ------
    DataFileNotFoundError
        There is no ``adult.hdf5`` in the data path; ``fuel-download adult`` and ``fuel-convert
        adult`` make it.
    """

    filename = 'adult.hdf5'
