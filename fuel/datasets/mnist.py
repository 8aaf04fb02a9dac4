"""The MNIST data set."""
from __future__ import annotations

from typing import Any

from fuel.datasets._built_in import BuiltInDataset
from fuel.transformers.arrays import Cast
from fuel.transformers.defaults import uint8_pixels_to_floatX

__all__ = ['MNIST']

_FEATURES = ('features',)


class _ForStoredPixels:
    """Default transformers that fit what the file of a data set has; those of the class, bytes."""

    of_bytes = uint8_pixels_to_floatX(_FEATURES)
    of_others: tuple[Any, ...] = ((Cast, ['floatX'], {'which_sources': _FEATURES}),)

    def __get__(self, dataset: MNIST | None, cls: type[MNIST]) -> tuple[Any, ...]:
        if dataset is None or 'features' not in dataset.sources:
            return self.of_bytes
        stored = dataset.source_dtypes[dataset.sources.index('features')]
        return self.of_others if stored.kind in 'fb' else self.of_bytes


class MNIST(BuiltInDataset):
    """70000 handwritten digits.

    Source ``features`` has the images, uint8 from 0 to 255, shape (batch, 1, 28, 28); source
    ``targets`` the digits, uint8, shape (batch, 1).

    Parameters
    ----------
    which_sets : tuple of str
        Of ``'train'`` (60000 examples) and ``'test'`` (10000).
    **kwargs
        As for `H5PYDataset`. The data are loaded into memory unless ``load_in_memory=False``.

    Raises
    ------
    DataFileNotFoundError
        There is no ``mnist.hdf5`` in the data path; ``fuel-download mnist`` and ``fuel-convert
        mnist`` make it.

    Notes
    -----
    `DataStream` gives the bytes of the file. `DataStream.default_stream` divides them by 255 and
    casts them to ``floatX``. A program should not go from one to the other without noticing.

    A file made with the option ``--dtype`` has floats from 0 to 1 or truth values already.
    `DataStream.default_stream` only casts these to ``floatX``.
    """

    filename = 'mnist.hdf5'
    default_transformers: Any = _ForStoredPixels()
