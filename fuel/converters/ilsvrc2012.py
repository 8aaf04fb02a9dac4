"""Conversion of the pictures of ImageNet's challenge of 2012."""
from __future__ import annotations

import functools
import os
from argparse import ArgumentParser
from collections.abc import Callable
from typing import Unpack

from fuel.config_parser import config
from fuel.converters._conversion.checks import expect_count
from fuel.converters._conversion.inputs import note_seed
from fuel.converters._conversion.output import new_file
from fuel.converters._conversion.storage import StorageArguments, options_for_variable_length
from fuel.converters._imagenet.archives import (
    Pictures,
    find_pictures,
    find_training_pictures,
)
from fuel.converters._imagenet.arguments import add_arguments
from fuel.converters._imagenet.devkit import Classes, read_devkit
from fuel.converters._imagenet.pictures import CHECKS, checked_check
from fuel.converters._imagenet.writing import write_file
from fuel.converters.base import check_exists

__all__ = ['ALL_FILES', 'DEVKIT_ARCHIVE', 'IMAGE_TARS', 'TEST_IMAGES_TAR', 'TRAIN_IMAGES_TAR',
           'VALID_IMAGES_TAR', 'convert_ilsvrc2012', 'fill_subparser']

DEVKIT_ARCHIVE = 'ILSVRC2012_devkit_t12.tar.gz'
TRAIN_IMAGES_TAR = 'ILSVRC2012_img_train.tar'
VALID_IMAGES_TAR = 'ILSVRC2012_img_val.tar'
TEST_IMAGES_TAR = 'ILSVRC2012_img_test.tar'
IMAGE_TARS = (TRAIN_IMAGES_TAR, VALID_IMAGES_TAR, TEST_IMAGES_TAR)
#: Everything that the converter reads.
ALL_FILES = (DEVKIT_ARCHIVE, *IMAGE_TARS)

_TRUTH = 'ILSVRC2012_validation_ground_truth.txt'
_NUMBER_FIELD = 'ILSVRC2012_ID'
_NUM_VALID, _NUM_TEST = 50000, 100000


def fill_subparser(subparser: ArgumentParser) -> Callable[..., tuple[str, ...]]:
    """Declare the arguments; return the function that converts the data set."""
    add_arguments(subparser)
    return convert_ilsvrc2012


@check_exists(required_files=ALL_FILES)
def convert_ilsvrc2012(directory: str, output_directory: str,
                       output_filename: str = 'ilsvrc2012.hdf5',
                       shuffle_seed: int | None = None, *, check: str = CHECKS[0],
                       **storage: Unpack[StorageArguments]) -> tuple[str, ...]:
    """Convert the pictures of ImageNet's challenge of 2012 to HDF5.

    Parameters
    ----------
    directory : str
        Where the files `ALL_FILES` lie.
    output_directory : str
        Where the file is to be.
    output_filename : str, optional
        What it is to be called.
    shuffle_seed : int, optional
        Seed of the order of the training pictures; ``config.default_seed`` by default.
    check : {'header', 'decode', 'none'}, optional
        How pictures are checked. 'header', the default: JPEGs must begin and end as such; 'decode':
        all must be decodable, which is done by several processes.
    **storage
        ``compression``, ``chunk_examples`` and ``layout``; see `fill_hdf5_file`.

    Returns
    -------
    tuple of str
        The path of the file. Its sources are ``encoded_images``, the bytes of the files, uint8 of
        any length; ``targets``, the label, shape (n, 1), int16; ``filenames``, shape (n, 1),
        bytes. The label is ``ILSVRC2012_ID`` of the development kit less 1. Splits are ``train``,
        1281167 examples in random order; ``valid``, 50000, and ``test``, 100000 without targets,
        both ordered by file name.

    Raises
    ------
    MissingInputFiles
        Files are not there.
    ConversionError
        One of them is not as it must be, or a picture is none; the message names it.
    """
    checked_check(check)
    seed = config.default_seed if shuffle_seed is None else shuffle_seed
    note_seed(seed)
    options = options_for_variable_length(storage)
    with new_file(output_directory, output_filename) as h5file:
        write_file(h5file, functools.partial(_find, directory), seed=seed, check=check,
                   options=options, name='ilsvrc2012')
    return (os.path.join(output_directory, output_filename),)


def _find(directory: str) -> tuple[dict[str, Pictures], Classes]:
    """Find the pictures of the splits, and what there is on them."""
    devkit, train, valid, test = (os.path.join(directory, name) for name in ALL_FILES)
    classes, labels = read_devkit(devkit, _NUMBER_FIELD, _TRUTH)
    found = {'train': find_training_pictures(train, classes),
             'valid': find_pictures(valid, labels, f'{devkit}: data/{_TRUTH}'),
             'test': find_pictures(test)}
    expect_count(valid, 'validation pictures', len(found['valid']), _NUM_VALID)
    expect_count(test, 'test pictures', len(found['test']), _NUM_TEST)
    return found, classes
