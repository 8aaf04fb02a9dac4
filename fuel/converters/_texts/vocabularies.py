"""Dictionaries from tokens to numbers in converted files."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy

from fuel._types import AnyArray
from fuel.converters._conversion.storage import StorageArguments
from fuel.converters._division.names import check_text
from fuel.storage.writing.options import SourceOptions
from fuel.storage.writing.sources import create_source

__all__ = ['COUNTS', 'VOCABULARY', 'numbered', 'write_counts', 'write_tokens']

#: The data set with the tokens, and that with how often each of them was seen.
VOCABULARY, COUNTS = 'vocabulary', 'vocabulary_counts'
_IDS = 'vocabulary_ids'


def numbered(markers: Iterable[str | None], words: Iterable[str]) -> dict[str, int]:
    """Give tokens the numbers from 0 on.

    Parameters
    ----------
    markers : iterable of str or None
        What comes first; none for `None`.
    words : iterable of str
        What comes after them. Those that are markers too keep the numbers that they have.
    """
    tokens = dict.fromkeys(marker for marker in markers if marker is not None)
    tokens.update(dict.fromkeys(words))
    return {token: number for number, token in enumerate(tokens)}


def write_tokens(h5file: Any, where: str, dictionary: dict[str, int],
                 attributes: dict[str, Any]) -> AnyArray:
    """Write the tokens of a dictionary in the order of their numbers.

    The numbers are written too if they are not 0, 1, 2 and so on.

    Parameters
    ----------
    h5file : h5py.File
        Open for writing.
    where : str
        Where the tokens come from, for messages.
    dictionary : dict
        From tokens to numbers.
    attributes : dict
        What else to keep with them; entries of `None` are left away.

    Returns
    -------
    array
        The numbers in the order of the tokens, int64, shape (tokens,).

    Raises
    ------
    ConversionError
        A token cannot be stored.
    """
    import h5py

    tokens = sorted(dictionary, key=dictionary.__getitem__)
    for token in tokens:
        check_text(token, f'{where}, a token')
    array = numpy.array(tokens, dtype=h5py.string_dtype())
    with create_source(h5file, VOCABULARY, (), array.dtype, num_examples=len(tokens)
                       ) as writer:
        writer.append(array)
    for name, value in attributes.items():
        if value is not None:
            h5file[VOCABULARY].attrs[name] = value
    numbers = numpy.fromiter(map(dictionary.__getitem__, tokens), 'int64', len(tokens))
    if not numpy.array_equal(numbers, numpy.arange(len(numbers))):
        h5file[_IDS] = numbers
    return numbers


def write_counts(h5file: Any, counts: AnyArray, storage: StorageArguments) -> None:
    """Write how often each of the tokens was seen, int64, shape (tokens,)."""
    options = SourceOptions(compression=storage.get('compression'),
                            chunk_examples=storage.get('chunk_examples'))
    with create_source(h5file, COUNTS, (), 'int64', num_examples=len(counts), options=options
                       ) as writer:
        writer.append(counts)
