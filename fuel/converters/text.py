"""Conversion of anybody's texts: lines as lists of numbers, and the vocabulary they belong to.

The numbers are those that `fuel.datasets.text.TextFile` gives for the same vocabulary.
"""
from __future__ import annotations

import itertools
import logging
import os
from argparse import ArgumentParser
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Unpack

import numpy

from fuel._types import AnyArray
from fuel.converters._conversion.output import new_file
from fuel.converters._conversion.storage import StorageArguments, options_for_variable_length
from fuel.converters._division.names import plural
from fuel.converters._division.options import check_lot
from fuel.converters._division.shares import Shares, check_splits
from fuel.converters._texts.counts import TokenCounts
from fuel.converters._texts.files import existing, files_by_split, parts_of
from fuel.converters._texts.lines import Part
from fuel.converters._texts.numbers import Manner, Size, Tally, blocks_of, measure
from fuel.converters._texts.options import DTYPES, MARKERS, add_text_options
from fuel.converters._texts.vocabularies import numbered, write_counts, write_tokens
from fuel.datasets._text_file import TextFile
from fuel.datasets._vocabulary import read_vocabulary
from fuel.exceptions import ConversionError
from fuel.storage.writing.options import SourceOptions
from fuel.storage.writing.sources import create_source
from fuel.storage.writing.split_table import write_split
from fuel.utils.progress import progress_bar

__all__ = ['convert_text', 'fill_subparser']

logger = logging.getLogger(__name__)


def fill_subparser(subparser: ArgumentParser) -> Callable[..., tuple[str, ...]]:
    """Declare the arguments of ``fuel-convert text``.

    Parameters
    ----------
    subparser : ArgumentParser
        The parser of that command.

    Returns
    -------
    callable
        The converter.
    """
    add_text_options(subparser)
    return convert_text


def convert_text(directory: str, output_directory: str, output_filename: str = 'text.hdf5', *,
                 files: Sequence[str] = (), splits: Mapping[str, Sequence[str]] | None = None,
                 level: str = 'word', lower: bool = False, encoding: str | None = None,
                 vocabulary: str | None = None, min_count: int = 1, max_size: int | None = None,
                 bos: str | None = MARKERS['bos'], eos: str | None = MARKERS['eos'],
                 unk: str | None = MARKERS['unk'], dtype: str | None = None,
                 valid_fraction: Fraction | float = Fraction(0),
                 test_fraction: Fraction | float = Fraction(0), seed: int | None = None,
                 **storage: Unpack[StorageArguments]) -> tuple[str, ...]:
    """Convert texts to HDF5, one example for every line.

    The texts are read twice, to count and to encode; once more, before, where lines are chosen
    by lot; and again for each of the splits that share files. Only the vocabulary is kept in
    memory.

    Parameters
    ----------
    directory : str
        Where files of a relative name lie.
    output_directory : str
        Where the file is to be.
    output_filename : str, optional
        What it is to be called.
    files : sequence of str, optional
        Texts, plain or compressed by gzip. Together they are the split ``train``.
    splits : mapping, optional
        From the names of other splits to their files.
    level, encoding : optional
        As for `TextFile`.
    lower : bool, optional
        Whether to make all letters small first.
    vocabulary : str, optional
        The file of a dictionary, as for `TextFile`. By default one is made: the special tokens
        come first, then the tokens of the split ``train`` (of all splits, if there is no such
        one), the most frequent first, and those that are as frequent as each other in the order
        of their characters.
    min_count : int, optional
        How often a token must stand there to be in the vocabulary.
    max_size : int, optional
        The most tokens that it has besides the special ones. By default all.
    bos, eos, unk : str or None, optional
        The special tokens: before every line, after it, and for tokens that are not in the
        vocabulary. `None` and ``''`` for no such token.
    dtype : str, optional
        Of the numbers; by default the smaller of uint16 and uint32 that holds all.
    valid_fraction, test_fraction : Fraction or float, optional
        The parts of the lines of `files` that go to the splits ``valid`` and ``test``, chosen by
        lot. The sizes are exact, to the nearest whole number.
    seed : int, optional
        Of the lot; by default ``config.default_seed``.
    **storage
        How to store the numbers; see `fill_hdf5_file`. The layout is 'ragged' by default, which
        can be compressed and is faster to read; no old program knows these files.

    Returns
    -------
    tuple of str
        The path of the file. Its source ``features`` has the numbers, labelled ('batch', 'time').
        Beside it, data set ``vocabulary`` has the tokens in the order of their numbers,
        ``vocabulary_counts`` how often each number stands in the split ``train`` (or in all, as
        above), and ``vocabulary_ids`` the numbers, if they are not 0, 1, 2 and so on.

    Raises
    ------
    DataFileNotFoundError
        A file is not there.
    ConversionError
        A file is empty, damaged, or not encoded as expected; a line has more than 2 ** 24
        characters; a split is given twice or would be empty; the vocabulary lacks a special token;
        a token has no number and there is none for unknown ones; a number is too large for
        `dtype`.
    """
    manner = Manner(level=level, lower=lower, encoding=encoding, bos=bos or None, eos=eos or None,
                    unk=unk or None)
    options = options_for_variable_length(storage, layout='ragged')
    if vocabulary is not None and (min_count > 1 or max_size is not None):
        raise ConversionError('expected either a vocabulary, or --min-count and --max-size, which '
                              'are for one that is made of the texts; got both')
    shares = Shares.of(valid_fraction, test_fraction)
    check_lot(shares, {'--seed': seed is not None})
    with new_file(output_directory, output_filename) as h5file:
        paths = files_by_split(directory, files, splits or {}, shares)
        origin = ', '.join(dict.fromkeys(itertools.chain(*paths.values())))
        if vocabulary is not None:
            origin = existing(directory, vocabulary)
            dictionary = _read(origin, manner)
        check_splits(h5file, [*paths, *shares.parts()], ['features'])
        parts = parts_of(paths, shares, encoding, seed)
        # What the vocabulary is made of, and what the counts in the file are those of.
        counted = {'train'} if 'train' in paths else set(paths)
        with TokenCounts(output_directory) as counts:
            sizes = [measure(part, manner, counts if vocabulary is None and part.split in counted
                             else None) for part in parts]
            if vocabulary is None:
                dictionary = _made(origin, counts, min_count, max_size, manner)
        ids = write_tokens(h5file, origin, dictionary, manner.attributes())
        tally = Tally(ids)
        bounds = _write(h5file, list(zip(parts, sizes, strict=True)),
                        manner.encoder(parts[0].files, dictionary), _dtype(origin, ids, dtype),
                        options, dict.fromkeys(counted, tally))
        write_counts(h5file, tally.counts(), storage)
        write_split(h5file, bounds)
    logger.info('the vocabulary has %s', plural(len(dictionary), 'token'))
    return (os.path.join(output_directory, output_filename),)


def _read(path: str, manner: Manner) -> dict[str, int]:
    """Return the vocabulary that was given.

    Raises
    ------
    ConversionError
        It lacks a special token, or has negative numbers.
    """
    dictionary = read_vocabulary(path)
    if not dictionary:
        raise ConversionError(f'{path}: expected a vocabulary; it is empty')
    for name, token in (('bos', manner.bos), ('eos', manner.eos), ('unk', manner.unk)):
        if token is not None and token not in dictionary:
            raise ConversionError(f'{path}: expected a vocabulary with the special token '
                                  f'{token!r}; it is not among its '
                                  f'{plural(len(dictionary), "token")}. Name another one with '
                                  f'--{name}, or give --no-{name}')
    for token, number in dictionary.items():
        if not 0 <= number < 1 << 63:
            raise ConversionError(f'{path}: expected numbers from 0 on; {token!r} has {number}')
    return dictionary


def _made(origin: str, counts: TokenCounts, min_count: int, max_size: int | None,
          manner: Manner) -> dict[str, int]:
    """Return a vocabulary of the tokens that were counted.

    Raises
    ------
    ConversionError
        It would be empty, or leave tokens out while there is none for unknown ones.
    """
    words = counts.most_common(min_count, max_size)
    left_out = counts.total - sum(count for _, count in words)
    if left_out and manner.unk is None:
        raise ConversionError(f'expected a number for every token; --min-count and --max-size '
                              f'leave {left_out} of {counts.total} without one. Choose a token '
                              'for those with --unk')
    dictionary = numbered((manner.bos, manner.eos, manner.unk), (word for word, _ in words))
    if not dictionary:
        raise ConversionError(f'{origin}: expected words; there are none')
    return dictionary


def _dtype(origin: str, ids: AnyArray, dtype: str | None) -> str:
    """Return the dtype of the numbers.

    Raises
    ------
    ConversionError
        The one asked for does not hold them.
    """
    largest = int(ids[-1])
    for kind in DTYPES[:2] if dtype is None else (dtype,):
        if largest <= numpy.iinfo(kind).max:
            return kind
    if dtype is None and largest <= numpy.iinfo('int64').max:
        return 'int64'
    raise ConversionError(f'{origin}: the vocabulary has numbers up to {largest}, which {dtype} '
                          'does not hold; choose another --dtype')


def _write(h5file: Any, parts: Sequence[tuple[Part, Size]], encoder: TextFile, dtype: str,
           options: SourceOptions, tallies: Mapping[str, Tally]
           ) -> dict[str, dict[str, tuple[int, int]]]:
    """Write the numbers of all splits, and return where the splits are."""
    lines = sum(size.lines for _, size in parts)
    values = sum(size.values for _, size in parts) if options.layout == 'ragged' else None
    bounds, told = {}, []
    with (progress_bar('text', lines, unit='lines') as bar,
          create_source(h5file, 'features', (None,), dtype, num_examples=lines, options=options,
                        axis_labels=('batch', 'time'), num_values=values) as writer):
        for part, size in parts:
            start = writer.num_examples
            unknown = 0
            for numbers, lengths in blocks_of(part, size, encoder):
                writer.append(numpy.split(numbers.astype(dtype), numpy.cumsum(lengths)[:-1]))
                bar.update(writer.num_examples)
                if part.split in tallies:
                    tallies[part.split].add(numbers)
                if encoder.unk_token is not None:
                    unknown += int(numpy.sum(numbers == encoder.dictionary[encoder.unk_token]))
            bounds[part.split] = {'features': (start, writer.num_examples)}
            told.append((part.split, size.lines, size.values, unknown))
    for split, num_lines, num_values, num_unknown in told:
        logger.info('%s: %s, %s, of which %d for unknown tokens', split,
                    plural(num_lines, 'line'), plural(num_values, 'number'), num_unknown)
    return bounds
