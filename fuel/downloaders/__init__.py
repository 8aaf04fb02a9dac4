"""Downloaders of the built-in data sets.

``all_downloaders`` has a pair (name, function that fills a subparser) for each of them.
"""
from fuel.downloaders import iris

__all__ = ['all_downloaders']

all_downloaders = (
    ('iris', iris.fill_subparser),
)
