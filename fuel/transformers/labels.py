"""Transformers that rely on what the axes of their data are."""
from __future__ import annotations

import logging
from typing import Any

from fuel.exceptions import AxisLabelsMismatchError

__all__ = ['ExpectsAxisLabels']

log = logging.getLogger(__name__)


class ExpectsAxisLabels:
    """Mixin for transformers that want the axes of a source in a certain order.

    A transformer calls `verify_axis_labels`, or `expect_axis_labels`, whenever it is given data.
    Only the first call for a source does something.

    Examples
    --------
    >>> import numpy
    >>> from fuel.datasets import IndexableDataset
    >>> from fuel.streams import DataStream
    >>> from fuel.schemes import SequentialScheme
    >>> from fuel.transformers import AgnosticSourcewiseTransformer, ExpectsAxisLabels
    >>> class FirstRow(ExpectsAxisLabels, AgnosticSourcewiseTransformer):
    ...     def transform_any_source(self, source_data, source_name):
    ...         self.expect_axis_labels(('batch', 'height', 'width'), source_name)
    ...         return source_data[:, 0]
    >>> dataset = IndexableDataset({'x': numpy.zeros((2, 3, 4))},
    ...                            axis_labels={'x': ('batch', 'width', 'height')})
    >>> stream = FirstRow(DataStream(dataset, iteration_scheme=SequentialScheme(2, 2)))
    >>> next(stream.get_epoch_iterator())  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    AxisLabelsMismatchError: FirstRow: expected the axes ('batch', 'height', 'width') ...
    """

    # Sources that need no look any more; replaced and never changed, so the class can hold it.
    _verified_sources: frozenset[str] = frozenset()

    def verify_axis_labels(self, expected: tuple[str, ...], actual: tuple[str, ...] | None,
                           source_name: str) -> None:
        """Check the axis labels of a source, unless that was done before.

        Parameters
        ----------
        expected : tuple of str
            The labels that the source must have.
        actual : tuple of str or None
            Those that it has. Where they are not known, a warning is logged and the data are
            taken to be right.
        source_name : str
            The name of the source.

        Raises
        ------
        AxisLabelsMismatchError
            The labels are known, and others than expected. A `ValueError`.
        """
        if source_name in self._verified_sources:
            return
        # A file in which labels were never set gives an empty one for every axis.
        if actual is None or (actual and not any(actual)):
            log.warning('%s: the axis labels of source %r are not known; its axes are taken to '
                        'be %r', type(self).__name__, source_name, tuple(expected))
        elif tuple(actual) != tuple(expected):
            raise AxisLabelsMismatchError(
                f'{type(self).__name__}: expected the axes {tuple(expected)} in source '
                f'{source_name!r}; got {tuple(actual)}. Transpose the data, or pass axis_labels '
                'to the stream where the labels are wrong.')
        self._verified_sources |= {source_name}

    def expect_axis_labels(self, expected: tuple[str, ...], source_name: str) -> None:
        """Check the axis labels that the wrapped stream tells for a source.

        Does the same as `verify_axis_labels`, and looks up the actual labels by itself: they are
        unknown where the stream has none at all, or none for this source.

        Parameters
        ----------
        expected : tuple of str
            The labels that the source must have.
        source_name : str
            The name of the source.

        Raises
        ------
        AxisLabelsMismatchError
            The labels are known, and others than expected. A `ValueError`.
        """
        if source_name in self._verified_sources:
            return
        stream: Any = self
        labels = stream.data_stream.axis_labels
        self.verify_axis_labels(expected, None if labels is None else labels.get(source_name),
                                source_name)
