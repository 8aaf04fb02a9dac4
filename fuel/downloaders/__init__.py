"""Downloaders of the built-in data sets.

``all_downloaders`` has a pair (name, function that fills a subparser) for each of them. The module
of one, which has that name, is imported when the function is called.
"""
from fuel._registry import BUILT_IN, filled_later

__all__ = ['all_downloaders']

all_downloaders = filled_later(__name__, BUILT_IN, 'fuel-download')
