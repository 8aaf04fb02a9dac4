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
    from fuel.datasets._opening import open
    from fuel.datasets.adult import Adult
    from fuel.datasets.binarized_mnist import BinarizedMNIST
    from fuel.datasets.caltech101_silhouettes import CalTech101Silhouettes
    from fuel.datasets.celeba import CelebA
    from fuel.datasets.cifar10 import CIFAR10
    from fuel.datasets.cifar100 import CIFAR100
    from fuel.datasets.dogs_vs_cats import DogsVsCats
    from fuel.datasets.iris import Iris
    from fuel.datasets.mnist import MNIST
    from fuel.datasets.svhn import SVHN
    from fuel.datasets.text import OneBillionWord, TextFile
    from fuel.datasets.toy import Spiral, SwissRoll

__all__ = ['CIFAR10', 'CIFAR100', 'MNIST', 'SVHN', 'Adult', 'BinarizedMNIST',
           'CalTech101Silhouettes', 'CelebA', 'Dataset', 'DogsVsCats', 'H5PYDataset',
           'IndexableDataset', 'Iris', 'IterableDataset', 'OneBillionWord', 'Spiral', 'SwissRoll',
           'TextFile', 'open']

_LATER = {'Adult': 'adult', 'BinarizedMNIST': 'binarized_mnist',
          'CalTech101Silhouettes': 'caltech101_silhouettes', 'CelebA': 'celeba',
          'CIFAR10': 'cifar10', 'CIFAR100': 'cifar100', 'DogsVsCats': 'dogs_vs_cats',
          'H5PYDataset': '_h5py', 'Iris': 'iris', 'MNIST': 'mnist', 'OneBillionWord': 'text',
          'Spiral': 'toy', 'SVHN': 'svhn', 'SwissRoll': 'toy', 'TextFile': 'text',
          'open': '_opening'}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f'module {__name__!r} has no attribute {name!r}')
    value = getattr(importlib.import_module(f'{__name__}.{_LATER[name]}'), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER})
