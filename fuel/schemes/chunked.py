"""Schemes that visit examples in random order, but those of a chunk of the file close together.

A chunk is the part of a file that is read and decompressed as a whole. See
docs/explanation/shuffling.rst for how random the order is.
"""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy
from numpy.random import RandomState

from fuel import rng as random_state
from fuel._derived import derived
from fuel._types import JSON, AnyArray
from fuel.config_parser import config
from fuel.schemes.base import BatchScheme, IndexScheme, positive_integer
from fuel.schemes.chunk_table import ChunkedExamples, ChunkTable
from fuel.schemes.requests import IndexRequests, narrowest

__all__ = ['ChunkShuffledExampleScheme', 'ChunkShuffledRequests', 'ChunkShuffledScheme']

# So many chunks that hardly two examples of one chunk meet in a batch of usual size, and so few
# that they fit into memory.
_WINDOW = 64
# Making the order of a few examples takes as long as of this many.
_STRETCH = 4096
_KEY = random_state.key_of('fuel.schemes.chunked')


def _permutation(seed: int, step: int, count: int, groups: AnyArray | None = None) -> AnyArray:
    """Return the numbers from 0 up to another one in random order.

    Parameters
    ----------
    seed, step : int
        The same ones give the same order, with any version of numpy.
    count : int
        How many numbers; at least 1.
    groups : ndarray of uint64, shape (count,), optional
        Not decreasing, from 0. Numbers stay among those of their group.

    Returns
    -------
    ndarray of int32 or int64, shape (count,)
    """
    bits = random_state.generator(seed, 0, step, _KEY).bit_generator
    words: AnyArray = bits.random_raw(count)
    # Group, random bits and number are sorted as one integer: that is fast, and without ties.
    high = 0 if groups is None else int(groups[-1]).bit_length()
    if high:
        words >>= numpy.uint64(high)
        words |= groups << numpy.uint64(64 - high)  # type: ignore[operator]
    low = numpy.uint64(2**(count - 1).bit_length() - 1)
    words &= ~low
    words |= numpy.arange(count, dtype=numpy.uint64)
    words.sort()
    words &= low
    return words.astype(narrowest(count))


class _Walk:
    """The order of an epoch, of which only what lies about the present place is made.

    An epoch is divided into stretches of one window, or several small ones. The order within each
    follows from the seed and the number of the stretch.

    Parameters
    ----------
    table : ChunkTable
        The examples by chunk.
    window : int
        The number of chunks whose examples are mixed.
    seed : int
        Stands for the epoch.
    """

    def __init__(self, table: ChunkTable, window: int, seed: int) -> None:
        self._table = table
        self._window = window
        self._seed = seed
        self._length = len(table)
        self._chunks = _permutation(seed, 0, table.count)
        # How many chunks there are in a stretch. For whole windows, so that they stay the same.
        rows = -(-self._length * min(window, table.count) // table.count)
        self._step = min(window * -(-_STRETCH // rows), table.count)
        starts = table.groups().starts
        lengths = (starts[1:] - starts[:-1])[self._chunks]
        ends = numpy.add.reduceat(lengths, numpy.arange(0, table.count, self._step),
                                  dtype=numpy.int64).cumsum()
        self._borders = numpy.concatenate([[0], ends])
        # The stretch about the present place, and all that are kept.
        self._first = self._end = 0
        self._rows = self._chunks
        self._kept: dict[int, AnyArray] = {}

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, where: int | slice) -> Any:
        if not isinstance(where, slice):
            if not self._first <= where < self._end:
                self._enter(where)
            return self._rows[where - self._first]
        start, stop = where.start, min(where.stop, self._length)
        if self._first <= start and stop <= self._end:
            return self._rows[start - self._first:stop - self._first]
        parts: list[AnyArray] = []
        while start < stop:
            self._enter(start)
            parts.append(self._rows[start - self._first:stop - self._first])
            start = self._end
        return numpy.concatenate(parts) if parts else self._rows[:0]

    def _enter(self, place: int) -> None:
        """Have the stretch there in which a place lies."""
        number = int(self._borders.searchsorted(place, side='right')) - 1
        if number not in self._kept:
            # Whoever looks ahead over a border comes back once, so the one before is kept.
            self._kept = {near: rows for near, rows in self._kept.items() if near == number - 1}
            self._kept[number] = self._made(number)
        self._rows = self._kept[number]
        self._first, self._end = int(self._borders[number]), int(self._borders[number + 1])

    def _made(self, number: int) -> AnyArray:
        """Return the examples of a stretch in the order of the visit."""
        chunks = self._chunks[number * self._step:(number + 1) * self._step]
        starts = self._table.groups().starts
        begins, lengths = starts[chunks], starts[chunks + 1] - starts[chunks]
        ends = lengths.cumsum(dtype=starts.dtype)
        places = numpy.arange(ends[-1], dtype=starts.dtype)
        places += (begins - ends + lengths).repeat(lengths)
        groups = None
        if len(chunks) > self._window:
            groups = (numpy.arange(len(chunks), dtype=numpy.uint64)
                      // numpy.uint64(self._window)).repeat(lengths)
        order = _permutation(self._seed, number + 1, len(places), groups)
        return self._table.examples_at(places[order])


class ChunkShuffledRequests(IndexRequests):
    """Walks through examples chunk by chunk, in random order.

    What is kept and pickled is one random number from which the order follows. Any place is
    reached without going through those before it.

    Parameters
    ----------
    table : ChunkTable
        The examples by chunk.
    batch_size : int or None
        The number of examples in a request; `None` for single ones.
    window : int
        The number of chunks whose examples are mixed.
    rng : RandomState, Generator or random.Random
        Gives one number, at once.
    sorted_indices : bool
        Whether the examples of each batch are put in increasing order.
    """

    def __init__(self, table: ChunkTable, batch_size: int | None, window: int, rng: Any,
                 sorted_indices: bool = False) -> None:
        super().__init__(table.items, batch_size)
        self.table = table
        self.window = window
        self.sorted_indices = sorted_indices and batch_size is not None
        self._rng_state = random_state.capture(rng)
        self._seed = _drawn(rng)
        self._encoded: JSON = None  # kept, since states may be taken at every step
        self._walk: _Walk | None = None

    def _order(self) -> Any:
        if self._walk is None:
            self._walk = _Walk(self.table, self.window, self._seed)
        return self._walk

    def _next_part(self) -> Any:
        part = super()._next_part()
        return numpy.sort(part) if self.sorted_indices else part

    def start_state(self) -> JSON:
        """Return the numbers of the walk and the state of the generator before it drew."""
        if self._rng_state is None:
            return None  # the order cannot be told
        if self._encoded is None:
            self._encoded = random_state.encode(self._rng_state)
        state = {**super().start_state(), 'window': self.window, 'chunks': self.table.count,
                 'chunks_crc32': self.table.checksum, 'rng': self._encoded}
        if self.sorted_indices:
            state['sorted_indices'] = True
        return state

    def finish(self) -> None:
        """Let go of the order."""
        self._walk = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, '_encoded': None, '_walk': None}


def _drawn(rng: Any) -> int:
    """Return a random number from 0 up to 2**128."""
    draw = rng.bytes if hasattr(rng, 'bytes') else rng.randbytes
    return int.from_bytes(draw(16), 'little')


def _generator(rng: Any, owner: object) -> Any:
    if rng is None:
        return RandomState(config.default_seed)
    if not any(callable(getattr(rng, name, None)) for name in ('bytes', 'randbytes')):
        raise TypeError(f'{type(owner).__name__}: expected rng to be a RandomState or Generator '
                        'of numpy, or a random.Random, such as numpy.random.RandomState(7); got '
                        f'{rng!r}')
    return rng


class ChunkShuffledScheme(BatchScheme):
    """Requests batches of examples in random order, for files that are read by chunks.

    The chunks are visited in random order. A window of some chunks is taken at a time, and the
    examples that lie in these are visited in random order. So each chunk has to be read once in an
    epoch, as long as those of a window can be kept. Each epoch has another order. Two schemes made
    alike give the same orders.

    Parameters
    ----------
    examples : int or iterable of int
        The examples to visit. A number stands for the indices from 0 up to it.
    batch_size : int
        The number of examples in a request. Batches go on over the border of two windows; only the
        last one of an epoch may be shorter.
    chunks : int, tuple or array of int, optional
        Which examples lie in a chunk. A number says how many, the first chunk starting with
        example 0; a tuple ``(length, offset)`` that example i lies in chunk
        ``(i + offset) // length``. An array or list holds the number of the chunk of each example
        of the data set: example i lies in chunk ``chunks[i]``.
    dataset : object with a method example_chunks, optional
        Asked where its examples lie, in place of `chunks`: ``dataset.example_chunks()`` returns a
        tuple or an array as above.
    window : int, optional
        The number of chunks whose examples are mixed; 64 by default. It does not depend on the
        memory that there is, so that the order is the same everywhere.
    rng : RandomState, Generator or random.Random, optional
        Draws one number for each epoch, from which its order follows.
        ``RandomState(config.default_seed)`` by default.
    sorted_indices : bool, optional
        Put the examples of each batch in increasing order. Off by default.

    Raises
    ------
    TypeError
        Both or neither of `chunks` and `dataset` are given, or something is of the wrong kind.
    ValueError
        A number is not positive, there are no examples, or the chunk of one is not told.

    Examples
    --------
    >>> scheme = ChunkShuffledScheme(examples=12, batch_size=5, chunks=3, window=2)
    >>> list(scheme.get_request_iterator())
    [[4, 11, 10, 9, 5], [3, 6, 1, 0, 7], [8, 2]]
    """

    def __init__(self, examples: int | Iterable[Any], batch_size: int, *, chunks: Any = None,
                 dataset: ChunkedExamples | None = None, window: int = _WINDOW, rng: Any = None,
                 sorted_indices: bool = False) -> None:
        super().__init__(examples, batch_size)
        self.window = positive_integer(window, 'window', self)
        self.rng = _generator(rng, self)
        self.sorted_indices = sorted_indices
        self._table = ChunkTable(self.indices, chunks, dataset, type(self).__name__)

    @derived
    def num_examples(self) -> int:  # type: ignore[override]
        """How many examples an epoch visits."""
        return len(self.indices)

    @derived
    def num_requests(self) -> int:  # type: ignore[override]
        """How many batches an epoch has."""
        return -(-len(self.indices) // self.batch_size)

    def get_request_iterator(self) -> ChunkShuffledRequests:
        """Draw a number, and return an iterator over lists of indices."""
        return ChunkShuffledRequests(self._table, self.batch_size, self.window, self.rng,
                                     self.sorted_indices)

    def _sizes(self) -> dict[str, JSON]:
        return {**super()._sizes(), 'window': self.window}


class ChunkShuffledExampleScheme(IndexScheme):
    """Requests single examples in random order, for files that are read by chunks.

    The order is that of `ChunkShuffledScheme`.

    Parameters
    ----------
    examples : int or iterable of int
        The examples to visit. A number stands for the indices from 0 up to it.
    chunks : int, tuple or array of int, optional
        Which examples lie in a chunk; see `ChunkShuffledScheme`.
    dataset : object with a method example_chunks, optional
        Asked where its examples lie, in place of `chunks`.
    window : int, optional
        The number of chunks whose examples are mixed; 64 by default.
    rng : RandomState, Generator or random.Random, optional
        Draws one number for each epoch, from which its order follows.
        ``RandomState(config.default_seed)`` by default.

    Examples
    --------
    >>> scheme = ChunkShuffledExampleScheme(examples=12, chunks=3, window=2)
    >>> list(scheme.get_request_iterator())
    [4, 11, 10, 9, 5, 3, 6, 1, 0, 7, 8, 2]
    """

    def __init__(self, examples: int | Iterable[Any], *, chunks: Any = None,
                 dataset: ChunkedExamples | None = None, window: int = _WINDOW,
                 rng: Any = None) -> None:
        super().__init__(examples)
        self.window = positive_integer(window, 'window', self)
        self.rng = _generator(rng, self)
        self._table = ChunkTable(self.indices, chunks, dataset, type(self).__name__)

    @derived
    def num_examples(self) -> int:  # type: ignore[override]
        """How many examples an epoch visits."""
        return len(self.indices)

    @derived
    def num_requests(self) -> int:  # type: ignore[override]
        """How many requests an epoch has: one for each example."""
        return len(self.indices)

    def get_request_iterator(self) -> ChunkShuffledRequests:
        """Draw a number, and return an iterator over indices."""
        return ChunkShuffledRequests(self._table, None, self.window, self.rng)

    def _sizes(self) -> dict[str, JSON]:
        return {**super()._sizes(), 'window': self.window}
