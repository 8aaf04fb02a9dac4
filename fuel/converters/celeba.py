"""Conversion of the CelebA data set."""
from __future__ import annotations

import itertools
import logging
import os
import posixpath
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

from fuel.converters._conversion.checks import expect_count
from fuel.converters._conversion.inputs import open_input
from fuel.converters._conversion.output import new_file
from fuel.converters._conversion.storage import StorageArguments, add_storage_options
from fuel.converters._formats.archives import Zip
from fuel.converters._pictures.pixels import decoded
from fuel.converters._pictures.zipped import zipped_pictures
from fuel.converters.base import Streamed, check_exists, fill_hdf5_file, progress_bar
from fuel.exceptions import ConversionError

if TYPE_CHECKING:
    import numpy
    from numpy.typing import NDArray

    from fuel.utils.progress import ProgressBar

__all__ = ['convert_celeba', 'fill_subparser', 'split_bounds']

logger = logging.getLogger(__name__)

IMAGE_FILE = 'img_align_celeba.zip'
ATTRIBUTE_FILE = 'list_attr_celeba.txt'
FORMATS = ('aligned_cropped', '64')
AXIS_LABELS = {'features': ('batch', 'channel', 'height', 'width'), 'targets': ('batch', 'target')}

NUM_EXAMPLES, NUM_ATTRIBUTES = 202599, 40
#: The numbers of the first images of the second and the third split.
VALID_START, TEST_START = 162770, 182637
HEIGHT, WIDTH = 218, 178
# The size before rows are cut off above and below, and the rows that are left.
_SMALL_SHAPE = 78, 64
_SMALL_ROWS = slice(7, 71)
_BLOCK_BYTES = 4 << 20
# Of the number of pictures; Python refuses to read numbers of thousands of them.
_MOST_DIGITS = 18
# What the list says of a picture and an attribute.
_VALUES = frozenset({'1', '-1'})


def fill_subparser(subparser: ArgumentParser) -> Callable[..., tuple[str, ...]]:
    """Declare the options of the conversion of CelebA.

    Parameters
    ----------
    subparser : ArgumentParser
        The parser of ``fuel-convert celeba``.

    Returns
    -------
    callable
        `convert_celeba`.
    """
    subparser.add_argument('which_format', choices=FORMATS, metavar='FORMAT',
                           help='aligned_cropped for pictures of 178 x 218 pixels as they are; 64 '
                                'for pictures made smaller and cut to 64 x 64')
    add_storage_options(subparser)
    return convert_celeba


def convert_celeba(which_format: str, directory: str, output_directory: str,
                   output_filename: str | None = None, **storage: Unpack[StorageArguments]
                   ) -> tuple[str, ...]:
    """Convert the CelebA data set to HDF5.

    Parameters
    ----------
    which_format : {'aligned_cropped', '64'}
        Whether pictures are stored as they are, or resized to 64 x 78 pixels (Lanczos), of which
        the 7 rows at the top and at the bottom are left out.
    directory : str
        Where ``img_align_celeba.zip`` and ``list_attr_celeba.txt`` lie.
    output_directory : str
        Where the new file is to be.
    output_filename : str, optional
        What it is to be called; by default ``celeba_<which_format>.hdf5``.
    **storage
        How the data are stored; see `fill_hdf5_file`.

    Returns
    -------
    tuple of str
        The path of the file. Its sources are ``features``, shape (examples, 3, 218, 178) or
        (examples, 3, 64, 64), uint8, and ``targets``, shape (examples, 40), uint8: 1 where the
        picture has an attribute. The attribute ``target_names`` of ``targets`` has their names.
        Examples stand in the order of the list of attributes; see `split_bounds` for the splits
        ``train``, ``valid`` and ``test``.

    Raises
    ------
    MissingInputFiles
        Not all raw files are there.
    ConversionError
        The format is not one of the two, a line of the list is not as expected (the message has
        its number), or a picture is missing, damaged or of another size.
    """
    if which_format not in FORMATS:
        raise ConversionError(f'expected which_format to be {" or ".join(map(repr, FORMATS))}; got '
                              f'{which_format!r}')
    return _convert(directory, which_format, output_directory,
                    output_filename or f'celeba_{which_format}.hdf5', storage)


@check_exists(required_files=[IMAGE_FILE, ATTRIBUTE_FILE])
def _convert(directory: str, which_format: str, output_directory: str, output_filename: str,
             storage: StorageArguments) -> tuple[str, ...]:
    path = os.path.join(directory, ATTRIBUTE_FILE)
    with (new_file(output_directory, output_filename) as h5file,
          Zip(os.path.join(directory, IMAGE_FILE)) as archive):
        attributes = _read_attributes(path, _members(archive), archive.path)
        count = len(attributes.members)
        expect_count(path, 'images', count, NUM_EXAMPLES)
        with (closing(zipped_pictures(archive, attributes.members,
                                      _FUNCTIONS[which_format])) as pictures,
              progress_bar(output_filename, count, unit='examples') as bar):
            _fill(h5file, attributes, _Blocks(pictures, bar), storage)
    return (os.path.join(output_directory, output_filename),)


def _fill(h5file: Any, attributes: _Attributes, blocks: _Blocks, storage: StorageArguments) -> None:
    """Write all sources; the pictures come one split after the other."""
    import h5py

    data: list[tuple[str, str, Any]] = []
    for split, (start, stop) in split_bounds(len(attributes.members)).items():
        data += [(split, 'features', Streamed(blocks.of(stop - start), stop - start)),
                 (split, 'targets', attributes.targets[start:stop])]
    fill_hdf5_file(h5file, data, axis_labels=AXIS_LABELS, **storage)
    h5file['targets'].attrs.create('target_names', attributes.names, dtype=h5py.string_dtype())


def split_bounds(count: int) -> dict[str, tuple[int, int]]:
    """Return where the splits of so many images begin and end.

    Parameters
    ----------
    count : int
        How many images there are. The 202599 of the public data set are divided as its authors
        do; others in the same proportions, rounded.

    Returns
    -------
    dict
        Maps ``'train'``, ``'valid'`` and ``'test'`` to pairs (start, stop). Those that would be
        empty are left out.
    """
    first, second = ((2 * count * bound + NUM_EXAMPLES) // (2 * NUM_EXAMPLES)
                     for bound in (VALID_START, TEST_START))
    bounds = {'train': (0, first), 'valid': (first, second), 'test': (second, count)}
    return {split: (start, stop) for split, (start, stop) in bounds.items() if stop > start}


# The list of attributes.

@dataclass(frozen=True, slots=True)
class _Attributes:
    """The content of the list: names of attributes, members of the archive, and who has what."""

    names: list[str]
    members: list[str]
    targets: NDArray[numpy.uint8]


def _read_attributes(path: str, pictures: dict[str, str], archive: str) -> _Attributes:
    """Read the list: how many pictures, the names of the attributes, and a line for each picture.

    Parameters
    ----------
    path : str
        The list.
    pictures : dict of str to str
        The pictures that there are, by their names in the list. Those that have a line lose what
        stands here, so that the many names are kept once only.
    archive : str
        Where, for messages.
    """
    import numpy

    with open_input(path) as stream:
        lines = (line.decode('utf-8', 'replace').split() for line in stream)
        first, names = next(lines, []), next(lines, [])
        if first:
            first[0] = first[0].removeprefix('\ufeff')      # some programs begin a text with it
        if len(first) != 1 or not first[0].isdecimal() or len(first[0]) > _MOST_DIGITS:
            raise ConversionError(f'{path}, line 1: expected the number of pictures; got '
                                  f'{" ".join(first)[:80]!r}')
        twice = next((name for name in names if names.count(name) > 1), None)
        if len(names) != NUM_ATTRIBUTES or twice is not None:
            raise ConversionError(
                f'{path}, line 2: expected the names of {NUM_ATTRIBUTES} attributes; got '
                + (f'{len(names)}: {" ".join(names)[:80]!r}' if twice is None else
                   f'{twice!r} more than once'))
        members: list[str] = []
        rows = bytearray()
        for number, words in enumerate(lines, start=3):
            if not words:
                continue
            name, *values = words
            if len(values) != NUM_ATTRIBUTES or not _VALUES.issuperset(values):
                odd = next((value for value in values if value not in _VALUES), None)
                raise ConversionError(
                    f'{path}, line {number}: expected the name of a picture and '
                    f'{NUM_ATTRIBUTES} values of 1 or -1; got '
                    + (f'{len(values)} values' if odd is None else f'the value {odd!r}')
                    + f' behind {name!r}')
            if not pictures.get(name):
                raise ConversionError(
                    f'{path}, line {number}: '
                    + (f'the picture {name!r} has a line already' if name in pictures else
                       f'there is no picture {name!r} in {archive}'))
            members.append(pictures[name])
            pictures[name] = ''
            rows.extend(value == '1' for value in values)
    if len(members) != int(first[0]):
        raise ConversionError(f'{path}, line 1: the file announces {first[0]} pictures, and has '
                              f'lines for {len(members)}. Download it again')
    if not members:
        raise ConversionError(f'{path}: expected a line for each picture; it has none')
    if len(members) < len(pictures):
        logger.warning('%s: left out %d pictures, for which %s has no line', archive,
                       len(pictures) - len(members), path)
    targets = numpy.frombuffer(rows, numpy.uint8).reshape(-1, NUM_ATTRIBUTES)
    return _Attributes(names, members, targets)


# The pictures.

def _members(archive: Zip) -> dict[str, str]:
    """Return the pictures of the archive: what the list calls them, and the names of members."""
    members: dict[str, str] = {}
    for member in archive.names:
        folder, name = posixpath.split(member)
        if folder.startswith('__MACOSX') or not name.lower().endswith('.jpg'):
            continue
        if name in members:
            raise ConversionError(f'{archive.path}: expected one picture {name!r}; got '
                                  f'{members[name]!r} and {member!r}')
        members[name] = member
    return members


def _as_it_is(picture: tuple[str, bytes]) -> NDArray[numpy.uint8]:
    """Decode a picture."""
    where, content = picture
    pixels = decoded(content, where)
    if pixels.shape != (3, HEIGHT, WIDTH):
        raise ConversionError(f'{where}: expected a picture of {WIDTH} x {HEIGHT} pixels (width x '
                              f'height); got {pixels.shape[2]} x {pixels.shape[1]}')
    return pixels


def _small(picture: tuple[str, bytes]) -> NDArray[numpy.uint8]:
    """Decode a picture, and make a small one of it."""
    from fuel.transformers._pixels import resized_by_pillow
    resized: NDArray[numpy.uint8] = resized_by_pillow(_as_it_is(picture), _SMALL_SHAPE, 'lanczos')
    return resized[:, _SMALL_ROWS]


_FUNCTIONS: dict[str, Callable[[tuple[str, bytes]], NDArray[numpy.uint8]]] = {
    'aligned_cropped': _as_it_is, '64': _small}


class _Blocks:
    """Pictures in blocks, for one split after the other.

    Parameters
    ----------
    pictures : iterator of ndarray
        All of them.
    bar : ProgressBar
        Shows how many there were.
    """

    def __init__(self, pictures: Iterator[NDArray[numpy.uint8]], bar: ProgressBar) -> None:
        self._pictures, self._bar = pictures, bar
        self._count = 0

    def of(self, count: int) -> Iterator[NDArray[numpy.uint8]]:
        """Yield the next so many pictures."""
        import numpy

        first = next(self._pictures)
        rows = max(1, _BLOCK_BYTES // first.nbytes)
        pictures = itertools.chain([first], self._pictures)
        while count:
            block = numpy.stack(list(itertools.islice(pictures, min(rows, count))))
            count -= len(block)
            self._count += len(block)
            yield block
            self._bar.update(self._count)
