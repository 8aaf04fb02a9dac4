"""What workers give back."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ['Finished', 'Lost', 'Result']


@dataclass(slots=True)
class Result:
    """What a runner made of a task.

    Attributes
    ----------
    steps : list
        The data of the steps that were done; normally tuples of arrays.
    error : BaseException or None
        What the step after them raised.
    extra : object
        Something small that travels along.
    """

    steps: list[Any]
    error: BaseException | None = None
    extra: Any = None


@dataclass(slots=True)
class Finished:
    """A task that a worker has done.

    Attributes
    ----------
    worker : int
        Which worker.
    number : int
        Which task.
    parcel : Parcel
        The data of its steps.
    error : BaseException or None
        Ready to be raised; what the step after them raised.
    extra : object
        As in `Result`.
    seconds : float
        How long the worker was at it.
    """

    worker: int
    number: int
    parcel: Any
    error: BaseException | None
    extra: Any
    seconds: float


@dataclass(slots=True)
class Lost:
    """A worker that has ended, and with it the tasks that it was given.

    Attributes
    ----------
    worker : int
        Which worker.
    pid : int
        The number of its process.
    reason : str
        How it ended, in words that go after its name.
    was_ready : bool
        Whether it had got as far as to take tasks. Where it had not, another one in its place
        would most likely end in the same way.
    details : str
        What else is known, on lines of their own: where in its program it crashed, or why it could
        not begin. To be put at the end of a message; it may be empty.
    """

    worker: int
    pid: int
    reason: str
    was_ready: bool = True
    details: str = ''
