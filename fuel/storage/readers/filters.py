"""Undoing the filters of HDF5 on stored chunks, without the HDF5 library and without its lock.

HDF5 reads one chunk at a time, whatever the number of threads. Here the stored bytes of chunks are
taken from a memory map of the file and decoded by several threads at once; the caller knows where
they lie.
"""
from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

import h5py
import numpy

from fuel import _kernels
from fuel._types import AnyArray
from fuel.storage.readers import codecs
from fuel.storage.readers.codecs import Codec

__all__ = ['ChunkError', 'Pipeline', 'Undecodable', 'pipeline_of']

# The numbers that HDF5 knows filters by, and what we call them.
_NAMES = {1: 'deflate', 2: 'shuffle', 3: 'fletcher32', 4: 'szip', 5: 'nbit', 6: 'scaleoffset',
          307: 'bzip2', 32000: 'lzf', 32001: 'blosc', 32004: 'lz4', 32008: 'bitshuffle',
          32013: 'zfp', 32015: 'zstd', 32017: 'sz', 32024: 'sz3', 32026: 'blosc2'}

# A filter in the form that the kernel takes: number, bytes of an item, items of a block, addresses.
_Step: TypeAlias = tuple[int, int, int, int, int, int]

_MOST_FILTERS = 32                      # so many bits has a mask


class Undecodable(Exception):
    """The filters of a data set cannot be undone here; reading is left to the HDF5 library.

    Parameters
    ----------
    reason : str
        Why, for those who wonder where the speed is.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class ChunkError(Exception):
    """A stored chunk is not sound. Who knows file, source and rows says so instead.

    Parameters
    ----------
    place : int
        Which of the chunks asked for, from 0.
    message : str
        What is wrong with it.
    """

    def __init__(self, place: int, message: str) -> None:
        super().__init__(place, message)
        self.place = place
        self.message = message

    def __str__(self) -> str:
        return self.message


class Pipeline:
    """The filters of a data set, to be undone.

    Attributes
    ----------
    names : tuple of str
        Of the filters, in the order in which they were applied, such as
        ``('shuffle', 'deflate')``.
    chunk_bytes : int
        How long a chunk is when they are undone.
    """

    __slots__ = ('_codecs', '_steps', 'chunk_bytes', 'names')

    def __init__(self, names: Sequence[str], chunk_bytes: int, steps: Sequence[_Step]) -> None:
        self.names = tuple(names)
        self.chunk_bytes = chunk_bytes
        self._steps = numpy.array(steps, dtype=numpy.int64).reshape(-1, 6)

    def decode(self, sources: AnyArray, sizes: AnyArray, masks: AnyArray, targets: AnyArray,
               threads: int = 1) -> None:
        """Undo the filters of chunks.

        Parameters
        ----------
        sources : ndarray of int64 or uint64, shape (n,)
            Addresses of the stored bytes. They must stay readable meanwhile.
        sizes : ndarray of int64, shape (n,)
            How many bytes are stored; no more than these are read.
        masks : ndarray of uint32, shape (n,)
            Bit ``i`` is set where filter ``i`` was left out.
        targets : ndarray of int64 or uint64, shape (n,)
            Addresses of `chunk_bytes` bytes for each chunk; nothing else is written to. What
            stands there after an error is undefined.
        threads : int, default 1
            How many threads may work on it.

        Raises
        ------
        ChunkError
            About the first chunk that is not sound.
        MemoryError
            There is not enough memory to work in.
        """
        failure = _kernels.decode_chunks(sources, sizes, masks, targets, self.chunk_bytes,
                                         self._steps, threads)
        if failure is not None:
            place, step, why, expected, got = failure
            raise ChunkError(place, self._describe(step, why, expected, got))

    def _describe(self, step: int, why: str, expected: int, got: int) -> str:
        """Say what is wrong with a chunk."""
        if step < 0:
            return f'expected {expected} bytes; {got} are stored'
        if why == 'checksum':
            return (f'the checksum (fletcher32) stored with it is {expected:#010x}; that of its '
                    f'bytes is {got:#010x}')
        if why == 'length':
            if got >= 0:
                return f'expected filter {self.names[step]} to give {expected} bytes; got {got}'
            # Where a length is not stored, many a damage looks like too many bytes.
            return (f'it cannot be decoded by filter {self.names[step]}: its bytes are damaged, or '
                    f'give more than {expected}')
        return f'it cannot be decoded by filter {self.names[step]}: its bytes are damaged'


def pipeline_of(dataset: h5py.Dataset) -> Pipeline:
    """Return the filters of a data set.

    Parameters
    ----------
    dataset : h5py.Dataset
        One that is stored in chunks, perhaps without filters.

    Raises
    ------
    Undecodable
        A filter is not one of those that can be undone here, or the package that can do it is not
        installed.
    """
    if dataset.chunks is None:
        raise Undecodable('it is not stored in chunks')
    properties = dataset.id.get_create_plist()
    chunk_bytes = math.prod(dataset.chunks) * dataset.id.get_type().get_size()
    count = properties.get_nfilters()
    if count > _MOST_FILTERS:
        raise Undecodable(f'it has {count} filters; at most {_MOST_FILTERS} are undone by Fuel')
    names, steps = [], []
    for place in range(count):
        code, _, values, given = properties.get_filter(place)
        name = _NAMES.get(code) or given.decode(errors='replace') or str(code)
        if code not in _STEPS:
            raise Undecodable(f'filter {name} is left to the HDF5 library')
        names.append(name)
        steps.append((code, *_STEPS[code](name, values)))
    if count and _has_bare_edges(properties):
        raise Undecodable('chunks that reach over the edge are stored without filters')
    return Pipeline(names, chunk_bytes, steps)


def _has_bare_edges(properties: h5py.h5p.PropDCID) -> bool:
    """Tell whether filters were left out for chunks that reach over the edge; no mask tells it."""
    options = ctypes.c_uint()
    try:
        look_up = ctypes.CDLL(h5py.h5z.__file__).H5Pget_chunk_opts
    except (OSError, AttributeError):
        return False
    look_up.argtypes = [ctypes.c_int64, ctypes.c_void_p]
    with h5py._hl.base.phil:
        return look_up(properties.id, ctypes.byref(options)) >= 0 and bool(options.value & 2)


_Rest: TypeAlias = tuple[int, int, int, int, int]


def _installed(codec: Codec | None, name: str) -> Codec:
    if codec is None:
        needed = 'zlib' if name == 'deflate' else 'the package hdf5plugin'
        raise Undecodable(f'filter {name} needs {needed}')
    return codec


def _addresses(codec: Codec, item: int = 0, block: int = 0) -> _Rest:
    return item, block, codec.function, codec.make, codec.release


def _deflate(name: str, values: Sequence[int]) -> _Rest:
    return _addresses(_installed(codecs.inflater(), name))


def _shuffle(name: str, values: Sequence[int]) -> _Rest:
    # No size is told where the items are of a kind that HDF5 does not shuffle; then the mask of
    # each chunk says that the filter was left out.
    return (values[0] if values else 0), 0, 0, 0, 0


def _own(name: str, values: Sequence[int]) -> _Rest:
    return 0, 0, 0, 0, 0


def _plugin(name: str, values: Sequence[int]) -> _Rest:
    return _addresses(_installed(codecs.of_plugin(name), name))


def _blosc2(name: str, values: Sequence[int]) -> _Rest:
    # The settings tell filters and codec; those loaded at run time are left to the library.
    # Items of more than 255 bytes are stored in a way that versions of Blosc2 do not agree on.
    if (len(values) < 7 or values[2] > 255 or values[5] > 4 or values[6] > 5
            or (values[7:] and values[7] > 15)):
        raise Undecodable(f'filter {name} with its settings {tuple(values)} is left to the HDF5 '
                          'library')
    return _plugin(name, values)


def _bitshuffle(name: str, values: Sequence[int]) -> _Rest:
    # Version, version, bytes of an item, items of a block, codec.
    item, block, codec = (*values, 0, 0, 0, 0, 0)[2:5]
    if not item or block % 8 or codec not in (0, 2, 3):
        raise Undecodable(f'filter {name} with its settings {tuple(values)} is left to the HDF5 '
                          'library')
    if codec:
        return _addresses(_installed(codecs.of_plugin('lz4' if codec == 2 else 'zstd'), name),
                          item)
    # As many items as 8 KiB hold, unless it is told.
    return item, block or max(8192 // item // 8 * 8, 128), 0, 0, 0


_STEPS: dict[int, Callable[[str, Sequence[int]], _Rest]] = {
    1: _deflate, 2: _shuffle, 3: _own, 32000: _own, 32001: _plugin, 32004: _plugin,
    32008: _bitshuffle, 32015: _plugin, 32026: _blosc2}
