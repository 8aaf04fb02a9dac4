"""Small pictures for raw files: digits as if written by hand, and outlines of things."""
from __future__ import annotations

import numpy

# Seven rows of five dots for each digit.
_ROWS = ['.###. ..#.. .###. ####. ...#. ##### ..##. ##### .###. .###.',
         '#...# .##.. #...# ....# ..##. #.... .#... ....# #...# #...#',
         '#..## ..#.. ....# ....# .#.#. ####. #.... ...#. #...# #...#',
         '#.#.# ..#.. ...#. .###. #..#. ....# ####. ..#.. .###. .####',
         '##..# ..#.. ..#.. ....# ##### ....# #...# ..#.. #...# ....#',
         '#...# ..#.. .#... ....# ...#. #...# #...# .#... #...# ...#.',
         '.###. .###. ##### ####. ...#. .###. .###. .#... .###. .##..']
DOTS = numpy.array([[[dot == '#' for dot in digit] for digit in row.split()] for row in _ROWS],
                   dtype='float64').transpose(1, 0, 2)
_VARIANTS = 64


def _blurred(pictures):
    """Return pictures with the mean of each pixel and those around it."""
    padded = numpy.pad(pictures, ((0, 0), (1, 1), (1, 1)))
    height, width = pictures.shape[1:]
    return sum(padded[:, row:row + height, column:column + width]
               for row in range(3) for column in range(3)) / 9


def digits(labels, rng):
    """Draw digits, white on black: somewhere near the middle, leaning, with uneven ink.

    Parameters
    ----------
    labels : numpy.ndarray
        The digits, shape (n,).
    rng : numpy.random.Generator

    Returns
    -------
    numpy.ndarray
        Shape (n, 28, 28), uint8.
    """
    pictures = numpy.zeros((_VARIANTS, 10, 28, 28))
    large = numpy.kron(DOTS, numpy.ones((1, 3, 3)))                 # 21 x 15
    for variant in pictures:
        top, left = rng.integers(2, 6), rng.integers(4, 10)
        lean = rng.uniform(-.2, .2)
        for row in range(21):
            shift = int(numpy.clip(left + round(lean * (10 - row)), 0, 13))
            variant[:, top + row, shift:shift + 15] = large[:, row]
    pictures = _blurred(pictures.reshape(-1, 28, 28)).reshape(_VARIANTS, 10, 28, 28)
    pictures = (pictures * 255).astype('uint16')
    images = numpy.empty((len(labels), 28, 28), dtype='uint8')
    for start in range(0, len(labels), 4096):
        rows = slice(start, start + 4096)
        chosen = pictures[rng.integers(0, _VARIANTS, len(labels[rows])), labels[rows]]
        ink = rng.integers(24, 33, chosen.shape, dtype='uint16')
        images[rows] = chosen * ink >> 5
    return images


def outline(kind, size, rng):
    """Draw the filled outline of a thing: every kind has its own number and depth of bulges.

    Parameters
    ----------
    kind : int
        Which thing.
    size : int
        Height and width in pixels.
    rng : numpy.random.Generator
        Turns, moves and scales it a little.

    Returns
    -------
    numpy.ndarray
        Shape (size, size), bool.
    """
    steps = numpy.arange(size) - (size - 1) / 2
    right, down = numpy.meshgrid(steps / size * 2, steps / size * 2)
    right, down = right - rng.uniform(-.1, .1), down - rng.uniform(-.1, .1)
    angle = numpy.arctan2(down, right) + rng.uniform(-.3, .3)
    radius = rng.uniform(.6, .8) * (1 + (kind // 7 % 5) / 8 * numpy.cos((kind % 7) * angle))
    return numpy.hypot(right * (1 + kind // 35 / 3), down) < radius
