"""Conversion of the CIFAR-10 data set."""
from __future__ import annotations

from argparse import ArgumentParser
from collections.abc import Callable
from typing import Unpack

from fuel.converters._cifar import CifarSet, convert_cifar
from fuel.converters._conversion.storage import StorageArguments, add_storage_options
from fuel.converters.base import check_exists

__all__ = ['convert_cifar10', 'fill_subparser']

DATASET = CifarSet(
    archive='cifar-10-python.tar.gz',
    batches={'train': [f'cifar-10-batches-py/data_batch_{number}' for number in range(1, 6)],
             'test': ['cifar-10-batches-py/test_batch']},
    labels={'targets': ('labels', 10)},
    sizes={'train': 50000, 'test': 10000},
    names=('cifar-10-batches-py/batches.meta', {'targets': 'label_names'}))


def fill_subparser(subparser: ArgumentParser) -> Callable[..., tuple[str, ...]]:
    """Declare how the file can be stored, and return the function that converts CIFAR-10."""
    add_storage_options(subparser)
    return convert_cifar10


@check_exists(required_files=[DATASET.archive])
def convert_cifar10(directory: str, output_directory: str, output_filename: str = 'cifar10.hdf5',
                    **storage: Unpack[StorageArguments]) -> tuple[str, ...]:
    """Convert the CIFAR-10 data set to HDF5.

    Parameters
    ----------
    directory : str
        Where ``cifar-10-python.tar.gz`` lies. The pickles in it are read without running anything.
    output_directory : str
        Where the file is to be. A temporary file as large as the data lies there in the meantime.
    output_filename : str, optional
        What it is to be called.
    **storage
        How it is to be stored: options of `fill_hdf5_file`.

    Returns
    -------
    tuple of str
        The path of the file. Its sources are ``features``, the pictures, shape (60000, 3, 32, 32),
        uint8, and ``targets``, the classes from 0 to 9, shape (60000, 1), uint8. The five batches
        of the split ``train`` come first, in the order of their numbers, then ``test``. The
        attribute ``target_names`` of ``targets`` has the names of the classes, if the archive does.

    Raises
    ------
    MissingInputFiles
        The archive is not there.
    ConversionError
        It is cut off or damaged, lacks a batch, or has one that is not as expected or that asks
        for code to be run; the message names the archive and the batch.
    """
    return convert_cifar(DATASET, directory, output_directory, output_filename, storage)
