"""Checksums of files, written as ``'algorithm:hexadecimal digits'``."""
from __future__ import annotations

import hashlib
import os

__all__ = ['checksum_of', 'has_checksum', 'parse_checksum']

_BLOCK = 1 << 20


def parse_checksum(checksum: str) -> tuple[str, str]:
    """Return the algorithm and the digits of a checksum, both in lower case.

    Parameters
    ----------
    checksum : str
        Such as ``'sha256:6f608b71...'``.

    Raises
    ------
    ValueError
        It does not have this form, the algorithm is not known, or the number of digits is not
        that of the algorithm.
    """
    algorithm, colon, digits = checksum.lower().partition(':')
    if not colon or algorithm not in hashlib.algorithms_available:
        raise ValueError(f"expected a checksum such as 'sha256:6f60...'; got {checksum!r}")
    # Algorithms of variable length (shake) have digest size 0 and cannot be used here.
    length = 2 * hashlib.new(algorithm, usedforsecurity=False).digest_size
    if not length or len(digits) != length or set(digits) - set('0123456789abcdef'):
        raise ValueError(f'expected {length} hexadecimal digits after {algorithm}:; got '
                         f'{checksum!r}')
    return algorithm, digits


def checksum_of(path: str | os.PathLike[str], algorithm: str = 'sha256') -> str:
    """Return the checksum of a file, as ``'algorithm:digits'``. It is read in blocks."""
    digest = hashlib.new(algorithm, usedforsecurity=False)
    with open(path, 'rb') as stream:
        while block := stream.read(_BLOCK):
            digest.update(block)
    return f'{algorithm}:{digest.hexdigest()}'


def has_checksum(path: str | os.PathLike[str], checksum: str) -> bool:
    """Tell whether a file has the given checksum."""
    algorithm, digits = parse_checksum(checksum)
    return checksum_of(path, algorithm) == f'{algorithm}:{digits}'
