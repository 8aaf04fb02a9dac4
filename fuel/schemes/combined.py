"""Schemes made of others, and schemes that ask for sizes only."""
from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from fuel._derived import derived
from fuel._types import JSON, Request
from fuel.exceptions import StateError
from fuel.schemes.base import BatchSizeScheme, IterationScheme, positive_integer
from fuel.schemes.requests import ConstantRequests, RequestIterator

__all__ = ['ConcatenatedRequests', 'ConcatenatedScheme', 'ConstantScheme', 'cross_validation']


class ConstantScheme(BatchSizeScheme):
    """Requests batches of one size, for data sets that are read from start to end.

    Parameters
    ----------
    batch_size : int
        The size.
    num_examples : int, optional
        How many examples there are: the last request of an epoch asks for what is left.
    times : int, optional
        How many requests an epoch has. With neither, requests never end.

    Raises
    ------
    ValueError
        Both numbers are given, or one is not positive.

    Examples
    --------
    >>> list(ConstantScheme(3, num_examples=7).get_request_iterator())
    [3, 3, 1]
    >>> list(ConstantScheme(3, times=2).get_request_iterator())
    [3, 3]
    """

    def __init__(self, batch_size: int, num_examples: int | None = None,
                 times: int | None = None) -> None:
        if num_examples is not None and times is not None:
            raise ValueError('ConstantScheme: expected num_examples or times, not both; got '
                             f'num_examples={num_examples!r} and times={times!r}')
        self.batch_size = positive_integer(batch_size, 'batch_size', self)
        self.num_examples = self.num_requests = self.times = None
        if times is not None:
            self.times = self.num_requests = positive_integer(times, 'times', self)
        if num_examples is not None:
            self.num_examples = positive_integer(num_examples, 'num_examples', self)
            self.num_requests = -(-self.num_examples // self.batch_size)

    def get_request_iterator(self) -> ConstantRequests:
        """Return an iterator over sizes."""
        if self.num_examples is None:
            return ConstantRequests(self.batch_size, self.times)
        times, remainder = divmod(self.num_examples, self.batch_size)
        return ConstantRequests(self.batch_size, times, remainder)


class ConcatenatedRequests(RequestIterator):
    """Goes through several request iterators, one after the other.

    Parameters
    ----------
    parts : list of RequestIterator
        The iterators.
    """

    def __init__(self, parts: list[RequestIterator]) -> None:
        self.parts = parts
        self._current = 0

    def _draw(self, method: Callable[[RequestIterator], Request]) -> Request:
        while self._current < len(self.parts):
            try:
                request = method(self.parts[self._current])
            except StopIteration:
                self.parts[self._current].finish()
                self._current += 1
            else:
                self.position += 1
                return request
        raise StopIteration

    def __next__(self) -> Request:
        return self._draw(next)

    def next_compact(self) -> Request:
        """Return the next request, perhaps as a slice or an integer array."""
        return self._draw(lambda part: part.next_compact())

    def skip(self, count: int) -> None:
        """Pass over requests, at most to the end."""
        while count and self._current < len(self.parts):
            part = self.parts[self._current]
            before = part.position
            part.skip(count)
            passed = part.position - before
            count -= passed
            self.position += passed
            if count:
                part.finish()
                self._current += 1

    def take_back(self) -> None:
        """Put back the request that was drawn last; it will be the next one again."""
        self.parts[self._current].take_back()
        self.position -= 1

    def start_state(self) -> JSON:
        """Return those of all parts."""
        return {'parts': [part.start_state() for part in self.parts]}

    def finish(self) -> None:
        """Let go of what the parts hold."""
        for part in self.parts:
            part.finish()


class ConcatenatedScheme(IterationScheme):
    """Goes through several schemes, one after the other, in each epoch.

    Parameters
    ----------
    schemes : iterable of IterationScheme
        At least one; all request single examples, or all request batches.

    Raises
    ------
    ValueError
        There are no schemes, or some request examples and others batches.

    Examples
    --------
    >>> from fuel.schemes.sequential import SequentialScheme
    >>> scheme = ConcatenatedScheme([SequentialScheme(4, 2), SequentialScheme(range(8, 10), 2)])
    >>> list(scheme.get_request_iterator())
    [[0, 1], [2, 3], [8, 9]]
    """

    def __init__(self, schemes: Iterable[IterationScheme]) -> None:
        self.schemes = list(schemes)
        if not self.schemes:
            raise ValueError('ConcatenatedScheme: expected at least one scheme; got none')
        kinds = {scheme.requests_examples for scheme in self.schemes}
        if len(kinds) > 1:
            raise ValueError(
                'ConcatenatedScheme: expected schemes that all request examples, or all request '
                'batches; got ' + ', '.join(
                    f'{type(scheme).__name__} '
                    f'({"examples" if scheme.requests_examples else "batches"})'
                    for scheme in self.schemes))

    @derived
    def requests_examples(self) -> bool:  # type: ignore[override]
        """Whether each request asks for a single example."""
        return self.schemes[0].requests_examples

    @derived
    def num_examples(self) -> int | None:  # type: ignore[override]
        """How many examples an epoch visits, where every part knows it."""
        return _total(scheme.num_examples for scheme in self.schemes)

    @derived
    def num_requests(self) -> int | None:  # type: ignore[override]
        """How many requests an epoch has, where every part knows it."""
        return _total(scheme.num_requests for scheme in self.schemes)

    def get_request_iterator(self) -> ConcatenatedRequests:
        """Start every part, and return an iterator over the requests of all of them."""
        return ConcatenatedRequests([scheme.start_epoch() for scheme in self.schemes])

    def state_dict(self) -> JSON:
        """Return the states of the parts."""
        return {'parts': [scheme.state_dict() for scheme in self.schemes]}

    def load_state_dict(self, state: JSON) -> None:
        """Bring every part to where `state_dict` was called."""
        for scheme, part in zip(self.schemes, self._parts_of(state), strict=True):
            scheme.load_state_dict(part)

    def resume_epoch(self, state: JSON, position: int) -> RequestIterator:
        """Return the requests of an epoch from some position on."""
        requests = ConcatenatedRequests([
            scheme.resume_epoch(part, 0)
            for scheme, part in zip(self.schemes, self._parts_of(state), strict=True)])
        requests.skip(position)
        if requests.position != position:
            raise StateError(f'the state was saved after {position} requests of an epoch; an '
                             f'epoch of this ConcatenatedScheme has {requests.position}')
        return requests

    def _parts_of(self, state: JSON) -> list[JSON]:
        parts: list[JSON] = state.get('parts', []) if isinstance(state, dict) else []
        if len(parts) != len(self.schemes):
            raise StateError(f'the state was saved with {len(parts)} schemes in a row; this '
                             f'ConcatenatedScheme has {len(self.schemes)}')
        return parts


def _total(numbers: Iterable[int | None]) -> int | None:
    total = 0
    for number in numbers:
        if number is None:
            return None
        total += number
    return total


def cross_validation(scheme_class: Callable[..., IterationScheme], num_examples: int,
                     num_folds: int, strict: bool = True,
                     **kwargs: Any) -> Iterator[tuple[Any, ...]]:
    """Yield the schemes of a k-fold cross-validation.

    Parameters
    ----------
    scheme_class : callable
        Called with the examples to visit, and the further keyword arguments.
    num_examples : int
        How many examples there are.
    num_folds : int
        How many folds to make of them; fold i validates on the examples from
        ``num_examples * i // num_folds`` up to the start of the next fold.
    strict : bool, optional
        Refuse folds of unequal sizes. The default.
    **kwargs
        Handed to `scheme_class`, such as `batch_size`.

    Yields
    ------
    tuple
        The scheme for training and that for validation; unless `strict`, also the number of
        examples to validate on.

    Raises
    ------
    ValueError
        `strict`, and the examples cannot be divided into equal folds; or more folds than
        examples.
    """
    num_examples = positive_integer(num_examples, 'num_examples', 'cross_validation')
    num_folds = positive_integer(num_folds, 'num_folds', 'cross_validation')
    if strict and num_examples % num_folds:
        raise ValueError(f'cross_validation: {num_examples} examples cannot be divided into '
                         f'{num_folds} equal folds; pass strict=False for folds of unequal sizes')
    if not 2 <= num_folds <= num_examples:
        raise ValueError(f'cross_validation: expected 2 to {num_examples} folds of {num_examples} '
                         f'examples; got {num_folds}')
    for fold in range(num_folds):
        begin = num_examples * fold // num_folds
        end = num_examples * (fold + 1) // num_folds
        train = scheme_class([*range(begin), *range(end, num_examples)], **kwargs)
        valid = scheme_class(range(begin, end), **kwargs)
        yield (train, valid) if strict else (train, valid, end - begin)
