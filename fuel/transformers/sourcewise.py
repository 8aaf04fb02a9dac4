"""The bases of transformers that treat every source by itself."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy

from fuel import failures
from fuel._types import AnyArray, Batch
from fuel.iterator import by_source
from fuel.transformers.base import Transformer

__all__ = ['AgnosticSourcewiseTransformer', 'SourcewiseTransformer', 'elementwise']


class SourcewiseTransformer(Transformer):
    """A transformer that is applied to chosen sources, one by one.

    Subclasses define `transform_source_example`, `transform_source_batch` or both.

    Parameters
    ----------
    data_stream : AbstractDataStream
        The stream to wrap.
    produces_examples : bool, optional
        Whether the transformer gives single examples, as opposed to batches. As the wrapped
        stream by default.
    which_sources : tuple of str, optional
        The sources to change; all by default.
    **kwargs
        Handed to `AbstractDataStream`, such as `axis_labels`.

    Raises
    ------
    ValueError
        The wrapped stream does not have one of the sources.
    """

    _which_sources: tuple[str, ...] | None = None

    def __init__(self, data_stream: Any, produces_examples: bool | None = None,
                 which_sources: Iterable[str] | None = None, **kwargs: Any) -> None:
        super().__init__(data_stream, produces_examples, **kwargs)
        self.which_sources = which_sources

    @property
    def which_sources(self) -> tuple[str, ...]:
        """The sources that are changed."""
        return self.sources if self._which_sources is None else self._which_sources

    @which_sources.setter
    def which_sources(self, which_sources: Iterable[str] | None) -> None:
        if which_sources is None:
            self._which_sources = None
            return
        # One name by itself was never refused, so it is taken for a tuple of one.
        chosen = (which_sources,) if isinstance(which_sources, str) else tuple(which_sources)
        available = self.sources
        unknown = [source for source in chosen if source not in available]
        if unknown:
            raise ValueError(
                f'{type(self).__name__}: the wrapped stream has no source '
                f'{", ".join(map(repr, unknown))}; it has {", ".join(map(repr, available))}')
        self._which_sources = chosen

    def transform_example(self, example: Batch) -> Batch:
        """Change the chosen sources of an example."""
        return self._each(self.transform_source_example, example)

    def transform_batch(self, batch: Batch) -> Batch:
        """Change the chosen sources of a batch."""
        return self._each(self.transform_source_batch, batch)

    def _each(self, change: Callable[[Any, str], Any], data: Batch) -> Batch:
        which = self._which_sources
        sources = self.known_sources or self.sources
        if data is None or len(data) != len(sources):
            by_source(self.data_stream, data)  # raises, and says what is wrong
        result = []
        for source, name in zip(data, sources, strict=True):
            if which is None or name in which:
                try:
                    source = change(source, name)
                except Exception as error:
                    failures.mark_source(error, name)
                    raise
                if source is None:
                    raise ValueError(f'{type(self).__name__} returned None for source {name!r}; '
                                     'expected its new data. Is a return statement missing?')
            result.append(source)
        return tuple(result)

    def transform_source_example(self, source_example: Any, source_name: str) -> Any:
        """Change one source of an example."""
        raise NotImplementedError(f'{type(self).__name__} does not transform single examples; it '
                                  'does not define transform_source_example')

    def transform_source_batch(self, source_batch: Any, source_name: str) -> Any:
        """Change one source of a batch."""
        raise NotImplementedError(f'{type(self).__name__} does not transform batches; it does '
                                  'not define transform_source_batch')


class AgnosticSourcewiseTransformer(SourcewiseTransformer):
    """A sourcewise transformer that does the same to examples and to batches.

    Subclasses define `transform_any_source`.
    """

    def transform_any_source(self, source_data: Any, source_name: str) -> Any:
        """Change one source of an example or of a batch."""
        raise NotImplementedError(f'{type(self).__name__} does not define transform_any_source')

    def transform_source_example(self, source_example: Any, source_name: str) -> Any:
        """Change one source of an example."""
        return self.transform_any_source(source_example, source_name)

    def transform_source_batch(self, source_batch: Any, source_name: str) -> Any:
        """Change one source of a batch."""
        return self.transform_any_source(source_batch, source_name)


def elementwise(function: Callable[[AnyArray], Any], data: Any) -> Any:
    """Apply a function of arrays to data that may be ragged.

    Parameters
    ----------
    function : callable
        Takes an array.
    data : array-like
        A regular array, an array of objects, or a list.

    Returns
    -------
    ndarray or list
        For an array of objects and for a list of sequences the function is applied to every
        entry, and the result has the same form.
    """
    if isinstance(data, numpy.ndarray):
        if data.dtype != object:
            return function(data)
        result = numpy.empty(data.shape, dtype=object)
        for place in numpy.ndindex(data.shape):
            result[place] = elementwise(function, data[place])
        return result
    if isinstance(data, (list, tuple)) and any(
            isinstance(entry, (list, tuple)) or getattr(entry, 'ndim', 0) > 0 for entry in data):
        return [elementwise(function, entry) for entry in data]
    return function(numpy.asarray(data))
