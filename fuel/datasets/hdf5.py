"""Data sets in HDF5 files."""
from fuel.datasets._h5py import H5PYDataset

__all__ = ['H5PYDataset']
