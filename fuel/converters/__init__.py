"""Converters: of the built-in data sets, and of your own files.

``all_converters`` has a pair (name, function that fills a subparser) for each of them. The module
of one, which has that name, is imported when the function is called.
"""
from fuel._registry import BUILT_IN, OWN_FILES, filled_later

__all__ = ['__version__', 'all_converters']

#: Written into every converted file as `fuel_convert_version`.
__version__ = '0.2'

all_converters = filled_later(__name__, (*BUILT_IN, *OWN_FILES), 'fuel-convert')
