"""Data of steps as a short description, and blocks of shared memory that it tells the places of.

Arrays that numpy has taken from the arena already stay where they are, if nobody else can see them;
others are copied into it. What is not an array is pickled, and the arrays in it are taken out of
the pickle. Whoever opens the description gets arrays of his own: nothing that he writes into them
shows up in another array, or in the process that packed them.
"""
from __future__ import annotations

import itertools
import pickle
from collections.abc import Sequence
from sys import getrefcount
from typing import Any

import numpy

from fuel._types import AnyArray
from fuel.engine.out_of_band import SMALL, dumps
from fuel.engine.plain_arrays import code_of, order_of

__all__ = ['Hold', 'pack']

#: What stays in shared memory until it is given back: an array, or the offset of a block; and how
#: many bytes it has.
Hold = tuple[AnyArray | int, int]

# So long may a description be, if there is room elsewhere.
_LONG = 32768
# Arrays of a list are sent together if they are not larger than this on average: they are copied
# twice, but need no block each.
_SMALL_IN_LIST = 16384
_VALUES = frozenset({int, float, complex, bool, str, bytes, type(None), numpy.int64, numpy.int32,
                     numpy.uint8, numpy.float32, numpy.float64, numpy.bool_, numpy.str_,
                     numpy.bytes_})


def pack(steps: Sequence[Any], arena: Any, first: int = 0) -> tuple[bytes, list[Hold]]:
    """Describe the data of some steps, and put what is large into shared memory.

    Parameters
    ----------
    steps : list
        The data of each; normally tuples of arrays, but anything that can be pickled. Arrays need
        not be copied if nobody but a tuple in this list knows of them, and nobody but the list
        knows of the tuple.
    arena : Arena
        The memory.
    first : int, optional
        The number of the first block. By default 0.

    Returns
    -------
    description : bytes
        For `Inbox.open`. It is short as long as the arena has room.
    holds : list
        What must be kept until the blocks are not needed any more, in the order of their numbers.

    Raises
    ------
    TypeError
        Something cannot be pickled, not even by cloudpickle.
    """
    writer = _Writer(arena)
    try:
        laid_out: list[Any] = []
        for step in steps:
            # Counted here, where nothing but the list and this loop refers to it.
            alone = getrefcount(step) <= _ALONE
            if type(step) is tuple:
                rest: list[Any] = []
                items = writer.items(step, alone, rest)
                laid_out.append((items, writer.pickled(tuple(rest)) if rest else None))
            else:
                laid_out.append((None, writer.pickled(step)))
        writer.settle_views()
        description = pickle.dumps((first, writer.places, laid_out), 5)
        if len(description) > _LONG:
            number = writer.put(description)
            if number is not None:
                description = pickle.dumps((first, writer.places, number), 5)
    except BaseException:
        writer.forget_after(0)
        raise
    return description, writer.holds


def _alone() -> int:
    """Return how many references there are to something that one container holds.

    They are counted in a loop over the container, as above and below.
    """
    for item in [object()]:
        return getrefcount(item)
    raise AssertionError


_ALONE = _alone()


class _Writer:
    """Puts things into shared memory, and keeps book."""

    def __init__(self, arena: Any) -> None:
        self.arena = arena
        self.holds: list[Hold] = []
        self.places: list[tuple[int, int]] = []         # offset and size of each block
        # By the block of the arrays they are views of, which somebody refers to so many times:
        # the views, and where they are noted.
        self._views: dict[int, tuple[int, list[tuple[int, AnyArray, list[Any], int]]]] = {}

    def items(self, step: Sequence[Any], alone: bool, rest: list[Any],
              usual: int = _ALONE) -> list[Any]:
        """Return what stands for the items of a step, and append those that must be pickled.

        Parameters
        ----------
        step : sequence
            The items.
        alone : bool
            Whether nobody else knows of the sequence.
        rest : list
            What is to be pickled.
        usual : int, optional
            How many references there are to an item that nobody else knows of.

        Returns
        -------
        list
            See `fuel.engine.unpacking`.
        """
        notes: list[Any] = []
        owner_of = self.arena.owner_of
        for item in step:
            references = getrefcount(item)
            if type(item) is not numpy.ndarray:
                if type(item) in _VALUES:
                    notes.append((item,))
                else:
                    several = None
                    if type(item) is list:
                        several = self._several(item, item, alone and references <= usual)
                    if several is None:
                        rest.append(item)
                    notes.append(several)
                continue
            dtype = item.dtype
            code = code_of(dtype)
            if code is None:
                several = None
                if dtype.hasobject and dtype.metadata is None and item.ndim == 1:
                    several = self._several(item, item.tolist(), alone and references <= usual)
                if several is None:
                    rest.append(item)
                notes.append(several)
                continue
            order = order_of(item)
            nbytes = item.nbytes
            if nbytes < SMALL:
                notes.append((item.tobytes(order or 'C'), code, item.shape, order or 'C'))
                continue
            if references > usual:
                same = next(i for i, other in enumerate(step) if other is item)
                if same < len(notes):
                    notes.append(same)
                    continue
            elif alone and order is not None and (owner := owner_of(item)) is not None:
                offset, block, known = owner
                if not known:
                    notes.append(self._held(item, offset, code, order))
                    continue
                self._views.setdefault(block, (known, []))[1].append(
                    (offset, item, notes, len(notes)))
                notes.append(None)
                continue
            notes.append(self._copied(item, code))
        return notes

    def _several(self, item: Any, elements: list[Any], alone: bool) -> tuple[Any, ...] | None:
        """Return what stands for a list or an array of arrays; `None` if it is something else."""
        is_list = elements is item
        if {type(element) for element in elements} != {numpy.ndarray}:
            return None
        # By their addresses: dtypes that are equal may differ in what is noted beside them.
        dtypes = {id(element.dtype): element.dtype for element in elements}
        codes = [code_of(dtype) for dtype in dtypes.values()]
        if None in codes:
            return None
        axes = elements[0].ndim
        total = sum([element.nbytes for element in elements])
        if (len(codes) == 1 and axes and total <= _SMALL_IN_LIST * len(elements)
                and {element.ndim for element in elements} == {axes}
                and all(element.flags.c_contiguous for element in elements)):
            return self._together(elements, codes[0], axes, total, is_list)
        # An array of objects refers to them, beside the list.
        return self.items(elements, alone, [], _ALONE if is_list else _ALONE + 1), is_list

    def _together(self, elements: list[AnyArray], code: Any, axes: int, total: int,
                  is_list: bool) -> tuple[Any, ...]:
        """Note small arrays of one dtype, one after the other."""
        sizes = numpy.fromiter(itertools.chain.from_iterable(
            [element.shape for element in elements]), numpy.int64, axes * len(elements))
        values = numpy.concatenate([element.reshape(-1) for element in elements])
        number = None
        if self.arena.owner_of(values) is not None:
            number = len(self.holds)
            self.holds.append((values, total))
            self.places.append((self.arena.offset_of(values), total))
        elif total >= SMALL:
            number = self.put_array(values)
        content = values.tobytes() if number is None else number
        return content, code, sizes.tobytes(), axes, is_list

    def settle_views(self) -> None:
        """Decide about views: they may stay where they are if they are all there is of an array."""
        for known, views in self._views.values():
            views.sort(key=lambda view: view[0])
            apart = all(view[0] + view[1].nbytes <= following[0]
                        for view, following in itertools.pairwise(views))
            for offset, item, notes, i in views:
                code = code_of(item.dtype)
                if apart and known == len(views):
                    notes[i] = self._held(item, offset, code, order_of(item))
                else:
                    notes[i] = self._copied(item, code)
        self._views.clear()

    def _held(self, item: AnyArray, offset: int, code: Any, order: Any) -> tuple[Any, ...]:
        """Note an array that stays where it is."""
        number = len(self.holds)
        nbytes = item.nbytes
        self.holds.append((item, nbytes))
        self.places.append((offset, nbytes))
        return number, code, item.shape, order

    def _copied(self, item: AnyArray, code: Any) -> tuple[Any, ...]:
        """Note an array that is copied."""
        order = order_of(item) or 'C'
        number = self.put_array(item)
        return item.tobytes(order) if number is None else number, code, item.shape, order

    def put_array(self, array: AnyArray) -> int | None:
        """Copy an array into a block; return which one, or `None` if there is no room."""
        nbytes = array.nbytes
        offset = self.arena.allocate(nbytes)
        if offset < 0:
            return None
        self.holds.append((offset, nbytes))
        self.places.append((offset, nbytes))
        if array.dtype.names is not None:
            # As bytes: that is faster than by fields, and takes what is between them along.
            array = array.view(f'V{array.dtype.itemsize}')
        target: AnyArray = numpy.ndarray(array.shape, array.dtype, self.arena.memory, offset, None,
                                         order_of(array) or 'C')
        target[...] = array
        return len(self.holds) - 1

    def put(self, content: Any) -> int | None:
        """Copy bytes into a block; return which one, or `None` if there is no room."""
        return self.put_array(numpy.frombuffer(content, numpy.uint8))

    def pickled(self, thing: Any) -> tuple[Any, list[int]]:
        """Return what stands for a pickle of something."""
        begin = len(self.holds)
        try:
            content, numbers = dumps(thing, self)
        except Exception as error:
            self.forget_after(begin)
            try:
                content, numbers = dumps(thing, self, by_value=True)
            except Exception:
                raise TypeError(f'what a step gave, a {type(thing).__name__}, cannot be sent to '
                                f'another process: {error}') from error
        if len(content) >= SMALL:
            number = self.put(content)
            if number is not None:
                return number, numbers
        return content, numbers

    def forget_after(self, begin: int) -> None:
        """Give the blocks back from a number on."""
        for hold, _ in self.holds[begin:]:
            if isinstance(hold, int):
                self.arena.free(hold)
        del self.holds[begin:], self.places[begin:]


