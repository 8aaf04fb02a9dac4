"""The binarized MNIST data set."""
from __future__ import annotations

from fuel.datasets._built_in import BuiltInDataset

__all__ = ['BinarizedMNIST']


class BinarizedMNIST(BuiltInDataset):
    """70000 handwritten digits in black and white.

    Source ``features`` has the images, uint8, 0 or 1, shape (batch, 1, 28, 28). There are no
    targets.

    Parameters
    ----------
    which_sets : tuple of str
        Of ``'train'`` (50000 examples), ``'valid'`` (10000) and ``'test'`` (10000).
    **kwargs
        As for `H5PYDataset`. The data are loaded into memory unless ``load_in_memory=False``.

    Raises
    ------
    DataFileNotFoundError
        There is no ``binarized_mnist.hdf5`` in the data path; ``fuel-download binarized_mnist``
        and ``fuel-convert binarized_mnist`` make it.
    """

    filename = 'binarized_mnist.hdf5'
