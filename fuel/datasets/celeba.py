"""The CelebA data set."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fuel.datasets._built_in import BuiltInDataset
from fuel.transformers.defaults import uint8_pixels_to_floatX

__all__ = ['CelebA']

FORMATS = ('aligned_cropped', '64')


class CelebA(BuiltInDataset):
    """202599 pictures of the faces of celebrities, with 40 attributes each.

    Source ``features`` has the pictures, uint8 from 0 to 255, shape (batch, 3, 218, 178) or
    (batch, 3, 64, 64); source ``targets`` the attributes, uint8, shape (batch, 40): 1 for those
    that a picture has. The file has their names in the attribute ``target_names`` of ``targets``.

    Parameters
    ----------
    which_format : {'aligned_cropped', '64'}
        Whether pictures are as large as they were published, or made smaller.
    which_sets : tuple of str
        Of ``'train'`` (162770 examples), ``'valid'`` (19867) and ``'test'`` (19962).
    **kwargs
        As for `H5PYDataset`. The data, which have 23.6 GB or 2.5 GB, are read from the file as
        they are asked for, unless ``load_in_memory=True``.

    Raises
    ------
    ValueError
        There is no such format.
    DataFileNotFoundError
        There is no ``celeba_<which_format>.hdf5`` in the data path; ``fuel-convert celeba
        <which_format>`` makes it of the raw files.

    Notes
    -----
    `DataStream` gives the bytes of the file. `DataStream.default_stream` divides those of
    ``features`` by 255 and casts them to ``floatX``.
    """

    loads_in_memory = False
    default_transformers = uint8_pixels_to_floatX(('features',))

    def __init__(self, which_format: str, which_sets: Sequence[str], **kwargs: Any) -> None:
        if which_format not in FORMATS:
            raise ValueError(f'expected which_format to be {" or ".join(map(repr, FORMATS))}; got '
                             f'{which_format!r}. It comes first: CelebA(which_format, which_sets)')
        self.which_format = which_format
        self.filename = f'celeba_{which_format}.hdf5'
        super().__init__(which_sets, **kwargs)
