"""Where the time of a pipeline goes."""
from __future__ import annotations

import copy
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any, Self

from fuel.exceptions import StateError
from fuel.inspection.chain import HERE
from fuel.inspection.figures import EngineFigures, Figures, available_processors
from fuel.inspection.loads import load_of
from fuel.inspection.meter import Stage
from fuel.inspection.report import Report
from fuel.inspection.scheduling import scheduling
from fuel.inspection.watching import Watch, stages_in

__all__ = ['Profiler', 'profile']

# How many steps of what workers do are done here, to see what takes them how long.
_SAMPLE = 50


def profile(data_stream: Any, batches: int = 100, consumer: Callable[[Any], Any] | None = None, *,
            warm_up: int = 1, seconds: float = 10.,
            clock: Callable[[], float] = time.perf_counter) -> Report:
    """Measure where the time of a stream goes.

    Epochs of the stream are gone through until there were enough steps. After that the stream
    stands where it stood before, if it can tell its state.

    Parameters
    ----------
    data_stream : AbstractDataStream
        The outermost stream of a chain.
    batches : int, optional
        How many steps to measure: batches, or examples where the stream gives those.
    consumer : callable, optional
        What the training loop does with the data of a step. Without it, the report is about the
        stream alone.
    warm_up : int, optional
        How many steps to take before that.
    seconds : float, optional
        After how many seconds to stop, if there were not enough steps by then.
    clock : callable, optional
        Returns the time in seconds.

    Returns
    -------
    Report
        Printed as a table with a row for every stage, and a sentence that says where the
        bottleneck is and what would help.

    Raises
    ------
    ValueError
        `batches` is not positive, or `warm_up` is negative.

    Notes
    -----
    What the workers of an engine do cannot be seen from here. To tell what of it takes them how
    long, some of the steps are done in this process afterwards.

    Examples
    --------
    >>> import numpy
    >>> from fuel.datasets import IndexableDataset
    >>> from fuel.schemes import SequentialScheme
    >>> from fuel.streams import DataStream
    >>> from fuel.transformers import Cast
    >>> stream = Cast(DataStream(IndexableDataset(numpy.arange(800)),
    ...                          iteration_scheme=SequentialScheme(800, 8)), 'float32')
    >>> report = profile(stream, batches=50)
    >>> [row.name for row in report.rows]
    ['SequentialScheme', 'DataStream', 'Cast']
    >>> report.steps
    50
    """
    if batches <= 0:
        raise ValueError(f'profile: expected batches to be at least 1; got {batches}')
    if warm_up < 0:
        raise ValueError(f'profile: expected warm_up to be at least 0; got {warm_up}')
    saved, note = _state_of(data_stream)
    profiler = Profiler(data_stream, clock)
    try:
        with profiler:
            _consume(profiler, batches, consumer, warm_up, seconds)
        figures = profiler.figures()
        if consumer is None:
            figures.loop = None
        if saved is not None:
            for engine in figures.engines:
                _sample(engine, clock, seconds / 4)
    finally:
        if saved is not None:
            data_stream.load_state_dict(saved)
    return Report(figures, note)


class Profiler:
    """Measures where the time goes while a loop runs over the epochs of a stream.

    To be used in a ``with`` statement around the loop.

    Parameters
    ----------
    data_stream : AbstractDataStream
        The stream whose `get_epoch_iterator` the loop calls.
    clock : callable, optional
        Returns the time in seconds.

    Notes
    -----
    What the loop does between two steps of an epoch is the work of the training loop; what is done
    after an epoch is not counted. Only the thread that entered the statement is measured.

    Examples
    --------
    >>> from fuel.datasets import IndexableDataset
    >>> from fuel.schemes import SequentialScheme
    >>> from fuel.streams import DataStream
    >>> stream = DataStream(IndexableDataset([1, 2, 3]), iteration_scheme=SequentialScheme(3, 1))
    >>> with Profiler(stream) as profiler:
    ...     for batch, in stream.get_epoch_iterator():
    ...         pass  # here a real program would learn
    >>> [row.name for row in profiler.report().rows]
    ['SequentialScheme', 'DataStream', 'training loop']
    """

    def __init__(self, data_stream: Any,
                 clock: Callable[[], float] = time.perf_counter) -> None:
        self.stream = data_stream
        self.clock = clock
        self._watch = Watch(data_stream, clock)
        self._stages = list(stages_in(self._watch.top))
        self._worked: dict[int, float | None] = {}
        self._note_work()

    def __enter__(self) -> Self:
        self._note_work()
        self._watch.__enter__()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 traceback: TracebackType | None) -> None:
        self._watch.__exit__(kind, error, traceback)
        # Others on this machine are no reason to think that the program waits for a device.
        self._watch.scale_computing(scheduling().crowding_since(self._scheduling))

    def _note_work(self) -> None:
        self._worked = {id(stage): _work_of(stage) for stage in self._stages}
        self._scheduling = scheduling()

    def reset(self) -> None:
        """Begin anew, without what was measured so far."""
        self._note_work()
        self._watch.reset()

    def pause(self) -> None:
        """Measure nothing until the next step is asked for."""
        self._watch.meter.pause(charged=True)

    def figures(self) -> Figures:
        """Return what was measured so far."""
        engines = []
        for stage in self._stages:
            if stage.kind == 'engine':
                before, now = self._worked[id(stage)], _work_of(stage)
                engines.append(EngineFigures(
                    stage, None if before is None or now is None else now - before))
        return Figures(self._watch.top, [stage for stage in self._stages
                                         if stage.link.place == HERE],
                       self._watch.meter.loop, engines, self._watch.starts(),
                       self._watch.meter.ended, available_processors())

    def report(self) -> Report:
        """Return a report on what was measured so far."""
        return Report(self.figures())


def _state_of(stream: Any) -> tuple[Any, str]:
    """Return where a stream stands, or `None` and why that cannot be told."""
    try:
        return stream.state_dict(), ''
    except (StateError, AttributeError) as error:
        return None, f'The stream was not put back to where it stood: {error}.'


def _work_of(stage: Stage) -> float | None:
    """Return how many seconds the workers of an engine were at work since it was made."""
    worked: float | None = getattr(stage.link.stream, 'worker_seconds', None)
    return worked


def _consume(profiler: Profiler, steps: int, consumer: Callable[[Any], Any] | None,
             warm_up: int, seconds: float) -> None:
    """Take steps of as many epochs as it takes."""
    taken, is_empty, deadline = -warm_up, False, profiler.clock() + seconds
    while not is_empty:
        is_empty = True
        for data in profiler.stream.get_epoch_iterator():
            is_empty = False
            if consumer is not None:
                consumer(data)
            taken += 1
            if taken == 0:
                profiler.reset()
                deadline = profiler.clock() + seconds
            elif taken >= steps or (taken > 0 and profiler.clock() >= deadline):
                profiler.pause()
                return


def _sample(engine: EngineFigures, clock: Callable[[], float], seconds: float) -> None:
    """Do some of the work of an engine's workers here, to see how it is divided."""
    top = engine.plan.top
    profiler = Profiler(top, clock)
    with profiler:
        handed = engine.handed
        _consume(profiler, min(_SAMPLE, max(handed, 1)), None, 1, seconds)
    found = profiler.figures()
    if not found.steps or not found.total or not handed:
        return
    # Requests are made in this process.
    stages = [stage for stage in found.stages if stage.kind != 'requests']
    engine.alone = load_of(stages).times(handed / found.steps)
    alone = engine.alone.seconds
    if alone:
        factor = (alone if engine.busy is None else engine.busy) / load_of(stages).seconds
        for stage in stages:
            part = copy.copy(stage)
            part.seconds *= factor
            part.computing *= factor
            part.steps = round(part.steps * handed / found.steps)
            part.nbytes = round(part.nbytes * handed / found.steps)
            engine.parts.append(part)
