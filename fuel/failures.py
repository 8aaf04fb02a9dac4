"""What to do with a bad example: raise its error, skip it, or skip it and log that."""
from __future__ import annotations

import logging
from dataclasses import dataclass

from fuel.exceptions import (
    AxisLabelsMismatchError,
    ConfigurationError,
    StateError,
    SupersededIteratorError,
    TooManyFailuresError,
)

__all__ = ['FailurePolicy', 'mark_source', 'source_of']

log = logging.getLogger(__name__)

# Errors that say that the program or the machine is wrong, and not an example.
_NOT_OF_THE_DATA = (AxisLabelsMismatchError, ConfigurationError, ConnectionError, MemoryError,
                    NotImplementedError, StateError, SupersededIteratorError, TimeoutError,
                    TooManyFailuresError)
_LEVELS = {'raise': logging.DEBUG, 'skip': logging.DEBUG, 'log': logging.WARNING}
# A fraction means little of the first few steps where the length of an epoch is not known.
_SOME = 100


@dataclass(frozen=True, slots=True)
class FailurePolicy:
    """What to do with a step whose data are bad.

    Parameters
    ----------
    action : {'raise', 'skip', 'log'}
        Raise the error; leave the step out, with a debug message only; or leave it out and log a
        warning.
    ceiling : int or float, optional
        How many steps of an epoch may be left out: an integer is their number, a float below 1
        their fraction of all steps of the epoch. There is no ceiling by default.

    Raises
    ------
    ValueError
        There is no such action, or the ceiling is neither of the two.

    Examples
    --------
    >>> from fuel.failures import FailurePolicy
    >>> FailurePolicy('skip', ceiling=0.01).allowed(seen=50, expected=1000)
    10.0
    """

    action: str
    ceiling: float | None = None

    def __post_init__(self) -> None:
        if self.action not in _LEVELS:
            raise ValueError("expected 'raise', 'skip' or 'log' as what to do about bad examples; "
                             f'got {self.action!r}')
        ceiling = self.ceiling
        if ceiling is not None and (
                isinstance(ceiling, bool) or not isinstance(ceiling, (int, float))
                or not (ceiling >= 0 if isinstance(ceiling, int) else 0 <= ceiling < 1)):
            raise ValueError('expected a ceiling that is a number of examples, such as 10, or a '
                             f'fraction of them below 1, such as 0.01; got {ceiling!r}')

    def tolerates(self, error: BaseException) -> bool:
        """Tell whether an error is one of the data, and the step is to be left out."""
        return (self.action != 'raise' and isinstance(error, Exception)
                and not isinstance(error, (*_NOT_OF_THE_DATA, StopIteration)))

    def allowed(self, seen: int, expected: int | None) -> float:
        """Return how many steps of an epoch may be left out.

        Parameters
        ----------
        seen : int
            How many steps of the epoch were taken, those that failed among them.
        expected : int or None
            How many it has, where that is known.
        """
        if self.ceiling is None:
            return float('inf')
        if isinstance(self.ceiling, int):
            return self.ceiling
        return self.ceiling * max(seen, _SOME if expected is None else expected)

    def report(self, message: str, *arguments: object) -> None:
        """Log that a step is left out."""
        log.log(_LEVELS[self.action], message, *arguments)


def mark_source(error: BaseException, source_name: str) -> None:
    """Note on an error which source its data were of, unless that is noted already."""
    if not hasattr(error, 'source_name'):
        try:
            error.source_name = source_name  # type: ignore[attr-defined]
        except AttributeError:  # an exotic class without room for it
            return


def source_of(error: BaseException) -> str | None:
    """Return the name of the source that `mark_source` noted, or `None`."""
    return getattr(error, 'source_name', None)
