"""Filters of HDF5 that are undone without any library, in Python."""
from __future__ import annotations

import numpy

__all__ = ['DEFLATE', 'FLETCHER32', 'LZ4', 'LZF', 'SHUFFLE', 'ChecksumDiffers', 'Damaged',
           'TooLong', 'largest', 'unlzf', 'unshuffle', 'unshuffle_bits', 'without_checksum']

# The numbers that HDF5 knows filters by.
DEFLATE = 1
SHUFFLE = 2
FLETCHER32 = 3
LZF = 32000
LZ4 = 32004


class Damaged(Exception):
    """The bytes are nothing that the filter could have written."""


class TooLong(Exception):
    """There is more than fits."""


class ChecksumDiffers(Exception):
    """The arguments are the checksum stored, and the one of the bytes."""


def largest(code: int, size: int) -> int:
    """Return how long a filter may make so many bytes: compressors write what does not compress."""
    if code == SHUFFLE:
        return size
    if code == FLETCHER32:
        return size + 4
    return 5 * size + 64 if code == LZ4 else 2 * size + 65536


def unshuffle(data: bytes, item: int) -> bytes:
    """Put together the bytes of items; those left over at the end were never apart."""
    if item < 1:
        raise Damaged
    whole = len(data) // item * item
    apart = numpy.frombuffer(data[:whole], 'u1').reshape(item, -1)
    return apart.T.tobytes() + data[whole:]


def unshuffle_bits(data: bytes, item: int) -> bytes:
    """Put together the bits of items, the number of which is a multiple of 8."""
    rows = numpy.frombuffer(data, 'u1').reshape(item, 8, -1)
    bits = numpy.unpackbits(rows, axis=2, bitorder='little')
    return numpy.packbits(bits, axis=1, bitorder='little')[:, 0].T.tobytes()


def _fletcher32(data: bytes) -> int:
    """Return the checksum of HDF5: of Fletcher, over big-endian words."""
    words = numpy.frombuffer(data + b'\0' * (len(data) % 2), '>u2').astype('u8')
    first = second = 0
    for start in range(0, len(words), 1 << 16):
        sums = numpy.cumsum(words[start:start + (1 << 16)]) + first
        second += int(sums.sum())
        first = int(sums[-1])
    # Sums that are not 0 become a number from 1 to 65535.
    first, second = (total and (total - 1) % 65535 + 1 for total in (first, second))
    return second << 16 | first


def without_checksum(data: bytes) -> bytes:
    """Compare the checksum at the end, and return what comes before it."""
    data, end = data[:-4], data[-4:]
    sums = _fletcher32(data)
    # Early versions of HDF5 stored the bytes of each half the other way round.
    if sums not in (int.from_bytes(end, 'little'),
                    int.from_bytes(bytes((end[1], end[0], end[3], end[2])), 'little')):
        raise ChecksumDiffers(int.from_bytes(end, 'little'), sums)
    return data


def unlzf(data: bytes, room: int) -> bytes:
    """Undo LZF: runs of bytes as they are, and repetitions of what came before."""
    result = bytearray()
    at = 0
    try:
        while at < len(data):
            control = data[at]
            at += 1
            if control < 32:
                run = data[at:at + control + 1]
                if len(run) <= control:
                    raise Damaged
                at += len(run)
            else:
                length = (control >> 5) + 2
                if length == 9:
                    length += data[at]
                    at += 1
                start = len(result) - ((control & 31) << 8) - data[at] - 1
                at += 1
                if start < 0:
                    raise Damaged
                run = bytes(result[start:start + length])
                run = (run * (length // len(run) + 1))[:length]
            if len(result) + len(run) > room:
                raise TooLong
            result += run
    except IndexError:
        raise Damaged from None
    return bytes(result)
