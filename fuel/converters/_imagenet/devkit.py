"""The development kits of the challenges: which classes there are, and the labels of pictures.

A kit is a compressed tar archive. In its folder ``data``, the MATLAB file ``meta.mat`` has a
structure ``synsets`` with an entry for each group of synonyms of WordNet: its number in the
challenge, its number in WordNet (such as n01440764), words, and how many training pictures there
are. Those without children are the classes; they have the numbers from 1 on. A text file has the
number of the class of every validation picture, one in each line.
"""
from __future__ import annotations

import io
import math
from array import array
from dataclasses import dataclass
from typing import BinaryIO

import numpy
import numpy.typing as npt

from fuel._types import AnyArray
from fuel.converters._conversion.checks import expect_count
from fuel.converters._formats.archives import tar_members
from fuel.converters._formats.matlab import read_mat_stream
from fuel.exceptions import ConversionError

__all__ = ['NUM_CLASSES', 'Classes', 'read_devkit', 'read_labels']

#: Of both challenges.
NUM_CLASSES = 1000
_META = 'data/meta.mat'
# A label is stored in two bytes.
_MOST_CLASSES = numpy.iinfo('int16').max
# Both files have less than 1 MB, in truth. All names are stored with the room of the longest.
_LARGEST, _LARGEST_META, _LONGEST_NAME = 1 << 24, 1 << 25, 1 << 10
_LONGEST_LINE = 100
_FIELDS = ('WNID', 'words', 'num_children', 'num_train_images')


@dataclass(frozen=True, slots=True)
class Classes:
    """The classes of a challenge, in the order of their labels.

    Attributes
    ----------
    wnids : tuple of str
        The number of each in WordNet, such as n01440764.
    words : tuple of str
        What each is called, such as 'tench, Tinca tinca'.
    num_train_images : int
        How many training pictures there are of all of them.
    """

    wnids: tuple[str, ...]
    words: tuple[str, ...]
    num_train_images: int

    def labels(self) -> dict[str, int]:
        """Return the label of each class, by its number in WordNet."""
        return {wnid: label for label, wnid in enumerate(self.wnids)}


def read_devkit(path: str, number_field: str, truth: str
                ) -> tuple[Classes, npt.NDArray[numpy.int16]]:
    """Read the development kit of a challenge.

    Parameters
    ----------
    path : str
        The archive.
    number_field : str
        The field of ``synsets`` that has the number of a class in this challenge.
    truth : str
        The name of the text file with the classes of the validation pictures.

    Returns
    -------
    classes : Classes
        The classes.
    labels : ndarray of int16, shape (number of validation pictures,)
        Their labels, in the order of the names of the pictures.

    Raises
    ------
    ConversionError
        The archive is damaged, or lacks a file, or one is not as it must be.
    """
    wanted = {_META: b'', f'data/{truth}': b''}
    for member in tar_members(path, limit=1 << 28):
        for name in wanted:
            if f'/{member.name}'.endswith(f'/{name}'):
                if member.size > _LARGEST:
                    raise ConversionError(f'{path}: expected {name} to have at most {_LARGEST} '
                                          f'bytes; got {member.size}. Is it the development kit?')
                wanted[name] = member.read()
    missing = [name for name, content in wanted.items() if not content]
    if missing:
        raise ConversionError(f'{path}: expected the files {", ".join(wanted)} in the archive; it '
                              f'lacks {", ".join(missing)}. Is it the development kit?')
    classes = _read_classes(f'{path}: {_META}', wanted[_META], number_field)
    where = f'{path}: data/{truth}'
    return classes, read_labels(io.BytesIO(wanted[f'data/{truth}']), where, len(classes.wnids))


def _read_classes(where: str, content: bytes, number_field: str) -> Classes:
    synsets = read_mat_stream(io.BytesIO(content), where, ['synsets'], most=_LARGEST_META)[
        'synsets'].reshape(-1)
    lacking = [name for name in (number_field, *_FIELDS) if name not in (synsets.dtype.names or ())]
    if lacking:
        raise ConversionError(f'{where}: expected the structure synsets to have the fields '
                              f'{", ".join((number_field, *_FIELDS))}; it lacks '
                              f'{", ".join(lacking)}')
    found: dict[int, tuple[str, str, int]] = {}
    for place, synset in enumerate(synsets, start=1):
        try:
            if not _number(synset['num_children']):
                number = _number(synset[number_field])
                if number in found:
                    raise ValueError(f'the number {number} belongs to another class')
                found[number] = (_text(synset['WNID']), _text(synset['words']),
                                 _number(synset['num_train_images']))
        except ValueError as error:
            raise ConversionError(f'{where}: entry {place} of synsets is not as expected: '
                                  f'{error}') from error
    wnids = {wnid for wnid, _, _ in found.values()}
    if sorted(found) != list(range(1, len(found) + 1)) or len(wnids) != len(found) or not found:
        raise ConversionError(f'{where}: expected the classes, which are the entries of synsets '
                              f'without children, to have the numbers from 1 on in {number_field} '
                              f'and different WNIDs; got {len(found)} classes with the numbers '
                              f'from {min(found, default=0)} to {max(found, default=0)} and '
                              f'{len(wnids)} WNIDs')
    if len(found) > _MOST_CLASSES:
        raise ConversionError(f'{where}: expected at most {_MOST_CLASSES} classes; got '
                              f'{len(found)}')
    expect_count(where, 'classes', len(found), NUM_CLASSES)
    ordered = [found[number] for number in sorted(found)]
    return Classes(tuple(wnid for wnid, _, _ in ordered), tuple(words for _, words, _ in ordered),
                   sum(count for _, _, count in ordered))


def _number(value: AnyArray) -> int:
    """Return an integer out of an array of any shape and type of numbers, with a single item."""
    item = value.item() if value.size == 1 and value.dtype.kind in 'buif' else None
    if item is None or not math.isfinite(item) or item != int(item):
        raise ValueError('expected an integer; got '
                         + (f'an array of {value.dtype} of shape {value.shape}' if item is None
                            else repr(item)))
    return int(item)


def _text(value: AnyArray) -> str:
    """Return a short text out of an array of any shape, with a single item."""
    item = value.item() if value.size == 1 and value.dtype.kind == 'U' else None
    if item is None or len(item) > _LONGEST_NAME:
        raise ValueError(f'expected a text of at most {_LONGEST_NAME} letters; got an array of '
                         f'{value.dtype} of shape {value.shape}')
    return str(item)


def read_labels(stream: BinaryIO, where: str, num_classes: int) -> npt.NDArray[numpy.int16]:
    """Read the numbers of classes from a text file, one in each line, and count from 0.

    Parameters
    ----------
    stream : binary file
        The text.
    where : str
        What to call it in messages.
    num_classes : int
        How many classes there are.

    Returns
    -------
    ndarray of int16
        The numbers less one.

    Raises
    ------
    ConversionError
        A line has something else than the number of a class; the message says which line.
    """
    labels = array('h')
    empty = 0                           # lines, which do no harm at the end
    while line := stream.readline(_LONGEST_LINE):
        text = line.strip()
        if not text:
            empty += 1
            continue
        number = int(text) if text.isdigit() and len(text) < 10 else 0
        if empty or not 1 <= number <= num_classes:
            raise ConversionError(f'{where}, line {len(labels) + 1}: expected the number of a '
                                  f'class, from 1 to {num_classes}; got '
                                  f'{b"" if empty else text[:40]!r}')
        labels.append(number - 1)
    return numpy.array(labels, dtype='int16')
