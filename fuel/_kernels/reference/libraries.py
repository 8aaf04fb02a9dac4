"""Filters of HDF5 that are undone by functions of libraries, which are called through ctypes."""
from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy

from fuel._kernels.reference.unfilter import LZ4, Damaged, TooLong, unshuffle_bits
from fuel._types import AnyArray

__all__ = ['BITSHUFFLE', 'BLOSC', 'BLOSC2', 'UNDO', 'ZSTD', 'Routine', 'unbitshuffle']

# The numbers that HDF5 knows filters by.
BLOSC = 32001
BITSHUFFLE = 32008
ZSTD = 32015
BLOSC2 = 32026

_LARGEST_INT = 0x7fffffff


class Routine(NamedTuple):
    """Addresses of a function, and of those that make and free the state which it wants (or 0)."""

    function: int
    make: int = 0
    release: int = 0


class _Settings(ctypes.Structure):
    """How Blosc2 takes its settings; the rest is room for settings to come."""

    _fields_ = [('threads', ctypes.c_int16), ('frame', ctypes.c_void_p),
                ('filter', ctypes.c_void_p), ('of_filter', ctypes.c_void_p),
                ('item', ctypes.c_int32), ('rest', ctypes.c_void_p * 8)]


_Make = ctypes.CFUNCTYPE(ctypes.c_void_p)
_MakeBlosc2 = ctypes.CFUNCTYPE(ctypes.c_void_p, _Settings)
_Free = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_Zstd = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t,
                         ctypes.c_char_p, ctypes.c_size_t)
_Lz4 = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_int)
_Blosc = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p, ctypes.c_size_t,
                          ctypes.c_int)
_Blosc2 = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int32,
                           ctypes.c_void_p, ctypes.c_int32)


def _with_state(routine: Routine, make: Any, call: Callable[[Any], int]) -> int:
    """Call a function with its state."""
    state = make(routine.make)
    try:
        return call(state)
    finally:
        _Free(routine.release)(state)


def unzstd(routine: Routine, data: bytes, room: int) -> bytes:
    """Undo Zstandard."""
    out = ctypes.create_string_buffer(max(room, 1))
    done = _with_state(routine, lambda make: _Make(make)(), lambda state: _Zstd(routine.function)(
        state, out, room, data, len(data)))
    if done > room:
        raise TooLong if done == ctypes.c_size_t(-70).value else Damaged
    return out.raw[:done]


def _unpack_block(routine: Routine, data: bytes, wanted: int) -> bytes:
    """Undo a block of LZ4, or of Zstandard if there is a state, of which the length is known."""
    if max(len(data), wanted) > _LARGEST_INT:
        raise Damaged
    if routine.make:
        try:
            result = unzstd(routine, data, wanted)
        except TooLong:
            raise Damaged from None
        if len(result) == wanted:
            return result
        raise Damaged
    out = ctypes.create_string_buffer(max(wanted, 1))
    if _Lz4(routine.function)(data, out, len(data), wanted) != wanted:
        raise Damaged
    return out.raw[:wanted]


def _number(data: bytes, at: int, size: int = 4) -> int:
    return int.from_bytes(data[at:at + size], 'big')


def _take(data: bytes, at: int, size: int) -> bytes:
    """Return bytes that must be there."""
    if len(data) - at < size:
        raise Damaged
    return data[at:at + size]


def unlz4(routine: Routine, data: bytes, room: int) -> bytes:
    """Undo the filter LZ4: a length, and blocks that are stored as they are if that is shorter."""
    _take(data, 0, 12)
    total, block = _number(data, 0, 8), _number(data, 8)
    if total > room:
        raise TooLong
    at, result = 12, bytearray()
    while len(result) < total:
        block = min(block, total - len(result))
        if not block:
            raise Damaged
        packed = _take(data, at + 4, _number(_take(data, at, 4), 0))
        at += 4 + len(packed)
        result += packed if len(packed) == block else _unpack_block(routine, packed, block)
    return bytes(result)


def unblosc(routine: Routine, data: bytes, room: int) -> bytes:
    """Undo Blosc. The library takes the number of bytes it may read from the bytes themselves."""
    _take(data, 0, 16)
    total, packed = (int.from_bytes(data[at:at + 4], 'little') for at in (4, 12))
    if packed < 16 or packed > len(data) or total > _LARGEST_INT or data[3] == 0:
        raise Damaged
    if total > room:
        raise TooLong
    out = ctypes.create_string_buffer(max(total, 1))
    if _Blosc(routine.function)(data, out, total, 1) != total:
        raise Damaged
    return out.raw[:total]


def unbitshuffle(routine: Routine, data: bytes, room: int, item: int, block: int) -> bytes:
    """Undo bitshuffle: blocks of items with their bits apart, compressed if there is a function.

    ``block`` is a number of items; compressed bytes begin with a length and a size of their own.
    """
    total, at = len(data), 0
    if routine.function:
        _take(data, 0, 12)
        total, block, at = _number(data, 0, 8), _number(data, 8) // item, 12
        if not block:
            raise Damaged
    if block % 8:
        raise Damaged
    if total > room:
        raise TooLong
    result = bytearray()
    while some := min(block, (total - len(result)) // item // 8 * 8):
        if routine.function:
            packed = _take(data, at + 4, _number(_take(data, at, 4), 0))
            at += 4 + len(packed)
            apart = _unpack_block(routine, packed, some * item)
        else:
            apart = _take(data, at, some * item)
            at += len(apart)
        result += unshuffle_bits(apart, item)
    return bytes(result) + _take(data, at, total - len(result))


def _blocks(frame: bytes) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the shapes of chunk and block that a frame tells, with no axes if it has one."""
    if len(frame) < 94 or frame[87] != 0x93 or frame[91] != 0xde:
        raise Damaged
    if frame[92:94] == b'\0\0':
        return (), ()
    if len(frame) < 104 or frame[92:100] != b'\0\x01\xa4b2nd\xd2':
        raise Damaged
    data = frame[_number(frame, 100):]
    if len(data) < 8 or data[0] != 0xc6:
        raise Damaged
    axes = data[7]
    if not 1 <= axes <= 15 or len(data) < 11 + 19 * axes or data[8] != 0x90 + axes:
        raise Damaged
    shape = tuple(_number(data, 14 + 9 * axis) for axis in range(axes))
    chunk = tuple(_number(data, 11 + 9 * axes + 5 * axis) for axis in range(axes))
    block = tuple(_number(data, 12 + 14 * axes + 5 * axis) for axis in range(axes))
    if shape != chunk or not all(0 < b <= c for b, c in zip(block, chunk, strict=True)):
        raise Damaged
    return chunk, block


def _is_plain(chunk: bytes) -> bool:
    """Tell whether a chunk asks for nothing but the codecs and filters that are always there."""
    return (chunk[2] & 5 == 5 and chunk[3] != 0 and not chunk[30] and not chunk[31] & 0x8e
            and all(code == 4 or (code < 4 and not parameter)
                    for code, parameter in zip(chunk[16:22], chunk[24:30], strict=True))
            and chunk[2] >> 5 in (0, 1, 3, 4))


def unblosc2(routine: Routine, data: bytes, room: int) -> bytes:
    """Undo Blosc2, which stores a frame around one compressed chunk, perhaps of several axes."""
    if len(data) < 119 or data[:11] != b'\x9e\xa8b2frame\0\xd2':
        raise Damaged
    head, total, packed, item = (_number(data, at) for at in (11, 34, 43, 48))
    if head > len(data) - 32 or data[26] & 15:
        raise Damaged
    shape, block = _blocks(data[:head])
    chunk = data[head:]
    if not packed:
        # Nothing is stored but what all bytes are; in place of where the chunk is.
        if len(chunk) < 40 or chunk[39] != 0x81:
            raise Damaged
    else:
        total = int.from_bytes(chunk[4:8], 'little')
        if (not 32 <= packed <= min(len(chunk), _LARGEST_INT) or total > _LARGEST_INT
                or int.from_bytes(chunk[12:16], 'little') != packed or not _is_plain(chunk)):
            raise Damaged
    moved = shape[1:] != block[1:] or any(c % b for c, b in zip(shape[:1], block[:1], strict=True))
    length = int(numpy.prod(shape, dtype=object)) * item if moved else total
    if length > room:
        raise TooLong
    if not packed:
        return bytes(length)
    grid = [-(-c // b) for c, b in zip(shape, block, strict=True)]
    if moved and (item * int(numpy.prod([*grid, *block], dtype=object)) != total or not total):
        raise Damaged
    out = ctypes.create_string_buffer(max(total, 1))
    done = _with_state(
        routine, lambda make: _MakeBlosc2(make)(_Settings(threads=1, item=8)),
        lambda state: _Blosc2(routine.function)(state, chunk[:packed], packed, out, total))
    if done != total:
        raise Damaged
    if not moved:
        return out.raw[:total]
    array: AnyArray = numpy.frombuffer(out.raw[:total], 'u1').reshape(*grid, *block, item)
    order = [axis + len(shape) * half for axis in range(len(shape)) for half in (0, 1)]
    array = array.transpose(*order, 2 * len(shape)).reshape(
        *(g * b for g, b in zip(grid, block, strict=True)), item)
    result: bytes = array[tuple(slice(c) for c in shape)].tobytes()
    return result


UNDO: dict[int, Callable[[Routine, bytes, int], bytes]] = {
    ZSTD: unzstd, LZ4: unlz4, BLOSC: unblosc, BLOSC2: unblosc2}
