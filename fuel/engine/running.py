"""What workers do: the steps of a chain that they are asked for."""
from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy

from fuel import rng
from fuel._types import Batch, Request
from fuel.engine.owning import owned
from fuel.engine.plan import chain_of
from fuel.engine.results import Result
from fuel.streams.blocks import rows_of
from fuel.streams.changes import none_error
from fuel.streams.source import DataStream, takes_index_arrays

__all__ = ['StepRunner', 'Steps']


class Steps:
    """The steps that a worker is asked for.

    Parameters
    ----------
    epoch : int
        The number of the epoch.
    step : int
        The number of the first step, from 0.
    requests : sequence
        One request for each step.
    together : slice, list, ndarray or None
        The same requests as one, where they are for single examples.
    """

    __slots__ = ('epoch', 'requests', 'step', 'together')

    def __init__(self, epoch: int, step: int, requests: Sequence[Request] | None,
                 together: Request | None = None) -> None:
        self.epoch = epoch
        self.step = step
        self.requests = requests
        self.together = together

    @property
    def count(self) -> int:
        """How many steps."""
        together = self.together
        if self.requests is not None or together is None:
            return len(self.requests or ())
        return (together.stop - together.start if isinstance(together, slice)
                else len(together))

    def part(self, start: int, stop: int | None = None) -> Steps:
        """Return some of the steps, counted from the first one."""
        return Steps(self.epoch, self.step + start, self.single()[start:stop])

    def __reduce__(self) -> tuple[Any, ...]:
        # What can be told from the other is not sent.
        requests: Any = None if self.together is not None else self.requests
        together = self.together
        # numpy's own pickles take several times as long as to do what is asked for.
        if isinstance(together, numpy.ndarray):
            return _compact_steps, (self.epoch, self.step, together.dtype.str, together.tobytes(),
                                    True)
        if requests is not None and len(requests) == 1 and (
                isinstance(requests[0], numpy.ndarray) and requests[0].ndim == 1):
            indices = requests[0]
            return _compact_steps, (self.epoch, self.step, indices.dtype.str, indices.tobytes(),
                                    False)
        return Steps, (self.epoch, self.step, requests, together)

    def single(self) -> Sequence[Request]:
        """Return one request for each step."""
        if self.requests is None:
            together: Any = self.together
            self.requests = (range(together.start, together.stop) if isinstance(together, slice)
                             else together if isinstance(together, list) else together.tolist())
        return self.requests


def _compact_steps(epoch: int, step: int, dtype: str, content: bytes, together: bool) -> Steps:
    indices: Any = numpy.frombuffer(content, dtype)
    return Steps(epoch, step, None, indices) if together else Steps(epoch, step, [indices])


class _Position:
    """Where a step stands, for random numbers, and whether its data are being read."""

    __slots__ = ('epoch', 'is_reading', 'step')

    def __init__(self, epoch: int, step: int) -> None:
        self.epoch = epoch
        self.step = step
        self.is_reading = False


class StepRunner:
    """Computes any step of the lower part of a chain, given its request.

    Parameters
    ----------
    top : AbstractDataStream
        The outermost stream of that part.

    Attributes
    ----------
    stream, dataset : object
        The stream, and the data set that it reads.
    """

    def __init__(self, top: Any) -> None:
        self.stream = top
        self.source: DataStream = chain_of(top)[-1]
        self.dataset = self.source.dataset
        self._plan: tuple[Callable[[Request], Batch], tuple[Callable[[Batch], Batch], ...]] | None
        self._plan = None
        #: Whether data are kept while others are made, also those of single tasks.
        self.keeps_apart = False
        # A subclass that overrides get_data is asked through it.
        self._direct = type(self.source).get_data is DataStream.get_data

    def __getstate__(self) -> dict[str, Any]:
        return {'stream': detached(self.stream)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        StepRunner.__init__(self, state['stream'])

    def parts(self) -> list[tuple[str, Any]]:
        """Return the streams, and what they consist of, with names for them."""
        return parts_of(self.stream)

    def _planned(self) -> tuple[Callable[[Request], Batch], tuple[Callable[[Batch], Batch], ...]]:
        if self._plan is None:
            changes: tuple[Callable[[Batch], Batch], ...] = ()
            for stream in reversed(chain_of(self.stream)[:-1]):
                stream.known_sources = None
                stream.known_sources = stream.sources
                changes = stream.steps_after(changes)
            get_data = self.dataset.get_data
            read = (lambda request: get_data(None, request)) if self._direct else (
                self.source.get_data)
            self._plan = read, changes
        return self._plan

    def run(self, body: Steps) -> Result:
        """Compute steps.

        Parameters
        ----------
        body : Steps
            Which ones.

        Returns
        -------
        Result
            Those before the first one that failed, and its error; `extra` tells whether that
            came of reading the data set.
        """
        steps: list[Any] = []
        position = _Position(body.epoch, body.step)
        try:
            self._planned()
            rng.run_at(position, None, self._run, body, position, steps)
        except BaseException as error:
            return Result(steps, error, position.is_reading)
        return Result(steps)

    def _run(self, body: Steps, position: _Position, steps: list[Any]) -> None:
        read, changes = self._planned()
        drawn: Sequence[Any] | None = None
        if body.together is not None:
            rows = rows_of(self.dataset, body.together) if self._direct else None
            drawn = None if rows is None else rows.examples()
        keeps = self.keeps_apart or body.count > 1
        data: Any = None
        change: Any = None
        for item in (body.single() if drawn is None else drawn):
            position.step += 1
            data = change = None
            try:
                if drawn is None:
                    position.is_reading = True
                    data = read(item)
                    position.is_reading = False
                else:
                    data = item
                for change in changes:
                    data = change(data)
            except Exception as error:
                if data is None and change is not None and not isinstance(error, StopIteration):
                    problem = none_error(changes, change, position.epoch, position.step - 1)
                    if problem is not None:
                        raise problem from error
                raise
            if data is None:
                problem = none_error(changes, None, position.epoch, position.step - 1)
                if problem is not None:
                    raise problem
            # Data of a step that were not changed belong to nobody else.
            if keeps and (changes or drawn is None):
                data = owned(data)
            steps.append(data)


def takes_compact(source: DataStream) -> bool:
    """Tell whether a stream's data set may be given slices and arrays for lists of indices."""
    return type(source).get_data is DataStream.get_data and takes_index_arrays(source.dataset)


def detached(top: Any) -> Any:
    """Return a copy of a chain without what belongs to epochs under way here.

    The streams are new ones; what they hold is shared.
    """
    below = getattr(top, 'data_stream', None)
    copied = copy.copy(top)
    attributes = vars(copied)
    if below is not None:
        copied.data_stream = detached(below)
    for name in ('child_epoch_iterator', 'epoch_cursor', 'groups', '_loaded_state'):
        if attributes.get(name) is not None:
            attributes[name] = None
    return copied


def parts_of(top: Any) -> list[tuple[str, Any]]:
    """Return the streams of a chain and what they consist of, with names for them."""
    parts = []
    for stream in reversed(chain_of(top)):
        name = type(stream).__name__
        parts += [(f'{name}.{attribute}', value) for attribute, value in vars(stream).items()
                  if attribute not in ('data_stream', 'child_epoch_iterator', 'epoch_cursor')]
    return parts
