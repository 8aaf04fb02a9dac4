"""Loops that numpy cannot do in one call, compiled; each has a numpy twin in `reference`.

The compiled ones are used where they were built. ``FUEL_KERNELS=python`` in the environment takes
the twins instead.
"""
import importlib
import os
from collections.abc import Callable
from typing import Any

from fuel._kernels import reference
from fuel._types import AnyArray

__all__ = ['BACKEND', 'gather_rows']


def _chosen() -> tuple[str, Any]:
    """Return the name of the kernels to use, and a name space that has them."""
    if os.environ.get('FUEL_KERNELS', 'compiled') != 'python':
        try:
            return 'compiled', importlib.import_module('fuel._kernels.gather')
        except ModuleNotFoundError:  # installed without a C compiler
            pass
    return 'python', reference


BACKEND, _kernels = _chosen()
gather_rows: Callable[[AnyArray, AnyArray], AnyArray] = _kernels.gather_rows
