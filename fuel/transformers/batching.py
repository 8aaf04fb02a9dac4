"""Transformers that make batches of examples, and examples of batches."""
from __future__ import annotations

from typing import Any

from fuel import axes
from fuel._types import Batch as BatchOfSources
from fuel._types import Request
from fuel.collate import stacked
from fuel.schemes.base import IterationScheme
from fuel.transformers.regrouping import Groups, RegroupingTransformer

__all__ = ['Batch', 'Unpack']


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
        if not data_stream.produces_examples:
            raise ValueError(f'Batch: expected a stream of single examples; the wrapped '
                             f'{type(data_stream).__name__} produces batches. Unpack them first.')
        if iteration_scheme.requests_examples:
            raise ValueError('Batch: expected a scheme that asks for batches by their size, such '
                             f'as ConstantScheme; got {type(iteration_scheme).__name__}')
        if strictness not in (0, 1, 2):
            raise ValueError(f'Batch: expected a strictness of 0, 1 or 2; got {strictness!r}')
        super().__init__(data_stream, iteration_scheme=iteration_scheme, **kwargs)
        self.strictness = strictness

    def output_axis_labels(self, labels: Any) -> Any:
        """Put the batch axis in front."""
        return axes.batched(labels)

    @property
    def num_examples(self) -> int | None:
        """How many examples an epoch has, where that is known."""
        sizes = self._sizes()
        return None if sizes is None else sum(sizes)

    @property
    def num_batches(self) -> int | None:
        """How many batches an epoch has, where that is known."""
        sizes = self._sizes()
        return None if sizes is None else len(sizes)

    def _sizes(self) -> list[int] | None:
        """Return the sizes of the batches of an epoch, where they are known."""
        return None

    def regroup(self, groups: Groups, request: Request) -> BatchOfSources:
        """Return the next batch."""
        size = int(request)
        examples: list[BatchOfSources] = []
        try:
            for _ in range(size):
                examples.append(groups.draw())
        except StopIteration:
            if not examples or self.strictness == 1:
                raise
            if self.strictness == 2:
                raise ValueError(f'Batch: expected {size} examples for the last batch of the '
                                 f'epoch; got {len(examples)}. strictness=0 gives a short batch, '
                                 'strictness=1 drops it.') from None
        return tuple([stacked(items) for items in zip(*examples, strict=True)])


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
        super().__init__(data_stream, produces_examples=True, **kwargs)

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
        batch = groups.load()
        length = len(batch[0])
        while groups.used >= length:  # a batch may be empty
            groups.drop()
            batch = groups.load()
            length = len(batch[0])
        if not groups.used and any(len(source) != length for source in batch):
            raise ValueError('Unpack: expected as many examples in every source; got ' + ', '.join(
                f'{len(source)} in {name!r}'
                for name, source in zip(self.sources, batch, strict=True)))
        example = tuple([source[groups.used] for source in batch])
        groups.used += 1
        if groups.used == length:
            groups.drop()
        return example
