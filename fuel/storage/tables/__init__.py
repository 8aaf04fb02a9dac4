"""Files of PyTables."""
