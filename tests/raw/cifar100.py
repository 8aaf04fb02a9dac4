"""The raw archive of CIFAR-100."""
from __future__ import annotations

import os

import numpy

from tests.raw.python2 import pickled, write_archive
from tests.raw.shapes import pictures

ARCHIVE = 'cifar-100-python.tar.gz'
FOLDER = 'cifar-100-python'
GROUPS = [f'group {number}' for number in range(20)]
CLASSES = [f'thing {number}' for number in range(100)]


def batch(split, images, fine):
    """Return one split, as a dictionary; five classes that follow each other make a group."""
    return {'filenames': [f'thing_s_{place:06d}.png' for place in range(len(fine))],
            'batch_label': f'{split} batch 1 of 1', 'fine_labels': fine.tolist(),
            'coarse_labels': (fine // 5).tolist(), 'data': images.reshape(len(images), 3072)}


def data(train=100, test=20):
    """Return the images and classes of both splits."""
    rng = numpy.random.default_rng(100)
    result = {}
    for split, count in (('train', train), ('test', test)):
        fine = rng.permutation(numpy.arange(count) % 100).astype('uint8')
        result[split] = pictures(fine, 100, rng), fine
    return result


def write(folder, train=100, test=20, level=6):
    """Write the archive.

    Parameters
    ----------
    folder : path
        Where it is to be.
    train, test : int, optional
        Images in each split; in truth 50000 and 10000.
    level : int, optional
        Of the compression.

    Returns
    -------
    dict
        Maps ``'train'`` and ``'test'`` to images, shape (n, 3, 32, 32), and classes, shape (n,).
    """
    made = data(train, test)
    names = {'coarse_label_names': GROUPS, 'fine_label_names': CLASSES}
    contents = {split: pickled(batch(split, *content)) for split, content in made.items()}
    write_archive(os.path.join(folder, ARCHIVE), [
        (FOLDER, None), (f'{FOLDER}/meta', pickled(names)),
        (f'{FOLDER}/test', contents['test']), (f'{FOLDER}/train', contents['train']),
        (f'{FOLDER}/file.txt~', b'')], level)
    return made
