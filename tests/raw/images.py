"""Folders of pictures as people have them: in many sizes, modes and formats."""
from __future__ import annotations

import os

import numpy
from PIL import Image

from tests.raw.dogs_vs_cats import head

CLASSES = ('cat', 'dog')


def write(folder, count=12, classes=CLASSES, splits=('',), seed=5):
    """Write pictures of cats and dogs, class by class: ``[split/]class/number.ending``.

    Parameters
    ----------
    folder : path
        Where they are to be; it is made if it is not there.
    count : int, optional
        How many of each class, in each split.
    classes : sequence of str, optional
        The names of the classes; what the second one has are dogs, all others cats.
    splits : sequence of str, optional
        The names of the splits; the empty one has no folder.
    seed : int, optional
        Of the colours and sizes.

    Returns
    -------
    dict
        Maps the paths, in the order of their letters, to what was drawn: PIL images.
    """
    rng = numpy.random.default_rng(seed)
    drawn = {}
    for split in splits:
        for number in range(count):
            for place, name in enumerate(classes):
                size = tuple(rng.integers(30, 70, 2).tolist())
                picture = head('dog' if place == 1 else 'cat', size, rng)
                ending = ('.jpg', '.png', '.JPEG')[number % 3]
                drawn['/'.join(filter(None, (split, name, f'{number}{ending}')))] = picture
    for path, picture in drawn.items():
        full = os.path.join(folder, *path.split('/'))
        os.makedirs(os.path.dirname(full), exist_ok=True)
        picture.save(full, **({'quality': 92} if 'j' in path.lower().rsplit('.', 1)[1] else {}))
    return {path: drawn[path] for path in sorted(drawn, key=lambda path: path.split('/'))}


def pixels(folder, path, mode='RGB'):
    """Read a picture with Pillow alone; shape (channel, height, width)."""
    with Image.open(os.path.join(folder, *path.split('/'))) as image:
        array = numpy.asarray(image.convert(mode))
    return array[None] if array.ndim == 2 else array.transpose(2, 0, 1)
