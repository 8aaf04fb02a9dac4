"""What a profile says."""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from fuel.inspection.advice import bottleneck_of, percent
from fuel.inspection.chain import HERE
from fuel.inspection.figures import EngineFigures, Figures
from fuel.utils.progress import format_amount

__all__ = ['Report', 'Row']

_COLUMNS = ('stage', 'where', 'steps', 'time', 'time/step', 'share', 'waiting', 'bytes/step')


@dataclass(frozen=True)
class Row:
    """What a profile says of a stage.

    Attributes
    ----------
    name : str
        The class of a stream, with the function that it applies; of an iteration scheme; or
        'training loop'.
    where : str
        'here', 'workers' or 'one worker'.
    steps : int
        How many steps it gave.
    seconds : float
        How long it was at work itself. For an engine, how long this process waited for its
        workers.
    share : float
        The fraction of all the time, and for what workers do of the time of all workers.
    waiting : float or None
        The fraction of all the time in which it waited for what it draws from; `None` for what
        workers do.
    nbytes : int
        How many bytes its steps had.
    """

    name: str
    where: str
    steps: int
    seconds: float
    share: float
    waiting: float | None
    nbytes: int


class Report:
    """The result of a profile; printed as a table and a sentence.

    Parameters
    ----------
    figures : Figures
        What was measured.
    note : str, optional
        Something to be said beside.

    Attributes
    ----------
    rows : list of Row
        The stages, in the order in which data pass; the loop is the last one.
    steps : int
        How many steps the loop was given.
    seconds : float
        How long that took, the time of the loop among it.
    bottleneck : str
        Where the bottleneck is and what would help, in a sentence.
    """

    def __init__(self, figures: Figures, note: str = '') -> None:
        self.rows = list(_rows(figures))
        self.steps = figures.steps
        self.seconds = figures.total
        self.bottleneck = bottleneck_of(figures)
        self._examples = _is_of_examples(figures)
        self._start = figures.start
        self._idle = [_of_workers(engine, figures.total) for engine in figures.engines]
        self._note = note

    @property
    def rate(self) -> float:
        """How many steps there were in a second."""
        return self.steps / self.seconds if self.seconds else 0.

    def _lines(self) -> Iterator[str]:
        units = 'examples' if self._examples else 'batches'
        one = 'example' if self._examples else 'batch'
        yield (f'{self.steps} {one if self.steps == 1 else units} in {_time(self.seconds)}, '
               f'{self.rate:.4g} {units} per second')
        yield from (line for line in self._idle if line)
        if self._start.steps:
            whole = self.seconds + self._start.seconds
            yield (f'To start an epoch took {_time(self._start.seconds / self._start.steps)}; with '
                   f'that, {self.steps / whole if whole else 0:.4g} {units} per second.')
        if self._note:
            yield self._note

    def _cells(self) -> list[tuple[str, ...]]:
        return [(row.name, row.where, str(row.steps or ''), _time(row.seconds),
                 _time(row.seconds / row.steps) if row.steps else '', percent(row.share),
                 '' if row.waiting is None else percent(row.waiting),
                 format_amount(round(row.nbytes / row.steps), 'B') if row.nbytes else '')
                for row in self.rows]

    def __str__(self) -> str:
        cells = [_COLUMNS, *self._cells()]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        lines = ['  '.join(cell.ljust(width) if place < 2 else cell.rjust(width)
                           for place, (cell, width) in enumerate(zip(row, widths, strict=True)))
                 for row in cells]
        return '\n'.join([*(line.rstrip() for line in lines), *self._lines(), self.bottleneck])

    def __repr__(self) -> str:
        return f'<{type(self).__name__}: {self.bottleneck}>'

    def _repr_markdown_(self) -> str:
        table = [_COLUMNS, ('---', '---', *['---:'] * (len(_COLUMNS) - 2)), *self._cells()]
        return '\n'.join([*(_markdown_row(row) for row in table), '',
                          '  \n'.join([*self._lines(), f'**{self.bottleneck}**'])])


def _markdown_row(cells: Sequence[str]) -> str:
    return '| ' + ' | '.join(cell.replace('|', r'\|') for cell in cells) + ' |'


def _rows(figures: Figures) -> Iterator[Row]:
    total = figures.total or 1.
    engines = {id(engine.stage): engine for engine in figures.engines}
    for stage in figures.stages:
        engine = engines.get(id(stage))
        if engine is not None:
            yield from _worker_rows(engine, total)
        if stage.kind == 'requests':
            yield Row(stage.name, HERE, stage.steps, stage.seconds, stage.seconds / total, 0., 0)
            continue
        name = stage.name if stage.joined is None else f'{stage.name}, within {stage.joined.name}'
        waited = figures.below(stage) + (0. if engine is None else stage.seconds)
        yield Row(name, HERE, stage.steps, stage.seconds, stage.seconds / total, waited / total,
                  stage.nbytes)
    if figures.loop is not None:
        yield Row(figures.loop.name, HERE, figures.steps, figures.loop.seconds,
                  figures.loop.seconds / total, figures.below(figures.loop) / total, 0)


def _worker_rows(engine: EngineFigures, total: float) -> Iterator[Row]:
    capacity = engine.workers * total
    for part in engine.parts:
        place = part.link.place
        yield Row(part.name, place if place != HERE else engine.plan.where(part.link.stream),
                  part.steps, part.seconds, min(part.seconds / capacity, 1.), None, part.nbytes)


def _of_workers(engine: EngineFigures, total: float) -> str:
    if engine.busy is None or not total:
        return ''
    busy = min(engine.busy / (engine.workers * total), 1.)
    who = 'The worker' if engine.workers == 1 else f'The {engine.workers} workers'
    verb = 'was' if engine.workers == 1 else 'were'
    return (f'{who} of {engine.stage.name} {verb} busy {percent(busy)} of the time and waited '
            f'{percent(1 - busy)}.')


def _is_of_examples(figures: Figures) -> bool:
    try:
        return bool(figures.top.link.stream.produces_examples)
    except Exception:  # a stream that does not say
        return False


def _time(seconds: float) -> str:
    """Return a duration as text.

    >>> _time(0.0000123), _time(0.5), _time(75)
    ('12.3 us', '500 ms', '75 s')
    """
    for limit, factor, unit in ((1e-3, 1e6, 'us'), (1., 1e3, 'ms')):
        if seconds < limit:
            return f'{seconds * factor:.3g} {unit}'
    return f'{seconds:.3g} s'
