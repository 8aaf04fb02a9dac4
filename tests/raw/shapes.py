"""Small pictures in colours, of things of which each kind has its own form and hue."""
from __future__ import annotations

import colorsys

import numpy

from tests.raw.glyphs import outline

_VARIANTS = 4


def pictures(labels, kinds, rng):
    """Draw things on a background, with grain.

    Parameters
    ----------
    labels : numpy.ndarray
        Kinds of things, shape (n,).
    kinds : int
        How many there are.
    rng : numpy.random.Generator

    Returns
    -------
    numpy.ndarray
        Shape (n, 3, 32, 32), uint8.
    """
    drawn = numpy.empty((kinds, _VARIANTS, 3, 32, 32), dtype='uint8')
    for kind, variants in enumerate(drawn):
        thing, ground = (numpy.array(colorsys.hsv_to_rgb((kind / kinds + turn) % 1, .7, value))
                         for turn, value in ((0, .9), (.55, .4)))
        for picture in variants:
            # Those with two to six bulges, which can be seen in so few pixels.
            inside = outline(16 + kind % 5 + kind // 5 % 2 * 7, 32, rng)
            picture[...] = 235 * numpy.where(inside, thing[:, None, None], ground[:, None, None])
    images = numpy.empty((len(labels), 3, 32, 32), dtype='uint8')
    for start in range(0, len(labels), 4096):
        rows = slice(start, start + 4096)
        images[rows] = drawn[labels[rows], rng.integers(0, _VARIANTS, len(labels[rows]))]
        # Pixels of photographs are never quite alike, and so hardly become smaller by gzip.
        grain = numpy.frombuffer(rng.bytes(images[rows].size), 'uint8').reshape(images[rows].shape)
        images[rows] += grain % 20
    return images
