"""Data sets in HDF5 files."""
from fuel.datasets._h5py import H5PYDataset
from fuel.datasets._pytables import PytablesDataset

__all__ = ['H5PYDataset', 'PytablesDataset']
