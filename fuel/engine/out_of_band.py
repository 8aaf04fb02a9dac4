"""Pickles whose arrays and buffers lie in shared memory."""
from __future__ import annotations

import functools
import io
import pickle
from typing import Any, Protocol

import numpy

from fuel._types import AnyArray
from fuel.engine.plain_arrays import code_of, order_of
from fuel.engine.unpacking import array_in, array_of

__all__ = ['SMALL', 'Putting', 'dumps']

#: Smaller ones travel within the pickle: a block of their own costs more.
SMALL = 4096


class Putting(Protocol):
    """What copies things into shared memory."""

    def put_array(self, array: AnyArray) -> int | None:
        """Copy an array into a block; return which one, or `None` if there is no room."""

    def put(self, content: Any) -> int | None:
        """Copy bytes into a block; return which one, or `None` if there is no room."""


def dumps(thing: Any, writer: Putting, by_value: bool = False) -> tuple[bytes, list[int]]:
    """Pickle something.

    Parameters
    ----------
    thing : object
        What.
    writer : Putting
        Where its arrays and buffers go.
    by_value : bool, optional
        Whether functions and classes that cannot be found by their names are pickled as such, by
        cloudpickle. By default not.

    Returns
    -------
    content : bytes
        The pickle, of protocol 5.
    numbers : list of int
        The blocks with its buffers.
    """
    file = io.BytesIO()
    taken = _Taken(writer)
    pickler = (_by_value() if by_value else _ByName)(file, 5, buffer_callback=taken.keep)
    pickler.taken = taken
    pickler.dump(thing)
    return file.getvalue(), taken.numbers


class _Taken:
    """What was taken out of a pickle."""

    def __init__(self, writer: Putting) -> None:
        self.numbers: list[int] = []
        self._writer = writer
        # By the address of what stands for an array; that is kept, so that there is no other one.
        self._stand_ins: dict[int, tuple[int, pickle.PickleBuffer]] = {}

    def reduce(self, array: AnyArray) -> Any:
        """Return what the pickler writes for an array."""
        if code_of(array.dtype) is None:
            return NotImplemented
        order = order_of(array) or 'C'
        number = self._writer.put_array(array) if array.nbytes >= SMALL else None
        if number is None:
            return array_of, (array.tobytes(order), array.dtype, array.shape, order)
        stand_in = pickle.PickleBuffer(bytearray())
        self._stand_ins[id(stand_in)] = number, stand_in
        return array_in, (stand_in, array.dtype, array.shape, order)

    def keep(self, buffer: pickle.PickleBuffer) -> bool:
        """Return whether a buffer must stay in the pickle."""
        number, _ = self._stand_ins.get(id(buffer), (None, None))
        if number is None:
            content = buffer.raw()
            number = self._writer.put(content) if content.nbytes >= SMALL else None
        if number is None:
            return True
        self.numbers.append(number)
        return False


class _ByName(pickle.Pickler):
    taken: _Taken

    def reducer_override(self, thing: Any) -> Any:
        return self.taken.reduce(thing) if type(thing) is numpy.ndarray else NotImplemented


@functools.cache
def _by_value() -> Any:
    """Return a class as above, for what has no name that the other process knows."""
    from cloudpickle import CloudPickler

    class ByValue(CloudPickler):  # type: ignore[misc]
        taken: _Taken

        def reducer_override(self, thing: Any) -> Any:
            if type(thing) is numpy.ndarray:
                return self.taken.reduce(thing)
            return super().reducer_override(thing)

    return ByValue
