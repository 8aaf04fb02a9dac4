"""Transformers that slide windows along sequences.

An example is a sentence, or any other sequence; what comes out are pairs of a part of it and a
target, one pair for every place of the window.
"""
from __future__ import annotations

from typing import Any

import numpy

from fuel import axes
from fuel._kernels import sliding_windows
from fuel._types import AnyArray, Batch, Request
from fuel.collate import Rows
from fuel.iterator import DataIterator, EpochCursor
from fuel.transformers.kinds import with_fixed_kind
from fuel.transformers.regrouping import Groups, RegroupingIterator, RegroupingTransformer

__all__ = ['NGrams', 'Window', 'WindowIterator']

# Fewer windows are copied one by one sooner.
_WORTH_A_BLOCK = 4


class WindowIterator(RegroupingIterator):
    """Iterates over one epoch of a `Window`; within a sequence, by the shortest way."""

    def __next__(self) -> Any:
        groups = self.groups
        group = groups.group
        if group is None or self.as_dict:
            return super().__next__()
        stream, sequence, place = self.data_stream, group[0], groups.used
        if place + stream.span > len(sequence):
            return super().__next__()
        data = stream.windows_at(sequence, place)
        groups.used = place + 1
        self.cursor.requests.position += 1
        return data


class Window(RegroupingTransformer):
    """Gives all pairs of a source window and a target window that fit into a sequence.

    Parameters
    ----------
    offset : int
        How many places the target window starts after the end of the source window; before it
        where negative. See `overlapping`.
    source_window, target_window : int
        The lengths of the windows.
    overlapping : bool
        Count the offset from the start of the source window, and not from its end.
    data_stream : AbstractDataStream
        A stream of examples with one source, of sequences. Those too short for the windows are
        passed over.
    target_source : str, optional
        The name of the new source; 'targets' by default.
    **kwargs
        Handed to `Transformer`.

    Raises
    ------
    ValueError
        The wrapped stream produces batches or has more than one source, a window is not a
        positive integer, or there is a source with the name of the new one.

    Examples
    --------
    >>> from fuel.datasets import IterableDataset
    >>> from fuel.streams import DataStream
    >>> from fuel.transformers.sequences import Window
    >>> sentences = DataStream(IterableDataset([[1, 2, 3, 4], [5, 6], [7, 8, 9]]))
    >>> windows = Window(0, 2, 1, False, sentences)
    >>> list(windows.get_epoch_iterator())
    [([1, 2], [3]), ([2, 3], [4]), ([7, 8], [9])]
    """

    def __init__(self, offset: int, source_window: int, target_window: int, overlapping: bool,
                 data_stream: Any, target_source: str = 'targets', **kwargs: Any) -> None:
        name = type(self).__name__
        if not data_stream.produces_examples:
            raise ValueError(f'{name}: expected a stream of single sequences; the wrapped '
                             f'{type(data_stream).__name__} produces batches. Unpack them first.')
        sources = tuple(data_stream.sources)
        if len(sources) != 1:
            raise ValueError(f'{name}: expected a stream with one source; got {sources}. Use '
                             'FilterSources first.')
        if target_source in sources:
            raise ValueError(f'{name}: the new source {target_source!r} has the name of the source '
                             'of the wrapped stream; pass another target_source')
        for window in (source_window, target_window):
            if not isinstance(window, (int, numpy.integer)) or window < 1:
                raise ValueError(f'{name}: expected windows of positive length; got {window!r}')
        if not isinstance(offset, (int, numpy.integer)):
            raise TypeError(f'{name}: expected an integer offset; got {offset!r}')
        super().__init__(data_stream, produces_examples=True,
                         **with_fixed_kind(self, kwargs, examples=True))
        self.offset = offset
        self.source_window = source_window
        self.target_window = target_window
        self.overlapping = overlapping
        self.target_source = target_source
        # How far the windows start behind the start of the leftmost one, and how long a part of
        # the sequence they take together.
        target = offset + (0 if overlapping else source_window)
        self._source_start = max(0, -target)
        self._target_start = self._source_start + target
        self.span = max(self._source_start + source_window, self._target_start + target_window)

    def _own_sources(self) -> tuple[str, ...]:
        return (*super()._own_sources(), self.target_source)

    def output_axis_labels(self, labels: Any) -> Any:
        """Give the windows the labels of the sequence."""
        name, = self.data_stream.sources
        kept = axes.selected(labels, (name,)) or {}
        return {**kept, self.target_source: kept[name]} if name in kept else kept

    @property
    def num_examples(self) -> None:
        """`None`: how many windows there are depends on the sequences."""
        return None

    @property
    def num_batches(self) -> None:
        """`None`: there are no batches."""
        return None

    def _new_iterator(self, groups: Groups, as_dict: bool, cursor: EpochCursor) -> DataIterator:
        if self.iteration_scheme is not None:  # which would have to be asked for requests
            return super()._new_iterator(groups, as_dict, cursor)
        return WindowIterator(self, groups, as_dict, cursor)

    def regroup(self, groups: Groups, request: Request) -> Batch:
        """Return the next pair of windows."""
        group = groups.group
        place = groups.used
        while group is None or place + self.span > len(group[0]):
            if group is not None:
                groups.drop()
            group = groups.load()
            place = groups.used
        groups.used = place + 1
        return self.windows_at(group[0], place)

    def rows_ready(self, groups: Groups, count: int) -> Rows | None:
        """Return the next pairs of windows of the present sequence."""
        if groups.group is None:
            return None
        sequence = groups.group[0]
        first = groups.used
        stop = min(first + count, len(sequence) - self.span + 1)
        if stop <= first:
            return None
        columns: Any
        if type(sequence) is numpy.ndarray and stop - first >= _WORTH_A_BLOCK:
            columns = self._blocks(sequence, first, stop - first)
        else:
            columns = map(list, zip(*[self.windows_at(sequence, place)
                                      for place in range(first, stop)], strict=True))
        groups.used = stop
        return Rows.of(columns, is_fresh=True)

    def _blocks(self, sequence: AnyArray, place: int, count: int) -> Batch:
        """Return pairs of windows into an array: all of the source, and all of the target."""
        return (sliding_windows(sequence, place + self._source_start, count, self.source_window),
                sliding_windows(sequence, place + self._target_start, count, self.target_window))

    def windows_at(self, sequence: Any, place: int) -> Batch:
        """Return a pair of windows, by how far the leftmost one is into the sequence."""
        source, target = place + self._source_start, place + self._target_start
        return (_owned(sequence[source:source + self.source_window]),
                _owned(sequence[target:target + self.target_window]))


class NGrams(Window):
    """Gives all runs of n entries of a sequence, each with the entry that comes next.

    Parameters
    ----------
    ngram_order : int
        The length n of the runs.
    data_stream : AbstractDataStream
        A stream of examples with one source, of sequences. Those that are not longer than n are
        passed over.
    target_source : str, optional
        The name of the new source; 'targets' by default.
    **kwargs
        Handed to `Transformer`.

    Raises
    ------
    ValueError
        As for `Window`.

    Examples
    --------
    >>> from fuel.datasets import IterableDataset
    >>> from fuel.streams import DataStream
    >>> from fuel.transformers.sequences import NGrams
    >>> sentences = DataStream(IterableDataset([[1, 2, 3, 4], [5, 6]]))
    >>> list(NGrams(2, sentences).get_epoch_iterator())
    [([1, 2], 3), ([2, 3], 4)]
    """

    def __init__(self, ngram_order: int, data_stream: Any, target_source: str = 'targets',
                 **kwargs: Any) -> None:
        super().__init__(0, ngram_order, 1, False, data_stream, target_source, **kwargs)
        self.ngram_order = ngram_order

    def output_axis_labels(self, labels: Any) -> Any:
        """Give the runs the labels of the sequence, and the targets those of an entry."""
        return axes.changed(super().output_axis_labels(labels), lambda _, old: old[1:],
                            (self.target_source,))

    def _blocks(self, sequence: AnyArray, place: int, count: int) -> Batch:
        """Return runs of entries of an array, and the next ones."""
        start = place + self.ngram_order
        return (sliding_windows(sequence, place, count, self.ngram_order),
                sequence[start:start + count].copy())

    def windows_at(self, sequence: Any, place: int) -> Batch:
        """Return a run of entries and the next one, by how far into the sequence it starts."""
        end = place + self.ngram_order
        if type(sequence) is list:
            return sequence[place:end], sequence[end]
        return _owned(sequence[place:end]), _owned(sequence[end])


def _owned(part: Any) -> Any:
    """Return a part of a sequence that shares no memory with it or with other parts."""
    return part.copy() if isinstance(part, numpy.ndarray) else part
