"""Conversion of the pictures of ImageNet's challenge of 2010."""
from __future__ import annotations

import functools
import os
from argparse import ArgumentParser
from collections.abc import Callable
from typing import Unpack

from fuel.config_parser import config
from fuel.converters._conversion.checks import expect_count
from fuel.converters._conversion.inputs import note_input, note_seed, open_input
from fuel.converters._conversion.output import new_file
from fuel.converters._conversion.storage import StorageArguments, options_for_variable_length
from fuel.converters._imagenet.archives import (
    Pictures,
    find_patches,
    find_pictures,
    find_training_pictures,
    patched,
)
from fuel.converters._imagenet.arguments import add_arguments
from fuel.converters._imagenet.devkit import Classes, read_devkit, read_labels
from fuel.converters._imagenet.pictures import CHECKS, checked_check
from fuel.converters._imagenet.writing import write_file
from fuel.converters.base import check_exists

__all__ = ['ALL_FILES', 'DEVKIT_ARCHIVE', 'IMAGE_TARS', 'PATCH_IMAGES_TAR', 'PUBLIC_FILES',
           'TEST_GROUNDTRUTH', 'TEST_IMAGES_TAR', 'TRAIN_IMAGES_TAR', 'VALID_IMAGES_TAR',
           'convert_ilsvrc2010', 'fill_subparser']

DEVKIT_ARCHIVE = 'ILSVRC2010_devkit-1.0.tar.gz'
TEST_GROUNDTRUTH = 'ILSVRC2010_test_ground_truth.txt'
TRAIN_IMAGES_TAR = 'ILSVRC2010_images_train.tar'
VALID_IMAGES_TAR = 'ILSVRC2010_images_val.tar'
TEST_IMAGES_TAR = 'ILSVRC2010_images_test.tar'
PATCH_IMAGES_TAR = 'patch_images.tar'
#: Files that can be had without a registration.
PUBLIC_FILES = (DEVKIT_ARCHIVE, TEST_GROUNDTRUTH)
IMAGE_TARS = (TRAIN_IMAGES_TAR, VALID_IMAGES_TAR, TEST_IMAGES_TAR, PATCH_IMAGES_TAR)
#: Everything that the converter reads.
ALL_FILES = PUBLIC_FILES + IMAGE_TARS

_TRUTH = 'ILSVRC2010_validation_ground_truth.txt'
_NUMBER_FIELD = 'ILSVRC2010_ID'
_NUM_VALID, _NUM_TEST = 50000, 150000


def fill_subparser(subparser: ArgumentParser) -> Callable[..., tuple[str, ...]]:
    """Declare the arguments; return the function that converts the data set."""
    add_arguments(subparser)
    return convert_ilsvrc2010


@check_exists(required_files=ALL_FILES)
def convert_ilsvrc2010(directory: str, output_directory: str,
                       output_filename: str = 'ilsvrc2010.hdf5',
                       shuffle_seed: int | None = None, *, check: str = CHECKS[0],
                       **storage: Unpack[StorageArguments]) -> tuple[str, ...]:
    """Convert the pictures of ImageNet's challenge of 2010 to HDF5.

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
        bytes. The label is ``ILSVRC2010_ID`` of the development kit less 1. Splits are ``train``,
        1261406 examples in random order; ``valid``, 50000, and ``test``, 150000, both ordered by
        file name. Pictures of `PATCH_IMAGES_TAR` replace those of the same name and split.

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
                   options=options, name='ilsvrc2010')
    return (os.path.join(output_directory, output_filename),)


def _find(directory: str) -> tuple[dict[str, Pictures], Classes]:
    """Find the pictures of the splits, and what there is on them."""
    devkit, truth, train, valid, test, patch = (os.path.join(directory, name)
                                                for name in ALL_FILES)
    classes, valid_labels = read_devkit(devkit, _NUMBER_FIELD, _TRUTH)
    with open_input(truth) as stream:
        test_labels = read_labels(stream, truth, len(classes.wnids))
    note_input(patch)
    patches = find_patches(patch)
    found = {'train': find_training_pictures(train, classes),
             'valid': find_pictures(valid, valid_labels, f'{devkit}: data/{_TRUTH}'),
             'test': find_pictures(test, test_labels, truth)}
    expect_count(valid, 'validation pictures', len(found['valid']), _NUM_VALID)
    expect_count(test, 'test pictures', len(found['test']), _NUM_TEST)
    return {split: patched(pictures, patches[split], patch)
            for split, pictures in found.items()}, classes
