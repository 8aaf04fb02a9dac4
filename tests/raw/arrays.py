"""Files of NumPy as people have them, such as the one of MNIST that Keras downloads."""
from __future__ import annotations

import os

import numpy

from tests.raw.glyphs import digits

FILE = 'mnist.npz'


def write(folder, train=60, test=20, compressed=True, file=FILE):
    """Write an archive with x_train, y_train, x_test and y_test.

    Parameters
    ----------
    folder : path
        Where it is to be.
    train, test : int, optional
        How many digits.
    compressed : bool, optional
        Whether ``numpy.savez_compressed`` writes it; else ``numpy.savez``.
    file : str, optional
        Its name.

    Returns
    -------
    dict
        The arrays by name.
    """
    rng = numpy.random.default_rng(3)
    arrays = {}
    for split, count in (('train', train), ('test', test)):
        labels = rng.permutation(numpy.arange(count) % 10).astype('uint8')
        arrays |= {f'x_{split}': digits(labels, rng), f'y_{split}': labels}
    (numpy.savez_compressed if compressed else numpy.savez)(os.path.join(folder, file), **arrays)
    return arrays
