"""The raw archive of CIFAR-10."""
from __future__ import annotations

import os

import numpy

from tests.raw.python2 import pickled, write_archive
from tests.raw.shapes import pictures

ARCHIVE = 'cifar-10-python.tar.gz'
FOLDER = 'cifar-10-batches-py'
CLASSES = ['airplane', 'automobile', 'bird', 'cat', 'deer', 'dog', 'frog', 'horse', 'ship', 'truck']
BATCHES = [*(f'data_batch_{number}' for number in range(1, 6)), 'test_batch']
#: Not that of the numbers, in the public archive neither.
ORDER = [3, 'readme.html', 5, 2, 'batches.meta', 1, 4, 0]


def batch(number, images, labels):
    """Return one batch, as a dictionary."""
    title = f'training batch {number + 1} of 5' if number < 5 else 'testing batch 1 of 1'
    return {'data': images.reshape(len(images), 3072), 'labels': labels.tolist(),
            'batch_label': title,
            'filenames': [f'{CLASSES[label]}_s_{place:06d}.png'
                          for place, label in enumerate(labels.tolist())]}


def data(per_batch=20, test=20):
    """Return the images and labels of the six batches."""
    rng = numpy.random.default_rng(10)
    result = []
    for count in [per_batch] * 5 + [test]:
        labels = rng.integers(0, 10, count).astype('uint8')
        labels[:10] = numpy.arange(10)[:count]
        result.append((pictures(labels, 10, rng), labels))
    return result


def members(batches):
    """Yield the members of the archive, of pickled batches."""
    meta = {'num_cases_per_batch': 10000, 'label_names': CLASSES, 'num_vis': 3072}
    yield FOLDER, None
    for entry in ORDER:
        if entry == 'readme.html':
            yield f'{FOLDER}/{entry}', b'<html></html>'
        elif entry == 'batches.meta':
            yield f'{FOLDER}/{entry}', pickled(meta)
        else:
            yield f'{FOLDER}/{BATCHES[entry]}', batches[entry]


def write(folder, per_batch=20, test=20, level=6):
    """Write the archive.

    Parameters
    ----------
    folder : path
        Where it is to be.
    per_batch, test : int, optional
        Images in each of the five batches for training, and in that for tests; in truth 10000.
    level : int, optional
        Of the compression.

    Returns
    -------
    list
        Images, shape (n, 3, 32, 32), and labels, shape (n,), of the six batches.
    """
    made = data(per_batch, test)
    batches = [pickled(batch(number, *content)) for number, content in enumerate(made)]
    write_archive(os.path.join(folder, ARCHIVE), members(batches), level)
    return made
