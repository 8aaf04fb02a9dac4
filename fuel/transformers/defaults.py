"""Transformers that data sets apply by default."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fuel.transformers.arrays import Cast, ScaleAndShift

__all__ = ['uint8_pixels_to_floatX']


def uint8_pixels_to_floatX(which_sources: Iterable[str]) -> tuple[Any, ...]:
    """Return transformers that scale pixels from 0 to 255 into floatX numbers from 0 to 1.

    Parameters
    ----------
    which_sources : tuple of str
        The sources that hold pixels.

    Returns
    -------
    tuple
        Triples (class, arguments, keyword arguments), for `Dataset.default_transformers`.
    """
    which_sources = tuple(which_sources)
    return ((ScaleAndShift, [1 / 255.0, 0], {'which_sources': which_sources}),
            (Cast, ['floatX'], {'which_sources': which_sources}))
