"""The stream that reads a data set."""
from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from fuel import axes
from fuel._derived import derived
from fuel._types import AxisLabels, Batch, Request, State
from fuel.exceptions import StateError
from fuel.iterator import DataIterator, EpochCursor, by_source
from fuel.schemes.base import BatchSizeScheme, IterationScheme
from fuel.schemes.requests import NoRequests, RequestIterator
from fuel.streams.base import AbstractDataStream
from fuel.streams.blocks import EXAMPLES, ROOM, bytes_of, rows_of
from fuel.streams.spreading import spread

__all__ = ['OUTSIDE_FAULTS', 'DataStream', 'SourceIterator', 'takes_index_arrays']

#: Errors that say nothing about the data themselves.
OUTSIDE_FAULTS = (FileNotFoundError, PermissionError, ConnectionError, TimeoutError, MemoryError)


def takes_index_arrays(dataset: Any) -> bool:
    """Tell whether a data set may be given slices and integer arrays for lists of indices.

    It may if whoever defines the `get_data` of a data set said that it takes arrays.
    """
    if 'get_data' in getattr(dataset, '__dict__', ()):
        return False
    owner = next((base for base in type(dataset).__mro__ if 'get_data' in base.__dict__), object)
    return bool(owner.__dict__.get('takes_index_arrays', False)
                and getattr(dataset, 'takes_index_arrays', False))


class SourceIterator(DataIterator):
    """Iterates over one epoch of a `DataStream`."""

    def __init__(self, data_stream: DataStream, as_dict: bool, cursor: EpochCursor) -> None:
        super().__init__(data_stream, as_dict=as_dict, cursor=cursor)
        dataset = data_stream.dataset
        # A subclass that overrides get_data is asked through it, and given plain requests.
        self._direct = type(data_stream).get_data is DataStream.get_data
        self._compact = self._direct and takes_index_arrays(dataset)
        cursor.is_rewindable = (self._direct and cursor.data_state is None
                                and not isinstance(cursor.requests, NoRequests))
        # The step whose data could not be reached the last time.
        self._missed = -1
        self._shares_state = not (
            self._direct and (cursor.data_state is None
                              or getattr(dataset, 'independent_states', False)))
        self._reads_ahead = (self._compact and cursor.data_state is None
                             and bool(data_stream.produces_examples))
        # How many examples to read together the next time.
        self._ahead_size = 0

    def __next__(self) -> Any:
        cursor = self.cursor
        ahead = cursor.ahead
        if not ahead:
            return super().__next__()
        # Without any call in between, so that Ctrl-C finds all of it done or nothing.
        data = ahead[-1]
        cursor.requests.position += 1
        del ahead[-1]
        return by_source(self.data_stream, data) if self.as_dict else data

    def take_into(self, taken: list[Any], count: int) -> None:
        """Take several steps at once; see `DataIterator.take_into`."""
        cursor = self.cursor
        end = len(taken) + count
        while self._reads_ahead and not self.as_dict and len(taken) < end:
            ahead = cursor.ahead
            number = min(len(ahead), end - len(taken))
            if number:
                # Without any call in between, as above.
                taken += ahead[:-number - 1:-1]
                cursor.requests.position += number
                del ahead[-number:]
            else:
                before = len(taken)
                super().take_into(taken, 1)  # reads the next ones, too
                if len(taken) == before:
                    return
        super().take_into(taken, end - len(taken))

    def take_rows_into(self, taken: list[Any], count: int) -> None:
        """Take several steps at once, by source; see `DataIterator.take_rows_into`."""
        cursor = self.cursor
        if self._reads_ahead and not self.as_dict:
            number = min(len(cursor.ahead), count)
            self.take_into(taken, number)
            count -= number
            request = cursor.requests.coming(count) if count else None
            rows = None if request is None else rows_of(self.data_stream.dataset, request)
            if rows is not None:
                # Without any call in between, as above.
                number = rows.length
                taken += (rows,)
                cursor.requests.position += number
                count -= number
        if count:
            self.take_into(taken, count)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, '_ahead_size': 0}

    def _is_superseded(self) -> bool:
        return self._shares_state and super()._is_superseded()

    def rewind(self, count: int) -> bool:
        """Go back steps; see `DataIterator.rewind`."""
        self.cursor.ahead.clear()
        # At its end an epoch has let go of its order.
        return (self.cursor.is_rewindable and not self.cursor.finished
                and self.cursor.requests.rewind(count))

    def _draw(self, cursor: EpochCursor) -> Batch:
        if not self._direct:
            return super()._draw(cursor)
        if self._ahead_size:
            data = self._draw_ahead(cursor)
            if data is not None:
                return data
        before = cursor.step
        try:
            request = (cursor.requests.next_compact() if self._compact
                       else next(cursor.requests))
            data = self.data_stream.dataset.get_data(cursor.data_state, request)
            if self._reads_ahead:
                self._widen(data)
        except BaseException as error:
            # Where the data are bad, there is no use in asking again. Where they could not be
            # reached, or somebody pressed Ctrl-C, they must not be lost.
            # But a loop that goes on whatever happens must come to its end.
            if not isinstance(error, Exception):
                if cursor.step > before:
                    cursor.take_back()
            elif isinstance(error, OUTSIDE_FAULTS) and self._missed != cursor.step:
                self._missed = cursor.step
                cursor.take_back()
            raise
        return data  # type: ignore[no-any-return]

    def _draw_ahead(self, cursor: EpochCursor) -> Batch | None:
        """Take a step and read those that come next, or return `None` where it cannot be done."""
        request = cursor.requests.coming(self._ahead_size)
        self._ahead_size = 0
        if request is None:
            self._reads_ahead = False
            return None
        rows = rows_of(self.data_stream.dataset, request)
        if rows is None or not rows.length:
            return None
        ahead = rows.examples()
        self._widen(ahead[0], len(ahead))
        ahead.reverse()
        data = ahead[-1]
        cursor.requests.position += 1
        del ahead[-1]
        cursor.ahead = ahead
        return data

    def _widen(self, example: Batch, size: int = 1) -> None:
        """Read twice as many examples the next time, as far as there is room for them.

        Who takes only a few does not pay for many.
        """
        size = min(2 * size, EXAMPLES, ROOM // max(bytes_of(example), 1))
        self._ahead_size = size if size > 1 else 0


class DataStream(AbstractDataStream):
    """A stream over a data set.

    Parameters
    ----------
    dataset : Dataset
        Where the data come from. It is opened at once.
    iteration_scheme : IterationScheme, optional
        Which data to ask for, and in which order. Without one the stream gives the examples of
        the data set as they come.
    axis_labels : mapping, optional
        Maps source names to a tuple with a label for each axis. Those of the data set by
        default, without the batch axis where the stream gives single examples.

    Attributes
    ----------
    data_state : object
        The state of the data set in the newest epoch.
    """

    def __init__(self, dataset: Any, iteration_scheme: IterationScheme | None = None, *,
                 axis_labels: AxisLabels | None = None) -> None:
        for name, value, what in (('get_data', dataset, 'a data set'),
                                  ('get_request_iterator', iteration_scheme,
                                   'an iteration scheme')):
            if value is not None and (isinstance(value, type)
                                      or not callable(getattr(value, name, None))):
                raise TypeError(f'{type(self).__name__}: expected {what}; got '
                                f'{type(value).__name__}'
                                + (f' {value.__name__}, not an instance of it'
                                   if isinstance(value, type) else ''))
        super().__init__(iteration_scheme=iteration_scheme, axis_labels=axis_labels)
        self.dataset = dataset
        if iteration_scheme is None:
            self.produces_examples = True
        self.data_state = dataset.open()
        self._fresh_state = True
        self._is_closed = False

    @classmethod
    def default_stream(cls, dataset: Any, **kwargs: Any) -> Any:
        """Return a stream over a data set, with the data set's default transformers around it.

        Parameters
        ----------
        dataset : Dataset
            Where the data come from.
        **kwargs
            Handed to the constructor, such as `iteration_scheme`.

        Returns
        -------
        AbstractDataStream
        """
        return dataset.apply_default_transformers(cls(dataset, **kwargs))

    def _own_sources(self) -> tuple[str, ...]:
        return tuple(self.dataset.sources)

    @property
    def axis_labels(self) -> Any:
        """The labels of the axes: a mapping from source name to tuple, or `None`."""
        labels = super().axis_labels
        return axes.unbatched(labels) if self.produces_examples else labels

    @axis_labels.setter
    def axis_labels(self, labels: AxisLabels | None) -> None:
        self._axis_labels = labels

    def _own_axis_labels(self) -> Any:
        labels = getattr(self.dataset, 'axis_labels', None)
        return None if labels is None else dict(labels)

    @derived
    def num_examples(self) -> int | None:
        """How many examples an epoch has, where that is known."""
        if self.iteration_scheme is not None:
            return getattr(self.iteration_scheme, 'num_examples', None)
        number = getattr(self.dataset, 'num_examples', None)
        # Some data sets say nan where they do not know.
        return None if number is None or number != number else int(number)

    @derived
    def num_batches(self) -> int | None:
        """How many batches an epoch has; `None` where that is not known, or for examples."""
        if self.iteration_scheme is None or self.produces_examples:
            return None
        return getattr(self.iteration_scheme, 'num_requests', None)

    def get_data(self, request: Request = None) -> Batch:
        """Return data of the newest epoch.

        Parameters
        ----------
        request : object, optional
            Handed to the data set.

        Returns
        -------
        tuple
            One item for every source.
        """
        return self.dataset.get_data(self.data_state, request)  # type: ignore[no-any-return]

    def close(self) -> None:
        """Close the data set."""
        if not self._is_closed:
            self.dataset.close(self.data_state)
        self.data_state = None
        self._fresh_state = False
        self._is_closed = True

    def reset(self) -> None:
        """Go back to a fresh state of the data set."""
        self.data_state = (self.dataset.open() if self._is_closed
                           else self.dataset.reset(self.data_state))
        self._fresh_state = True
        self._is_closed = False

    def next_epoch(self) -> None:
        """Take the data set to its next epoch."""
        self.data_state = self.dataset.next_epoch(self.data_state)

    def get_epoch_iterator(self, as_dict: bool = False) -> Any:
        """Start the next epoch, and return an iterator over it.

        Parameters
        ----------
        as_dict : bool, optional
            Give dicts from source name to data in place of tuples. Off by default.

        Returns
        -------
        DataIterator
            Independent of other iterators over this stream where the data set is indexed, or can
            be opened more than once; where it cannot, the older iterator raises
            `SupersededIteratorError` as soon as it is used again.
        """
        if self._loaded_state is None or self._loaded_state['done']:
            self._open_epoch()
        cursor = self._next_cursor()
        cursor.data_state = self.data_state
        return spread(self, SourceIterator(self, as_dict, cursor))

    def _open_epoch(self) -> None:
        """Get the state of the data set for a new epoch."""
        if self._fresh_state:
            self._fresh_state = False
        elif self._is_closed or (getattr(self.dataset, 'independent_states', False)
                                 and type(self).next_epoch is DataStream.next_epoch):
            # The older state stays with the older iterator. Where there is none, what was opened
            # once more is closed, or the file of the data set would stay open for ever.
            has_no_state = self.data_state is None and not self._is_closed
            self.data_state = self.dataset.open()
            self._is_closed = False
            if has_no_state:
                self.dataset.close(None)
        else:
            self.next_epoch()

    def spread_obstacle(self) -> str | None:
        """Say why the steps of this stream cannot be computed one by one by others."""
        dataset, scheme = self.dataset, self.iteration_scheme
        name = type(dataset).__name__
        if scheme is None:
            return (f'{name} gives its examples one after another: nobody can ask it for those of '
                    'one step')
        if isinstance(scheme, BatchSizeScheme):
            return (f'{type(scheme).__name__} asks for the next examples of {name}, and does not '
                    'say which ones')
        if self.data_state is not None:
            return (f'{name} keeps a state from step to step (its open() returns a '
                    f'{type(self.data_state).__name__})')
        if type(self).get_epoch_iterator is not DataStream.get_epoch_iterator:
            return f'{type(self).__name__} overrides get_epoch_iterator'
        return None

    # Where it stands.

    def _position_of(self, cursor: EpochCursor | None) -> dict[str, Any]:
        position = super()._position_of(cursor)
        if cursor is not None or not (self._fresh_state or self._is_closed):
            data_state = self.data_state if cursor is None else cursor.data_state
            plain = self.dataset.state_to_plain(data_state, position['step'])
            if plain is not None:
                position['dataset'] = plain
        return position

    def load_state_dict(self, state: State) -> None:
        """Go on from a state: the next call of `get_epoch_iterator` gives what was left.

        Parameters
        ----------
        state : dict
            What `state_dict` of a stream built in the same way returned.

        Raises
        ------
        StateError
            The state belongs to another kind of stream.
        """
        super().load_state_dict(state)
        if state['done'] and 'dataset' in state:
            self._replace_data_state(state, iter(()))

    def _resumed_requests(self, state: Any, step: int) -> RequestIterator:
        requests = super()._resumed_requests(state, 0)
        self._replace_data_state(self._loaded_state or {}, itertools.islice(requests, step))
        requests.skip(step - requests.position)
        if requests.position != step:
            raise StateError(f'the state was saved after {step} requests of an epoch; an epoch of '
                             f'this {type(self).__name__} has {requests.position}')
        return requests

    def _replace_data_state(self, state: State, answered: Iterator[Request]) -> None:
        if not self._is_closed:
            self.dataset.close(self.data_state)
        self._is_closed = False
        self.data_state = self.dataset.state_from_plain(state.get('dataset'), answered)
        self._fresh_state = False
