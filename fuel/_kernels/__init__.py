"""Loops that numpy cannot do in one call, compiled; each has a numpy twin in `reference`.

The compiled ones are used where they were built. ``FUEL_KERNELS=python`` in the environment takes
the twins instead.
"""
import importlib
import os
from collections.abc import Callable, Sequence
from typing import Any

from fuel._kernels.reference.examples import ExampleError, check_ranges
from fuel._kernels.reference.heap import DamagedHeapError
from fuel._types import AnyArray

__all__ = ['BACKEND', 'Arena', 'BlockTable', 'DamagedHeapError', 'ExampleError', 'block_arrays',
           'check_ranges', 'chunk_index', 'copy_whole', 'decode_chunks', 'end_with',
           'first_outside_range', 'gather_rows', 'heap_arrays', 'map_shared', 'pad_rows',
           'permuted', 'range_arrays', 'resize_window', 'scale_cast', 'sliding_windows',
           'window_batch_bchw']


def _is_built() -> bool:
    """Tell whether the compiled kernels are there; without a C compiler they are not."""
    try:
        importlib.import_module('fuel._kernels.gather')
    except ModuleNotFoundError:
        return False
    return True


BACKEND = ('compiled' if os.environ.get('FUEL_KERNELS', 'compiled') != 'python' and _is_built()
           else 'python')


def _kernel(module: str, name: str) -> Callable[..., Any]:
    """Return a kernel, compiled or in numpy."""
    folder = 'fuel._kernels' if BACKEND == 'compiled' else 'fuel._kernels.reference'
    function: Callable[..., Any] = getattr(importlib.import_module(f'{folder}.{module}'), name)
    return function


gather_rows: Callable[[AnyArray, AnyArray], AnyArray] = _kernel('gather', 'gather_rows')
first_outside_range: Callable[[AnyArray, int], int] = _kernel('gather', 'first_outside_range')
window_batch_bchw: Callable[[AnyArray, AnyArray, AnyArray, AnyArray], None] = _kernel(
    'crop', 'window_batch_bchw')
resize_window: Callable[[AnyArray, tuple[int, int, int, int], AnyArray], None] = _kernel(
    'resize', 'resize_window')
scale_cast: Callable[..., AnyArray] = _kernel('scale_cast', 'scale_cast')
pad_rows: Callable[[Sequence[Any], Any, Any], tuple[AnyArray, AnyArray]] = _kernel(
    'pad', 'pad_rows')
permuted: Callable[[AnyArray, int, int], AnyArray] = _kernel('permute', 'permuted')
sliding_windows: Callable[[AnyArray, int, int, int], AnyArray] = _kernel(
    'windows', 'sliding_windows')
BlockTable: Callable[..., Any] = _kernel('blocks', 'BlockTable')
copy_whole: Callable[[AnyArray, int], AnyArray] = _kernel('blocks', 'copy_whole')
chunk_index: Callable[..., int] = _kernel('chunk_index', 'chunk_index')
heap_arrays: Callable[..., AnyArray] = _kernel('heap', 'heap_arrays')
range_arrays: Callable[..., AnyArray] = _kernel('examples', 'range_arrays')
block_arrays: Callable[..., tuple[AnyArray, AnyArray | None]] = _kernel(
    'examples', 'block_arrays')
decode_chunks: Callable[..., tuple[int, int, str, int, int] | None] = _kernel(
    'decode', 'decode_chunks')
Arena: Callable[..., Any] = _kernel('arena', 'Arena')
map_shared: Callable[[int, int], Any] = _kernel('arena', 'map_shared')
end_with: Callable[[int, int, float], None] = _kernel('lifeline', 'end_with')
