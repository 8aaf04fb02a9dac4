"""Dividing the examples of somebody's own data into splits.

A division by shares is drawn once, by ``numpy.random.RandomState(seed).permutation(count)``, and so
is the same for the same number of examples and the same seed. Of N examples, a split with the share
f gets the whole number that is nearest to f * N (a half is rounded up). ``train`` gets the others.
The first examples of the permutation go to ``valid``, the next ones to ``test``.

A stratified division does so class by class: each class gives a split the whole number below its
share, and classes that lose most by that give one more, until the split has its number. Where two
lose the same, the one that comes first in the permutation gives. No class gives its last example
away, so that ``train`` has each of them; a class of a single example is in ``train`` only, and the
others have less where there are too many of these.
"""
from __future__ import annotations

import logging
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, cast

import numpy
import numpy.typing as npt

from fuel.converters._division.names import check_text, plural
from fuel.exceptions import ConversionError

__all__ = ['EVALUATION_SPLITS', 'MOST_SPLITS', 'SPLIT_ORDER', 'Range', 'Rows', 'Shares',
           'all_in_one', 'by_names', 'by_ranges', 'check_splits', 'divide', 'in_usual_order',
           'share_from', 'sizes_of']

logger = logging.getLogger(__name__)

#: The numbers of the examples of a split.
Rows = npt.NDArray[numpy.int64]

#: Splits whose examples keep their order, for nobody learns from them.
EVALUATION_SPLITS = frozenset({'dev', 'eval', 'evaluation', 'test', 'testing', 'val', 'valid',
                               'validation'})
#: Names that splits usually have, in the order in which they are written.
SPLIT_ORDER = ('train', 'training', 'valid', 'val', 'validation', 'dev', 'eval', 'evaluation',
               'test', 'testing')
#: No file can hold more, see `check_splits`; with long names it holds fewer.
MOST_SPLITS = 2000
# Of a share that is written; those of floats have three digits in the exponent at most.
_LONGEST_SHARE, _LARGEST_EXPONENT = 100, 400


def share_from(given: Fraction | float | str) -> Fraction:
    """Return a share of the examples.

    Parameters
    ----------
    given : Fraction, float or str
        The share. It is taken as it is written: the float 0.1 is a little more than a tenth.

    Raises
    ------
    ValueError
        It is no number of at least 0 and less than 1.
    """
    share = given
    if not isinstance(share, Fraction):
        text = str(given)
        exponent = re.search(r'[eE][+-]?([\d_]*)', text)
        # To write 1e-999999999 as a fraction would take forever.
        if len(text) > _LONGEST_SHARE or (
                exponent is not None and int(exponent[1] or '0') > _LARGEST_EXPONENT):
            raise ValueError
        try:
            share = Fraction(text)
        except ZeroDivisionError:
            raise ValueError from None
    if not 0 <= share < 1:
        raise ValueError
    return share


@dataclass(frozen=True, slots=True)
class Shares:
    """Which part of the examples goes to which split.

    Parameters
    ----------
    valid, test : Fraction, optional
        The parts of the splits ``valid`` and ``test``, from 0 to 1; 0, the default, for no such
        split. Floats and texts such as ``'0.1'`` are taken too.

    Raises
    ------
    ConversionError
        A part is not in this range, or nothing is left for ``train``.
    """

    valid: Fraction = Fraction(0)
    test: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        for name in ('valid', 'test'):
            given = getattr(self, name)
            try:
                share = share_from(given)
            except ValueError:
                raise ConversionError(f'expected the fraction of {name} to be at least 0 and less '
                                      f'than 1, such as 0.1; got {str(given)[:80]}') from None
            object.__setattr__(self, name, share)
        if self.valid + self.test >= 1:
            raise ConversionError('expected the fractions of valid and test to leave something '
                                  f'for train; together they are {float(self.valid + self.test)}')

    @classmethod
    def of(cls, valid: Fraction | float | str, test: Fraction | float | str) -> Shares:
        """Return shares that may be given as floats or texts."""
        return cls(cast(Fraction, valid), cast(Fraction, test))

    def __bool__(self) -> bool:
        return bool(self.valid or self.test)

    def parts(self) -> dict[str, Fraction]:
        """Return the splits that are taken out of ``train``, and their parts."""
        return {name: share for name, share in (('valid', self.valid), ('test', self.test))
                if share}


@dataclass(frozen=True, slots=True)
class Range:
    """Consecutive examples that are a split.

    Parameters
    ----------
    name : str
        The split.
    start, stop : int
        The first example, and the one after the last.
    """

    name: str
    start: int
    stop: int


def divide(count: int, shares: Shares, seed: int,
           classes: npt.ArrayLike | None = None) -> dict[str, Rows]:
    """Divide examples into ``train``, ``valid`` and ``test`` by lot.

    Parameters
    ----------
    count : int
        How many examples there are.
    shares : Shares
        The parts.
    seed : int
        Of the lot.
    classes : array_like of int, shape (count,), optional
        The class of each example, for a division that gives each split the same part of every
        class. By default classes do not matter.

    Returns
    -------
    dict
        Maps the splits, ``train`` first, to the numbers of their examples, in ascending order.
        Every example is in one of them.

    Raises
    ------
    ConversionError
        There are too few examples for one of the splits, as a whole or of each class.
    """
    order = numpy.random.RandomState(seed).permutation(count)
    wanted = {name: int(count * share + Fraction(1, 2))
              for name, share in shares.parts().items()}
    left = count - sum(wanted.values())
    for name, number in {'train': left, **wanted}.items():
        if number < 1:
            raise ConversionError(f'expected enough examples for each split; of {count} none '
                                  f'would be in {name}. Change the fractions')
    if classes is None:
        bounds = numpy.cumsum([0, *wanted.values()])
        taken = {name: order[start:stop] for name, start, stop
                 in zip(wanted, bounds[:-1], bounds[1:], strict=True)}
    else:
        taken = _by_class(order, numpy.asarray(classes), shares, wanted)
    in_train = numpy.ones(count, dtype=bool)
    for rows in taken.values():
        in_train[rows] = False
    return {'train': numpy.flatnonzero(in_train),
            **{name: numpy.sort(rows) for name, rows in taken.items()}}


def _by_class(order: Rows, classes: npt.NDArray[numpy.int64], shares: Shares,
              wanted: Mapping[str, int]) -> dict[str, Rows]:
    """Return the examples of the splits besides ``train``, from every class its part."""
    if classes.shape != order.shape:
        raise ConversionError(f'expected a class for each of {len(order)} examples; got '
                              f'{classes.shape}')
    # Classes are numbered as they come in the permutation, so that a tie is decided by lot.
    _, first, numbers = numpy.unique(classes[order], return_index=True, return_inverse=True)
    rank = numpy.empty(len(first), dtype=numpy.int64)
    rank[numpy.argsort(first)] = numpy.arange(len(first))
    numbers = rank[numbers.reshape(-1)]
    sizes = numpy.bincount(numbers)
    parts = shares.parts()
    gifts = {name: numpy.array([int(size * share) for size in sizes.tolist()], numpy.int64)
             for name, share in parts.items()}
    for name, share in parts.items():
        gift = gifts[name]
        lost = numpy.array([float(size * share - int(size * share)) for size in sizes.tolist()])
        spare = sizes - 1 - numpy.sum(list(gifts.values()), axis=0)
        more = numpy.lexsort((numpy.arange(len(sizes)), -lost))
        more = more[(spare[more] > 0) & (lost[more] > 0)][:wanted[name] - int(gift.sum())]
        gift[more] += 1
        _tell_shortage(name, int(gift.sum()), wanted[name], int(numpy.sum(sizes == 1)))
    by_class = numpy.argsort(numbers, kind='stable')
    place = numpy.empty(len(order), dtype=numpy.int64)      # within the class
    place[by_class] = numpy.arange(len(order)) - numpy.repeat(numpy.cumsum(sizes) - sizes, sizes)
    taken, start = {}, numpy.zeros(len(sizes), dtype=numpy.int64)
    for name, gift in gifts.items():
        stop = start + gift
        taken[name] = order[(place >= start[numbers]) & (place < stop[numbers])]
        start = stop
    return taken


def _tell_shortage(name: str, found: int, wanted: int, alone: int) -> None:
    """Say that a split has less than its part, or raise if it has nothing."""
    why = ('1 class has a single example, which stays in train' if alone == 1 else
           f'{alone} classes have a single example, which stays in train' if alone else
           'each class keeps an example in train')
    if not found:
        raise ConversionError(f'expected {plural(wanted, "example")} for {name}, from every class '
                              f'its part; there are none, for {why}. Give --no-stratify to divide '
                              'without regard to classes')
    if found < wanted:
        logger.warning('%s has %s instead of %d: %s', name, plural(found, 'example'), wanted, why)


def all_in_one(count: int, name: str = 'train') -> dict[str, Rows]:
    """Return a single split with all examples."""
    return {name: numpy.arange(count)}


def by_ranges(count: int, ranges: Sequence[Range]) -> dict[str, Rows]:
    """Return splits that are ranges of examples.

    Parameters
    ----------
    count : int
        How many examples there are.
    ranges : sequence of Range
        The splits, in the order in which they are written.

    Returns
    -------
    dict
        Maps splits to the numbers of their examples. A warning is logged for examples that are in
        none.

    Raises
    ------
    ConversionError
        A range is empty or goes beyond the examples, or two have an example or the name in common.
    """
    splits: dict[str, Rows] = {}
    for part in ranges:
        if not 0 <= part.start < part.stop <= count:
            raise ConversionError(f'expected the split {part.name} to be a range of the {count} '
                                  f'examples, with a start below its stop; got {part.start}:'
                                  f'{part.stop}')
        if part.name in splits:
            raise ConversionError(f'expected each split once; got {part.name} twice')
        splits[part.name] = numpy.arange(part.start, part.stop)
    in_order = sorted(ranges, key=lambda part: part.start)
    for one, other in pairwise(in_order):
        if other.start < one.stop:
            raise ConversionError('expected splits without common examples; '
                                  f'{one.name} ({one.start}:{one.stop}) and {other.name} '
                                  f'({other.start}:{other.stop}) have some')
    left = count - sum(map(len, splits.values()))
    if left:
        logger.warning('%d of %d examples are in no split and were left out', left, count)
    return splits


def in_usual_order(names: Sequence[str]) -> list[str]:
    """Return the names of splits as they are written: ``train`` first, unknown ones last."""
    known = {name: place for place, name in enumerate(SPLIT_ORDER)}
    return sorted(set(names), key=lambda name: (known.get(name.lower(), len(known)), name))


def by_names(names: Sequence[str]) -> dict[str, Rows]:
    """Return splits, given the name of the split of every example."""
    rows: dict[str, list[int]] = {}
    for row, name in enumerate(names):
        rows.setdefault(name, []).append(row)
    return {name: numpy.array(rows[name], dtype=numpy.int64) for name in in_usual_order(names)}


def check_splits(h5file: Any, splits: Sequence[str], sources: Sequence[str]) -> None:
    """Check that the names of splits and sources can be stored, before the long work.

    Parameters
    ----------
    h5file : h5py.File
        Open for writing.
    splits, sources : sequence of str
        The names.

    Raises
    ------
    ConversionError
        A name is empty, or has something in it that no name may have; or the names are too many,
        or too long.
    """
    from fuel.storage.writing.split_table import check_split

    for what, names in (('split', splits), ('source', sources)):
        for name in names:
            check_text(name, f'the name of a {what}')
            if not name:
                raise ConversionError(f'expected the name of a {what}; got an empty one')
    try:
        check_split(h5file, {split: dict.fromkeys(sources, '') for split in splits})
    except ValueError as error:
        raise ConversionError(
            f'{len(splits)} splits and {len(sources)} sources are too many for one file: the table '
            f'of the splits, with a row of at least 30 bytes for each split and source, would have '
            'more than 64 kB. Make fewer, give shorter names, or make several files') from error


def sizes_of(splits: Mapping[str, Sequence[int] | Rows]) -> str:
    """Say in words how many examples splits have."""
    return ', '.join(f'{name} {len(rows)}' for name, rows in splits.items())
