"""Checks of the contract of the library, to be run on classes of one's own too."""
from fuel.testing.comparing import assert_same
from fuel.testing.datasets import check_dataset, check_indexed_dataset
from fuel.testing.resuming import check_resume
from fuel.testing.schemes import check_scheme
from fuel.testing.streams import ReadOnly, check_stream, check_transformer

__all__ = ['ReadOnly', 'assert_same', 'check_dataset', 'check_indexed_dataset', 'check_resume',
           'check_scheme', 'check_stream', 'check_transformer']
