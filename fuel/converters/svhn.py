"""Conversion of the Street View House Numbers (SVHN) data set."""
from __future__ import annotations

import itertools
import logging
import os
from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Unpack

from fuel._types import AnyArray
from fuel.converters._conversion.checks import expect_count
from fuel.converters._conversion.output import new_file
from fuel.converters._conversion.storage import StorageArguments, add_storage_options
from fuel.converters._formats.matlab import stream_mat
from fuel.converters._house_numbers import write_house_numbers
from fuel.converters.base import Streamed, check_exists, fill_hdf5_file, progress_bar
from fuel.exceptions import ConversionError

__all__ = ['convert_svhn', 'convert_svhn_format_1', 'convert_svhn_format_2', 'fill_subparser']

logger = logging.getLogger(__name__)

ARCHIVES = {split: f'{split}.tar.gz' for split in ('train', 'test', 'extra')}
#: How many pictures of digits the public files have.
MATRICES = {'train_32x32.mat': 73257, 'test_32x32.mat': 26032, 'extra_32x32.mat': 531131}
#: More of them, of which the labels are in memory at once, are not read.
MOST_DIGITS = 1 << 22


def fill_subparser(subparser: ArgumentParser) -> Callable[..., tuple[str, ...]]:
    """Declare the arguments of the conversion of SVHN.

    Parameters
    ----------
    subparser : ArgumentParser
        The parser of ``fuel-convert svhn``.

    Returns
    -------
    callable
        `convert_svhn`.
    """
    subparser.add_argument('which_format', type=int, choices=(1, 2), metavar='FORMAT',
                           help='1 for whole pictures with bounding boxes of digits, 2 for '
                                'pictures of single digits, 32 by 32 pixels')
    add_storage_options(subparser, variable_length=True)
    return convert_svhn


def convert_svhn(which_format: int, directory: str, output_directory: str,
                 output_filename: str | None = None, **storage: Unpack[StorageArguments]
                 ) -> tuple[str, ...]:
    """Convert the SVHN data set to HDF5.

    Parameters
    ----------
    which_format : {1, 2}
        Whether to convert whole pictures, with the bounding boxes of the digits in them, or
        pictures of single digits.
    directory, output_directory, output_filename, **storage
        As for `convert_svhn_format_1` and `convert_svhn_format_2`.

    Returns
    -------
    tuple of str
        The path of the file.

    Raises
    ------
    MissingInputFiles
        A raw file is not there.
    ConversionError
        There is no such format; or a raw file is not as expected.
    """
    if which_format not in (1, 2):
        raise ConversionError(f'expected which_format to be 1 or 2; got {which_format!r}')
    output_filename = output_filename or f'svhn_format_{which_format}.hdf5'
    convert = convert_svhn_format_1 if which_format == 1 else convert_svhn_format_2
    return convert(directory, output_directory, output_filename, **storage)


@check_exists(required_files=list(ARCHIVES.values()))
def convert_svhn_format_1(directory: str, output_directory: str,
                          output_filename: str = 'svhn_format_1.hdf5',
                          **storage: Unpack[StorageArguments]) -> tuple[str, ...]:
    """Convert the whole pictures of SVHN, with the bounding boxes of digits, to HDF5.

    Parameters
    ----------
    directory : str
        Where ``train.tar.gz``, ``test.tar.gz`` and ``extra.tar.gz`` lie.
    output_directory : str
        Where the file is to be. The content of the archives lies there in the meantime, in a
        temporary folder.
    output_filename : str, optional
        What it is to be called.
    **storage
        How it is to be stored: options of `fill_hdf5_file`.

    Returns
    -------
    tuple of str
        The path of the file. Its splits are ``train``, ``test`` and ``extra``. Its sources have a
        shape for each example:

        * ``features``, the pictures, uint8, shape (3, height, width);
        * ``bbox_labels``, the digits from 0 to 9, uint8, shape (digits, 1);
        * ``bbox_heights``, ``bbox_widths``, ``bbox_lefts``, ``bbox_tops``, the bounding boxes of
          the digits in pixels, uint16, shape (digits, 1). Edges that are outside of the picture
          are at 0.

    Raises
    ------
    MissingInputFiles
        An archive is not there.
    ConversionError
        An archive is cut off or damaged, has members that lead out of it or pictures that are
        none, or its pictures are not those that its ``digitStruct.mat`` describes; or bounding
        boxes are not whole numbers, or labels not from 1 to 10.

    Notes
    -----
    The shapes of a source stand in ``<source>_shapes``, int32, and the names of its axes in
    ``<source>_shape_labels``, as everywhere in Fuel. Files of the old library have uint16 there,
    and ``<source>_vlen_axis_labels``. Readers know both by the names of the dimension scales,
    which are ``shapes`` and ``shape_labels`` in either.
    """
    with new_file(output_directory, output_filename) as h5file:
        write_house_numbers(h5file, {split: os.path.join(directory, name)
                                     for split, name in ARCHIVES.items()},
                            output_directory, storage)
    return (os.path.join(output_directory, output_filename),)


@check_exists(required_files=list(MATRICES))
def convert_svhn_format_2(directory: str, output_directory: str,
                          output_filename: str = 'svhn_format_2.hdf5',
                          **storage: Unpack[StorageArguments]) -> tuple[str, ...]:
    """Convert the pictures of single digits of SVHN to HDF5.

    Parameters
    ----------
    directory : str
        Where ``train_32x32.mat``, ``test_32x32.mat`` and ``extra_32x32.mat`` lie.
    output_directory : str
        Where the file is to be.
    output_filename : str, optional
        What it is to be called.
    **storage
        How it is to be stored: options of `fill_hdf5_file`.

    Returns
    -------
    tuple of str
        The path of the file. Its sources are ``features``, the pictures, shape (630420, 3, 32,
        32), and ``targets``, the digits from 0 to 9, shape (630420, 1); both are uint8. Its splits
        are ``train`` (73257), ``test`` (26032) and ``extra`` (531131).

    Raises
    ------
    MissingInputFiles
        A raw file is not there.
    ConversionError
        A file is no MATLAB file, cut off or damaged, or its variables ``X`` and ``y`` are not as
        expected.
    """
    data: list[tuple[str, str, Any]] = []
    if storage.pop('layout', None) == 'ragged':
        logger.warning('svhn_format_2: all pictures have one shape; the layout has no effect')
    with new_file(output_directory, output_filename) as h5file:
        counts = {name: _count(os.path.join(directory, name)) for name in MATRICES}
        with progress_bar('svhn', sum(counts.values()), unit='examples') as progress:
            done = itertools.accumulate([0, *counts.values()])
            for (name, count), before in zip(counts.items(), done, strict=False):
                path, split = os.path.join(directory, name), name.partition('_')[0]
                expect_count(path, 'digits', count, MATRICES[name])
                pictures = _counted(_pictures(path), before, progress.update)
                data += [(split, 'features', Streamed(pictures, count)),
                         (split, 'targets', _digits(path, count))]
            fill_hdf5_file(h5file, data, axis_labels={
                'features': ('batch', 'channel', 'height', 'width'),
                'targets': ('batch', 'index')}, **storage)
    return (os.path.join(output_directory, output_filename),)


def _count(path: str) -> int:
    """Return how many pictures a file has."""
    shape, dtype, _ = stream_mat(path, 'X')
    if len(shape) != 4 or shape[:3] != (32, 32, 3) or dtype != 'uint8' or not shape[3]:
        raise ConversionError(f"{path}: expected the variable 'X' to have pictures of 32 by 32 "
                              f'pixels, in uint8 of shape (32, 32, 3, number); got {dtype} of '
                              f'shape {shape}')
    if shape[3] > MOST_DIGITS:
        raise ConversionError(f"{path}: expected at most {MOST_DIGITS} pictures in 'X'; got "
                              f'{shape[3]}')
    return shape[3]


def _pictures(path: str) -> Iterator[AnyArray]:
    """Yield blocks of pictures."""
    for block in stream_mat(path, 'X')[2]:
        yield block.transpose(3, 2, 0, 1)


def _digits(path: str, count: int) -> AnyArray:
    """Return the digits; raw files have 10 for 0."""
    import numpy

    shape, _, blocks = stream_mat(path, 'y')
    if shape not in ((count, 1), (1, count)):
        raise ConversionError(f"{path}: expected the variable 'y' to have {count} labels, one for "
                              f"each picture in 'X'; got the shape {shape}")
    labels = numpy.concatenate([block.reshape(-1) for block in blocks])
    # Also where a label is not a number.
    wrong = numpy.flatnonzero(~((labels >= 1) & (labels <= 10) & (labels % 1 == 0)))
    if len(wrong):
        raise ConversionError(f"{path}: expected labels in 'y' from 1 to 10, which stands for the "
                              f'digit 0; label {wrong[0]} is {labels[wrong[0]]}')
    return (labels % 10).astype('uint8').reshape(-1, 1)


def _counted(blocks: Iterable[AnyArray], done: int, update: Callable[[int], None]
             ) -> Iterator[AnyArray]:
    """Yield blocks, and tell how many examples there were up to their end."""
    for block in blocks:
        done += len(block)
        update(done)
        yield block
