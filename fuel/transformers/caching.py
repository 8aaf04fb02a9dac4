"""The transformer that makes batches of one size out of batches of another."""
from __future__ import annotations

from typing import Any

import numpy

from fuel._types import Batch, Request
from fuel.collate import joined
from fuel.schemes.base import BatchSizeScheme
from fuel.transformers.batching import checked_length, lengths_of
from fuel.transformers.kinds import with_fixed_kind
from fuel.transformers.regrouping import Groups, RegroupingTransformer

__all__ = ['Cache']


class Cache(RegroupingTransformer):
    """Gives batches of another size than those of the wrapped stream.

    Large batches are read at once where that is cheaper, and handed out in small ones, for
    example; or several small ones are put together.

    Parameters
    ----------
    data_stream : AbstractDataStream
        A stream of batches.
    iteration_scheme : BatchSizeScheme
        Gives the sizes of the batches, as `ConstantScheme` does.
    **kwargs
        Handed to `Transformer`.

    Raises
    ------
    ValueError
        The wrapped stream produces single examples, or the scheme asks for examples by their
        place and not for batches by their size.

    Notes
    -----
    All examples of an epoch are given, in the order of the wrapped stream. Each batch has the size
    asked for, whatever the wrapped stream gives; only the last may be short.

    Examples
    --------
    >>> import numpy
    >>> from fuel.datasets import IndexableDataset
    >>> from fuel.schemes import ConstantScheme, SequentialScheme
    >>> from fuel.streams import DataStream
    >>> stream = DataStream(IndexableDataset(numpy.arange(8)),
    ...                     iteration_scheme=SequentialScheme(8, 4))
    >>> [data.tolist() for data, in Cache(stream, ConstantScheme(3)).get_epoch_iterator()]
    [[0, 1, 2], [3, 4, 5], [6, 7]]
    """

    def __init__(self, data_stream: Any, iteration_scheme: Any, **kwargs: Any) -> None:
        if not isinstance(iteration_scheme, BatchSizeScheme):
            raise ValueError('Cache: expected a scheme that asks for batches by their size, such '
                             f'as ConstantScheme; got {type(iteration_scheme).__name__}')
        if data_stream.produces_examples:
            raise ValueError(f'Cache: expected a stream of batches; the wrapped '
                             f'{type(data_stream).__name__} produces single examples. Use Batch '
                             'to make batches of them.')
        super().__init__(data_stream, iteration_scheme=iteration_scheme,
                         **with_fixed_kind(self, kwargs, examples=False))

    def output_axis_labels(self, labels: Any) -> Any:
        """Leave the labels as they are."""
        return dict(labels)

    @property
    def num_examples(self) -> int | None:
        """How many examples an epoch has, where that is known."""
        return lengths_of(self.data_stream.num_examples, self.iteration_scheme)[0]

    @property
    def num_batches(self) -> int | None:
        """How many batches an epoch has, where that is known."""
        return lengths_of(self.data_stream.num_examples, self.iteration_scheme)[1]

    def regroup(self, groups: Groups, request: Request) -> Batch:
        """Return the next batch."""
        missing = int(request)
        parts: list[Batch] = []
        while missing > 0:
            try:
                batch = groups.load()
            except StopIteration:
                break
            length = checked_length(self, batch) - groups.used
            if length <= missing:
                # The whole rest of a batch; often all of it, which need not be taken apart.
                if length:
                    parts.append(_part(batch, groups.used, None) if groups.used else batch)
                groups.drop()
                missing -= length
            else:
                end = groups.used + missing
                parts.append(_part(batch, groups.used, end))
                groups.used = end
                missing = 0
        if not parts:
            raise StopIteration
        return tuple([joined(sources) for sources in zip(*parts, strict=True)])


def _part(batch: Batch, start: int, stop: int | None) -> Batch:
    """Return some examples of a batch; a part that is a view would keep all of it in memory."""
    parts = [source[start:stop] for source in batch]
    return tuple([part.copy() if isinstance(part, numpy.ndarray) else part for part in parts])
