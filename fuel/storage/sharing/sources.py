"""Sources read as a whole into memory that all processes of a machine share."""
from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy

from fuel._types import JSON, AnyArray
from fuel.storage.readers.rows import RowReader
from fuel.storage.sharing.arrays import SharedArrays, shared_arrays
from fuel.storage.sharing.flat import flatten, flatten_into, unflatten
from fuel.utils.indices import IndexArray

__all__ = ['SharedSources', 'SourceRows', 'load_shared']

# At most so many bytes, and so many examples of unknown size, are read at once.
_PIECE_BYTES = 2 ** 24
_PIECE_EXAMPLES = 2 ** 10


@dataclass(frozen=True, slots=True)
class SourceRows:
    """What to read of one source.

    Attributes
    ----------
    name : str
        The source.
    reader : RowReader
        What reads it.
    rows : slice or ndarray of integers
        Which rows; a slice has three numbers.
    shape : tuple
        Of an example; `None` for lengths that vary.
    dtype : numpy.dtype
        Of the values.
    """

    name: str
    reader: RowReader
    rows: slice | IndexArray
    shape: tuple[int | None, ...]
    dtype: numpy.dtype[Any]

    @property
    def is_ragged(self) -> bool:
        """Whether the examples come in an array of objects."""
        return None in self.shape or self.dtype.hasobject

    @property
    def has_counts(self) -> bool:
        """Whether the sizes of ragged examples are known before they are read."""
        return hasattr(self.reader, 'counts') and not self.dtype.hasobject

    def counts(self) -> AnyArray:
        """Return how many values each example has, if that is known before they are read."""
        counts: AnyArray = self.reader.counts(self.rows)  # type: ignore[attr-defined]
        return counts

    def pieces(self) -> Iterator[tuple[int, Any]]:
        """Read the rows a few at a time; give the place of the first of them, and them."""
        size = _PIECE_EXAMPLES
        if not self.is_ragged:
            row = math.prod(size or 0 for size in self.shape) * self.dtype.itemsize
            size = max(1, _PIECE_BYTES // max(1, row))
        rows: Any = self.rows
        if isinstance(rows, slice):
            rows = range(rows.start, rows.stop, rows.step)
        for start in range(0, len(rows), size):
            part = rows[start:start + size]
            yield start, getattr(self.reader, 'load', self.reader.read)(
                slice(part.start, part.stop, part.step) if isinstance(part, range) else part)

    def key(self) -> Hashable:
        """Return what tells these rows of the file from others."""
        if isinstance(self.rows, slice):
            return self.name, self.rows.start, self.rows.stop, self.rows.step
        return self.name, hashlib.sha256(self.rows.astype('<i8').tobytes()).hexdigest()

    def __len__(self) -> int:
        if isinstance(self.rows, slice):
            return len(range(self.rows.start, self.rows.stop, self.rows.step))
        return len(self.rows)


class SharedSources:
    """Sources in shared memory.

    Attributes
    ----------
    data : list
        An array for each source, which cannot be written to; for examples with shapes of their
        own, an array of arrays.
    """

    def __init__(self, arrays: SharedArrays, key: str, names: Sequence[str]) -> None:
        self._arrays = arrays
        self._key = key
        self.data = [_view(arrays.arrays[name]) for name in names]

    def token(self) -> JSON:
        """Return plain data with which other processes find the memory; see `load_shared`."""
        return {'key': self._key, 'arrays': self._arrays.token()}


def _view(parts: tuple[AnyArray, ...]) -> AnyArray:
    if len(parts) == 1:
        return parts[0]
    examples: AnyArray = unflatten(*parts)
    return examples


def load_shared(sources: Sequence[SourceRows], file_key: Hashable, path: str,
                token: JSON = None) -> SharedSources:
    """Read sources into shared memory, or find them there.

    Parameters
    ----------
    sources : sequence of SourceRows
        What to read.
    file_key : hashable
        Identifies the file and its content.
    path : str
        The file, for messages.
    token : dict, optional
        What `SharedSources.token` returned, perhaps in another process. Its memory is used if it
        is still there, and has the same rows of the same file.

    Returns
    -------
    SharedSources

    Raises
    ------
    MemoryError
        There is not so much memory.
    """
    content = (file_key, tuple(source.key() for source in sources))
    key = hashlib.sha256(json.dumps(content, default=str).encode()).hexdigest()

    def build() -> SharedArrays:
        found = None
        if isinstance(token, dict) and token.get('key') == key:
            found = SharedArrays.attach(token.get('arrays'))
        return _published(sources, path) if found is None else found

    return SharedSources(shared_arrays(key, build), key, [source.name for source in sources])


def _published(sources: Sequence[SourceRows], path: str) -> SharedArrays:
    """Take the memory, and read into it."""
    plans = {source.name: _plan(source, path) for source in sources}
    published = SharedArrays.publish(plans, purpose=f'{path} in shared memory')
    for source in sources:
        values, *rest = published.arrays[source.name]
        if not source.is_ragged:
            for start, piece in source.pieces():
                values[start:start + len(piece)] = piece
        elif source.has_counts:
            offsets, shapes = rest[0], rest[1] if len(rest) > 1 else None
            numpy.cumsum(source.counts(), out=offsets[1:])
            for start, piece in source.pieces():
                flatten_into(piece, values, offsets, shapes, start)
    return published


def _plan(source: SourceRows, path: str) -> list[Any]:
    """Return what a source needs: arrays to be filled, or full ones."""
    count = len(source)
    if not source.is_ragged:
        return [(source.dtype, (count, *source.shape))]
    if source.has_counts:
        plan: list[Any] = [(source.dtype, (int(source.counts().sum()),)),
                           (numpy.int64, (count + 1,))]
        axes = len(source.shape)
        return plan if axes == 1 else [*plan, (numpy.int64, (count, axes))]
    # How much they take up is known when they have been read.
    examples: AnyArray = numpy.empty(count, dtype=object)
    for start, piece in source.pieces():
        examples[start:start + len(piece)] = piece
    try:
        return [part for part in flatten(examples) if part is not None]
    except TypeError as error:
        raise TypeError(f'{path}: source {source.name!r} cannot be put into shared memory: '
                        f'{error}. Load it with load_in_memory=True') from None
