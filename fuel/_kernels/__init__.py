"""Loops that numpy cannot do in one call, compiled; each has a numpy twin in `reference`.

The compiled ones are used where they were built. ``FUEL_KERNELS=python`` in the environment takes
the twins instead.
"""
import importlib
import os
from collections.abc import Callable
from typing import Any

from fuel._types import AnyArray

__all__ = ['BACKEND', 'gather_rows']


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
