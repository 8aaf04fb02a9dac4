"""Writing data sets into HDF5 files."""
