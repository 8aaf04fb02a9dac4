"""The transformer that leaves out steps."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fuel._types import Batch, Request
from fuel.transformers.regrouping import Groups, RegroupingTransformer

__all__ = ['Filter']


class Filter(RegroupingTransformer):
    """Keeps the examples, or the batches, for which a function says so.

    Parameters
    ----------
    data_stream : AbstractDataStream
        The stream to wrap.
    predicate : callable
        Takes the data of a step, a tuple with one item for every source, and tells whether to
        keep them.
    **kwargs
        Handed to `Transformer`.

    Notes
    -----
    How many steps an epoch has is not known beforehand, so the stream has no length. Where the
    function raises an error, the next step goes on behind the data that it was given.

    Examples
    --------
    >>> from fuel.datasets import IndexableDataset
    >>> from fuel.streams import DataStream
    >>> dataset = IndexableDataset([3, 1, 4, 1, 5])
    >>> stream = DataStream(dataset, iteration_scheme=dataset.example_iteration_scheme)
    >>> list(Filter(stream, lambda data: data[0] > 2).get_epoch_iterator())
    [(3,), (4,), (5,)]
    """

    def __init__(self, data_stream: Any, predicate: Callable[[Batch], Any],
                 **kwargs: Any) -> None:
        super().__init__(data_stream, **kwargs)
        if not callable(predicate):
            raise TypeError(f'Filter: expected a function; got {predicate!r}')
        self.predicate = predicate

    def output_axis_labels(self, labels: Any) -> Any:
        """Leave the labels as they are."""
        return dict(labels)

    def regroup(self, groups: Groups, request: Request) -> Batch:
        """Return the next data that are kept."""
        while True:
            data = groups.draw()
            try:
                keeps = self.predicate(data)
            except StopIteration as error:
                groups.settle()
                # It would be taken for the end of the epoch.
                raise RuntimeError('Filter: the function raised StopIteration') from error
            except Exception:
                groups.settle()
                raise
            if keeps:
                return data
            groups.settle()
