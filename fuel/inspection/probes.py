"""What is put in the place of the parts of an epoch iterator to measure them.

An iterator keeps its identity and its attributes, since others hold on to it and look at it; only
its class becomes one that tells a meter when it is at work. It is pickled as one of its own class.
"""
from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from fuel.inspection.meter import Meter, Stage
from fuel.iterator import DataIterator

__all__ = ['Call', 'Proxy', 'is_probed', 'probe', 'probe_requests', 'release']


class _Charge:
    """What the time is charged to: one stage at first, and another one from then on."""

    __slots__ = ('now', 'then')

    def __init__(self, stage: Stage, first: Stage | None = None) -> None:
        self.now = first or stage
        self.then = stage


def _measured(meter: Meter, charge: _Charge, ask: Callable[..., Any], *args: Any,
              counted: Stage | None = None) -> Any:
    """Return what a function returns, and charge the time to a stage."""
    if not meter.begin(charge.now):
        return ask(*args)
    try:
        data = ask(*args)
    except BaseException as error:
        meter.fail(error)
        raise
    finally:
        charge.now = charge.then
    meter.end((data,), counted)
    return data


def _measured_taking(meter: Meter, charge: _Charge, take: Callable[[list[Any], int], None],
                     taken: list[Any], count: int, *, counted: Stage) -> None:
    """Take several steps, and charge the time to a stage."""
    if not meter.begin(charge.now):
        take(taken, count)
        return
    start = len(taken)
    try:
        take(taken, count)
    except BaseException as error:
        meter.fail(error, taken[start:], counted)
        raise
    finally:
        charge.now = charge.then
    meter.end(taken[start:], counted)


def _as_own_class(target: Any, protocol: Any) -> Any:
    """Describe an object for pickle as one of the class that it had."""
    measuring = type(target)
    target.__class__ = measuring.probed
    try:
        make, *rest = target.__reduce_ex__(protocol)
    finally:
        target.__class__ = measuring
    # What pickle knows of that one is that the object has the very class.
    return (object.__new__ if getattr(make, '__name__', '') == '__newobj__' else make, *rest)


def _iterator_class(own: Any, meter: Meter, charge: _Charge, counted: Stage | None) -> Any:
    # What a class is derived from first has to have its layout, so that there is no mix-in.
    class Probed(own):  # type: ignore[misc]
        __slots__ = ()
        probed = own

        def __next__(self) -> Any:
            return _measured(meter, charge, super().__next__, counted=counted)

        def __reduce_ex__(self, protocol: Any) -> Any:
            return _as_own_class(self, protocol)

    return Probed


def _epoch_class(own: Any, meter: Meter, charge: _Charge, counted: Stage) -> Any:
    class Probed(_iterator_class(own, meter, charge, counted)):  # type: ignore[misc]
        __slots__ = ()

        def take_into(self, taken: list[Any], count: int) -> None:
            _measured_taking(meter, charge, super().take_into, taken, count, counted=counted)

        def take_rows_into(self, taken: list[Any], count: int) -> None:
            _measured_taking(meter, charge, super().take_rows_into, taken, count, counted=counted)

    return Probed


def _requests_class(own: Any, meter: Meter, charge: _Charge) -> Any:
    class Probed(_iterator_class(own, meter, charge, None)):  # type: ignore[misc]
        __slots__ = ()

        def next_compact(self) -> Any:
            return _measured(meter, charge, super().next_compact)

        def coming(self, count: int) -> Any:
            return _measured(meter, charge, super().coming, count)

    return Probed


def is_probed(target: Any) -> bool:
    """Tell whether an object is measured."""
    return hasattr(type(target), 'probed')


def probe(iterator: Any, meter: Meter, stage: Stage, counted: Stage | None = None,
          first: Stage | None = None) -> bool:
    """Measure an epoch iterator from now on, if its class can be changed; tell whether it can.

    Parameters
    ----------
    iterator : iterator
        What is to be measured.
    meter, stage
        Where the time goes.
    counted : Stage, optional
        Whose steps it gives; those of the same stage by default.
    first : Stage, optional
        Where the time of the first step goes, if elsewhere.
    """
    make = _epoch_class if isinstance(iterator, DataIterator) else _iterator_class
    charge = _Charge(stage, first)
    return _with_class(iterator, lambda own: make(own, meter, charge, counted or stage))


def probe_requests(requests: Any, meter: Meter, stage: Stage) -> bool:
    """Measure an iterator over requests in the same way."""
    return _with_class(requests, lambda own: _requests_class(own, meter, _Charge(stage)))


def _with_class(target: Any, make: Callable[[Any], Any]) -> bool:
    own = type(target)
    if is_probed(target):
        return True
    try:
        measuring = make(own)
        measuring.__name__, measuring.__qualname__ = own.__name__, own.__qualname__
        measuring.__module__ = own.__module__
        target.__class__ = measuring
    except TypeError:  # it is no class of Python, or cannot be derived from
        return False
    return True


def release(target: Any) -> None:
    """Measure an object no longer."""
    if is_probed(target):
        target.__class__ = type(target).probed


class Proxy(Iterator[Any]):
    """Measures an iterator whose class cannot be changed, such as a generator."""

    def __init__(self, iterator: Iterator[Any], meter: Meter, stage: Stage) -> None:
        self.iterator = iterator
        self.meter = meter
        self.stage = stage
        self.charge = _Charge(stage)

    def __next__(self) -> Any:
        return _measured(self.meter, self.charge, self.iterator.__next__,
                         counted=self.stage)

    def __getattr__(self, name: str) -> Any:
        if name == 'iterator':  # while it is copied
            raise AttributeError(name)
        return getattr(self.iterator, name)

    def __reduce__(self) -> Any:
        return iter, (self.iterator,)


class Call:
    """Measures a function that data go through.

    Parameters
    ----------
    function : callable
        Takes the data of a step, and returns them changed.
    meter, stage
        Where the time goes.
    """

    def __init__(self, function: Callable[..., Any], meter: Meter, stage: Stage) -> None:
        self.function = function
        self.meter = meter
        self.stage = stage
        self.charge = _Charge(stage)

    def __call__(self, *args: Any) -> Any:
        """Call the function."""
        return _measured(self.meter, self.charge, self.function, *args, counted=self.stage)

    def __getattr__(self, name: str) -> Any:
        # Messages about errors name the function and its owner.
        return getattr(self.function, name)
