"""The stream that puts several streams side by side."""
from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from fuel import state as saved
from fuel._types import AxisLabels, Batch, Request, State
from fuel.exceptions import StateError
from fuel.iterator import DataIterator, EndedIterator, EpochCursor
from fuel.streams.base import AbstractDataStream
from fuel.transformers.iterating import started_child

__all__ = ['Merge', 'MergeIterator']

logger = logging.getLogger(__name__)


class MergeIterator(DataIterator):
    """Iterates over one epoch of a `Merge`; it owns the iterators over the merged streams."""

    def __init__(self, data_stream: Merge, children: list[Iterator[Any]], as_dict: bool,
                 cursor: EpochCursor) -> None:
        super().__init__(data_stream, as_dict=as_dict, cursor=cursor)
        self.children = children
        # What the first of them gave in a step that failed, and is to be taken again.
        self.begun: list[Batch] = []

    def _is_superseded(self) -> bool:
        return False

    def _draw(self, cursor: EpochCursor) -> Batch:
        begun = self.begun
        for child in self.children[len(begun):]:
            before = _step_of(child)
            try:
                begun.append(next(child))
            except StopIteration:
                place = len(begun)
                begun.clear()
                self.data_stream.look_at_ends(self.children, place, self.step)
                raise
            except BaseException:
                self._keep_in_step(will_come_again=before == _step_of(child) is not None
                                   or getattr(child, 'is_broken_off', False))
                raise
        merged = tuple([item for data in begun for item in data])
        self.begun = []
        cursor.requests.position += 1
        return merged

    def _keep_in_step(self, *, will_come_again: bool) -> None:
        """Let no stream run ahead of the one that failed."""
        if will_come_again:
            while self.begun and self._rewound(self.children[len(self.begun) - 1]):
                self.begun.pop()
            return
        # The data of the step are lost there, so they are passed over in the other streams too.
        for child in self.children[len(self.begun) + 1:]:
            with contextlib.suppress(Exception):
                next(child, None)
        self.begun = []

    @staticmethod
    def _rewound(child: Iterator[Any]) -> bool:
        return isinstance(child, DataIterator) and child.rewind(1)


def _step_of(child: Iterator[Any]) -> int | None:
    return child.step if isinstance(child, DataIterator) else None


class Merge(AbstractDataStream):
    """Puts the data of several streams side by side, step by step.

    Parameters
    ----------
    data_streams : sequence of AbstractDataStream
        At least one; all give single examples, or all give batches.
    data_sources : tuple of str
        New names for all sources of the first stream, then all of the second, and so on.
    axis_labels : mapping, optional
        Maps source names to a tuple with a label for each axis. Those of the merged streams by
        default.
    strict : bool, optional
        What to do when a stream comes to its end before others do. The epoch ends there in any
        case. By default this is logged as a warning, once; `True` raises a `ValueError`; `False`
        says nothing.

    Raises
    ------
    ValueError
        There are more or fewer names than sources, a name comes twice, or some streams give
        examples and others batches.

    Notes
    -----
    To find out whether other streams are longer one more step is taken of each, unless `strict`
    is `False`.

    Examples
    --------
    >>> from fuel.datasets import IterableDataset
    >>> from fuel.streams import DataStream
    >>> english = DataStream(IterableDataset(['Hello', 'World']))
    >>> french = DataStream(IterableDataset(['Bonjour', 'Monde']))
    >>> merged = Merge((english, french), ('english', 'french'))
    >>> list(merged.get_epoch_iterator())
    [('Hello', 'Bonjour'), ('World', 'Monde')]
    """

    child_epoch_iterators: list[Iterator[Any]] | None = None
    _newest: MergeIterator | None = None
    _has_warned = False

    def __init__(self, data_streams: Sequence[Any], data_sources: Iterable[str],
                 axis_labels: AxisLabels | None = None, strict: bool | None = None) -> None:
        super().__init__(axis_labels=axis_labels)
        if isinstance(data_streams, AbstractDataStream) or not all(
                hasattr(stream, 'get_epoch_iterator') for stream in data_streams):
            raise TypeError(f'Merge: expected a tuple of streams; got {data_streams!r}')
        self.data_streams = tuple(data_streams)
        if not self.data_streams:
            raise ValueError('Merge: expected at least one stream; got none')
        self.sources = data_sources  # refuses a string
        own = [name for stream in self.data_streams for name in stream.sources]
        if len(self.sources) != len(own) or len(set(self.sources)) != len(own):
            raise ValueError(f'Merge: expected {len(own)} different names, for the sources '
                             f'{", ".join(own)}; got {", ".join(self.sources)}')
        kinds = [bool(stream.produces_examples) for stream in self.data_streams]
        if len(set(kinds)) > 1:
            raise ValueError(
                'Merge: expected streams that all give examples, or that all give batches; got '
                + ', '.join(f'{type(stream).__name__} ({"examples" if kind else "batches"})'
                            for stream, kind in zip(self.data_streams, kinds, strict=True)))
        self.produces_examples = kinds[0]
        self.strict = strict

    # What it says of its data.

    def _own_axis_labels(self) -> Any:
        names = iter(self.sources)
        labels: dict[str, Any] = {}
        for stream in self.data_streams:
            below = stream.axis_labels
            for old, new in zip(tuple(stream.sources), names, strict=False):
                if below is not None and old in below:
                    labels[new] = below[old]
        return labels or None

    @property
    def num_examples(self) -> int | None:
        """How many examples an epoch has, where every stream knows it."""
        numbers = [stream.num_examples for stream in self.data_streams]
        if self.produces_examples:
            return None if None in numbers else min(numbers)
        # Of batches of different sizes nobody can tell how many examples they have.
        return numbers[0] if len(set(numbers)) == 1 else None

    @property
    def num_batches(self) -> int | None:
        """How many batches an epoch has, where every stream knows it."""
        numbers = [stream.num_batches for stream in self.data_streams]
        return None if None in numbers else min(numbers)

    # Reading.

    def close(self) -> None:
        """Close every stream."""
        for stream in self.data_streams:
            stream.close()

    def reset(self) -> None:
        """Reset every stream."""
        for stream in self.data_streams:
            stream.reset()

    def next_epoch(self) -> None:
        """Make every stream ready for its next epoch."""
        for stream in self.data_streams:
            stream.next_epoch()

    def get_epoch_iterator(self, as_dict: bool = False) -> Any:
        """Start the next epoch of every stream, and return an iterator over all of them.

        Parameters
        ----------
        as_dict : bool, optional
            Give dicts from source name to data in place of tuples. Off by default.

        Returns
        -------
        DataIterator
            Independent of other iterators over this stream, if those of the merged streams are.
        """
        loaded = self._loaded_state
        below = [None] * len(self.data_streams) if loaded is None else loaded['data_streams']
        children = [started_child(stream, loaded, state)
                    for stream, state in zip(self.data_streams, below, strict=True)]
        self.child_epoch_iterators = children
        cursor = self._next_cursor()
        if type(self).get_data is not Merge.get_data:
            return DataIterator(self, as_dict=as_dict, cursor=cursor)
        self._newest = MergeIterator(self, children, as_dict, cursor)
        return self._newest

    def get_data(self, request: Request = None) -> Batch:
        """Return the next data of the newest epoch.

        Parameters
        ----------
        request : None
            Merged streams take no requests.

        Returns
        -------
        tuple
            The items of the first stream, then those of the second, and so on.
        """
        if request is not None:
            raise ValueError(f'{type(self).__name__} takes no requests; got {request!r}')
        if self.child_epoch_iterators is None:
            raise ValueError(f'{type(self).__name__}.get_data was called before an epoch was '
                             'started; call get_epoch_iterator first')
        return tuple([item for child in self.child_epoch_iterators for item in next(child)])

    def look_at_ends(self, children: list[Iterator[Any]], place: int, step: int) -> None:
        """Tell of streams that are longer than the first that came to its end.

        Parameters
        ----------
        children : list of iterator
            The epoch iterators.
        place : int
            Which of them is at its end. Those before it have given data in this step.
        step : int
            How many steps of the epoch were whole.
        """
        if self.strict is False or (self._has_warned and not self.strict):
            return
        longer = 0 if place else next(
            (number for number, child in enumerate(children) if number > 0 and _has_more(child)),
            None)
        if longer is None:
            return
        message = (f'Merge: stream {place} ({type(self.data_streams[place]).__name__}) came to its '
                   f'end after {step} steps, and stream {longer} '
                   f'({type(self.data_streams[longer]).__name__}) has more')
        if self.strict:
            raise ValueError(f'{message}; pass strict=False to end all at the shortest')
        self._has_warned = True
        logger.warning('%s; the epoch ends here. Pass strict=False if that is what you want, '
                       'strict=True for an error.', message)

    # Where it stands.

    def state_of(self, iterator: DataIterator) -> State:
        """Return the state of all streams as one of the epoch iterators sees it."""
        return self._state_with(iterator if isinstance(iterator, MergeIterator) else self._newest,
                                iterator.cursor)

    def state_dict(self) -> State:
        """Return where the newest epoch iterator stands, as plain data.

        Returns
        -------
        dict
            Fit for JSON. Holds the states of the merged streams, a list, under
            ``'data_streams'``.

        Raises
        ------
        StateError
            A part of a stream keeps something that it cannot put into plain data.
        """
        if self._loaded_state is not None:
            return dict(self._loaded_state)
        return self._state_with(self._newest, self.epoch_cursor)

    def _state_with(self, iterator: MergeIterator | None, cursor: EpochCursor | None) -> State:
        if type(self).get_data is not Merge.get_data and not self._tells_own_state():
            raise StateError(
                f'{type(self).__name__} overrides get_data, so it may keep something from step to '
                'step; define _state and _load_state, or pickle the pair (stream, epoch iterator)')
        position = self._position_of(cursor)
        if iterator is None or position['done']:
            below = [stream.state_dict() for stream in self.data_streams]
        elif iterator.begun:
            raise StateError('the last step failed, and parts of it wait for the next one; take '
                             'that step before saving the state')
        else:
            below = [child.state_dict() for child in self._telling(iterator.children)]
        return saved.new_state(self, **position, **self._own_state(), data_streams=below)

    def refreshed(self, state: State) -> State:
        """Return a state with what it says of other epochs as it is now."""
        below = [stream.refreshed(part) for stream, part in zip(
            self.data_streams, state['data_streams'], strict=True)]
        return {**super().refreshed(state), 'data_streams': below}

    def _telling(self, children: list[Iterator[Any]]) -> list[Any]:
        for child, stream in zip(children, self.data_streams, strict=True):
            if not isinstance(child, (DataIterator, EndedIterator)):
                raise StateError(
                    f'the epoch iterator of {type(stream).__name__} is a {type(child).__name__}, '
                    'whose position cannot be told; pickle the pair (stream, epoch iterator)')
        return children

    def load_state_dict(self, state: State) -> None:
        """Go on from a state: the next call of `get_epoch_iterator` gives what was left.

        Parameters
        ----------
        state : dict
            What `state_dict` of a stream merged in the same way returned.

        Raises
        ------
        StateError
            The state belongs to another stream.
        """
        super().load_state_dict(state)
        self.child_epoch_iterators = self._newest = None

    def checked_state(self, state: Any) -> State:
        """Return a copy of a state, after checking that it can be loaded."""
        checked: State = super().checked_state(state)
        below = saved.checked(self, checked, ('data_streams',))['data_streams']
        if len(below) != len(self.data_streams):
            raise StateError(f'the state was saved with {len(below)} merged streams; this Merge '
                             f'has {len(self.data_streams)}')
        for stream, part in zip(self.data_streams, below, strict=True):
            stream.checked_state(part)
        return checked


def _has_more(child: Iterator[Any]) -> bool:
    try:
        return next(child, None) is not None
    except Exception:  # there is something, even if it cannot be had
        return True
