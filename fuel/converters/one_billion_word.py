"""Conversion of the One Billion Word benchmark: its text files, unpacked, and its vocabulary."""
from __future__ import annotations

import os
import re
from argparse import ArgumentParser, BooleanOptionalAction
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import BinaryIO, Unpack

import numpy

from fuel.converters._conversion.argument_types import at_least_one
from fuel.converters._conversion.checks import expect_count
from fuel.converters._conversion.output import new_file
from fuel.converters._conversion.record import current_record
from fuel.converters._conversion.storage import StorageArguments, add_storage_options
from fuel.converters._formats.archives import TarMember, tar_members
from fuel.converters._texts.counts import TokenCounts
from fuel.converters._texts.vocabularies import (
    COUNTS,
    VOCABULARY,
    numbered,
    write_counts,
    write_tokens,
)
from fuel.converters.base import check_exists
from fuel.datasets._one_billion_word import FOLDER, PARTITIONS, partition_name
from fuel.exceptions import ConversionError, OutputExistsError
from fuel.storage.writing.split_table import write_split
from fuel.utils.atomic import move_into_place, temporary_directory
from fuel.utils.progress import progress_bar

__all__ = ['convert_one_billion_word', 'fill_subparser']

ARCHIVE = f'{FOLDER}.tar.gz'
#: The special tokens, which have the numbers 0, 1 and 2.
BOS, EOS, UNK = '<S>', '</S>', '<UNK>'
#: The benchmark's own vocabulary has the words that stand in the training files three times.
MIN_COUNT = 3

_BLOCK = 1 << 20
_PARTITION = re.compile(r'(?:^|/)(?:(training)-monolingual\.tokenized\.shuffled/'
                        r'news\.en-(\d{5})-of-00100|(heldout)-monolingual\.tokenized\.shuffled/'
                        r'news\.en\.heldout-(\d{5})-of-00050)$')


def fill_subparser(subparser: ArgumentParser) -> Callable[..., tuple[str, ...]]:
    """Declare the arguments of ``fuel-convert one_billion_word``.

    Parameters
    ----------
    subparser : ArgumentParser
        The parser of that command.

    Returns
    -------
    callable
        The converter.
    """
    subparser.add_argument('--min-count', type=at_least_one, default=MIN_COUNT, metavar='NUMBER',
                           help='how often a word must stand in the training files to get a number '
                                'of its own')
    subparser.add_argument('--max-size', type=at_least_one, default=None, metavar='NUMBER',
                           help='how many words get a number at most, the most frequent first; all '
                                'if not given')
    subparser.add_argument('--text', action=BooleanOptionalAction, default=True,
                           help='unpack the text files, which OneBillionWord reads, beside the '
                                'vocabulary; they take 4.2 GB')
    add_storage_options(subparser)
    return convert_one_billion_word


@check_exists(required_files=[ARCHIVE])
def convert_one_billion_word(directory: str, output_directory: str,
                             output_filename: str = 'one_billion_word.hdf5', *,
                             min_count: int = MIN_COUNT, max_size: int | None = None,
                             text: bool = True, **storage: Unpack[StorageArguments]
                             ) -> tuple[str, ...]:
    """Make the vocabulary of the One Billion Word benchmark, and unpack its text files.

    The archive is read once, and decompressed on the way. The format is described on the data
    set's page.

    Parameters
    ----------
    directory : str
        Where the archive lies.
    output_directory : str
        Where the files are to be.
    output_filename : str, optional
        What the file of the vocabulary is to be called.
    min_count : int, optional
        How often a word must stand in the training files to get a number of its own.
    max_size : int, optional
        The most words that get one, besides the special tokens. By default all do.
    text : bool, optional
        Whether to unpack the text files, into the folder that they have in the archive.
    **storage
        How to store the counts; see `fill_hdf5_file`.

    Returns
    -------
    tuple of str
        The path of the file of the vocabulary. Its split ``vocabulary`` has the sources
        ``vocabulary``, strings, shape (tokens,), and ``vocabulary_counts``, int64, shape
        (tokens,). The number of a token is its position: 0 for ``<S>``, 1 for ``</S>``, 2 for
        ``<UNK>``, then the words, the most frequent first, and those that are as frequent as
        each other in the order of their characters. The counts are those of the training files:
        of sentences for ``<S>`` and ``</S>``, and for ``<UNK>`` of all words without a number.

    Raises
    ------
    MissingInputFiles
        The archive is not there.
    ConversionError
        It is cut off, damaged, or has no training files; a text is not UTF-8. The message names
        archive and member.
    OutputExistsError
        ``fuel-convert`` is to write files that are there already.
    """
    path = os.path.join(directory, ARCHIVE)
    with ExitStack() as stack:
        if text:
            _check_texts()
        # What is unpacked comes to its place when all is well; then the vocabulary follows.
        h5file = stack.enter_context(new_file(output_directory, output_filename))
        folder = stack.enter_context(temporary_directory(output_directory))
        counts = stack.enter_context(TokenCounts(folder))
        sentences, found = _read(path, folder if text else None, counts)
        words = counts.most_common(min_count, max_size)
        dictionary = numbered((BOS, EOS, UNK), (word for word, _ in words))
        write_tokens(h5file, path, dictionary,
                     {'bos_token': BOS, 'eos_token': EOS, 'unk_token': UNK, 'level': 'word'})
        of_token = numpy.zeros(len(dictionary), dtype='int64')
        for word, count in words:
            of_token[dictionary[word]] = count
        of_token[[dictionary[BOS], dictionary[EOS]]] += sentences
        of_token[dictionary[UNK]] += counts.total - sum(count for _, count in words)
        write_counts(h5file, of_token, storage)
        for source in (VOCABULARY, COUNTS):
            h5file[source].dims[0].label = 'batch'
        write_split(h5file, {'vocabulary': dict.fromkeys((VOCABULARY, COUNTS),
                                                         (0, len(dictionary)))})
        for name in found if text else ():
            place = os.path.join(output_directory, FOLDER, name)
            os.makedirs(os.path.dirname(place), exist_ok=True)
            move_into_place(os.path.join(folder, name), place)
    return (os.path.join(output_directory, output_filename),)


def _check_texts() -> None:
    """Raise if ``fuel-convert`` would replace text files that are there."""
    record = current_record()
    if record is None or record.force:
        return
    for which_set, partitions in PARTITIONS.items():
        for partition in partitions:
            path = os.path.join(record.target, FOLDER, partition_name(which_set, partition))
            if os.path.lexists(path):
                raise OutputExistsError(f'{path} is there already; give --force to replace the '
                                        'text files, or --no-text to leave them as they are')


def _read(path: str, folder: str | None, counts: TokenCounts) -> tuple[int, list[str]]:
    """Read the archive.

    Parameters
    ----------
    path : str
        The archive.
    folder : str or None
        Where to write the text files, if anywhere.
    counts : TokenCounts
        Takes the words of the training files.

    Returns
    -------
    tuple
        The number of training sentences, and the names of all text files.
    """
    sentences = 0
    found: dict[str, list[str]] = {which_set: [] for which_set in PARTITIONS}
    with progress_bar('one_billion_word', sum(map(len, PARTITIONS.values())), unit='files') as bar:
        for member in tar_members(path):
            match = _PARTITION.search(member.name)
            if match is None:
                continue
            which_set = match[1] or match[3]
            partition = int(match[2] or match[4])
            if partition not in PARTITIONS[which_set]:
                continue
            name = partition_name(which_set, partition)
            if name in found[which_set]:
                raise ConversionError(f'{path}: expected every text file once; got {name} twice')
            found[which_set].append(name)
            with ExitStack() as stack:
                target = None if folder is None else stack.enter_context(_create(folder, name))
                sentences += _take(member, target, counts if which_set == 'training' else None)
            bar.update(sum(map(len, found.values())))
    if not found['training']:
        raise ConversionError(f'{path}: expected text files such as '
                              f'{partition_name("training", 1)}; the archive has none')
    for which_set, names in found.items():
        expect_count(path, f'files of the set {which_set!r}', len(names),
                     len(PARTITIONS[which_set]))
    return sentences, [name for names in found.values() for name in names]


def _create(folder: str, name: str) -> BinaryIO:
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    return open(path, 'wb')


def _take(member: TarMember, target: BinaryIO | None, counts: TokenCounts | None) -> int:
    """Copy a text file and count its words.

    Returns
    -------
    int
        The number of its sentences; 0 if nothing is counted.
    """
    sentences = 0
    for lines in _whole_lines(member, target):
        if counts is None:
            continue
        try:
            text = lines.decode('utf-8')
        except UnicodeDecodeError as error:
            line = sentences + lines[:error.start].count(b'\n') + 1
            raise ConversionError(
                f'{member.archive}: expected UTF-8 in the member {member.name!r}, line {line}; got '
                f'byte 0x{lines[error.start]:02x}. Download the archive again') from None
        # As text files are read: a line ends in any of the usual ways.
        sentences += (lines.count(b'\n') + lines.count(b'\r') - lines.count(b'\r\n')
                      + (not lines.endswith((b'\n', b'\r'))))
        counts.add(text.split())
    return sentences


def _whole_lines(member: TarMember, target: BinaryIO | None) -> Iterator[bytes]:
    """Yield the content of a text file in blocks of whole lines, and write it on the way.

    Raises
    ------
    ConversionError
        The archive is cut off.
    """
    import tarfile

    rest, left = b'', member.size
    while left:
        try:
            block = member.stream.read(min(left, _BLOCK))
        except tarfile.TarError:
            block = b''
        if not block:
            raise ConversionError(f'{member.archive}: the archive ends {left} bytes before the end '
                                  f'of the member {member.name!r}. Download it again')
        left -= len(block)
        if target is not None:
            target.write(block)
        lines, newline, begun = block.rpartition(b'\n')
        if newline:
            yield rest + lines + newline
            rest = begun
        else:
            rest += begun
    if rest:
        yield rest
