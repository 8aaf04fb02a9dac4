"""Data of steps, made again out of what packing has written about them.

A step is written as a pair: what stands for its items, and a pickle of all the items that are left
out there. The first is `None` for a step that is no tuple; then the pickle is the step. For an item
there stands one of

- ``None``: the next one of the pickle;
- an integer: the item at that place of the step once more;
- ``(value,)``: the value itself;
- ``(content, dtype, shape, order)``: an array, whose content are the bytes given, or a block;
- ``(content, dtype, shapes, axes, is_list)``: small arrays in a list or an array of objects, whose
  contents stand one after the other; the shapes are bytes of int64;
- ``(items, is_list)``: large ones, each as above.

A pickle is written as its bytes, or the number of a block with them, and the numbers of the blocks
that stand for the buffers which were taken out of it.
"""
from __future__ import annotations

import pickle
from typing import Any, Protocol

import numpy

from fuel._kernels import range_arrays
from fuel._types import AnyArray

__all__ = ['Blocks', 'array_in', 'array_of', 'unpack']


class Blocks(Protocol):
    """Where the contents of blocks come from."""

    def content(self, number: int) -> Any:
        """Return a buffer for a moment only."""

    def buffer(self, number: int) -> Any:
        """Return a buffer that can be written to, and kept."""

    def array(self, number: int, dtype: Any, shape: tuple[int, ...], order: Any) -> AnyArray:
        """Return an array that can be written to, and kept."""


def unpack(laid_out: list[Any], blocks: Blocks) -> list[Any]:
    """Return the data of steps.

    Parameters
    ----------
    laid_out : list
        What stands for them.
    blocks : Blocks
        The contents of the blocks.

    Returns
    -------
    list
        One item for every step.
    """
    steps: list[Any] = []
    for items, pickled in laid_out:
        rest = None
        if pickled is not None:
            content, numbers = pickled
            if isinstance(content, int):
                content = blocks.content(content)
            rest = pickle.loads(content, buffers=map(blocks.buffer, numbers))
        if items is None:
            steps.append(rest)
        else:
            steps.append(tuple(_items(items, iter(rest or ()), blocks)))
    return steps


def _items(noted: list[Any], rest: Any, blocks: Blocks) -> list[Any]:
    items: list[Any] = []
    for note in noted:
        if type(note) is tuple:
            if len(note) == 4:
                content, dtype, shape, order = note
                items.append(array_of(content, dtype, shape, order) if type(content) is bytes
                             else blocks.array(content, dtype, shape, order))
            elif len(note) == 1:
                items.append(note[0])
            else:
                items.append(_several(note, rest, blocks))
        else:
            items.append(next(rest) if note is None else items[note])
    return items


def _several(note: tuple[Any, ...], rest: Any, blocks: Blocks) -> Any:
    """Return a list of arrays, or an array of them."""
    if len(note) == 2:
        noted, is_list = note
        found: Any = _items(noted, rest, blocks)
        if not is_list:
            arrays = found
            found = numpy.empty(len(arrays), dtype=object)
            # In one assignment arrays of equal shapes would become the values.
            for i, array in enumerate(arrays):
                found[i] = array
        return found
    content, dtype, sizes, axes, is_list = note
    if isinstance(content, int):
        content = blocks.content(content)
    shapes = numpy.frombuffer(sizes, numpy.int64).reshape(-1, axes)
    ends = shapes.prod(axis=1).cumsum()
    starts = numpy.zeros_like(ends)
    starts[1:] = ends[:-1]
    found = range_arrays(numpy.frombuffer(content, dtype), starts, ends,
                         None if axes == 1 else shapes)
    return list(found) if is_list else found


def array_in(buffer: Any, dtype: Any, shape: tuple[int, ...], order: Any) -> AnyArray:
    """Return an array that lies in a buffer.

    Parameters
    ----------
    buffer : buffer
        Its bytes.
    dtype, shape, order
        As for `numpy.ndarray`.

    Returns
    -------
    ndarray
        Keeps the buffer.
    """
    return numpy.ndarray(shape, dtype, buffer, 0, None, order)


def array_of(content: bytes, dtype: Any, shape: tuple[int, ...], order: Any) -> AnyArray:
    """Return an array of some bytes.

    Parameters
    ----------
    content : bytes
        Its values.
    dtype, shape, order
        As for `numpy.ndarray`.

    Returns
    -------
    ndarray
        With memory of its own.
    """
    return numpy.ndarray(shape, dtype, content, 0, None, order).copy(order)
