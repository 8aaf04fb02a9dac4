"""The Iris data set."""
from __future__ import annotations

from fuel.datasets._built_in import BuiltInDataset

__all__ = ['Iris']


class Iris(BuiltInDataset):
    """Measurements of 150 iris flowers of three species.

    Source ``features`` has length and width of sepal and petal in centimetres, float32, shape
    (batch, 4); source ``targets`` the species, uint8, shape (batch, 1): 0 for setosa, 1 for
    versicolor, 2 for virginica. The file has these names in the attributes ``feature_names`` of
    ``features`` and ``target_names`` of ``targets``.

    Parameters
    ----------
    which_sets : tuple of str
        Of ``'train'`` (100 examples), ``'valid'`` (20) and ``'test'`` (30, only `features`), or
        ``('all',)`` for all examples in the order of the raw file.
    **kwargs
        As for `H5PYDataset`. The data are loaded into memory unless ``load_in_memory=False``.

    Raises
    ------
    DataFileNotFoundError
        There is no ``iris.hdf5`` in the data path; ``fuel-download iris`` and ``fuel-convert
        iris`` make it.
    """

    filename = 'iris.hdf5'
