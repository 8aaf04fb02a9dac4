"""Fuel: data pipelines for machine learning.

Data sets give access to data, iteration schemes say which examples to visit in which order, data
streams do the iteration, and transformers wrap streams to change what comes out of them.
"""
# Imported first: from deep inside the chain of imports below it takes half as long again.
import numpy as _numpy  # noqa: F401

from fuel import _itertools as _itertools  # makes picklable_itertools importable
from fuel.config_parser import config
from fuel.version import __version__

__all__ = ['__version__', 'config']
