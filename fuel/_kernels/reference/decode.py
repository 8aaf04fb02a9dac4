"""Chunks of HDF5 files, with their filters undone, in Python."""
from __future__ import annotations

import ctypes
import zlib
from typing import TypeAlias

import numpy

from fuel._kernels.reference import libraries, unfilter
from fuel._kernels.reference.libraries import BITSHUFFLE, Routine
from fuel._kernels.reference.unfilter import DEFLATE, ChecksumDiffers, Damaged, TooLong
from fuel._types import AnyArray

__all__ = ['COLUMNS', 'MOST_STEPS', 'checked', 'decode_chunks']

#: Columns of `steps`, and how many rows there are at most.
COLUMNS = 6
MOST_STEPS = 32

Failure: TypeAlias = tuple[int, int, str, int, int]


def checked(sources: AnyArray, sizes: AnyArray, masks: AnyArray, targets: AnyArray,
            chunk_bytes: int, steps: AnyArray) -> tuple[AnyArray, ...]:
    """Check what `decode_chunks` is given, and return the arrays each lying in one piece."""
    vectors = []
    for name, array, dtypes in (('sources', sources, ('int64', 'uint64')),
                                ('sizes', sizes, ('int64',)), ('masks', masks, ('uint32',)),
                                ('targets', targets, ('int64', 'uint64'))):
        if array.dtype.name not in dtypes or array.shape != (len(sources),):
            raise TypeError(f'expected {name} to be a vector of {dtypes[0]} with {len(sources)} '
                            f'numbers; got {array.dtype} of shape {array.shape}')
        vectors.append(numpy.ascontiguousarray(array).view(
            'u4' if array.dtype.itemsize == 4 else 'i8'))
    if (steps.dtype != numpy.int64 or steps.ndim != 2 or steps.shape[1] != COLUMNS
            or len(steps) > MOST_STEPS):
        raise TypeError(f'expected steps to be int64 of shape (at most {MOST_STEPS}, {COLUMNS}); '
                        f'got {steps.dtype} of shape {steps.shape}')
    if chunk_bytes < 1 or (sizes < 0).any():
        raise ValueError('expected chunks to have at least one byte, and no negative sizes')
    return (*vectors, numpy.ascontiguousarray(steps))


def decode_chunks(sources: AnyArray, sizes: AnyArray, masks: AnyArray, targets: AnyArray,
                  chunk_bytes: int, steps: AnyArray, threads: int) -> Failure | None:
    """Undo the filters of chunks.

    Parameters
    ----------
    sources : ndarray of int64 or uint64, shape (n,)
        Where the stored bytes of each chunk begin: addresses.
    sizes : ndarray of int64, shape (n,)
        How many bytes are stored.
    masks : ndarray of uint32, shape (n,)
        Bit ``i`` is set where filter ``i`` was left out.
    targets : ndarray of int64 or uint64, shape (n,)
        Addresses of ``chunk_bytes`` bytes for each chunk.
    chunk_bytes : int
        How long a chunk is with its filters undone.
    steps : ndarray of int64, shape (filters, 6)
        The filters in the order in which they were applied. Columns: the number of the filter;
        bytes of an item (shuffle, bitshuffle); items of a block (bitshuffle); addresses of the
        function that undoes it, of one that makes the state which that one wants, and of one that
        frees the state (0: none).
    threads : int
        How many threads may work on it.

    Returns
    -------
    None or tuple
        None if all went well. Else about the first chunk that is not sound: its place among the
        chunks; which filter (-1: none); what is wrong, one of 'checksum', 'length' and 'damaged';
        the checksum or length expected, and the one found (-1: more than that).

    Raises
    ------
    MemoryError
        There is not enough memory to work in.
    """
    sources, sizes, masks, targets, steps = checked(sources, sizes, masks, targets, chunk_bytes,
                                                    steps)
    for place in range(len(sources)):
        data = ctypes.string_at(int(sources[place]), int(sizes[place]))
        failure = _decode(data, int(masks[place]), int(targets[place]), chunk_bytes,
                          steps.tolist())
        if failure is not None:
            return place, *failure
    return None


def _decode(data: bytes, mask: int, target: int, chunk_bytes: int,
            steps: list[list[int]]) -> tuple[int, str, int, int] | None:
    """Undo the filters of one chunk, and write it to its address."""
    for i, (code, size, *_) in enumerate(steps):
        if code == unfilter.SHUFFLE and size == 1:
            mask |= 1 << i
    lengths, known = [chunk_bytes], [True]
    for i, (code, *_) in enumerate(steps):
        if mask >> i & 1:
            lengths.append(lengths[-1])
            known.append(known[-1])
        else:
            lengths.append(unfilter.largest(code, lengths[-1]))
            known.append(known[-1] and code in (unfilter.SHUFFLE, unfilter.FLETCHER32))
    for i in reversed(range(len(steps))):
        if mask >> i & 1:
            continue
        code, size, block, function, make, release = steps[i]
        if code == unfilter.FLETCHER32 and len(data) < 4:
            return i, 'length', lengths[i + 1], len(data)
        try:
            data = _undo(code, size, block, Routine(function, make, release), data, lengths[i])
        except TooLong:
            return i, 'length', lengths[i], -1
        except Damaged:
            return i, 'damaged', 0, 0
        except ChecksumDiffers as error:
            return i, 'checksum', *error.args
        if len(data) > lengths[i]:
            return i, 'length', lengths[i], -1
        if known[i] and len(data) != lengths[i]:
            return i, 'length', lengths[i], len(data)
    if len(data) != chunk_bytes:
        return -1, 'length', chunk_bytes, len(data)
    ctypes.memmove(target, data, chunk_bytes)
    return None


def _undo(code: int, size: int, block: int, routine: Routine, data: bytes, room: int) -> bytes:
    """Undo one filter."""
    if code == unfilter.SHUFFLE:
        return unfilter.unshuffle(data, size)
    if code == unfilter.FLETCHER32:
        return unfilter.without_checksum(data)
    if code == unfilter.LZF:
        return unfilter.unlzf(data, room)
    if code == DEFLATE:
        return _inflate(data, room)
    if code == BITSHUFFLE:
        return libraries.unbitshuffle(routine, data, room, size, block)
    return libraries.UNDO[code](routine, data, room)


def _inflate(data: bytes, room: int) -> bytes:
    machine = zlib.decompressobj()
    try:
        result = machine.decompress(data, room + 1)
    except zlib.error:
        raise Damaged from None
    if len(result) > room:
        raise TooLong
    if not machine.eof:
        raise Damaged
    return result
