"""The transformer that makes one array of sequences of unequal lengths."""
from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy

from fuel._kernels import pad_rows
from fuel._types import AnyArray, Batch
from fuel.config_parser import config
from fuel.transformers.base import Transformer
from fuel.transformers.kinds import with_fixed_kind

__all__ = ['Padding']


class Padding(Transformer):
    """Makes one array of sequences of unequal lengths, and a mask that tells where they end.

    Each source that is padded is followed by another one, of its name and ``_mask``, that is 1
    where the sequence has an entry and 0 where it was padded.

    Parameters
    ----------
    data_stream : AbstractDataStream
        A stream of batches.
    mask_sources : tuple of str, optional
        The sources to pad; all by default. Others are passed on as they are.
    mask_dtype : str or dtype, optional
        That of the masks; the setting ``config.floatX`` at the time of construction by default.
    pad_value : scalar or mapping, optional
        What stands behind the end of a sequence; a mapping gives one for each source that is in
        it. Zero by default, which for texts is the empty one.
    **kwargs
        Handed to `Transformer`.

    Raises
    ------
    ValueError
        The wrapped stream produces single examples, lacks one of the sources, or has one of the
        name of a mask already. While iterating: the entries of the sequences of a batch do not
        have the same shape, or the dtype cannot hold the pad value.

    Notes
    -----
    A batch is padded to the length of its longest sequence. The sequences are arrays or lists, in
    an array of objects, a list, or an array of one more axis; they may be empty. The dtype of
    the result holds the values of all of them.

    Examples
    --------
    >>> from fuel.datasets import IndexableDataset
    >>> from fuel.schemes import SequentialScheme
    >>> from fuel.streams import DataStream
    >>> stream = DataStream(IndexableDataset({'x': [[5, 6, 7], [8]]}),
    ...                     iteration_scheme=SequentialScheme(2, 2))
    >>> padded = Padding(stream, mask_dtype='uint8')
    >>> padded.sources
    ('x', 'x_mask')
    >>> next(padded.get_epoch_iterator())
    (array([[5, 6, 7],
           [8, 0, 0]]), array([[1, 1, 1],
           [1, 0, 0]], dtype=uint8))
    """

    def __init__(self, data_stream: Any, mask_sources: Iterable[str] | None = None,
                 mask_dtype: Any = None, pad_value: Any = 0, **kwargs: Any) -> None:
        if data_stream.produces_examples:
            raise ValueError(f'Padding: expected a stream of batches; the wrapped '
                             f'{type(data_stream).__name__} produces single examples. Use Batch '
                             'to make batches of them.')
        super().__init__(data_stream, produces_examples=False,
                         **with_fixed_kind(self, kwargs, examples=False))
        available = tuple(data_stream.sources)
        if isinstance(mask_sources, str):
            mask_sources = (mask_sources,)
        self.mask_sources = available if mask_sources is None else tuple(mask_sources)
        self.mask_dtype = numpy.dtype(config.floatX if mask_dtype is None else mask_dtype)
        self.pad_value = pad_value
        named = (*self.mask_sources, *(pad_value if isinstance(pad_value, Mapping) else ()))
        for name in named:
            if name not in self.mask_sources or name not in available:
                raise ValueError(f'Padding: no source {name!r} is padded; the wrapped stream has '
                                 f'{", ".join(map(repr, available))}')
        values = (pad_value if isinstance(pad_value, Mapping)
                  else dict.fromkeys(self.mask_sources, pad_value))
        # Zero stands for that of any dtype, and so for the empty text too.
        self._fills = {name: None if _is_zero(values.get(name, 0)) else values[name]
                       for name in self.mask_sources}
        for name in self.mask_sources:
            if _mask_of(name) in available:
                raise ValueError(f'Padding: the source {_mask_of(name)!r}, which is to be added, '
                                 f'exists already; there are {available}')

    def _own_sources(self) -> tuple[str, ...]:
        sources: list[str] = []
        for name in self.data_stream.sources:
            sources += (name, _mask_of(name)) if name in self.mask_sources else (name,)
        return tuple(sources)

    def output_axis_labels(self, labels: Any) -> Any:
        """Keep the labels, and give those of the first two axes to the masks."""
        result: dict[str, Any] = {}
        for name, axes in labels.items():
            result[name] = axes
            if name in self.mask_sources:
                # Of a batch of objects nobody may have said what is in the objects.
                result[name] = axes if axes is not None and len(axes) > 1 else None
                result[_mask_of(name)] = None if result[name] is None else tuple(axes[:2])
        return result

    def transform_batch(self, batch: Batch) -> Batch:
        """Pad the chosen sources."""
        result: list[Any] = []
        for name, source in zip(self.data_stream.sources, batch, strict=True):
            if name in self.mask_sources:
                result += self._padded(name, source)
            else:
                result.append(source)
        return tuple(result)

    def _padded(self, name: str, source: Any) -> tuple[AnyArray, AnyArray]:
        if isinstance(source, numpy.ndarray) and source.dtype != object and source.ndim > 1:
            # The sequences are of one length already.
            return source, numpy.ones(source.shape[:2], self.mask_dtype)
        try:
            return pad_rows(source, self._fills[name], self.mask_dtype)
        except ValueError as error:
            raise ValueError(f'Padding, source {name!r}: {error}') from None


def _is_zero(value: Any) -> bool:
    return isinstance(value, int) and value == 0


def _mask_of(name: str) -> str:
    return f'{name}_mask'
