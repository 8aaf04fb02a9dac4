"""The CIFAR-100 data set."""
from __future__ import annotations

from fuel.datasets._built_in import BuiltInDataset
from fuel.transformers.defaults import uint8_pixels_to_floatX

__all__ = ['CIFAR100']


class CIFAR100(BuiltInDataset):
    """60000 small pictures of things of a hundred classes, which make twenty groups.

    Source ``features`` has the pictures, uint8 from 0 to 255, shape (batch, 3, 32, 32), red, green
    and blue; source ``fine_labels`` the classes from 0 to 99, and source ``coarse_labels`` their
    groups from 0 to 19, both uint8, shape (batch, 1).

    Parameters
    ----------
    which_sets : tuple of str
        Of ``'train'`` (50000 examples) and ``'test'`` (10000).
    **kwargs
        As for `H5PYDataset`. The data are loaded into memory unless ``load_in_memory=False``.

    Raises
    ------
    DataFileNotFoundError
        There is no ``cifar100.hdf5`` in the data path; ``fuel-download cifar100`` and
        ``fuel-convert cifar100`` make it.

    Notes
    -----
    `DataStream` gives the bytes of the file. `DataStream.default_stream` divides them by 255 and
    casts them to ``floatX``.
    """

    filename = 'cifar100.hdf5'
    default_transformers = uint8_pixels_to_floatX(('features',))
