"""A permutation that is computed place by place, and stored nowhere.

The permutation of ``range(n)`` belongs to a key. It is a Feistel network over the smallest power
of two that is not below n: each of eight rounds changes one half of the bits by a function of the
other half and the key, which can be undone whatever the function. Images that are not below n go
through the network again until they are ("cycle walking"), fewer than two times on average. See
Black and Rogaway, "Ciphers with arbitrary finite domains", CT-RSA 2002.
"""
from __future__ import annotations

import numpy
import numpy.typing as npt

from fuel._types import AnyArray

__all__ = ['permuted']

_ROUNDS = 8
_WORD = 2**64 - 1


def permuted(indices: AnyArray, n: int, key: int) -> npt.NDArray[numpy.int64]:
    """Return where the permutation of a key takes indices.

    Parameters
    ----------
    indices : ndarray of integers, shape (m,)
        From 0 to n - 1.
    n : int
        How many places are permuted, below 2**63.
    key : int
        From 0 to 2**64 - 1; each stands for a permutation.

    Returns
    -------
    ndarray of int64, shape (m,)
        A new array. Those of all indices are ``range(n)`` in the order of the permutation.

    Raises
    ------
    IndexError
        An index is negative or not below n.
    TypeError
        The indices are not integers, or have more than one axis.
    ValueError
        n or the key is out of range.
    """
    check(indices, n, key)
    outside = indices[(indices < 0) | (indices >= n)]
    if len(outside):
        raise IndexError(f'index {outside[0]} is out of range for {n} places')
    bits = max(2, (max(n, 1) - 1).bit_length())
    low = bits // 2
    low_mask, high_mask = numpy.uint64((1 << low) - 1), numpy.uint64((1 << (bits - low)) - 1)
    keys = [numpy.uint64(_mixed_int((key + turn * 0x9E3779B97F4A7C15) & _WORD))
            for turn in range(1, _ROUNDS + 1)]
    result = indices.astype(numpy.uint64)
    walking = numpy.arange(len(result))
    with numpy.errstate(over='ignore'):
        while len(walking):
            numbers = result[walking]
            left, right = numbers >> numpy.uint64(low), numbers & low_mask
            for turn in range(0, _ROUNDS, 2):
                left ^= _mixed(right + keys[turn]) & high_mask
                right ^= _mixed(left + keys[turn + 1]) & low_mask
            numbers = left << numpy.uint64(low) | right
            result[walking] = numbers
            walking = walking[numbers >= n]
    return result.astype(numpy.int64)


def check(indices: AnyArray, n: int, key: int) -> None:
    """Check what `permuted` is given."""
    if indices.ndim != 1 or indices.dtype.kind not in 'iu':
        raise TypeError(f'expected a vector of integers; got {indices.ndim} axes of '
                        f'{indices.dtype}')
    if not 0 <= n < 2**63:
        raise ValueError(f'expected a number of places from 0 to 2**63 - 1; got {n}')
    if not 0 <= key < 2**64:
        raise ValueError(f'expected a key from 0 to 2**64 - 1; got {key}')


def _mixed(numbers: npt.NDArray[numpy.uint64]) -> npt.NDArray[numpy.uint64]:
    """Mix the bits of numbers: the last steps of the SplitMix64 generator."""
    numbers = (numbers ^ (numbers >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
    numbers = (numbers ^ (numbers >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
    return numbers ^ (numbers >> numpy.uint64(31))


def _mixed_int(number: int) -> int:
    return int(_mixed(numpy.array([number], numpy.uint64))[0])
