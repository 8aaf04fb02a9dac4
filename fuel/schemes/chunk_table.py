"""Which examples lie in one chunk of a file."""
from __future__ import annotations

import numbers
import reprlib
import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy

from fuel._types import AnyArray
from fuel.exceptions import StateError
from fuel.schemes.base import positive_integer
from fuel.schemes.requests import narrowest, order_of

__all__ = ['ChunkTable', 'ChunkedExamples']


@runtime_checkable
class ChunkedExamples(Protocol):
    """A data set that knows in which chunk of its file each example lies."""

    def example_chunks(self) -> tuple[int, int] | AnyArray:
        """Tell the chunk of each example.

        Returns
        -------
        tuple of int, or ndarray of integers, shape (num_examples,)
            A tuple ``(length, offset)`` says that example i lies in chunk
            ``(i + offset) // length``. An array gives the number of the chunk of each example;
            numbers may be left out, and chunks may take turns.
        """


class _Groups(NamedTuple):
    """Examples by chunk.

    Attributes
    ----------
    starts : ndarray of int32 or int64, shape (chunks + 1,)
        Where each chunk starts among the examples, and at the end the number of examples.
    examples : ndarray of int32 or int64, shape (examples,), or None
        The examples, those of a chunk in a row. `None` where they are consecutive numbers.
    first : int
        The first one of consecutive numbers.
    """

    starts: AnyArray
    examples: AnyArray | None
    first: int


def _checksum(starts: AnyArray) -> int:
    return zlib.crc32(starts.astype('<i8').tobytes())


class ChunkTable:
    """Groups examples by the chunks that they lie in.

    What follows from the arguments is not pickled, but found again when it is needed.

    Parameters
    ----------
    items : range, ndarray or list of int
        The examples to visit; at least one.
    chunks : int, tuple, ndarray or list of int, or None
        The number of examples in a chunk, or what `ChunkedExamples.example_chunks` returns.
    dataset : ChunkedExamples or None
        Asked, in place of `chunks`.
    owner : str
        Whom error messages name.

    Raises
    ------
    TypeError
        Both or neither of `chunks` and `dataset` are given, or something is of the wrong kind.
    ValueError
        A number is out of range.

    Attributes
    ----------
    count : int
        How many chunks there are.
    checksum : int
        Tells one division into chunks from another one.
    """

    def __init__(self, items: Sequence[Any] | AnyArray, chunks: Any, dataset: Any,
                 owner: str) -> None:
        self.items = items
        self._owner = owner
        self._chunks = chunks
        self._dataset = dataset
        self._groups: _Groups | None = None
        if (chunks is None) == (dataset is None):
            raise TypeError(f'{owner}: expected either chunks or dataset; got '
                            f'{"neither" if chunks is None else "both"}. Give chunks=64 if 64 '
                            'examples lie in a chunk, or dataset=dataset to have it asked')
        if dataset is not None and not isinstance(dataset, ChunkedExamples):
            raise TypeError(f'{owner}: expected dataset to have a method example_chunks, as an '
                            f'H5PYDataset has; got {type(dataset).__name__}. Give chunks instead, '
                            'such as chunks=64')
        self.count = self.checksum = 0
        self.groups()

    def __len__(self) -> int:
        return len(self.items)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, '_groups': None}

    def groups(self) -> _Groups:
        """Return the examples by chunk."""
        if self._groups is None:
            groups = self._grouped(self._layout())
            count, checksum = len(groups.starts) - 1, _checksum(groups.starts)
            if self.count and (count, checksum) != (self.count, self.checksum):
                raise StateError(f'{self._owner}: the examples lay in {self.count} chunks when it '
                                 f'was pickled, and lie in {count} with other borders now. Go on '
                                 'with the file that there was then')
            self.count, self.checksum = count, checksum
            self._groups = groups
        return self._groups

    def examples_at(self, places: AnyArray) -> AnyArray:
        """Return those examples that have the given places among the examples by chunk."""
        groups = self.groups()
        if groups.examples is None:
            return places + groups.first if groups.first else places
        return groups.examples[places]

    def _layout(self) -> tuple[int, int] | AnyArray:
        """Return what says where the examples lie, after checking it."""
        owner, name, chunks = self._owner, 'chunks', self._chunks
        if self._dataset is not None:
            name = f'{type(self._dataset).__name__}.example_chunks()'
            chunks = self._dataset.example_chunks()
        elif not numpy.iterable(chunks):
            return positive_integer(chunks, name, owner), 0
        if isinstance(chunks, tuple) and len(chunks) == 2:
            length = positive_integer(chunks[0], f'the length in {name}', owner)
            offset = chunks[1]
            if isinstance(offset, bool) or not isinstance(offset, numbers.Integral):
                raise TypeError(f'{owner}: expected the offset in {name} to be an integer; got '
                                f'{offset!r}')
            if offset < 0:
                raise ValueError(f'{owner}: expected the offset in {name} to be an integer of at '
                                 f'least 0; got {offset}')
            return length, int(offset)
        expected = (f'{owner}: expected {name} to be a tuple (length, offset), or the number of '
                    'the chunk of each example')
        if isinstance(chunks, tuple):
            raise ValueError(f'{expected}; got a tuple of {len(chunks)}')
        if isinstance(chunks, numpy.ndarray):
            if chunks.dtype.kind in 'iu' and chunks.ndim == 1:
                return chunks
            raise TypeError(f'{expected}; got an array of {chunks.dtype} of shape {chunks.shape}')
        array = order_of(chunks) if isinstance(chunks, list) else None
        if array is None:
            raise TypeError(f'{expected}; got {type(chunks).__name__} {reprlib.repr(chunks)}')
        return array

    def _grouped(self, layout: tuple[int, int] | AnyArray) -> _Groups:
        items = self.items
        examples: AnyArray | None = None
        if isinstance(items, range) and items.step == 1:
            first, last = items.start, items.stop - 1
        else:
            examples = order_of(items)
            if examples is None:
                raise TypeError(f'{self._owner}: expected examples to be a number or a sequence '
                                f'of integers; got {type(items).__name__}, {items[0]!r} first')
            first, last = int(examples.min()), int(examples.max())
        if first < 0:
            raise ValueError(f'{self._owner}: expected examples of at least 0; got {first}')
        if isinstance(layout, tuple):
            if examples is None:
                return self._regular(first, last + 1, *layout)
            chunk_of = (examples.astype(numpy.int64) + layout[1]) // layout[0]
        elif last >= len(layout):
            raise ValueError(f'{self._owner}: expected the number of the chunk of every example, '
                             f'of which one is {last}; got the numbers of {len(layout)} examples')
        else:
            chunk_of = layout[first:last + 1] if examples is None else layout[examples]
        if not (chunk_of[1:] >= chunk_of[:-1]).all():
            order = numpy.argsort(chunk_of, kind='stable')
            chunk_of = chunk_of[order]
            examples = (order + first).astype(narrowest(last)) if examples is None else (
                examples[order])
        inner = numpy.flatnonzero(chunk_of[1:] != chunk_of[:-1]) + 1
        starts = numpy.concatenate([[0], inner, [len(items)]])
        return _Groups(starts.astype(narrowest(max(last, len(items)))), examples, first)

    def _regular(self, start: int, stop: int, length: int, offset: int) -> _Groups:
        """Return the groups of consecutive examples in chunks of one length."""
        first, last = (start + offset) // length, (stop - 1 + offset) // length
        starts = numpy.arange(first, last + 2, dtype=numpy.int64)
        starts *= length
        starts -= offset + start
        starts[0], starts[-1] = 0, stop - start
        return _Groups(starts.astype(narrowest(stop)), None, start)
