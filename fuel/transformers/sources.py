"""Transformers that choose and name sources, and change single ones."""
from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from fuel import axes
from fuel._types import Batch
from fuel.iterator import by_source
from fuel.transformers.agnostic import AgnosticTransformer
from fuel.transformers.sourcewise import AgnosticSourcewiseTransformer

__all__ = ['FilterSources', 'Rename', 'SourceMapping']

log = logging.getLogger(__name__)

_LEVELS = {'ignore': logging.DEBUG, 'warn': logging.WARNING}


class Rename(AgnosticTransformer):
    """Gives sources other names.

    Parameters
    ----------
    data_stream : AbstractDataStream
        The stream to wrap.
    names : mapping
        From the name of a source to its new name. Names may be swapped.
    on_non_existent : {'raise', 'ignore', 'warn'}, optional
        What to do about a name that no source has: raise an error, the default; or leave it out
        and log that, as a debug message or as a warning.
    **kwargs
        Handed to `Transformer`.

    Raises
    ------
    KeyError
        No source has a name, or two sources would have one name.
    ValueError
        `on_non_existent` is something else.

    Examples
    --------
    >>> from fuel.datasets import IndexableDataset
    >>> from fuel.schemes import SequentialScheme
    >>> from fuel.streams import DataStream
    >>> from fuel.transformers import Rename
    >>> dataset = IndexableDataset({'features': [1, 2], 'targets': [3, 4]})
    >>> stream = Rename(DataStream(dataset, iteration_scheme=SequentialScheme(2, 2)),
    ...                 {'features': 'x', 'targets': 'y'})
    >>> next(stream.get_epoch_iterator(as_dict=True))
    {'x': [1, 2], 'y': [3, 4]}
    """

    def __init__(self, data_stream: Any, names: Mapping[str, str],
                 on_non_existent: str = 'raise', **kwargs: Any) -> None:
        super().__init__(data_stream, **kwargs)
        if on_non_existent not in ('raise', *_LEVELS):
            raise ValueError("Rename: expected on_non_existent to be 'raise', 'ignore' or 'warn'; "
                             f'got {on_non_existent!r}')
        sources = tuple(data_stream.sources)
        self.names = {}
        for old, new in dict(names).items():
            if old in sources:
                self.names[old] = new
                continue
            message = f'Rename: no source {old!r} to be renamed to {new!r}; there are {sources}'
            if on_non_existent == 'raise':
                raise KeyError(message)
            log.log(_LEVELS[on_non_existent], '%s', message)
        origins: dict[str, str] = {}
        for source in sources:
            new = self.names.get(source, source)
            if new in origins:
                raise KeyError(f'Rename: the sources {origins[new]!r} and {source!r} would both be '
                               f'named {new!r}')
            origins[new] = source

    def _own_sources(self) -> tuple[str, ...]:
        return tuple([self.names.get(name, name) for name in self.data_stream.sources])

    def output_axis_labels(self, labels: Any) -> Any:
        """Put the labels under the new names."""
        # A file may tell labels of more sources than the stream has; they do not hide others.
        kept = {name: old for name, old in labels.items() if name not in self.names}
        return kept | {new: labels[old] for old, new in self.names.items() if old in labels}

    def transform_any(self, data: Batch) -> Batch:
        """Return the data as they are."""
        return data


class FilterSources(AgnosticTransformer):
    """Gives some of the sources, and leaves out the others.

    Parameters
    ----------
    data_stream : AbstractDataStream
        The stream to wrap.
    sources : tuple of str
        Names of the sources to keep. They stay in the order that they have in the wrapped stream.
    **kwargs
        Handed to `Transformer`.

    Raises
    ------
    ValueError
        The wrapped stream does not have one of the sources, or none is to be kept.

    Examples
    --------
    >>> from fuel.datasets import IndexableDataset
    >>> from fuel.schemes import SequentialScheme
    >>> from fuel.streams import DataStream
    >>> from fuel.transformers import FilterSources
    >>> dataset = IndexableDataset({'features': [1, 2], 'targets': [3, 4], 'names': ['a', 'b']})
    >>> stream = FilterSources(DataStream(dataset, iteration_scheme=SequentialScheme(2, 2)),
    ...                        sources=('names', 'features'))
    >>> stream.sources
    ('features', 'names')
    >>> next(stream.get_epoch_iterator())
    ([1, 2], ['a', 'b'])
    """

    def __init__(self, data_stream: Any, sources: Iterable[str], **kwargs: Any) -> None:
        super().__init__(data_stream, **kwargs)
        if isinstance(sources, (str, bytes)):
            raise ValueError('FilterSources: expected a tuple of source names, such as '
                             f'({sources!r},); got the string {sources!r}')
        wanted = tuple(sources)
        available = tuple(data_stream.sources)
        unknown = [name for name in wanted if name not in available]
        if unknown:
            raise ValueError(f'FilterSources: the wrapped stream has no source '
                             f'{", ".join(map(repr, unknown))}; it has '
                             f'{", ".join(map(repr, available))}')
        if not wanted:
            raise ValueError('FilterSources: expected at least one source to keep; there are '
                             f'{", ".join(map(repr, available))}')
        self.sources = tuple(name for name in available if name in wanted)

    def output_axis_labels(self, labels: Any) -> Any:
        """Keep the labels of the sources that are kept."""
        return axes.selected(labels, self.sources)

    def transform_any(self, data: Batch) -> Batch:
        """Return the data of the sources that are kept."""
        below = self.data_stream.sources
        if data is None or len(data) != len(below):
            by_source(self.data_stream, data)  # raises, and says what is wrong
        kept = self.sources
        return tuple([item for name, item in zip(below, data, strict=True) if name in kept])


class SourceMapping(AgnosticSourcewiseTransformer):
    """Applies a function to chosen sources, to each by itself.

    Parameters
    ----------
    data_stream : AbstractDataStream
        The stream to wrap.
    mapping : callable
        Takes the data of one source, of an example or of a batch, and returns what to put in
        their place.
    which_sources : tuple of str, optional
        The sources to change; all by default.
    **kwargs
        Handed to `Transformer`. The axes are taken to be the same as before; pass `axis_labels`
        where that is wrong.

    Raises
    ------
    TypeError
        `mapping` cannot be called.
    ValueError
        During the iteration: the function returned `None`.

    Examples
    --------
    >>> from fuel.datasets import IndexableDataset
    >>> from fuel.schemes import SequentialExampleScheme
    >>> from fuel.streams import DataStream
    >>> from fuel.transformers import SourceMapping
    >>> dataset = IndexableDataset({'words': ['One', 'Two'], 'names': ['A', 'B']})
    >>> stream = SourceMapping(DataStream(dataset, iteration_scheme=SequentialExampleScheme(2)),
    ...                        str.lower, which_sources=('words',))
    >>> list(stream.get_epoch_iterator())
    [('one', 'A'), ('two', 'B')]
    """

    def __init__(self, data_stream: Any, mapping: Callable[[Any], Any], **kwargs: Any) -> None:
        super().__init__(data_stream, **kwargs)
        if not callable(mapping):
            raise TypeError(f'SourceMapping: expected a function; got {mapping!r}')
        self.mapping = mapping

    def transform_any_source(self, source_data: Any, source_name: str) -> Any:
        """Apply the function to one source."""
        try:
            image = self.mapping(source_data)
        except StopIteration as error:
            # It would be taken for the end of the epoch.
            raise RuntimeError('SourceMapping: the function raised StopIteration') from error
        if image is None:
            raise ValueError(f'SourceMapping: the function returned None for source '
                             f'{source_name!r}; expected its new data. Is a return statement '
                             'missing?')
        return image
