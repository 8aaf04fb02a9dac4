"""Measuring the stages of a chain while somebody else iterates over it."""
from __future__ import annotations

import contextlib
import time
import weakref
from collections.abc import Callable, Iterator
from dataclasses import replace
from types import TracebackType
from typing import Any, Self

from fuel.inspection.chain import HERE, Link, link_of, name_of, plan_of
from fuel.inspection.meter import Meter, Stage
from fuel.inspection.probes import Call, Proxy, is_probed, probe, probe_requests, release
from fuel.iterator import DataIterator, EndedIterator
from fuel.transformers.iterating import TransformerIterator

__all__ = ['Watch', 'stages_in']


class _Start:
    """Stands for the method `get_epoch_iterator` of a stream."""

    def __init__(self, watch: Watch, stage: Stage) -> None:
        self.watch = watch
        self.stage = stage
        self.stream = stage.link.stream
        self.begin: Callable[..., Any] = self.stream.get_epoch_iterator

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.watch.started(self.stage, self.begin, *args, **kwargs)

    def __reduce__(self) -> Any:
        # A stream that is pickled meanwhile has its own method again when it is loaded.
        return getattr, (self.stream, 'get_epoch_iterator')


def _stages_of(link: Link) -> Stage:
    """Return the stage of a stream, above those of the streams that it wraps."""
    stream = link.stream
    below = [_stages_of(other) for other in link.below]
    plan = plan_of(stream)
    kind = ('engine' if plan is not None and plan.num_workers else
            'stream' if below else 'source')
    scheme = getattr(stream, 'iteration_scheme', None)
    if kind == 'source' and scheme is not None:
        below = [Stage(type(scheme).__name__, 'requests', link)]
    return Stage(name_of(stream), kind, link, below)


class Watch:
    """Measures the stages of a chain.

    To be used in a ``with`` statement, around a loop over the epochs of the stream. What is
    computed by the workers of an engine cannot be seen from here.

    Parameters
    ----------
    stream : AbstractDataStream
        The outermost stream of the chain.
    clock : callable, optional
        Returns the time in seconds.

    Attributes
    ----------
    top : Stage
        The stage of the outermost stream.
    start : Stage
        What the starts of epochs took; its steps are their number. To `starts` also belong the
        first steps of engines, in which workers are started, and their last ones.
    meter : Meter
        Has the stage of the loop around the stream.
    """

    def __init__(self, stream: Any, clock: Callable[[], float] = time.perf_counter) -> None:
        self.top = _stages_of(link_of(stream))
        self.start = Stage('starts of epochs', 'start')
        # Of engines, and of what is between them and their workers.
        self._firsts = Stage('first steps', 'start'), Stage('first steps', 'start')
        # Of another clock it is not known how it goes with the work of processors.
        self._knows_computing = clock is time.perf_counter
        self.meter = Meter(clock, time.process_time if self._knows_computing else None)
        self._stages = list(stages_in(self.top))
        self._replaced: list[tuple[Any, Any]] = []
        self._new: list[tuple[Any, Stage]] = []
        self._depth = 0
        self._probed: weakref.WeakSet[Any] = weakref.WeakSet()

    def __enter__(self) -> Self:
        self.meter.belong_here()
        for stage in self._stages:
            stream = stage.link.stream
            if stage.kind == 'requests' or stage.link.place != HERE:
                continue
            # A stream without a place for it is measured with what is around it.
            with contextlib.suppress(AttributeError):
                before = getattr(stream, '__dict__', {}).get('get_epoch_iterator')
                if isinstance(before, _Start) and before.watch is self:
                    continue  # it is wrapped by two streams
                stream.get_epoch_iterator = _Start(self, stage)
                self._replaced.append((stream, before))
        self.meter.restart()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        while self._replaced:
            stream, before = self._replaced.pop()
            del stream.get_epoch_iterator
            if before is not None:
                stream.get_epoch_iterator = before
        for iterator in list(self._probed):
            release(iterator)
            if isinstance(iterator, TransformerIterator):
                # Planned anew at the next step.
                iterator._plan = None
                iterator._newest_at = -1
            cursor = getattr(iterator, 'cursor', None)
            if cursor is not None:
                release(cursor.requests)

    def reset(self) -> None:
        """Begin anew, without what was measured so far."""
        for stage in (*self._stages, self.start, *self._firsts, self.meter.ends, self.meter.loop):
            stage.reset()
        self.meter.ended = 0
        self.meter.restart()

    def scale_computing(self, factor: float) -> None:
        """Take processors to have been busy for so many times as long as was measured."""
        if self._knows_computing:
            for stage in (*self._stages, self.meter.loop):
                stage.computing *= factor

    def starts(self) -> Stage:
        """Return what the starts of epochs took, all together."""
        seconds = sum([stage.seconds for stage in (self.start, *self._firsts, self.meter.ends)])
        return replace(self.start, seconds=seconds)

    # Epochs.

    def started(self, stage: Stage, begin: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Start an epoch of a stream, and see that its iterator is measured."""
        self.meter.pause(charged=False)
        measured = self.meter.begin(self.start)
        self._depth += 1
        try:
            iterator = begin(*args, **kwargs)
        finally:
            self._depth -= 1
            if measured:
                self.meter.end()
                self.meter.pause(charged=False)
        if stage is self.top:
            self.start.steps += 1
        if isinstance(iterator, (DataIterator, EndedIterator)):
            self._new.append((iterator, stage))
        elif not probe(iterator, self.meter, stage):
            iterator = Proxy(iterator, self.meter, stage)
        if not self._depth:
            self._measure_new()
            # What the probes cost belongs to no stage.
            self.meter.restart()
        return iterator

    def _measure_new(self) -> None:
        """Measure the iterators that were made since the outermost start began."""
        new, self._new = self._new, []
        # Before any class is changed, since the plans of iterators depend on those below them.
        plans: dict[int, Any] = {}
        calls: dict[int, tuple[Call, ...]] = {}
        for iterator, stage in new:  # the inner ones come first
            plan = _planned(iterator) if type(iterator) is TransformerIterator else None
            if plan is not None:
                plans[id(iterator)] = plan
                below = calls.get(id(iterator.child), ())
                shared = self._shared(stage, plan[1], below)
                own = [Call(change, self.meter, stage) for change in plan[1][shared:]]
                calls[id(iterator)] = (*below[:shared], *own)
        for iterator, stage in new:
            self._measure_iterator(iterator, stage,
                                   first=self._firsts[0] if stage.kind == 'engine' else None)
            for child in self._from_workers(iterator, stage):
                engine = stage.link.engine
                self._measure_iterator(child, self._stage_of(engine),
                                       self._stage_of(engine.plan.top), self._firsts[1])
        for iterator, _ in new:
            if id(iterator) in plans:
                below, _, owners, _ = plans[id(iterator)]
                lowest = owners[0][1]
                # What was read ahead is taken from its iterator, to be counted.
                iterator._plan = (lowest.__next__ if isinstance(lowest, DataIterator) else below,
                                  calls[id(iterator)], owners, False)

    def _shared(self, stage: Stage, changes: tuple[Any, ...], below: tuple[Call, ...]) -> int:
        """Tell how many functions of an iterator are those of the one below it."""
        pairs = enumerate(zip(changes, below, strict=False))
        count = next((number for number, (change, call) in pairs if change != call.function),
                     min(len(changes), len(below)))
        if count < len(below):
            below[count].stage.joined = stage
        return count

    def _measure_iterator(self, iterator: Any, stage: Stage,
                          counted: Stage | None = None, first: Stage | None = None) -> None:
        if is_probed(iterator) or not probe(iterator, self.meter, stage, counted, first):
            return
        self._probed.add(iterator)
        requests = getattr(getattr(iterator, 'cursor', None), 'requests', None)
        if stage.kind == 'source' and stage.below and requests is not None:
            probe_requests(requests, self.meter, stage.below[0])

    def _from_workers(self, iterator: Any, stage: Stage) -> list[Any]:
        """Return the iterators below over streams that workers compute; they were made unseen."""
        if stage.link.engine is None or all(other.place == HERE for other in stage.link.below):
            return []
        child = _child_of(iterator)
        return [child] if isinstance(child, DataIterator) else []

    def _stage_of(self, stream: Any) -> Stage:
        return next(stage for stage in self._stages if stage.link.stream is stream)


def stages_in(stage: Stage) -> Iterator[Stage]:
    """Yield a stage and all below it, those that data come to first before the others."""
    for other in stage.below:
        yield from stages_in(other)
    yield stage


def _planned(iterator: Any) -> Any:
    with contextlib.suppress(Exception):  # it is raised at the first step
        return iterator._planned()
    return None


def _child_of(iterator: Any) -> Any:
    groups = getattr(iterator, 'groups', None)
    if groups is not None:
        return groups.child
    child = getattr(iterator, 'child', None)
    return child if child is not None else getattr(
        iterator.data_stream, 'child_epoch_iterator', None)
