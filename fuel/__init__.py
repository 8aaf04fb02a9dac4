"""Fuel: data pipelines for machine learning.

Data sets give access to data, iteration schemes say which examples to visit in which order, data
streams do the iteration, and transformers wrap streams to change what comes out of them.
"""
from typing import TYPE_CHECKING as _TYPE_CHECKING

# Imported first: from deep inside the chain of imports below it takes half as long again.
import numpy as _numpy  # noqa: F401

from fuel import _itertools as _itertools  # makes picklable_itertools importable
from fuel.config_parser import config
from fuel.version import __version__

if _TYPE_CHECKING:
    from fuel.engine.info import get_worker_info

__all__ = ['__version__', 'config', 'get_worker_info']


def __getattr__(name: str) -> object:
    # Hardly anybody asks, so that it need not be loaded before.
    if name == 'get_worker_info':
        from fuel.engine.info import get_worker_info
        return get_worker_info
    raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
