"""Transformers that put examples in another order, and the order inside batches."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

from fuel import axes
from fuel._types import Batch, Request
from fuel.collate import batch_of
from fuel.schemes.base import positive_integer
from fuel.transformers.kinds import with_fixed_kind
from fuel.transformers.regrouping import Groups, RegroupingTransformer

__all__ = ['LengthBuckets', 'ShuffleBuffer', 'SortMapping']


class SortMapping:
    """A function of batches that sorts their examples; for `Mapping`.

    Parameters
    ----------
    key : callable
        Takes an example, a tuple with one item for every source, and returns what to sort by.
    reverse : bool, optional
        Put the largest first. Off by default.

    Notes
    -----
    Examples of the same key keep their order. Arrays stay arrays, ragged ones too, and lists stay
    lists. Where `Mapping` hands over dicts, the key is given a dict for each example.

    Examples
    --------
    >>> sort = SortMapping(lambda example: len(example[0]))
    >>> sort(([[1, 2, 3], [4], [5, 6]], ['a', 'b', 'c']))
    ([[4], [5, 6], [1, 2, 3]], ['b', 'c', 'a'])
    """

    def __init__(self, key: Callable[[Any], Any], reverse: bool = False) -> None:
        if not callable(key):
            raise TypeError(f'SortMapping: expected a function; got {key!r}')
        self.key = key
        self.reverse = reverse

    def __call__(self, batch: Any) -> Any:
        """Return a batch with its examples sorted.

        Parameters
        ----------
        batch : tuple or dict
            One item for every source, all with the same number of examples.

        Returns
        -------
        tuple or dict
            As it was given.
        """
        names = list(batch) if isinstance(batch, dict) else None
        sources = list(batch) if names is None else list(batch.values())
        examples = zip(*sources, strict=True)
        if names is None:
            keys = [self.key(example) for example in examples]
        else:
            keys = [self.key(dict(zip(names, example, strict=True))) for example in examples]
        order = sorted(range(len(keys)), key=keys.__getitem__, reverse=self.reverse)
        places = numpy.array(order, dtype=numpy.intp)
        done = [source[places] if isinstance(source, numpy.ndarray)
                else [source[place] for place in order] for source in sources]
        return tuple(done) if names is None else dict(zip(names, done, strict=True))


class ShuffleBuffer(RegroupingTransformer):
    """Shuffles what comes one after the other: for data that cannot be read in random order.

    As many steps as the buffer holds are drawn, put in random order and given; then the next
    ones. The last buffer of an epoch may be smaller.

    Parameters
    ----------
    data_stream : AbstractDataStream
        A stream of examples; or of batches, whose order then is shuffled, and not that of the
        examples in them.
    buffer_size : int
        How many steps are in random order together.
    seed : int, optional
        What the random numbers start from; ``config.default_seed`` by default.
    **kwargs
        Handed to `Transformer`.

    Notes
    -----
    An example moves by less than the size of the buffer, and never out of its part of the epoch.
    So use as large a buffer as memory allows, and store what is alike in places far apart. Every
    epoch is in another order. A saved state holds no examples: when it is gone on from, those of
    the present buffer are drawn again.

    Examples
    --------
    >>> from fuel.datasets import IterableDataset
    >>> from fuel.streams import DataStream
    >>> stream = ShuffleBuffer(DataStream(IterableDataset(range(8))), 4)
    >>> [number for number, in stream.get_epoch_iterator()]
    [0, 3, 1, 2, 5, 6, 4, 7]
    """

    def __init__(self, data_stream: Any, buffer_size: int, seed: int | None = None,
                 **kwargs: Any) -> None:
        super().__init__(data_stream, **kwargs)
        self.buffer_size = positive_integer(buffer_size, 'buffer_size', self)
        if seed is not None:
            self.seed = seed

    def output_axis_labels(self, labels: Any) -> Any:
        """Leave the labels as they are."""
        return dict(labels)

    @property
    def num_examples(self) -> int | None:
        """How many examples an epoch has, where that is known."""
        return self.data_stream.num_examples  # type: ignore[no-any-return]

    @property
    def num_batches(self) -> int | None:
        """How many batches an epoch has, where that is known."""
        return self.data_stream.num_batches  # type: ignore[no-any-return]

    def draw_group(self, groups: Groups) -> list[Batch]:
        """Draw a buffer full, and shuffle it."""
        drawn = groups.draw_up_to(self.buffer_size)
        if not drawn:
            raise StopIteration
        order = self.group_generator(groups).permutation(len(drawn))
        return [drawn[place] for place in order.tolist()]

    def regroup(self, groups: Groups, request: Request) -> Batch:
        """Return the next data of the buffer."""
        buffer: list[Batch] = groups.load()
        data = buffer[groups.used]
        groups.used += 1
        if groups.used == len(buffer):
            groups.drop()
        return data


class LengthBuckets(RegroupingTransformer):
    """Makes batches of examples of about the same length.

    A pool of examples is drawn and sorted by length, batches are made of neighbours, and given;
    then the next pool. Little is left to be padded in such batches.

    Parameters
    ----------
    data_stream : AbstractDataStream
        A stream of single examples.
    batch_size : int, optional
        How many examples a batch has; the last one of a pool may have fewer.
    max_tokens : int, optional
        In place of `batch_size`: as many examples are put into a batch as are, padded to the
        longest of them, of at most this length together.
    pool_size : int, optional
        How many examples are sorted together; 20 batches, or 1000 examples, by default.
    length : callable, optional
        Takes an example, a tuple with one item for every source, and returns its length. By
        default that of the first source.
    shuffle_batches : bool, optional
        Give the batches of a pool in random order, and not with the shortest first. Off by
        default.
    seed : int, optional
        What the random numbers start from; ``config.default_seed`` by default.
    **kwargs
        Handed to `Transformer`.

    Raises
    ------
    ValueError
        The wrapped stream produces batches, or not exactly one of `batch_size` and `max_tokens`
        is given. While iterating: one example alone is longer than `max_tokens`.

    Notes
    -----
    Every example is given once in an epoch, and examples of the same length keep their order.

    Examples
    --------
    >>> from fuel.datasets import IterableDataset
    >>> from fuel.streams import DataStream
    >>> words = DataStream(IterableDataset(['of', 'a', 'text', 'in', 'words']))
    >>> for batch, in LengthBuckets(words, max_tokens=6).get_epoch_iterator():
    ...     print(batch.tolist())
    ['a', 'of', 'in']
    ['text']
    ['words']
    """

    def __init__(self, data_stream: Any, batch_size: int | None = None,
                 max_tokens: int | None = None, pool_size: int | None = None,
                 length: Callable[[Batch], int] | None = None, shuffle_batches: bool = False,
                 seed: int | None = None, **kwargs: Any) -> None:
        if not data_stream.produces_examples:
            raise ValueError(f'LengthBuckets: expected a stream of single examples; the wrapped '
                             f'{type(data_stream).__name__} produces batches. Unpack them first.')
        if (batch_size is None) == (max_tokens is None):
            raise ValueError('LengthBuckets: expected batch_size or max_tokens; got '
                             f'batch_size={batch_size!r} and max_tokens={max_tokens!r}')
        super().__init__(data_stream, produces_examples=False,
                         **with_fixed_kind(self, kwargs, examples=False))
        self.batch_size = self.max_tokens = None
        if batch_size is not None:
            self.batch_size = positive_integer(batch_size, 'batch_size', self)
        if max_tokens is not None:
            self.max_tokens = positive_integer(max_tokens, 'max_tokens', self)
        if pool_size is None:
            pool_size = 1000 if self.batch_size is None else 20 * self.batch_size
        self.pool_size = positive_integer(pool_size, 'pool_size', self)
        self.length = length
        self.shuffle_batches = shuffle_batches
        if seed is not None:
            self.seed = seed

    def output_axis_labels(self, labels: Any) -> Any:
        """Put the batch axis in front."""
        return axes.batched(labels)

    @property
    def num_examples(self) -> int | None:
        """How many examples an epoch has, where that is known."""
        return self.data_stream.num_examples  # type: ignore[no-any-return]

    @property
    def num_batches(self) -> int | None:
        """How many batches an epoch has; known where they are of one size."""
        total: int | None = self.data_stream.num_examples
        if total is None or self.batch_size is None:
            return None
        pools, left = divmod(total, self.pool_size)
        return pools * -(-self.pool_size // self.batch_size) + -(-left // self.batch_size)

    def draw_group(self, groups: Groups) -> list[list[Batch]]:
        """Draw a pool, and make batches of it."""
        pool = groups.draw_up_to(self.pool_size)
        if not pool:
            raise StopIteration
        try:
            lengths = [len(example[0]) for example in pool] if self.length is None else [
                int(self.length(example)) for example in pool]
        except StopIteration as error:
            # It would be taken for the end of the epoch.
            raise RuntimeError('LengthBuckets: the function raised StopIteration') from error
        order = sorted(range(len(pool)), key=lengths.__getitem__)
        batches = [[pool[place] for place in places] for places in self._parts(order, lengths)]
        if self.shuffle_batches:
            places = self.group_generator(groups).permutation(len(batches)).tolist()
            batches = [batches[place] for place in places]
        return batches

    def _parts(self, order: list[int], lengths: list[int]) -> list[list[int]]:
        """Divide places in the order of lengths into batches."""
        if self.batch_size is not None:
            return [order[start:start + self.batch_size]
                    for start in range(0, len(order), self.batch_size)]
        parts: list[list[int]] = []
        for place in order:
            length = lengths[place]
            if length > (budget := self.max_tokens or 0):
                raise ValueError(
                    f'LengthBuckets: expected examples of at most {budget} tokens, the value of '
                    f'max_tokens; got one of {length}. Leave long ones out with Filter.')
            # The new one is the longest so far, to which the others would be padded.
            if parts and (len(parts[-1]) + 1) * length <= budget:
                parts[-1].append(place)
            else:
                parts.append([place])
        return parts

    def regroup(self, groups: Groups, request: Request) -> Batch:
        """Return the next batch of the pool."""
        batches = groups.load()
        batch = batch_of(batches[groups.used])
        groups.used += 1
        if groups.used == len(batches):
            groups.drop()
        return batch
