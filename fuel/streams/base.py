"""The base of all streams."""
from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar

from fuel import rng as random_state
from fuel import state as saved
from fuel._derived import derived
from fuel._types import AxisLabels, Batch, Request, State
from fuel.exceptions import StateError
from fuel.iterator import DataIterator, EpochCursor
from fuel.schemes.base import IterationScheme
from fuel.schemes.requests import CountedRequests, NoRequests, RequestIterator

__all__ = ['AbstractDataStream']


class AbstractDataStream(ABC):
    """A stream of data, iterated over in epochs.

    Parameters
    ----------
    iteration_scheme : IterationScheme, optional
        Gives the requests that are handed to `get_data`.
    axis_labels : mapping, optional
        Maps source names to a tuple with a label for each axis.

    Attributes
    ----------
    epoch_cursor : EpochCursor or None
        Where the newest epoch stands; `None` before the first.
    epochs_started : int
        How many epochs were started.
    num_examples : int or None
        How many examples an epoch has, where that is known.
    num_batches : int or None
        How many batches an epoch has, where that is known.
    """

    #: Whether several threads may draw from one epoch iterator, and each gets data of its own.
    thread_safe: ClassVar[bool] = False

    iteration_scheme: IterationScheme | None = None
    epoch_cursor: EpochCursor | None = None
    epochs_started: int = 0

    _sources: tuple[str, ...] | None = None
    _axis_labels: AxisLabels | None = None
    _produces_examples: bool | None = None
    # A state that was loaded and not yet gone on from.
    _loaded_state: State | None = None

    def __init__(self, iteration_scheme: IterationScheme | None = None,
                 axis_labels: AxisLabels | None = None) -> None:
        self.iteration_scheme = iteration_scheme
        if axis_labels is not None:
            self.axis_labels = axis_labels

    # What a stream says of its data.

    @property
    def sources(self) -> tuple[str, ...]:
        """The names of the sources, in the order of the data. Can be assigned."""
        return self._own_sources() if self._sources is None else self._sources

    @sources.setter
    def sources(self, sources: Iterable[str]) -> None:
        if isinstance(sources, (str, bytes)):
            raise ValueError(f'{type(self).__name__}: expected a tuple of source names, such as '
                             f'({sources!r},); got the string {sources!r}')
        self._sources = tuple(sources)

    def _own_sources(self) -> tuple[str, ...]:
        """Return the sources of a stream that none were assigned to."""
        raise AttributeError(f'the sources of this {type(self).__name__} were never set')

    @property
    def axis_labels(self) -> Any:
        """The labels of the axes: a mapping from source name to tuple, or `None`."""
        return self._own_axis_labels() if self._axis_labels is None else self._axis_labels

    @axis_labels.setter
    def axis_labels(self, labels: AxisLabels | None) -> None:
        self._axis_labels = labels

    def _own_axis_labels(self) -> Any:
        """Return the labels of a stream that none were given to."""
        return None

    @property
    def produces_examples(self) -> bool:
        """Whether the stream gives single examples, as opposed to batches."""
        if self.iteration_scheme is not None:
            return bool(self.iteration_scheme.requests_examples)
        if self._produces_examples is None:
            raise ValueError(f'this {type(self).__name__} has no iteration scheme, so it must be '
                             'told whether it produces examples or batches: assign '
                             'produces_examples')
        return self._produces_examples

    @produces_examples.setter
    def produces_examples(self, value: bool) -> None:
        if self.iteration_scheme is not None:
            raise ValueError('whether the stream produces examples follows from its iteration '
                             f'scheme, {type(self.iteration_scheme).__name__}')
        self._produces_examples = value

    @derived
    def num_examples(self) -> int | None:
        """How many examples an epoch has, where that is known."""
        return None

    @derived
    def num_batches(self) -> int | None:
        """How many batches an epoch has, where that is known."""
        return None

    def __len__(self) -> int:
        length = self.num_examples if self.produces_examples else self.num_batches
        if length is None:
            raise TypeError(f'the length of an epoch of this {type(self).__name__} is not known')
        return length

    def __bool__(self) -> bool:
        return True

    # Reading.

    def get_data(self, request: Request = None) -> Batch:
        """Return the data of a step.

        Parameters
        ----------
        request : object, optional
            What is wanted.

        Returns
        -------
        tuple
            One item for every source, in the order of `sources`.
        """
        raise NotImplementedError(f'{type(self).__name__} does not define get_data')

    def reset(self) -> None:
        """Go back to a fresh state of the data."""

    def close(self) -> None:
        """Let go of files and the like. A closed stream opens them again when it is used."""

    def next_epoch(self) -> None:
        """Make ready for the next epoch. `get_epoch_iterator` calls it where it is needed."""

    @abstractmethod
    def get_epoch_iterator(self, as_dict: bool = False) -> Any:
        """Start the next epoch, and return an iterator over it.

        Parameters
        ----------
        as_dict : bool, optional
            Give dicts from source name to data in place of tuples. Off by default.

        Returns
        -------
        DataIterator
            Has a position of its own.
        """
        return DataIterator(self, as_dict=as_dict, cursor=self._next_cursor())

    def iterate_epochs(self, as_dict: bool = False) -> Iterator[Any]:
        """Iterate over epochs, without end.

        Parameters
        ----------
        as_dict : bool, optional
            Handed to `get_epoch_iterator`.

        Yields
        ------
        iterator
            The next epoch, on each step.
        """
        while True:
            yield self.get_epoch_iterator(as_dict=as_dict)

    def spread_obstacle(self) -> str | None:
        """Say why the steps of this stream cannot be computed one by one by others.

        Returns
        -------
        str or None
            A sentence without its full stop; `None` where they can: where the data of a step
            depend on its request, epoch and number, and on no other step.
        """
        return f'{type(self).__name__} makes its data itself, and may keep anything'

    # Where it stands.

    def _next_cursor(self) -> EpochCursor:
        """Return the start of the next epoch, or where a loaded state goes on."""
        loaded = self._loaded_state
        if loaded is None or loaded['done']:
            cursor = EpochCursor(self.epochs_started, self._first_requests())
            self.epochs_started += 1
        else:
            cursor = EpochCursor(loaded['epoch'],
                                 self._resumed_requests(loaded['requests'], loaded['step']))
            # Epochs may have been started beside the one that was saved.
            newest = loaded.get('newest', loaded)
            self.epochs_started = newest['epoch'] + 1
            if newest is not loaded and self.iteration_scheme is not None:
                self.iteration_scheme.load_state_dict(newest['requests'])
        self._loaded_state = None
        return cursor

    def _first_requests(self) -> RequestIterator:
        scheme: Any = self.iteration_scheme
        if scheme is None:
            return NoRequests()
        if isinstance(scheme, IterationScheme):
            return scheme.start_epoch()
        return CountedRequests(scheme.get_request_iterator())

    def _resumed_requests(self, state: Any, step: int) -> RequestIterator:
        if self.iteration_scheme is not None:
            return self.iteration_scheme.resume_epoch(state, step)
        requests = NoRequests()
        requests.skip(step)
        return requests

    def _position_of(self, cursor: EpochCursor | None) -> dict[str, Any]:
        """Describe a position in plain data."""
        scheme = self.iteration_scheme
        newest = self.epochs_started - 1
        if (cursor is not None and cursor.is_foreign) or not isinstance(
                scheme, (IterationScheme, type(None))):
            raise StateError(f'{type(self).__name__} iterates by requests that come from outside '
                             'of the library, so that its state cannot be told in plain data; '
                             'pickle the pair (stream, epoch iterator)')
        if cursor is None or cursor.finished:
            return {'epoch': newest, 'step': 0, 'done': True,
                    'requests': None if scheme is None else scheme.state_dict()}
        start = cursor.requests.start_state()
        if scheme is not None and start is None:
            raise StateError(f'the order of {type(scheme).__name__} cannot be told in plain data; '
                             'pickle the pair (stream, epoch iterator)')
        position = {'epoch': cursor.epoch, 'step': cursor.step, 'done': False, 'requests': start}
        if cursor.epoch != newest:
            position['newest'] = {'epoch': newest, 'requests': None if scheme is None
                                  else scheme.state_dict()}
        return position

    def state_of(self, iterator: DataIterator) -> State:
        """Return the state of the stream as one of its epoch iterators sees it."""
        return saved.new_state(self, **self._position_of(iterator.cursor), **self._own_state())

    def state_dict(self) -> State:
        """Return where the newest epoch iterator stands, as plain data.

        Returns
        -------
        dict
            Fit for JSON. Holds positions and states of random generators, never data.

        Raises
        ------
        StateError
            A part of the stream keeps something that it cannot put into plain data.
        """
        if self._loaded_state is not None:
            return dict(self._loaded_state)
        return saved.new_state(self, **self._position_of(self.epoch_cursor), **self._own_state())

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
        state = self.checked_state(state)
        self._load_own_state(state)
        self._loaded_state = state
        self.epoch_cursor = None
        if state['done']:
            self.epochs_started = state['epoch'] + 1
            if self.iteration_scheme is not None:
                self.iteration_scheme.load_state_dict(state['requests'])

    def checked_state(self, state: Any) -> State:
        """Return a copy of a state, after checking that it can be loaded.

        Raises
        ------
        StateError
            It belongs to another kind of stream, or is not whole.
        """
        checked = saved.checked(self, state, ('epoch', 'step', 'done', 'requests'))
        if (checked['requests'] is None) != (self.iteration_scheme is None):
            having = ('with', 'without')
            saved_without = checked['requests'] is None
            raise StateError(
                f'the state was saved {having[saved_without]} an iteration scheme; this '
                f'{type(self).__name__} is {having[not saved_without]} one')
        if isinstance(self.iteration_scheme, IterationScheme):
            self.iteration_scheme.check_state(checked['requests'])
        return checked

    def refreshed(self, state: State) -> State:
        """Return a state with what it says of other epochs as it is now.

        Parameters
        ----------
        state : dict
            What `state_dict` returned some steps ago. Since then, epochs may have been started
            beside the one that it is about.
        """
        if 'epoch' not in state:
            return state
        newest = self.epochs_started - 1
        scheme = self.iteration_scheme
        requests = None if scheme is None else scheme.state_dict()
        if state['done']:
            return {**state, 'epoch': newest, 'requests': requests}
        state = {key: value for key, value in state.items() if key != 'newest'}
        if newest != state['epoch']:
            state['newest'] = {'epoch': newest, 'requests': requests}
        return state

    def _tells_own_state(self) -> bool:
        """Tell whether the class says what it keeps beside its position."""
        return type(self)._state is not AbstractDataStream._state

    def _own_state(self) -> dict[str, Any]:
        # Through the class: programs of old may have an attribute of that name.
        if self._tells_own_state():
            state = type(self)._state(self)
            return {'own': state} if state else {}
        captured = random_state.capture(getattr(self, 'rng', None))
        return {} if captured is None else {'rng': random_state.encode(captured)}

    def _load_own_state(self, state: State) -> None:
        if 'own' in state:
            type(self)._load_state(self, state['own'])
        if 'rng' in state:
            random_state.reinstate(getattr(self, 'rng', None),
                                   random_state.decode(state['rng']))

    def _state(self) -> dict[str, Any]:
        """Return, as plain data, what a subclass keeps from step to step beside its position."""
        return {}

    def _load_state(self, state: dict[str, Any]) -> None:
        """Take back what `_state` returned."""
        raise StateError(f'{type(self).__name__} defines no _load_state, and cannot take {state!r}')
