"""Conversion of the Dogs vs. Cats data set."""
from __future__ import annotations

import logging
import os
import posixpath
from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Unpack

from fuel.converters._conversion.checks import expect_count
from fuel.converters._conversion.inputs import note_seed
from fuel.converters._conversion.output import new_file
from fuel.converters._conversion.storage import (
    StorageArguments,
    add_storage_options,
    options_for_variable_length,
)
from fuel.converters._formats.archives import Zip
from fuel.converters._pictures.pixels import decoded
from fuel.converters._pictures.zipped import zipped_pictures
from fuel.converters.base import Streamed, check_exists, fill_hdf5_file, progress_bar
from fuel.exceptions import ConversionError

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    from fuel.utils.progress import ProgressBar

__all__ = ['convert_dogs_vs_cats', 'fill_subparser']

logger = logging.getLogger(__name__)

TRAIN_FILE, TEST_FILE = 'dogs_vs_cats.train.zip', 'dogs_vs_cats.test1.zip'
NUM_TRAIN, NUM_TEST = 25000, 12500
# Of the number of a test picture; Python refuses to read numbers of thousands of them.
_MOST_DIGITS = 18
#: Of the order of the training pictures.
SEED = 123522
#: The names of the classes, which the names of training pictures begin with, by their numbers.
CLASSES = ('cat', 'dog')
AXIS_LABELS = {'image_features': ('batch', 'channel', 'height', 'width'),
               'targets': ('batch', 'index')}


def fill_subparser(subparser: ArgumentParser) -> Callable[..., tuple[str, ...]]:
    """Declare the options of the conversion of Dogs vs. Cats.

    Parameters
    ----------
    subparser : ArgumentParser
        The parser of ``fuel-convert dogs_vs_cats``.

    Returns
    -------
    callable
        `convert_dogs_vs_cats`.
    """
    add_storage_options(subparser, variable_length=True)
    return convert_dogs_vs_cats


@check_exists(required_files=[TRAIN_FILE, TEST_FILE])
def convert_dogs_vs_cats(directory: str, output_directory: str,
                         output_filename: str = 'dogs_vs_cats.hdf5',
                         **storage: Unpack[StorageArguments]) -> tuple[str, ...]:
    """Convert the Dogs vs. Cats data set to HDF5.

    Parameters
    ----------
    directory : str
        Where ``dogs_vs_cats.train.zip`` and ``dogs_vs_cats.test1.zip`` lie.
    output_directory : str
        Where the new file is to be.
    output_filename : str, optional
        What it is to be called.
    **storage
        How the data are stored; see `fill_hdf5_file`. What goes by examples in a chunk holds for
        ``targets`` only.

    Returns
    -------
    tuple of str
        The path of the file. Its source ``image_features`` has pictures of different sizes,
        uint8, with the axes channel (3), height and width. ``targets``, shape (examples, 1),
        uint8, has 0 for a cat and 1 for a dog; only split ``train`` has it. The pictures of that
        split stand in the order of the archive after one shuffle by ``RandomState(123522)``;
        those of ``test`` by their numbers.

    Raises
    ------
    MissingInputFiles
        Not all raw files are there.
    ConversionError
        An archive has no pictures, a damaged one, or one whose name does not tell what it is; or
        pictures are to be compressed in the layout 'vlen'.
    """
    import h5py
    import numpy

    options = options_for_variable_length(storage)
    with (new_file(output_directory, output_filename) as h5file,
          Zip(os.path.join(directory, TRAIN_FILE)) as train,
          Zip(os.path.join(directory, TEST_FILE)) as test):
        train_names, test_names = _training_pictures(train), _test_pictures(test)
        targets = numpy.array([[_class_of(train, name)] for name in train_names], numpy.uint8)
        count = len(train_names) + len(test_names)
        with (closing(zipped_pictures(train, train_names, _decoded)) as train_pictures,
              closing(zipped_pictures(test, test_names, _decoded)) as test_pictures,
              progress_bar(output_filename, count, unit='examples') as bar):
            fill_hdf5_file(h5file, [
                ('train', 'image_features', Streamed(_shown(train_pictures, bar, 0),
                                                     len(train_names))),
                ('test', 'image_features', Streamed(_shown(test_pictures, bar, len(train_names)),
                                                    len(test_names))),
                ('train', 'targets', targets)], axis_labels=AXIS_LABELS,
                layout={'image_features': options.layout}, compression=options.compression,
                chunk_examples=options.chunk_examples)
        if options.layout == 'vlen':
            # The name that the old library gave it, and which programs may look for.
            h5file.move('image_features_shape_labels', 'image_features_shapes_labels')
        h5file['targets'].attrs.create('target_names', CLASSES, dtype=h5py.string_dtype())
    return (os.path.join(output_directory, output_filename),)


# Names of pictures.

def _training_pictures(archive: Zip) -> list[str]:
    """Return the pictures of the archive in their order in the file."""
    import numpy

    names = _pictures(archive)
    expect_count(archive.path, 'training pictures', len(names), NUM_TRAIN)
    note_seed(SEED)
    numpy.random.RandomState(SEED).shuffle(names)
    return names


def _class_of(archive: Zip, name: str) -> int:
    begin = posixpath.basename(name).lower().partition('.')[0]
    if begin not in CLASSES:
        raise ConversionError(f'{archive.path}: expected training pictures with names like '
                              f'cat.0.jpg and dog.0.jpg; got {name!r}')
    return CLASSES.index(begin)


def _test_pictures(archive: Zip) -> list[str]:
    """Return the pictures of the archive by their numbers."""
    numbers: dict[int, str] = {}
    for name in _pictures(archive):
        stem = posixpath.splitext(posixpath.basename(name))[0]
        if not (stem.isascii() and stem.isdecimal()) or len(stem) > _MOST_DIGITS:
            raise ConversionError(f'{archive.path}: expected test pictures with names like 1.jpg; '
                                  f'got {name[:80]!r}')
        if int(stem) in numbers:
            raise ConversionError(f'{archive.path}: expected one test picture of number '
                                  f'{int(stem)}; got {numbers[int(stem)]!r} and {name!r}')
        numbers[int(stem)] = name
    expect_count(archive.path, 'test pictures', len(numbers), NUM_TEST)
    return [name for _, name in sorted(numbers.items())]


def _pictures(archive: Zip) -> list[str]:
    names = [name for name in archive.names if name.lower().endswith('.jpg')
             and not name.startswith('__MACOSX/')]
    if not names:
        raise ConversionError(f'{archive.path}: expected pictures, with names that end in .jpg; it '
                              f'has none among its {len(archive.names)} files')
    if len(names) < len(archive.names):
        logger.warning('%s: left out %d files that are no .jpg', archive.path,
                       len(archive.names) - len(names))
    return names


# Pictures.

def _decoded(picture: tuple[str, bytes]) -> NDArray[numpy.uint8]:
    where, content = picture
    return decoded(content, where)


def _shown(pictures: Iterable[NDArray[numpy.uint8]], bar: ProgressBar, done: int
           ) -> Iterator[NDArray[numpy.uint8]]:
    """Yield pictures, and show how many there were."""
    for number, picture in enumerate(pictures, start=done + 1):
        yield picture
        bar.update(number)
