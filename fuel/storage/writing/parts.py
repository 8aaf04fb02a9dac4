"""The parts of a source: what is known about them together, and what of them is to be written."""
from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

import numpy

from fuel._types import AnyArray
from fuel.storage.writing.checks import check_unmasked
from fuel.storage.writing.given import (
    Flat,
    Shaped,
    Stacked,
    Streamed,
    differ,
    is_array,
    is_array_of_objects,
    is_empty,
    is_list_of_arrays,
    with_shapes,
)
from fuel.storage.writing.ragged import checked_example, examples_of
from fuel.storage.writing.rows import same_dtype
from fuel.storage.writing.space import REFERENCE_BYTES, heap_bytes

__all__ = ['SourceParts']


@dataclass(slots=True)
class _Part:
    """One entry of the data: what was given, and how many examples it has if that is known."""

    split: str
    data: Any
    length: int | None = None


class SourceParts:
    """The parts of one source.

    Parameters
    ----------
    name : str
        The source.

    Attributes
    ----------
    ragged : bool
        Whether examples differ in shape.
    dtype : numpy.dtype or None
        Of the values; `None` as long as nothing of a stream has been looked at.
    row : tuple of (int or None) or None
        The shape of an example, with `None` for axes that differ; `None` like `dtype`.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.ragged = False
        self.dtype: numpy.dtype[Any] | None = None
        self.row: tuple[int | None, ...] | None = None
        self._parts: list[_Part] = []
        self._comments: dict[str, list[str]] = {}
        self._values: int | None = 0
        self._heap = 0.                  # what they take if they are of variable length
        self._looked_at: dict[int, Iterator[Any]] = {}

    def add(self, split: str, data: Any, comment: str) -> None:
        """Take a part."""
        where = f'{split}/{self.name}'
        data = with_shapes(data)
        for array in data if isinstance(data, (list, tuple)) else [data]:
            check_unmasked(array, where)
        if not (is_array(data) or isinstance(data, Streamed) or is_list_of_arrays(data)
                or is_empty(data)):
            if (isinstance(data, Iterable) and not hasattr(data, '__array__')
                    and not isinstance(data, (Sequence, Mapping, AbstractSet, memoryview))):
                data = Streamed(data)
            else:
                data = self._as_array(split, data)
        if is_array(data):
            self._check_axes(data, where)
        self._parts.append(_Part(split, data))
        if comment:
            self._comments.setdefault(split, []).append(comment)

    @staticmethod
    def _check_axes(data: Any, where: str) -> None:
        if data.shape is None:
            raise ValueError(f'{where}: expected an array; got {data!r}, which has no values')
        if len(data.shape) == 0:
            raise ValueError(f'{where}: expected an array with a first axis for the examples; got '
                             f'the single value {data!r:.80}')
        if len(data.shape) > 1 and isinstance((data.dtype.metadata or {}).get('vlen'),
                                              numpy.dtype):
            raise ValueError(f'{where}: expected arrays of variable length along a single axis, '
                             f'that of the examples; got the shape {tuple(data.shape)}. Give each '
                             'example as one array')

    def _as_array(self, split: str, data: Any) -> AnyArray:
        try:
            return numpy.asarray(data)
        except ValueError as error:
            raise ValueError(f'{split}/{self.name}: expected an array, or something that can be '
                             'made one; examples of different shapes must be arrays each. numpy '
                             f'says: {error}') from None

    def settle(self, layout: str | None, named: bool) -> None:
        """Look at the parts together, before anything is written.

        Parameters
        ----------
        layout : str or None
            The layout that was asked for, for this source or for all of them.
        named : bool
            Whether it was for this source.

        Raises
        ------
        ValueError
            The parts do not go together, or there is no telling what an iterable has.
        """
        self.ragged = (layout is not None and named) or any(
            isinstance(part.data, Shaped) or is_array_of_objects(part.data)
            or (is_list_of_arrays(part.data) and differ(part.data)) for part in self._parts)
        for part in self._parts:
            if isinstance(part.data, Streamed):
                if layout is not None and not self.ragged:
                    raise ValueError(
                        f'{part.split}/{self.name}: with a layout for all sources, there is no '
                        'telling whether an iterable has blocks of examples or single ones. Give '
                        'the layout as a mapping from those sources whose iterables have single '
                        f'examples, such as {{{self.name!r}: {layout!r}}}')
                part.length = part.data.num_examples
                self._values = None
            elif self.ragged:
                self._settle_examples(part)
            else:
                self._settle_rows(part)
        if self.dtype is None and not any(isinstance(part.data, Streamed) for part in self._parts):
            if self.ragged:
                raise self._nothing()
            # What numpy makes of a list without anything in it.
            self.dtype, self.row = numpy.dtype(float), ()

    def _nothing(self) -> ValueError:
        return ValueError(f'{self.name}: expected at least one example, to tell what examples of '
                          'different shapes are like; got none')

    def _settle_rows(self, part: _Part) -> None:
        if is_list_of_arrays(part.data):
            mixed = any(array.dtype != part.data[0].dtype for array in part.data)
            part.data = (numpy.asarray if mixed else Stacked)(part.data)
        if is_empty(part.data):         # which goes with any dtype and shape
            part.length = 0
            return
        dtype, row = part.data.dtype, tuple(part.data.shape[1:])
        where = f'{part.split}/{self.name}'
        if self.dtype is None:
            self.dtype, self.row = dtype, row
        if not same_dtype(self.dtype, dtype):
            raise ValueError(f'{where}: expected dtype {self.dtype}, as in the parts before; got '
                             f'{dtype}')
        if row != self.row:
            raise ValueError(f'{where}: expected examples of shape {self.row}, as in the parts '
                             f'before; got {row}')
        part.length = int(part.data.shape[0])

    def _settle_examples(self, part: _Part) -> None:
        data = part.data
        if is_array(data):
            part.length = int(data.shape[0])
            if not is_array_of_objects(data):
                where = f'{part.split}/{self.name}'
                in_file = (data.dtype.metadata or {}).get('vlen')
                if isinstance(data, Shaped):
                    self._settle_example(data.example(), where)
                    if isinstance(data, Flat) and self._values is not None:
                        self._values += data.num_values
                        return
                elif isinstance(in_file, numpy.dtype):
                    self._settle_example(numpy.empty(0, in_file), where)
                else:
                    if len(data.shape) == 1:
                        raise ValueError(f'{where}: expected an array of at least one axis for '
                                         'each example; got one of shape '
                                         f'{tuple(data.shape)}, whose examples are single values')
                    # Every row is an example; one of them stands for all.
                    row = numpy.empty(data.shape[1:], data.dtype)
                    self._settle_example(row, where)
                    self._count(row, part.length)
                    return
                self._values = None
                return
        part.length = len(data)
        for number, example in enumerate(data):
            self._settle_example(example, f'{part.split}/{self.name}: example {number}')
            self._count(example)

    def _settle_example(self, example: Any, where: str) -> None:
        checked_example(example, where, self.dtype, self.row)
        self.dtype, self.row = example.dtype, (None,) * len(example.shape)

    def _count(self, example: Any, times: int = 1) -> None:
        size = math.prod(example.shape)
        self._heap += times * heap_bytes(size * example.dtype.itemsize)
        if self._values is not None:
            self._values += times * size

    def length(self, split: str) -> int | None:
        """Return the number of examples in a split; `None` if it is not known."""
        return _total(part.length for part in self._parts if part.split == split)

    @property
    def num_examples(self) -> int | None:
        """The number of examples in all splits; `None` if it is not known."""
        return _total(part.length for part in self._parts)

    @property
    def num_values(self) -> int | None:
        """The number of values of all examples; `None` if it is not known."""
        if self.ragged:
            return self._values
        if self.num_examples is None or self.row is None:
            return None
        return self.num_examples * math.prod(size for size in self.row if size is not None)

    def num_bytes(self, layout: str | None) -> int:
        """Return how many bytes the data take, as far as that is known, if not compressed.

        Parameters
        ----------
        layout : str or None
            That of examples which differ in shape.
        """
        if self.dtype is None or self.row is None:
            return 0
        beside = 0 if layout is None else 4 * len(self.row) * (self.num_examples or 0)
        if layout == 'vlen':
            return int(self._heap) + beside + REFERENCE_BYTES * (self.num_examples or 0)
        if layout == 'ragged':
            beside += 8 * (self.num_examples or 0)
        itemsize = REFERENCE_BYTES if self.dtype.kind == 'O' else self.dtype.itemsize
        return (self.num_values or 0) * itemsize + beside

    @property
    def splits(self) -> list[str]:
        """The splits that have this source, in the order of its parts."""
        return list(dict.fromkeys(part.split for part in self._parts))

    def comment(self, split: str) -> str:
        """Return what was said about a split."""
        return '; '.join(dict.fromkeys(self._comments.get(split, ())))

    def look(self, splits: Sequence[str]) -> tuple[tuple[int | None, ...], numpy.dtype[Any]]:
        """Return shape and dtype of an example, if need be from the first data of a stream.

        Parameters
        ----------
        splits : sequence of str
            The order in which they will be written. Streams may hang together, so that a later
            one must not be touched before its turn.
        """
        ordered = [part for split in splits for part in self._parts if part.split == split]
        for part in ordered:
            if self.dtype is not None:
                break
            where = f'{part.split}/{self.name}'
            items = iter(self._items(part))
            first = next(items, None)
            if first is None:                   # an empty list; an empty iterable is an error
                continue
            self._looked_at[id(part)] = itertools.chain([first], items)
            if self.ragged:
                self._settle_example(first, f'{where}: example 0')
            else:
                self.dtype, self.row = first.dtype, tuple(first.shape[1:])
        if self.row is None or self.dtype is None:
            raise self._nothing()
        return self.row, self.dtype

    def blocks(self, split: str) -> Iterator[Any]:
        """Yield what a writer is to be given for a split, in order."""
        for part in self._parts:
            if part.split == split:
                items = self._looked_at.pop(id(part), None) or self._items(part)
                if self.ragged:
                    yield items
                else:
                    yield from items

    def _items(self, part: _Part) -> Iterator[Any]:
        """Yield the blocks or examples of a part, counting those of a stream."""
        if not isinstance(part.data, Streamed):
            if not is_empty(part.data):
                yield from examples_of(part.data) if self.ragged else [part.data]
            return
        where = f'{part.split}/{self.name}'
        count, any_item = 0, False
        for item in part.data.items:
            any_item = True
            block = item if self.ragged or is_array(item) else self._as_array(part.split, item)
            if not self.ragged and not block.shape:
                raise ValueError(f'{where}: expected an iterable of arrays whose first axis is '
                                 f'that of the examples; got the single value {block!r:.80}')
            count += 1 if self.ragged else int(block.shape[0])
            if part.length is not None and count > part.length:
                raise ValueError(f'{where}: expected {part.length} examples, as declared; got at '
                                 f'least {count}')
            yield block
        if not any_item:
            raise ValueError(f'{where}: expected an iterable of arrays; got one that has nothing, '
                             'as an iterator has that was used before')
        if part.length is not None and count < part.length:
            raise ValueError(f'{where}: expected {part.length} examples, as declared; got {count}')


def _total(lengths: Iterable[int | None]) -> int | None:
    """Return a sum, or `None` if not all are known."""
    total = 0
    for length in lengths:
        if length is None:
            return None
        total += length
    return total
