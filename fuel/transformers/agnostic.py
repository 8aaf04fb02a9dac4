"""The base of transformers that do the same to examples and to batches."""
from __future__ import annotations

from collections.abc import Callable

from fuel._types import Batch
from fuel.transformers.base import Transformer

__all__ = ['AgnosticTransformer']


class AgnosticTransformer(Transformer):
    """A transformer that does the same to examples and to batches.

    Subclasses define `transform_any`.
    """

    def transform_any(self, data: Batch) -> Batch:
        """Change an example or a batch: a tuple with one item for every source."""
        raise NotImplementedError(f'{type(self).__name__} does not define transform_any')

    def step_function(self) -> Callable[[Batch], Batch]:
        """Return `transform_any` itself, where nothing else is called on the way to it."""
        function = super().step_function()
        base = AgnosticTransformer
        direct = (base.transform_example, base.transform_batch)
        return self.transform_any if getattr(function, '__func__', None) in direct else function

    def transform_example(self, example: Batch) -> Batch:
        """Change an example."""
        return self.transform_any(example)

    def transform_batch(self, batch: Batch) -> Batch:
        """Change a batch."""
        return self.transform_any(batch)
