"""How the rows of fixed size are read: mapped, decoded or by the HDF5 library."""
