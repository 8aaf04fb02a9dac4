"""What HDF5 files hold, and how it is read and written."""
