"""The bases of the iteration schemes."""
from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from typing import Any, ClassVar

from fuel import rng as random_state
from fuel._types import JSON, Request
from fuel.exceptions import StateError
from fuel.schemes.requests import CountedRequests, RequestIterator

__all__ = ['BatchScheme', 'BatchSizeScheme', 'IndexScheme', 'IterationScheme', 'positive_integer']


def positive_integer(value: Any, name: str, owner: object) -> int:
    """Return a size as a Python integer, after checking that it is a positive one."""
    who = owner if isinstance(owner, str) else type(owner).__name__
    if isinstance(value, bool) or not isinstance(value, numbers.Integral):
        raise TypeError(f'{who}: expected {name} to be a positive integer; got {value!r}')
    if value <= 0:
        raise ValueError(f'{who}: expected {name} to be a positive integer; got {value}')
    return int(value)


def _rank(cls: type, name: str) -> int:
    """Return how far up the bases of a class the one is that defines a name."""
    return next(place for place, base in enumerate(cls.__mro__) if name in base.__dict__)


class IterationScheme(ABC):
    """Says which examples to visit, and in which order.

    Subclasses define `get_request_iterator`. What its iterator gives is handed to the data set as
    it is.

    Attributes
    ----------
    requests_examples : bool
        Whether each request asks for a single example.
    num_examples : int or None
        How many examples an epoch visits, where that is known.
    num_requests : int or None
        How many requests an epoch has, where that is known; ``len(scheme)`` too.
    """

    requests_examples: ClassVar[bool]
    num_examples: int | None = None
    num_requests: int | None = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        # A class with an order of its own may visit other examples than its base does.
        for name in ('num_examples', 'num_requests'):
            if _rank(cls, 'get_request_iterator') < _rank(cls, name):
                setattr(cls, name, None)

    @abstractmethod
    def get_request_iterator(self) -> Iterator[Request]:
        """Return an iterator over the requests of the next epoch."""

    def __len__(self) -> int:
        if self.num_requests is None:
            raise TypeError(f'the number of requests of a {type(self).__name__} is not known')
        return self.num_requests

    def __bool__(self) -> bool:
        return True

    def state_dict(self) -> JSON:
        """Return plain data from which the requests of the next epoch follow.

        Returns
        -------
        dict
            Holds the state of the attribute `rng`, if the scheme has one.

        Raises
        ------
        StateError
            The state of `rng` cannot be read.
        """
        rng = getattr(self, 'rng', None)
        if rng is None:
            return {}
        state = random_state.capture(rng)
        if state is None:
            raise StateError(
                f'the state of the {type(rng).__name__} that {type(self).__name__} shuffles with '
                'cannot be read; use a numpy RandomState or Generator, or pickle the pair '
                '(stream, epoch iterator)')
        return {'rng': random_state.encode(state)}

    def check_state(self, state: JSON) -> None:
        """Check that a state, of the scheme or of its requests, belongs to a scheme like this.

        Raises
        ------
        StateError
            It belongs to a scheme of another kind, or one with other sizes.
        """
        name = type(self).__name__
        same = ('Build the same scheme as the one that was saved.')
        if type(self).state_dict is IterationScheme.state_dict:
            shuffled = isinstance(state, dict) and 'rng' in state
            if shuffled != (getattr(self, 'rng', None) is not None):
                raise StateError(
                    f'the state was saved with a scheme that shuffles; {name} has no rng. {same}'
                    if shuffled else
                    f'the state was saved with a scheme without an rng; {name} has one. {same}')
        for key, now in self._sizes().items():
            if isinstance(state, dict) and state.get(key, now) != now:
                raise StateError(f'the state was saved with {key} {state[key]!r}; this {name} has '
                                 f'{now!r}. {same}')

    def _sizes(self) -> dict[str, JSON]:
        """Return what the states of requests have to have in common with this scheme."""
        return {}

    def load_state_dict(self, state: JSON) -> None:
        """Bring the scheme to where `state_dict` was called."""
        IterationScheme.check_state(self, state)
        rng = getattr(self, 'rng', None)
        if rng is not None:
            try:
                random_state.reinstate(rng, random_state.decode(state['rng']))
            except (TypeError, ValueError, KeyError) as error:
                raise StateError(f'the state of the random generator was saved from another kind '
                                 f'than the {type(rng).__name__} of this {type(self).__name__}: '
                                 f'{error}') from None

    def start_epoch(self) -> RequestIterator:
        """Return the requests of the next epoch as an iterator that counts its position."""
        try:
            # A scheme that is its own iterator has no start to which it could go back.
            state = None if self._is_own_iterator() else self.state_dict()
        except StateError:
            state = None
        return self._counted(self.get_request_iterator(), state)

    def _is_own_iterator(self) -> bool:
        return (hasattr(type(self), '__next__')
                and type(self).state_dict is IterationScheme.state_dict)

    def resume_epoch(self, state: JSON, position: int) -> RequestIterator:
        """Return the requests of an epoch from some position on.

        Parameters
        ----------
        state : object
            What the `start_state` of the requests of that epoch was.
        position : int
            How many of its requests were drawn.

        Returns
        -------
        RequestIterator
            The scheme stands as it stood after that epoch had been started.

        Raises
        ------
        StateError
            The state belongs to a scheme with other examples or sizes.
        """
        self.load_state_dict(state)
        requests = self._counted(self.get_request_iterator(), state)
        if isinstance(state, dict):
            start = requests.start_state() or {}
            for key in sorted({*start, *state} - {'rng'}):
                now = start.get(key)
                if state.get(key) != now:
                    raise StateError(f'the state was saved with {key} {state.get(key)!r}; this '
                                     f'{type(self).__name__} has {now!r}')
        requests.skip(position)
        if requests.position != position:
            raise StateError(f'the state was saved after {position} requests of an epoch; an '
                             f'epoch of this {type(self).__name__} has {requests.position}')
        return requests

    def _counted(self, iterator: Iterator[Request], state: JSON) -> RequestIterator:
        # The iterators of this package tell themselves how an epoch started. But a subclass may
        # have drawn numbers before it called the method of its base, or may keep more.
        ours = all(function.__module__.startswith('fuel.schemes.') for function in (
            type(self).get_request_iterator, type(self).state_dict))
        if ours and isinstance(iterator, RequestIterator):
            return iterator
        return CountedRequests(iterator, state)


class BatchSizeScheme(IterationScheme):
    """Requests batches by their size only, for data sets that are read from start to end."""

    requests_examples = False


class _ExamplesScheme(IterationScheme):
    """Keeps the examples to visit.

    Parameters
    ----------
    examples : int or iterable
        A number stands for the indices from 0 up to it. Iterators are read to their end; what
        has a length is kept as it is.
    """

    def __init__(self, examples: int | Iterable[Any]) -> None:
        self.indices = self._checked(examples)

    def _sizes(self) -> dict[str, JSON]:
        # A subclass may choose other examples for each epoch.
        ours = type(self).get_request_iterator.__module__.startswith('fuel.schemes.')
        return {'examples': len(self.indices)} if ours else {}

    def _checked(self, examples: Any) -> Sequence[Any]:
        name = type(self).__name__
        if not isinstance(examples, Iterable) or getattr(examples, 'ndim', 1) == 0:
            return range(positive_integer(examples, 'the number of examples', self))
        if isinstance(examples, (str, bytes)):
            raise TypeError(f'{name}: expected examples to be a number or a sequence of indices; '
                            f'got {examples!r}')
        kept: Any = examples
        if isinstance(examples, Mapping) or not (isinstance(examples, Sized)
                                                 and hasattr(examples, '__getitem__')):
            kept = list(examples)
        if len(kept) == 0:
            raise ValueError(f'{name}: expected at least one example; got none')
        return kept  # type: ignore[no-any-return]


class BatchScheme(_ExamplesScheme):
    """Requests batches of examples.

    Parameters
    ----------
    examples : int or iterable of int
        The examples to visit. A number stands for the indices from 0 up to it.
    batch_size : int
        The number of examples in a request; at least 1. The last one of an epoch may be shorter.

    Raises
    ------
    TypeError
        A size is not an integer.
    ValueError
        A size is not positive, or there are no examples.
    """

    requests_examples = False

    def __init__(self, examples: int | Iterable[Any], batch_size: int) -> None:
        super().__init__(examples)
        self.batch_size = positive_integer(batch_size, 'batch_size', self)

    def _sizes(self) -> dict[str, JSON]:
        return {**super()._sizes(), 'batch_size': self.batch_size}


class IndexScheme(_ExamplesScheme):
    """Requests single examples.

    Parameters
    ----------
    examples : int or iterable of int
        The examples to visit. A number stands for the indices from 0 up to it.

    Raises
    ------
    TypeError
        The number is not an integer.
    ValueError
        There are no examples.
    """

    requests_examples = True
