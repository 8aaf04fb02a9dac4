"""The kernel that crops, under the name by which programs import it."""
from fuel._kernels import window_batch_bchw

__all__ = ['window_batch_bchw']
