"""Blocks of shared memory that arrays of this process lie in, for as long as they live."""
from __future__ import annotations

from collections import deque
from typing import Any

import numpy

from fuel._types import AnyArray
from fuel.engine.forks import children
from fuel.engine.unpacking import array_in

__all__ = ['Copies', 'Leases', 'Lent']


class Lent:
    """The blocks of a parcel that have not been given back.

    Parameters
    ----------
    returned : deque
        Where those go that are: the number, how many bytes were lent, and how many children of
        this process there had been before.
    first : int
        The number of the first block.
    places : list of tuple of int
        The offset and the size of each.
    """

    __slots__ = ('_born', '_nbytes', '_returned')

    def __init__(self, returned: deque[tuple[int, int, int]], first: int,
                 places: list[tuple[int, int]]) -> None:
        self._returned = returned
        self._born = children.count
        self._nbytes = {number: nbytes for number, (_, nbytes) in enumerate(places, first)}

    def give_back(self, number: int) -> None:
        """Give a block back, once only."""
        nbytes = self._nbytes.pop(number, None)
        if nbytes is not None:
            self._returned.append((number, nbytes, self._born))

    def give_all_back(self) -> None:
        """Give all blocks back."""
        for number in list(self._nbytes):
            self.give_back(number)


class _Lease(numpy.ndarray[Any, Any]):
    """The bytes of a block, which is given back with the last array that has them as its base."""

    _lent: Lent | None = None
    _number: int

    def __del__(self) -> None:
        # This may run in any thread, and in the middle of anything.
        if self._lent is not None:
            self._lent.give_back(self._number)


class Leases:
    """Blocks whose arrays lie in the shared memory.

    Parameters
    ----------
    lent : Lent
        Where they are given back.
    memory : buffer
        The shared memory.
    first, places
        As for `Lent`.
    """

    def __init__(self, lent: Lent, memory: Any, first: int,
                 places: list[tuple[int, int]]) -> None:
        self._leases: list[Any] = []
        for number, (offset, nbytes) in enumerate(places, first):
            # Its base is no array: numpy would make that the base of what is made from this.
            lease = _Lease((nbytes,), numpy.uint8, memory, offset)
            lease._number = number
            lease._lent = lent
            self._leases.append(lease)

    def content(self, i: int) -> Any:
        """Return the bytes of a block."""
        return self._leases[i]

    def buffer(self, i: int) -> Any:
        """Return the bytes of a block, for whoever makes something else of them than an array."""
        return memoryview(self._leases[i])

    def array(self, i: int, dtype: Any, shape: tuple[int, ...], order: Any) -> AnyArray:
        """Return an array that lies in a block."""
        return array_in(self._leases[i], dtype, shape, order)


class Copies:
    """Blocks that are copied into memory of this process.

    Parameters
    ----------
    memory : buffer
        The shared memory.
    places : list of tuple of int
        The offset and the size of each block.
    """

    def __init__(self, memory: Any, places: list[tuple[int, int]]) -> None:
        self._memory = memory
        self._places = places

    def content(self, i: int) -> Any:
        """Return the bytes of a block, which must not be kept."""
        offset, nbytes = self._places[i]
        return numpy.ndarray((nbytes,), numpy.uint8, self._memory, offset)

    def buffer(self, i: int) -> Any:
        """Return a copy of the bytes of a block."""
        return memoryview(self.content(i).copy())

    def array(self, i: int, dtype: Any, shape: tuple[int, ...], order: Any) -> AnyArray:
        """Return a copy of the array in a block."""
        return numpy.ndarray(shape, dtype, self._memory, self._places[i][0], None,
                             order).copy(order)
