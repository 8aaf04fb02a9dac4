"""Conversion of somebody's own arrays: ``.npz`` and ``.npy`` files of NumPy."""
from __future__ import annotations

import logging
import os
from argparse import SUPPRESS, ArgumentParser, ArgumentTypeError
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Unpack

from fuel.converters._conversion.help import add_examples, names_from_text
from fuel.converters._conversion.output import new_file
from fuel.converters._conversion.storage import StorageArguments, add_storage_options
from fuel.converters._division.array_sources import (
    Codes,
    Part,
    check_alike,
    classes_of,
    codes_of,
    labels_of,
    parts_by_name,
    same_length,
)
from fuel.converters._division.names import check_text, shown, write_names
from fuel.converters._division.options import (
    add_ranges_option,
    add_shares_options,
    check_lot,
    one_way,
    used_seed,
)
from fuel.converters._division.own_files import own_file
from fuel.converters._division.shares import (
    Range,
    Shares,
    all_in_one,
    by_ranges,
    check_splits,
    divide,
    sizes_of,
)
from fuel.converters._formats.npy import StoredArray, arrays_of
from fuel.converters.base import Streamed, fill_hdf5_file, progress_bar
from fuel.exceptions import ConversionError

__all__ = ['convert_arrays', 'fill_subparser']

logger = logging.getLogger(__name__)

SPLITS = ('auto', 'names', 'none')
# Where the file says what it was made from.
_RESERVED = 'fuel_provenance'
_DESCRIPTION = """
Convert arrays that numpy.save or numpy.savez wrote to HDF5. Each array is a source of the file; its
first axis is that of the examples. Arrays of an .npz file have names; for an .npy file write
NAME=FILE.npy, or it is called like the file.

If all names end or begin with that of a split, as x_train, y_train, x_test and y_test do, these
are the splits, and the sources x and y. Otherwise all arrays have the same number of examples,
which are the split train, unless options divide them.
"""
_EXAMPLES = """
fuel-convert arrays mnist.npz
fuel-convert arrays features=x.npy targets=y.npy --test-fraction 0.2 --seed 1
fuel-convert arrays faces.npz --split train=0:800 --split test=800:1000
fuel-convert arrays faces.npz --labels x=batch,channel,height,width
"""


def _labels_from_text(text: str) -> tuple[str, tuple[str, ...]]:
    name, equals, labels = text.partition('=')
    if not name or not equals or not labels:
        raise ArgumentTypeError('expected a source and the labels of its axes, such as '
                                f'x=batch,channel,height,width; got {text!r}')
    return name, tuple(label.strip() for label in labels.split(','))


def fill_subparser(subparser: ArgumentParser) -> Callable[..., tuple[str, ...]]:
    """Declare the options of the conversion of arrays.

    Parameters
    ----------
    subparser : ArgumentParser
        The parser of ``fuel-convert arrays``.

    Returns
    -------
    callable
        `convert_arrays`.
    """
    add_examples(subparser, _DESCRIPTION, _EXAMPLES)
    add = subparser.add_argument
    add('files', nargs='+', metavar='FILE', help='FILE.npz, NAME=FILE.npy or FILE.npy')
    add('--splits', choices=SPLITS, default='auto',
        help='whether the names of the arrays say the splits; auto looks whether all of them do')
    add('--drop', type=names_from_text, default=SUPPRESS, metavar='NAME[,NAME]',
        help='arrays to leave out')
    add('--labels', type=_labels_from_text, action='append', default=SUPPRESS,
        metavar='NAME=LABEL,LABEL', help='labels of the axes of a source, such as '
                                         'x=batch,channel,height,width')
    add_ranges_option(subparser)
    add_shares_options(subparser)
    add('--stratify', default=SUPPRESS, metavar='NAME',
        help='the array of the classes; each split gets the same part of every class')
    add_storage_options(subparser)
    return convert_arrays


def convert_arrays(directory: str, output_directory: str, output_filename: str | None = None, *,
                   files: Sequence[str], splits: str = 'auto', drop: Sequence[str] = (),
                   labels: Mapping[str, Sequence[str]] | Sequence[
                       tuple[str, Sequence[str]]] = (),
                   ranges: Sequence[Range] | None = None,
                   valid_fraction: Fraction | float = Fraction(0),
                   test_fraction: Fraction | float = Fraction(0), seed: int | None = None,
                   stratify: str | None = None, **storage: Unpack[StorageArguments]
                   ) -> tuple[str, ...]:
    """Convert arrays in files of NumPy to HDF5.

    Parameters
    ----------
    directory : str
        Where relative paths begin.
    output_directory : str
        Where the new file is to be.
    output_filename : str, optional
        What it is to be called; by default like the ``.npz`` file if there is only that, else
        ``arrays.hdf5``.
    files : sequence of str
        ``FILE.npz``, ``NAME=FILE.npy`` or ``FILE.npy``.
    splits : {'auto', 'names', 'none'}, optional
        Whether the names of arrays say the splits, as in ``x_train`` or ``train_x``. ``'auto'``
        (the default) looks whether all of them do, unless another way to divide is given.
    drop : sequence of str, optional
        Arrays to leave out.
    labels : mapping, or sequence of pairs, optional
        From sources to the labels of their axes. By default the first is 'batch', and the second
        of two 'feature', or 'index' if it has one entry.
    ranges : sequence of Range, optional
        Splits that are ranges of examples.
    valid_fraction, test_fraction : Fraction or float, optional
        The parts of the examples that become the splits ``valid`` and ``test``; the rest is
        ``train``. `fuel.converters._division.shares` says which examples.
    seed : int, optional
        Of the division; ``config.default_seed`` by default.
    stratify : str, optional
        An array of classes, of which each split then gets the same part. By default classes do
        not matter.
    **storage
        How the data are stored; see `fill_hdf5_file`.

    Returns
    -------
    tuple of str
        The path of the file. Its sources are the arrays, as they are; but texts become numbers,
        and the data set ``NAME_names``, which is no source, has the texts in the order of these.
        Inside a split examples are in the order of the arrays.

    Raises
    ------
    DataFileNotFoundError
        A file is not there. A ``FileNotFoundError``.
    ConversionError
        A file is not one of NumPy, cut off or damaged, has Python objects, or has no axis of
        examples; arrays of a split differ in length; or the options do not go together.
    """
    shares = Shares.of(valid_fraction, test_fraction)
    way = one_way({'--splits names': splits == 'names', '--split': ranges is not None,
                   '--valid-fraction or --test-fraction': bool(shares)})
    check_lot(shares, {'--seed': seed is not None, '--stratify': stratify is not None})
    if splits not in SPLITS:
        raise ConversionError(f'expected splits to be one of {", ".join(SPLITS)}; got {splits!r}')
    with new_file(output_directory, output_filename or _file_name(files)) as h5file:
        arrays = _arrays(directory, files, drop, output_directory)
        codes: dict[str, Codes] = {}            # by the name of the array or of the source
        parts = None
        if splits == 'names' or (splits == 'auto' and way is None):
            parts = parts_by_name(arrays, required=splits == 'names')
        if parts is None:
            count = same_length(arrays)
            check_splits(h5file, [part.name for part in ranges or ()] or ['train', *shares.parts()],
                         [array.name for array in arrays])
            codes = _codes([Part('', array.name, array) for array in arrays])
            if ranges is not None:
                rows = by_ranges(count, ranges)
            elif shares:
                rows = divide(count, shares, used_seed(seed),
                              None if stratify is None else
                              classes_of(_named(arrays, stratify), codes))
            else:
                rows = all_in_one(count)
            parts = [Part(split, array.name, array, None if len(of_split) == count else of_split)
                     for split, of_split in rows.items() for array in arrays]
        else:
            for split in dict.fromkeys(part.split for part in parts):
                same_length([part.array for part in parts if part.split == split])
            check_alike(parts)
            check_splits(h5file, list(dict.fromkeys(part.split for part in parts)),
                         list(dict.fromkeys(part.source for part in parts)))
            codes = _codes(parts)
        _check_storable(parts, codes)
        taken = {f'{name}_names' for name in codes} & {part.source for part in parts}
        if taken:
            raise ConversionError(f'the array {shown(sorted(taken))} has the name of the data set '
                                  'for the texts of another one; leave it out with --drop')
        sizes = {part.split: range(part.num_examples) for part in parts}
        examples, rows_of_all = sum(map(len, sizes.values())), sum(
            part.num_examples for part in parts)
        done = 0
        with progress_bar('arrays', examples, unit='examples') as progress:
            def told(count: int) -> None:
                nonlocal done           # rows, of which an example has one in each array
                done += count
                progress.update(done * examples // rows_of_all)

            fill_hdf5_file(h5file, [
                (part.split, part.source, Streamed(part.blocks(codes.get(part.source), told),
                                                   part.num_examples)) for part in parts],
                axis_labels=labels_of(parts, dict(
                    labels.items() if isinstance(labels, Mapping) else labels)), **storage)
        for name, of_source in codes.items():
            write_names(h5file, f'{name}_names', of_source.names)
        logger.info('sources %s; %s examples', shown(list(dict.fromkeys(
            part.source for part in parts)), 20), sizes_of(sizes))
    return (os.path.join(output_directory, output_filename or _file_name(files)),)


def _file_name(files: Sequence[str]) -> str:
    stem, ending = os.path.splitext(os.path.basename(files[0])) if len(files) == 1 else ('', '')
    return f'{stem}.hdf5' if ending.lower() == '.npz' and stem else 'arrays.hdf5'


def _arrays(directory: str, files: Sequence[str], drop: Sequence[str],
            workplace: str) -> list[StoredArray]:
    """Return the arrays of all files, but for those that are left out."""
    arrays: list[StoredArray] = []
    for text in files:
        name, equals, path = text.partition('=')
        if not equals or os.path.exists(os.path.join(directory, text)):
            name, path = '', text
        arrays += arrays_of(own_file(directory, path), name or None, workplace)
    for name in drop:
        _named(arrays, name)
    arrays = [array for array in arrays if array.name not in drop]
    if not arrays:
        raise ConversionError('expected arrays; all of them are left out by --drop')
    seen: dict[str, StoredArray] = {}
    for array in arrays:
        if array.name in seen:
            raise ConversionError(f'expected names that differ; {seen[array.name].where} and '
                                  f'{array.where} are both called {array.name!r}. Give others as '
                                  'in NAME=FILE.npy')
        seen[array.name] = array
        if '/' in array.name or array.name in ('', '.'):
            raise ConversionError(f'{array.where}: expected a name without slashes, as sources '
                                  f'have; got {array.name!r}')
        check_text(array.name, f'{array.path}: the name of an array')
        if array.name == _RESERVED:
            raise ConversionError(f'{array.where}: expected another name; {_RESERVED} is reserved '
                                  'for what the new file says of its origin. Leave it out with '
                                  f'--drop {_RESERVED}, or save it under another name')
    return arrays


def _named(arrays: Sequence[StoredArray], name: str) -> StoredArray:
    for array in arrays:
        if array.name == name:
            return array
    raise ConversionError(f'there is no array {name!r}; the arrays are '
                          f'{shown([array.name for array in arrays], 20)}')


def _codes(parts: Sequence[Part]) -> dict[str, Codes]:
    """Collect the texts of those sources that have texts."""
    sources = dict.fromkeys(part.source for part in parts if part.array.dtype.kind == 'U')
    return {source: codes_of([part.array for part in parts if part.source == source])
            for source in sources}


def _check_storable(parts: Sequence[Part], codes: Mapping[str, Codes]) -> None:
    from fuel.storage.writing.rows import check_storable

    for part in parts:
        if part.source not in codes:
            try:
                check_storable(part.source, part.array.dtype)
            except ValueError as error:
                raise ConversionError(f'{part.array.where}: {error}') from error
