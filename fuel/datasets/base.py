"""The general data sets; see their own modules."""
from fuel.datasets._dataset import Dataset
from fuel.datasets._indexable import IndexableDataset
from fuel.datasets._iterable import IterableDataset

__all__ = ['Dataset', 'IndexableDataset', 'IterableDataset']
