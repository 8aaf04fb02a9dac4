"""The development kits of the challenges: which classes there are, and the labels of pictures.

A kit is a compressed tar archive. In its folder ``data``, the MATLAB file ``meta.mat`` has a
structure ``synsets`` with an entry for each group of synonyms of WordNet: its number in the
challenge, its number in WordNet (such as n01440764), words, and how many training pictures there
are. Those without children are the classes; they have the numbers from 1 on. A text file has the
number of the class of every validation picture, one in each line.
"""
from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy
import numpy.typing as npt

from fuel.converters._archives import tar_members
from fuel.converters._checks import expect_count
from fuel.exceptions import ConversionError

__all__ = ['NUM_CLASSES', 'Classes', 'read_devkit', 'read_labels']

#: Of both challenges.
NUM_CLASSES = 1000
_META = 'data/meta.mat'
# A label is stored in two bytes.
_MOST_CLASSES = numpy.iinfo('int16').max
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
                wanted[name] = member.read()
    missing = [name for name, content in wanted.items() if not content]
    if missing:
        raise ConversionError(f'{path}: expected the files {", ".join(wanted)} in the archive; it '
                              f'lacks {", ".join(missing)}. Is it the development kit?')
    classes = _read_classes(f'{path}: {_META}', wanted[_META], number_field)
    where = f'{path}: data/{truth}'
    return classes, read_labels(io.BytesIO(wanted[f'data/{truth}']), where, len(classes.wnids))


def _read_classes(where: str, content: bytes, number_field: str) -> Classes:
    import scipy.io

    try:
        synsets = scipy.io.loadmat(io.BytesIO(content), squeeze_me=True)['synsets']
    # scipy raises whatever comes up where a file is damaged.
    except Exception as error:
        raise ConversionError(f'{where}: expected a MATLAB file with the structure synsets; it '
                              f'cannot be read: {type(error).__name__}: {error}') from error
    synsets = numpy.atleast_1d(synsets)
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
                found[number] = (str(synset['WNID']), str(synset['words']),
                                 _number(synset['num_train_images']))
        except (TypeError, ValueError) as error:
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


def _number(value: Any) -> int:
    """Return an integer out of an array of any shape and type of numbers, with a single item."""
    item = numpy.asarray(value).item()
    if not isinstance(item, (int, float)) or item != int(item):
        raise ValueError(f'expected an integer; got {item!r}')
    return int(item)


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
    lines = stream.read().rstrip().split(b'\n')
    labels = numpy.empty(len(lines), dtype='int16')
    for place, line in enumerate(lines):
        text = line.strip()
        number = int(text) if text.isdigit() and len(text) < 10 else 0
        if not 1 <= number <= num_classes:
            raise ConversionError(f'{where}, line {place + 1}: expected the number of a class, '
                                  f'from 1 to {num_classes}; got {text[:40]!r}')
        labels[place] = number - 1
    return labels
