"""Conversion of the binarized MNIST data set."""
from __future__ import annotations

import itertools
import os
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Sequence
from typing import BinaryIO, Unpack

import numpy
import numpy.typing as npt

from fuel.converters._conversion.checks import expect_count
from fuel.converters._conversion.inputs import open_input
from fuel.converters._conversion.output import new_file
from fuel.converters._conversion.storage import StorageArguments, add_storage_options
from fuel.converters.base import Streamed, check_exists, fill_hdf5_file, progress_bar
from fuel.exceptions import ConversionError
from fuel.storage.writing.rows import BLOCK_BYTES
from fuel.utils.progress import ProgressBar

__all__ = ['convert_binarized_mnist', 'fill_subparser']

#: For every split: its file, and how many images the data set has.
SPLITS = {'train': ('binarized_mnist_train.amat', 50000),
          'valid': ('binarized_mnist_valid.amat', 10000),
          'test': ('binarized_mnist_test.amat', 10000)}
ALL_FILES = [name for name, _ in SPLITS.values()]
SIDE = 28
PIXELS = SIDE * SIDE
AXIS_LABELS = {'features': ('batch', 'channel', 'height', 'width')}

# A digit and a space, or the end of the line, for each pixel: how the public files are written.
_USUAL = 2 * PIXELS
# Any way to write a pixel has fewer characters than this; a longer line is no line of pixels, and
# is not to fill the memory.
_LONGEST = 64 * PIXELS
_ROWS = BLOCK_BYTES // PIXELS


def fill_subparser(subparser: ArgumentParser) -> Callable[..., tuple[str, ...]]:
    """Declare the options of the conversion of binarized MNIST.

    Parameters
    ----------
    subparser : ArgumentParser
        The parser of ``fuel-convert binarized_mnist``.

    Returns
    -------
    callable
        `convert_binarized_mnist`.
    """
    add_storage_options(subparser)
    return convert_binarized_mnist


@check_exists(required_files=ALL_FILES)
def convert_binarized_mnist(directory: str, output_directory: str,
                            output_filename: str = 'binarized_mnist.hdf5',
                            **storage: Unpack[StorageArguments]) -> tuple[str, ...]:
    """Convert the binarized MNIST data set to HDF5.

    Parameters
    ----------
    directory : str
        Where the three files ``binarized_mnist_{train,valid,test}.amat`` lie. Each line of them
        has the 784 pixels of an image, 0 or 1, with spaces between.
    output_directory : str
        Where the new file is to be.
    output_filename : str, optional
        What it is to be called.
    **storage
        How the data are stored; see `fill_hdf5_file`.

    Returns
    -------
    tuple of str
        The path of the file. Its source is ``features``, shape (70000, 1, 28, 28), uint8, 0 or 1.
        Splits ``train``, ``valid`` and ``test`` have 50000, 10000 and 10000 images, one after the
        other.

    Raises
    ------
    MissingInputFiles
        A raw file is not there.
    ConversionError
        A line has not 784 pixels that are 0 or 1, or a file has none; the message names file and
        line.
    """
    with new_file(output_directory, output_filename) as h5file:
        counts = {}
        for split, (name, known) in SPLITS.items():
            path = os.path.join(directory, name)
            counts[split] = _count(path)
            expect_count(path, f'images for split {split!r}', counts[split], known)
        with progress_bar('binarized_mnist', sum(counts.values()), unit='images') as progress:
            data, done = [], 0
            for split, count in counts.items():
                images = _images(os.path.join(directory, SPLITS[split][0]), progress, done)
                data.append((split, 'features', Streamed(images, count)))
                done += count
            fill_hdf5_file(h5file, data, axis_labels=AXIS_LABELS, **storage)
    return (os.path.join(output_directory, output_filename),)


def _lines(stream: BinaryIO, path: str) -> Iterator[tuple[int, bytes]]:
    """Yield number and content of every line that is not empty."""
    for number in itertools.count(1):
        line = stream.readline(_LONGEST)
        if not line:
            return
        if len(line) == _LONGEST:
            raise ConversionError(f'{path}, line {number}: expected {PIXELS} pixels, which are 0 '
                                  f'or 1; got a line of more than {_LONGEST - 1} characters')
        if not line.isspace():
            yield number, line


def _count(path: str) -> int:
    """Return the number of images in a file."""
    with open_input(path) as stream:
        count = sum(1 for _ in _lines(stream, path))
    if not count:
        raise ConversionError(f'{path}: expected a line for each image; the file is empty')
    return count


def _images(path: str, progress: ProgressBar, done: int) -> Iterator[npt.NDArray[numpy.uint8]]:
    """Yield blocks of images, and say how far the work is after each has been written."""
    with open_input(path) as stream:
        lines = _lines(stream, path)
        while group := list(itertools.islice(lines, _ROWS)):
            pixels = _usual(group)
            if pixels is None:
                pixels = numpy.stack([_parsed(line, path, number) for number, line in group])
            yield pixels.reshape(-1, 1, SIDE, SIDE)
            done += len(group)
            progress.update(done)


def _usual(group: Sequence[tuple[int, bytes]]) -> npt.NDArray[numpy.uint8] | None:
    """Return the pixels of lines that all are written in the usual way; otherwise `None`."""
    if any(len(line) != _USUAL for _, line in group):
        return None
    content = numpy.frombuffer(b''.join(line for _, line in group), dtype=numpy.uint8)
    pairs = content.reshape(-1, PIXELS, 2)
    pixels = pairs[:, :, 0] - ord('0')
    usual = (pixels.max() <= 1 and (pairs[:, :-1, 1] == ord(' ')).all()
             and (pairs[:, -1, 1] == ord('\n')).all())
    return pixels if usual else None


def _parsed(line: bytes, path: str, number: int) -> npt.NDArray[numpy.uint8]:
    """Return the pixels of a line, however they are written."""
    texts = line.split()
    if len(texts) != PIXELS:
        raise ConversionError(f'{path}, line {number}: expected {PIXELS} pixels, divided by '
                              f'spaces; got {len(texts)}')
    for position, text in enumerate(texts):
        if text not in (b'0', b'1') and not _is_pixel(text):
            raise ConversionError(f'{path}, line {number}: expected pixels that are 0 or 1; pixel '
                                  f'{position} is {text.decode("latin-1")[:20]!r}')
    return numpy.array(texts).astype(float).astype(numpy.uint8)


def _is_pixel(text: bytes) -> bool:
    """Return whether a number in other words, such as ``1.0``, is that of a pixel."""
    try:
        return float(text) in (0, 1)
    except ValueError:
        return False
