"""Raw files of binarized MNIST."""
from __future__ import annotations

import os

import numpy

from tests.raw.glyphs import digits


def lines(images):
    """Return the bytes of a file: a line for each image, a digit and a space for each pixel."""
    pairs = numpy.full((len(images), images[0].size, 2), ord(' '), dtype='uint8')
    pairs[:, :, 0] = ord('0') + images.reshape(len(images), -1)
    pairs[:, -1, 1] = ord('\n')
    return pairs.tobytes()


def write(folder, train=50, valid=10, test=10):
    """Write the three files.

    Parameters
    ----------
    folder : path
        Where they are to be.
    train, valid, test : int, optional
        Images in each split; 50000, 10000 and 10000 in truth.

    Returns
    -------
    dict
        Maps the splits to images, shape (n, 28, 28), uint8, 0 or 1.
    """
    rng = numpy.random.default_rng(2)
    written = {}
    for split, count in (('train', train), ('valid', valid), ('test', test)):
        images = digits(rng.integers(0, 10, count), rng)
        written[split] = (images > rng.integers(32, 224, images.shape)).astype('uint8')
        with open(os.path.join(folder, f'binarized_mnist_{split}.amat'), 'wb') as stream:
            stream.write(lines(written[split]))
    return written
