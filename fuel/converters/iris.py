"""Conversion of the Iris data set."""
from __future__ import annotations

import io
import os
from argparse import ArgumentParser
from collections.abc import Callable
from typing import Any, Unpack

import numpy
import numpy.typing as npt

from fuel.config_parser import config
from fuel.converters._conversion.checks import expect_count
from fuel.converters._conversion.inputs import note_seed, open_input
from fuel.converters._conversion.output import new_file
from fuel.converters._conversion.storage import StorageArguments, add_storage_options
from fuel.converters.base import check_exists, fill_hdf5_file
from fuel.exceptions import ConversionError

__all__ = ['convert_iris', 'fill_subparser']

RAW_FILE = 'iris.data'
CLASSES = {'Iris-setosa': 0, 'Iris-versicolor': 1, 'Iris-virginica': 2}
NUM_EXAMPLES = 150
_LARGEST = float(numpy.finfo('float32').max)
FEATURE_NAMES = ('sepal length', 'sepal width', 'petal length', 'petal width')
AXIS_LABELS = {'features': ('batch', 'feature'), 'targets': ('batch', 'index')}


def fill_subparser(subparser: ArgumentParser) -> Callable[..., tuple[str, ...]]:
    """Declare the options of the conversion of Iris.

    Parameters
    ----------
    subparser : ArgumentParser
        The parser of ``fuel-convert iris``.

    Returns
    -------
    callable
        `convert_iris`.
    """
    add_storage_options(subparser)
    return convert_iris


@check_exists(required_files=[RAW_FILE])
def convert_iris(directory: str, output_directory: str, output_filename: str = 'iris.hdf5',
                 **storage: Unpack[StorageArguments]) -> tuple[str, ...]:
    """Convert the Iris data set to HDF5.

    Parameters
    ----------
    directory : str
        Where ``iris.data`` lies.
    output_directory : str
        Where the file is to be.
    output_filename : str, optional
        What it is to be called.
    **storage
        How the data are stored; see `fill_hdf5_file`.

    Returns
    -------
    tuple of str
        The path of the file. Its sources are ``features``, shape (150, 4), float32, and
        ``targets``, shape (150, 1), uint8. Split ``all`` has the examples in the order of the
        raw file. A permutation drawn with ``config.default_seed`` divides them into ``train``
        (100), ``valid`` (20) and ``test`` (30, without targets). The names of the measurements,
        which are in centimetres, are kept as the attribute ``feature_names`` of ``features``,
        those of the species as the attribute ``target_names`` of ``targets``.

    Raises
    ------
    MissingInputFiles
        The raw file is not there.
    ConversionError
        A line of it does not have the form expected; the message names file and line.
    """
    with new_file(output_directory, output_filename) as h5file:
        features, targets = _read(os.path.join(directory, RAW_FILE))
        fill_hdf5_file(h5file, (('all', 'features', features), ('all', 'targets', targets)),
                       axis_labels=AXIS_LABELS, **storage)
        _keep_names(h5file)
        _divide(h5file, len(features))
    return (os.path.join(output_directory, output_filename),)


def _read(path: str) -> tuple[npt.NDArray[numpy.float32], npt.NDArray[numpy.uint8]]:
    """Read the raw file: four numbers and the name of a species in every line that is not empty."""
    features: list[list[float]] = []
    targets: list[int] = []
    with open_input(path) as content, io.TextIOWrapper(content, 'utf-8-sig', 'replace') as stream:
        for number, line in enumerate(stream, start=1):
            if not line.strip():
                continue
            *texts, name = line.strip().split(',')
            try:
                row = [float(text) for text in texts]
            except ValueError:
                row = []
            if len(row) != 4 or not all(map(_fits, row)) or name not in CLASSES:
                raise ConversionError(f'{path}, line {number}: expected four numbers and one of '
                                      f'{", ".join(CLASSES)}, divided by commas; got '
                                      f'{line.strip()[:80]!r}')
            features.append(row)
            targets.append(CLASSES[name])
    if not features:
        raise ConversionError(f'{path}: expected {NUM_EXAMPLES} lines with an example each; the '
                              'file is empty')
    expect_count(path, 'examples', len(features), NUM_EXAMPLES)
    return numpy.array(features, dtype='float32'), numpy.array(targets, dtype='uint8')[:, None]


def _fits(number: float) -> bool:
    """Tell whether a number is one, and not infinite, also as a float of 32 bits."""
    return abs(number) <= _LARGEST


def _keep_names(h5file: Any) -> None:
    """Note what the columns and the classes are called."""
    import h5py

    species = [name.removeprefix('Iris-') for name in CLASSES]
    for source, key, names in (('features', 'feature_names', FEATURE_NAMES),
                               ('targets', 'target_names', species)):
        h5file[source].attrs.create(key, names, dtype=h5py.string_dtype())


def _divide(h5file: Any, count: int) -> None:
    """Add splits that refer to a random choice of the rows: two thirds, a fifth of the rest."""
    from fuel.storage.splits import create_split_array

    note_seed(config.default_seed)
    order = numpy.random.RandomState(config.default_seed).permutation(count)
    bounds = (0, count * 100 // NUM_EXAMPLES, count * 120 // NUM_EXAMPLES, count)
    splits: dict[str, dict[str, tuple[Any, ...]]] = {
        'all': dict.fromkeys(('features', 'targets'), (0, count))}
    for position, (split, sources) in enumerate((('train', ('features', 'targets')),
                                                 ('valid', ('features', 'targets')),
                                                 ('test', ('features',)))):
        rows = order[bounds[position]:bounds[position + 1]]
        if len(rows):  # a file of a few lines has too few for every split
            h5file[f'{split}_indices'] = numpy.sort(rows)
            splits[split] = dict.fromkeys(sources, (-1, -1, h5file[f'{split}_indices'].ref))
    h5file.attrs['split'] = create_split_array(splits)
