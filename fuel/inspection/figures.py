"""What was measured of a chain, and what follows from it."""
from __future__ import annotations

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from fuel.inspection.chain import HERE, Link
from fuel.inspection.loads import Load, load_of
from fuel.inspection.meter import Stage

__all__ = ['EngineFigures', 'Figures', 'available_processors', 'obstacle_of', 'spreadable']


# About what it costs to hand over a step, in seconds, and how many bytes are copied in one.
_HAND_OVER, _COPIED = 50e-6, 4e9


@dataclass
class EngineFigures:
    """What was measured of an engine.

    Attributes
    ----------
    stage : Stage
        Its own; the time of it is that in which this process waited for workers.
    busy : float or None
        How many seconds its workers were at work, all together, where that is known.
    parts : list of Stage
        What the workers do, with the seconds that each of it took them.
    alone : Load or None
        The work as it is for somebody who is alone in this process, where it is known.
    """

    stage: Stage
    busy: float | None = None
    parts: list[Stage] = field(default_factory=list)
    alone: Load | None = None

    @property
    def plan(self) -> Any:
        """Where the engine runs what."""
        return self.stage.link.stream.plan

    @property
    def handed(self) -> int:
        """How many steps the workers gave."""
        top = next((stage for stage in _below(self.stage)
                    if stage.link.stream is self.plan.top and stage.kind != 'requests'), self.stage)
        return top.steps or self.stage.steps

    def load(self, busy: float) -> Load:
        """Return the work of the workers, who took so long unless it was measured."""
        seconds = busy if self.busy is None else self.busy
        if self.alone is None or not self.alone.seconds:
            return Load(seconds, seconds)
        return self.alone.times(seconds / self.alone.seconds)

    @property
    def workers(self) -> int:
        """How many workers there are."""
        return int(self.plan.num_workers)

    @property
    def is_threads(self) -> bool:
        """Whether workers are threads, of which one at a time runs Python code."""
        return any(cls.__name__ == 'MultiThreading' for cls in type(self.stage.link.stream).mro())


@dataclass
class Figures:
    """What was measured of a chain.

    Attributes
    ----------
    top : Stage
        Of the outermost stream.
    stages : list of Stage
        What was done in this process, without the loop, in the order in which data pass.
    loop : Stage or None
        The training loop, if there was one.
    engines : list of EngineFigures
        The engines of the chain.
    start : Stage
        The starts of epochs; they belong to no stage.
    ended : int
        How many epochs came to their end.
    processors : int
        How many this process may use.
    """

    top: Stage
    stages: list[Stage]
    loop: Stage | None
    engines: list[EngineFigures]
    start: Stage
    ended: int
    processors: int

    @property
    def steps(self) -> int:
        """How many steps the loop was given."""
        return self.top.steps

    @property
    def loop_seconds(self) -> float:
        """How long the training loop was at work; 0 without one."""
        return 0. if self.loop is None else self.loop.seconds

    @property
    def total(self) -> float:
        """How many seconds all took, but for the starts of epochs."""
        return math.fsum(stage.seconds for stage in self.stages) + self.loop_seconds

    @property
    def whole(self) -> Load:
        """All that was done in this process."""
        return load_of([*self.stages, *([] if self.loop is None else [self.loop])])

    def rest_of(self, work: Load) -> Load:
        """Return what would be left to do here if workers did some of it, about."""
        handing_over = self.steps * _HAND_OVER + self.top.nbytes / _COPIED
        whole = self.whole
        return Load(whole.seconds - work.seconds + handing_over,
                    whole.computing - work.computing + handing_over)

    def below(self, stage: Stage) -> float:
        """Return how long a stage waited for those that it draws from."""
        if stage.kind == 'loop':
            return self.total - stage.seconds
        here = {id(other) for other in self.stages}
        return math.fsum(self.below(other) + other.seconds for other in stage.below
                         if id(other) in here)


def _below(stage: Stage) -> Iterator[Stage]:
    for other in stage.below:
        yield other
        yield from _below(other)


def available_processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, 'sched_getaffinity'):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def obstacle_of(stream: Any) -> str | None:
    """Say why steps of a stream cannot be computed by several workers; `None` where they can."""
    find = getattr(stream, 'spread_obstacle', None)
    if find is None:
        return f'{type(stream).__name__} may keep anything from step to step'
    try:
        obstacle: str | None = find()
    except Exception:  # whatever is wrong with it
        return f'{type(stream).__name__} does not say what it keeps'
    return obstacle


def spreadable(link: Link) -> list[Link]:
    """Return the streams of a chain that several workers could compute."""
    return _spreadable(link)[0]


def _spreadable(link: Link) -> tuple[list[Link], bool]:
    found: list[Link] = []
    whole = link.place == HERE and obstacle_of(link.stream) is None
    for other in link.below:
        links, all_below = _spreadable(other)
        found += links
        whole = whole and all_below
    return ([*found, link] if whole else found), whole
