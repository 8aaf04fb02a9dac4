"""Raw files of CalTech 101 Silhouettes."""
from __future__ import annotations

import os

import numpy

from tests.raw.glyphs import outline

PREFIXES = {'train': 'train', 'valid': 'val', 'test': 'test'}


def write(folder, size=28, train=40, valid=20, test=20, compressed=True):
    """Write the file of one size.

    Parameters
    ----------
    folder : path
        Where it is to be.
    size : {28, 16}, optional
        Height and width in pixels.
    train, valid, test : int, optional
        Silhouettes in each split; 4100, 2264 and 2307 in truth.
    compressed : bool, optional
        Whether variables are compressed.

    Returns
    -------
    dict
        Maps the variables of the file to arrays. As in MATLAB, the columns of a silhouette follow
        each other.
    """
    rng = numpy.random.default_rng(3)
    variables = {}
    for split, count in (('train', train), ('valid', valid), ('test', test)):
        labels = rng.integers(1, 102, count)
        variables[f'{PREFIXES[split]}_data'] = numpy.array(
            [outline(label, size, rng).T.ravel() for label in labels.tolist()]).astype('uint8')
        variables[f'{PREFIXES[split]}_labels'] = labels[:, None].astype('uint8')
    save(os.path.join(folder, f'caltech101_silhouettes_{size}_split1.mat'), variables, compressed)
    return variables


def save(path, variables, compressed=True):
    """Write a MATLAB file without the date that scipy puts into its heading."""
    from scipy.io import savemat

    savemat(path, variables, do_compression=compressed)
    with open(path, 'r+b') as stream:
        stream.write(b'MATLAB 5.0 MAT-file'.ljust(116))
