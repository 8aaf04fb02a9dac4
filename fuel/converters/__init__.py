"""Converters of the built-in data sets.

``all_converters`` has a pair (name, function that fills a subparser) for each of them.
"""
from fuel.converters import iris

__all__ = ['__version__', 'all_converters']

#: Written into every converted file as `fuel_convert_version`.
__version__ = '0.2'

all_converters = (
    ('iris', iris.fill_subparser),
)
