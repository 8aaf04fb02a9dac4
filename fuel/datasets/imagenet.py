"""Pictures of ImageNet, as its challenges of 2010 and of 2012 had them."""
from __future__ import annotations

from fuel.datasets._built_in import BuiltInDataset
from fuel.transformers.defaults import rgb_images_from_encoded_bytes

__all__ = ['ILSVRC2010', 'ILSVRC2012']


class ILSVRC2010(BuiltInDataset):
    """Photographs of 1000 kinds of things, of the ImageNet challenge of 2010.

    Source ``encoded_images`` has the files, most of them JPEG, as uint8 arrays of any length;
    ``targets`` the kinds, int16, shape (batch, 1): ``ILSVRC2010_ID`` of the development kit less
    1; ``filenames`` the names of the files, bytes, shape (batch, 1). The data sets
    ``class_names`` and ``wnids`` of the file have the words and the WordNet numbers of all kinds.

    Parameters
    ----------
    which_sets : tuple of str
        Of ``'train'`` (1261406 examples, in random order), ``'valid'`` (50000) and ``'test'``
        (150000), which are ordered by file name.
    **kwargs
        As for `H5PYDataset`. The data are read from the file as they are asked for, unless
        ``load_in_memory=True``.

    Raises
    ------
    DataFileNotFoundError
        There is no ``ilsvrc2010.hdf5`` in the data path; ``fuel-convert ilsvrc2010`` makes it of
        the raw files.

    Notes
    -----
    `DataStream` gives the bytes of the files. `DataStream.default_stream` decodes those of
    ``encoded_images`` into RGB images, uint8, with axes (channel, height, width).
    """

    filename = 'ilsvrc2010.hdf5'
    loads_in_memory = False
    default_transformers = rgb_images_from_encoded_bytes(('encoded_images',))


class ILSVRC2012(BuiltInDataset):
    """Photographs of 1000 kinds of things, of the ImageNet challenge of 2012.

    Source ``encoded_images`` has the files, most of them JPEG, as uint8 arrays of any length;
    ``targets`` the kinds, int16, shape (batch, 1): ``ILSVRC2012_ID`` of the development kit less
    1; ``filenames`` the names of the files, bytes, shape (batch, 1). The data sets
    ``class_names`` and ``wnids`` of the file have the words and the WordNet numbers of all kinds.

    Parameters
    ----------
    which_sets : tuple of str
        Of ``'train'`` (1281167 examples, in random order), ``'valid'`` (50000) and ``'test'``
        (100000, without `targets`), which are ordered by file name.
    **kwargs
        As for `H5PYDataset`. The data are read from the file as they are asked for, unless
        ``load_in_memory=True``.

    Raises
    ------
    DataFileNotFoundError
        There is no ``ilsvrc2012.hdf5`` in the data path; ``fuel-convert ilsvrc2012`` makes it of
        the raw files.

    Notes
    -----
    `DataStream` gives the bytes of the files. `DataStream.default_stream` decodes those of
    ``encoded_images`` into RGB images, uint8, with axes (channel, height, width).
    """

    filename = 'ilsvrc2012.hdf5'
    loads_in_memory = False
    default_transformers = rgb_images_from_encoded_bytes(('encoded_images',))
