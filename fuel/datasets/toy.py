"""Toy data sets, made from random numbers: points on curves and surfaces."""
from __future__ import annotations

import math
import operator
from typing import Any, SupportsIndex

import numpy
from numpy.random import RandomState

from fuel._types import AnyArray
from fuel.config_parser import config
from fuel.datasets._indexable import IndexableDataset

__all__ = ['Spiral', 'SwissRoll']


def _count(owner: str, name: str, value: SupportsIndex) -> int:
    """Return a positive integer, after checking that it is one."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f'{owner}: expected an integer as {name}; got {value!r}') from None
    if number < 1:
        raise ValueError(f'{owner}: expected {name} of at least 1; got {number}')
    return number


def _quantity(owner: str, name: str, value: float, *, zero: bool) -> float:
    """Return a finite number above zero, or also zero, after checking that it is one."""
    if not (math.isfinite(value) and (value > 0 or (zero and value == 0))):
        raise ValueError(f'{owner}: expected a finite {name} {"of at least" if zero else "above"} '
                         f'0; got {value!r}')
    return value


def _generator(owner: str, seed: int | None) -> RandomState:
    try:
        return RandomState(config.default_seed if seed is None else seed)
    except (TypeError, ValueError) as error:
        raise ValueError(f'{owner}: expected an integer from 0 to 2**32 - 1 as seed; got {seed!r} '
                         f'({error})') from None


def _noisy(points: AnyArray, noise: float, rng: RandomState) -> AnyArray:
    """Return points in single precision, with a normal error added to every coordinate."""
    single = points.astype(numpy.float32)
    # Drawn for no noise as well, so that one seed always means the same draws.
    single += noise * rng.normal(size=points.shape)
    return single


class Spiral(IndexableDataset):
    r"""Points of the plane on one or several spirals.

    A point at the position :math:`p`, uniform in [0, `cycles`), on the spiral :math:`k` out of
    :math:`K`, is

    .. math:: \frac{1 + 2 p}{3} \left(\sin\left(2 \pi \left(p + k / K\right)\right),
              \cos\left(2 \pi \left(p + k / K\right)\right)\right)

    plus the noise.

    Parameters
    ----------
    num_examples : int, optional
        How many points, 1000 by default.
    classes : int, optional
        How many spirals, each turned against the one before by an equal angle; 1 by default.
    cycles : float, optional
        How often a spiral goes round, once by default.
    noise : float, optional
        The standard deviation of the normal errors added to both coordinates, 0 by default.
    seed : int, optional
        Of the random numbers; ``fuel.config.default_seed`` by default.
    **kwargs
        Arguments of :class:`~fuel.datasets.base.IndexableDataset`.

    Raises
    ------
    ValueError
        A number is out of its range.

    Notes
    -----
    The sources are `features`, float32 of shape (`num_examples`, 2); `position`, float64 of
    shape (`num_examples`,); and `label`, the number of the spiral, int64 of shape
    (`num_examples`,).
    """

    def __init__(self, num_examples: int = 1000, classes: int = 1, cycles: float = 1.,
                 noise: float = 0., seed: int | None = None, **kwargs: Any) -> None:
        owner = type(self).__name__
        num_examples = _count(owner, 'num_examples', num_examples)
        classes = _count(owner, 'classes', classes)
        cycles = _quantity(owner, 'cycles', cycles, zero=False)
        noise = _quantity(owner, 'noise', noise, zero=True)
        rng = _generator(owner, seed)
        position = rng.uniform(0, cycles, size=num_examples)
        label = rng.randint(0, classes, size=num_examples, dtype=numpy.int64)
        angle = 2 * numpy.pi * position + 2 * numpy.pi * label / classes
        radius = (1 + 2 * position) / 3
        points = radius[:, None] * numpy.stack([numpy.sin(angle), numpy.cos(angle)], axis=1)
        kwargs.setdefault('axis_labels', {'features': ('batch', 'feature'),
                                          'position': ('batch',), 'label': ('batch',)})
        super().__init__({'features': _noisy(points, noise, rng), 'position': position,
                          'label': label}, **kwargs)


class SwissRoll(IndexableDataset):
    r"""Points of space on a rolled-up sheet.

    A point with the position :math:`(p, z)`, uniform in [0, 1) and [-1, 1), is

    .. math:: \left(r \cos \varphi, r \sin \varphi, z\right), \qquad
              r = \frac{1 + 2 p}{3}, \qquad \varphi = \frac{3 \pi}{2} (1 + 2 p)

    plus the noise.

    Parameters
    ----------
    num_examples : int, optional
        How many points, 1000 by default.
    noise : float, optional
        The standard deviation of the normal errors added to the three coordinates, 0 by default.
    seed : int, optional
        Of the random numbers; ``fuel.config.default_seed`` by default.
    **kwargs
        Arguments of :class:`~fuel.datasets.base.IndexableDataset`.

    Raises
    ------
    ValueError
        A number is out of its range.

    Notes
    -----
    The sources are `features`, float32 of shape (`num_examples`, 3), and `position`, float32 of
    shape (`num_examples`, 2): the place along the roll and across it.
    """

    def __init__(self, num_examples: int = 1000, noise: float = 0., seed: int | None = None,
                 **kwargs: Any) -> None:
        owner = type(self).__name__
        num_examples = _count(owner, 'num_examples', num_examples)
        noise = _quantity(owner, 'noise', noise, zero=True)
        rng = _generator(owner, seed)
        along = rng.uniform(0, 1, size=num_examples)
        across = rng.uniform(-1, 1, size=num_examples)
        angle = 1.5 * numpy.pi * (1 + 2 * along)
        radius = (1 + 2 * along) / 3
        points = numpy.stack([radius * numpy.cos(angle), radius * numpy.sin(angle), across], axis=1)
        kwargs.setdefault('axis_labels', {'features': ('batch', 'feature'),
                                          'position': ('batch', 'feature')})
        super().__init__({'features': _noisy(points, noise, rng),
                          'position': numpy.stack([along, across], axis=1).astype(numpy.float32)},
                         **kwargs)
