"""Labels of classes as vectors."""
from __future__ import annotations

from typing import Any

import numpy

from fuel import axes
from fuel._types import AnyArray
from fuel.config_parser import config
from fuel.transformers.sourcewise import SourcewiseTransformer

__all__ = ['OneHot']


class OneHot(SourcewiseTransformer):
    """Turns labels into vectors that are 1 at the place of the label and 0 elsewhere.

    Parameters
    ----------
    data_stream : AbstractDataStream
        The stream to wrap. The labels are integers from 0 on: one for each example, as in a batch
        of shape ``(n,)``; an axis of length 1 behind it is dropped.
    classes : int
        How many classes there are.
    dtype : str or dtype, optional
        Of the vectors. ``'floatX'``, the default, stands for the setting ``config.floatX`` at the
        time of construction.
    which_sources : tuple of str, optional
        The sources that hold labels; all by default.
    **kwargs
        Handed to `Transformer`.

    Raises
    ------
    ValueError
        `classes` is not a positive integer. During the iteration: a label is negative or too
        large, or the labels have another shape.
    TypeError
        During the iteration: the labels are not integers.

    Examples
    --------
    >>> from fuel.datasets import IndexableDataset
    >>> from fuel.schemes import SequentialScheme
    >>> from fuel.streams import DataStream
    >>> from fuel.transformers import OneHot
    >>> dataset = IndexableDataset({'targets': [2, 0]})
    >>> stream = OneHot(DataStream(dataset, iteration_scheme=SequentialScheme(2, 2)), classes=3,
    ...                 dtype='uint8')
    >>> next(stream.get_epoch_iterator())[0]
    array([[0, 0, 1],
           [1, 0, 0]], dtype=uint8)
    """

    def __init__(self, data_stream: Any, classes: int, dtype: Any = 'floatX',
                 **kwargs: Any) -> None:
        super().__init__(data_stream, **kwargs)
        if (isinstance(classes, bool) or not isinstance(classes, (int, numpy.integer))
                or classes < 1):
            raise ValueError(f'OneHot: expected a positive number of classes; got {classes!r}')
        self.classes = int(classes)
        self.dtype = numpy.dtype(config.floatX if dtype == 'floatX' else dtype)

    def output_axis_labels(self, labels: Any) -> Any:
        """Put the axis 'class' in the place of all but the batch axis."""
        keep = 0 if self.produces_examples else 1
        return axes.changed(labels, lambda _, old: (*old[:keep], 'class'), self.which_sources)

    def transform_source_example(self, source_example: Any, source_name: str) -> Any:
        """Turn the label of an example into a vector."""
        label = numpy.asarray(source_example)
        if label.shape not in ((), (1,)):
            raise self._shape_error('a single label', label, source_name)
        return self._vectors(label.reshape(1), source_name)[0]

    def transform_source_batch(self, source_batch: Any, source_name: str) -> Any:
        """Turn the labels of a batch into rows of a matrix."""
        # An array of objects holds labels one by one, whatever they are.
        ragged = isinstance(source_batch, numpy.ndarray) and source_batch.dtype == object
        labels = numpy.asarray(list(source_batch) if ragged else source_batch)
        if labels.ndim != 1 and (labels.ndim != 2 or labels.shape[1] != 1):
            raise self._shape_error('a label for each example', labels, source_name)
        return self._vectors(labels.reshape(-1), source_name)

    def _shape_error(self, expected: str, labels: AnyArray, source_name: str) -> ValueError:
        return ValueError(f'OneHot: expected {expected} in source {source_name!r}; got an array '
                          f'of shape {labels.shape}')

    def _vectors(self, labels: AnyArray, source_name: str) -> AnyArray:
        if labels.dtype.kind not in 'biu' and labels.size:
            raise TypeError(f'OneHot: expected integers in source {source_name!r}; got '
                            f'{labels.dtype} numbers such as {labels[0]!r}')
        outside = (labels < 0) | (labels >= self.classes)
        if outside.any():
            place = int(numpy.flatnonzero(outside)[0])
            raise ValueError(
                f'OneHot: expected labels from 0 to {self.classes - 1} in source '
                f'{source_name!r}; got {labels[place]} at place {place} of {len(labels)}')
        vectors = numpy.zeros((len(labels), self.classes), self.dtype)
        vectors[numpy.arange(len(labels)), labels.astype(numpy.intp)] = 1
        return vectors
