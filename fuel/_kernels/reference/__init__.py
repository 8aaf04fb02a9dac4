"""The kernels in numpy: a module for each compiled one, with the same functions."""
