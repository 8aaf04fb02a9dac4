"""Conversion of the MNIST data set."""
from __future__ import annotations

import logging
import os
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, Unpack

import numpy
import numpy.typing as npt

from fuel._types import AnyArray
from fuel.converters._conversion.checks import expect_count
from fuel.converters._conversion.output import new_file
from fuel.converters._conversion.storage import StorageArguments, add_storage_options
from fuel.converters._formats.idx import IMAGES, LABELS, IdxFile
from fuel.converters.base import Streamed, check_exists, fill_hdf5_file, progress_bar
from fuel.exceptions import ConversionError
from fuel.storage.writing.rows import BLOCK_BYTES
from fuel.utils.progress import ProgressBar

__all__ = ['convert_mnist', 'fill_subparser', 'read_mnist_images', 'read_mnist_labels']

logger = logging.getLogger(__name__)

#: For every split: the files of its images and of its labels, and how many the data set has.
SPLITS = {'train': ('train-images-idx3-ubyte.gz', 'train-labels-idx1-ubyte.gz', 60000),
          'test': ('t10k-images-idx3-ubyte.gz', 't10k-labels-idx1-ubyte.gz', 10000)}
ALL_FILES = [name for images, labels, _ in SPLITS.values() for name in (images, labels)]
DTYPES = ('float32', 'float64', 'bool')
SIDE, CLASSES = 28, 10
AXIS_LABELS = {'features': ('batch', 'channel', 'height', 'width'), 'targets': ('batch', 'index')}


def fill_subparser(subparser: ArgumentParser) -> Callable[..., tuple[str, ...]]:
    """Declare the options of the conversion of MNIST.

    Parameters
    ----------
    subparser : ArgumentParser
        The parser of ``fuel-convert mnist``.

    Returns
    -------
    callable
        `convert_mnist`.
    """
    subparser.add_argument('--dtype', choices=DTYPES, default=None,
                           help='what pixels are stored as: floats from 0 to 1, or whether they '
                                'are at least 128; by default bytes from 0 to 255, as they are')
    add_storage_options(subparser)
    return convert_mnist


@check_exists(required_files=ALL_FILES)
def convert_mnist(directory: str, output_directory: str, output_filename: str | None = None,
                  dtype: npt.DTypeLike | None = None, **storage: Unpack[StorageArguments]
                  ) -> tuple[str, ...]:
    """Convert the MNIST data set to HDF5.

    Parameters
    ----------
    directory : str
        Where the four files ``{train,t10k}-{images-idx3,labels-idx1}-ubyte.gz`` lie.
    output_directory : str
        Where the new file is to be.
    output_filename : str, optional
        What it is to be called; by default ``mnist.hdf5``, or ``mnist_<dtype>.hdf5`` if a dtype
        is given.
    dtype : {'float32', 'float64', 'bool'}, optional
        What pixels are stored as. Floats are the bytes divided by 255 in that dtype; booleans say
        whether the byte is at least 128. By default pixels stay bytes.
    **storage
        How the data are stored; see `fill_hdf5_file`.

    Returns
    -------
    tuple of str
        The path of the file. Its sources are ``features``, shape (70000, 1, 28, 28), uint8 unless
        `dtype` is given, and ``targets``, shape (70000, 1), uint8, the digits. Split ``train`` has
        the first 60000 of them, split ``test`` the others.

    Raises
    ------
    MissingInputFiles
        A raw file is not there.
    ConversionError
        A raw file is no IDX file of that kind, is cut off or damaged, has another number of
        entries than its header says, or not as many labels as there are images; or there is no
        such dtype.
    """
    kind = None if dtype is None else _checked_dtype(dtype)
    if not output_filename:
        output_filename = 'mnist.hdf5' if kind is None else f'mnist_{kind.name}.hdf5'
    with new_file(output_directory, output_filename) as h5file, ExitStack() as stack:
        files, targets = {}, {}
        for split, (images, labels, count) in SPLITS.items():
            file = IdxFile(os.path.join(directory, images), IMAGES)
            files[split] = stack.enter_context(file)
            expect_count(file.path, f'{split} images', file.shape[0], count)
            targets[split] = _targets(os.path.join(directory, labels), file)
        _check_sizes(list(files.values()))
        total = sum(file.shape[0] for file in files.values())
        progress = stack.enter_context(progress_bar('mnist', total, unit='images'))
        stored = (numpy.dtype('uint8') if kind is None else kind)
        done = 0
        data: list[tuple[str, str, Any]] = []
        for split, file in files.items():
            data.append((split, 'features', Streamed(
                _counted(_images(file, stored), progress, done), file.shape[0])))
            done += file.shape[0]
        data += [(split, 'targets', labels) for split, labels in targets.items()]
        fill_hdf5_file(h5file, data, axis_labels=AXIS_LABELS, **storage)
    return (os.path.join(output_directory, output_filename),)


def read_mnist_images(filename: str, dtype: npt.DTypeLike | None = None) -> AnyArray:
    """Read a file of images.

    Parameters
    ----------
    filename : str
        An IDX file, compressed with gzip.
    dtype : {'float32', 'float64', 'bool'}, optional
        As for `convert_mnist`.

    Returns
    -------
    numpy.ndarray
        Shape (number of images, 1, height, width).

    Raises
    ------
    ConversionError
        As for `convert_mnist`.
    """
    kind = numpy.dtype('uint8') if dtype is None else _checked_dtype(dtype)
    with IdxFile(filename, IMAGES) as file:
        return _pixels(file.read(), kind)


def read_mnist_labels(filename: str) -> npt.NDArray[numpy.uint8]:
    """Read a file of labels.

    Parameters
    ----------
    filename : str
        An IDX file, compressed with gzip.

    Returns
    -------
    numpy.ndarray
        Shape (number of labels, 1), uint8.

    Raises
    ------
    ConversionError
        As for `convert_mnist`.
    """
    with IdxFile(filename, LABELS) as file:
        return file.read()[:, None]


def _checked_dtype(dtype: npt.DTypeLike) -> numpy.dtype[Any]:
    """Return the dtype that pixels are to have."""
    try:
        kind = numpy.dtype(dtype)
    except TypeError:
        kind = None
    if kind is None or kind.name not in DTYPES:
        raise ConversionError(f'expected one of the dtypes {", ".join(DTYPES)}, or none for bytes '
                              f'as they are; got {dtype!r}')
    return kind


def _targets(path: str, images: IdxFile) -> npt.NDArray[numpy.uint8]:
    """Read the labels that belong to images."""
    with IdxFile(path, LABELS) as file:
        if file.shape[0] != images.shape[0]:
            raise ConversionError(f'{path}: expected one label for each of the {images.shape[0]} '
                                  f'images of {images.path}; the header says {file.shape[0]}')
        labels = file.read()
    highest = int(labels.max())
    if highest >= CLASSES:
        logger.warning('%s: the data set has labels from 0 to %d; this file has label %d, first '
                       'for image %d', path, CLASSES - 1, highest, int(labels.argmax()))
    return labels[:, None]


def _check_sizes(files: list[IdxFile]) -> None:
    """Raise if images of the splits differ in size, warn if they are not of the usual one."""
    first = files[0].shape[1:]
    for file in files:
        if file.shape[1:] != first:
            raise ConversionError(f'{file.path}: expected images of {first[0]} x {first[1]} '
                                  f'pixels, like those of {files[0].path}; got {file.shape[1]} x '
                                  f'{file.shape[2]}')
    if first != (SIDE, SIDE):
        logger.warning('%s: the data set has images of %d x %d pixels; this file has %d x %d',
                       files[0].path, SIDE, SIDE, *first)


def _images(file: IdxFile, kind: numpy.dtype[Any]) -> Iterator[AnyArray]:
    """Yield blocks of images, of the size in which they are written."""
    height, width = file.shape[1:]
    rows = max(1, BLOCK_BYTES // (height * width * kind.itemsize))
    for block in file.blocks(rows):
        yield _pixels(block, kind)


def _pixels(images: npt.NDArray[numpy.uint8], kind: numpy.dtype[Any]) -> AnyArray:
    """Give images the axis of channels, and their pixels the dtype asked for."""
    images = images[:, None]
    if kind.kind == 'b':
        return images >= 128
    if kind.kind == 'f':
        pixels = images.astype(kind)
        pixels /= 255
        return pixels
    return images


def _counted(blocks: Iterator[AnyArray], progress: ProgressBar, done: int) -> Iterator[AnyArray]:
    """Yield blocks, and say how far the work is after each has been written."""
    for block in blocks:
        yield block
        done += len(block)
        progress.update(done)
