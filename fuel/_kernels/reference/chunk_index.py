"""Where the chunks of an HDF5 data set lie, asked of h5py."""
from __future__ import annotations

import math
from typing import Any

from fuel._types import AnyArray

__all__ = ['chunk_index']


def chunk_index(dataset: Any, chunk: AnyArray, grid: AnyArray, offsets: AnyArray, sizes: AnyArray,
                masks: AnyArray) -> int:
    """Fill in where the chunks of a data set lie.

    Parameters
    ----------
    dataset : h5py.h5d.DatasetID
        Of a chunked data set.
    chunk, grid : ndarray of int64, shape (axes,)
        The shape of a chunk, and how many chunks there are along each axis.
    offsets, sizes : ndarray of int64, shape (chunks,)
        Full of zeros; filled with the address of each chunk in the file and its size there, in
        bytes. The last axis of the grid varies fastest. Those of chunks that were never written
        stay 0.
    masks : ndarray of uint32, shape (chunks,)
        Filled with the filters that were left out for each chunk, one bit each.

    Returns
    -------
    int
        How many chunks were written.

    Raises
    ------
    OSError
        The index in the file is damaged.
    """
    total = math.prod(grid.tolist())            # numpy would wrap around
    if not len(offsets) == len(sizes) == len(masks) == total:
        raise ValueError(f'expected {total} entries; got {len(offsets)}')
    shape, counts = chunk.tolist(), grid.tolist()
    wrong: list[Any] = []
    seen = 0

    def note(info: Any) -> Any:
        nonlocal seen
        number = 0
        for offset, size, count in zip(info.chunk_offset, shape, counts, strict=True):
            place, rest = divmod(offset, size)
            if rest or place >= count:
                wrong.append(info)
                return True
            number = number * count + place
        if offsets[number]:                     # two chunks for one place
            wrong.append(info)
            return True
        offsets[number], sizes[number] = info.byte_offset, info.size
        masks[number] = info.filter_mask
        seen += 1
        return None

    try:
        if hasattr(dataset, 'chunk_iter'):
            dataset.chunk_iter(note)
        else:
            for number in range(dataset.get_num_chunks()):
                note(dataset.get_chunk_info(number))
    except (RuntimeError, ValueError) as error:
        raise OSError(f'the index of the chunks is damaged: {error}') from error
    if wrong:
        raise OSError('the index of the chunks is damaged')
    return seen
