"""Raw files of Dogs vs. Cats: simple drawings of heads, in many sizes."""
from __future__ import annotations

import os

import numpy
from PIL import Image, ImageDraw

from tests.raw.zips import jpeg, write_zip

TRAIN_FILE, TEST_FILE = 'dogs_vs_cats.train.zip', 'dogs_vs_cats.test1.zip'


def head(kind, size, rng):
    """Draw the head of an animal.

    Parameters
    ----------
    kind : {'cat', 'dog'}
        Which one.
    size : tuple of int
        Width and height in pixels.
    rng : numpy.random.Generator
        Chooses the colours.

    Returns
    -------
    Image
    """
    fur = tuple(rng.integers(90, 200, 3).tolist())
    dark = tuple(value // 2 for value in fur)
    image = Image.new('RGB', (100, 100), tuple(rng.integers(150, 256, 3).tolist()))
    draw = ImageDraw.Draw(image)
    if kind == 'cat':
        for x in (20, 60):
            draw.polygon((x, 45, x + 20, 45, x + (2 if x == 20 else 18), 8), fill=fur)
        draw.ellipse((15, 25, 85, 90), fill=fur)
        draw.polygon((45, 62, 55, 62, 50, 69), fill=(230, 120, 130))
        for y in (62, 68, 74):
            draw.line((5, y - 4, 38, y), fill='black')
            draw.line((62, y, 95, y - 4), fill='black')
    else:
        draw.ellipse((20, 15, 80, 80), fill=fur)
        draw.ellipse((8, 20, 30, 70), fill=dark)
        draw.ellipse((70, 20, 92, 70), fill=dark)
        draw.ellipse((32, 50, 68, 95), fill=fur, outline=dark, width=2)
        draw.ellipse((40, 52, 60, 66), fill='black')
        draw.chord((42, 70, 58, 96), 0, 180, fill=(220, 80, 90))
    for x in (37, 63):
        draw.ellipse((x - 6, 38, x + 6, 50), fill='white')
        draw.ellipse((x - 3, 40, x + 3, 49), fill='black')
    return image.resize(size, Image.Resampling.BILINEAR)


def write(folder, train=24, test=12):
    """Write the two files.

    Parameters
    ----------
    folder : path
        Where they are to be.
    train, test : int, optional
        How many pictures, one half of the training ones cats; 25000 and 12500 in truth.

    Returns
    -------
    list of str
        What the test pictures show, by their numbers, which no file tells.
    """
    rng = numpy.random.default_rng(7)

    def picture(kind):
        size = tuple(rng.integers(60, 130, 2).tolist())
        return jpeg(head(kind, size, rng))

    kinds = ['cat', 'dog']
    known = {f'train/{kind}.{number}.jpg': picture(kind)
             for kind in kinds for number in range(train // 2 + (kind == 'cat') * (train % 2))}
    shown = [kinds[number] for number in rng.integers(0, 2, test)]
    unknown = {f'test1/{number}.jpg': picture(kind) for number, kind in enumerate(shown, start=1)}
    # In the order of the letters, as in the true archives: 1, 10, 11, 2.
    write_zip(os.path.join(folder, TRAIN_FILE), [('train/', b''), *sorted(known.items())])
    write_zip(os.path.join(folder, TEST_FILE), [('test1/', b''), *sorted(unknown.items())])
    return shown
