"""The stream that reads a data set."""
from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from fuel import axes
from fuel._types import AxisLabels, Batch, Request, State
from fuel.iterator import DataIterator, EpochCursor
from fuel.schemes.base import IterationScheme
from fuel.schemes.requests import RequestIterator
from fuel.streams.base import AbstractDataStream

__all__ = ['OUTSIDE_FAULTS', 'DataStream', 'SourceIterator']

#: Errors that say nothing about the data themselves.
OUTSIDE_FAULTS = (FileNotFoundError, PermissionError, ConnectionError, TimeoutError, MemoryError)


class SourceIterator(DataIterator):
    """Iterates over one epoch of a `DataStream`."""

    def __init__(self, data_stream: DataStream, as_dict: bool, cursor: EpochCursor) -> None:
        super().__init__(data_stream, as_dict=as_dict, cursor=cursor)
        dataset = data_stream.dataset
        # A subclass that overrides get_data is asked through it, and given plain requests.
        self._direct = type(data_stream).get_data is DataStream.get_data
        self._compact = self._direct and bool(getattr(dataset, 'takes_index_arrays', False))
        self._shares_state = not (
            self._direct and (cursor.data_state is None
                              or getattr(dataset, 'independent_states', False)))

    def _is_superseded(self) -> bool:
        return self._shares_state and super()._is_superseded()

    def rewind(self, count: int) -> bool:
        """Go back steps; see `DataIterator.rewind`."""
        requests = self.cursor.requests
        if self.cursor.data_state is not None or not self._direct:
            return False
        return requests.rewind(count)

    def _draw(self, cursor: EpochCursor) -> Batch:
        if not self._direct:
            return super()._draw(cursor)
        request = cursor.requests.next_compact() if self._compact else next(cursor.requests)
        try:
            data: Batch = self.data_stream.dataset.get_data(cursor.data_state, request)
        except BaseException as error:
            # Where the data are bad, there is no use in asking again. Where they could not be
            # reached, or somebody pressed Ctrl-C, they must not be lost.
            if isinstance(error, OUTSIDE_FAULTS) or not isinstance(error, Exception):
                cursor.take_back()
            raise
        return data


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
        super().__init__(iteration_scheme=iteration_scheme, axis_labels=axis_labels)
        self.dataset = dataset
        if iteration_scheme is None:
            self.produces_examples = True
        self.data_state = dataset.open()
        self._fresh_state = True

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

    @property
    def num_examples(self) -> int | None:
        """How many examples an epoch has, where that is known."""
        if self.iteration_scheme is not None:
            return self.iteration_scheme.num_examples
        number = getattr(self.dataset, 'num_examples', None)
        # Some data sets say nan where they do not know.
        return None if number is None or number != number else int(number)

    @property
    def num_batches(self) -> int | None:
        """How many batches an epoch has; `None` where that is not known, or for examples."""
        if self.iteration_scheme is None or self.produces_examples:
            return None
        return self.iteration_scheme.num_requests

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
        self.dataset.close(self.data_state)
        self.data_state = None
        self._fresh_state = False

    def reset(self) -> None:
        """Go back to a fresh state of the data set."""
        self.data_state = self.dataset.reset(self.data_state)
        self._fresh_state = True

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
        if self._loaded is None or self._loaded['done']:
            self._open_epoch()
        cursor = self._next_cursor()
        cursor.data_state = self.data_state
        return SourceIterator(self, as_dict, cursor)

    def _open_epoch(self) -> None:
        """Get the state of the data set for a new epoch."""
        if self._fresh_state:
            self._fresh_state = False
        elif getattr(self.dataset, 'independent_states', False):
            # The older state stays with the older iterator.
            self.data_state = self.dataset.open()
        else:
            self.next_epoch()

    # Where it stands.

    def _position_of(self, cursor: EpochCursor | None) -> dict[str, Any]:
        position = super()._position_of(cursor)
        if not (cursor is None and self._fresh_state):
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
        self._replace_data_state(self._loaded or {}, itertools.islice(requests, step))
        requests.skip(step - requests.position)
        return requests

    def _replace_data_state(self, state: State, answered: Iterator[Request]) -> None:
        self.dataset.close(self.data_state)
        self.data_state = self.dataset.state_from_plain(state.get('dataset'), answered)
        self._fresh_state = False
