"""Progress of long work: a bar on a terminal, plain lines in a log."""
from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

__all__ = ['ProgressBar', 'format_amount', 'format_seconds', 'progress_bar']

logger = logging.getLogger(__name__)

#: Seconds between two lines in a log.
LOG_INTERVAL = 10.
_SINGULARS = {'batches': 'batch'}


class ProgressBar(Protocol):
    """What `progress_bar` gives: something that is told how far the work is."""

    def update(self, value: int) -> None:
        """Say that `value` units, counted from the beginning, are done."""


def format_amount(value: int, unit: str) -> str:
    """Return an amount as text: bytes with a prefix, everything else as a plain number.

    Units are plurals.

    >>> format_amount(4551, 'B'), format_amount(12, 'images'), format_amount(1, 'images')
    ('4.6 kB', '12 images', '1 image')
    """
    if unit != 'B':
        return f'{value} {unit if value != 1 else _SINGULARS.get(unit, unit.removesuffix("s"))}'
    size = float(value)
    for prefix in ('', 'k', 'M', 'G'):
        if size < 999.95:
            return f'{size:.{1 if prefix else 0}f} {prefix}B'
        size /= 1000
    return f'{size:.1f} TB'


def format_seconds(seconds: float) -> str:
    """Return a length of time as text.

    >>> format_seconds(7.4), format_seconds(151), format_seconds(7300)
    ('7 s', '2 min 31 s', '2 h 1 min')
    """
    whole = round(seconds)
    if whole < 60:
        return f'{whole} s'
    if whole < 3600:
        return f'{whole // 60} min {whole % 60} s'
    return f'{whole // 3600} h {whole % 3600 // 60} min'


class _Lines:
    """Writes a line to the log now and then."""

    def __init__(self, label: str, total: int | None, unit: str,
                 clock: Callable[[], float]) -> None:
        self.label, self.total, self.unit, self.clock = label, total, unit, clock
        self.value = 0
        self.start = clock()
        self.next_line = self.start + LOG_INTERVAL

    def update(self, value: int) -> None:
        self.value = value
        now = self.clock()
        if now >= self.next_line:
            self.next_line = now + LOG_INTERVAL
            whole = (f' of {format_amount(self.total, self.unit)} '
                     f'({100 * value // self.total} %)' if self.total else '')
            logger.info('%s: %s%s%s', self.label, format_amount(value, self.unit), whole,
                        self._speed(value, now - self.start))

    def _speed(self, value: int, seconds: float) -> str:
        """Return how fast the work goes, and how long it will take."""
        if value <= 0 or seconds <= 0:
            return ''
        rate = value / seconds
        speed = (format_amount(round(rate), 'B') if self.unit == 'B' else
                 f'{rate:.{0 if rate >= 10 else 2}f} {self.unit}')
        left = (f', {format_seconds((self.total - value) / rate)} left'
                if self.total and value <= self.total else '')
        return f', {speed}/s{left}'

    def finish(self) -> None:
        logger.info('%s: done, %s', self.label, format_amount(self.value, self.unit))


class _Bar:
    """Draws a bar with tqdm."""

    def __init__(self, label: str, total: int | None, unit: str) -> None:
        from tqdm import tqdm

        class Quiet(tqdm):  # type: ignore[type-arg]
            # No watching thread, which would outlive the bar.
            monitor_interval = 0

        self.bar: Any = Quiet(desc=label, total=total, unit=unit, unit_scale=unit == 'B',
                              file=sys.stderr, dynamic_ncols=True)

    def update(self, value: int) -> None:
        # A value below the last one means that the work began anew.
        self.bar.update(value - self.bar.n)

    def close(self) -> None:
        self.bar.close()


@contextmanager
def progress_bar(name: str, maxval: int | None = None, prefix: str = 'Converting', *,
                 unit: str = 'it', clock: Callable[[], float] = time.monotonic
                 ) -> Iterator[ProgressBar]:
    """Show how far some work is, while a ``with`` block runs.

    Parameters
    ----------
    name : str
        What is being worked on.
    maxval : int, optional
        How many units there are in all; not known by default.
    prefix : str, optional
        The verb in front of the name.
    unit : str, optional
        What is counted; ``'B'`` for bytes.
    clock : callable, optional
        Gives the time in seconds; for tests.

    Yields
    ------
    ProgressBar
        Call its ``update(value)`` with the number of units done so far.

    Notes
    -----
    Where standard error is a terminal a bar is drawn there. Elsewhere a line goes to the logger
    ``fuel.utils.progress`` every ten seconds and at the end. Both tell how fast the work goes, and
    how long it will take.
    """
    total = maxval if isinstance(maxval, int) and maxval >= 0 else None
    label = f'{prefix} {name}'
    if sys.stderr is not None and sys.stderr.isatty():
        bar = _Bar(label, total, unit)
        try:
            yield bar
        finally:
            bar.close()
    else:
        lines = _Lines(label, total, unit, clock)
        yield lines
        lines.finish()
