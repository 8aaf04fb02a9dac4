"""The transformer that applies a function."""
from __future__ import annotations

from collections.abc import Callable, Iterable
from collections.abc import Mapping as AbstractMapping
from typing import Any

from fuel._types import Batch
from fuel.iterator import by_source
from fuel.transformers.base import Transformer

__all__ = ['Mapping']


class Mapping(Transformer):
    """Applies a function to the data.

    Parameters
    ----------
    data_stream : AbstractDataStream
        The stream to wrap.
    mapping : callable
        Takes the data of a step, an example or a batch, and returns new data: one item for every
        source, or for every added source. A tuple, a list, or a dict from source name to data.
    add_sources : tuple of str, optional
        Names of new sources. What the function returns is put behind the data that it was given,
        and not in their place.
    mapping_accepts : {list, dict}, optional
        ``dict``: the function is called with a dict from source name to data; ``list``, the
        default: with a tuple in the order of the sources.
    **kwargs
        Handed to `Transformer`. The axes are taken to be the same as before, and those of added
        sources to be unknown; pass `axis_labels` where that is wrong.

    Raises
    ------
    ValueError
        `mapping_accepts` is something else, or an added source exists already.
    """

    def __init__(self, data_stream: Any, mapping: Callable[[Any], Any],
                 add_sources: Iterable[str] | None = None, mapping_accepts: type = list,
                 **kwargs: Any) -> None:
        super().__init__(data_stream, **kwargs)
        if not callable(mapping):
            raise TypeError(f'Mapping: expected a function; got {mapping!r}')
        if mapping_accepts not in (list, dict):
            raise ValueError('Mapping: expected mapping_accepts to be list or dict; got '
                             f'{mapping_accepts!r}')
        if isinstance(add_sources, str):
            raise ValueError('Mapping: expected add_sources to be a tuple of names, such as '
                             f'({add_sources!r},); got the string {add_sources!r}')
        self.mapping = mapping
        self.mapping_accepts = mapping_accepts
        self.add_sources = None if add_sources is None else tuple(add_sources)
        for name in self.add_sources or ():
            if name in data_stream.sources:
                raise ValueError(f'Mapping: the source {name!r}, which is to be added, exists '
                                 f'already; there are {data_stream.sources}')

    def _own_sources(self) -> tuple[str, ...]:
        return super()._own_sources() + (self.add_sources or ())

    def transform_example(self, example: Batch) -> Batch:
        """Apply the function to an example."""
        return self._apply(example)

    def transform_batch(self, batch: Batch) -> Batch:
        """Apply the function to a batch."""
        return self._apply(batch)

    def _apply(self, data: Batch) -> Batch:
        given: Any = data
        if data is None or self.mapping_accepts is dict:
            given = by_source(self.data_stream, data)
        new_names = self.sources if self.add_sources is None else self.add_sources
        try:
            returned = self.mapping(given)
        except StopIteration as error:
            # It would be taken for the end of the epoch.
            raise RuntimeError('Mapping: the function raised StopIteration') from error
        image = self._ordered(returned, new_names)
        if len(image) != len(new_names):
            added = '' if self.add_sources is None else 'added '
            raise ValueError(f'Mapping: expected the function to return {len(new_names)} items, '
                             f'one for each of the {added}sources {new_names}; got {len(image)}')
        return image if self.add_sources is None else (*data, *image)

    def _ordered(self, image: Any, names: tuple[str, ...]) -> Batch:
        if isinstance(image, tuple):
            return image
        if isinstance(image, list):
            return tuple(image)
        if isinstance(image, AbstractMapping):
            missing = [name for name in names if name not in image]
            if missing:
                raise ValueError('Mapping: the dict that the function returned lacks '
                                 f'{", ".join(map(repr, missing))}; it has '
                                 f'{", ".join(map(repr, image))}')
            return tuple(image[name] for name in names)
        raise ValueError('Mapping: expected the function to return a tuple with one item for '
                         f'every source, a list or a dict; got {type(image).__name__}')
