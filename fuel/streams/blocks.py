"""Single examples, read several at a time.

To ask a data set for one example costs far more than to copy it. A stream of examples therefore
reads some of the coming ones together, where the data set is asked for them by their place and
the place of the coming ones is known. They count as taken only as they are given out.
"""
from __future__ import annotations

import sys
from typing import Any

import numpy

from fuel._types import Batch, Request
from fuel.collate import Rows

__all__ = ['EXAMPLES', 'ROOM', 'bytes_of', 'rows_of']

#: How many examples are read together, at most.
EXAMPLES = 64
#: How many bytes they may have; what is larger gains nothing by being read with others.
ROOM = 1 << 16


def bytes_of(example: Batch) -> int:
    """Return about how many bytes the items of an example have."""
    return sum([item.nbytes if isinstance(item, (numpy.ndarray, numpy.generic))
                else sys.getsizeof(item) for item in example])


def rows_of(dataset: Any, request: Request) -> Rows | None:
    """Return single examples, as the data set gives them when it is asked for each by itself.

    Parameters
    ----------
    dataset : Dataset
        Takes index arrays and keeps no state.
    request : slice, list or ndarray
        The places of the examples.

    Returns
    -------
    Rows or None
        `None` where they cannot be read together. Whoever asks for each by itself then gets it,
        or learns what is wrong with it.
    """
    try:
        return Rows.of(dataset.get_data(None, request), is_fresh=True)
    except Exception:  # it is not known which of the examples is at fault
        return None
