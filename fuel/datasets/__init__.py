"""Data sets: access to the data.

Those that read files of a certain format are imported when they are first used.
"""
from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from fuel.datasets._dataset import Dataset
from fuel.datasets._indexable import IndexableDataset
from fuel.datasets._iterable import IterableDataset

if TYPE_CHECKING:
    from fuel.datasets._h5py import H5PYDataset
    from fuel.datasets.iris import Iris
    from fuel.datasets.text import TextFile
    from fuel.datasets.toy import Spiral, SwissRoll

__all__ = ['Dataset', 'H5PYDataset', 'IndexableDataset', 'Iris', 'IterableDataset', 'Spiral',
           'SwissRoll', 'TextFile']

_LATER = {'H5PYDataset': '_h5py', 'Iris': 'iris', 'Spiral': 'toy', 'SwissRoll': 'toy',
          'TextFile': 'text'}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    value = getattr(importlib.import_module(f'{__name__}.{_LATER[name]}'), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
