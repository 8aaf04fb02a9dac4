"""The general data sets; see their own modules."""
from fuel.datasets._containers import IndexableDataset, IterableDataset
from fuel.datasets._dataset import Dataset

__all__ = ['Dataset', 'IndexableDataset', 'IterableDataset']
