"""The Street View House Numbers (SVHN) data set."""
from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fuel.datasets._built_in import BuiltInDataset
from fuel.transformers.defaults import uint8_pixels_to_floatX

__all__ = ['SVHN']

FORMATS = (1, 2)


class SVHN(BuiltInDataset):
    """House numbers in photographs of streets.

    Format 2 has pictures of single digits: source ``features``, uint8 from 0 to 255, shape (batch,
    3, 32, 32), red, green and blue, and source ``targets``, the digits from 0 to 9, uint8, shape
    (batch, 1). What is beside a digit can be parts of others.

    Format 1 has whole pictures: source ``features``, uint8, each of a shape (3, height, width) of
    its own. The digits in a picture stand in ``bbox_labels``, from 0 to 9, uint8, and the boxes
    around them, in pixels, in ``bbox_lefts``, ``bbox_tops``, ``bbox_widths`` and ``bbox_heights``,
    uint16. Each of these has the shape (digits, 1) for a picture.

    Parameters
    ----------
    which_format : {1, 2}
        Whole pictures, or pictures of digits.
    which_sets : tuple of str
        Of ``'train'``, ``'test'`` and ``'extra'``, which are simpler ones. They have 33402, 13068
        and 202353 pictures in format 1, and 73257, 26032 and 531131 digits in format 2.
    **kwargs
        As for `H5PYDataset`. The data are read from the file as they are asked for, unless
        ``load_in_memory=True``.

    Raises
    ------
    ValueError
        There is no such format.
    DataFileNotFoundError
        There is no ``svhn_format_<which_format>.hdf5`` in the data path; ``fuel-download svhn
        <which_format>`` and ``fuel-convert svhn <which_format>`` make it.

    Notes
    -----
    `DataStream` gives the bytes of the file. `DataStream.default_stream` divides those of
    ``features`` by 255 and casts them to ``floatX``.
    """

    loads_in_memory = False
    default_transformers = uint8_pixels_to_floatX(('features',))

    def __init__(self, which_format: int, which_sets: Sequence[str], **kwargs: Any) -> None:
        if which_format not in FORMATS:
            raise ValueError(f'expected which_format to be {" or ".join(map(str, FORMATS))}; got '
                             f'{which_format!r}. It comes first: SVHN(which_format, which_sets)')
        self.which_format = which_format
        self.filename = f'svhn_format_{which_format}.hdf5'
        super().__init__(which_sets, **kwargs)
