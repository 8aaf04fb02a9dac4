"""Rows gathered out of blocks that lie anywhere in memory, in numpy."""
from __future__ import annotations

import ctypes
from typing import NoReturn

import numpy

from fuel._types import AnyArray

__all__ = ['BlockTable', 'copy_whole']


class BlockTable:
    """Rows that lie in blocks anywhere in memory: in a mapped file, or in a cache.

    A block holds `rows_per_block` consecutive rows, `stride` bytes apart. Where blocks split rows
    too, there are several blocks, called columns, for the same rows, and `runs` tells how a row is
    put together.

    Parameters
    ----------
    addresses : ndarray of int64, shape (blocks * columns,)
        Where each block begins; 0 for one that is missing. It is kept, not copied: whoever owns
        the blocks changes it. A block must stay where it is as long as somebody may read it.
    rows : int
        How many rows there are.
    rows_per_block, stride, row_bytes : int
        See above; `row_bytes` is the size of a row that is put together.
    runs : ndarray of int64, shape (n, 4), optional
        Pieces of a row: the column, the offset from where the row begins in a block of it, the
        offset in the row, and the size. By default a row lies in one piece in one block.
    used : ndarray of uint8, shape (blocks * columns,), optional
        Set to 1 for blocks that were read.
    """

    def __init__(self, addresses: AnyArray, rows: int, rows_per_block: int, stride: int,
                 row_bytes: int, runs: AnyArray | None = None,
                 used: AnyArray | None = None) -> None:
        if rows < 1 or rows_per_block < 1 or stride < 0 or row_bytes < 0:
            raise ValueError('expected at least one row, and one row in a block; got '
                             f'{rows} and {rows_per_block}')
        blocks = -(-rows // rows_per_block)
        _check_vector(addresses, 'addresses', 8)
        self._columns = len(addresses) // blocks
        if self._columns < 1 or len(addresses) != blocks * self._columns:
            raise ValueError(f'expected the addresses of {blocks} blocks, or several for each; '
                             f'got {len(addresses)}')
        if runs is None and self._columns != 1:
            raise ValueError('expected runs, for a row lies in several blocks')
        if runs is not None and ((runs < 0).any() or (runs[:, 0] >= self._columns).any()
                                 or (runs[:, 2] + runs[:, 3] > row_bytes).any()):
            raise ValueError('a run leaves its row')
        self.addresses = addresses
        self.used = used
        self.row_bytes = row_bytes
        self._rows = rows
        self._rows_per_block = rows_per_block
        self._stride = stride
        self._runs = [(0, 0, 0, row_bytes)] if runs is None else runs.tolist()

    def __reduce__(self) -> NoReturn:
        raise TypeError(f'{type(self).__name__} cannot be pickled: its addresses mean nothing '
                        'elsewhere')

    def gather(self, indices: AnyArray, out: AnyArray, threads: int = 1,
               places: AnyArray | None = None) -> AnyArray | None:
        """Copy rows.

        Parameters
        ----------
        indices : ndarray of int32 or int64, shape (n,)
            Which rows.
        out : ndarray, shape (n, ...)
            In C order, with `row_bytes` in a row. Where a row is missing it is left as it is.
        threads : int, optional
            How many may copy. By default 1.
        places : ndarray of int64, shape (n,), optional
            Which row of `out` each is for, which then may have any length.

        Returns
        -------
        ndarray of int64 or None
            The places in `indices` of rows of which a block is missing.

        Raises
        ------
        IndexError
            An index or a place is out of range.
        """
        _check_vector(indices, 'indices', 4 if indices.dtype.itemsize == 4 else 8)
        if not out.flags.c_contiguous or not out.flags.writeable or out.ndim < 1:
            raise TypeError('expected an output that can be written, in C order')
        if out.nbytes != len(out) * self.row_bytes:
            raise ValueError(f'expected an output with rows of {self.row_bytes} bytes; got '
                             f'{out.nbytes} bytes in {len(out)} rows')
        if places is None:
            if len(out) != len(indices):
                raise ValueError(f'expected {len(indices)} rows of output; got {len(out)}')
        else:
            _check_vector(places, 'places', 8)
            if places.size and (places.min() < 0 or places.max() >= len(out)):
                raise IndexError(f'a place is out of range for {len(out)} rows of output')
        wrong = (indices < 0) | (indices >= self._rows)
        if wrong.any():
            raise IndexError(f'row {indices[wrong][0]} is out of range for {self._rows} rows')
        missing = []
        start = out.ctypes.data
        for number, index in enumerate(indices.tolist()):
            block, within = divmod(index, self._rows_per_block)
            columns = slice(block * self._columns, (block + 1) * self._columns)
            addresses = self.addresses[columns].tolist()
            if not all(addresses):
                missing.append(number)
                continue
            if self.used is not None:
                self.used[columns] = 1
            target = start + (number if places is None else int(places[number])) * self.row_bytes
            for column, source, offset, size in self._runs:
                ctypes.memmove(target + offset,
                               addresses[column] + within * self._stride + source, size)
        return numpy.array(missing, dtype=numpy.int64) if missing else None


def _check_vector(array: AnyArray, name: str, width: int) -> None:
    if (array.ndim != 1 or array.dtype.kind not in 'iu' or array.dtype.itemsize != width
            or not array.flags.c_contiguous or not array.flags.aligned
            or not array.dtype.isnative):
        raise TypeError(f'expected {name} to be a vector of {width}-byte integers; got '
                        f'{array.dtype} of shape {array.shape}')


def copy_whole(source: AnyArray, threads: int) -> AnyArray:
    """Return a copy of an array.

    Parameters
    ----------
    source : ndarray
        In C order for speed.
    threads : int
        How many may copy, each a part of it.
    """
    return source.copy()
