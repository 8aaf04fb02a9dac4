"""The One Billion Word benchmark: its text files, and the dictionary that belongs to them."""
from __future__ import annotations

import operator
import os
from collections.abc import Iterable, Mapping
from typing import Any

from fuel.datasets._making import with_commands
from fuel.datasets._text_file import TextFile
from fuel.exceptions import DataFileNotFoundError
from fuel.utils.paths import find_in_data_path

__all__ = ['FOLDER', 'PARTITIONS', 'OneBillionWord', 'partition_name']

#: The folder that the archive of the benchmark has its files in.
FOLDER = '1-billion-word-language-modeling-benchmark-r13output'
#: Where files of the benchmark are looked for; the old library knew the second name.
_FOLDERS = (FOLDER, '1-billion-word')
#: The partitions that each set has. Training has no partition 0: it was divided into the 50
#: held out.
PARTITIONS = {'training': range(1, 100), 'heldout': range(50)}
_NAMES = {'training': 'training-monolingual.tokenized.shuffled/news.en-{:05d}-of-00100',
          'heldout': 'heldout-monolingual.tokenized.shuffled/news.en.heldout-{:05d}-of-00050'}
_COMMANDS = 'fuel-download one_billion_word && fuel-convert one_billion_word'


def partition_name(which_set: str, partition: int) -> str:
    """Return the name of a text file, relative to the folder of the benchmark."""
    return _NAMES[which_set].format(partition)


class OneBillionWord(TextFile):
    """Sentences of the One Billion Word benchmark, as lists of numbers.

    The benchmark (Chelba et al., 2013) has news in English, divided into words, with a sentence on
    every line, in random order. Source ``features`` is a list of int for every sentence.

    Parameters
    ----------
    which_set : {'training', 'heldout'}
        The set.
    which_partitions : iterable of int
        Which of its files to read, in this order: from 1 to 99 of ``'training'``, from 0 to 49 of
        ``'heldout'``.
    dictionary : mapping of str to int, or path, optional
        The number of every known word, as for `TextFile`. By default that of the file
        ``one_billion_word.hdf5`` in the data path, which ``fuel-convert one_billion_word`` makes.
    **kwargs
        Whatever else `TextFile` takes, such as ``bos_token``.

    Raises
    ------
    ValueError
        There is no such set or partition; or as for `TextFile`.
    DataFileNotFoundError
        A text file, or the dictionary, is not in the data path. The text files are looked for in
        the folder ``1-billion-word-language-modeling-benchmark-r13output``, as the archive of the
        benchmark has it, and in ``1-billion-word``, as it was called for the old library.
    """

    def __init__(self, which_set: str, which_partitions: Iterable[int],
                 dictionary: Mapping[str, int] | str | os.PathLike[str] | None = None,
                 **kwargs: Any) -> None:
        if which_set not in PARTITIONS:
            raise ValueError(f"OneBillionWord: expected the set 'training' or 'heldout'; got "
                             f'{which_set!r}')
        partitions = _checked(which_set, which_partitions)
        self.which_set = which_set
        self.which_partitions = partitions
        files = [_find(partition_name(which_set, partition)) for partition in partitions]
        if dictionary is None:
            try:
                dictionary = find_in_data_path('one_billion_word.hdf5')
            except DataFileNotFoundError as error:
                raise with_commands(error, f'{_COMMANDS}; or give a dictionary') from None
        super().__init__(files, dictionary, **kwargs)


def _checked(which_set: str, which_partitions: Iterable[int]) -> list[int]:
    """Return the numbers of partitions.

    Raises
    ------
    ValueError
        There are no such partitions, or none at all.
    """
    known = PARTITIONS[which_set]
    expected = (f'OneBillionWord: expected numbers of partitions of the set {which_set!r}, from '
                f'{known[0]} to {known[-1]}, such as range({known[0]}, {known[0] + 5})')
    if isinstance(which_partitions, (str, bytes)) or not isinstance(which_partitions, Iterable):
        raise ValueError(f'{expected}; got {which_partitions!r}')
    partitions = []
    for given in which_partitions:
        try:
            partition = -1 if isinstance(given, bool) else operator.index(given)
        except TypeError:
            partition = -1
        if partition not in known:
            raise ValueError(f'{expected}; got {given!r}')
        partitions.append(partition)
    if not partitions:
        raise ValueError(f'{expected}; got none')
    return partitions


def _find(name: str) -> str:
    """Return the path of a text file of the benchmark."""
    missing = None
    for folder in _FOLDERS:
        try:
            return find_in_data_path(os.path.join(folder, name))
        except DataFileNotFoundError as error:
            missing = missing or error
    assert missing is not None  # noqa: S101 -- for the type checker
    raise with_commands(missing, _COMMANDS) from None
