"""The transformer that goes on after bad examples."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

from fuel._types import Batch, Request
from fuel.exceptions import TooManyFailuresError
from fuel.failures import FailurePolicy, source_of
from fuel.iterator import DataIterator
from fuel.transformers.iterating import TransformerIterator
from fuel.transformers.regrouping import Groups, RegroupingIterator, RegroupingTransformer

__all__ = ['Tolerant']

# So many failures in a row, of a stream whose length is not known, are taken for endless ones.
_ENDLESS = 10_000


class Tolerant(RegroupingTransformer):
    """Leaves out the steps of a stream that raise an error.

    It goes around a chain: a step is left out whichever transformer of the chain, or the data set,
    could not make it. Steps are examples or batches, as the chain has them; a batch is left out as
    a whole, so it is mostly better to be tolerant before batches are made. Errors that say nothing
    about the data, such as those of the memory, the network or the configuration, are raised.

    Parameters
    ----------
    data_stream : AbstractDataStream
        The stream to wrap.
    on_error : {'skip', 'log', 'raise'} or FailurePolicy, optional
        Leave steps out, the default; leave them out and log a warning for each, with source, epoch
        and step; or raise the error, after noting those on it.
    ceiling : int or float, optional
        How many steps of an epoch may be left out: an integer is their number, a float below 1
        their fraction. There is no ceiling by default; but an epoch of which nothing is left is an
        error.
    **kwargs
        Handed to `Transformer`.

    Attributes
    ----------
    num_skipped : int
        How many steps were left out so far, in all epochs. A part of the saved state.

    Raises
    ------
    ValueError
        `on_error` or `ceiling` is something else.
    TooManyFailuresError
        During the iteration: more steps failed than the ceiling allows.

    Examples
    --------
    >>> from fuel.datasets import IndexableDataset
    >>> from fuel.schemes import SequentialExampleScheme
    >>> from fuel.streams import DataStream
    >>> from fuel.transformers import SourceMapping, Tolerant
    >>> dataset = IndexableDataset({'number': ['1', '2', 'three', '4']})
    >>> numbers = SourceMapping(DataStream(dataset, iteration_scheme=SequentialExampleScheme(4)),
    ...                         int)
    >>> stream = Tolerant(numbers, ceiling=1)
    >>> list(stream.get_epoch_iterator())
    [(1,), (2,), (4,)]
    >>> stream.num_skipped
    1
    """

    num_skipped = 0

    def __init__(self, data_stream: Any, on_error: str | FailurePolicy = 'skip',
                 ceiling: float | None = None, **kwargs: Any) -> None:
        super().__init__(data_stream, **kwargs)
        self.policy = (on_error if isinstance(on_error, FailurePolicy)
                       else FailurePolicy(on_error, ceiling))

    @property
    def num_examples(self) -> int | None:
        """How many examples an epoch has, where that is known: where none is left out."""
        return self.data_stream.num_examples if self.policy.action == 'raise' else None

    @property
    def num_batches(self) -> int | None:
        """How many batches an epoch has, where that is known: where none is left out."""
        return self.data_stream.num_batches if self.policy.action == 'raise' else None

    def regroup(self, groups: Groups, request: Request) -> Batch:
        """Return the data of the next step that can be made."""
        skipped = unmoved = 0
        while True:
            before = _positions(groups.child)
            try:
                data = groups.draw()
            except StopIteration:
                self._look_at_end(groups)
                raise
            except Exception as error:
                # What fails twice in the same place is passed over by the streams below.
                stays = bool(before) and before == _positions(groups.child)
                unmoved = unmoved + 1 if stays else 0
                self._look_at(error, groups, before, again=unmoved > 2)
                if stays and unmoved < 2:
                    continue
                groups.failures += 1
                self.num_skipped += 1
                skipped += 1
                if skipped > _ENDLESS and self._expected() is None:
                    self._give_up(groups, f'the last {skipped} in a row, all', error)
            else:
                return data

    def _look_at(self, error: Exception, groups: Groups, before: list[tuple[int, int]], *,
                 again: bool) -> None:
        """Raise an error again if its step cannot be left out; say where it was if it can."""
        place = (f'epoch {before[0][0]}, step {before[0][1]}' if before
                 else f'epoch {groups.epoch}, at an unknown step')
        source = source_of(error)
        sources = (', '.join(map(repr, self.data_stream.sources)) if source is None
                   else repr(source))
        if not self.policy.tolerates(error):
            error.add_note(f'{type(self).__name__}: {place}, source {sources}')
            raise error
        if again:
            error.add_note(f'{type(self).__name__}: {place} cannot be left out, as the wrapped '
                           f'{type(self.data_stream).__name__} will try it again')
            raise error
        self.policy.report('left out: %s, source %s: %s: %s', place, sources,
                           type(error).__name__, error)
        if groups.failures + 1 > self.policy.allowed(self._steps_given() + groups.failures + 1,
                                                 self._expected()):
            self._give_up(groups, f'{groups.failures + 1}, more than the ceiling of '
                                  f'{self.policy.ceiling} allows,', error)

    def _look_at_end(self, groups: Groups) -> None:
        if groups.failures and not self._steps_given():
            self._give_up(groups, f'{groups.failures}, that is all,', None)

    def _give_up(self, groups: Groups, which: str, error: Exception | None) -> NoReturn:
        last = '' if error is None else f'; the last one: {type(error).__name__}: {error}'
        raise TooManyFailuresError(
            f'{type(self).__name__}: of the steps of epoch {groups.epoch}, {which} failed{last}'
        ) from error

    def _expected(self) -> int | None:
        stream = self.data_stream
        length: int | None = (stream.num_examples if self.produces_examples
                              else stream.num_batches)
        return length

    def _steps_given(self) -> int:
        """Return how many steps of the epoch were given out."""
        position = self._running_position()
        return 0 if position is None else max(position.step - 1, 0)

    def _state(self) -> dict[str, Any]:
        return {'skipped': self.num_skipped}

    def _load_state(self, state: dict[str, Any]) -> None:
        self.num_skipped = state['skipped']


def _positions(iterator: Iterator[Any]) -> list[tuple[int, int]]:
    """Return epoch and step of an iterator and of those below it, as far as they can be told."""
    found: list[tuple[int, int]] = []
    waiting: list[Any] = [iterator]
    while waiting:
        current = waiting.pop()
        if isinstance(current, DataIterator):
            found.append((current.epoch, current.step))
        if isinstance(current, TransformerIterator):
            waiting.append(current.child)
        elif isinstance(current, RegroupingIterator):
            waiting.append(current.groups.child)
        else:
            waiting += getattr(current, 'children', ())  # those of a Merge
    return found
