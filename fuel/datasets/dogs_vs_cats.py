"""The Dogs vs. Cats data set."""
from __future__ import annotations

from fuel.datasets._built_in import BuiltInDataset
from fuel.transformers.arrays import ScaleAndShift

__all__ = ['DogsVsCats']


class DogsVsCats(BuiltInDataset):
    """37500 photographs of dogs and of cats, of many sizes.

    Source ``image_features`` has the photographs, uint8 from 0 to 255: an array of objects, each
    an array of the axes channel (3), height and width. Source ``targets``, uint8, shape (batch,
    1), has 0 for a cat and 1 for a dog.

    Parameters
    ----------
    which_sets : tuple of str
        Of ``'train'`` (25000 examples) and ``'test'`` (12500, only ``image_features``).
    **kwargs
        As for `H5PYDataset`. The data are read from the file as they are asked for, unless
        ``load_in_memory=True``.

    Raises
    ------
    DataFileNotFoundError
        There is no ``dogs_vs_cats.hdf5`` in the data path; ``fuel-convert dogs_vs_cats`` makes it
        of the raw files.

    Notes
    -----
    `DataStream` gives the bytes of the file. `DataStream.default_stream` divides those of
    ``image_features`` by 255. For batches of one array, stream single examples, bring them to one
    size, by `RandomResizedCrop` for instance, and put them together by `Batch`.
    """

    filename = 'dogs_vs_cats.hdf5'
    loads_in_memory = False
    default_transformers = (
        (ScaleAndShift, [1 / 255.0, 0], {'which_sources': ('image_features',)}),)
