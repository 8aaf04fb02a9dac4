"""Transformers that data sets apply by default."""
from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy

from fuel.transformers._encoded import ImagesFromBytes, relabelled
from fuel.transformers.arrays import Cast, ScaleAndShift
from fuel.transformers.sourcewise import SourcewiseTransformer

__all__ = ['ToBytes', 'rgb_images_from_encoded_bytes', 'uint8_pixels_to_floatX']


class ToBytes(SourcewiseTransformer):
    """Turns arrays into the bytes that they consist of.

    For files whose content is stored as arrays of uint8, such as encoded images. A batch becomes
    a list; what consists of bytes already stays as it is.

    Parameters
    ----------
    data_stream : AbstractDataStream
        The stream to wrap.
    **kwargs
        Handed to `SourcewiseTransformer`, such as `which_sources`.

    Raises
    ------
    TypeError
        An example is neither an array nor bytes.

    Examples
    --------
    >>> from fuel.datasets import IndexableDataset
    >>> from fuel.streams import DataStream
    >>> dataset = IndexableDataset({'file': numpy.array([[104, 105]], dtype='uint8')})
    >>> stream = ToBytes(DataStream(dataset, iteration_scheme=dataset.example_iteration_scheme))
    >>> next(stream.get_epoch_iterator())
    (b'hi',)
    """

    def _own_axis_labels(self) -> Any:
        return self.output_axis_labels(self.data_stream.axis_labels)

    def output_axis_labels(self, labels: Any) -> Any:
        """Label the axis of bytes, which is known also where other labels are not."""
        return relabelled(self, ('bytes',))

    def transform_source_example(self, source_example: Any, source_name: str) -> bytes:
        """Return an array as bytes."""
        if isinstance(source_example, (bytes, bytearray, memoryview)):
            return bytes(source_example)
        if not isinstance(source_example, (numpy.ndarray, numpy.generic)):
            raise TypeError(f'{type(self).__name__}: expected source {source_name!r} to hold '
                            f'arrays; got a {type(source_example).__name__}')
        return source_example.tobytes()

    def transform_source_batch(self, source_batch: Any, source_name: str) -> list[bytes]:
        """Return a list with the bytes of every example."""
        return [self.transform_source_example(example, source_name) for example in source_batch]


def uint8_pixels_to_floatX(which_sources: Iterable[str]) -> tuple[Any, ...]:
    """Return transformers that scale pixels from 0 to 255 into floatX numbers from 0 to 1.

    Parameters
    ----------
    which_sources : tuple of str
        The sources that hold pixels.

    Returns
    -------
    tuple
        Triples (class, arguments, keyword arguments), for `Dataset.default_transformers`.
    """
    which_sources = tuple(which_sources)
    return ((ScaleAndShift, [1 / 255.0, 0], {'which_sources': which_sources}),
            (Cast, ['floatX'], {'which_sources': which_sources}))


def rgb_images_from_encoded_bytes(which_sources: Iterable[str]) -> tuple[Any, ...]:
    """Return transformers that decode image files, stored as arrays of bytes, into RGB images.

    Parameters
    ----------
    which_sources : tuple of str
        The sources that hold the files.

    Returns
    -------
    tuple
        Triples (class, arguments, keyword arguments), for `Dataset.default_transformers`.
    """
    which_sources = tuple(which_sources)
    return ((ToBytes, [], {'which_sources': which_sources}),
            (ImagesFromBytes, [], {'which_sources': which_sources}))
