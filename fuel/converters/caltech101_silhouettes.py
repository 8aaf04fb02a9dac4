"""Conversion of the CalTech 101 Silhouettes data set."""
from __future__ import annotations

import logging
import os
from argparse import ArgumentParser
from collections.abc import Callable, Mapping
from typing import Any, Unpack

from fuel._types import AnyArray
from fuel.converters._conversion.checks import expect_count
from fuel.converters._conversion.output import new_file
from fuel.converters._conversion.storage import StorageArguments, add_storage_options
from fuel.converters._formats.matlab import read_mat
from fuel.converters.base import check_exists, fill_hdf5_file
from fuel.exceptions import ConversionError

__all__ = ['convert_silhouettes', 'fill_subparser']

logger = logging.getLogger(__name__)

#: How many examples the splits of each size have.
COUNTS = {16: {'train': 4082, 'valid': 2257, 'test': 2302},
          28: {'train': 4100, 'valid': 2264, 'test': 2307}}
#: Labels are numbers from 1 to this one.
CLASSES = 101
#: What variables of a split begin with.
PREFIXES = {'train': 'train', 'valid': 'val', 'test': 'test'}
AXIS_LABELS = {'features': ('batch', 'channel', 'height', 'width'), 'targets': ('batch', 'index')}


def fill_subparser(subparser: ArgumentParser) -> Callable[..., tuple[str, ...]]:
    """Declare the arguments of the conversion of CalTech 101 Silhouettes.

    Parameters
    ----------
    subparser : ArgumentParser
        The parser of ``fuel-convert caltech101_silhouettes``.

    Returns
    -------
    callable
        `convert_silhouettes`.
    """
    subparser.add_argument('size', type=int, choices=tuple(COUNTS), metavar='SIZE',
                           help='height and width of the silhouettes in pixels, 16 or 28')
    add_storage_options(subparser)
    return convert_silhouettes


def convert_silhouettes(size: int, directory: str, output_directory: str,
                        output_filename: str | None = None, **storage: Unpack[StorageArguments]
                        ) -> tuple[str, ...]:
    """Convert the CalTech 101 Silhouettes data set to HDF5.

    Parameters
    ----------
    size : {16, 28}
        Height and width of the silhouettes in pixels.
    directory : str
        Where ``caltech101_silhouettes_<size>_split1.mat`` lies.
    output_directory : str
        Where the new file is to be.
    output_filename : str, optional
        What it is to be called; by default ``caltech101_silhouettes<size>.hdf5``.
    **storage
        How the data are stored; see `fill_hdf5_file`.

    Returns
    -------
    tuple of str
        The path of the file. Its sources are ``features``, shape (number, 1, size, size), and
        ``targets``, shape (number, 1), from 1 to 101, both in the dtype of the raw file. Splits
        are ``train``, ``valid`` and ``test``. Pixels stay in the order of the raw file, where the
        columns of a silhouette follow each other.

    Raises
    ------
    MissingInputFiles
        The raw file is not there.
    ConversionError
        There are no silhouettes of that size; the raw file is no MATLAB file, or its variables
        are missing or do not fit together.
    """
    if size not in COUNTS:
        raise ConversionError(f'expected a size of {" or ".join(map(str, COUNTS))}; got {size!r}')
    name = f'caltech101_silhouettes_{size}_split1.mat'
    output_filename = output_filename or f'caltech101_silhouettes{size}.hdf5'
    return check_exists([name])(_convert)(directory, name, size, output_directory,
                                          output_filename, storage)


def _convert(directory: str, name: str, size: int, output_directory: str, output_filename: str,
             storage: StorageArguments) -> tuple[str, ...]:
    with new_file(output_directory, output_filename) as h5file:
        path = os.path.join(directory, name)
        # The public file has other variables too, of kinds that do not matter here.
        variables = read_mat(path, [f'{prefix}_{what}' for prefix in PREFIXES.values()
                                    for what in ('data', 'labels')])
        data: list[tuple[str, str, AnyArray]] = []
        for split, known in COUNTS[size].items():
            features, targets = _split(variables, path, PREFIXES[split], size)
            expect_count(path, f'silhouettes for split {split!r}', len(features), known)
            data += [(split, 'features', features), (split, 'targets', targets)]
        _check_dtypes(data, path)
        fill_hdf5_file(h5file, data, axis_labels=AXIS_LABELS, **storage)
    return (os.path.join(output_directory, output_filename),)


def _split(variables: Mapping[str, AnyArray], path: str, prefix: str, size: int
           ) -> tuple[AnyArray, AnyArray]:
    """Return silhouettes and labels of a split."""
    pixels = _variable(variables, path, f'{prefix}_data')
    labels = _variable(variables, path, f'{prefix}_labels')
    if pixels.ndim != 2 or pixels.shape[1] != size ** 2 or not len(pixels):
        raise ConversionError(f'{path}: expected {prefix}_data to have a row of {size ** 2} '
                              f'pixels for each silhouette; its shape is {pixels.shape}')
    # MATLAB knows no single axis; a list of labels may be a row or a column.
    if labels.shape not in ((len(pixels), 1), (1, len(pixels))):
        raise ConversionError(f'{path}: expected {prefix}_labels to have a label for each of the '
                              f'{len(pixels)} rows of {prefix}_data; its shape is {labels.shape}')
    _check_labels(path, f'{prefix}_labels', labels.reshape(-1))
    return pixels.reshape(-1, 1, size, size), labels.reshape(-1, 1)


def _check_labels(path: str, name: str, labels: AnyArray) -> None:
    """Raise if a label is no number; warn if one is not among those of the public file."""
    import numpy

    wrong = numpy.flatnonzero(~numpy.isfinite(labels))
    if wrong.size:
        raise ConversionError(f'{path}: expected {name} to have numbers; the one of silhouette '
                              f'{wrong[0]} is {labels[wrong[0]]}')
    odd = numpy.flatnonzero((labels < 1) | (labels > CLASSES) | (labels % 1 != 0))
    if odd.size:
        logger.warning('%s: the data set has labels from 1 to %d; %s has label %s, first for '
                       'silhouette %d', path, CLASSES, name, labels[odd[0]], odd[0])


def _variable(variables: Mapping[str, AnyArray], path: str, name: str) -> AnyArray:
    """Return a variable that is an array of numbers."""
    value = variables[name]
    kind = getattr(getattr(value, 'dtype', None), 'kind', None)
    if kind is None or kind not in 'buif':
        raise ConversionError(f'{path}: expected the variable {name!r} to be an array of numbers; '
                              f'got a {type(value).__name__} of dtype '
                              f'{getattr(value, "dtype", None)}')
    return value


def _check_dtypes(data: list[tuple[str, str, Any]], path: str) -> None:
    """Raise if a source has not the same dtype in all splits."""
    for source, what in (('features', 'data'), ('targets', 'labels')):
        dtypes = {f'{PREFIXES[split]}_{what}': str(array.dtype) for split, name, array in data
                  if name == source}
        if len(set(dtypes.values())) > 1:
            raise ConversionError(
                f'{path}: expected variables of one type; got '
                + ', '.join(f'{dtype} for {name}' for name, dtype in dtypes.items()))
