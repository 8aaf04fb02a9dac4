"""The CIFAR-10 data set."""
from __future__ import annotations

from fuel.datasets._built_in import BuiltInDataset
from fuel.transformers.defaults import uint8_pixels_to_floatX

__all__ = ['CIFAR10']


class CIFAR10(BuiltInDataset):
    """60000 small pictures of things of ten classes.

    Source ``features`` has the pictures, uint8 from 0 to 255, shape (batch, 3, 32, 32), red, green
    and blue; source ``targets`` the classes, uint8, shape (batch, 1): 0 airplane, 1 automobile,
    2 bird, 3 cat, 4 deer, 5 dog, 6 frog, 7 horse, 8 ship, 9 truck.

    Parameters
    ----------
    which_sets : tuple of str
        Of ``'train'`` (50000 examples) and ``'test'`` (10000).
    **kwargs
        As for `H5PYDataset`. The data are loaded into memory unless ``load_in_memory=False``.

    Raises
    ------
    DataFileNotFoundError
        There is no ``cifar10.hdf5`` in the data path; ``fuel-download cifar10`` and ``fuel-convert
        cifar10`` make it.

    Notes
    -----
    `DataStream` gives the bytes of the file. `DataStream.default_stream` divides them by 255 and
    casts them to ``floatX``.
    """

    filename = 'cifar10.hdf5'
    default_transformers = uint8_pixels_to_floatX(('features',))
