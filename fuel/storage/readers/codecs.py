"""Functions of installed libraries that undo compression, found once, as addresses.

They are called from a kernel, several at once and without the lock of Python; so what is wanted is
the address of a C function. ``ctypes`` finds it in a library that some package brings along.
"""
from __future__ import annotations

import ctypes
import importlib
import sys
import zlib
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import h5py

__all__ = ['Codec', 'inflater', 'inflater_of_zlib', 'of_plugin']


class Codec(NamedTuple):
    """A function that undoes compression.

    Attributes
    ----------
    library : str
        The package it comes from.
    function : int
        Its address.
    make, release : int
        Addresses of the functions that make and free the state it works with; 0: none.
    """

    library: str
    function: int
    make: int = 0
    release: int = 0


@cache
def _library(path: str | None) -> ctypes.CDLL:
    """Load a library, which stays loaded as long as the process lives; None: the program."""
    return ctypes.CDLL(path)


def _find(library: str, path: str | None, names: Sequence[str]) -> Codec | None:
    """Look functions up; return None if the library cannot be loaded or lacks one of them."""
    try:
        loaded = _library(path)
        addresses = [ctypes.cast(getattr(loaded, name), ctypes.c_void_p).value for name in names]
    except (OSError, AttributeError):
        return None
    return Codec(library, *(address or 0 for address in addresses))


@cache
def inflater() -> Codec | None:
    """Return what undoes deflate fastest: libdeflate of the package deflate, else zlib."""
    if find_spec('deflate') is not None:
        package = importlib.import_module('deflate')
        # Early versions are a single module.
        codec = _find('deflate', getattr(package, '_deflate', package).__file__, (
            'libdeflate_zlib_decompress', 'libdeflate_alloc_decompressor',
            'libdeflate_free_decompressor'))
        if codec is not None:
            return codec
    return inflater_of_zlib()


@cache
def inflater_of_zlib() -> Codec | None:
    """Return the zlib that h5py uses, or the one that Python uses."""
    for module in (h5py.h5z, zlib, sys):
        # Where a module is part of the program, its functions are looked for there.
        codec = _find('zlib', getattr(module, '__file__', None), ('uncompress',))
        if codec is not None:
            return codec
    return None


_PLUGINS = {
    'blosc': ('blosc_decompress_ctx',),
    'blosc2': ('blosc2_decompress_ctx', 'blosc2_create_dctx', 'blosc2_free_ctx'),
    'lz4': ('LZ4_decompress_safe',),
    'zstd': ('ZSTD_decompressDCtx', 'ZSTD_createDCtx', 'ZSTD_freeDCtx'),
}


@cache
def of_plugin(name: str) -> Codec | None:
    """Return a function out of the package hdf5plugin; None if it is not installed.

    The package itself is not imported: that would change which filters HDF5 knows.

    Parameters
    ----------
    name : {'blosc', 'blosc2', 'lz4', 'zstd'}
        Which one.
    """
    spec = find_spec('hdf5plugin')
    if spec is None or spec.origin is None:
        return None
    for path in sorted((Path(spec.origin).parent / 'plugins').glob(f'libh5{name}.*')):
        codec = _find('hdf5plugin', str(path), _PLUGINS[name])
        if codec is not None:
            if name == 'blosc2':
                _library(str(path)).blosc2_init()
            return codec
    return None
