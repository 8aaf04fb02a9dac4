"""What converters say of raw files that are not quite those of the public data set."""
from __future__ import annotations

import logging

__all__ = ['expect_count']

logger = logging.getLogger(__name__)


def expect_count(path: str, what: str, found: int, known: int) -> None:
    """Log a warning if a file has another number of things than that of the public data set.

    Parameters
    ----------
    path : str
        The file.
    what : str
        What is counted, such as ``'training images'``.
    found : int
        How many the file has.
    known : int
        How many the public one has.
    """
    if found != known:
        logger.warning('%s: the data set has %d %s; this file has %d', path, known, what, found)
