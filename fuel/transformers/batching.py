"""Transformers that make batches of examples, and examples of batches."""
from __future__ import annotations

from typing import Any

import numpy

from fuel import axes
from fuel._types import Batch as BatchOfSources
from fuel._types import Request
from fuel.collate import Rows, batch_of
from fuel.schemes.base import BatchScheme, IterationScheme
from fuel.schemes.combined import ConstantScheme
from fuel.transformers.kinds import with_fixed_kind
from fuel.transformers.regrouping import Groups, RegroupingTransformer

__all__ = ['Batch', 'Unpack', 'checked_length', 'lengths_of']


class Batch(RegroupingTransformer):
    """Makes batches of single examples.

    Parameters
    ----------
    data_stream : AbstractDataStream
        A stream of examples.
    iteration_scheme : BatchSizeScheme
        Gives the sizes of the batches, as `ConstantScheme` does.
    strictness : {0, 1, 2}, optional
        What to do with a last batch that is too short: 0, the default, gives it as it is; 1 drops
        it; 2 raises a `ValueError`.
    **kwargs
        Handed to `Transformer`.

    Raises
    ------
    ValueError
        The wrapped stream produces batches already, the scheme asks for single examples, or
        `strictness` is another number.

    Notes
    -----
    Examples that are arrays of one shape become an array with an axis more; examples of different
    shapes a one-dimensional array of objects.
    """

    def __init__(self, data_stream: Any, iteration_scheme: IterationScheme, strictness: int = 0,
                 **kwargs: Any) -> None:
        for name, value, what in (('get_epoch_iterator', data_stream, 'a data stream to wrap'),
                                  ('get_request_iterator', iteration_scheme,
                                   'an iteration scheme, such as ConstantScheme')):
            if not hasattr(value, name):
                raise TypeError(f'Batch: expected {what}; got {value!r}')
        if not data_stream.produces_examples:
            raise ValueError(f'Batch: expected a stream of single examples; the wrapped '
                             f'{type(data_stream).__name__} produces batches. Unpack them first.')
        if iteration_scheme.requests_examples or isinstance(iteration_scheme, BatchScheme):
            raise ValueError('Batch: expected a scheme that asks for batches by their size, such '
                             f'as ConstantScheme; got {type(iteration_scheme).__name__}')
        if strictness not in (0, 1, 2):
            raise ValueError(f'Batch: expected a strictness of 0, 1 or 2; got {strictness!r}')
        super().__init__(data_stream, iteration_scheme=iteration_scheme,
                         **with_fixed_kind(self, kwargs, examples=False))
        self.strictness = strictness

    def output_axis_labels(self, labels: Any) -> Any:
        """Put the batch axis in front."""
        return axes.batched(labels)

    @property
    def num_examples(self) -> int | None:
        """How many examples an epoch has, where that is known."""
        return self._lengths()[0]

    @property
    def num_batches(self) -> int | None:
        """How many batches an epoch has, where that is known."""
        return self._lengths()[1]

    def _lengths(self) -> tuple[int | None, int | None]:
        return lengths_of(self.data_stream.num_examples, self.iteration_scheme, self.strictness)

    def regroup(self, groups: Groups, request: Request) -> BatchOfSources:
        """Return the next batch."""
        size = int(request)
        entries, number = groups.draw_rows(size)
        if number < size:
            if not number or self.strictness == 1:
                raise StopIteration
            if self.strictness == 2:
                raise ValueError(f'Batch: expected {size} examples for the last batch of the '
                                 f'epoch; got {number}. strictness=0 gives a short batch, '
                                 'strictness=1 drops it.')
        return batch_of(entries)


def lengths_of(available: int | None, scheme: IterationScheme | None,
               strictness: int = 0) -> tuple[int | None, int | None]:
    """Return how many examples and batches an epoch has, where that is known.

    Parameters
    ----------
    available : int or None
        How many examples there are to make batches of.
    scheme : BatchSizeScheme
        Gives the sizes of the batches.
    strictness : {0, 1, 2}, optional
        What is done with a last batch that is too short; see `Batch`.
    """
    if available is None or type(scheme) is not ConstantScheme:
        return None, None
    size = scheme.batch_size
    wanted = scheme.num_examples if scheme.times is None else scheme.times * size
    if wanted is not None and wanted <= available:
        return wanted, -(-wanted // size)
    # The examples come to an end before the requests.
    whole, left = divmod(available, size)
    if not left or strictness == 1:
        return whole * size, whole
    return (available, whole + 1) if strictness == 0 else (None, None)


def checked_length(owner: RegroupingTransformer, batch: BatchOfSources) -> int:
    """Return how many examples a batch has, after checking that all sources have as many."""
    lengths = [len(source) for source in batch]
    if len(set(lengths)) != 1:
        raise ValueError(
            f'{type(owner).__name__}: expected as many examples in every source; got ' + ', '.join(
                f'{length} in {name!r}'
                for name, length in zip(owner.data_stream.sources, lengths, strict=True)))
    return lengths[0]


class Unpack(RegroupingTransformer):
    """Gives the examples of batches one by one.

    Parameters
    ----------
    data_stream : AbstractDataStream
        A stream of batches.
    **kwargs
        Handed to `Transformer`.

    Raises
    ------
    ValueError
        The wrapped stream produces examples already, or the sources of a batch differ in length.
    """

    def __init__(self, data_stream: Any, **kwargs: Any) -> None:
        if data_stream.produces_examples:
            raise ValueError('Unpack: expected a stream of batches; the wrapped '
                             f'{type(data_stream).__name__} produces single examples already')
        super().__init__(data_stream, produces_examples=True,
                         **with_fixed_kind(self, kwargs, examples=True))

    def output_axis_labels(self, labels: Any) -> Any:
        """Drop the first axis."""
        return axes.changed(labels, lambda _, old: old[1:], labels)

    @property
    def num_examples(self) -> int | None:
        """How many examples an epoch has, where that is known."""
        return self.data_stream.num_examples  # type: ignore[no-any-return]

    @property
    def num_batches(self) -> int | None:
        """`None`: there are no batches."""
        return None

    def regroup(self, groups: Groups, request: Request) -> BatchOfSources:
        """Return the next example."""
        batch = groups.group
        if batch is None:
            batch = self._load(groups)
        used = groups.used
        # A row that is a view would keep the whole batch in memory.
        example = tuple([source[used].copy() if type(source) is numpy.ndarray and source.ndim > 1
                         else source[used] for source in batch])
        groups.used = used = used + 1
        if used == len(batch[0]):
            groups.drop()
        return example

    def _load(self, groups: Groups) -> BatchOfSources:
        """Return the next batch that is not empty, after looking at the lengths of its sources."""
        while True:
            batch: BatchOfSources = groups.load()
            # The batch may be one of which some were used before it was drawn again.
            if groups.used < checked_length(self, batch):
                return batch
            groups.drop()

    def rows_ready(self, groups: Groups, count: int) -> Rows | None:
        """Return the next examples of the present batch."""
        batch, used = groups.group, groups.used
        if batch is None:
            return None
        rows = Rows.of([source[used:used + count] for source in batch])
        if rows is not None:
            groups.used = used + rows.length
            if groups.used == len(batch[0]):
                groups.drop()
        return rows
