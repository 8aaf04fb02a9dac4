"""Where the bottleneck of a chain is, and what would help, in a sentence."""
from __future__ import annotations

import math
from typing import Any

from fuel.inspection.chain import told
from fuel.inspection.figures import EngineFigures, Figures, obstacle_of, spreadable
from fuel.inspection.loads import Load, duration, load_of, sharing
from fuel.inspection.meter import Stage

__all__ = ['bottleneck_of', 'percent']

# By how much something has to be faster to be worth saying.
_GAIN = 1.1
# Workers that are busy less than this are not what holds things up.
_IDLE = 0.5
# Threads that do less than this of what as many should do are in each other's way.
_CROWDED = 0.65
# Where threads have so much to do, they may have held up the loop, which they share a lock with.
_SHARED_LOCK = 0.6

_WAYS = {'decoded': 'decompressed every time', 'library': 'read through the HDF5 library'}


def percent(fraction: float) -> str:
    """Return a fraction as text."""
    return f'{100 * fraction:.0f} %'


def bottleneck_of(figures: Figures) -> str:
    """Return a sentence that says where the bottleneck is, and what would help.

    Parameters
    ----------
    figures : Figures
        What was measured.
    """
    total = figures.total
    if not figures.steps:
        return 'Nothing was measured: no epoch that began meanwhile gave any data.'
    if total <= 0:
        return 'Nothing took any time that could be measured.'
    if figures.ended and figures.start.seconds > total:
        share = figures.start.seconds / (figures.start.seconds + total)
        helps = ('; persistent_workers=True keeps the workers from epoch to epoch'
                 if figures.engines else '; longer epochs (see Repeat) would help')
        return f'Starting epochs is the bottleneck: it takes {percent(share)} of the time{helps}.'
    if figures.engines:
        # The one that is waited for most.
        engine = max(figures.engines, key=lambda one: one.stage.seconds)
        return _with_engine(figures, engine) + '.'
    return _alone(figures) + '.'


def _called(stage: Stage) -> str:
    """Return what a stage does, as the subject of a sentence."""
    if stage.kind == 'loop':
        return 'The training loop'
    if stage.kind == 'requests':
        return f'Choosing the examples ({stage.name})'
    dataset = getattr(stage.link.stream, 'dataset', None)
    if stage.kind == 'source' and dataset is not None:
        return f'Reading the data set ({type(dataset).__name__})'
    return stage.name


def _times(factor: float) -> str:
    return f'would make it up to {factor:.1f} times as fast'


def _number(count: int, what: str = 'worker') -> str:
    return f'{count} {what}' if count == 1 else f'{count} {what}s'


# Without workers.


def _alone(figures: Figures) -> str:
    total, loop = figures.total, figures.loop_seconds
    data = total - loop
    if loop >= data:
        said = f'The training loop is the bottleneck: it takes {percent(loop / total)} of the time'
        gain = _faster_ahead(figures)
        if gain >= 1.02:
            return (f'{said}; a worker that reads ahead (MultiProcessing or MultiThreading) would '
                    f'save up to {percent(1 - 1 / gain)}')
        return f'{said}, so that faster data would save no more than {percent(data / total)}'
    worst = max(figures.stages, key=lambda stage: stage.seconds)
    said = (f'{_called(worst)} is the bottleneck: it takes {percent(worst.seconds / total)} of the '
            'time')
    return said + _help_alone(figures, worst) + _reading_hint(worst)


def _help_alone(figures: Figures, worst: Stage) -> str:
    """Say what workers would do about the slowest stage."""
    total, processors = figures.total, figures.processors
    links = spreadable(figures.top.link)
    shared = [stage for stage in figures.stages
              if stage.kind != 'requests' and any(stage.link is link for link in links)]
    if any(stage is worst for stage in shared):
        work = load_of(shared)
        rest = figures.rest_of(work)
        workers = sharing(work, rest, processors)
        gain = total / duration(work, rest, workers, processors)
        if gain >= _GAIN:
            return (f'; MultiProcessing with {_number(workers)} and persistent_workers=True '
                    f'{_times(gain)}')
        if processors * total <= figures.whole.computing * _GAIN:
            return ('; workers would not help, as there is a single processor' if processors == 1
                    else f'; workers would not help, as the {processors} processors are busy')
        return '; workers would not help, as a step takes hardly longer than to hand it over'
    obstacle = ('the order is made in one place' if worst.kind == 'requests'
                else _obstacle_to(worst))
    gain = _faster_ahead(figures)
    ahead = (f'; a single worker that reads ahead (MultiProcessing with num_workers=1) '
             f'{_times(gain)}' if gain >= _GAIN else '')
    return f'{ahead}; several workers cannot share its work, since {obstacle}'


def _faster_ahead(figures: Figures) -> float:
    """Return how much faster it would be if one worker did all that is not the loop."""
    work = load_of(figures.stages)
    return figures.total / duration(work, figures.rest_of(work), 1, figures.processors)


def _obstacle_to(stage: Stage) -> str:
    """Say what keeps a stage from being shared: something in it, or something that it wraps."""
    for link in _and_below(stage.link):
        obstacle = obstacle_of(link.stream)
        if obstacle is not None:
            return obstacle
    return 'it wraps what an engine gives'


def _and_below(link: Any) -> list[Any]:
    found = [link]
    for other in link.below:
        found += _and_below(other)
    return found


def _reading_hint(stage: Stage) -> str:
    """Say what would help a data set that is slow to read."""
    dataset = getattr(stage.link.stream, 'dataset', None)
    if stage.kind != 'source' or dataset is None or getattr(dataset, 'load_in_memory', True):
        return ''
    for entry in (told(dataset.describe) or {}).values():
        if entry.way in _WAYS:
            return (f'; the source {entry.name!r} is {_WAYS[entry.way]}, which load_in_memory=True '
                    'would avoid')
    return ''


# With workers.


def _with_engine(figures: Figures, engine: EngineFigures) -> str:
    total, waited = figures.total, engine.stage.seconds
    workers = engine.workers
    busy = None if engine.busy is None else min(engine.busy / (workers * total), 1.)
    here = 1 - waited / total
    # What is used most is what holds up the others.
    if here >= (busy if busy is not None else 0.95):
        return _here_is_slowest(figures, engine, busy)
    if busy is not None and busy < _IDLE:
        return _handing_over(figures, engine, busy)
    return _workers_are_slowest(figures, engine, busy)


def _idle_workers(engine: EngineFigures, busy: float | None) -> str:
    if busy is None:
        return ''
    return (f', and {"the worker waits" if engine.workers == 1 else "the workers wait"} '
            f'{percent(1 - busy)} of it')


def _here_is_slowest(figures: Figures, engine: EngineFigures, busy: float | None) -> str:
    others = [stage for stage in figures.stages if stage.kind != 'engine']
    worst = max(others, key=lambda stage: stage.seconds, default=None)
    total, workers = figures.total, engine.workers
    if figures.loop is not None and (worst is None or figures.loop.seconds >= worst.seconds):
        said = (f'The training loop is the bottleneck: it takes '
                f'{percent(figures.loop.seconds / total)} of the time{_idle_workers(engine, busy)}')
        enough = workers if busy is None else max(math.ceil(busy * workers / 0.9), 1)
        if engine.is_threads and engine.alone and engine.alone.seconds > _SHARED_LOCK * total:
            return (f"{said}; if they hold Python's lock they hold it up, and MultiProcessing "
                    'would help')
        return (f'{said}; {_number(enough)} would do' if enough < workers
                else f'{said}; more workers would not help')
    if worst is None:
        return 'This process is the bottleneck; more workers would not help'
    return (f'{_called(worst)} is the bottleneck: it takes {percent(worst.seconds / total)} of the '
            f'time of this process{_idle_workers(engine, busy)}; '
            + _left_to(engine, worst))


def _left_to(engine: EngineFigures, worst: Stage) -> str:
    """Say whether a stage could be left to the workers."""
    outside = _and_below(worst.link)
    inside = [place for place, link in enumerate(outside) if link is engine.stage.link]
    if inside and all(obstacle_of(link.stream) is None for link in outside[:inside[0]]):
        return f'put it inside of {engine.stage.name}, and its workers do that too'
    return f'it cannot be left to them, since {_obstacle_to(worst)}'


def _handing_over(figures: Figures, engine: EngineFigures, busy: float) -> str:
    total, waited = figures.total, engine.stage.seconds
    said = (f'Handing over data is the bottleneck: this process waits {percent(waited / total)} of '
            f'the time, and the workers are busy only {percent(busy)} of it')
    without = total - waited + (engine.busy or 0.)
    if total / without >= _GAIN:
        return f'{said}; num_workers=0 {_times(total / without)}'
    return f'{said}; larger batches or fewer workers would help'


def _workers_are_slowest(figures: Figures, engine: EngineFigures, busy: float | None) -> str:
    total, waited, workers = figures.total, engine.stage.seconds, engine.workers
    spent = math.fsum(part.seconds for part in engine.parts)
    they = 'the worker' if workers == 1 else f'the {workers} workers'
    if spent:
        worst = max(engine.parts, key=lambda part: part.seconds)
        said = (f'{_called(worst)} is the bottleneck: it takes {percent(worst.seconds / spent)} of '
                f'the work of {they}')
    else:
        worst = None
        said = f'The work of {they} is the bottleneck'
    said += (f', and the loop waits {percent(waited / total)} of the time' if busy is None else
             f', busy {percent(busy)} of the time')
    if engine.is_threads and engine.alone and workers > 1 and (
            engine.alone.seconds < _CROWDED * workers * total):
        return (f'{said}; the threads are in the way of each other, and do together what '
                f'{engine.alone.seconds / total:.1f} would do that are not: MultiProcessing would '
                'help')
    hint = '' if worst is None else _reading_hint(worst)
    if engine.plan.mode == 'chain':
        return f'{said}; {_instead_of_chain(figures, engine, worst)}{hint}'
    work = engine.load(workers * total)
    rest = _rest_beside(figures)
    wanted = sharing(work, rest, figures.processors, workers)
    gain = total / duration(work, rest, wanted, figures.processors)
    if wanted > workers and gain >= 1.05:
        unless = (", if it lets go of Python's lock, and if not MultiProcessing would"
                  if engine.is_threads else '')
        return f'{said}; {_number(wanted - workers, "more worker")} {_times(gain)}{unless}{hint}'
    return (f'{said}; more workers would not help, as there '
            f'{"is" if figures.processors == 1 else "are"} '
            f'{_number(figures.processors, "processor")}{hint}')


def _rest_beside(figures: Figures, *more: Stage) -> Load:
    """Return what this process has to do beside workers."""
    return load_of([*(stage for stage in figures.stages if stage.kind != 'engine'), *more,
                    *([] if figures.loop is None else [figures.loop])])


def _instead_of_chain(figures: Figures, engine: EngineFigures, worst: Stage | None) -> str:
    """Say what would help where the whole chain runs in one worker."""
    if worst is not None:
        links = spreadable(engine.parts[-1].link)
        shared = [part for part in engine.parts if any(part.link is link for link in links)]
        if any(part is worst for part in shared):
            work = load_of(shared)
            rest = _rest_beside(figures, *(part for part in engine.parts if part not in shared))
            workers = sharing(work, rest, figures.processors, 2)
            gain = figures.total / duration(work, rest, workers, figures.processors)
            if gain >= _GAIN:
                return (f'{_number(workers)} in place of one that runs the whole chain '
                        f'{_times(gain)}')
    return f'the whole chain runs in one worker, since {_why_chain(engine)}'


def _why_chain(engine: EngineFigures) -> str:
    for link in _and_below(engine.stage.link)[1:]:
        obstacle = obstacle_of(link.stream)
        if obstacle is not None:
            return obstacle
    return 'whole_chain=True was asked for'

