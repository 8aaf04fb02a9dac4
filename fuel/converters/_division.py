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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy
import numpy.typing as npt

from fuel.exceptions import ConversionError

__all__ = ['EVALUATION_SPLITS', 'SPLIT_ORDER', 'Range', 'Rows', 'Shares', 'all_in_one', 'by_names',
           'by_ranges', 'divide', 'in_usual_order', 'sizes_of']

logger = logging.getLogger(__name__)

#: The numbers of the examples of a split.
Rows = npt.NDArray[numpy.int64]

#: Splits whose examples keep their order, for nobody learns from them.
EVALUATION_SPLITS = frozenset({'dev', 'eval', 'evaluation', 'test', 'testing', 'val', 'valid',
                               'validation'})
#: Names that splits usually have, in the order in which they are written.
SPLIT_ORDER = ('train', 'training', 'valid', 'val', 'validation', 'dev', 'eval', 'evaluation',
               'test', 'testing')


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
                # As it is written: the float 0.1 is a little more than a tenth.
                share = Fraction(str(given))
            except (ValueError, ZeroDivisionError):
                share = Fraction(-1)
            if not 0 <= share < 1:
                raise ConversionError(f'expected the fraction of {name} to be at least 0 and less '
                                      f'than 1, such as 0.1; got {given}')
            object.__setattr__(self, name, share)
        if self.valid + self.test >= 1:
            raise ConversionError('expected the fractions of valid and test to leave something '
                                  f'for train; together they are {float(self.valid + self.test)}')

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
    why = (f'{alone} classes have a single example, which stays in train' if alone else
           'each class keeps an example in train')
    if not found:
        raise ConversionError(f'expected {wanted} examples for {name}, from every class its part; '
                              f'there are none, for {why}. Give --no-stratify to divide without '
                              'regard to classes')
    if found < wanted:
        logger.warning('%s has %d examples instead of %d: %s', name, found, wanted, why)


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
    texts = numpy.asarray(names, dtype=object)
    return {name: numpy.flatnonzero(texts == name) for name in in_usual_order(names)}


def sizes_of(splits: Mapping[str, Sequence[int] | Rows]) -> str:
    """Say in words how many examples splits have."""
    return ', '.join(f'{name} {len(rows)}' for name, rows in splits.items())
