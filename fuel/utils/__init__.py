"""Utilities under their old names."""
from fuel.utils.paths import find_in_data_path
from fuel.utils.pickling import do_not_pickle_attributes
from fuel.utils.subset import Subset, iterable_fancy_indexing

__all__ = ['Subset', 'do_not_pickle_attributes', 'find_in_data_path', 'iterable_fancy_indexing']
