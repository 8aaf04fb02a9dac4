"""Makes sources out of arrays: which rows belong to which split, and what is written of them."""
from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy
import numpy.typing as npt

from fuel._types import AnyArray
from fuel.converters._division.names import check_text, shown, smallest_integers
from fuel.converters._division.shares import SPLIT_ORDER, Rows, in_usual_order
from fuel.converters._formats.npy import StoredArray
from fuel.converters._tables.columns import MOST_CATEGORIES
from fuel.exceptions import ConversionError

__all__ = ['Codes', 'Part', 'check_alike', 'classes_of', 'codes_of', 'default_labels', 'labels_of',
           'parts_by_name', 'same_length']

_WORDS = '|'.join(SPLIT_ORDER)
_FIRST = re.compile(rf'(?P<split>{_WORDS})[_.-](?P<source>.+)', re.IGNORECASE)
_LAST = re.compile(rf'(?P<source>.+)[_.-](?P<split>{_WORDS})', re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Part:
    """The examples of one source in one split.

    Parameters
    ----------
    split, source : str
        Their names.
    array : StoredArray
        Where the examples are.
    rows : ndarray of int or None
        The numbers of those that belong to the split, in ascending order; `None` for all.
    """

    split: str
    source: str
    array: StoredArray
    rows: Rows | None = None

    @property
    def num_examples(self) -> int:
        """How many examples there are."""
        return self.array.shape[0] if self.rows is None else len(self.rows)

    def blocks(self, change: Callable[[AnyArray], AnyArray] | None,
               told: Callable[[int], None]) -> Iterator[AnyArray]:
        """Yield the examples, block by block, perhaps changed, and tell how many there are."""
        start = 0
        for block in self.array.blocks():
            stop = start + len(block)
            if self.rows is not None:
                low, high = numpy.searchsorted(self.rows, (start, stop))
                picked = self.rows[low:high] - start
                block = block if len(picked) == len(block) else block[picked]
            if len(block):
                yield block if change is None else change(block)
                told(len(block))
            start = stop


def parts_by_name(arrays: Sequence[StoredArray], *, required: bool) -> list[Part] | None:
    """Find the splits in the names of arrays, such as ``x_train`` or ``train_x``.

    Capital and small letters are the same in the names of splits, which become small ones.

    Parameters
    ----------
    arrays : sequence of StoredArray
        The arrays.
    required : bool
        Whether it is an error if a name has no split.

    Returns
    -------
    list of Part or None
        In the usual order of splits; `None` if a name has no split.

    Raises
    ------
    ConversionError
        A name has no split, or two arrays are the same source of the same split.
    """
    found: dict[tuple[str, str], StoredArray] = {}
    for array in arrays:
        match = _LAST.fullmatch(array.name) or _FIRST.fullmatch(array.name)
        if match is None:
            if required:
                raise ConversionError(f'{array.where}: expected names with that of a split, such '
                                      f'as x_train or train_x; got {array.name!r}. Leave others '
                                      'out with --drop')
            return None
        key = match['split'].lower(), match['source']
        if key in found:
            raise ConversionError(f'{array.where}: expected one array for the source {key[1]!r} '
                                  f'of the split {key[0]!r}; {found[key].where} is one too')
        found[key] = array
    splits = in_usual_order([split for split, _ in found])
    return [Part(split, source, array) for split in splits
            for (of_split, source), array in found.items() if of_split == split]


def same_length(arrays: Sequence[StoredArray]) -> int:
    """Return the number of examples, which is the same for all arrays.

    Raises
    ------
    ConversionError
        It is not, or there are no examples, or nothing in them.
    """
    first = arrays[0]
    for array in arrays:
        if 0 in array.shape[1:]:
            raise ConversionError(f'{array.where}: expected examples with values; got the shape '
                                  f'{array.shape}. Leave it out with --drop {array.name}')
        if not array.shape:
            raise ConversionError(f'{array.where}: expected an axis for the examples; got a single '
                                  f'value. Leave it out with --drop {array.name}')
        if array.shape[0] != first.shape[0]:
            raise ConversionError(f'expected the same number of examples in all arrays of a split; '
                                  f'{first.name!r} has {first.shape[0]}, {array.name!r} has '
                                  f'{array.shape[0]}. If the names say the splits, give --splits '
                                  'names')
    if not first.shape[0]:
        raise ConversionError(f'{first.where}: expected examples; got the shape {first.shape}')
    return first.shape[0]


def check_alike(parts: Sequence[Part]) -> None:
    """Check that a source is of one kind in all splits.

    Raises
    ------
    ConversionError
        It differs in dtype or in the shape of its examples.
    """
    first: dict[str, StoredArray] = {}
    for part in parts:
        one, other = first.setdefault(part.source, part.array), part.array
        alike = one.dtype == other.dtype or (one.dtype.kind == other.dtype.kind == 'U')
        if not alike or one.shape[1:] != other.shape[1:]:
            raise ConversionError(
                f'expected the source {part.source!r} to be of one kind; {one.where} has dtype '
                f'{one.dtype} and examples of shape {one.shape[1:]}, {other.where} has '
                f'{other.dtype} and {other.shape[1:]}')


@dataclass(slots=True)
class Codes:
    """Numbers in place of texts.

    Attributes
    ----------
    names : list of str
        The texts, in the order of their numbers.
    """

    names: list[str] = field(default_factory=list)

    @property
    def dtype(self) -> numpy.dtype[Any]:
        """The smallest dtype that holds the numbers."""
        return smallest_integers(numpy.array([0, len(self.names) - 1])).dtype

    def __call__(self, texts: AnyArray) -> AnyArray:
        """Return the numbers of texts."""
        return numpy.searchsorted(numpy.array(self.names), texts).astype(self.dtype)


def codes_of(arrays: Sequence[StoredArray]) -> Codes:
    """Collect the texts that stand in arrays, sorted by the codes of their letters.

    Raises
    ------
    ConversionError
        There are too many different ones, or one that cannot be stored.
    """
    texts: set[str] = set()
    for array in arrays:
        for block in array.blocks():
            # NumPy would make texts of these that crash the interpreter.
            letters = block.view(numpy.dtype('u4').newbyteorder(block.dtype.byteorder))
            if letters.size and letters.max() > sys.maxunicode:
                raise ConversionError(f'{array.where}: expected texts; got the number '
                                      f'0x{letters.max():x}, which is not that of a character')
            found = numpy.unique(block).tolist()
            for text in found:
                check_text(text, array.where)
            texts.update(found)
            if len(texts) > MOST_CATEGORIES:
                raise ConversionError(
                    f'{array.where}: expected numbers, or the names of classes; there are more '
                    f'than {MOST_CATEGORIES} different texts. Leave it out with --drop '
                    f"{array.name}; for texts use 'fuel-convert text'")
    return Codes(sorted(texts))


def classes_of(array: StoredArray, codes: Mapping[str, Codes]) -> npt.NDArray[numpy.int64]:
    """Return the class of each example, for a division.

    Raises
    ------
    ConversionError
        The array has something else than one whole number, or one text, for each example.
    """
    if array.dtype.kind not in 'biuU' or array.shape[1:] not in ((), (1,)):
        raise ConversionError(f'{array.where}: expected a whole number or a text for each example, '
                              f'as --stratify says; got dtype {array.dtype} and the shape '
                              f'{array.shape}')
    change = codes.get(array.name)
    return numpy.concatenate([(block if change is None else change(block)).reshape(-1)
                              for block in array.blocks()]).astype(numpy.int64)


def default_labels(shape: Sequence[int]) -> tuple[str, ...]:
    """Return labels for the axes of an array that has got none."""
    if len(shape) == 2:
        return ('batch', 'index' if shape[1] == 1 else 'feature')
    return ('batch', *[''] * (len(shape) - 1))


def labels_of(parts: Sequence[Part], given: Mapping[str, Sequence[str]]
              ) -> dict[str, tuple[str, ...]]:
    """Return the labels of the axes of all sources.

    Parameters
    ----------
    parts : sequence of Part
        The sources.
    given : mapping
        Maps some of them to labels.

    Raises
    ------
    ConversionError
        There is no such source, or it has another number of axes.
    """
    shapes = {part.source: part.array.shape for part in parts}
    for name, labels in given.items():
        if name not in shapes:
            raise ConversionError(f'--labels names the source {name!r}; the sources are '
                                  f'{shown(list(shapes), 20)}')
        if len(labels) != len(shapes[name]):
            raise ConversionError(f'--labels: expected {len(shapes[name])} labels for {name!r}, '
                                  f'which has the shape {shapes[name]}; got '
                                  f'{", ".join(labels)}')
    return {name: tuple(given.get(name, default_labels(shape))) for name, shape in shapes.items()}
