"""Raw files of MNIST."""
from __future__ import annotations

import gzip
import os
import struct

import numpy

from tests.raw.glyphs import digits

NAMES = {'train': ('train-images-idx3-ubyte.gz', 'train-labels-idx1-ubyte.gz'),
         'test': ('t10k-images-idx3-ubyte.gz', 't10k-labels-idx1-ubyte.gz')}


def idx(array):
    """Return the bytes of an IDX file of unsigned bytes."""
    header = struct.pack(f'>{1 + array.ndim}I', 2048 + array.ndim, *array.shape)
    return header + array.astype('uint8').tobytes()


def write(folder, train=60, test=20, level=6):
    """Write the four files.

    Parameters
    ----------
    folder : path
        Where they are to be.
    train, test : int, optional
        Images in each split; 60000 and 10000 in truth.
    level : int, optional
        Of the compression.

    Returns
    -------
    dict
        Maps ``'train'`` and ``'test'`` to images, shape (n, 28, 28), and labels, shape (n,).
    """
    rng = numpy.random.default_rng(1)
    written = {}
    for (split, names), count in zip(NAMES.items(), (train, test), strict=True):
        labels = numpy.where(numpy.arange(count) < 10, numpy.arange(count) % 10,
                             rng.integers(0, 10, count)).astype('uint8')
        written[split] = digits(labels, rng), labels
        for name, array in zip(names, written[split], strict=True):
            with open(os.path.join(folder, name), 'wb') as stream:
                stream.write(gzip.compress(idx(array), level, mtime=0))
    return written
