"""What is known of the pictures of a folder: the class of each, and the split it belongs to."""
from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

import numpy

from fuel._types import AnyArray
from fuel.converters._division.names import shown, smallest_integers, stored_text
from fuel.converters._division.shares import SPLIT_ORDER
from fuel.converters._pictures.lists import PictureList
from fuel.converters._tables.columns import CATEGORY, Column, whole_dtype
from fuel.converters._tables.features import targets_dtype
from fuel.exceptions import ConversionError

__all__ = ['Labels', 'class_folders', 'folders_are_splits', 'listed_labels', 'listed_splits']

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Labels:
    """The targets of pictures.

    Attributes
    ----------
    known : ndarray of bool
        Which pictures have targets.
    targets : ndarray, shape (pictures, columns)
        Those of all pictures; anything for the others.
    columns : list of str
        The names of the columns, if they come from a list.
    classes : list of str
        The names of the classes, if there is one column, and it is one of classes.
    categories : list of tuple of str
        Pairs of a column and a category, if they come from a list.
    """

    known: AnyArray
    targets: AnyArray
    columns: list[str]
    classes: list[str]
    categories: list[tuple[str, str]]


def folders_are_splits(pictures: Sequence[str]) -> bool:
    """Tell whether the folders have names of splits, one of them that of the training split."""
    names = {path.split('/')[0].lower() if '/' in path else '' for path in pictures}
    return names <= set(SPLIT_ORDER) and bool(names & {'train', 'training'})


def class_folders(folder: str, pictures: Sequence[str], splits: Sequence[str] | None) -> Labels:
    """Take the names of folders for those of classes.

    Parameters
    ----------
    folder : str
        Where the pictures are, for messages.
    pictures : sequence of str
        Their paths from the folder on.
    splits : sequence of str or None
        The first folder of each, if those are splits, not classes.

    Returns
    -------
    Labels
        Classes are numbered in the order of the codes of their letters. Pictures of a split that
        has no folders of classes have none.

    Raises
    ------
    ConversionError
        Some pictures of a split lie in folders of classes, and some do not.
    """
    level = 0 if splits is None else 1
    parts = [path.split('/') for path in pictures]
    names = [stored_text(path[level]) if len(path) > level + 1 else '' for path in parts]
    example: dict[tuple[str, bool], str] = {}
    for number, name in enumerate(names):
        example[splits[number] if splits else '', bool(name)] = pictures[number]
    for (split, labelled), path in example.items():
        if not labelled and (split, True) in example:
            raise ConversionError(f'{folder}: expected every picture in the folder of its class; '
                                  f'{example[split, True]} lies in one, {path} does not. Move it, '
                                  'or give the classes with --labels')
    classes = sorted({name for name in names if name})
    numbers = {name: number for number, name in enumerate(classes)}
    targets = numpy.array([[numbers.get(name, 0)] for name in names], dtype=numpy.int64)
    return Labels(numpy.array([bool(name) for name in names]), smallest_integers(targets), [],
                  classes, [])


def listed_labels(found: PictureList) -> Labels:
    """Take the columns of a list for targets.

    Returns
    -------
    Labels
        Columns of numbers are taken as they are; any other is one of classes, as in a table.
        A warning is logged for whole numbers that are rounded.

    Raises
    ------
    ConversionError
        The list is empty, or has a number that is too large.
    """
    known = numpy.array([values is not None for values in found.values])
    _check_any(found)
    given = [values for values in found.values if values is not None]
    lines = [line for line in found.lines if line]
    columns = [Column(name) for name in found.columns]
    for column, values in zip(columns, zip(*given, strict=True), strict=True):
        column.look(list(values), lines, found.path)
        if column.kind != CATEGORY and column.beyond is not None:
            raise ConversionError(f'{found.path}, line {column.beyond[0]}: the value '
                                  f'{column.beyond[1]} of the column {column.name!r} is too large '
                                  'for floats of 64 bits')
    if whole_dtype(columns) is None:
        for column in columns:
            if column.kind != CATEGORY and column.rounded is not None:
                logger.warning('%s, line %d: the whole number %s of the column %r has more than 15 '
                               'digits and is rounded, for floats keep no more of them',
                               found.path, *column.rounded, column.name)
    dtype = targets_dtype(columns, [], numpy.dtype('float64'))
    targets = numpy.zeros((len(known), len(columns)), dtype=dtype)
    for place, values in enumerate(zip(*given, strict=True)):
        targets[known, place] = columns[place].numbers(list(values))
    classes = [column for column in columns if column.kind == CATEGORY]
    return Labels(known, targets, found.columns,
                  classes[0].categories if len(columns) == 1 and classes else [],
                  [(column.name, name) for column in classes for name in column.categories])


def _check_any(found: PictureList) -> None:
    if not any(found.lines):
        raise ConversionError(f'{found.path}: expected the names of pictures; there are none')


def listed_splits(found: PictureList) -> list[str | None]:
    """Return the split of each picture that a list names; `None` for others.

    Raises
    ------
    ConversionError
        The list is empty, or has more columns than file names and splits.
    """
    if len(found.columns) != 1:
        raise ConversionError(f'{found.path}, line 1: expected two columns, for file names and '
                              f'splits; got {len(found.columns) + 1}: file names, '
                              f'{shown(found.columns)}')
    _check_any(found)
    return [None if values is None else values[0] for values in found.values]
